// What was used in each week: how far the level fell, plus what was filled in.

import type { Refill, Series } from "../../../client/src/index.ts";
import { DAY_MS } from "../format.ts";

export const WEEK_MS = 7 * DAY_MS;

export type Week = { readonly start: string; readonly used: number | null };

/** A rise that is more than noise and not among the refills yet: the use is not known. */
const NOISE = 1;

/** Mondays at midnight, wherever on earth, are in different weeks since 1970, which began on a Thursday. */
const weekNumber = (start: Date): number => Math.floor(start.getTime() / WEEK_MS);

/** In percentage points up to the current week; null where it cannot be known. The first week has none before it. */
export function weeklyUse(buckets: Series["buckets"], refills: readonly Refill[], now: number): Week[] {
  const [first] = buckets;
  if (first === undefined || buckets.length < 2) return [];
  // Weeks without readings have no bucket.
  const lastOf = new Map(buckets.map(({ start, last }) => [weekNumber(new Date(start)), last]));
  const starts = [new Date(first.start)];
  for (let start = weekAfter(first.start); start.getTime() <= now; start = weekAfter(start)) starts.push(start);
  return starts.slice(1).map((start) => {
    const [before, last] = [lastOf.get(weekNumber(start) - 1), lastOf.get(weekNumber(start))];
    if (before === undefined || last === undefined) return { start: start.toISOString(), used: null };
    const [from, to] = [start.getTime(), weekAfter(start).getTime()];
    const filled = refills
      .filter(({ ended_at }) => Date.parse(ended_at) >= from && Date.parse(ended_at) < to)
      .reduce((sum, refill) => sum + refill.to_percentage - refill.from_percentage, 0);
    const used = before - last + filled;
    return { start: start.toISOString(), used: used < -NOISE ? null : Math.max(0, used) };
  });
}

/** By the calendar: a week in which clocks change is an hour shorter or longer. */
function weekAfter(start: Date | string): Date {
  const next = new Date(start);
  next.setDate(next.getDate() + 7);
  return next;
}
