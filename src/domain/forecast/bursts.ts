// Use in bursts, such as a generator's: hardly any for days, then much at once. The filter of `use.ts` takes a burst for a deviation that
// says little about use, so it expects far too little of such a tank. Here bursts are counted.

import type { DailyLevel } from "./daily.ts";

export type Bursts = {
  /** Mean use a day, in points. */
  readonly use: number;
  /** In this many days another burst begins with a probability of one half. */
  readonly medianWait: number;
};

const KNOWN_DAYS = 365;
const MIN_INTERVALS = 15;
const MIN_BURSTS = 4;
/** Levels of one day, before and after a refill, are less than a day apart. */
const MIN_INTERVAL_DAYS = 0.5;
/** For half of the time, use is less than this share of the mean. */
const QUIET_SHARE = 0.1;
/** A tenth of the time with the most use has more than half of all. */
const TOP = { time: 0.1, use: 0.5 } as const;
/** Less use than this, in units of the noise of the sensor, may be noise, or a step of a coarse sensor. */
const MIN_USE = 8;
/** If none has begun for this many median waits, they have ended. */
const MAX_WAITS = 10;

type Interval = { readonly days: number; readonly use: number };
const rate = ({ use, days }: Interval): number => use / days;

/** Undefined if the tank is not used in bursts, is no longer, or too little is known. */
export function burstsIn(levels: readonly DailyLevel[], noise: number): Bursts | undefined {
  const intervals = intervalsOf(levels);
  const days = sum(intervals, (interval) => interval.days);
  const used = sum(intervals, (interval) => interval.use);
  if (intervals.length < MIN_INTERVALS || used < MIN_USE * noise) return undefined;
  const use = used / days;
  const quiet = intervals.filter((interval) => rate(interval) < QUIET_SHARE * use);
  if (sum(quiet, (interval) => interval.days) < days / 2 || mostUsedIn(TOP.time * days, intervals) < TOP.use * used)
    return undefined;
  const isBurst = (interval: Interval): boolean => rate(interval) > use && interval.use > MIN_USE * noise;
  const bursts = intervals.filter((interval, i) => isBurst(interval) && !isBurst(intervals[i - 1] ?? NONE)).length;
  if (bursts < MIN_BURSTS) return undefined;
  const medianWait = (Math.LN2 * days) / bursts;
  const waited = sum(intervals.slice(intervals.findLastIndex(isBurst) + 1), (interval) => interval.days);
  return waited > MAX_WAITS * medianWait ? undefined : { use, medianWait };
}

const NONE: Interval = { days: 1, use: 0 };

/** What was used from level to level in the last year. During a refill it cannot be seen. */
function intervalsOf(levels: readonly DailyLevel[]): Interval[] {
  const start = (levels.at(-1)?.day ?? 0) - KNOWN_DAYS;
  const intervals: Interval[] = [];
  levels.forEach((level, i) => {
    const before = levels[i - 1];
    if (before === undefined || before.segment !== level.segment || before.day < start) return;
    intervals.push({ days: Math.max(MIN_INTERVAL_DAYS, level.day - before.day), use: Math.max(0, before.fill - level.fill) });
  });
  return intervals;
}

/** The most that was used in this many days, which need not follow one another. */
function mostUsedIn(days: number, intervals: readonly Interval[]): number {
  let [use, remaining] = [0, days];
  for (const interval of intervals.toSorted((a, b) => rate(b) - rate(a))) {
    use += interval.use * Math.min(1, remaining / interval.days);
    remaining -= interval.days;
    if (remaining <= 0) break;
  }
  return use;
}

const sum = (intervals: readonly Interval[], of: (interval: Interval) => number): number =>
  intervals.reduce((total, interval) => total + of(interval), 0);
