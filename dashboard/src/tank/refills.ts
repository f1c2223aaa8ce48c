// All refills of a tank that are known, newest first.

import type { Refill, RefillList } from "../../../client/src/index.ts";
import { api } from "../api.ts";
import { DAY_MS } from "../format.ts";

const SIZE = 100;

const TWO_YEARS_MS = 2 * 365 * DAY_MS;
/** Whether refills of that time are known: they are found in the readings of the last two years. */
export const areRefillsKnown = (at: number): boolean => at >= Date.now() - TWO_YEARS_MS;

/** The same array for the same first page, so that nothing is drawn again. */
const loaded = new WeakMap<RefillList, readonly Refill[]>();

/** Pages after the first are read again when the first has changed: a new refill moves all of them. */
export async function loadRefills(id: string, signal: AbortSignal): Promise<readonly Refill[]> {
  const first = await api.insight.tanks.refills(id, { size: SIZE, signal });
  const known = loaded.get(first);
  if (known !== undefined) return known;
  const numbers = Array.from({ length: Math.max(0, first.total_pages - 1) }, (_, index) => index + 2);
  const others = await Promise.all(numbers.map((page) => api.insight.tanks.refills(id, { page, size: SIZE, signal })));
  const refills = [first, ...others].flatMap(({ data }) => data);
  loaded.set(first, refills);
  return refills;
}
