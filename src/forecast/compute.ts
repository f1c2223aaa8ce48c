// Computes forecasts that are outdated, each from the readings of the last two years.

import { setTimeout as delay } from "node:timers/promises";
import { hasCode } from "../domain/errors.ts";
import { thinned } from "../domain/forecast/daily.ts";
import { forecastFrom, type History, historyOf } from "../domain/forecast/forecast.ts";
import { leakStates } from "../domain/forecast/leak.ts";
import { type LeakState, leakStateOf } from "../domain/forecast/leak-state.ts";
import { seasonAt } from "../domain/forecast/season.ts";
import type { ComputedForecast, ForecastReads, ForecastWrites, OutdatedTank } from "../domain/forecast/stored.ts";
import type { Level } from "../domain/forecast/variation.ts";
import type { Clock, Instant } from "../domain/instant.ts";
import { UNRESTRICTED } from "../domain/key.ts";
import type { Reads } from "../domain/store.ts";
import type { Tank } from "../domain/tank.ts";

const TWO_YEARS = 2 * 365 * 24 * 3_600_000;

const FORECASTS_PER_WRITE = 20;

export type ForecastStore = ForecastReads & ForecastWrites & Pick<Reads, "readingColumns">;

/** Oldest first, until there are none. `pauses`: after each, as a multiple of the time that it took. */
export async function computeOutdated(
  store: ForecastStore,
  clock: Clock,
  pauses: number,
  isStopping: () => boolean,
): Promise<void> {
  for (let hasMore = true; hasMore && !isStopping(); ) {
    const outdated = await store.outdatedForecasts(FORECASTS_PER_WRITE);
    const computed: ComputedForecast[] = [];
    for (const tank of outdated) {
      if (isStopping()) break;
      const started = performance.now();
      computed.push(await computeForecast(store, tank, clock()));
      await delay(pauses * (performance.now() - started));
    }
    if (computed.length > 0) await store.putForecasts(computed, clock());
    hasMore = outdated.length === FORECASTS_PER_WRITE;
  }
}

async function computeForecast(
  store: Pick<Reads, "readingColumns">,
  { tank, latestAt }: OutdatedTank,
  now: Instant,
): Promise<ComputedForecast> {
  const history = historyOf(await readingsOf(store, tank.id, now));
  const { capacity, capacity_unit, use_case, location, min_fill_alert_percentage: threshold } = tank;
  const input = { capacity, capacity_unit, use_case, latitude: location.latitude, threshold, now };
  const { levelAt, ...values } = forecastFrom(history, input);
  // All readings until the latest were looked at, whichever of them were used.
  const forecast = { ...values, based_on_until: latestAt, level: levelAt(now)?.p50 ?? null, leak: leakIn(history, tank) };
  return { tankId: tank.id, latestAt, forecast, refills: history.refills };
}

function leakIn(history: History, { location, use_case }: Tank): LeakState {
  const lastDay = history.daily.at(-1)?.day ?? 0;
  return leakStateOf(leakStates(history, seasonAt(location.latitude, use_case)), lastDay);
}

/** Those of a damaged tank, which is reported, are none. */
async function readingsOf(store: Pick<Reads, "readingColumns">, tankId: string, now: Instant): Promise<readonly Level[]> {
  const readings: Level[] = [];
  try {
    for (let from: Instant | undefined = now - TWO_YEARS; from !== undefined; ) {
      const part = await store.readingColumns(tankId, { from, to: Number.MAX_SAFE_INTEGER }, UNRESTRICTED);
      if (part === undefined || part === "deleted") return [];
      const { instants, fills, next } = part;
      readings.push(...thinned(Array.from(instants, (at, i) => ({ at, fill: fills[i] as number }))));
      from = next;
    }
  } catch (error) {
    if (!hasCode(error, "data_damaged")) throw error;
    return [];
  }
  return readings;
}
