// Readings of a tank by buckets of time: minimum, maximum, mean, last and count. Days, weeks and months are those of a time zone.

import { DAY, FIRST_INSTANT, formatInstant, HOUR, type Instant, MINUTE } from "./instant.ts";
import type { ReadingColumns } from "./reading.ts";
import type { OffsetPeriod, TimeZone } from "./timezone.ts";

const WEEK = 7 * DAY;

/** Steps from the shortest to the longest. */
export const STEPS = ["15m", "1h", "6h", "1d", "1w", "1M"] as const;
export type Step = (typeof STEPS)[number];

/** A bucket as in responses. */
export type Bucket = {
  readonly start: string;
  readonly min: number;
  readonly max: number;
  /** The mean of the readings, not weighted by time. */
  readonly mean: number;
  readonly last: number;
  readonly count: number;
};

/** `end` is exclusive. */
type BucketBounds = { readonly start: Instant; readonly end: Instant };

/** Local times are instants as if the local time were UTC. */
type LocalTime = number;

/** A step that follows the calendar: where the one that contains a local time begins, and the one after it. */
type Calendar = { readonly floor: (local: LocalTime) => LocalTime; readonly next: (floor: LocalTime) => LocalTime };

/** 1970 began on a Thursday; weeks begin on Monday. */
const MONDAY = 4 * DAY;
const evenly = (size: number, origin = 0): Calendar => ({
  floor: (local) => Math.floor((local - origin) / size) * size + origin,
  next: (floor) => floor + size,
});

const CALENDARS: Readonly<Record<Exclude<Step, "15m" | "1h">, Calendar>> = {
  "6h": evenly(6 * HOUR),
  "1d": evenly(DAY),
  "1w": evenly(WEEK, MONDAY),
  "1M": { floor: (local) => startOfMonth(monthOf(local)), next: (floor) => startOfMonth(monthOf(floor) + 1) },
};
/** Steps of a quarter or a whole hour have a fixed length. */
const FIXED = { "15m": 15 * MINUTE, "1h": HOUR } as const;

/** Months since the year 0. */
function monthOf(local: LocalTime): number {
  const date = new Date(local);
  return date.getUTCFullYear() * 12 + date.getUTCMonth();
}

function startOfMonth(month: number): LocalTime {
  // Date.UTC would take the years 0 to 99 for those of the 20th century.
  return new Date(0).setUTCFullYear(Math.floor(month / 12), month - Math.floor(month / 12) * 12, 1);
}

export function boundsFor(step: Step, zone: TimeZone): (instant: Instant) => BucketBounds {
  if (step === "15m" || step === "1h") return (instant) => fixedBounds(FIXED[step], zone.periodAt(instant), instant);
  const calendar = CALENDARS[step];
  let offsetPeriod = zone.periodAt(0);
  return (instant) => {
    if (instant < offsetPeriod.from || instant >= offsetPeriod.until) offsetPeriod = zone.periodAt(instant);
    return calendarBounds(calendar, zone, offsetPeriod, instant);
  };
}

/** Where the offset changes by less than the size, the buckets before and after the change are shorter. */
function fixedBounds(size: number, { from, until, offset }: OffsetPeriod, instant: Instant): BucketBounds {
  const start = Math.floor((instant + offset) / size) * size - offset;
  return { start: Math.max(start, from), end: Math.min(start + size, until) };
}

/** More than any offset, and than any change of one. */
const MAX_CHANGE = 26 * HOUR;

function calendarBounds({ floor, next }: Calendar, zone: TimeZone, offsetPeriod: OffsetPeriod, instant: Instant): BucketBounds {
  const { from, until, offset } = offsetPeriod;
  let begins = floor(instant + offset);
  let ends = next(begins);
  if (begins - offset >= from + MAX_CHANGE && ends - offset < until) return { start: begins - offset, end: ends - offset };
  let end = firstInstant(ends, zone);
  // Clocks that were set back over a boundary come to it twice: the bucket after it has begun the first time.
  while (end <= instant) {
    begins = ends;
    ends = next(ends);
    end = firstInstant(ends, zone);
  }
  return { start: firstInstant(begins, zone), end };
}

/** When local time first is at or after this: if clocks skip it, when they do. */
function firstInstant(local: LocalTime, zone: TimeZone): Instant {
  for (let offsetPeriod = zone.periodAt(local - MAX_CHANGE); ; offsetPeriod = zone.periodAt(offsetPeriod.until)) {
    const instant = Math.max(local - offsetPeriod.offset, offsetPeriod.from);
    if (instant < offsetPeriod.until) return instant;
  }
}

