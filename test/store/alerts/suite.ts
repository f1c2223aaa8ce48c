// Random histories as tests. The title has the seed; TEST_SEED repeats it.

import { test } from "node:test";
import fc from "fast-check";
import type { Engine } from "../engines.ts";
import { ingestInProcesses, killWhileIngesting } from "./processes.ts";
import { runHistory } from "./run.ts";
import { histories } from "./steps.ts";

export function alertProcesses(engine: Engine, runs: number): void {
  const seed = Number(process.env["TEST_SEED"] ?? Date.now() % 1_000_000);
  for (let i = 0; i < runs; i++) {
    test(`a process that is killed while it ingests loses no transition (seed ${seed + i})`, (t) =>
      killWhileIngesting(engine, t, `${seed + i}`));
    test(`processes that ingest at once lose no transition (seed ${seed + i})`, (t) =>
      ingestInProcesses(engine, t, `${seed + i}`));
  }
}

export function randomHistories(engine: Engine, runs: number, length: number): void {
  const seed = Number(process.env["TEST_SEED"] ?? Date.now() % 1_000_000);
  test(`random histories give the alerts, events and notifications of the naive rules (seed ${seed})`, async (t) => {
    const property = fc.asyncProperty(histories(length), async (steps) => {
      const ends: (() => unknown)[] = [];
      try {
        await runHistory(engine, { after: (end) => ends.push(end) }, steps);
      } finally {
        for (const end of ends.toReversed()) await end();
      }
    });
    t.diagnostic(`seed ${seed}`);
    await fc.assert(property, { seed, numRuns: runs, endOnFailure: false, interruptAfterTimeLimit: 120_000 });
  });
}
