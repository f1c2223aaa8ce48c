// Keeps the order of the fleet and the forecasts, in the background. Of several processes on a database one does so: the holder. If it
// ends, another takes its place. Two at a time would do no harm, since all of it is derived.

import { randomUUID } from "node:crypto";
import { setTimeout as delay } from "node:timers/promises";
import { hasCode } from "../domain/errors.ts";
import type { Observe } from "../domain/events.ts";
import type { FleetOrderReads, FleetOrderState, FleetOrderWrites } from "../domain/fleet-order.ts";
import type { ComputedForecast, ForecastReads, ForecastWrites } from "../domain/forecast/stored.ts";
import type { Clock } from "../domain/instant.ts";
import { RepeatedTask } from "../domain/repeated-task.ts";
import type { Reads } from "../domain/store.ts";
import { computeForecast } from "./compute.ts";
import { followReadings } from "./fleet-order.ts";

/** How often it looks whether there is something to do. */
const TICK_MS = 250;
/** Without readings in this process: those of other processes are noticed as late. */
const PASS_MS = 5000;
/** Between two passes: so many times what the last one took, to read and to write, so that others have the processor and the disk. */
const READ_PAUSES = 10;
const WRITE_PAUSES = 30;
const MAX_PAUSE_MS = 40_000;
/** The holder says at least this often that it still is. */
const STATE_MS = 15_000;
const TURN_MS = 45_000;
/** Forecasts in one write, and how much of the time may be spent computing them. */
const FORECASTS_PER_WRITE = 20;
const COMPUTING_PAUSES = 3;

export type ForecastStore = FleetOrderReads & FleetOrderWrites & ForecastReads & ForecastWrites & Pick<Reads, "readingColumns">;

export type ForecastJobOptions = { readonly store: ForecastStore; readonly clock: Clock; readonly observe: Observe };

export class ForecastJob {
  readonly #options: ForecastJobOptions;
  readonly #id = randomUUID();
  readonly #order: RepeatedTask;
  readonly #forecasts: RepeatedTask;
  /** By the clock of `performance`. */
  #passAfter = 0;
  #passBy = 0;
  #isWoken = false;
  #isHolder = false;

  constructor(options: ForecastJobOptions) {
    this.#options = options;
    const onError = (error: unknown): void => {
      // That the database is unavailable or damaged is reported elsewhere.
      if (!hasCode(error, "store_unavailable") && !hasCode(error, "data_damaged")) {
        options.observe({ kind: "forecasting_failed", error });
      }
    };
    this.#order = new RepeatedTask({ everyMs: TICK_MS, run: () => this.#keepOrder(), onError });
    this.#forecasts = new RepeatedTask({ everyMs: TICK_MS, run: () => this.#computeOutdated(), onError });
    this.#order.start();
  }

  /** Readings were stored by this process: the order follows as soon as it may. */
  wake(): void {
    this.#isWoken = true;
  }

  async stop(): Promise<void> {
    await Promise.all([this.#order.stop(), this.#forecasts.stop()]);
  }

  async #keepOrder(): Promise<void> {
    const started = performance.now();
    if (started < (this.#isWoken ? this.#passAfter : this.#passBy)) return;
    this.#passBy = started + PASS_MS;
    const { store, clock } = this.#options;
    const state = await store.fleetOrderState();
    const now = clock();
    this.#isHolder = state === undefined || state.holder === this.#id || Math.abs(now - state.at) > TURN_MS;
    if (!this.#isHolder) return;
    this.#isWoken = false;
    const { isComplete, moved, writeMs } = await followReadings(store, now, () => this.#order.isStopping);
    const isNews = moved > 0 || state?.holder !== this.#id || now - state.at >= STATE_MS;
    if (isComplete && isNews) this.#isHolder = await this.#putState(state, now);
    const ended = performance.now();
    const pause = READ_PAUSES * (ended - started - writeMs) + WRITE_PAUSES * writeMs;
    this.#passAfter = ended + Math.min(MAX_PAUSE_MS, pause);
    this.#passBy = Math.max(this.#passAfter, ended + PASS_MS);
  }

  #putState(before: FleetOrderState | undefined, now: number): Promise<boolean> {
    return this.#options.store.putFleetOrderState(before, { asOf: now, holder: this.#id, at: now });
  }

  /** Oldest first, a few at a time, with pauses. */
  async #computeOutdated(): Promise<void> {
    const { store, clock } = this.#options;
    while (this.#isHolder && !this.#forecasts.isStopping) {
      const outdated = await store.outdatedForecasts(FORECASTS_PER_WRITE);
      const computed: ComputedForecast[] = [];
      for (const tank of outdated) {
        if (this.#forecasts.isStopping) break;
        const started = performance.now();
        computed.push(await computeForecast(store, tank, clock()));
        await delay(COMPUTING_PAUSES * (performance.now() - started));
      }
      if (computed.length > 0) await store.putForecasts(computed, clock());
      if (outdated.length < FORECASTS_PER_WRITE) return;
    }
  }
}
