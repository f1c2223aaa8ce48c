// Commands on alerts: acknowledge one, or close it manually. Both can be repeated: what is done already stays as it is.

import { type Alert, NOTE_MAX_LENGTH } from "../alerts/alert.ts";
import type { AlertEventType } from "../alerts/event.ts";
import { type AuditedChange, differences } from "../audit.ts";
import type { Instant } from "../instant.ts";
import { findOne, type Lookups } from "../lookups.ts";
import { alertResource } from "../resource.ts";
import { object, type Static, text } from "../schema.ts";
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
  type Planned,
} from "./command.ts";

export const AlertNote = object(
  {
    note: text({
      minLength: 1,
      maxLength: NOTE_MAX_LENGTH,
      description: "What others should know; replaces the note that the alert has",
      examples: ["Delivery on Thursday"],
    }),
  },
  { description: "A note about the alert" },
  ["note"],
);

export async function acknowledgeAlert(lookups: Lookups, command: Commands["acknowledge_alert"], at: Instant): Planned {
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
export async function closeAlert(lookups: Lookups, command: Commands["close_alert"], at: Instant): Planned {
  const found = await alertAndNote(lookups, command);
  if (isCommandError(found)) return found;
  const { alert, note } = found;
  if (alert.state === "closed") return changeSet(alertResource(alert), {});
  const after: Alert = { ...alert, state: "closed", closed_at: at, close_reason: "manual", note, updated_at: at };
  return alertChangeSet(alert, after, "closed");
}

type AlertAndNote = { readonly alert: Alert; readonly note: string | null };

async function alertAndNote(
  lookups: Lookups,
  { id, fields = {}, ifMatch }: Commands["close_alert"],
): Promise<AlertAndNote | CommandError> {
  const alert = existing("alert", await findOne(lookups.alerts, id), ifMatch, alertResource);
  if (isCommandError(alert)) return alert;
  const errors = errorsInObject(AlertNote, fields);
  if (errors.length > 0) return invalidFields(errors);
  const { note = alert.note } = fields as Static<typeof AlertNote>;
  return { alert, note };
}

function alertChangeSet(before: Alert, after: Alert, action: "acknowledged" | "closed"): ChangeSet {
  const audited = ({ state, note }: Alert) => ({ state, note });
  const entry: AuditedChange = { object: "alert", id: after.id, action, changes: differences(audited(before), audited(after)) };
  const type: AlertEventType = `alert.${action}`;
  return changeSet(alertResource(after), { alerts: [{ before, after, type, shouldNotify: true }], audit: [entry] });
}
