// Several writers and readers of one database at once: stores of this process, and other processes.

import assert from "node:assert/strict";
import test from "node:test";
import { setImmediate } from "node:timers/promises";
import { deviceKey } from "../../../src/domain/id.ts";
import type { Store } from "../../../src/domain/store.ts";
import { type Random, seeded } from "../../../src/simulate/random.ts";
import { at, command, createKey, executed } from "../../support/commands.ts";
import { ingest, type SentReading } from "../../support/readings.ts";
import { putReadings } from "../../support/records.ts";
import { type Script, startScript } from "../../support/script.ts";
import type { Lifetime } from "../../support/service.ts";
import { times } from "../../support/times.ts";
import type { Engine } from "../engines.ts";
import { ModelStore } from "../model.ts";
import { DEVICES, randomCommand } from "../random/commands.ts";
import { compareAll, SIZES } from "../random/run.ts";
import { firstSteps, randomStep, shuffled } from "../random/steps.ts";
import {
  checked,
  customer,
  customersOf,
  everything,
  fillsOf,
  key,
  NEW_YEAR,
  pendingCounts,
  putCustomers,
  putTanks,
  readingsOf,
  scopeOf,
  tank,
  tankCounts,
  tanksOf,
  WHOLE_FLEET,
  WHOLE_LOG,
} from "./objects.ts";

const ROUND_MS = 6000;
/** Commands that decide which tank a device is assigned to. */
const MOVES = [
  "create_tank",
  "change_tank",
  "delete_tank",
  "restore_tank",
  "put_device",
  "delete_customer",
  "restore_customer",
] as const;

/** Of every device from `from` until before `to`; no two devices measure at the same instant. */
function measuredBetween(random: Random, from: number, to: number, each: number): SentReading[] {
  const devices = [...new Set(DEVICES.map(deviceKey))];
  return devices.flatMap((device, i) =>
    times(each, () => {
      const instant = from + random.whole(0, Math.floor((to - from) / devices.length) - 1) * devices.length + i;
      return { device, at: instant, fill: (instant * 7919) % 101 };
    }),
  );
}

/** What each of several senders delivers: a part of its own and some of the rest, some of it twice, in batches, in any order. */
function batchesOf(random: Random, sent: readonly SentReading[], senders: number): SentReading[][][] {
  return times(senders, (sender) => {
    const own = sent.filter((_, i) => i % senders === sender || random.chance(0.3));
    const rest = shuffled(random, [...own, ...own.filter(() => random.chance(0.2))]);
    const batches: SentReading[][] = [];
    while (rest.length > 0) batches.push(rest.splice(0, random.whole(1, 60)));
    return batches;
  });
}

async function deliver(script: Script, batches: readonly SentReading[][]): Promise<void> {
  for (const batch of batches) script.send(JSON.stringify(batch));
  assert.equal((await script.lines(batches.length)).length, batches.length, "the process has ended");
}

/**
 * An operator moves devices, and deletes and restores tanks, while two processes and a store deliver what the devices have measured
 * until then. In the end every reading is in the tank that its device was assigned to at its instant, or pending: as in the model,
 * which gets all readings after all commands.
 */
export async function deliverWhileMoving(engine: Engine, life: Lifetime, seed: string, rounds: number): Promise<void> {
  const [random, model] = [seeded(seed), new ModelStore()];
  const { store, reopen, url } = await engine.open(life);
  const other = await reopen();
  const scripts = await Promise.all(times(2, () => startScript(life, "ingests.ts", url)));
  for (const { run } of firstSteps({ random, model, size: { ...SIZES.few, readings: 0 }, number: 0, now: 0, etags: [] })) {
    assert.deepEqual(await run(store), await run(model));
  }
  const sent: SentReading[] = [];
  for (let round = 1; round <= rounds; round++) {
    sent.push(...measuredBetween(random, (round - 1) * ROUND_MS, round * ROUND_MS, 6));
    const [own = [], ...shares] = batchesOf(random, sent, 1 + scripts.length);
    const moving = async (): Promise<void> => {
      for (let i = 0; i < 4; i++) {
        const move = randomCommand(random, round * 10 + i, undefined, MOVES);
        const context = at(round * ROUND_MS);
        const [result, expected] = [await store.execute(move, context), await model.execute(move, context)];
        assert.equal("error" in result && result.error, "error" in expected && expected.error, JSON.stringify(move));
      }
    };
    const delivering = scripts.map((script, i) => deliver(script, shares[i] ?? []));
    await Promise.all([moving(), ...delivering, ...own.map((batch) => ingest(other, ...batch))]);
  }
  await ingest(model, ...sent);
  await compareAll(store, model);
  assert.deepEqual((await checked(store)).findings, []);
}

