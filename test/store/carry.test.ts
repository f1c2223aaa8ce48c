// A fleet goes from one engine to the other as lines of an export, and is there what it was here: shapes, profiles, where
// devices served before, and what waits. CARRY_SEED=… tells the same story once more.

import assert from "node:assert/strict";
import { suite, test } from "node:test";
import { isCommandError } from "../../src/domain/commands/command.ts";
import type { Store } from "../../src/domain/store.ts";
import { emptySummary } from "../../src/ingest/import.ts";
import { type Random, seeded } from "../../src/simulate/random.ts";
import { deliver } from "../support/arrivals.ts";
import { linesOf, takeLines } from "../support/carry.ts";
import { at, carriedOut, order } from "../support/orders.ts";
import type { Engine } from "./conformance/engine.ts";
import { checked, customer, fillsOf, putCustomers, putTanks, tank, waitingOf } from "./conformance/objects.ts";
import { postgresEngine } from "./postgres-engine.ts";
import { sqliteEngine } from "./sqlite-engine.ts";
import { DEVICES, TANKS } from "./twins/orders.ts";
import { everythingAsked } from "./twins/overview.ts";
import { someArrivals, someStep } from "./twins/steps.ts";

const SEED = process.env["CARRY_SEED"] ?? String(Math.floor(Math.random() * 1e9));
const SHAPE = { kind: "upright", height: 2, unit: "m", sensor_height: 2 };
const MOVED = 1000;

/** Device d1 with a profile has moved from tank "one" to "two", d3 is forgotten and was in "three"; of d2 and d1 readings wait. */
async function fill(store: Store): Promise<void> {
  await putCustomers(store, customer("a"), customer("b"));
  await putTanks(store, ...["one", "two", "three", "empty"].map((id, i) => tank(id, "a", { assigned_device_id: `d${i * 10}` })));
  await carriedOut(store, order.putDevice("d1", { tank_id: "one", profile: "elsys", shape: SHAPE }), at(100));
  await carriedOut(store, order.putDevice("d3", { tank_id: "three" }), at(100));
  await carriedOut(store, order.putDevice("spare", { tank_id: "three" }), at(500));
  await carriedOut(store, order.forgetDevice("d3"), at(600));
  await carriedOut(store, order.putDevice("d1", { tank_id: "two" }, { swap: true }), at(MOVED));
  await deliver(store, ...Array.from({ length: 1003 }, (_, i) => ({ device: "d2", at: i, fill: i % 101 })));
  await deliver(store, { device: "d2", at: 2000, payload: { distance: 500, "é\u2028": [1, { a: null }] } });
  await putTanks(store, tank("of b", "b", { assigned_device_id: "d4" }));
  const payload = { distance: 500 };
  await deliver(store, { device: "d4", at: 1, payload, customerId: "b" }, { device: "d4", at: 2, payload });
  await deliver(store, { device: "d1", at: MOVED + 1, payload: { distance: 1500 } }, { device: "d1", at: MOVED - 1, fill: 7 });
}

async function expectSame(store: Store): Promise<void> {
  assert.deepEqual((await store.managedTank("one"))?.shape, SHAPE);
  const device = { id: "d1", tank_id: "two", since: MOVED, profile: "elsys" };
  assert.deepEqual(await store.managedDevice("d1"), { device, waiting: 1, dropped: 0 });
  assert.deepEqual(await waitingOf(store, "d2"), [1000, 4]);
  // A backlog finds the tank it was measured in; what waited is taken in when it can be.
  assert.deepEqual(await deliver(store, { device: "d1", at: MOVED - 2, payload: { distance: 500 } }), ["new"]);
  assert.deepEqual(await fillsOf(store, "one"), [
    [MOVED - 2, 75],
    [MOVED - 1, 7],
  ]);
  assert.deepEqual(await deliver(store, { device: "d3", at: 499, fill: 3 }), ["new"]);
  assert.deepEqual(await fillsOf(store, "three"), [[499, 3]]);
  await carriedOut(store, order.changeTank("two", { shape: SHAPE }), at(3000));
  assert.deepEqual(await fillsOf(store, "two"), [[MOVED + 1, 25]]);
  await carriedOut(store, order.putDevice("d2", { tank_id: "empty", profile: "elsys", shape: SHAPE }), at(3000));
  assert.deepEqual((await fillsOf(store, "empty")).at(-1), [2000, 75]);
  assert.deepEqual(await waitingOf(store, "d2"), [0, 4]);
  // What a key of another customer sent is not for this one's tanks.
  await carriedOut(store, order.changeTank("of b", { owner_id: "a" }), at(3000));
  await carriedOut(store, order.putDevice("d4", { profile: "elsys", shape: SHAPE }), at(3000));
  assert.deepEqual(await fillsOf(store, "of b"), [[2, 75]]);
  assert.deepEqual((await checked(store)).findings, []);
}

