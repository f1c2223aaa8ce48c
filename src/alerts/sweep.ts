// Sweeps regularly, from the start of the service: a condition that is already true then is evaluated.

import { setImmediate } from "node:timers/promises";
import type { AlertSettings } from "../domain/alerts/evaluate.ts";
import { SWEEP_EVERY_MS, type SweepWrites } from "../domain/alerts/sweep.ts";
import { hasCode } from "../domain/errors.ts";
import type { Clock, Instant } from "../domain/instant.ts";
import type { Observe } from "../domain/log-events.ts";
import { RepeatedTask } from "../domain/repeated-task.ts";

export class AlertSweep {
  readonly #writes: SweepWrites;
  readonly #observe: Observe;
  readonly #clock: Clock | undefined;
  readonly #task: RepeatedTask;
  /** Set until the first claim of this process. */
  #settings: AlertSettings | undefined;

  /** Without `clock`, the clock of the database counts, which all processes share. */
  constructor(writes: SweepWrites, settings: AlertSettings, observe: Observe, clock?: Clock) {
    this.#writes = writes;
    this.#settings = settings;
    this.#observe = observe;
    this.#clock = clock;
    this.#task = new RepeatedTask({
      everyMs: SWEEP_EVERY_MS,
      run: () => this.#run(),
      onError: (error) => this.#observe({ kind: "sweep_failed", error }),
    });
    this.#task.start();
  }

  /** A sweep in progress ends after its current step; another process, or the next start, goes on with it. */
  async stop(): Promise<void> {
    await this.#task.stop();
  }

  async #run(): Promise<void> {
    try {
      await this.#sweep();
    } catch (error) {
      if (hasCode(error, "data_damaged")) await this.#sweepOneByOne();
      // That the database is unavailable is reported elsewhere.
      else if (!hasCode(error, "store_unavailable")) throw error;
    }
  }

  async #sweep(): Promise<void> {
    let claimedAt: Instant | undefined;
    for (let hasMore = true; hasMore && !this.#task.isStopping; ) {
      ({ claimedAt, hasMore } = await this.#writes.sweepAlerts({ claimedAt, at: this.#clock?.(), settings: this.#settings }));
      if (claimedAt !== undefined) this.#settings = undefined;
      await setImmediate();
    }
  }

  /** A damaged tank, which is reported, keeps none of the others from being evaluated. */
  async #sweepOneByOne(): Promise<void> {
    const tankIds = await this.#writes.tanksDue(this.#clock?.()).catch(() => []);
    for (const id of tankIds) {
      if (this.#task.isStopping) return;
      await this.#writes.evaluateTank(id, this.#clock?.()).catch(() => {});
    }
  }
}
