// Removes readings that cannot be levels of the tank: a level leaves its course by a jump and returns to it by another.

import type { Instant } from "../instant.ts";

export type Level = { readonly at: Instant; readonly fill: number };

const DAY = 86_400_000;
/** A level that returns later than this was real. One reading alone may be wrong for longer, where readings are rare. */
const LONGEST_EXCURSION = 7 * DAY;
/** Failing sensors report about zero; a level that falls there and comes back above its course was none. */
const ABOUT_EMPTY = 3;
/** At the end of the series, a jump is believed after this time or this many readings. */
const BELIEVED_AFTER = 20 * 3_600_000;
const BELIEVED_READINGS = 3;

export function removeOutliers(readings: readonly Level[]): Level[] {
  const tolerance = toleranceOf(readings);
  const kept: Level[] = [];
  for (let i = 0; i < readings.length; ) {
    const reading = at(readings, i);
    const base = kept.at(-1);
    if (base === undefined || Math.abs(reading.fill - base.fill) <= tolerance(reading.at - base.at)) {
      kept.push(reading);
      i++;
      continue;
    }
    const returned = returnOf(readings, i, base, tolerance);
    if (returned === undefined) {
      kept.push(reading);
      i++;
    } else i = returned;
  }
  return kept;
}

/** The index of the reading that is back on course; undefined if the jump to the reading at `from` was real. */
function returnOf(readings: readonly Level[], from: number, base: Level, tolerance: Tolerance): number | undefined {
  const first = at(readings, from);
  const fell = first.fill < base.fill;
  let j = from + 1;
  for (; j < readings.length; j++) {
    const reading = at(readings, j);
    const before = at(readings, j - 1);
    if (j > from + 1 && reading.at - first.at > LONGEST_EXCURSION) return undefined;
    const isJump = Math.abs(reading.fill - before.fill) > tolerance(reading.at - before.at);
    if (!isJump) continue;
    const difference = reading.fill - base.fill;
    if (Math.abs(difference) <= tolerance(reading.at - base.at)) return j;
    if (fell && difference > 0 && before.fill <= ABOUT_EMPTY) return j;
  }
  const last = at(readings, j - 1);
  const isBelieved = j - from >= BELIEVED_READINGS || last.at - first.at >= BELIEVED_AFTER;
  return isBelieved ? undefined : readings.length;
}

/** How far a level may move in a time without being suspect. */
type Tolerance = (elapsed: number) => number;

function toleranceOf(readings: readonly Level[]): Tolerance {
  const noise: number[] = [];
  const uses: number[] = [];
  let dayBefore = 0;
  const stride = Math.max(1, Math.floor(readings.length / 500));
  for (let i = 1; i + 1 < readings.length; i += stride) {
    const [before, reading, after] = [at(readings, i - 1), at(readings, i), at(readings, i + 1)];
    const share = after.at > before.at ? (reading.at - before.at) / (after.at - before.at) : 0.5;
    noise.push(Math.abs(reading.fill - before.fill - share * (after.fill - before.fill)));
    while (dayBefore + 1 < i && reading.at - at(readings, dayBefore + 1).at >= DAY) dayBefore++;
    const then = at(readings, dayBefore);
    const use = ((then.fill - reading.fill) * DAY) / Math.max(reading.at - then.at, DAY);
    if (use > 0) uses.push(use);
  }
  const wobble = 4 + 4 * quantile(noise, 0.5);
  const use = 2 * quantile(uses, 0.75);
  return (elapsed) => wobble + (use * elapsed) / DAY;
}

function quantile(values: number[], share: number): number {
  values.sort((a, b) => a - b);
  return values[Math.floor(share * (values.length - 1))] ?? 0;
}

function at<T>(list: readonly T[], index: number): T {
  const entry = list[index];
  if (entry === undefined) throw new RangeError(`no entry ${index}`);
  return entry;
}
