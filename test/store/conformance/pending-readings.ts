import assert from "node:assert/strict";
import test from "node:test";
import { MAX_DEVICES_WITH_PENDING } from "../../../src/domain/placement.ts";
import { MAX_PENDING_PER_DEVICE, type Store } from "../../../src/domain/store.ts";
import { seeded } from "../../../src/simulate/random.ts";
import { at, command, executed } from "../../support/commands.ts";
import { ingest, ingestFills, type OutcomeName } from "../../support/readings.ts";
import type { Engine } from "../engines.ts";
import { shuffled } from "../random/steps.ts";
import { checked, customer, fillsOf, NEW_YEAR, pendingCounts, putCustomers, putTanks, readingsOf, tank } from "./objects.ts";

type Pair = readonly [at: number, fill: number];
const TOO_MANY = 137;
const ascending = Array.from({ length: MAX_PENDING_PER_DEVICE + TOO_MANY }, (_, i): Pair => [i * 1000, i % 101]);
const ORDERS: Readonly<Record<string, readonly Pair[]>> = {
  "oldest first": ascending,
  "newest first": ascending.toReversed(),
  unordered: shuffled(seeded("pending"), ascending),
};
const BATCH_SIZES = [ascending.length, 61];

async function assign(store: Store, device: string): Promise<void> {
  await putCustomers(store, customer("a"));
  await putTanks(store, tank(`tank of ${device}`, "a", { assigned_device_id: device }));
}

