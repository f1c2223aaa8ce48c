// Tanks with alerts, on a store.

import assert from "node:assert/strict";
import type { Alert } from "../../src/domain/alerts/alert.ts";
import type { AlertQuery } from "../../src/domain/alerts/reads.ts";
import type { Refill } from "../../src/domain/forecast/refills.ts";
import { type ForecastValues, forecastSettings } from "../../src/domain/forecast/stored.ts";
import { UNRESTRICTED } from "../../src/domain/key.ts";
import type { Store } from "../../src/domain/store.ts";
import { ingest } from "../support/readings.ts";
import { ALL_ALERTS, customer, putCustomers, putTanks, readingsOf, tank } from "./conformance/objects.ts";

export const alertsOf = (store: Store, query: Partial<AlertQuery> = {}, scope = UNRESTRICTED) =>
  store.alertPage({ ...ALL_ALERTS, ...query }, scope);

/** Customers `a` and `b`, each with these tanks, whose threshold is 20. */
export async function putFleet(store: Store, tanks: Readonly<Record<"a" | "b", readonly string[]>>): Promise<void> {
  const verified = { verified_at: 1 };
  await putCustomers(store, customer("a", verified), customer("b", verified));
  for (const owner of ["a", "b"] as const) await putTanks(store, ...tanks[owner].map((id) => tank(id, owner)));
}

/** A reading that is measured now. */
export const measure = (store: Store, tankId: string, fill: number, at = Date.now()) => ingest(store, { tank: tankId, fill, at });

/** Makes the tank low; returns its alert. */
export async function openAlert(store: Store, tankId: string, at = Date.now()): Promise<Alert> {
  await measure(store, tankId, 10, at);
  const alert = (await store.alertsNotClosed([tankId])).find(({ kind }) => kind === "low");
  assert.ok(alert !== undefined, `${tankId} has no alert`);
  return alert;
}

export type GivenForecast = {
  readonly days?: number;
  readonly leak?: ForecastValues["leak"];
  readonly refills?: readonly Refill[];
  readonly now?: number;
} & Partial<Pick<ForecastValues, "state" | "runs_low_at" | "runs_empty_at" | "suggested_delivery" | "interval">>;

/** Of a tank that runs low in N days, by its newest reading. */
export async function putForecast(
  store: Store,
  tankId: string,
  { days = 100, leak = "none", refills = [], now = Date.now(), ...given }: GivenForecast,
): Promise<void> {
  const [latest] = (await readingsOf(store, tankId, { size: 1 })).data;
  assert.ok(latest !== undefined, `${tankId} has no readings`);
  const { created_at: latestAt, fill_percentage: level } = latest;
  const when = { p10: null, p50: now + days * 86_400_000, p90: null };
  const values = { use_per_day: null, runs_low_at: when, runs_empty_at: when, suggested_delivery: null, ...given };
  const forecast = { state: "ok", based_on_until: latestAt, ...values, level, leak } as const;
  const tank = (await store.managedTank(tankId))?.tank;
  assert.ok(tank !== undefined, `there is no tank ${tankId}`);
  const settings = forecastSettings(tank);
  await store.storeForecasts([{ tankId, settings, latestAt, latestFill: level, forecast, refills }], now);
}
