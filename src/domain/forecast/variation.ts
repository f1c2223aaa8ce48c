// How much the level of a tank usually moves: by noise, and by use.

import { DAY, type Instant } from "../instant.ts";

export type Level = { readonly at: Instant; readonly fill: number };

export type Variation = {
  /** What a reading may differ by from one before it, apart from use. */
  readonly noise: number;
  /** What may be used in a day: half as much again as on nine days of ten. */
  readonly usePerDay: number;
};

/** Enough for a quantile; taken at equal distances. */
const SAMPLES = 250;
/** A difference of equal decimals. */
const ROUNDING = 1e-9;

export function variationOf(readings: readonly Level[]): Variation {
  const residuals = new Float64Array(SAMPLES * 2);
  const uses = new Float64Array(SAMPLES * 2);
  let [residualCount, useCount, dayBefore] = [0, 0, 0];
  const stride = Math.max(1, Math.floor(readings.length / SAMPLES));
  for (let i = 1; i + 1 < readings.length; i += stride) {
    const [before, reading, after] = [itemAt(readings, i - 1), itemAt(readings, i), itemAt(readings, i + 1)];
    const share = after.at > before.at ? (reading.at - before.at) / (after.at - before.at) : 0.5;
    residuals[residualCount++] = Math.abs(reading.fill - before.fill - share * (after.fill - before.fill));
    while (reading.at - itemAt(readings, dayBefore + 1).at >= DAY) dayBefore++;
    const then = itemAt(readings, dayBefore);
    const use = ((then.fill - reading.fill) * DAY) / Math.max(reading.at - then.at, DAY);
    uses[useCount++] = Math.max(0, use);
  }
  return {
    // The lower quartile, because of tanks that are refilled at every third reading.
    noise: 2.5 + 10 * quantile(residuals.subarray(0, residualCount), 0.25),
    usePerDay: 1.5 * quantile(uses.subarray(0, useCount), 0.9),
  };
}

/** The step of a coarse sensor: most of its readings repeat the one before, and most changes are of one size. 0 for other sensors. */
export function sensorStepOf(readings: readonly Level[]): number {
  const changes = new Float64Array(readings.length >> 1);
  let count = 0;
  for (let i = 1; i < readings.length; i++) {
    const change = Math.abs(itemAt(readings, i).fill - itemAt(readings, i - 1).fill);
    if (change < ROUNDING) continue;
    if (count === changes.length) return 0;
    changes[count++] = change;
  }
  const found = changes.subarray(0, count);
  const step = quantile(found, 0.5);
  return count >= 3 && quantile(found, 0.25) > 0.8 * step ? step : 0;
}

/** Sorts the values. 0 where there are none. */
export function quantile(values: Float64Array, share: number): number {
  values.sort();
  return values[Math.floor(share * (values.length - 1))] ?? 0;
}

export function itemAt<T>(list: readonly T[], index: number): T {
  const entry = list[index];
  if (entry === undefined) throw new RangeError(`no entry ${index}`);
  return entry;
}
