// Long random runs on both engines, each from a seed of its own. TEST_SEED=482913 repeats the runs of one seed.

import test from "node:test";
import { deliverUntilKilled, deliverWhileMoving, writeAtOnce } from "../store/conformance/concurrency.ts";
import { postgresEngine, sqliteEngine } from "../store/engines.ts";
import { runAgainstModel, runThroughExport } from "../store/random/run.ts";

const given = process.env["TEST_SEED"];
const base = Date.now() % 1_000_000;
const seeds = (count: number): string[] =>
  given === undefined ? Array.from({ length: count }, (_, i) => `${base + i}`) : [given];
const RUNS = { few: 20, many: 10, "very many": 3, huge: 1 } as const;

for (const engine of [sqliteEngine, postgresEngine]) {
  for (const size of ["few", "many", "very many", "huge"] as const) {
    for (const seed of seeds(RUNS[size])) {
      test(`${engine.name}: random writes and reads of ${size} objects, seed ${seed}`, async (t) => {
        await runAgainstModel(engine, t, seed, size);
      });
    }
  }
  for (const seed of seeds(12)) {
    test(`${engine.name}: an export, concurrent writes and a killed process, seed ${seed}`, async (t) => {
      await runThroughExport(engine, t, seed);
      await deliverWhileMoving(engine, t, seed, 30);
      await writeAtOnce(engine, t, seed, 200);
      await deliverUntilKilled(engine, t, seed);
    });
  }
}
