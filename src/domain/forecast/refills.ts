// Finds refills: rises that hold.

import type { Instant } from "../instant.ts";
import type { Level } from "./outliers.ts";

export type Refill = {
  /** The last reading before the rise: the identity of a refill, whatever is read later. */
  readonly startedAt: Instant;
  /** The reading at which the level had risen. */
  readonly endedAt: Instant;
  readonly from: number;
  readonly to: number;
};

const HOUR = 3_600_000;
const SMALLEST_RISE = 5;
/** A rise is a refill once it has held for a day with this many readings, or for two days. */
const HELD = { time: 24 * HOUR, readings: 5, longTime: 40 * HOUR } as const;
/** Rises less than this apart are one delivery. */
const PAUSE = 12 * HOUR;

/** `cleaned` is in order of time and without outliers. A rise that has not held long enough yet is left out. */
export function findRefills(cleaned: readonly Level[]): Refill[] {
  const refills: Refill[] = [];
  for (let i = 1; i < cleaned.length; i++) {
    const low = cleaned[i - 1];
    if (low === undefined) break;
    const top = topOfRise(cleaned, i - 1);
    if (top === i - 1) continue;
    const high = cleaned[top];
    if (high !== undefined && high.fill - low.fill >= SMALLEST_RISE && holds(cleaned, low, top)) {
      refills.push({ startedAt: low.at, endedAt: high.at, from: low.fill, to: high.fill });
      i = top;
    }
  }
  return refills;
}

/** The index of the highest reading of the rise that begins after `low`. */
function topOfRise(cleaned: readonly Level[], low: number): number {
  const first = cleaned[low];
  let top = low;
  let highest = first?.fill ?? 0;
  let risenAt = first?.at ?? 0;
  for (let i = low + 1; i < cleaned.length; i++) {
    const reading = cleaned[i];
    if (reading === undefined || reading.fill < (first?.fill ?? 0)) break;
    if (top === low ? i > low + 1 : reading.at - risenAt > PAUSE) break;
    if (reading.fill > highest + 0.5) [top, highest, risenAt] = [i, reading.fill, reading.at];
  }
  return top;
}

/** Whether half of the rise is still there when it has to be; use of what was delivered is allowed for. */
function holds(cleaned: readonly Level[], low: Level, top: number): boolean {
  const high = cleaned[top];
  if (high === undefined) return false;
  const half = (low.fill + high.fill) / 2;
  for (let i = top + 1; i < cleaned.length; i++) {
    const reading = cleaned[i];
    if (reading === undefined) return false;
    const held = reading.at - high.at;
    const isBack = reading.fill < half && held < HELD.longTime && held < HELD.time && reading.fill <= low.fill + 1;
    if (isBack) return false;
    if (held >= HELD.longTime || (held >= HELD.time && i - top >= HELD.readings)) return true;
  }
  return false;
}
