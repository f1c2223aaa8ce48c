// What the fleet stores of a live tank: its latest reading, and the coarse columns that are indexed. The same on both engines.

import { NOTICED } from "../domain/alerts/evaluate.ts";
import { EARLIEST } from "../domain/instant.ts";
import type { Reading } from "../domain/reading.ts";

export const QUARTER_DAY = 6 * 3_600_000;
/** After every margin. */
export const UNKNOWN_URGENCY = 1000;

export type FleetRow = {
  readonly at: number;
  readonly fill: number | null;
  /** The margin above the threshold in steps; tanks of one step are sorted by their exact margins. */
  readonly urgency: number;
  /** The quarter day of the latest reading, counted from 1970. */
  readonly heard: number;
};

export function fleetRow(threshold: number, latest: Reading | undefined): FleetRow {
  if (latest === undefined) return { at: EARLIEST, fill: null, urgency: UNKNOWN_URGENCY, heard: heardAt(EARLIEST) };
  const { created_at, fill_percentage } = latest;
  return { at: created_at, fill: fill_percentage, urgency: urgencyOf(fill_percentage - threshold), heard: heardAt(created_at) };
}

/**
 * In steps of one percent near the threshold; further above, where most tanks are, in steps of five, so that few readings
 * change an index.
 */
function urgencyOf(margin: number): number {
  return margin < 10 ? Math.floor(margin) : 8 + Math.floor(margin / 5);
}

/** The same in SQL. */
export const urgencyIn = (margin: string): string =>
  `CASE WHEN ${margin} < 10 THEN floor(${margin}) ELSE 8 + floor((${margin}) / 5) END`;

/** The conditions that a reading may clear. Others change with forecasts, or when the tank becomes low. */
const BY_READINGS = NOTICED.low | NOTICED.silent;

/**
 * Whether a reading can be appended without evaluating alerts, as an expression in SQL over the columns of the fleet: it neither
 * opens one nor closes one (see `evaluate`). `least` is the function for the smaller of two.
 */
export const changesNoAlert = (fill: string, margin: string, least: "min" | "least"): string =>
  `((noticed & ${BY_READINGS}) = 0 AND ${fill} > threshold
    OR (noticed & ${BY_READINGS}) = ${NOTICED.low} AND (${fill} < ${least}(threshold + ${margin}, 100) OR ${fill} <= threshold))`;

export function heardAt(at: number): number {
  return Math.floor(at / QUARTER_DAY);
}
