// Finds sudden losses: a level that falls within hours by far more than the tank has ever used in such a time, and stays down. Theft
// and ruptures look like that; so does a device that is replaced by one with another offset.

import { DAY, HOUR, type Instant } from "../instant.ts";
import type { Refill } from "./refills.ts";
import { itemAt, type Level, variationOf } from "./variation.ts";

type SuddenLoss = {
  /** The highest reading of the hours before it. */
  readonly since: Instant;
  /** The first reading at which it was certain. */
  readonly foundAt: Instant;
  /** Points of fill. */
  readonly points: number;
};

/** A fall counts as one within this time, or between two readings. */
const FALL_MS = 8 * HOUR;
/** After a longer gap between readings, it is unknown how fast the level fell. */
const MAX_FALL_GAP_MS = 2.5 * DAY;
/** Points, apart from noise, steps of a coarse sensor, and the factor above the largest fall before. */
const MIN_FALL = { points: 5, steps: 1.5, times: 2 } as const;
/** With a shorter history, nothing is judged. */
const MIN_HISTORY_MS = 21 * DAY;
/** The level before a fall is the lowest of this time, because a false high that ends is no loss. */
const LEVEL_WINDOW_MS = 2.5 * DAY;
/** A loss is certain after this time. Sensors that fail often report about zero, for days. */
const HELD = { time: 8 * HOUR, aboutZero: 3, timeAtZero: 2.5 * DAY } as const;

/** `cleaned` is in order of time and without outliers. Losses that are not certain yet are left out. */
export function suddenLosses(cleaned: readonly Level[], refills: readonly Refill[], sensorStep: number): SuddenLoss[] {
  const losses: SuddenLoss[] = [];
  if (cleaned.length === 0) return losses;
  const { noise, usePerDay } = variationOf(cleaned);
  const least = Math.max(MIN_FALL.points + noise, MIN_FALL.steps * sensorStep);
  const knownAt = itemAt(cleaned, 0).at + MIN_HISTORY_MS;
  // `pending`: the largest fall of the current window. It counts towards `largest` only after the window, so that a fall is not
  // compared with itself.
  let [largest, pending, pendingUntil] = [0, 0, 0];
  for (let i = 1; i < cleaned.length; i++) {
    const reading = itemAt(cleaned, i);
    const top = topBefore(cleaned, i);
    const since = itemAt(cleaned, top);
    const time = reading.at - since.at;
    if (time > MAX_FALL_GAP_MS || since.at < (losses.at(-1)?.foundAt ?? 0)) continue;
    const fall = since.fill - reading.fill - (usePerDay * Math.max(0, time - FALL_MS)) / DAY;
    if (reading.at > pendingUntil) [largest, pending] = [Math.max(largest, pending), 0];
    if (reading.at >= knownAt && fall > Math.max(least, MIN_FALL.times * largest)) {
      const points = lowestBefore(cleaned, refills, top, i, noise) - reading.fill - (usePerDay * stuckFor(cleaned, top)) / DAY;
      const foundAt = points > Math.max(MIN_FALL.points, fall / 2) ? heldAt(cleaned, i, points) : undefined;
      if (foundAt !== undefined) {
        losses.push({ since: since.at, foundAt, points });
        continue;
      }
    }
    if (fall > pending) [pending, pendingUntil] = [fall, reading.at + FALL_MS];
  }
  return losses;
}

/** The highest reading within the time of a fall before another one, or the one before it. */
function topBefore(cleaned: readonly Level[], index: number): number {
  const start = itemAt(cleaned, index).at - FALL_MS;
  let top = index - 1;
  for (let i = index - 2; i >= 0 && itemAt(cleaned, i).at >= start; i--)
    if (itemAt(cleaned, i).fill >= itemAt(cleaned, top).fill) top = i;
  return top;
}

/**
 * The lowest reading before `top`, since the last refill. That counts only if a reading after it, before `end`, differs from the
 * top, by noise: often a false high begins with a refill, and repeats one value.
 */
function lowestBefore(cleaned: readonly Level[], refills: readonly Refill[], top: number, end: number, noise: number): number {
  const { at, fill } = itemAt(cleaned, top);
  const filledAt = refills.findLast(({ endedAt }) => endedAt <= at)?.endedAt ?? 0;
  let [lowest, isConfirmed] = [fill, false];
  for (let i = end - 1; i >= 0; i--) {
    const reading = itemAt(cleaned, i);
    if (reading.at < at - LEVEL_WINDOW_MS || (isConfirmed && reading.at < filledAt)) break;
    isConfirmed ||= reading.at > filledAt && reading.fill !== fill && Math.abs(reading.fill - fill) < noise;
    if (i < top) lowest = Math.min(lowest, reading.fill);
  }
  return lowest;
}

/** How long a reading had been the same: a sensor that was stuck catches up with what was used meanwhile. */
function stuckFor(cleaned: readonly Level[], index: number): number {
  let first = index;
  while (first > 0 && itemAt(cleaned, first - 1).fill === itemAt(cleaned, index).fill) first--;
  return itemAt(cleaned, index).at - itemAt(cleaned, first).at;
}

/** When the level had stayed down for long enough. */
function heldAt(cleaned: readonly Level[], index: number, points: number): Instant | undefined {
  const { at: start, fill } = itemAt(cleaned, index);
  const time = fill <= HELD.aboutZero ? HELD.timeAtZero : HELD.time;
  for (let i = index + 1; i < cleaned.length; i++) {
    const reading = itemAt(cleaned, i);
    if (reading.fill > fill + points / 2) return undefined;
    if (reading.at - start >= time) return reading.at;
  }
  return undefined;
}
