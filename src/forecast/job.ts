// Updates the fleet order and the forecasts in the background. Of several processes on a database one does so: the holder. If it
// ends, another takes its place. Two at a time would be harmless, since all of it is derived.

import { randomUUID } from "node:crypto";
import { hasCode } from "../domain/errors.ts";
import type { FleetOrderReads, FleetOrderState, FleetOrderWrites } from "../domain/fleet-order.ts";
import type { Clock } from "../domain/instant.ts";
import type { Observe } from "../domain/log-events.ts";
import { RepeatedTask } from "../domain/repeated-task.ts";
import { computeDueForecasts, type ForecastStore } from "./due-forecasts.ts";
import { FailedTanks } from "./failed-tanks.ts";
import { updateFleetOrder } from "./fleet-order.ts";
import { ForecastThread } from "./forecast-thread.ts";

/** How often it looks whether there is something to do. */
const TICK_MS = 250;
/** Time between scans without new readings in this process. Readings of other processes are noticed this late. */
const SCAN_INTERVAL_MS = 5000;
/** The pause after a scan, for each tank that was read or outdated: many times what that takes, so that others have the processor. */
const PAUSE_MS = { scanned: 0.02, outdated: 20 } as const;
const MAX_PAUSE_MS = 40_000;
/** The holder writes its state again after a scan, if the last time was this long ago. */
const STATE_MS = 15_000;
/** If it has not done so for this long, another process takes its place. The longest pause and two scans take less. */
export const HOLDER_TIMEOUT_MS = 90_000;
/** The time of a state that no process renews: it has timed out. */
export const RELEASED = 0;
/** The time from one forecast to the next: up to 200 a second. */
const FORECAST_EVERY_MS = 5;

type ForecastJobOptions = {
  readonly store: ForecastStore & FleetOrderReads & FleetOrderWrites;
  readonly clock: Clock;
  readonly observe: Observe;
};

export class ForecastJob {
  readonly #options: ForecastJobOptions;
  readonly #id = randomUUID();
  readonly #order: RepeatedTask;
  readonly #forecasts: RepeatedTask;
  readonly #thread = new ForecastThread();
  readonly #failed: FailedTanks;
  /** A time of `performance.now()`. */
  #earliestScan = 0;
  #latestScan = 0;
  #hasNewReadings = false;
  #isHolder = false;

  constructor(options: ForecastJobOptions) {
    this.#options = options;
    this.#failed = new FailedTanks(options.observe);
    const onError = (error: unknown): void => this.#onError(error);
    this.#order = new RepeatedTask({ everyMs: TICK_MS, run: () => this.#updateOrder(), onError });
    this.#forecasts = new RepeatedTask({ everyMs: TICK_MS, run: () => this.#computeDue(), onError });
    this.#order.start();
  }

  /** Readings were stored by this process: the order is updated as soon as possible. */
  wake(): void {
    this.#hasNewReadings = true;
  }

  async stop(): Promise<void> {
    await Promise.all([this.#order.stop(), this.#forecasts.stop()]);
    await this.#thread.close();
    await this.#release().catch((error: unknown) => this.#onError(error));
  }

  /** Another process takes over at once. */
  async #release(): Promise<void> {
    if (!this.#isHolder) return;
    const { store } = this.#options;
    const state = await store.fleetOrderState();
    if (state?.holder === this.#id) await store.putFleetOrderState(state, { ...state, at: RELEASED });
  }

  #onError(error: unknown): void {
    // That the database is unavailable or damaged is reported elsewhere.
    if (!hasCode(error, "store_unavailable") && !hasCode(error, "data_damaged")) {
      this.#options.observe({ kind: "forecast_job_failed", error });
    }
  }

  async #updateOrder(): Promise<void> {
    const started = performance.now();
    if (started < (this.#hasNewReadings ? this.#earliestScan : this.#latestScan)) return;
    this.#latestScan = started + SCAN_INTERVAL_MS;
    this.#hasNewReadings = false;
    const { store, clock } = this.#options;
    const state = await store.fleetOrderState();
    const now = clock();
    this.#isHolder = state === undefined || state.holder === this.#id || Math.abs(now - state.at) > HOLDER_TIMEOUT_MS;
    if (!this.#isHolder) return;
    const { isComplete, scanned, outdated } = await updateFleetOrder(store, now, {
      failed: this.#failed,
      isStopping: () => this.#order.isStopping,
    });
    const mustWriteState = outdated > 0 || state?.holder !== this.#id || now - state.at >= STATE_MS;
    if (isComplete && mustWriteState) this.#isHolder = await this.#putState(state, now);
    const ended = performance.now();
    this.#earliestScan = ended + Math.min(MAX_PAUSE_MS, scanned * PAUSE_MS.scanned + outdated * PAUSE_MS.outdated);
    this.#latestScan = Math.max(this.#earliestScan, ended + SCAN_INTERVAL_MS);
  }

  #putState(before: FleetOrderState | undefined, now: number): Promise<boolean> {
    return this.#options.store.putFleetOrderState(before, { asOf: now, holder: this.#id, at: now });
  }

  async #computeDue(): Promise<void> {
    if (!this.#isHolder) return;
    await computeDueForecasts({
      ...this.#options,
      compute: (task) => this.#thread.compute(task),
      everyMs: FORECAST_EVERY_MS,
      isStopping: () => this.#forecasts.isStopping,
      failed: this.#failed,
    });
  }
}
