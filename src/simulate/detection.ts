// Scores what is found in simulated histories against the truth.

import { removeOutliers } from "../domain/forecast/outliers.ts";
import { findRefills, type Refill } from "../domain/forecast/refills.ts";
import { type Delivery, type TankHistory, visibleDeliveries } from "./tank-history.ts";

const DAY = 86_400_000;
/** A delivery that raises the level by less between two readings is not expected to be found. */
const LEAST_RISE = 5;

export type RefillScore = { readonly deliveries: number; readonly found: number; readonly falseRefills: number };

export function scoreRefills(history: TankHistory): RefillScore {
  const refills = findRefills(removeOutliers(history.readings));
  // At the end a refill may not be certain yet.
  const certainUntil = (history.readings.at(-1)?.at ?? 0) - Math.max(7 * DAY, 3 * history.interval);
  const overlaps = (refill: Refill, { startedAt, endedAt }: Delivery): boolean =>
    refill.startedAt < endedAt + history.interval / 2 && refill.endedAt > startedAt - history.interval / 2;
  const deliveries = visibleDeliveries(history, LEAST_RISE).filter(({ endedAt }) => endedAt <= certainUntil);
  const all = visibleDeliveries(history, Number.NEGATIVE_INFINITY);
  return {
    deliveries: deliveries.length,
    found: deliveries.filter((delivery) => refills.some((refill) => overlaps(refill, delivery))).length,
    falseRefills: refills.filter((refill) => !all.some((delivery) => overlaps(refill, delivery))).length,
  };
}