export function pendingReadingConformance(engine: Engine): void {
  test("of too many pending readings of a device the newest are kept, and the others counted as dropped", async (t) => {
    const { store } = await engine.open(t);
    for (const [order, readings] of Object.entries(ORDERS)) {
      for (const size of BATCH_SIZES) {
        const device = `${order}, ${size} at once`;
        for (let i = 0; i < readings.length; i += size) await ingestFills(store, device, readings.slice(i, i + size));
        assert.deepEqual(await pendingCounts(store, device), [MAX_PENDING_PER_DEVICE, TOO_MANY], device);
        await assign(store, device);
        assert.deepEqual(await pendingCounts(store, device), [0, TOO_MANY], device);
        const { totalItems } = await readingsOf(store, `tank of ${device}`, { from: TOO_MANY * 1000 });
        assert.deepEqual(
          [totalItems, (await readingsOf(store, `tank of ${device}`)).totalItems],
          [MAX_PENDING_PER_DEVICE, MAX_PENDING_PER_DEVICE],
        );
      }
    }
    assert.deepEqual((await checked(store)).findings, []);
  });

  test("readings of unknown devices are rejected while too many devices have pending ones, and others are not", async (t) => {
    const { store, reopen } = await engine.open(t);
    await assign(store, "known");
    const unknown = (from: number, to: number) =>
      Array.from({ length: to - from }, (_, i) => ({ device: `unknown ${from + i}`, at: 1000, fill: 5 }));
    const counts = (outcomes: readonly OutcomeName[]) => [
      outcomes.filter((outcome) => outcome === "pending").length,
      outcomes.filter((outcome) => typeof outcome === "object").length,
    ];
    await ingest(store, ...unknown(0, MAX_DEVICES_WITH_PENDING - 3));
    // Six more of two processes at the same time, where three fit.
    const other = await reopen();
    const both = await Promise.all([ingest(store, ...unknown(30_000, 30_003)), ingest(other, ...unknown(40_000, 40_003))]);
    assert.deepEqual(counts(both.flat()), [3, 3]);
    const { totalItems } = await store.deviceSearch({ pending: true, page: 1, size: 1 });
    assert.equal(totalItems, MAX_DEVICES_WITH_PENDING);
    const [rejected] = await ingest(store, { device: "one more", at: 1000, fill: 5 });
    assert.deepEqual(rejected, {
      rejected: "device_id: this device is unknown, and 10,000 devices have pending readings already; assign it to a tank first",
    });
    const mixed = [
      { device: "known", at: 1000, fill: 5 },
      { device: "unknown 0", at: 2000, fill: 5 },
      ...unknown(20_000, 20_002),
    ];
    assert.deepEqual(counts(await ingest(store, ...mixed)), [1, 2]);
    assert.deepEqual(await fillsOf(store, "tank of known"), [[1000, 5]]);
    await executed(store, command.removeDevice("unknown 0"), at(NEW_YEAR));
    assert.deepEqual(counts(await ingest(store, ...unknown(20_000, 20_002))), [1, 1]);
    assert.deepEqual((await checked(store)).findings, []);
  });

  test("repeated readings are pending once; exactly as many as allowed are all kept", async (t) => {
    const { store } = await engine.open(t);
    for (let i = 0; i < 2; i++) await ingestFills(store, "d", ascending.slice(1, MAX_PENDING_PER_DEVICE + 1));
    assert.deepEqual(await pendingCounts(store, "d"), [MAX_PENDING_PER_DEVICE, 0]);
    assert.deepEqual(await ingestFills(store, "d", [[0, 1]]), ["pending"]);
    assert.deepEqual(await pendingCounts(store, "d"), [MAX_PENDING_PER_DEVICE, 1], "an older one is dropped itself");
    await ingestFills(store, "d", ascending.slice(MAX_PENDING_PER_DEVICE + 1, MAX_PENDING_PER_DEVICE + 2));
    assert.deepEqual(await pendingCounts(store, "d"), [MAX_PENDING_PER_DEVICE, 2]);
    await assign(store, "d");
    assert.equal((await readingsOf(store, "tank of d", { page: MAX_PENDING_PER_DEVICE, size: 1 })).data[0]?.created_at, 2000);
  });

  test("of several readings of one device and instant the last is kept, pending or stored, fill or payload", async (t) => {
    const { store } = await engine.open(t);
    const payload = (instant: number, percent: number) => ({ device: "d", at: instant, payload: { percent } });
    await ingestFills(store, "d", [
      [1, 1],
      [1, 2],
      [2, 1],
    ]);
    await ingestFills(store, "d", [
      [2, 5],
      [1, 2],
    ]);
    await ingest(store, payload(3, 1), { device: "d", at: 3, fill: 7 });
    assert.deepEqual(await pendingCounts(store, "d"), [3, 0]);
    await assign(store, "d");
    assert.deepEqual(await ingest(store, payload(5, 10), payload(6, 11)), ["pending", "pending"]);
    assert.deepEqual(await ingest(store, { device: "d", at: 5, fill: 20 }), ["stored"]);
    assert.deepEqual(await ingest(store, { device: "d", at: 7, fill: 20 }, payload(7, 12)), ["stored", "pending"]);
    assert.deepEqual(await pendingCounts(store, "d"), [2, 0]);
    await executed(store, command.putDevice("d", { profile: { value: "percent", measures: "percent" } }), at(NEW_YEAR));
    assert.deepEqual(await fillsOf(store, "tank of d"), [
      [1, 2],
      [2, 5],
      [3, 7],
      [5, 20],
      [6, 11],
      [7, 12],
    ]);
    assert.deepEqual(await pendingCounts(store, "d"), [0, 0]);
    assert.deepEqual((await checked(store)).findings, []);
  });

  test("a profile that interprets no pending reading removes none; one that interprets some drops the rest", async (t) => {
    const { store } = await engine.open(t);
    await assign(store, "d");
    await ingest(store, ...[1, 2, 3].map((i) => ({ device: "d", at: i, payload: { percent: i * 40 } })));
    await executed(store, command.putDevice("d", { profile: { value: "level", measures: "percent" } }), at(NEW_YEAR));
    assert.deepEqual(await pendingCounts(store, "d"), [3, 0]);
    await executed(store, command.putDevice("d", { profile: { value: "percent", measures: "percent" } }), at(NEW_YEAR));
    assert.deepEqual(await pendingCounts(store, "d"), [0, 1]);
    assert.deepEqual(await fillsOf(store, "tank of d"), [
      [1, 40],
      [2, 80],
    ]);
  });
}
