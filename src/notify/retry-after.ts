// The header Retry-After: seconds, or an HTTP date.

import type { Instant } from "../domain/instant.ts";

const MAX_MS = 24 * 3_600_000;

/** Milliseconds from now, at most 24 hours; undefined if there is none, or it is not understood. */
export function retryAfter(header: string | undefined, now: Instant): number | undefined {
  if (header === undefined) return undefined;
  const isDate = /^[A-Z][a-z]+,? .* GMT$/.test(header);
  const ms = /^\d+$/.test(header) ? Number(header) * 1000 : isDate ? Date.parse(header) - now : Number.NaN;
  return Number.isNaN(ms) ? undefined : Math.min(Math.max(ms, 0), MAX_MS);
}
