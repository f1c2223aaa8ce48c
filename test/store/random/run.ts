// A random run: a new database gets random writes from a seed, beside the model, and must return the same results.

import assert from "node:assert/strict";
import type { Store } from "../../../src/domain/store.ts";
import { seeded } from "../../../src/simulate/random.ts";
import { exportedLines, importLines } from "../../support/exports.ts";
import { updateWholeOrder } from "../../support/fleet-order.ts";
import type { Lifetime } from "../../support/service.ts";
import { checked, everything } from "../conformance/objects.ts";
import type { Engine } from "../engines.ts";
import { ModelStore } from "../model.ts";
import { allQueries, type Query, randomQueries } from "./queries.ts";
import { firstSteps, randomStep, type Size, type Step, type StepContext } from "./steps.ts";

/** The milliseconds between two steps. */
const PAUSES = [0, 0, 1, 1000, 3_600_000, 30_000_000];
const STEPS_BETWEEN_READS = 5;

export const SIZES = {
  few: { steps: 250, readings: 100, customers: 0, tanks: 0, bulk: 200 },
  many: { steps: 60, readings: 20_000, customers: 4200, tanks: 600, bulk: 300 },
  "very many": { steps: 400, readings: 40_000, customers: 17_000, tanks: 5000, bulk: 2000 },
  huge: { steps: 40, readings: 1_150_000, customers: 70_000, tanks: 300, bulk: 5000 },
} as const satisfies Record<string, Size>;

/** The same seed and size lead to the same steps. */
export async function runAgainstModel(
  engine: Engine,
  life: Lifetime,
  seed: string,
  sizeName: keyof typeof SIZES,
  steps: number = SIZES[sizeName].steps,
): Promise<void> {
  const [random, size, model, etags] = [seeded(seed), SIZES[sizeName], new ModelStore(), [] as string[]];
  const opened = await engine.open(life);
  let [stores, now, current] = [[opened.store], Date.parse("2026-06-01T00:00:00Z"), "the beginning"];
  const context = (number: number): StepContext => ({ random, model, size, number, now, etags });
  const compare = async (queries: readonly Query[]) => {
    for (const { description, run } of queries) {
      current = description;
      assert.deepEqual(await run(random.pick(stores)), await run(model));
    }
  };
  try {
    for (const step of firstSteps(context(0))) await compareStep(step, opened.store, model);
    for (let number = 1; number <= steps; number++) {
      now += random.pick(PAUSES);
      if (random.chance(0.02)) {
        for (const store of stores) await store.close();
        stores = [await opened.reopen(), ...(random.chance(0.5) ? [await opened.reopen()] : [])];
      }
      const atOnce = Array.from({ length: random.chance(0.1) ? random.whole(2, 8) : 1 }, (_, i) => {
        return randomStep(context(number * 10 + i));
      });
      current = `step ${number}: ${atOnce.map(({ description }) => description).join("\n")}`;
      // One store executes the writes it gets at once in their order.
      const store = random.pick(stores);
      const results = Promise.all(atOnce.map((step) => step.run(store)));
      for (const [i, step] of atOnce.entries()) assert.deepEqual((await results)[i], await step.run(model));
      if (number % STEPS_BETWEEN_READS === 0) {
        await updateWholeOrder(stores[0] ?? opened.store, now);
        await compare(randomQueries(random, model, now));
      }
    }
    current = "all reads and the export";
    await compareAll(random.pick(stores), model);
    assert.deepEqual((await checked(random.pick(stores))).findings, []);
  } catch (cause) {
    throw new Error(`${current}\n${(cause as Error).message}\nTEST_SEED=${seed} repeats it (${sizeName})`, { cause });
  }
}

async function compareStep(step: Step, store: Store, model: ModelStore): Promise<void> {
  assert.deepEqual(await step.run(store), await step.run(model), step.description);
}

const sorted = (records: readonly unknown[]): string[] => records.map((record) => JSON.stringify(record)).sort();

/** Every read and the export of the store are those of the model. */
export async function compareAll(store: Store, model: ModelStore): Promise<void> {
  await updateWholeOrder(store, Date.now());
  for (const { description, run } of allQueries(model)) assert.deepEqual(await run(store), await run(model), description);
  assert.deepEqual(sorted(await everything(store)), sorted(model.exportRecords()));
}

/** Keys, the audit log and saved results are not exported. */
const isExported = ({ description }: Query): boolean => !/^(audit|key)/.test(description);

/**
 * After a random run without what an export cannot restore, its export is imported into an empty database, twice; then both go on
 * with readings of devices, which are placed by the same assignments, profiles and shapes.
 */
export async function runThroughExport(engine: Engine, life: Lifetime, seed: string): Promise<void> {
  const [random, model] = [seeded(seed), new ModelStore()];
  const [{ store }, { store: copy }] = [await engine.open(life), await engine.open(life)];
  let now = Date.parse("2026-06-01T00:00:00Z");
  const context = (number: number): StepContext => {
    return { random, model, size: SIZES.few, number, now, etags: [], isExportable: true };
  };
  for (const step of firstSteps(context(0))) await compareStep(step, store, model);
  for (let number = 1; number <= 100; number++) {
    now += random.pick(PAUSES);
    await compareStep(randomStep(context(number)), store, model);
  }
  const lines = await exportedLines(store);
  for (const outcome of ["first", "again"]) {
    const { summary, reasons } = await importLines(copy, lines);
    assert.deepEqual([summary.read, reasons], [lines.length, []]);
    if (outcome === "again") assert.deepEqual([summary.new, summary.changed], [0, 0]);
    assert.deepEqual((await exportedLines(copy)).toSorted(), lines.toSorted());
  }
  for (let number = 101; number <= 130; number++) {
    await compareStep(randomStep({ ...context(number), kinds: ["deviceReadings", "assign"] }), copy, model);
  }
  await updateWholeOrder(copy, now);
  for (const { description, run } of allQueries(model).filter(isExported)) {
    assert.deepEqual(await run(copy), await run(model), description);
  }
  assert.deepEqual((await checked(copy)).findings, []);
}
