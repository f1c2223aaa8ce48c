// Scores what is found in simulated histories against the truth.

import { thinned } from "../../../src/domain/forecast/daily.ts";
import { historyOf } from "../../../src/domain/forecast/forecast.ts";
import { leakStates } from "../../../src/domain/forecast/leak.ts";
import type { Refill } from "../../../src/domain/forecast/refills.ts";
import { seasonAt } from "../../../src/domain/forecast/season.ts";
import type { Level } from "../../../src/domain/forecast/variation.ts";
import { type Delivery, type TankHistory, visibleDeliveries } from "./tank-history.ts";

const DAY = 86_400_000;
/** A delivery that raises the level by less between two readings is not expected to be found. */
const MIN_RISE = 5;

export type RefillScore = { readonly deliveries: number; readonly found: number; readonly falseRefills: number };

/** As the service finds them: of a sensor whose readings contradict each other, none is reported. */
export function refillsIn(readings: readonly Level[]): readonly Refill[] {
  const { isErratic, refills } = historyOf(thinned(readings));
  return isErratic ? [] : refills;
}

export function scoreRefills(history: TankHistory): RefillScore {
  const refills = refillsIn(history.readings);
  // At the end a refill may not be certain yet.
  const certainUntil = (history.readings.at(-1)?.at ?? 0) - Math.max(7 * DAY, 3 * history.interval);
  const overlaps = (refill: Refill, { startedAt, endedAt }: Delivery): boolean =>
    refill.startedAt < endedAt + history.interval / 2 && refill.endedAt > startedAt - history.interval / 2;
  const deliveries = visibleDeliveries(history, MIN_RISE).filter(({ endedAt }) => endedAt <= certainUntil);
  const all = visibleDeliveries(history, Number.NEGATIVE_INFINITY);
  return {
    deliveries: deliveries.length,
    found: deliveries.filter((delivery) => refills.some((refill) => overlaps(refill, delivery))).length,
    falseRefills: refills.filter((refill) => !all.some((delivery) => overlaps(refill, delivery))).length,
  };
}

/** Within this time of its start a leak is to be found. Levels are those of whole days. */
const FOUND_WITHIN = 7.6;
/** Use before the leak is that of these days. */
const DAYS_BEFORE = 14;

export type LeakScore = {
  /** Alerts that were opened before the leak. */
  readonly falseAlerts: number;
  /** Whether the leak was found in time; undefined without one, or where readings cannot show it. */
  readonly isFound: boolean | undefined;
  /** Points a day, in the two weeks before the leak. */
  readonly usePerDay: number;
};

export function scoreLeak(history: TankHistory): LeakScore {
  const { readings, latitude, leak } = history;
  const known = historyOf(thinned(readings));
  const levels = known.daily;
  const start = leak === undefined ? Number.POSITIVE_INFINITY : leak.from / DAY;
  let falseAlerts = 0;
  let foundAt: number | undefined;
  let wasOpen = false;
  for (const { day, leak: found } of leakStates(known, seasonAt(latitude, null))) {
    if (day > start && found !== undefined) foundAt ??= day;
    if (day <= start && found !== undefined && !wasOpen) falseAlerts++;
    wasOpen = found !== undefined;
  }
  const isFound =
    leak !== undefined && isVisible(history, leak.from) ? (foundAt ?? Number.NaN) <= start + FOUND_WITHIN : undefined;
  let [used, days] = [0, 0];
  for (const [i, level] of levels.entries()) {
    const before = levels[i - 1];
    if (before?.segment !== level.segment || level.day > start || level.day <= start - DAYS_BEFORE) continue;
    used += before.fill - level.fill;
    days += level.day - before.day;
  }
  return { falseAlerts, isFound, usePerDay: days === 0 ? 0 : used / days };
}

/** Whether a sensor that works has sent readings on most of the days after the leak began, of a tank that is not empty. */
function isVisible({ readings, falseAt, stuckAt, levelAt }: TankHistory, from: number): boolean {
  const end = from + FOUND_WITHIN * DAY;
  const isNear = (at: number): boolean => at > from - 5 * DAY && at < end;
  if ([...stuckAt].some(isNear) || levelAt(end) < 2) return false;
  const days = new Set(readings.flatMap(({ at }) => (at > from && at < end && !falseAt.has(at) ? [Math.floor(at / DAY)] : [])));
  return days.size >= 6;
}
