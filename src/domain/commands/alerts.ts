// Commands on alerts: acknowledge one, close it manually, or change its note. All can be repeated: what is done already stays as it is.

import { type Alert, NOTE_MAX_LENGTH } from "../alerts/alert.ts";
import type { AlertEventType } from "../alerts/event.ts";
import { type AuditedChange, differences } from "../audit.ts";
import type { Instant } from "../instant.ts";
import { findOne, type Lookups } from "../lookups.ts";
import { alertResource } from "../resource.ts";
import { nullable, object, type Static, text } from "../schema.ts";
import { errorsInObject } from "../validate.ts";
import {
  type ChangeSet,
  type CommandError,
  type Commands,
  changeSet,
  commandError,
  existing,
  invalidFields,
  isCommandError,
  type PlanResult,
} from "./command.ts";

const note = text({
  minLength: 1,
  maxLength: NOTE_MAX_LENGTH,
  description: "What others should know; replaces the note that the alert has",
  examples: ["Delivery on Thursday"],
});

export const AlertNote = object({ note }, { description: "A note about the alert" }, ["note"]);
export const AlertNoteChange = object({ note: nullable(note) }, { description: "Another note about the alert" }, ["note"]);

export async function acknowledgeAlert(lookups: Lookups, command: Commands["acknowledge_alert"], at: Instant): PlanResult {
  const found = await alertAndNote(lookups, command);
  if (isCommandError(found)) return found;
  const { alert, note } = found;
  if (alert.state === "closed") {
    return commandError("state_conflict", `Alert ${alert.id} is closed and cannot be acknowledged.`);
  }
  if (alert.state === "acknowledged") return changeSet(alertResource(alert), {});
  const after: Alert = {
    ...alert,
    state: "acknowledged",
    acknowledged_at: at,
    acknowledged_by: command.by,
    note,
    updated_at: at,
  };
  return alertChangeSet(alert, after, "acknowledged");
}

/** It is not opened again until its condition has cleared once: until then it stays active. */
export async function closeAlert(lookups: Lookups, command: Commands["close_alert"], at: Instant): PlanResult {
  const found = await alertAndNote(lookups, command);
  if (isCommandError(found)) return found;
  const { alert, note } = found;
  if (alert.state === "closed") return changeSet(alertResource(alert), {});
  const after: Alert = { ...alert, state: "closed", closed_at: at, close_reason: "manual", note, updated_at: at };
  return alertChangeSet(alert, after, "closed");
}

/** The feed has the acknowledgement again, with the other note. Nobody is notified. */
export async function changeAlert(lookups: Lookups, command: Commands["change_alert"], at: Instant): PlanResult {
  const found = await alertAndNote(lookups, command, AlertNoteChange);
  if (isCommandError(found)) return found;
  const { alert, note } = found;
  if (alert.state !== "acknowledged") {
    return commandError(
      "state_conflict",
      `Alert ${alert.id} is ${alert.state}: only an acknowledged alert can get another note.`,
    );
  }
  if (alert.note === note) return changeSet(alertResource(alert), {});
  return alertChangeSet(alert, { ...alert, note, updated_at: at }, "changed");
}

type AlertAndNote = { readonly alert: Alert; readonly note: string | null };

async function alertAndNote(
  lookups: Lookups,
  { id, fields = {}, ifMatch }: Commands["close_alert"],
  schema: typeof AlertNote | typeof AlertNoteChange = AlertNote,
): Promise<AlertAndNote | CommandError> {
  const alert = existing("alert", await findOne(lookups.alerts, id), ifMatch, alertResource);
  if (isCommandError(alert)) return alert;
  const errors = errorsInObject(schema, fields);
  if (errors.length > 0) return invalidFields(errors);
  const { note = alert.note } = fields as Static<typeof AlertNoteChange>;
  return { alert, note };
}

function alertChangeSet(before: Alert, after: Alert, action: "acknowledged" | "closed" | "changed"): ChangeSet {
  const audited = ({ state, note }: Alert) => ({ state, note });
  const entry: AuditedChange = { object: "alert", id: after.id, action, changes: differences(audited(before), audited(after)) };
  const type: AlertEventType = action === "closed" ? "alert.closed" : "alert.acknowledged";
  const shouldNotify = action !== "changed";
  return changeSet(alertResource(after), { alerts: [{ before, after, type, shouldNotify }], audit: [entry] });
}