/** The most buckets that a range can have; `to` is exclusive. */
export function maxBuckets(step: Step, from: Instant, to: Instant, zone: TimeZone): number {
  if (step === "15m" || step === "1h") {
    const { offset, until } = zone.periodAt(from);
    // One is cut off at each end of the range, and two more where the offset changes.
    if (to > until) return Math.ceil((to - from) / FIXED[step]) + 3;
    return Math.floor((to - 1 + offset) / FIXED[step]) - Math.floor((from + offset) / FIXED[step]) + 1;
  }
  const [first, last] = [from, to - 1].map((instant) => instant + zone.periodAt(instant).offset) as [LocalTime, LocalTime];
  if (step === "1M") return monthOf(last) - monthOf(first) + 1;
  const { floor, next } = CALENDARS[step];
  return (floor(last) - floor(first)) / next(0) + 1;
}

/** The shortest step with at most `limit` buckets; undefined if even months are more. */
export function shortestStep(from: Instant, to: Instant, zone: TimeZone, limit: number): Step | undefined {
  return STEPS.find((step) => maxBuckets(step, from, to, zone) <= limit);
}

type Period = BucketBounds & { readonly startText: string; next: Period | undefined };

const MAX_KNOWN_PERIODS = 10_000;

/** The periods of buckets, each computed once: most series are of the same days. Each is linked to the one that followed it last. */
export class Periods {
  readonly #boundsAt: (instant: Instant) => BucketBounds;
  /** Keyed by start. */
  readonly #known = new Map<Instant, Period>();

  constructor(step: Step, zone: TimeZone) {
    this.#boundsAt = boundsFor(step, zone);
  }

  /** Returns the period of an instant that is later than the previous period. */
  find(instant: Instant, previous: Period | undefined): Period {
    const next = previous?.next;
    if (next !== undefined && instant >= next.start && instant < next.end) return next;
    const found = this.#periodOf(this.#boundsAt(instant));
    if (previous !== undefined) previous.next = found;
    return found;
  }

  #periodOf({ start, end }: BucketBounds): Period {
    const known = this.#known.get(start);
    if (known !== undefined) return known;
    if (this.#known.size >= MAX_KNOWN_PERIODS) this.#known.clear();
    const period = { start, end, startText: formatInstant(Math.max(start, FIRST_INSTANT)), next: undefined };
    this.#known.set(start, period);
    return period;
  }
}

const recentPeriods = new Map<string, Periods>();
const MAX_RECENT_PERIODS = 8;

/** The same for all requests with this step and time zone. */
export function periodsOf(step: Step, zone: TimeZone): Periods {
  const name = `${step} ${zone.id}`;
  const known = recentPeriods.get(name);
  if (known !== undefined) return known;
  if (recentPeriods.size >= MAX_RECENT_PERIODS) recentPeriods.clear();
  const periods = new Periods(step, zone);
  recentPeriods.set(name, periods);
  return periods;
}

/** Readings are added in order. */
export class BucketCollector {
  readonly #periods: Periods;
  readonly #complete: Bucket[] = [];
  #period: Period | undefined;
  #min = 0;
  #max = 0;
  #sum = 0;
  #last = 0;
  #count = 0;

  constructor(periods: Periods) {
    this.#periods = periods;
  }

  /** Counts in local variables, which is faster. */
  add({ instants, fills }: Pick<ReadingColumns, "instants" | "fills">): void {
    let end = this.#period?.end ?? Number.NEGATIVE_INFINITY;
    let min = this.#min;
    let max = this.#max;
    let sum = this.#sum;
    let count = this.#count;
    for (let i = 0; i < instants.length; i++) {
      const instant = instants[i] as number;
      const fill = fills[i] as number;
      if (instant < end) {
        if (fill < min) min = fill;
        if (fill > max) max = fill;
        sum += fill;
        count++;
        continue;
      }
      if (count > 0) this.#finish(min, max, sum, i === 0 ? this.#last : (fills[i - 1] as number), count);
      this.#period = this.#periods.find(instant, this.#period);
      end = this.#period.end;
      min = fill;
      max = fill;
      sum = fill;
      count = 1;
    }
    this.#min = min;
    this.#max = max;
    this.#sum = sum;
    this.#count = count;
    this.#last = fills.at(-1) ?? this.#last;
  }

  #finish(min: number, max: number, sum: number, last: number, count: number): void {
    const { startText: start } = this.#period as Period;
    this.#complete.push({ start, min, max, mean: meanOf(sum, count, min, max), last, count });
  }

  /** Returns the buckets that have readings. Nothing may be added afterwards. */
  buckets(): readonly Bucket[] {
    if (this.#count > 0) this.#finish(this.#min, this.#max, this.#sum, this.#last, this.#count);
    return this.#complete;
  }
}

/** A sum of decimals has floating-point noise. */
function meanOf(sum: number, count: number, min: number, max: number): number {
  return Math.min(max, Math.max(min, Math.round((sum / count) * 1e9) / 1e9));
}
