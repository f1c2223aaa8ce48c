// The changed fields of an audit entry in words: "Alert threshold: 20 % → 25 %".

import type { AuditEntry, Profile, Shape } from "../../../client/src/index.ts";
import { describeProfile, describeShape } from "../devices/profiles.ts";
import { shortened, withLocalTimes } from "../format.ts";

/** Longer values are shortened. */
const MAX_LENGTH = 60;

type FieldChange = { readonly field: string; readonly text: string };

/** As in the forms. Of other fields, the name in the API is plain enough. */
const LABELS: Readonly<Record<string, string>> = {
  assigned_device_id: "Device",
  tank_id: "Tank",
  owner_id: "Customer",
  customer_id: "Customer",
  min_fill_alert_percentage: "Alert threshold",
  use_case: "Use case",
  "alerts.runs_low_soon": "Alert when it is expected to run low soon",
  "alerts.leak": "Alert when a leak is suspected",
};

const labelOf = (field: string): string => LABELS[field] ?? capitalized(field.replace(/^.*\./, "").replaceAll("_", " "));
const capitalized = (text: string): string => text.charAt(0).toUpperCase() + text.slice(1);

export function fieldChanges({ changes }: AuditEntry): readonly FieldChange[] {
  return Object.entries(changes).map(([field, change]) => {
    const { from, to } = (change ?? {}) as { readonly from?: unknown; readonly to?: unknown };
    return { field: labelOf(field), text: `${inWords(field, from)} → ${inWords(field, to)}` };
  });
}

function inWords(field: string, value: unknown): string {
  if (value === null || value === undefined) return "–";
  if (field === "shape") return describeShape(value as Shape);
  if (field === "profile") return describeProfile(value as Profile);
  if (field === "min_fill_alert_percentage") return `${value} %`;
  if (typeof value === "boolean") return value ? "yes" : "no";
  return shortened(withLocalTimes(typeof value === "string" ? value : JSON.stringify(value)), MAX_LENGTH);
}