/** What a killed process had acknowledged is there, in its tank or pending; and of no batch only a part. */
export async function deliverUntilKilled(engine: Engine, life: Lifetime, seed: string): Promise<void> {
  const random = seeded(seed);
  const { store, reopen, url, settled } = await engine.open(life);
  await putCustomers(store, customer("a"));
  await putTanks(store, tank("first", "a", { assigned_device_id: "assigned" }));
  await store.close();
  const batches = times(60, (batch) =>
    times(random.whole(1, 12), (i) => ({ device: random.pick(["assigned", "free"]), at: batch * 100 + i, fill: batch })),
  );
  const script = await startScript(life, "ingests.ts", url);
  for (const batch of batches) script.send(JSON.stringify(batch));
  const before = await script.lines(random.whole(1, 30));
  script.child.kill("SIGKILL");
  // The last line of a killed process may be incomplete.
  const acknowledged = [...before, ...(await script.lines(Number.POSITIVE_INFINITY))].filter((line) => line.endsWith("]")).length;
  await settled();
  const again = await reopen();
  const [pending] = (await pendingCounts(again, "free")) ?? [0];
  await putTanks(again, tank("second", "a", { assigned_device_id: "free" }));
  const readings = (await everything(again)).flatMap((record) => (record.kind === "readings" ? record.readings : []));
  const there = new Set(readings.map(({ created_at }) => created_at));
  const kept = batches.filter((batch) => batch.some((reading) => there.has(reading.at)));
  assert.deepEqual(kept, batches.slice(0, kept.length), "the first batches are there");
  assert.ok(kept.length >= acknowledged, `${acknowledged} were acknowledged, ${kept.length} are there`);
  assert.equal(there.size, kept.flat().length, "each of them complete");
  assert.equal(pending, kept.flat().filter(({ device }) => device === "free").length);
  assert.deepEqual((await checked(again)).findings, []);
}

/** Several stores, each with random writes of all kinds: none deadlocks, and all derived data is right in the end. */
export async function writeAtOnce(engine: Engine, life: Lifetime, seed: string, steps: number): Promise<void> {
  const { store, reopen, deadlocks } = await engine.open(life);
  const stores = [store, await reopen(), await reopen()];
  const context = { random: seeded(seed), model: new ModelStore(), size: SIZES.few, number: 0, now: NEW_YEAR, etags: [] };
  for (const { run } of firstSteps(context)) await run(store);
  await Promise.all(
    stores.map(async (mine, writer) => {
      const own = { ...context, random: seeded(`${seed} ${writer}`), model: new ModelStore() };
      for (let i = 0; i < steps; i++) {
        await randomStep({ ...own, number: writer * 10_000 + i, now: NEW_YEAR + i * 60_000 }).run(mine);
      }
    }),
  );
  assert.equal(await deadlocks(), 0);
  assert.deepEqual((await checked(store)).findings, []);
  const { data, totalItems } = await store.auditPage(WHOLE_LOG);
  assert.deepEqual(
    data.map(({ number }) => number),
    data.map((_, i) => totalItems - i),
    "the audit log is numbered without gaps",
  );
}

const EMAIL = "many@customers.example";

/** Writes in tens until done: whatever a reader counts is a multiple of ten. */
async function writeInTens(store: Store, isDone: () => boolean): Promise<void> {
  for (let round = 0; !isDone(); round++) {
    const name = (i: number) => `${round} ${i}`;
    const isRemoving = round % 4 === 3;
    const removal = (i: number) => ({ remove: `${round - 1} ${i}` });
    await Promise.all([
      putReadings(
        store,
        "tank",
        times(10, (i) => [round * 10 + i, 50]),
      ),
      store.importCustomers(
        times(10, (i) => (isRemoving ? removal(i) : { customer: customer(name(i), { email: EMAIL }), deleted: false })),
      ),
      store.importTanks(times(10, (i) => (isRemoving ? removal(i) : { tank: tank(name(i), "owner"), deleted: false }))),
    ]);
  }
}

