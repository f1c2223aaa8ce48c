// The form of a channel: where it sends, and what.

import { useContext, useId, useState } from "preact/hooks";
import type { Channel } from "../../../client/src/index.ts";
import { api } from "../api.ts";
import { ALERT_KINDS, type AlertKind } from "../components/alert-kinds.tsx";
import { Dialog } from "../components/dialog.tsx";
import { Checkbox, Field, FieldErrors, SelectField } from "../components/field.tsx";
import { changedFields, textIn } from "../components/form.ts";
import { useIdempotencyKey } from "../components/idempotency.ts";
import { notify } from "../components/notices.tsx";
import { EVENTS } from "../components/notification.tsx";
import { CustomerPicker } from "../components/picker.tsx";
import { refreshAll } from "../live.ts";

/** What a channel can be limited to. A test is sent in any case. */
const CHANNEL_EVENTS: readonly NonNullable<Channel["events"]>[number][] = [
  "alert.opened",
  "alert.acknowledged",
  "alert.closed",
  "tank.refilled",
];

const KINDS = Object.keys(ALERT_KINDS) as AlertKind[];
const TYPES = [
  ["email", "E-mail: to an address"],
  ["webhook", "Webhook: to another program"],
] as const;

type Props = {
  /** To change; without it, one is created. */
  readonly channel?: Channel;
  /** Of customers, as far as they are loaded. */
  readonly nameOf?: (customerId: string) => string | undefined;
  readonly close: () => void;
  readonly showSecret: (secret: string | null) => void;
};

export function ChannelDialog({ channel, nameOf, close, showSecret }: Props) {
  const [type, setType] = useState<Channel["type"]>(channel?.type ?? "email");
  const once = useIdempotencyKey();
  const submit = async (form: FormData) => {
    const fields = fieldsOf(form, channel);
    if (channel !== undefined) {
      const { id } = channel;
      if (type === "webhook") {
        await api.manage.channels.update(id, changedFields(channel, { ...fields, url: textIn(form, "url") }));
      } else await api.manage.channels.update(id, changedFields(channel, { ...fields, ...mailFields(form) }));
      notify({ text: "The channel was changed" });
    } else if (type === "webhook") {
      const created = { type, url: textIn(form, "url"), ...fields };
      showSecret((await api.manage.channels.create(created, once(created))).secret);
    } else {
      const created = { type, ...fields, ...mailFields(form) };
      await api.manage.channels.create(created, once(created));
      notify({ text: "The channel was added: send a test" });
    }
    await refreshAll();
  };
  const isNew = channel === undefined;
  const customerId = channel?.customer_id ?? null;
  return (
    <Dialog title={isNew ? "Add channel" : "Edit channel"} action={isNew ? "Add" : "Save"} submit={submit} close={close}>
      {isNew ? (
        <SelectField
          label="Type"
          name="type"
          options={TYPES}
          defaultValue={type}
          onChange={(value) => setType(value === "webhook" ? "webhook" : "email")}
        />
      ) : null}
      {type === "webhook" ? (
        <Field
          key="url"
          label="URL"
          name="url"
          type="url"
          required
          defaultValue={channel?.url ?? ""}
          help="An https URL at a public address, or one allowed by the setting WEBHOOK_ALLOW."
        />
      ) : (
        <Field key="to" label="Address" name="to" type="email" required maxLength={254} defaultValue={channel?.to ?? ""} />
      )}
      <Field label="Description" name="description" defaultValue={channel?.description ?? ""} help="Optional." dir="auto" />
      <Choices legend="Events" name="events" all={CHANNEL_EVENTS} labels={EVENTS} chosen={channel?.events ?? null} />
      <Choices
        legend="Kinds of alerts"
        name="kinds"
        all={KINDS}
        labels={KIND_LABELS}
        chosen={channel?.kinds ?? null}
        help="A channel that gets only some kinds of alerts gets no refills."
      />
      <CustomerPicker
        label="Only for one customer"
        name="customer_id"
        none="All customers"
        initial={customerId === null ? undefined : { id: customerId, title: nameOf?.(customerId) ?? customerId }}
      />
      <Field
        label="Only if still unacknowledged after"
        name="delay"
        defaultValue={channel?.delay ?? ""}
        placeholder="4h"
        help="Such as 30m, 4h or 2d; empty: at once. Refills are sent after this time in any case."
      />
      {type === "email" ? <QuietHours hours={channel?.quiet_hours ?? null} /> : null}
    </Dialog>
  );
}

const KIND_LABELS = Object.fromEntries(KINDS.map((kind) => [kind, ALERT_KINDS[kind].label])) as Record<AlertKind, string>;

type ChoicesProps<T extends string> = {
  readonly legend: string;
  readonly name: string;
  readonly all: readonly T[];
  readonly labels: Readonly<Record<T, string>>;
  /** null: all. */
  readonly chosen: readonly string[] | null;
  readonly help?: string;
};

function Choices<T extends string>({ legend, name, all, labels, chosen, help }: ChoicesProps<T>) {
  const id = useId();
  const error = useContext(FieldErrors)[name];
  return (
    <fieldset class="field choices" aria-describedby={error === undefined ? undefined : id}>
      <legend>{legend}</legend>
      {all.map((one) => (
        <Checkbox key={one} name={name} value={one} defaultChecked={chosen === null || chosen.includes(one)}>
          {labels[one]}
        </Checkbox>
      ))}
      {help === undefined ? null : <p class="help">{help}</p>}
      {error === undefined ? null : (
        <p class="error" id={id}>
          {error}
        </p>
      )}
    </fieldset>
  );
}

function QuietHours({ hours }: { readonly hours: Channel["quiet_hours"] }) {
  const zone = hours?.timezone ?? Intl.DateTimeFormat().resolvedOptions().timeZone;
  return (
    <fieldset class="fieldset">
      <legend>Quiet hours</legend>
      <p class="dim">Mail is held then, and sent afterwards. Empty: none.</p>
      <div class="field-grid">
        <Field label="From" name="quiet_hours.from" type="time" defaultValue={hours?.from ?? ""} />
        <Field label="To" name="quiet_hours.to" type="time" defaultValue={hours?.to ?? ""} />
        <Field label="Time zone" name="quiet_hours.timezone" defaultValue={zone} spellcheck={false} />
      </div>
    </fieldset>
  );
}

/** null: all, also those that a later version adds, and refills, which have no kind. The same choice as before stays as it is. */
function chosenIn<T extends string>(
  form: FormData,
  name: string,
  all: readonly T[],
  before: readonly T[] | null = null,
): readonly T[] | null {
  const chosen = all.filter((one) => form.getAll(name).includes(one));
  if (before !== null && before.length === chosen.length && before.every((one) => chosen.includes(one))) return before;
  return chosen.length === all.length ? null : chosen;
}

const fieldsOf = (form: FormData, channel?: Channel) => ({
  description: textIn(form, "description") || null,
  events: chosenIn(form, "events", CHANNEL_EVENTS, channel?.events),
  kinds: chosenIn(form, "kinds", KINDS, channel?.kinds),
  customer_id: textIn(form, "customer_id") || null,
  delay: textIn(form, "delay") || null,
});

function mailFields(form: FormData) {
  const [from, to] = [textIn(form, "quiet_hours.from"), textIn(form, "quiet_hours.to")];
  const hasHours = from !== "" || to !== "";
  return {
    to: textIn(form, "to"),
    quiet_hours: hasHours ? { from, to, timezone: textIn(form, "quiet_hours.timezone") } : null,
  };
}
