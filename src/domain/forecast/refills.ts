// Finds refills: a level that rises by more than it swings, and stays up.

import { DAY, HOUR, type Instant } from "../instant.ts";
import { itemAt, type Level, quantile, variationOf } from "./variation.ts";

export type Refill = {
  /** The last reading before the rise. */
  readonly startedAt: Instant;
  /** The first reading at which the level was up. */
  readonly endedAt: Instant;
  readonly from: number;
  readonly to: number;
};

const MIN_RISE = 4;
/** A rise is larger than these multiples of what the level swings by: its rises, and those of the tenth of readings with the largest. */
const SWING = { median: 3, upper: 2, upperShare: 0.9 } as const;
/** Larger rises are refills, not swings. */
const MAX_SWING = 8;
/** Steps of a coarse sensor. */
const MIN_STEPS = 1.2;
/** A new tank needs a larger rise, because how much its level swings is not known yet. */
const NEW_TANK = { rise: 6, time: 30 * DAY } as const;
/** Within this time a rise counts as one. */
const RISE_MS = DAY;
/** A rise that pauses for longer has ended, unless the next reading, which comes within the longer time, goes on with it. */
const PAUSE_MS = 12 * HOUR;
const LONGEST_GAP_MS = 30 * HOUR;
/** A rise is certain once it has held for two days: false readings may last that long. Daily readings come a little early at times. */
const MIN_HOLD_MS = 44 * HOUR;
/** One that ends where the refills before it did is certain sooner: this many points, and time. */
const USUAL = { rise: 10, margin: 3, held: PAUSE_MS } as const;

/** What readings at the top differ by. A constant, because bounds must not change when more is known of the tank. */
const BOUNDS_MARGIN = 2;

/** A sensor that shows more large rises than this that do not hold is broken: nothing is known about refills. */
const BROKEN_SENSOR = { rise: 15, rejections: 10, perRefill: 3 } as const;

/** `cleaned` is in order of time and without outliers. A rise that is not certain yet is left out. */
export function findRefills(cleaned: readonly Level[], sensorStep: number): Refill[] {
  const refills: Refill[] = [];
  if (cleaned.length < 3) return refills;
  const { usePerDay } = variationOf(cleaned);
  const rises = risesWithin(cleaned, RISE_MS);
  const least = Math.max(MIN_RISE + swingOf(rises), MIN_STEPS * sensorStep);
  let [first, rejected, rejections] = [0, 0, 0];
  for (let i = 1; i < cleaned.length; i++) {
    if ((rises[i] ?? 0) < least) continue;
    const low = lowestBefore(cleaned, i, first);
    const knownFor = itemAt(cleaned, i).at - itemAt(cleaned, 0).at;
    const required = least + NEW_TANK.rise * Math.max(0, 1 - knownFor / NEW_TANK.time);
    if (itemAt(cleaned, i).fill - itemAt(cleaned, low).fill < required) continue;
    const { top, risen } = topAfter(cleaned, i);
    if (!holds(cleaned, low, top, risen, usePerDay, isUsual(cleaned, low, top, refills))) {
      if (top !== rejected && itemAt(cleaned, top).fill - itemAt(cleaned, low).fill >= BROKEN_SENSOR.rise) rejections++;
      rejected = top;
      continue;
    }
    refills.push(boundsOf(cleaned, low, top));
    first = top;
    i = top;
  }
  return rejections > BROKEN_SENSOR.rejections + BROKEN_SENSOR.perRefill * refills.length ? [] : refills;
}

/** Older refills are not announced: they happened before the tank was monitored, or lie at the start of the readings. */
const ANNOUNCE_MAX_AGE_MS = 30 * DAY;

/** The refills to announce, if all that ended until `announcedUntil` have been: each is announced once. */
export function newRefills(refills: readonly Refill[], announcedUntil: Instant, now: Instant): Refill[] {
  return refills.filter(({ startedAt, endedAt }) => startedAt >= announcedUntil && endedAt > now - ANNOUNCE_MAX_AGE_MS);
}

