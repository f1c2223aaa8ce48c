import assert from "node:assert/strict";
import test from "node:test";
import { withReleasedField } from "../../../src/domain/commands/command.ts";
import { UNRESTRICTED } from "../../../src/domain/key.ts";
import { tankResource } from "../../../src/domain/resource.ts";
import type { Store } from "../../../src/domain/store.ts";
import { NO_LOCATION } from "../../../src/domain/tank.ts";
import { at, command, errorOf, executed, tankFields } from "../../support/commands.ts";
import { putReadings } from "../../support/records.ts";
import type { Engine } from "../engines.ts";
import {
  checked,
  customer,
  DAY,
  fillsOf,
  NEW_YEAR,
  putCustomers,
  putTanks,
  scopeOf,
  tank,
  tankCounts,
  tanksOf,
  WHOLE_LOG,
} from "./objects.ts";

const LATER = NEW_YEAR + DAY;
const SHAPE = {
  kind: "strapping_table",
  unit: "cm",
  points: [
    [0, 0],
    [10, 120.5],
    [200, 2700],
  ],
  sensor_height: 210,
} as const;

async function auditTotal(store: Store): Promise<number> {
  return (await store.auditPage(WHOLE_LOG)).totalItems;
}

async function withTanks(store: Store): Promise<void> {
  await putCustomers(store, customer("a"), customer("b"));
  await putTanks(store, tank("one", "a", { assigned_device_id: "d1" }), tank("two", "b", { assigned_device_id: "d2" }));
}

