// Reduces readings to one level a day, the median: daily temperature swings and noise cancel out, and a year is 365 levels
// whatever the interval of the readings.

import { DAY, HOUR, type Instant } from "../instant.ts";
import type { Refill } from "./refills.ts";
import type { Level } from "./variation.ts";

const THINNING_INTERVAL_MS = 4 * HOUR;

/** The readings of one interval become one. */
export const thinningInterval = (at: Instant): number => Math.floor(at / THINNING_INTERVAL_MS);

/**
 * At most one reading every four hours, the median, so that what follows takes the same time whatever a device sends. Of an even number
 * it is the earlier of the two in the middle: their mean would be a level between the steps of the sensor, the higher one is too high.
 */
export function thinned(readings: readonly Level[]): Level[] {
  const kept: Level[] = [];
  for (let from = 0, to = 0; from < readings.length; from = to) {
    const first = readings[from];
    if (first === undefined) break;
    const end = (thinningInterval(first.at) + 1) * THINNING_INTERVAL_MS;
    while ((readings[to]?.at ?? end) < end) to++;
    if (to === from + 1) kept.push(first);
    else {
      const bucket = readings.slice(from, to).sort((a, b) => a.fill - b.fill);
      const [lower = first, upper = first] = [bucket[(bucket.length - 1) >>> 1], bucket[bucket.length >>> 1]];
      kept.push(lower.at < upper.at ? lower : upper);
    }
  }
  return kept;
}

/** A level at a time in days since 1970. */
export type DailyLevel = {
  readonly day: number;
  readonly fill: number;
  /** Use is seen between levels of one segment only: they have no refill between them. */
  readonly segment: number;
  /** It is the median of at least three readings: a single one hardly moves it. */
  readonly isConfirmed: boolean;
};

const CONFIRMED_READINGS = 3;

/** `cleaned` is in order of time. A day with a refill has two levels; readings during the refill are left out. */
export function dailyLevels(cleaned: readonly Level[], refills: readonly Refill[]): DailyLevel[] {
  const levels: DailyLevel[] = [];
  let fills: number[] = [];
  let sumOfTimes = 0;
  let dayOfFills = Number.NaN;
  let segment = 0;
  const close = (): void => {
    const isConfirmed = fills.length >= CONFIRMED_READINGS;
    if (fills.length > 0) levels.push({ day: sumOfTimes / fills.length / DAY, fill: median(fills), segment, isConfirmed });
    fills = [];
    sumOfTimes = 0;
  };
  for (const { at, fill } of cleaned) {
    const refill = refills[segment];
    if (refill !== undefined && at > refill.startedAt) {
      if (at < refill.endedAt) continue;
      close();
      segment++;
    }
    const day = Math.floor(at / DAY);
    if (day !== dayOfFills) close();
    dayOfFills = day;
    fills.push(fill);
    sumOfTimes += at;
  }
  close();
  return levels;
}

/** A rise of more than this, and four times the noise, begins a segment, before it has held long enough to be a refill. */
const MIN_RISE = 2;
/** So does a fall of more than this, and five times what the tank uses on days of much use: theft, or another sensor. */
const MIN_FALL = 3;
/** But not if the fall before or after it is at least this share of it: the tank is used more now. */
const LASTING_SHARE = 1 / 3;

/**
 * The newest level begins a segment only if it is confirmed. Where the level after a rise has lost half of it, the rise was false: that
 * level begins a segment, too, so that the fall does not count as use.
 */
export function splitAtJumps(levels: readonly DailyLevel[], noise: number): DailyLevel[] {
  const falls: number[] = [];
  levels.forEach(({ fill, segment }, i) => {
    const before = levels[i - 1];
    if (before?.segment === segment && before.fill > fill) falls.push(before.fill - fill);
  });
  const highest = MIN_RISE + 4 * noise;
  const deepest = MIN_FALL + 5 * (Float64Array.from(falls).sort()[Math.floor(0.9 * falls.length)] ?? 0);
  let splits = 0;
  let riseBefore = 0;
  return levels.map((level, i) => {
    const before = levels[i - 1];
    const rise = before?.segment === level.segment ? level.fill - before.fill : 0;
    const isReturn = riseBefore > highest && -rise > riseBefore / 2;
    const isCertain = level.isConfirmed || i < levels.length - 1;
    const isFall = -rise > deepest && Math.max(fallAt(levels, i - 1), fallAt(levels, i + 1)) < -rise * LASTING_SHARE;
    if (isCertain && (rise > highest || isFall || isReturn)) splits++;
    riseBefore = rise;
    return { ...level, segment: level.segment + splits };
  });
}

/** How far a level is below the one before, if both are in one segment. */
export function fallAt(levels: readonly DailyLevel[], index: number): number {
  const [before, level] = [levels[index - 1], levels[index]];
  return before !== undefined && before.segment === level?.segment ? before.fill - level.fill : 0;
}

/** A sensor fails if more than this share of its readings leap this far, and at least half of it back, within half a day. */
const ERRATIC = { share: 0.05, leap: 5, within: 13 * HOUR, days: 90 } as const;

export function isErratic(readings: readonly Level[]): boolean {
  const start = (readings.at(-1)?.at ?? 0) - ERRATIC.days * DAY;
  let [seen, leaps] = [0, 0];
  for (let i = readings.length - 1; i >= 2; i--) {
    const [before, reading, after] = [readings[i - 2], readings[i - 1], readings[i]];
    if (before === undefined || reading === undefined || after === undefined || before.at < start) break;
    if (after.at - before.at > ERRATIC.within) continue;
    const [there, back] = [reading.fill - before.fill, reading.fill - after.fill];
    const [least, most] = [Math.min(Math.abs(there), Math.abs(back)), Math.max(Math.abs(there), Math.abs(back))];
    seen++;
    if (there * back > 0 && least > Math.max(ERRATIC.leap, most / 2)) leaps++;
  }
  return leaps > ERRATIC.share * Math.max(seen, 40);
}

/** Most sensors have steps of about this; the noise of a coarse one is this share of its step. */
const MIN_NOISE = 0.05;
const STEP_NOISE = 0.25;

/** The median distance of a level from the line between its neighbours. */
export function noiseOf(levels: readonly DailyLevel[], sensorStep: number): number {
  const distances: number[] = [];
  for (let i = 2; i < levels.length; i++) {
    const [before, level, after] = [levels[i - 2], levels[i - 1], levels[i]];
    if (before === undefined || level === undefined || after === undefined || before.segment !== after.segment) continue;
    const share = (level.day - before.day) / (after.day - before.day);
    distances.push(Math.abs(level.fill - before.fill - share * (after.fill - before.fill)));
  }
  const distance = Float64Array.from(distances).sort()[distances.length >>> 1] ?? 0;
  return Math.max(MIN_NOISE, STEP_NOISE * sensorStep, distance);
}

/** NaN of none. Sorts the list. */
function median(values: number[]): number {
  insertionSort(values);
  const middle = values.length / 2;
  const upper = values[Math.floor(middle)] ?? Number.NaN;
  return Number.isInteger(middle) ? ((values[middle - 1] ?? Number.NaN) + upper) / 2 : upper;
}

/** The levels of a day are few: `Array.sort` takes several times as long for them. */
function insertionSort(values: number[]): void {
  for (let i = 1; i < values.length; i++) {
    const value = values[i] ?? 0;
    let j = i;
    for (; j > 0 && (values[j - 1] ?? 0) > value; j--) values[j] = values[j - 1] ?? 0;
    values[j] = value;
  }
}
