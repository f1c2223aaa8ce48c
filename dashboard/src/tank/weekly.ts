// What was used in each week: how far the level fell, plus what was filled in.

import type { Refill, Series } from "../../../client/src/index.ts";

export const WEEK_MS = 7 * 86_400_000;

type Week = { readonly start: string; readonly used: number | null };

/** A rise that is more than noise and not among the refills yet: the use is not known. */
const NOISE = 1;

/** In percentage points; null where it cannot be known. The first week has none before it. */
export function weeklyUse(buckets: Series["buckets"], refills: readonly Refill[]): Week[] {
  return buckets.slice(1).map(({ start, last }, index) => {
    const before = buckets[index];
    const [from, to] = [Date.parse(start), Date.parse(buckets[index + 2]?.start ?? "") || Date.parse(start) + WEEK_MS];
    // An hour more than a week where clocks change.
    const isNext = before !== undefined && from - Date.parse(before.start) < WEEK_MS * 1.1;
    if (!isNext) return { start, used: null };
    const filled = refills
      .filter(({ ended_at }) => Date.parse(ended_at) >= from && Date.parse(ended_at) < to)
      .reduce((sum, refill) => sum + refill.to_percentage - refill.from_percentage, 0);
    const used = before.last - last + filled;
    return { start, used: used < -NOISE ? null : Math.max(0, used) };
  });
}
