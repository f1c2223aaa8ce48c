// Both engines are given the same orders, records and readings, one after the other, and must tell the same: of each step, and
// of everything that can be asked in between. TWIN_STEPS=5000 makes it a longer story, TWIN_SEED=… the same once more.

import assert from "node:assert/strict";
import { test } from "node:test";
import type { CommandResult } from "../../src/domain/commands/command.ts";
import type { Store } from "../../src/domain/store.ts";
import { type Random, seeded } from "../../src/simulate/random.ts";
import { checked, everything } from "./conformance/objects.ts";
import { postgresEngine } from "./postgres-engine.ts";
import { sqliteEngine } from "./sqlite-engine.ts";
import { everythingAsked, someQuestions } from "./twins/overview.ts";
import { someStep } from "./twins/steps.ts";

const STEPS = Number(process.env["TWIN_STEPS"] ?? 300);
const SEED = process.env["TWIN_SEED"] ?? String(Math.floor(Math.random() * 1e9));
const PAUSES = [0, 0, 1, 1000, 3_600_000, 30_000_000];

/** What is sent to both, and found the same. */
async function same(twins: readonly [Store, Store], ask: (store: Store) => Promise<unknown>, told: string): Promise<unknown> {
  const [one, other] = await Promise.all(twins.map(ask));
  assert.deepEqual(other, one, `${told}\nTWIN_SEED=${SEED}`);
  return one;
}

async function askSome(twins: readonly [Store, Store], random: Random, now: number): Promise<void> {
  await same(twins, everythingAsked, "everything");
  for (let i = 0; i < 8; i++) for (const { told, ask } of someQuestions(random, now)) await same(twins, ask, told);
}

const records = async (store: Store) => (await everything(store)).map((record) => JSON.stringify(record)).sort();

test(`whatever is ordered, sent and imported, both engines answer the same (seed ${SEED})`, async (t) => {
  const twins = [(await sqliteEngine.open(t)).store, (await postgresEngine("postgres", "en-US").open(t)).store] as const;
  const random = seeded(SEED);
  let now = Date.parse("2026-06-01T00:00:00Z");
  let tags: readonly string[] = [];
  for (let number = 0; number < STEPS; number++) {
    now += random.pick(PAUSES);
    const { told, take } = someStep(random, number, now, tags);
    const outcome = (await same(twins, take, `step ${number}: ${told}`)) as Partial<Exclude<CommandResult, { error: string }>>;
    if (outcome.resource !== undefined) tags = [outcome.resource.etag, ...tags].slice(0, 3);
    if (number % 20 === 19) await askSome(twins, random, now);
  }
  await same(twins, records, "all records");
  for (const store of twins) assert.deepEqual((await checked(store)).findings, [], `TWIN_SEED=${SEED}`);
});
