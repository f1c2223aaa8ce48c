// What an order took in of the readings that waited for it, as it is told with what the order did.

import { formatInstant, type Instant } from "../instant.ts";
import type { Shown } from "../managed.ts";

/** A reading that waited, and waits no longer. */
export type Ended = { readonly created_at: Instant; readonly isRejected: boolean };

/** For orders that readings may have waited for. It is filled in once they are taken. */
export function takingIn({ object, tag }: Shown): Shown {
  return { object: { ...object, taken_in: null }, tag };
}

export function withTaken(shown: Shown, ended: readonly Ended[]): Shown {
  if (ended.length === 0 || !("taken_in" in shown.object)) return shown;
  const rejected = ended.filter(({ isRejected }) => isRejected).length;
  const [first, last] = ended.reduce(
    ([from, to], { created_at }) => [Math.min(from, created_at), Math.max(to, created_at)],
    [Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY],
  );
  const taken_in = { readings: ended.length - rejected, rejected, from: formatInstant(first), to: formatInstant(last) };
  return { ...shown, object: { ...shown.object, taken_in } };
}
