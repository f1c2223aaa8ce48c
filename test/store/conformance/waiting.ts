import assert from "node:assert/strict";
import test from "node:test";
import { MAX_PENDING, type Store } from "../../../src/domain/store.ts";
import { seeded } from "../../../src/simulate/random.ts";
import { at, command, executed } from "../../support/commands.ts";
import { ingest, ingestFills } from "../../support/readings.ts";
import type { Engine } from "../engines.ts";
import { shuffled } from "../random/steps.ts";
import { checked, customer, fillsOf, NEW_YEAR, pendingCounts, putCustomers, putTanks, readingsOf, tank } from "./objects.ts";

type Pair = readonly [at: number, fill: number];
const TOO_MANY = 137;
const ascending = Array.from({ length: MAX_PENDING + TOO_MANY }, (_, i): Pair => [i * 1000, i % 101]);
const seed = Date.now() % 1_000_000;

/** The same readings, in the order they may arrive in. */
const ORDERS: Readonly<Record<string, readonly Pair[]>> = {
  "oldest first": ascending,
  "newest first": ascending.toReversed(),
  [`in no order (seed ${seed})`]: shuffled(seeded(seed), ascending),
};
const PORTIONS = { "at once": ascending.length, "in portions": 61 };

async function assigned(store: Store, device: string): Promise<void> {
  await putCustomers(store, customer("a"));
  await putTanks(store, tank("one", "a", { assigned_device_id: device }));
}

