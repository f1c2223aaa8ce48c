// The tables of forecasts and refills, in SQL for both engines.

import type { Refill } from "../../domain/forecast/refills.ts";
import { type ForecastSettings, type ForecastValues, isForecast, type StoredForecast } from "../../domain/forecast/stored.ts";
import type { Instant } from "../../domain/instant.ts";
import type { Reading } from "../../domain/reading.ts";
import { parseJson } from "../../domain/validate.ts";
import { type Row, valuesOf } from "../columns.ts";
import { prefixed } from "./dialect.ts";
import { type SqlRunner, updateExisting } from "./sql-runner.ts";

/** What the fleet is ordered by, as of the last update, and the forecast. */
export type ForecastRow = {
  readonly id: string;
  readonly owner_id: string;
  readonly at: Instant;
  readonly fill: number | null;
  readonly urgency: number;
  readonly margin: number;
  readonly dueAt: Instant | null;
  readonly computedAt: Instant | null;
  readonly forecast: ForecastValues | null;
};

const FIELDS = ["id", "owner_id", "at", "fill", "urgency", "margin", "due_at", "computed_at", "forecast"] as const;
const SETTINGS = "capacity, capacity_unit, use_case, latitude, min_fill_alert_percentage";
export const FORECAST_COLUMNS = FIELDS.map((name) => `forecast.${name}`).join(", ");

/** A tank of the fleet as it is, and what is stored of it. `threshold` is null if it is deleted. */
export type FleetTank = {
  readonly id: string;
  readonly owner_id: string;
  readonly settings: ForecastSettings;
  readonly threshold: number | null;
  readonly latest: Reading | null;
  readonly stored: ForecastRow | undefined;
};

export function forecastRowOf(row: Row): ForecastRow | undefined {
  const [id, owner_id, at, fill, urgency, margin, dueAt, computedAt, forecast] = row;
  if (id === null) return undefined;
  return { id, owner_id, at, fill, urgency, margin, dueAt, computedAt, forecast: forecastOf(forecast) } as ForecastRow;
}

/** Derived data: what cannot be read is computed again. */
export function forecastOf(json: unknown): ForecastValues | null {
  const value = typeof json === "string" ? parseJson(json)?.value : undefined;
  return isForecast(value) ? value : null;
}

/** Columns: computed_at, forecast. */
export function storedForecastOf([computedAt, json]: Row): StoredForecast | null {
  const forecast = forecastOf(json);
  return forecast === null ? null : { ...forecast, computed_at: Number(computedAt) };
}

export const REFILL_COLUMNS = "started_at, ended_at, from_percentage, to_percentage";
export const refillOf = ([startedAt, endedAt, from, to]: Row): Refill => ({ startedAt, endedAt, from, to }) as Refill;

export function forecastTables({ insert, runForIds }: SqlRunner) {
  return {
    /** Unknown tanks are left out. Reads without locks. */
    async fleetTanks(tankIds: readonly string[]): Promise<readonly FleetTank[]> {
      const rows = await runForIds(
        tankIds,
        (
          is,
        ) => `SELECT tank.id, ${prefixed("tank", SETTINGS)}, tank.owner_id, fleet.threshold, fleet.at, fleet.fill, ${FORECAST_COLUMNS}
         FROM tank LEFT JOIN fleet ON fleet.tank = tank.id LEFT JOIN forecast ON forecast.id = tank.id WHERE ${is("tank.id")}`,
      );
      return rows.map(([id, capacity, capacity_unit, use_case, latitude, minFill, owner_id, threshold, at, fill, ...stored]) => ({
        id: String(id),
        settings: { capacity, capacity_unit, use_case, latitude, threshold: minFill } as ForecastSettings,
        owner_id: String(owner_id),
        threshold: threshold as number | null,
        latest: fill === null ? null : { created_at: Number(at), fill_percentage: Number(fill) },
        stored: forecastRowOf(stored),
      }));
    },

    async putForecasts(forecasts: readonly ForecastRow[]): Promise<void> {
      const values = forecasts.map(({ dueAt, computedAt, forecast, ...one }) =>
        valuesOf(FIELDS, {
          ...one,
          due_at: dueAt,
          computed_at: computedAt,
          forecast: forecast === null ? null : JSON.stringify(forecast),
        }),
      );
      await insert("forecast", FIELDS, values, updateExisting(FIELDS));
    },

    async refillsOf(tankIds: readonly string[]): Promise<ReadonlyMap<string, readonly Refill[]>> {
      const rows = await runForIds(tankIds, (is) => `SELECT tank_id, ${REFILL_COLUMNS} FROM refill WHERE ${is("tank_id")}`);
      const byTank = Map.groupBy(rows, ([tankId]) => String(tankId));
      return new Map(Array.from(byTank, ([tankId, own]) => [tankId, own.map(([, ...row]) => refillOf(row))]));
    },

    async addRefills(refills: readonly (Refill & { readonly tankId: string })[]): Promise<void> {
      const values = refills.map(({ tankId, startedAt, endedAt, from, to }) => [tankId, startedAt, endedAt, from, to]);
      await insert("refill", ["tank_id", ...REFILL_COLUMNS.split(", ")], values);
    },

    async removeRefills(tankIds: readonly string[]): Promise<void> {
      await runForIds(tankIds, (is) => `DELETE FROM refill WHERE ${is("tank_id")}`);
    },

    async removeForecasts(tankIds: readonly string[]): Promise<void> {
      await runForIds(tankIds, (is) => `DELETE FROM forecast WHERE ${is("id")}`);
    },
  };
}
