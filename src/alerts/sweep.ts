// Sweeps regularly, from the start of the service: a condition that is already true then is evaluated.

import { setImmediate } from "node:timers/promises";
import type { AlertSettings } from "../domain/alerts/evaluate.ts";
import { SWEEP_EVERY_MS, type SweepWrites } from "../domain/alerts/sweep.ts";
import { hasCode } from "../domain/errors.ts";
import type { Clock, Instant } from "../domain/instant.ts";
import type { Observe } from "../domain/log-events.ts";
import { RepeatedTask } from "../domain/repeated-task.ts";

/**
 * Without `clock`, the clock of the database counts, which all processes share. When it is stopped, a sweep in progress ends after its
 * current step; another process, or the next start, goes on with it.
 */
export function startSweep(writes: SweepWrites, settings: AlertSettings, observe: Observe, clock?: Clock): RepeatedTask {
  /** Whether this process has claimed a sweep with its settings. */
  let isClaimed = false;
  const task = new RepeatedTask({
    everyMs: SWEEP_EVERY_MS,
    run,
    onError: (error) => observe({ kind: "sweep_failed", error }),
  });

  async function run(): Promise<void> {
    try {
      await sweep();
    } catch (error) {
      if (hasCode(error, "data_damaged")) await sweepOneByOne();
      // That the database is unavailable is reported elsewhere.
      else if (!hasCode(error, "store_unavailable")) throw error;
    }
  }

  async function sweep(): Promise<void> {
    let claimedAt: Instant | undefined;
    for (let hasMore = true; hasMore && !task.isStopping; ) {
      const request = { claimedAt, at: clock?.(), settings: isClaimed ? undefined : settings };
      ({ claimedAt, hasMore } = await writes.sweepAlerts(request));
      isClaimed ||= claimedAt !== undefined;
      await setImmediate();
    }
  }

  /** A damaged tank, which is reported, keeps none of the others from being evaluated. */
  async function sweepOneByOne(): Promise<void> {
    const tankIds = await writes.tanksDue(clock?.()).catch(() => []);
    for (const id of tankIds) {
      if (task.isStopping) return;
      await writes.evaluateTank(id, clock?.()).catch(() => {});
    }
  }

  task.start();
  return task;
}
