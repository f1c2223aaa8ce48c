// Readings by tank and by device: to which tank they go, at once or after a command.

import assert from "node:assert/strict";
import test from "node:test";
import { formatInstant } from "../../../src/domain/instant.ts";
import type { Store } from "../../../src/domain/store.ts";
import { at, command, executed, tankFields } from "../../support/commands.ts";
import { ingest, ingestFills, type SentReading } from "../../support/readings.ts";
import type { Engine } from "../engines.ts";
import { checked, customer, fillsOf, fleetOf, NEW_YEAR, pendingCounts, putCustomers, putTanks, tank } from "./objects.ts";

const EUI = "A84041C2F1827D3E";
const KEY = EUI.toLowerCase();
const SHAPE = { kind: "upright", height: 2, unit: "m", sensor_height: 2 };

/** Tanks "one", "two" and "three" with devices d1, d2 and d3. */
async function withTanks(store: Store): Promise<void> {
  await putCustomers(store, customer("a"));
  await putTanks(store, ...["one", "two", "three"].map((id, i) => tank(id, "a", { assigned_device_id: `d${i + 1}` })));
}

const instantsOf = async (store: Store, ...ids: string[]) =>
  Promise.all(ids.map(async (id) => (await fillsOf(store, id)).map(([instant]) => instant)));
const assign = (store: Store, id: string, device: string, now: number, swap = false) =>
  executed(store, command.changeTank(id, { assigned_device_id: device }, { swap }), at(now));
const send = (store: Store, device: string, ...instants: number[]) =>
  ingestFills(
    store,
    device,
    instants.map((instant) => [instant, 50]),
  );
const distance = (instant: number, value: unknown, device = "d1"): SentReading => ({
  device,
  at: instant,
  payload: { distance: value },
});

/** Each way to assign a device to the tank `id`. */
const ASSIGNMENTS: Readonly<Record<string, (store: Store, id: string, device: string) => Promise<unknown>>> = {
  "an import": (store, id, device) => putTanks(store, tank(id, "a", { assigned_device_id: device })),
  "a new tank": (store, id, device) => executed(store, command.createTank(id, tankFields("a", device)), at(NEW_YEAR)),
  "a change of a tank": async (store, id, device) => {
    await putTanks(store, tank(id, "a"));
    return executed(store, command.changeTank(id, { assigned_device_id: device }), at(NEW_YEAR));
  },
  "an assignment": async (store, id, device) => {
    await putTanks(store, tank(id, "a"));
    return executed(store, command.putDevice(device, { tank_id: id }), at(NEW_YEAR));
  },
  "a restored tank": async (store, id, device) => {
    await store.importTanks([{ tank: tank(id, "a", { assigned_device_id: device }), deleted: true }]);
    return executed(store, command.restoreTank(id), at(NEW_YEAR));
  },
  "a tank restored with another device": async (store, id, device) => {
    await store.importTanks([{ tank: tank(id, "a"), deleted: true }]);
    return executed(store, command.restoreTank(id, { assigned_device_id: device }), at(NEW_YEAR));
  },
  "a restored customer": async (store, id, device) => {
    await putCustomers(store, customer("b"));
    await putTanks(store, tank(id, "b", { assigned_device_id: `not ${device}` }));
    await executed(store, command.deleteCustomer("b", true), at(NEW_YEAR));
    await store.importTanks([{ tank: tank(id, "b", { assigned_device_id: device }), deleted: true }]);
    return executed(store, command.restoreCustomer("b"), at(NEW_YEAR + 1));
  },
};

