import assert from "node:assert/strict";
import test from "node:test";
import type { Store } from "../../../src/domain/store.ts";
import { at, command, executed } from "../../support/commands.ts";
import { ingest, type OutcomeName, type SentReading } from "../../support/readings.ts";
import type { Engine } from "../engines.ts";
import { checked, customer, fillsOf, NEW_YEAR, pendingCounts, putCustomers, putTanks, tank } from "./objects.ts";

const SHAPE = { kind: "upright", height: 2, unit: "m", sensor_height: 2 };
const distance = (instant: number, value: unknown, device = "d"): SentReading => ({
  device,
  at: instant,
  payload: { distance: value },
});

async function withTank(store: Store): Promise<void> {
  await putCustomers(store, customer("a"));
  await putTanks(store, tank("one", "a", { assigned_device_id: "d" }), tank("two", "a", { assigned_device_id: "e" }));
}

const put = (store: Store, id: string, fields: object, now = NEW_YEAR) => executed(store, command.putDevice(id, fields), at(now));
const rejected = (told: OutcomeName[]): string[] =>
  told.map((one) => (typeof one === "string" ? one : `rejected: ${one.rejected}`));

export function payloadConformance(engine: Engine): void {
  test("without a profile a number named fill_percentage is taken, and anything else waits until there is one", async (t) => {
    const { store } = await engine.open(t);
    await withTank(store);
    const taken: SentReading = { device: "d", at: 1, payload: { fill_percentage: 12.5, battery: 3.6 } };
    assert.deepEqual(await ingest(store, taken, distance(2, 500), taken), ["new", "waiting", "unchanged"]);
    assert.deepEqual([await fillsOf(store, "one"), await pendingCounts(store, "d")], [[[1, 12.5]], [1, 0]]);
    await put(store, "d", { profile: "elsys", shape: SHAPE });
    assert.deepEqual(await fillsOf(store, "one"), [
      [1, 12.5],
      [2, 75],
    ]);
    assert.deepEqual(await pendingCounts(store, "d"), [0, 0]);
    assert.deepEqual(await ingest(store, distance(3, 1000)), ["new"]);
    assert.deepEqual((await fillsOf(store, "one"))[2], [3, 50]);
    assert.deepEqual((await checked(store)).findings, []);
  });

  test("a payload that cannot be a reading is rejected with the reason, and neither waits nor is stored", async (t) => {
    const { store } = await engine.open(t);
    await withTank(store);
    await put(store, "d", { profile: "elsys", shape: SHAPE });
    const told = await ingest(
      store,
      distance(1, 500),
      distance(2, "500"),
      distance(3, 2001),
      { device: "d", at: 4, payload: {} },
      { device: "e", at: 5, payload: { fill_percentage: 100.5 } },
      distance(6, 1000),
    );
    assert.deepEqual(
      rejected(told).map((word) => word.split(/:|,/, 2).join(":")),
      ["new", "rejected: distance", "rejected: distance", "rejected: distance", "rejected: fill_percentage", "new"],
    );
    assert.match(rejected(told)[1] ?? "", /must be a number, not the string "500"/);
    assert.deepEqual(await fillsOf(store, "one"), [
      [1, 75],
      [6, 50],
    ]);
    assert.deepEqual(
      [await pendingCounts(store, "d"), await pendingCounts(store, "e")],
      [
        [0, 0],
        [0, 0],
      ],
    );
  });

  test("a profile that measures a distance waits for the shape, and for where the sensor sits", async (t) => {
    const { store } = await engine.open(t);
    await withTank(store);
    await ingest(store, distance(1, 500));
    await put(store, "d", { profile: "elsys" });
    assert.deepEqual(await pendingCounts(store, "d"), [1, 0]);
    assert.deepEqual(await ingest(store, distance(2, 1000)), ["waiting"]);
    const { sensor_height: _, ...unfinished } = SHAPE;
    await executed(store, command.changeTank("one", { shape: unfinished }), at(NEW_YEAR));
    assert.deepEqual(await pendingCounts(store, "d"), [2, 0]);
    await executed(store, command.changeTank("one", { shape: SHAPE }), at(NEW_YEAR));
    assert.deepEqual(await pendingCounts(store, "d"), [0, 0]);
    assert.deepEqual(await fillsOf(store, "one"), [
      [1, 75],
      [2, 50],
    ]);
  });

  test("what waited and turns out to be no reading waits no longer, and is counted as gone", async (t) => {
    const { store } = await engine.open(t);
    await withTank(store);
    await ingest(store, distance(1, 500), distance(2, "none"), distance(3, 9999), distance(4, 1000));
    assert.deepEqual(await pendingCounts(store, "d"), [4, 0]);
    await put(store, "d", { profile: "elsys", shape: SHAPE });
    assert.deepEqual(await pendingCounts(store, "d"), [0, 2]);
    assert.deepEqual(await fillsOf(store, "one"), [
      [1, 75],
      [4, 50],
    ]);
  });

  test("what waits for a tank is read by what is known when there is one", async (t) => {
    const { store } = await engine.open(t);
    await putCustomers(store, customer("a"));
    await ingest(store, distance(1, 500, "f"), distance(1, 500, "g"), { device: "g", at: 2, payload: { fill_percentage: 5 } });
    await put(store, "f", { profile: "elsys" });
    assert.deepEqual(await pendingCounts(store, "f"), [1, 0]);
    await putTanks(store, tank("three", "a", { assigned_device_id: "f" }), tank("four", "a", { assigned_device_id: "g" }));
    assert.deepEqual(
      [await pendingCounts(store, "f"), await pendingCounts(store, "g")],
      [
        [1, 0],
        [1, 0],
      ],
    );
    await executed(store, command.changeTank("three", { shape: SHAPE }), at(NEW_YEAR));
    assert.deepEqual([await fillsOf(store, "three"), await fillsOf(store, "four")], [[[1, 75]], [[2, 5]]]);
  });

  test("a profile of one's own needs no more than it says: a path, what it measures, and a unit", async (t) => {
    const { store } = await engine.open(t);
    await withTank(store);
    const own = { value: "data.0.h", measures: "level", unit: "cm" };
    await put(store, "d", { profile: own, shape: { kind: "horizontal_cylinder", diameter: 1, unit: "m" } });
    await put(store, "e", { profile: { value: "l", measures: "volume", unit: "liters" } });
    const told = await ingest(
      store,
      { device: "d", at: 1, payload: { data: [{ h: 50 }] } },
      { device: "e", at: 1, payload: { l: 675 } },
      { device: "e", at: 2, payload: { l: 2701 } },
    );
    assert.deepEqual(rejected(told).slice(0, 2), ["new", "new"]);
    assert.match(rejected(told)[2] ?? "", /^rejected: l: 2701 liters is outside/);
    assert.deepEqual([await fillsOf(store, "one"), await fillsOf(store, "two")], [[[1, 50]], [[1, 25]]]);
    assert.deepEqual((await checked(store)).findings, []);
  });

  test("a profile reads what comes from now on; what was stored stays, and without one payloads wait again", async (t) => {
    const { store } = await engine.open(t);
    await withTank(store);
    await put(store, "d", { profile: "elsys", shape: SHAPE });
    await ingest(store, distance(1, 500));
    await put(store, "d", { profile: { value: "distance", measures: "distance", unit: "cm" } });
    await ingest(store, distance(2, 50));
    assert.deepEqual(await fillsOf(store, "one"), [
      [1, 75],
      [2, 75],
    ]);
    await put(store, "d", { profile: null });
    assert.deepEqual(await ingest(store, distance(3, 50)), ["waiting"]);
    assert.equal((await store.managedDevice("d"))?.device.profile, null);
  });

  test("the shape goes with the tank, the profile with the device", async (t) => {
    const { store } = await engine.open(t);
    await withTank(store);
    await put(store, "d", { profile: "elsys", shape: SHAPE });
    await put(store, "e", {
      profile: { value: "distance", measures: "distance", unit: "cm" },
      shape: { ...SHAPE, height: 1, sensor_height: 1 },
    });
    await executed(store, command.changeTank("one", { assigned_device_id: "e" }, { swap: true }), at(1000));
    const told = await ingest(store, distance(999, 500), distance(1000, 500), distance(999, 50, "e"), distance(1000, 50, "e"));
    assert.deepEqual(told, ["new", "new", "new", "new"]);
    assert.deepEqual(
      [await fillsOf(store, "one"), await fillsOf(store, "two")],
      [
        [
          [999, 75],
          [1000, 75],
        ],
        [
          [999, 50],
          [1000, 50],
        ],
      ],
    );
    assert.deepEqual((await store.managedTank("one"))?.shape, SHAPE);
    assert.equal((await store.managedDevice("d"))?.device.profile, "elsys");
  });

  test("a backlog waits for the shape of the tank it was measured in, though the device is elsewhere by now", async (t) => {
    const { store } = await engine.open(t);
    await withTank(store);
    await put(store, "d", { profile: "elsys" });
    await executed(store, command.changeTank("two", { shape: SHAPE }), at(NEW_YEAR));
    await executed(store, command.putDevice("d", { tank_id: "two" }, { swap: true }), at(1000));
    assert.deepEqual(await ingest(store, distance(999, 500), distance(1000, 500)), ["waiting", "new"]);
    await executed(store, command.changeTank("one", { shape: { ...SHAPE, height: 1, sensor_height: 1 } }), at(NEW_YEAR));
    assert.deepEqual([await fillsOf(store, "one"), await fillsOf(store, "two")], [[[999, 50]], [[1000, 75]]]);
    assert.deepEqual(await pendingCounts(store, "d"), [0, 0]);
  });
}
