// The changed fields of an audit entry in words: "20 → 25".

import type { AuditEntry } from "../../../client/src/index.ts";
import { withLocalTimes } from "../format.ts";

/** Longer values are shortened. */
const MAX_LENGTH = 60;

type FieldChange = { readonly field: string; readonly text: string };

export function fieldChanges({ changes }: AuditEntry): readonly FieldChange[] {
  return Object.entries(changes).map(([field, change]) => {
    const { from, to } = (change ?? {}) as { readonly from?: unknown; readonly to?: unknown };
    return { field, text: `${shortened(from)} → ${shortened(to)}` };
  });
}

function shortened(value: unknown): string {
  if (value === null || value === undefined) return "–";
  const text = withLocalTimes(typeof value === "string" ? value : JSON.stringify(value));
  return text.length > MAX_LENGTH ? `${text.slice(0, MAX_LENGTH).toWellFormed()}…` : text;
}