export function concurrencyConformance(engine: Engine): void {
  const seed = process.env["TEST_SEED"] ?? String(Date.now() % 1_000_000);

  test(`readings end in the tank they were measured in, though devices move while they arrive (seed ${seed})`, async (t) => {
    await deliverWhileMoving(engine, t, seed, 8);
  });

  test("a reading that arrives while its device is assigned is stored in the tank, and never stays pending", async (t) => {
    const { store, reopen } = await engine.open(t);
    const [sender, other] = [await reopen(), await reopen()];
    const ids = times(40, (i) => `${i}`);
    await putCustomers(store, customer("a"));
    await putTanks(store, ...ids.map((id) => tank(`t${id}`, "a")));
    for (const id of ids) {
      await Promise.all([
        ingest(sender, { device: `d${id}`, at: 1, fill: 5 }),
        executed(store, command.putDevice(`d${id}`, { tank_id: `t${id}` }), at(NEW_YEAR)),
        ingest(other, { device: `d${id}`, at: 2, fill: 6 }),
      ]);
    }
    for (const id of ids) {
      assert.deepEqual([await pendingCounts(store, `d${id}`), (await fillsOf(store, `t${id}`)).length], [[0, 0], 2], id);
    }
    assert.deepEqual((await checked(store)).findings, []);
  });

  test(`readings acknowledged to a process that is killed are stored (seed ${seed})`, async (t) => {
    await deliverUntilKilled(engine, t, seed);
  });

  test(`random writes of several stores at once leave a consistent database (seed ${seed})`, async (t) => {
    await writeAtOnce(engine, t, seed, 40);
  });

  test("a tank changes owners while both customers are marked as last seen: no deadlock", async (t) => {
    const { store, reopen, deadlocks } = await engine.open(t);
    const other = await reopen();
    await putCustomers(store, customer("a"), customer("b"));
    await putTanks(store, tank("moved", "a"));
    const move = async (): Promise<void> => {
      for (let i = 1; i <= 60; i++) {
        await executed(store, command.changeTank("moved", { owner_id: i % 2 === 0 ? "a" : "b" }), at(NEW_YEAR));
      }
    };
    const mark = async (): Promise<void> => {
      for (let i = 1; i <= 200; i++) await other.updateLastSeen(new Map(["a", "b"].map((id) => [id, NEW_YEAR + i])));
    };
    await Promise.all([move(), mark()]);
    assert.equal(await deadlocks(), 0);
  });

  test("data and total of a page are of one snapshot, and a check finds nothing, while another store writes", async (t) => {
    const { store, reopen } = await engine.open(t);
    const other = await reopen();
    await putCustomers(store, customer("owner"), ...times(299, (i) => customer(`c${i}`)));
    await putTanks(
      store,
      tank("tank", "owner", { created_at: 0 }),
      ...times(299, (i) => tank(`t${i}`, "owner", { created_at: i })),
    );
    const size = 3;
    const lists = {
      customers: (page: number) => customersOf(store, { page, size }),
      "customers by e-mail": (page: number) => customersOf(store, { page, size, email: EMAIL }),
      tanks: (page: number) => tanksOf(store, { page, size }),
      "tanks of an owner": (page: number) => tanksOf(store, { page, size }, scopeOf("owner")),
      "tanks of an owner, in a range": (page: number) => tanksOf(store, { page, size, from: NEW_YEAR }, scopeOf("owner")),
      telemetry: (page: number) => readingsOf(store, "tank", { page, size }),
      "telemetry in a range": (page: number) => readingsOf(store, "tank", { page, size, from: 0 }),
      fleet: (page: number) => store.fleetPage({ ...WHOLE_FLEET, page, size }),
      "fleet of an owner": (page: number) => store.fleetPage({ ...WHOLE_FLEET, page, size, owner_id: "owner" }),
    };
    let isDone = false;
    let rounds = 0;
    let hasEnded = false;
    const writing = writeInTens(other, () => {
      rounds++;
      return isDone;
    }).finally(() => {
      hasEnded = true;
    });
    const lastPage = new Map<string, number>();
    try {
      for (const end = performance.now() + 500; !hasEnded && (performance.now() < end || rounds < 7); await setImmediate()) {
        for (const [name, list] of Object.entries(lists)) {
          const page = lastPage.get(name) ?? 1;
          const { data, totalItems } = await list(page);
          const expected = Math.min(size, Math.max(0, totalItems - (page - 1) * size));
          assert.equal(data.length, expected, `page ${page} of ${name}, ${totalItems} in all`);
          assert.equal(totalItems % 10, 0, `${totalItems} ${name}: half a write was seen`);
          lastPage.set(name, Math.max(1, Math.ceil(totalItems / size)));
        }
      }
      for (const repair of [false, true]) assert.deepEqual((await checked(store, repair)).findings, []);
    } finally {
      isDone = true;
    }
    await writing;
    assert.deepEqual((await checked(store)).findings, []);
  });

  test("a write that fails leaves nothing, and those handed over with it are stored", async (t) => {
    const { store } = await engine.open(t);
    await createKey(store, key("k"), "hash");
    const results = await Promise.allSettled([
      putCustomers(store, customer("a")),
      createKey(store, key("other"), "hash"),
      putTanks(store, tank("one", "a")),
      putCustomers(store, customer("b"), customer("impossible", { created_at: 0.5 })),
      putReadings(store, "one", [[1, 50]]),
    ]);
    assert.deepEqual(
      results.map(({ status }) => status),
      ["fulfilled", "rejected", "fulfilled", "rejected", "fulfilled"],
    );
    assert.deepEqual([await tankCounts(store, "a", "b"), await fillsOf(store, "one")], [[1, undefined], [[1, 50]]]);
    assert.equal((await store.keyList()).length, 1);
    assert.deepEqual((await checked(store)).findings, []);
  });
}
