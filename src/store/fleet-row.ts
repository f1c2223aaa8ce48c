// What the fleet stores of a live tank: its latest reading, and two columns that are indexed for counts. Few readings change those,
// so that few readings change an index. The same on both engines.

import { CONDITION_BITS, LOW_UNANNOUNCED_BIT } from "../domain/alerts/evaluate.ts";
import type { LevelState } from "../domain/fleet.ts";
import { EARLIEST } from "../domain/instant.ts";
import type { Reading } from "../domain/reading.ts";

export const QUARTER_DAY = 6 * 3_600_000;
/** `unknown`: without a reading. */
export const STORED_STATES = { low: 0, ok: 1, unknown: 2 } as const satisfies Record<LevelState, number>;

export type FleetRow = {
  readonly at: number;
  readonly fill: number | null;
  /** One of `STORED_STATES`. */
  readonly state: number;
  /** The quarter day of the latest reading, counted from 1970. */
  readonly latestQuarterDay: number;
};

export function fleetRow(threshold: number, latest: Reading | undefined): FleetRow {
  if (latest === undefined)
    return { at: EARLIEST, fill: null, state: STORED_STATES.unknown, latestQuarterDay: quarterDayOf(EARLIEST) };
  const { created_at, fill_percentage } = latest;
  const state = fill_percentage <= threshold ? STORED_STATES.low : STORED_STATES.ok;
  return { at: created_at, fill: fill_percentage, state, latestQuarterDay: quarterDayOf(created_at) };
}

/** The state of a tank with a reading, in SQL. */
export const stateIn = (fill: string, threshold: string): string =>
  `CASE WHEN ${fill} <= ${threshold} THEN ${STORED_STATES.low} ELSE ${STORED_STATES.ok} END`;

/** The bits that a reading may clear. Others change with forecasts, or when the tank becomes low. */
const BY_READINGS = CONDITION_BITS.low | CONDITION_BITS.silent | LOW_UNANNOUNCED_BIT;

/**
 * Whether a reading can be appended without evaluating alerts, as an expression in SQL over the columns of the fleet: it neither
 * opens one nor closes one (see `evaluate`). `least` is the function for the smaller of two.
 */
export const changesNoAlert = (fill: string, closeMargin: string, least: "min" | "least"): string =>
  `((active_conditions & ${BY_READINGS}) = 0 AND ${fill} > threshold
    OR (active_conditions & ${BY_READINGS}) = ${CONDITION_BITS.low}
      AND (${fill} < ${least}(threshold + ${closeMargin}, 100) OR ${fill} <= threshold))`;

export function quarterDayOf(at: number): number {
  return Math.floor(at / QUARTER_DAY);
}
