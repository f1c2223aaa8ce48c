// What can be done about an alert: acknowledge it, change its note, close it, or pause the alerts of its tank.

import { useState } from "preact/hooks";
import type { Alert, FleetTank } from "../../../client/src/index.ts";
import { api } from "../api.ts";
import { ALERT_KINDS } from "../components/alert-kinds.tsx";
import { Dialog } from "../components/dialog.tsx";
import { Field } from "../components/field.tsx";
import { textIn } from "../components/form.ts";
import { notify } from "../components/notices.tsx";
import { DAY_MS, localDate, place, untilDate } from "../format.ts";
import { me } from "../me.ts";
import { nameOf } from "./people.ts";

type Props = {
  readonly alert: Alert;
  /** Its tank; undefined while it is not loaded, or if it is deleted. */
  readonly entry: FleetTank | undefined;
  readonly close: () => void;
  readonly changed: () => Promise<void>;
};

type SubjectProps = { readonly tankId: string; readonly entry: FleetTank | undefined; readonly kind?: Alert["kind"] };

/** Several tanks may have the same name: the customer and the place say which one it is. */
export function Subject({ tankId, entry, kind }: SubjectProps) {
  const name = entry?.tank.name ?? tankId;
  const where = entry === undefined ? [] : [entry.customer.name, place(entry.tank.location)].filter((part) => part !== "");
  return (
    <p class="break">
      <span class="strong block" dir="auto">
        {kind === undefined ? name : `${ALERT_KINDS[kind].label}: ${name}`}
      </span>
      <span class="dim" dir="auto">
        {where.join(", ")}
      </span>
    </p>
  );
}

/** An empty note is not sent, so the note that is there stays. */
function bodyOf(form: FormData): { readonly note?: string } {
  const note = textIn(form, "note");
  return note === "" ? {} : { note };
}

const Note = ({ note }: Pick<Alert, "note">) => (
  <Field
    label="Note"
    help="Optional. The customer sees it, too."
    name="note"
    maxLength={1000}
    defaultValue={note ?? ""}
    dir="auto"
    autoFocus
  />
);

export function AcknowledgeDialog({ alert, entry, close, changed }: Props) {
  const submit = async (form: FormData) => {
    const body = bodyOf(form);
    const { acknowledged_by, note } = await api.manage.alerts.acknowledge(alert.id, body);
    await changed();
    // A second acknowledgement changes nothing.
    const isFirst = acknowledged_by === me.value?.id && (body.note ?? note) === note;
    if (isFirst) return notify({ text: "Acknowledged" });
    const who = acknowledged_by === me.value?.id ? "You have" : `${await nameOf(acknowledged_by)} has`;
    const text = `${who} already acknowledged this alert.`;
    // The dialog stays open, with the note.
    if (body.note !== undefined) throw new Error(`${text} Your note was not stored.`);
    notify({ text });
  };
  return (
    <Dialog title="Acknowledge this alert" action="Acknowledge" submit={submit} close={close}>
      <Subject tankId={alert.tank_id} entry={entry} kind={alert.kind} />
      <p>Others see that you take care of it, and its owner gets no reminder.</p>
      <Note note={alert.note} />
    </Dialog>
  );
}

/** The note that a form shows, and the alert as it is now, unless somebody else has changed its note meanwhile. */
function useNote(alert: Alert) {
  const [note, setNote] = useState(alert.note);
  const currentAlert = async (): Promise<Alert> => {
    const current = await api.insight.alerts.retrieve(alert.id);
    if (current.note === note) return current;
    setNote(current.note);
    throw new Error("Somebody else changed the note meanwhile. It is shown as it is now.");
  };
  return { note, currentAlert };
}

/** An empty note removes the one that is there. */
export function NoteDialog({ alert, entry, close, changed }: Props) {
  const { note, currentAlert } = useNote(alert);
  const submit = async (form: FormData) => {
    const current = await currentAlert();
    await api.manage.alerts.update(alert.id, { note: textIn(form, "note") || null }, { ifMatch: current });
    notify({ text: "The note was changed" });
    await changed();
  };
  return (
    <Dialog title="Change the note" action="Save" submit={submit} close={close}>
      <Subject tankId={alert.tank_id} entry={entry} kind={alert.kind} />
      <Note key={note} note={note} />
    </Dialog>
  );
}

/** An empty note removes the one that is there. */
export function CloseDialog({ alert, entry, close, changed }: Props) {
  const { note, currentAlert } = useNote(alert);
  const submit = async (form: FormData) => {
    const current = await currentAlert();
    const body = bodyOf(form);
    if (current.state === "closed") {
      await changed();
      const text = "This alert has closed meanwhile.";
      // The dialog stays open, with the note.
      if ((body.note ?? null) !== note) throw new Error(`${text} Your note was not stored.`);
      return notify({ text });
    }
    const isRemoved = body.note === undefined && note !== null;
    const ifMatch = isRemoved ? await api.manage.alerts.update(alert.id, { note: null }, { ifMatch: current }) : current;
    await api.manage.alerts.close(alert.id, body, { ifMatch });
    notify({ text: "Closed" });
    await changed();
  };
  return (
    <Dialog title="Close this alert" action="Close alert" submit={submit} close={close}>
      <Subject tankId={alert.tank_id} entry={entry} kind={alert.kind} />
      <p>An alert closes automatically once its condition has cleared. Closed manually, it does not open again until then.</p>
      <Note key={note} note={note} />
    </Dialog>
  );
}

type PauseProps = Omit<Props, "alert"> & { readonly tankId: string };

export function PauseDialog({ tankId, entry, close, changed }: PauseProps) {
  const submit = async (form: FormData) => {
    // Noon, because where clocks change at midnight a day may have no 00:00.
    const day = new Date(`${form.get("until")}T12:00`);
    const paused_until = new Date(day.getFullYear(), day.getMonth(), day.getDate() + 1).toISOString();
    await api.manage.tanks.update(tankId, { alerts: { paused_until } });
    notify({ text: `No alert of this tank opens until ${untilDate(paused_until)}` });
    await changed();
  };
  return (
    <Dialog title="Pause the alerts of this tank" action="Pause" submit={submit} close={close}>
      <Subject tankId={tankId} entry={entry} />
      <p>No alert of this tank opens until the end of that day. Alerts that are open stay open.</p>
      <Field
        label="Until and including"
        name="until"
        type="date"
        required
        min={localDate(new Date())}
        defaultValue={localDate(new Date(Date.now() + 7 * DAY_MS))}
      />
    </Dialog>
  );
}
