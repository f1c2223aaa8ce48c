// Computes the forecast of a tank from its readings, in the thread of forecast-thread-main.ts.

import { medianInterval } from "../domain/alerts/evaluate.ts";
import { isAboveForecast, isBelowForecast } from "../domain/alerts/forecast-conditions.ts";
import { volumeAt } from "../domain/fleet.ts";
import { thinned, thinningInterval } from "../domain/forecast/daily.ts";
import { forecastFrom, type History, historyOf, NEVER } from "../domain/forecast/forecast.ts";
import { leakStates } from "../domain/forecast/leak.ts";
import { type LeakState, leakStateOf } from "../domain/forecast/leak-state.ts";
import { seasonAt } from "../domain/forecast/season.ts";
import { type ComputedForecast, type DueTank, forecastSettings } from "../domain/forecast/stored.ts";
import type { Level } from "../domain/forecast/variation.ts";
import type { Instant } from "../domain/instant.ts";
import type { ReadingColumns } from "../domain/reading.ts";
import type { Tank } from "../domain/tank.ts";

/** Readings of the two years before the latest, in order of time. */
export type ForecastTask = Omit<DueTank, "dueAt"> & {
  readonly parts: readonly Pick<ReadingColumns, "instants" | "fills">[];
  readonly now: Instant;
};

export function computeForecast({ tank, latestAt, latestFill, parts, now }: ForecastTask): ComputedForecast {
  const history = historyOf(thinnedLevels(parts));
  const settings = forecastSettings(tank);
  const { levelAt, ...values } = forecastFrom(history, { ...settings, now });
  const found = { level: levelAt(now)?.p50 ?? null, leak: leakIn(history, tank), interval: usualInterval(parts) };
  const expected = levelAt(latestAt)?.p50 ?? null;
  const isRisen = isAboveForecast(expected, latestFill) || undefined;
  const isFallen = isBelowForecast(expected, latestFill) || undefined;
  let delivery = values.suggested_delivery;
  if (delivery !== null && isRisen) {
    // Perhaps it was refilled: suggest no more than fits above the latest reading.
    delivery = { ...delivery, volume: Math.min(delivery.volume, volumeAt(tank, 100 - latestFill).volume) };
  } else if (delivery !== null && latestFill <= settings.threshold) {
    // The forecast starts from the level of the whole day, which may have been above the threshold.
    const missing = volumeAt(tank, Math.max(0, (levelAt(delivery.by)?.p50 ?? 0) - latestFill)).volume;
    delivery = { ...delivery, by: now, volume: delivery.volume + missing };
  } else if (isFallen) {
    delivery = null;
  }
  const suggested_delivery = delivery !== null && delivery.volume > 0 ? delivery : null;
  // Dates from before a fall would be far too late. One reading, which may be false, is not enough for others.
  const dates = isFallen ? { runs_low_at: NEVER, runs_empty_at: NEVER } : {};
  const forecast = { ...values, ...dates, suggested_delivery, based_on_until: latestAt, ...found, isRisen, isFallen };
  const refills = history.isErratic ? null : history.refills;
  return { tankId: tank.id, settings, latestAt, latestFill, forecast, refills };
}

/** Sensors are set to another interval now and then, so only the newest readings count. */
const RECENT_READINGS = 50;

function usualInterval(parts: ForecastTask["parts"]): number | undefined {
  let newest: number[] = [];
  for (let i = parts.length - 1; i >= 0 && newest.length < RECENT_READINGS; i--) {
    newest = [...(parts[i]?.instants ?? []).slice(newest.length - RECENT_READINGS), ...newest];
  }
  return newest.length < 2 ? undefined : medianInterval(Float64Array.from(newest));
}

function leakIn(history: History, { location, use_case }: Tank): LeakState {
  const lastDay = history.daily.at(-1)?.day ?? 0;
  return leakStateOf(leakStates(history, seasonAt(location.latitude, use_case)), lastDay);
}

/** Part by part, so that few readings are objects at a time. An interval may begin in one part and end in the next. */
function thinnedLevels(parts: ForecastTask["parts"]): Level[] {
  const kept: Level[] = [];
  let unfinished: Level[] = [];
  for (const part of parts) {
    const levels = [...unfinished, ...levelsOf(part)];
    const last = thinningInterval(levels.at(-1)?.at ?? 0);
    const finished = levels.findLastIndex(({ at }) => thinningInterval(at) < last) + 1;
    kept.push(...thinned(levels.slice(0, finished)));
    unfinished = levels.slice(finished);
  }
  return [...kept, ...thinned(unfinished)];
}

function levelsOf({ instants, fills }: ForecastTask["parts"][number]): Level[] {
  const levels: Level[] = [];
  for (let i = 0; i < instants.length; i++) levels.push({ at: instants[i] as number, fill: fills[i] as number });
  return levels;
}
