// Keeps the sort keys of the fleet, and its rank indexes. All who change them hold the lists lock.

import { isDeepStrictEqual } from "node:util";
import { isAboveForecast, isBelowForecast } from "../../domain/alerts/forecast-conditions.ts";
import {
  type FleetOrderState,
  FORECAST_MAX_AGE_MS,
  FORECAST_MIN_AGE_MS,
  fleetOrderStateOf,
  sortKeysOf,
} from "../../domain/fleet-order.ts";
import { EARLIEST, type Instant } from "../../domain/instant.ts";
import type { Reading } from "../../domain/reading.ts";
import type { FleetTank, ForecastRow } from "./forecast-tables.ts";
import { updateLists } from "./lists.ts";
import type { StoreTransaction } from "./transaction.ts";

/** `outdated`: tanks whose forecasts are to be computed again, whatever their readings. */
export async function updateSortKeys(
  tx: StoreTransaction,
  tankIds: readonly string[],
  at: Instant,
  outdated: ReadonlySet<string> = new Set(),
): Promise<void> {
  if (tankIds.length === 0) return;
  await tx.lockLists();
  await writeSortKeys(tx, await tx.fleetTanks(tankIds), (tank) => keptForecast(tank, at, outdated.has(tank.id)));
}

/** For repairs: without the rank indexes, which are checked after the tanks. The forecast is computed again. */
export async function resetSortKeys(tx: StoreTransaction, tankIds: readonly string[]): Promise<void> {
  const tanks = await tx.fleetTanks(tankIds);
  const rows = tanks.map((tank) =>
    rowOf(tank, ({ stored, ...own }) => keptForecast({ ...own, stored: undefined }, Date.now(), true)),
  );
  await tx.removeForecasts(tankIds);
  await tx.putForecasts(rows.filter((row) => row !== undefined));
}

type ForecastColumns = Pick<ForecastRow, "dueAt" | "computedAt" | "forecast">;

/** `forecastOf`: the new state of the forecast of a live tank. */
export async function writeSortKeys(
  tx: StoreTransaction,
  tanks: readonly FleetTank[],
  forecastOf: (tank: FleetTank) => ForecastColumns,
): Promise<void> {
  const changes = tanks.map((tank) => ({ before: tank.stored, after: rowOf(tank, forecastOf) }));
  const gone = changes.flatMap(({ before, after }) => (before !== undefined && after === undefined ? [before.id] : []));
  await tx.removeForecasts(gone);
  await tx.putForecasts(changes.flatMap(({ after }) => after ?? []));
  await updateLists(tx, "forecast", changes);
}

function rowOf(tank: FleetTank, forecastOf: (tank: FleetTank) => ForecastColumns): ForecastRow | undefined {
  const { id, owner_id, threshold, latest } = tank;
  if (threshold === null) return undefined;
  const forecast = forecastOf(tank);
  const reading = { at: latest?.created_at ?? EARLIEST, fill: latest?.fill_percentage ?? null };
  return { id, owner_id, ...reading, ...sortKeysOf(threshold, latest, forecast.forecast), ...forecast };
}

/**
 * Keeps the stored forecast until the next one: due at once, or, if only readings have changed, at least a minute after the last. A due
 * time that is set is never postponed. The clock may have been ahead.
 */
function keptForecast({ threshold, latest, stored }: FleetTank, at: Instant, isOutdated: boolean): ForecastColumns {
  if (latest === null) return { dueAt: null, computedAt: null, forecast: null };
  const forecast = stored?.forecast ?? null;
  const computedAt = forecast === null ? null : (stored?.computedAt ?? null);
  const isSame =
    !isOutdated &&
    computedAt !== null &&
    computedAt > at - FORECAST_MAX_AGE_MS &&
    computedAt <= at + FORECAST_MIN_AGE_MS &&
    stored?.at === latest.created_at &&
    stored.fill === latest.fill_percentage &&
    stored.margin === sortKeysOf(threshold ?? 0, latest, null).margin;
  if (isSame && stored?.dueAt === null) return { dueAt: null, computedAt, forecast };
  const nextAt = isOutdated || computedAt === null || startsOrEndsJump(forecast, latest) ? at : computedAt + FORECAST_MIN_AGE_MS;
  const dueAt = Math.min(Math.max(at, nextAt), at + FORECAST_MIN_AGE_MS, stored?.dueAt ?? Number.POSITIVE_INFINITY);
  return { dueAt, computedAt, forecast };
}

/** Whether a reading begins, or ends, a rise that may be a delivery, or a fall that may be a loss: then the forecast says so. */
function startsOrEndsJump(forecast: ForecastRow["forecast"], { fill_percentage }: Reading): boolean {
  if (forecast === null) return false;
  const { level, isRisen = false, isFallen = false } = forecast;
  return isAboveForecast(level, fill_percentage) !== isRisen || isBelowForecast(level, fill_percentage) !== isFallen;
}

export async function putFleetOrderState(
  tx: StoreTransaction,
  before: FleetOrderState | undefined,
  after: FleetOrderState,
): Promise<boolean> {
  const stored = await tx.serviceState("fleet_order");
  const current = stored === undefined ? undefined : fleetOrderStateOf(stored);
  return isDeepStrictEqual(current, before) && tx.replaceServiceState("fleet_order", stored, JSON.stringify(after));
}