/** For each reading: how far it is above the lowest of the readings within `time` before it and the last one before that. */
function risesWithin(cleaned: readonly Level[], time: number): Float64Array {
  const rises = new Float64Array(cleaned.length);
  // Indices of readings, each lower than all that follow: the first is the lowest.
  const lows = new Int32Array(cleaned.length);
  let [head, tail, oldest] = [0, 0, 0];
  for (let i = 0; i < cleaned.length; i++) {
    const reading = itemAt(cleaned, i);
    while (oldest + 1 < i && reading.at - itemAt(cleaned, oldest + 1).at >= time) oldest++;
    while (head < tail && (lows[head] ?? 0) < oldest) head++;
    while (head < tail && itemAt(cleaned, lows[tail - 1] ?? 0).fill >= reading.fill) tail--;
    lows[tail++] = i;
    rises[i] = reading.fill - itemAt(cleaned, lows[head] ?? 0).fill;
  }
  return rises;
}

/** How far the level rises without a refill, from a sample of its rises, taken at equal distances. */
function swingOf(rises: Float64Array): number {
  const stride = Math.max(1, Math.floor(rises.length / 250));
  const sample = new Float64Array(Math.floor(rises.length / stride));
  for (let i = 0; i < sample.length; i++) sample[i] = rises[i * stride] ?? 0;
  const small = sample.filter((rise) => rise < MAX_SWING);
  return Math.max(SWING.median * quantile(sample, 0.5), SWING.upper * quantile(small, SWING.upperShare));
}

function lowestBefore(cleaned: readonly Level[], index: number, first: number): number {
  const { at: now } = itemAt(cleaned, index);
  let low = index - 1;
  for (let i = index - 1; i >= first; i--) {
    if (itemAt(cleaned, i).fill < itemAt(cleaned, low).fill) low = i;
    if (now - itemAt(cleaned, i).at >= RISE_MS) break;
  }
  return low;
}

/** The highest reading of the rise that `index` belongs to, and the one with which it was up, apart from noise. */
function topAfter(cleaned: readonly Level[], index: number): { readonly top: number; readonly risen: number } {
  let [top, risen] = [index, index];
  for (let i = index + 1; i < cleaned.length; i++) {
    const paused = itemAt(cleaned, i).at - itemAt(cleaned, risen).at;
    if (paused > (i === risen + 1 ? LONGEST_GAP_MS : PAUSE_MS)) break;
    if (itemAt(cleaned, i).fill > itemAt(cleaned, top).fill) top = i;
    if (itemAt(cleaned, i).fill > itemAt(cleaned, risen).fill + BOUNDS_MARGIN) risen = i;
  }
  return { top, risen };
}

/** Whether it is like the refills before it: a false high rarely is. */
function isUsual(cleaned: readonly Level[], low: number, top: number, refills: readonly Refill[]): boolean {
  const to = itemAt(cleaned, top).fill;
  return to - itemAt(cleaned, low).fill >= USUAL.rise && refills.some((refill) => Math.abs(refill.to - to) <= USUAL.margin);
}

/** Whether no reading afterwards has lost half of the rise, apart from use, until it is certain. */
function holds(cleaned: readonly Level[], low: number, top: number, risen: number, usePerDay: number, isUsual: boolean): boolean {
  const middle = (itemAt(cleaned, low).fill + itemAt(cleaned, top).fill) / 2;
  for (let i = risen + 1; i < cleaned.length; i++) {
    const reading = itemAt(cleaned, i);
    const held = reading.at - itemAt(cleaned, risen).at;
    if (reading.fill + (usePerDay * held) / DAY < middle) return false;
    if (i > top && held >= (isUsual ? USUAL.held : MIN_HOLD_MS)) return true;
  }
  return false;
}

/** Readings near the lowest are before the rise, those near the highest after it. */
function boundsOf(cleaned: readonly Level[], low: number, top: number): Refill {
  const margin = Math.min(BOUNDS_MARGIN, 0.2 * (itemAt(cleaned, top).fill - itemAt(cleaned, low).fill));
  let start = low;
  while (start + 1 < top && itemAt(cleaned, start + 1).fill < itemAt(cleaned, low).fill + margin) start++;
  let end = start + 1;
  while (end < top && itemAt(cleaned, end).fill < itemAt(cleaned, top).fill - margin) end++;
  return {
    startedAt: itemAt(cleaned, start).at,
    endedAt: itemAt(cleaned, end).at,
    from: itemAt(cleaned, start).fill,
    to: itemAt(cleaned, end).fill,
  };
}