/** What both must answer alike from now on. Keys, the log, and what was ordered once stayed behind. */
async function asked(store: Store): Promise<unknown> {
  const { audit: _log, keys: _keys, ...rest } = await everythingAsked(store);
  return rest;
}

/** What a bound sender sent, and may not reach its tank any more, is rejected there at once, and here when it would be taken in. */
const toAnybody = (store: Store): Store => ({
  ...store,
  ingest: (batch) => store.ingest({ ...batch, sources: batch.sources.map((source) => ({ ...source, customerId: null })) }),
});

/** A device that was forgotten is known again there, for where it served. */
async function tellStory(store: Store, random: Random, steps: number, from: number): Promise<number> {
  let now = from;
  for (let number = 0; number < steps; number++) {
    now += random.pick([0, 1, 1000, 3_600_000]);
    const { told, take } = someStep(random, number, now, []);
    if (!told.includes("remove_device")) await take(toAnybody(store));
  }
  return now;
}

/** Readings of all times go to the same tanks of both, also when devices and profiles are given to them. */
async function goOn(twins: readonly [Store, Store], random: Random, now: number): Promise<void> {
  for (let step = 0; step < 40; step++) {
    const batch = someArrivals(random, now - random.pick([0, 3_600_000, 10_000_000]));
    const fields = { tank_id: random.pick(TANKS), profile: random.pick([null, "milesight-em500-udl"]) };
    const given = order.putDevice(random.pick(DEVICES), fields, { swap: true });
    const [one, other] = await Promise.all(
      twins.map(async (store) => {
        const carried = await store.execute(given, at(now + step));
        return [isCommandError(carried) ? carried.error : carried.resource, await store.ingest(batch)];
      }),
    );
    assert.deepEqual(other, one, `CARRY_SEED=${SEED}`);
  }
  assert.deepEqual(await asked(twins[1]), await asked(twins[0]), `CARRY_SEED=${SEED}`);
}

const postgres = postgresEngine("postgres", "en-US");
const WAYS: readonly (readonly [from: Engine, to: Engine])[] = [
  [sqliteEngine, postgres],
  [postgres, sqliteEngine],
];

for (const [from, to] of WAYS) {
  suite(`from ${from.name} to ${to.name}`, () => {
    test("a fleet with shapes, profiles, moved devices and waiting readings is the same there", async (t) => {
      const [{ store }, { store: copy }] = [await from.open(t), await to.open(t)];
      await fill(store);
      const lines = await linesOf(store);
      const { summary, reasons } = await takeLines(copy, lines);
      assert.deepEqual([reasons, summary.read, summary.waiting], [[], lines.length, 1003]);
      assert.deepEqual((await linesOf(copy)).toSorted(), lines.toSorted());
      await expectSame(copy);
    });

    test(`whatever became of a fleet, its export gives the same fleet, which goes on the same (seed ${SEED})`, async (t) => {
      const random = seeded(`${SEED} ${from.name}`);
      const [{ store }, { store: copy }] = [await from.open(t), await to.open(t)];
      const now = await tellStory(store, random, 150, Date.parse("2026-06-01T00:00:00Z"));
      const lines = await linesOf(store);
      const { summary, reasons } = await takeLines(copy, lines);
      assert.deepEqual(reasons, [], `CARRY_SEED=${SEED}`);
      assert.deepEqual((await linesOf(copy)).toSorted(), lines.toSorted(), `CARRY_SEED=${SEED}`);
      const again = await takeLines(copy, lines);
      const { read, waiting } = summary;
      assert.deepEqual(again.summary, { ...emptySummary(), read, waiting, unchanged: read - waiting }, `CARRY_SEED=${SEED}`);
      assert.deepEqual(await asked(copy), await asked(store), `CARRY_SEED=${SEED}`);
      await goOn([store, copy], random, now);
      assert.deepEqual((await checked(copy)).findings, [], `CARRY_SEED=${SEED}`);
    });
  });
}
