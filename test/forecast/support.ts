// Falling levels, and how their forecasts are computed and read.

import assert from "node:assert/strict";
import type { StoredForecast } from "../../src/domain/forecast/stored.ts";
import { UNRESTRICTED } from "../../src/domain/key.ts";
import type { LogEvent } from "../../src/domain/log-events.ts";
import type { Store } from "../../src/domain/store.ts";
import { computeForecast } from "../../src/forecast/compute.ts";
import { type ComputingOptions, computeDueForecasts } from "../../src/forecast/due-forecasts.ts";
import { WHOLE_FLEET } from "../store/conformance/objects.ts";

const HOUR = 3_600_000;
export const DAY = 24 * HOUR;
export const NOW = Date.parse("2026-11-16T12:00:00Z");

export const unexpected = (event: LogEvent) => assert.fail(JSON.stringify(event));

/** Every six hours until now, `perDay` less a day. */
export const falling = (tankId: string, latest: number, perDay: number, days: number) =>
  Array.from({ length: days * 4 + 1 }, (_, i) => ({
    tank: tankId,
    at: NOW - (days * 4 - i) * 6 * HOUR,
    fill: Math.round(100 * (latest + ((days * 4 - i) * perDay) / 4)) / 100,
  }));

export const orderOf = async (store: Store) => (await store.fleetPage(WHOLE_FLEET)).data.map((entry) => entry.tank.id);

/** How many forecasts there are to compute, now or within an hour. */
export const outdated = async (store: Store) => (await store.dueForecasts(NOW + HOUR, 10)).length;
export const isComputed = async (store: Store) => (await outdated(store)) === 0;

export async function forecastOf(store: Store, tankId: string): Promise<StoredForecast> {
  const found = await store.tankForecast(tankId, UNRESTRICTED);
  assert.ok(typeof found === "object" && found !== null, `${tankId}: ${found}`);
  return found;
}

export const computeAll = (store: Store, options: Partial<ComputingOptions> = {}): Promise<void> =>
  computeDueForecasts({
    ...{ store, clock: () => NOW, observe: unexpected, compute: computeForecast, everyMs: 0, isStopping: () => false },
    ...options,
  });