export function tankOrderConformance(engine: Engine): void {
  test("a tank that is made is in every list, as it was shown, and takes readings", async (t) => {
    const { store } = await engine.open(t);
    await putCustomers(store, customer("a"));
    const more = { location: { city: "Ulm", latitude: 48.4 }, custom_id: "H3", use_case: "residential", shape: SHAPE };
    const shown = await executed(store, command.createTank("tank_new", tankFields("a", "d1", more)), at(NEW_YEAR));
    const managed = await store.managedTank("tank_new");
    assert.deepEqual(managed && withReleasedField(tankResource(managed)), shown, "and has the same tag when it is read");
    const made = tank("tank_new", "a", {
      assigned_device_id: "d1",
      custom_id: "H3",
      location: { ...NO_LOCATION, city: "Ulm", latitude: 48.4 },
      name: "A tank",
      use_case: "residential",
    });
    assert.deepEqual(managed, { tank: made, deleted: false, shape: SHAPE });
    assert.deepEqual((await tanksOf(store, { from: NEW_YEAR, to: NEW_YEAR }, scopeOf("a"))).data, [made]);
    assert.deepEqual(await tankCounts(store, "a"), [1]);
    assert.deepEqual([...(await putReadings(store, "tank_new", [[1, 50]]))], [0]);
    assert.equal(await store.managedTank("nobody"), undefined);
    assert.deepEqual((await checked(store)).findings, []);
  });

  test("a change of owner moves the tank between lists and counts", async (t) => {
    const { store } = await engine.open(t);
    await withTanks(store);
    await executed(store, command.changeTank("one", { owner_id: "b", name: "New" }), at(LATER));
    const changed = tank("one", "b", { assigned_device_id: "d1", name: "New", updated_at: LATER });
    assert.deepEqual(await store.tankById("one", UNRESTRICTED), changed);
    assert.deepEqual(await tankCounts(store, "a", "b"), [0, 2]);
    assert.equal((await tanksOf(store, {}, scopeOf("a"))).totalItems, 0);
    assert.deepEqual((await checked(store)).findings, []);
  });

  test("a change that changes nothing leaves updated_at and the audit log alone; a shape is none of the interface's fields", async (t) => {
    const { store } = await engine.open(t);
    await withTanks(store);
    const before = await store.managedTank("one");
    const entries = await auditTotal(store);
    for (const fields of [{}, { name: "Tank one" }, { location: {} }, { shape: null }, { assigned_device_id: "d1" }]) {
      await executed(store, command.changeTank("one", fields), at(LATER));
    }
    assert.deepEqual([await store.managedTank("one"), await auditTotal(store)], [before, entries]);
    await executed(store, command.changeTank("one", { shape: SHAPE }), at(LATER));
    assert.deepEqual(await store.managedTank("one"), { ...before, shape: SHAPE });
    assert.equal(await auditTotal(store), entries + 1);
    await executed(store, command.changeTank("one", { shape: SHAPE }), at(LATER));
    assert.equal(await auditTotal(store), entries + 1);
    assert.equal((await store.managedTank("two"))?.shape, null);
  });

  test("an import of a tank leaves its shape alone", async (t) => {
    const { store } = await engine.open(t);
    await withTanks(store);
    await executed(store, command.changeTank("one", { shape: SHAPE }), at(LATER));
    await putTanks(store, tank("one", "a", { assigned_device_id: "d1", name: "Imported" }));
    await store.importTanks([{ remove: "one" }]);
    await putTanks(store, tank("one", "a", { assigned_device_id: "d1" }));
    assert.deepEqual((await store.managedTank("one"))?.shape, SHAPE);
  });

  test("updated_at moves with every real change, though the clock stands still or goes back", async (t) => {
    const { store } = await engine.open(t);
    await withTanks(store);
    let last = NEW_YEAR;
    for (const [i, now] of [NEW_YEAR, NEW_YEAR - DAY, LATER, LATER].entries()) {
      await executed(store, command.changeTank("one", { capacity: i + 1 }), at(now));
      const updated_at = (await store.managedTank("one"))?.tank.updated_at ?? 0;
      assert.equal(updated_at, Math.max(now, last + 1));
      last = updated_at;
    }
  });

  test("what is refused has changed nothing, and all that is wrong is told at once", async (t) => {
    const { store } = await engine.open(t);
    await withTanks(store);
    await store.importTanks([{ tank: tank("gone", "a", { assigned_device_id: "d3" }), deleted: true }]);
    await store.importCustomers([{ customer: customer("left"), deleted: true }]);
    const before = [await store.managedTank("one"), await store.managedTank("two"), await auditTotal(store)];
    const wrong = { owner_id: "left", capacity: -1, location: { latitude: 91 }, shape: { kind: "egg" }, colour: "red" };
    const refusals = [
      [command.createTank("x", {}), "body_invalid"],
      [command.createTank("x", tankFields("nobody", "new")), "body_invalid"],
      [command.createTank("x", tankFields("a", "d1")), "device_in_use"],
      [command.createTank("x", tankFields("a", "new", { id: "gone" })), "id_taken"],
      [command.changeTank("nobody", {}), "tank_unknown"],
      [command.changeTank("gone", {}), "state_conflict"],
      [command.changeTank("one", wrong), "body_invalid"],
      [command.changeTank("one", null), "body_invalid"],
      [command.changeTank("one", { assigned_device_id: "d2" }), "device_in_use"],
      [command.changeTank("one", { name: "New" }, { ifMatch: '"old"' }), "precondition_failed"],
      [command.deleteTank("nobody"), "tank_unknown"],
      [command.deleteTank("one", '"old"'), "precondition_failed"],
      [command.restoreTank("nobody"), "tank_unknown"],
      [command.restoreTank("gone", { assigned_device_id: "d1" }), "device_in_use"],
      [command.restoreTank("gone", { name: "New" }), "body_invalid"],
      [command.restoreTank("gone", {}, '"old"'), "precondition_failed"],
    ] as const;
    for (const [given, code] of refusals) {
      assert.equal((await errorOf(store, given, at(LATER))).error, code, JSON.stringify(given));
    }
    const { errors } = await errorOf(store, command.changeTank("one", wrong), at(LATER));
    assert.deepEqual(errors?.map(({ field }) => field).toSorted(), [
      "capacity",
      "colour",
      "location.latitude",
      "owner_id",
      "shape.kind",
    ]);
    assert.deepEqual([await store.managedTank("one"), await store.managedTank("two"), await auditTotal(store)], before);
    assert.deepEqual(await tankCounts(store, "a", "b"), [1, 1]);
  });

  test("a swap exchanges the devices of two tanks, in one step", async (t) => {
    const { store } = await engine.open(t);
    await withTanks(store);
    await executed(store, command.changeTank("one", { assigned_device_id: "d2" }, { swap: true }), at(LATER));
    const devices = async () => [(await store.managedTank("one"))?.tank, (await store.managedTank("two"))?.tank];
    assert.deepEqual(await devices(), [
      tank("one", "a", { assigned_device_id: "d2", updated_at: LATER }),
      tank("two", "b", { assigned_device_id: "d1", updated_at: LATER }),
    ]);
    assert.deepEqual(
      [(await store.managedDevice("d1"))?.device.tank_id, (await store.managedDevice("d2"))?.device.tank_id],
      ["two", "one"],
    );
    await executed(store, command.changeTank("one", { assigned_device_id: "free" }, { swap: true }), at(LATER + 1));
    assert.equal((await store.managedDevice("d2"))?.device.tank_id, null, "nothing to swap with: the old one is free");
    assert.deepEqual((await checked(store)).findings, []);
  });

  test("deleted, a tank is known and in no list; restored, it is as it was, with its readings", async (t) => {
    const { store } = await engine.open(t);
    await withTanks(store);
    await putReadings(store, "one", [[1, 50]]);
    const before = await store.managedTank("one");
    const { object } = await executed(store, command.deleteTank("one"), at(LATER));
    assert.equal(object["deleted"], true);
    assert.equal(await store.tankById("one", UNRESTRICTED), "deleted");
    assert.deepEqual(await store.managedTank("one"), { ...before, deleted: true });
    assert.deepEqual([await tankCounts(store, "a"), (await tanksOf(store)).totalItems], [[0], 1]);
    assert.equal((await store.managedDevice("d1"))?.device.tank_id, null);
    const entries = await auditTotal(store);
    await executed(store, command.deleteTank("one"), at(LATER));
    assert.equal(await auditTotal(store), entries);
    await executed(store, command.restoreTank("one"), at(LATER + 1));
    assert.deepEqual(await store.managedTank("one"), before);
    assert.deepEqual([await tankCounts(store, "a"), await fillsOf(store, "one")], [[1], [[1, 50]]]);
    await executed(store, command.restoreTank("one"), at(LATER + 2));
    assert.equal(await auditTotal(store), entries + 1);
    assert.deepEqual((await checked(store)).findings, []);
  });

  test("two who give one device to two tanks at the same moment: one of them is refused", async (t) => {
    const { store, reopen } = await engine.open(t);
    const other = await reopen();
    await withTanks(store);
    const orders = [
      command.changeTank("one", { assigned_device_id: "new" }),
      command.changeTank("two", { assigned_device_id: "new" }),
    ];
    const carried = await Promise.all([store, other].map((mine, i) => mine.execute(orders[i] as (typeof orders)[0], at(LATER))));
    const words = carried.map((one) => ("error" in one ? one.error : "done"));
    assert.deepEqual(words.toSorted(), ["device_in_use", "done"]);
    assert.deepEqual((await checked(store)).findings, []);
  });

  test("texts that no engine can hold are refused, not tried", async (t) => {
    const { store } = await engine.open(t);
    await withTanks(store);
    for (const text of ["a\u0000b", "\ud800", "x".repeat(600)]) {
      const fields = { owner_id: text, assigned_device_id: text, location: { city: text } };
      const { error: refused, errors } = await errorOf(store, command.changeTank("one", fields), at(LATER));
      assert.equal(refused, "body_invalid");
      assert.deepEqual([...new Set(errors?.map(({ field }) => field))].toSorted(), [
        "assigned_device_id",
        "location.city",
        "owner_id",
      ]);
    }
  });
}