export function waitingConformance(engine: Engine): void {
  for (const [order, readings] of Object.entries(ORDERS)) {
    for (const [how, portion] of Object.entries(PORTIONS)) {
      test(`of more than may wait the newest stay, and those that had to go are counted: ${order}, ${how}`, async (t) => {
        const { store } = await engine.open(t);
        for (let i = 0; i < readings.length; i += portion) {
          const told = await ingestFills(store, "d", readings.slice(i, i + portion));
          assert.ok(told.every((word) => word === "waiting"));
        }
        assert.deepEqual(await pendingCounts(store, "d"), [MAX_PENDING, TOO_MANY]);
        assert.deepEqual((await checked(store)).findings, []);
        await assigned(store, "d");
        assert.deepEqual(await pendingCounts(store, "d"), [0, TOO_MANY]);
        const { totalItems } = await readingsOf(store, "one");
        assert.equal(totalItems, MAX_PENDING);
        assert.equal((await readingsOf(store, "one", { to: TOO_MANY * 1000 - 1 })).totalItems, 0);
        assert.deepEqual((await checked(store)).findings, []);
      });
    }
  }

  test("of one device and instant the last to arrive stays, also where one of them waits", async (t) => {
    const { store } = await engine.open(t);
    await assigned(store, "d");
    const payload = (instant: number, percent: number) => ({ device: "d", at: instant, payload: { percent } });
    assert.deepEqual(await ingest(store, payload(5, 10), payload(6, 11)), ["waiting", "waiting"]);
    assert.deepEqual(await ingest(store, { device: "d", at: 5, fill: 20 }), ["new"]);
    assert.deepEqual(await pendingCounts(store, "d"), [1, 0]);
    assert.deepEqual(await ingest(store, { device: "d", at: 7, fill: 20 }, payload(7, 12)), ["new", "waiting"]);
    assert.deepEqual((await checked(store)).findings, []);
    await executed(store, command.putDevice("d", { profile: { value: "percent", measures: "percent" } }), at(NEW_YEAR));
    assert.deepEqual(await fillsOf(store, "one"), [
      [5, 20],
      [6, 11],
      [7, 12],
    ]);
    assert.deepEqual(await pendingCounts(store, "d"), [0, 0]);
  });

  test("a profile that reads nothing of what waits takes nothing of it away; one that reads some counts the rest as gone", async (t) => {
    const { store } = await engine.open(t);
    await assigned(store, "d");
    await ingest(store, ...[1, 2, 3].map((i) => ({ device: "d", at: i, payload: { percent: i * 40 } })));
    await executed(store, command.putDevice("d", { profile: { value: "level", measures: "percent" } }), at(NEW_YEAR));
    assert.deepEqual(await pendingCounts(store, "d"), [3, 0]);
    await executed(store, command.putDevice("d", { profile: { value: "percent", measures: "percent" } }), at(NEW_YEAR));
    assert.deepEqual(await pendingCounts(store, "d"), [0, 1]);
    assert.deepEqual(await fillsOf(store, "one"), [
      [1, 40],
      [2, 80],
    ]);
    assert.deepEqual((await checked(store)).findings, []);
  });

  test("as many as may wait all do, one more and an older one push out the oldest", async (t) => {
    const { store } = await engine.open(t);
    await ingestFills(store, "d", ascending.slice(1, MAX_PENDING + 1));
    assert.deepEqual(await pendingCounts(store, "d"), [MAX_PENDING, 0]);
    assert.deepEqual(await ingestFills(store, "d", [[0, 1]]), ["waiting"]);
    assert.deepEqual(await pendingCounts(store, "d"), [MAX_PENDING, 1]);
    await ingestFills(store, "d", ascending.slice(MAX_PENDING + 1, MAX_PENDING + 2));
    assert.deepEqual(await pendingCounts(store, "d"), [MAX_PENDING, 2]);
    await assigned(store, "d");
    const { data } = await readingsOf(store, "one", { page: MAX_PENDING, size: 1 });
    assert.equal(data[0]?.created_at, 2000);
  });

  test("what is sent again waits once, and of an instant told twice the last stays", async (t) => {
    const { store } = await engine.open(t);
    for (let i = 0; i < 3; i++) await ingestFills(store, "d", ascending.slice(0, MAX_PENDING));
    assert.deepEqual(await pendingCounts(store, "d"), [MAX_PENDING, 0], "sent again, nothing has to go");
    await ingestFills(store, "few", [
      [10, 1],
      [10, 2],
      [20, 1],
    ]);
    await ingestFills(store, "few", [
      [20, 5],
      [10, 2],
    ]);
    assert.deepEqual(await pendingCounts(store, "few"), [2, 0]);
    await assigned(store, "few");
    assert.deepEqual(await fillsOf(store, "one"), [
      [10, 2],
      [20, 5],
    ]);
  });

  test("a payload takes the place of a fill of the same instant, and a fill that of a payload", async (t) => {
    const { store } = await engine.open(t);
    await ingest(store, { device: "d", at: 1, payload: { distance: 5 } }, { device: "d", at: 1, fill: 7 });
    await ingest(store, { device: "d", at: 2, fill: 7 }, { device: "d", at: 2, payload: { fill_percentage: 8 } });
    assert.deepEqual(await pendingCounts(store, "d"), [2, 0]);
    await assigned(store, "d");
    assert.deepEqual(await fillsOf(store, "one"), [
      [1, 7],
      [2, 8],
    ]);
  });

  test("each device has room of its own, and those of tanks are not kept from them", async (t) => {
    const { store } = await engine.open(t);
    await assigned(store, "of one");
    const sent = ascending.flatMap(([instant, fill]) => ["x", "y", "of one"].map((device) => ({ device, at: instant, fill })));
    const told = await ingest(store, ...sent, { device: "few", at: 5, fill: 5 });
    assert.deepEqual(told.slice(-4), ["waiting", "waiting", "new", "waiting"]);
    for (const device of ["x", "y"]) assert.deepEqual(await pendingCounts(store, device), [MAX_PENDING, TOO_MANY]);
    assert.deepEqual(await pendingCounts(store, "few"), [1, 0]);
    assert.equal((await readingsOf(store, "one")).totalItems, ascending.length);
  });

  test("every instant, fill and payload waits as it came", async (t) => {
    const { store, reopen } = await engine.open(t);
    const [first, last] = [Date.parse("0000-01-01T00:00:00.000Z"), Date.parse("9999-12-31T23:59:59.999Z")];
    const device = "'; DROP TABLE device; -- \u00e9 😀";
    const pairs: [number, number][] = [
      [first, 0],
      [-1, 5e-324],
      [0, 0.1 + 0.2],
      [1, 100],
      [last, 1 / 3],
    ];
    await ingestFills(store, device, pairs);
    const odd = { "a\u0000b": 'quote " and \\ and \u2028', fill_percentage: 1e-7, deep: [{ x: null }], long: "é".repeat(9000) };
    await ingest(store, { device, at: 7, payload: odd });
    await store.close();
    const again = await reopen();
    assert.deepEqual(await pendingCounts(again, device), [6, 0]);
    await assigned(again, device);
    assert.deepEqual(
      await fillsOf(again, "one"),
      [...pairs, [7, 1e-7] as [number, number]].toSorted(([a], [b]) => a - b),
    );
  });

  test("what waits is taken in a second time when a device gets a tank, loses it and gets another", async (t) => {
    const { store } = await engine.open(t);
    await putCustomers(store, customer("a"));
    await putTanks(store, tank("one", "a"), tank("two", "a"));
    await ingestFills(store, "d", [[10, 1]]);
    await executed(store, command.putDevice("d", { tank_id: "one" }), at(100));
    await executed(store, command.changeTank("one", { assigned_device_id: "device of one" }), at(200));
    assert.deepEqual(await ingestFills(store, "d", [[200, 2]]), ["waiting"]);
    assert.deepEqual(await ingestFills(store, "d", [[199, 3]]), ["new"]);
    await executed(store, command.putDevice("d", { tank_id: "two" }), at(NEW_YEAR));
    assert.deepEqual(
      [await fillsOf(store, "one"), await fillsOf(store, "two")],
      [
        [
          [10, 1],
          [199, 3],
        ],
        [[200, 2]],
      ],
    );
  });
}