export function readingConformance(engine: Engine): void {
  test("each reading is new, changed, unchanged, pending, or of an unknown tank", async (t) => {
    const { store } = await engine.open(t);
    await withTanks(store);
    const outcomes = await ingest(
      store,
      { device: "d1", at: 10, fill: 1 },
      { tank: "one", at: 10, fill: 1 },
      { device: "d1", at: 10, fill: 2 },
      { device: "d2", at: 10, fill: 3 },
      { device: "d1", at: 5, fill: 4 },
      { tank: "one", at: 10, fill: 2 },
      { device: "unknown", at: 10, fill: 5 },
      { tank: "unknown", at: 10, fill: 5 },
    );
    assert.deepEqual(outcomes, ["stored", "duplicate", "replaced", "stored", "stored", "duplicate", "pending", "tank_unknown"]);
    assert.deepEqual(await fillsOf(store, "one"), [
      [5, 4],
      [10, 2],
    ]);
    assert.deepEqual(await fillsOf(store, "two"), [[10, 3]]);
    assert.deepEqual(await ingestFills(store, "d1", []), []);
  });

  test("late readings of many tanks in one batch are stored, each with its outcome", async (t) => {
    const { store } = await engine.open(t);
    const ids = Array.from({ length: 130 }, (_, i) => `tank ${i}`);
    await putCustomers(store, customer("a"));
    await putTanks(store, ...ids.map((id) => tank(id, "a")));
    await ingest(store, ...ids.map((id, i) => ({ tank: id, at: 20, fill: i / 2 })));
    const late = ids.flatMap((id, i) => [
      { tank: id, at: 20, fill: i / 2 },
      { tank: id, at: 10, fill: i / 3 },
    ]);
    const outcomes = await ingest(store, ...late, { tank: "unknown", at: 10, fill: 1 });
    assert.deepEqual(outcomes, [...ids.flatMap(() => ["duplicate", "stored"]), "tank_unknown"]);
    for (const i of [0, 49, 50, 51, 99, 100, 129]) {
      assert.deepEqual(await fillsOf(store, `tank ${i}`), [
        [10, i / 3],
        [20, i / 2],
      ]);
    }
    assert.deepEqual((await checked(store)).findings, []);
  });

  test("an EUI-64 is one device in either case; any other id is as it is written", async (t) => {
    const { store } = await engine.open(t);
    await putCustomers(store, customer("a"));
    for (const written of [EUI, KEY, "a84041C2f1827D3E"]) {
      await putTanks(store, tank("one", "a", { assigned_device_id: written }));
      assert.deepEqual(await ingestFills(store, KEY, [[1, 50]]), written === EUI ? ["stored"] : ["duplicate"]);
    }
    await assign(store, "one", EUI, 100);
    assert.deepEqual(await send(store, KEY, 99, 100), ["stored", "stored"]);
    const taken = { rejected: "assigned_device_id: this device is already assigned to tank one" };
    assert.deepEqual(await putTanks(store, tank("two", "a", { assigned_device_id: KEY })), [taken]);
    await putTanks(store, tank("upper", "a", { assigned_device_id: "D1" }), tank("lower", "a", { assigned_device_id: "d1" }));
    await ingest(store, { device: "D1", at: 1, fill: 1 }, { device: "d1", at: 1, fill: 2 });
    assert.deepEqual([await fillsOf(store, "upper"), await fillsOf(store, "lower")], [[[1, 1]], [[1, 2]]]);
    assert.deepEqual((await checked(store)).findings, []);
  });

  test("pending readings of a device are stored with whatever assigns it to a tank, also by another store", async (t) => {
    const { store, reopen } = await engine.open(t);
    const other = await reopen();
    await putCustomers(store, customer("a"));
    for (const [i, [name, assignTo]] of Object.entries(ASSIGNMENTS).entries()) {
      const [written, device] = [`A84041C2F1827D0${i}`, `a84041c2f1827d0${i}`];
      assert.deepEqual(
        await ingestFills(store, device, [
          [30, 3],
          [10, 1],
        ]),
        ["pending", "pending"],
      );
      await ingest(store, { device, at: 40, payload: { fill_percentage: 4 } }, { device: "other", at: 1, fill: 1 });
      await assignTo(other, name, written);
      assert.deepEqual(
        await fillsOf(store, name),
        [
          [10, 1],
          [30, 3],
          [40, 4],
        ],
        name,
      );
      assert.deepEqual(
        [await pendingCounts(store, device), await pendingCounts(store, "other")],
        [
          [0, 0],
          [1, 0],
        ],
        name,
      );
      assert.deepEqual(await ingestFills(store, device, [[50, i]]), ["stored"]);
    }
    const { data } = await fleetOf(store, { state: "low" });
    assert.deepEqual(
      data.map((entry) => [entry.tank.id, entry.latest]),
      Object.keys(ASSIGNMENTS).map((name, i) => [name, { created_at: 50, fill_percentage: i }]),
    );
    assert.deepEqual((await checked(store)).findings, []);
  });

  test("a command returns which pending readings it released, and again when it is replayed", async (t) => {
    const { store } = await engine.open(t);
    await putCustomers(store, customer("a"));
    await ingestFills(store, "d", [
      [5, 1],
      [9, 2],
      [7, 3],
    ]);
    for (let i = 0; i < 2; i++) {
      const { object } = await executed(store, command.createTank("new", tankFields("a", "d")), at(NEW_YEAR), {
        key: "k",
        fingerprint: "x",
      });
      assert.deepEqual(object["released"], { readings: 3, rejected: 0, from: formatInstant(5), to: formatInstant(9) });
    }
  });

  test("late readings of a device go to the tank it was assigned to at their instant", async (t) => {
    const { store } = await engine.open(t);
    await withTanks(store);
    await send(store, "d1", 10, 350);
    await assign(store, "two", "d1", 100, true);
    await assign(store, "three", "d1", 200, true);
    await assign(store, "one", "free", 300);
    await assign(store, "one", "d1", 300, true);
    await send(store, "d1", 351, 250, 150, 50, 300, 200, 100, 299, 199, 99);
    await send(store, "d2", 99, 100);
    assert.deepEqual(await instantsOf(store, "one", "two", "three"), [
      [10, 50, 99, 100, 300, 350, 351],
      [99, 100, 150, 199],
      [200, 250, 299],
    ]);
    assert.deepEqual((await checked(store)).findings, []);
  });

  test("what a device measured while it was assigned to no tank belongs to the tank it is assigned to next", async (t) => {
    const { store } = await engine.open(t);
    await withTanks(store);
    await assign(store, "one", "free", 100);
    assert.deepEqual(await send(store, "d1", 150, 99), ["pending", "stored"]);
    await assign(store, "three", "d1", 200);
    await send(store, "d1", 100, 199, 200);
    assert.deepEqual(await instantsOf(store, "one", "three"), [[99], [100, 150, 199, 200]]);
  });

  test("a deleted tank releases its device; restored, it has all that was measured before and meanwhile", async (t) => {
    const { store } = await engine.open(t);
    await withTanks(store);
    await executed(store, command.deleteTank("one"), at(100));
    await executed(store, command.deleteCustomer("a", true), at(100));
    for (const device of ["d1", "d2", "d3"])
      assert.deepEqual(await send(store, device, 99, 100, 150), ["stored", "pending", "pending"]);
    await executed(store, command.restoreCustomer("a"), at(200));
    await executed(store, command.restoreTank("one"), at(200));
    assert.deepEqual(await send(store, "d1", 30, 160, 210), ["stored", "stored", "stored"]);
    const both = [99, 100, 150];
    assert.deepEqual(await instantsOf(store, "one", "two", "three"), [[30, ...both, 160, 210], both, both]);
    assert.deepEqual((await checked(store)).findings, []);
  });

  test("an import moves devices, from the instant of its context", async (t) => {
    const { store } = await engine.open(t);
    await withTanks(store);
    const two = { tank: tank("two", "a", { assigned_device_id: "d1" }), deleted: false };
    const records = [{ tank: tank("one", "a", { assigned_device_id: "free" }), deleted: false }, two];
    assert.deepEqual(await store.importTanks(records, at(100)), ["changed", "changed"]);
    await send(store, "d1", 99, 100);
    await store.importTanks([{ remove: "two" }], at(200));
    assert.deepEqual(await send(store, "d1", 199, 200), ["stored", "pending"]);
    assert.deepEqual(await store.importTanks([two], at(300)), ["changed"]);
    assert.deepEqual(await instantsOf(store, "one", "two"), [[99], [100, 199, 200]]);
    assert.deepEqual((await checked(store)).findings, []);
  });

  test("a payload is pending until profile and shape can interpret it; what is invalid then is rejected", async (t) => {
    const { store } = await engine.open(t);
    await withTanks(store);
    const direct: SentReading = { device: "d1", at: 1, payload: { fill_percentage: 12.5, battery: 3.6 } };
    assert.deepEqual(await ingest(store, direct, distance(2, 500), distance(3, "none"), distance(4, 9999)), [
      "stored",
      "pending",
      "pending",
      "pending",
    ]);
    await executed(store, command.putDevice("d1", { profile: "elsys" }), at(NEW_YEAR));
    const { sensor_height: _, ...incomplete } = SHAPE;
    await executed(store, command.changeTank("one", { shape: incomplete }), at(NEW_YEAR));
    assert.deepEqual(await pendingCounts(store, "d1"), [3, 0]);
    await executed(store, command.changeTank("one", { shape: SHAPE }), at(NEW_YEAR));
    assert.deepEqual(await pendingCounts(store, "d1"), [0, 2]);
    const [stored, rejected] = await ingest(store, distance(5, 1000), distance(6, "500"));
    assert.equal(stored, "stored");
    assert.match(JSON.stringify(rejected), /distance: must be a number, not the string/);
    assert.deepEqual(await fillsOf(store, "one"), [
      [1, 12.5],
      [2, 75],
      [5, 50],
    ]);
    assert.deepEqual((await checked(store)).findings, []);
  });

  test("a late payload is interpreted by the shape of the tank it was measured in", async (t) => {
    const { store } = await engine.open(t);
    await withTanks(store);
    await executed(store, command.putDevice("d1", { profile: "elsys" }), at(NEW_YEAR));
    await executed(store, command.changeTank("two", { shape: SHAPE }), at(NEW_YEAR));
    await executed(store, command.putDevice("d1", { tank_id: "two" }, { swap: true }), at(1000));
    assert.deepEqual(await ingest(store, distance(999, 500), distance(1000, 500)), ["pending", "stored"]);
    await executed(store, command.changeTank("one", { shape: { ...SHAPE, height: 1, sensor_height: 1 } }), at(NEW_YEAR));
    assert.deepEqual([await fillsOf(store, "one"), await fillsOf(store, "two")], [[[999, 50]], [[1000, 75]]]);
    assert.deepEqual(await pendingCounts(store, "d1"), [0, 0]);
  });

  test("a sender bound to a customer reaches that customer's tanks only, and leaves no trace elsewhere", async (t) => {
    const { store } = await engine.open(t);
    await putCustomers(store, customer("a"), customer("b"));
    await putTanks(store, tank("one", "a", { assigned_device_id: "d1" }), tank("two", "b", { assigned_device_id: "d2" }));
    const bound = (sent: SentReading): SentReading => ({ ...sent, customerId: "a" });
    const reading = { at: 10, fill: 5 };
    const unknown = { rejected: "device_id: there is no device with this id" };
    const outcomes = await ingest(
      store,
      ...[{ tank: "one" }, { device: "d1" }, { tank: "two" }, { tank: "no" }, { device: "d2" }, { device: "no" }].map(
        (source) => {
          return bound({ ...source, ...reading });
        },
      ),
      { device: "d2", ...reading },
      bound(distance(11, 500)),
      bound(distance(101, 500)),
      distance(102, 500),
    );
    const pending = ["pending", "pending", "pending"];
    assert.deepEqual(outcomes, ["stored", "duplicate", "tank_unknown", "tank_unknown", unknown, unknown, "stored", ...pending]);
    assert.equal(await pendingCounts(store, "no"), undefined);
    // Pending readings of a bound sender do not go to a tank of another customer.
    await executed(store, command.changeTank("two", { assigned_device_id: "d1" }, { swap: true }), at(100));
    const own = { profile: { value: "distance", measures: "distance", unit: "mm" }, shape: SHAPE };
    await executed(store, command.changeTank("one", { shape: SHAPE }), at(100));
    await executed(store, command.putDevice("d1", own), at(100));
    assert.deepEqual(
      [await fillsOf(store, "one"), await fillsOf(store, "two")],
      [
        [
          [10, 5],
          [11, 75],
        ],
        [
          [10, 5],
          [102, 75],
        ],
      ],
    );
    assert.deepEqual(await pendingCounts(store, "d1"), [0, 1]);
  });
}
