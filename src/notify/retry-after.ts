// The header Retry-After: seconds, or an HTTP date.

import { DAY, type Instant } from "../domain/instant.ts";

const MAX_MS = DAY;

/** Milliseconds from now, at most 24 hours; undefined if there is none, or it is not understood. */
export function retryAfter(header: string | undefined, now: Instant): number | undefined {
  if (header === undefined) return undefined;
  const ms = /^\d+$/.test(header) ? Number(header) * 1000 : parseHttpDate(header) - now;
  return Number.isNaN(ms) ? undefined : Math.min(Math.max(ms, 0), MAX_MS);
}

/** NaN if it is none. The oldest of the three formats of HTTP does not name its time zone, which is GMT, too. */
function parseHttpDate(text: string): number {
  if (/^[A-Z][a-z]{2,8}, [\w :-]+ GMT$/.test(text)) return Date.parse(text);
  return /^[A-Z][a-z]{2} [A-Z][a-z]{2} [\d ]\d [\d:]{8} \d{4}$/.test(text) ? Date.parse(`${text} GMT`) : Number.NaN;
}
