// What the fleet stores of a live tank: its latest reading. The same on both engines.

import { CONDITION_BITS, LATER_EVALUATION_BIT, LOW_UNNOTIFIED_BIT } from "../domain/alerts/evaluate.ts";
import { EARLIEST } from "../domain/instant.ts";
import type { Reading } from "../domain/reading.ts";

export type FleetRow = { readonly at: number; readonly fill: number | null };

export const fleetRow = (latest: Reading | undefined): FleetRow =>
  latest === undefined ? { at: EARLIEST, fill: null } : { at: latest.created_at, fill: latest.fill_percentage };

/** Where one of these bits is set, a reading may clear it. The other bits change with forecasts, or when the tank becomes low. */
const BY_READINGS = CONDITION_BITS.low | CONDITION_BITS.silent | LOW_UNNOTIFIED_BIT | LATER_EVALUATION_BIT;

/**
 * Whether a reading can be appended without evaluating alerts, as an expression in SQL over the columns of the fleet: it neither
 * opens one nor closes one (see `evaluate`). `least` is the function for the smaller of two.
 */
export const changesNoAlert = (fill: string, closeMargin: string, least: "min" | "least"): string =>
  `((active_conditions & ${BY_READINGS}) = 0 AND ${fill} > threshold
    OR (active_conditions & ${BY_READINGS}) = ${CONDITION_BITS.low}
      AND (${fill} < ${least}(threshold + ${closeMargin}, 100) OR ${fill} <= threshold))`;
