// Removes false readings: where a level leaves its course by a jump and returns to it by another. A series is cut into runs at its
// jumps; a short run between two that continue each other is false.

import { DAY, HOUR } from "../instant.ts";
import { itemAt, type Level, type Variation, variationOf } from "./variation.ts";

/** Readings from `start` up to, not including, `end`, without a jump. */
type Run = { readonly start: number; readonly end: number };

/** Sensors that fail report about zero, often for days. */
const ABOUT_ZERO = 3;
const MAX_ZERO_MS = 7 * DAY;
/** The longest run of other false readings; a single one may be any time before the next. */
const MAX_FALSE_MS = 2.5 * DAY;
/** A jump at the end of the series is confirmed after this time, or this many readings. */
const CONFIRMED_AFTER_MS = 20 * HOUR;
const CONFIRMED_READINGS = 3;

/** `readings` are in order of time. */
export function removeOutliers(readings: readonly Level[]): Level[] {
  const variation = variationOf(readings);
  const step = (before: Run, after: Run): -1 | 0 | 1 =>
    jump(itemAt(readings, before.end - 1), itemAt(readings, after.start), variation);
  let runs = runsOf(readings, variation);
  if (runs.length === 1) return [...readings];

  // In this order: a false zero must not look like the end of a refill, nor a single reading like a return.
  runs = without(runs, (before, run, after) => {
    const isZero = itemAt(readings, run.start).fill <= ABOUT_ZERO && step(before, run) === -1;
    return isZero && duration(readings, run) <= MAX_ZERO_MS && step(before, after) !== -1;
  });
  const isDetour = (before: Run, run: Run, after: Run): boolean =>
    step(before, run) * step(run, after) === -1 && step(before, after) === 0;
  runs = without(runs, (before, run, after) => run.end - run.start === 1 && isDetour(before, run, after));
  runs = without(runs, (before, run, after) => duration(readings, run) <= MAX_FALSE_MS && isDetour(before, run, after));

  const last = runs.at(-1);
  if (last !== undefined && runs.length > 1 && !isConfirmed(readings, last)) runs.pop();
  return runs.flatMap(({ start, end }) => readings.slice(start, end));
}

function isConfirmed(readings: readonly Level[], run: Run): boolean {
  return run.end - run.start >= CONFIRMED_READINGS || duration(readings, run) >= CONFIRMED_AFTER_MS;
}

/** 1 for a rise, -1 for a fall that use does not explain, 0 for neither. */
function jump(from: Level, to: Level, { noise, usePerDay }: Variation): -1 | 0 | 1 {
  const change = to.fill - from.fill;
  if (change > noise) return 1;
  return change < -noise - (usePerDay * (to.at - from.at)) / DAY ? -1 : 0;
}

function runsOf(readings: readonly Level[], variation: Variation): Run[] {
  const runs: Run[] = [];
  let start = 0;
  for (let i = 1; i < readings.length; i++) {
    if (jump(itemAt(readings, i - 1), itemAt(readings, i), variation) === 0) continue;
    runs.push({ start, end: i });
    start = i;
  }
  runs.push({ start, end: readings.length });
  return runs;
}

/** The runs that are not false. Each is judged with the last one kept before it, and the one after it. */
function without(runs: readonly Run[], isFalse: (before: Run, run: Run, after: Run) => boolean): Run[] {
  const kept: Run[] = [];
  for (const [i, run] of runs.entries()) {
    const [before, after] = [kept.at(-1), runs[i + 1]];
    if (before === undefined || after === undefined || !isFalse(before, run, after)) kept.push(run);
  }
  return kept;
}

function duration(readings: readonly Level[], { start, end }: Run): number {
  return itemAt(readings, end - 1).at - itemAt(readings, start).at;
}
