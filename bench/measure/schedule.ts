// Tasks that start when they are due, whether or not earlier ones have finished.

import { setTimeout as sleep } from "node:timers/promises";

/**
 * `dueAt` is when a task may start, in milliseconds after the beginning; tasks become due in order. `run` gets the time since
 * which its task was waiting for a free worker. Waiting for a timer does not count, since timers are late by nature.
 */
export async function runScheduled<Worker>(
  workers: readonly Worker[],
  tasks: number,
  dueAt: (task: number) => number,
  run: (worker: Worker, task: number, since: number) => Promise<void>,
): Promise<void> {
  const started = performance.now();
  let next = 0;
  async function work(worker: Worker): Promise<void> {
    for (let task = next++; task < tasks; task = next++) {
      const due = started + dueAt(task);
      const early = due - performance.now();
      if (early > 0) await sleep(early);
      await run(worker, task, early > 0 ? performance.now() : due);
    }
  }
  await Promise.all(workers.map(work));
}

export const immediately = (): number => 0;

/** `rate` tasks a second, evenly spaced. */
export const atRate =
  (rate: number) =>
  (task: number): number =>
    (task * 1000) / rate;

/** `rate` tasks a second at random times (a Poisson process), as of many independent clients. */
export function atRandomTimes(rate: number, tasks: number, seed: number): (task: number) => number {
  const dueTimes = new Float64Array(tasks);
  let state = seed;
  let due = 0;
  for (let task = 0; task < tasks; task++) {
    // A Lehmer generator.
    state = (state * 48_271) % 2_147_483_647;
    due -= (Math.log(state / 2_147_483_647) * 1000) / rate;
    dueTimes[task] = due;
  }
  return (task) => dueTimes[task] ?? due;
}
