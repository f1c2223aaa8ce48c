// What every engine must do: the whole interface of src/domain/store.ts, on a real database. What only one engine has (files,
// plans, locks) is tested beside it.

import { suite, test } from "node:test";
import { commandConformance, idempotencyConformance } from "./conformance/commands.ts";
import { concurrencyConformance } from "./conformance/concurrency.ts";
import { importConformance } from "./conformance/imports.ts";
import { lengthConformance } from "./conformance/lengths.ts";
import { maintenanceConformance } from "./conformance/maintenance.ts";
import { auditConformance, fleetConformance, searchConformance } from "./conformance/management.ts";
import { pendingReadingConformance } from "./conformance/pending-readings.ts";
import { readingConformance } from "./conformance/readings.ts";
import { valueConformance } from "./conformance/values.ts";
import { type Engine, postgresEngine } from "./engines.ts";
import { runAgainstModel, runThroughExport } from "./random/run.ts";

export function conformance(engine: Engine): void {
  suite(`${engine.name}: imports`, () => importConformance(engine));
  suite(`${engine.name}: extreme values`, () => valueConformance(engine));
  suite(`${engine.name}: readings`, () => readingConformance(engine));
  suite(`${engine.name}: pending readings`, () => pendingReadingConformance(engine));
  suite(`${engine.name}: commands`, () => commandConformance(engine));
  suite(`${engine.name}: idempotency keys`, () => idempotencyConformance(engine));
  suite(`${engine.name}: audit log`, () => auditConformance(engine));
  suite(`${engine.name}: fleet`, () => fleetConformance(engine));
  suite(`${engine.name}: searches`, () => searchConformance(engine));
  suite(`${engine.name}: maintenance`, () => maintenanceConformance(engine));
}

/** Random writes and reads beside a model. The title of each test has its seed; TEST_SEED repeats it. */
export function randomRuns(engine: Engine): void {
  const seed = process.env["TEST_SEED"] ?? String(Date.now() % 1_000_000);
  // `npm run test:long` takes more, on PostgreSQL too, which is slower.
  const share = engine === postgresEngine ? 0.5 : 1;
  for (const [size, steps] of [
    ["few", share * 150],
    ["many", share * 40],
  ] as const) {
    test(`${engine.name}: random writes and reads of ${size} objects give the results of the model (seed ${seed})`, async (t) => {
      await runAgainstModel(engine, t, seed, size, steps);
    });
  }

  test(`${engine.name}: an export of a random database is imported as it was (seed ${seed})`, async (t) => {
    await runThroughExport(engine, t, seed);
  });

  suite(`${engine.name}: lengths`, () => lengthConformance(engine));
}

export function concurrency(engine: Engine): void {
  suite(`${engine.name}: concurrent writes and reads`, () => concurrencyConformance(engine));
}
