// For commands that read a database while the service may not be running.

import { FORECAST_MIN_AGE_MS } from "../domain/fleet-order.ts";
import type { Store } from "../domain/store.ts";
import { computeForecast } from "./compute.ts";
import { computeDueForecasts } from "./due-forecasts.ts";
import { FailedTanks } from "./failed-tanks.ts";
import { updateFleetOrder } from "./fleet-order.ts";
import { HOLDER_TIMEOUT_MS, RELEASED } from "./job.ts";

/** Recorded as the holder while no service runs. */
const HOLDER = "command line";
/** The oldest forecasts come first; what is not computed in this time is left as it is. */
const COMPUTING_MS = 10_000;

/** Brings the fleet order and forecasts up to date, unless a service does. */
export async function updateForecasts(store: Store): Promise<void> {
  const before = await store.fleetOrderState();
  const now = Date.now();
  if (before !== undefined && before.holder !== HOLDER && Math.abs(now - before.at) < HOLDER_TIMEOUT_MS) return;
  const observe = (): void => {};
  const failed = new FailedTanks(observe);
  await updateFleetOrder(store, now, { failed });
  await store.putFleetOrderState(before, { asOf: now, holder: HOLDER, at: RELEASED });
  const isStopping = (): boolean => Date.now() - now > COMPUTING_MS;
  // Also those that a service would compute later.
  const dueForecasts: Store["dueForecasts"] = (at, limit) => store.dueForecasts(at + FORECAST_MIN_AGE_MS, limit);
  await computeDueForecasts({
    store: { ...store, dueForecasts },
    clock: Date.now,
    observe,
    compute: computeForecast,
    everyMs: 0,
    isStopping,
    failed,
  });
}
