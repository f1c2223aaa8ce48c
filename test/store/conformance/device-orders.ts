import assert from "node:assert/strict";
import test from "node:test";
import { deviceResource } from "../../../src/domain/resource.ts";
import type { Store } from "../../../src/domain/store.ts";
import { at, command, errorOf, executed } from "../../support/commands.ts";
import { ingest } from "../../support/readings.ts";
import type { Engine } from "../engines.ts";
import { checked, customer, DAY, NEW_YEAR, putCustomers, putTanks, tank, WHOLE_LOG } from "./objects.ts";

const EUI = "A84041C2F1827D3E";
const KEY = EUI.toLowerCase();
const LATER = NEW_YEAR + DAY;
const SHAPE = { kind: "upright", height: 2, unit: "m" } as const;

async function auditTotal(store: Store): Promise<number> {
  return (await store.auditPage(WHOLE_LOG)).totalItems;
}

async function withTanks(store: Store): Promise<void> {
  await putCustomers(store, customer("a"));
  await putTanks(store, tank("one", "a", { assigned_device_id: EUI }), tank("two", "a", { assigned_device_id: "d2" }));
}

const deviceOfTank = async (store: Store, id: string) => (await store.managedTank(id))?.tank.assigned_device_id;

export function deviceOrderConformance(engine: Engine): void {
  test("a device is assigned to a tank, and shown as it is when it is read", async (t) => {
    const { store } = await engine.open(t);
    await withTanks(store);
    await ingest(store, { device: "new", at: 1, payload: { distance: 5 } });
    const shown = await executed(store, command.putDevice("new", { tank_id: "two", profile: "elsys" }), at(LATER));
    const managed = await store.managedDevice("new");
    assert.deepEqual(managed && deviceResource(managed).etag, shown.etag);
    assert.deepEqual([shown.object["tank_id"], shown.object["profile"], managed?.device.tank_id], ["two", "elsys", "two"]);
    assert.deepEqual((await store.managedTank("two"))?.tank, tank("two", "a", { assigned_device_id: "new", updated_at: LATER }));
    assert.equal((await store.managedDevice("d2"))?.device.tank_id, null);
    assert.deepEqual((await checked(store)).findings, []);
  });

  test("assigned again to the tank that has it, nothing changes, in whatever case it is written", async (t) => {
    const { store } = await engine.open(t);
    await withTanks(store);
    const entries = await auditTotal(store);
    for (const id of [EUI, KEY]) await executed(store, command.putDevice(id, { tank_id: "one" }), at(LATER));
    assert.equal(await deviceOfTank(store, "one"), EUI);
    assert.equal(await auditTotal(store), entries);
  });

  test("a device in use is refused, or swapped where that is asked", async (t) => {
    const { store } = await engine.open(t);
    await withTanks(store);
    const { error: refused, detail } = await errorOf(store, command.putDevice(KEY, { tank_id: "two" }), at(LATER));
    assert.equal(refused, "device_in_use");
    assert.match(detail, /\bone\b/);
    await executed(store, command.putDevice(KEY, { tank_id: "two" }, { swap: true }), at(LATER));
    assert.deepEqual([await deviceOfTank(store, "one"), await deviceOfTank(store, "two")], ["d2", KEY]);
    assert.deepEqual((await checked(store)).findings, []);
  });

  test("profile and shape are kept, each where it belongs, and come back as they were given", async (t) => {
    const { store, reopen } = await engine.open(t);
    await withTanks(store);
    const profile = {
      value: "a.0.b",
      measures: "distance",
      unit: "mm",
      invalid: [0, 65535],
      checks: [{ path: "q", minimum: 1 }],
      unless: ["alarm"],
    };
    await executed(store, command.putDevice(EUI, { profile, shape: SHAPE }), at(LATER));
    const other = await reopen();
    assert.deepEqual((await other.managedDevice(KEY))?.device, {
      id: KEY,
      tank_id: "one",
      since: Number.MIN_SAFE_INTEGER,
      profile,
    });
    assert.deepEqual((await other.managedTank("one"))?.shape, SHAPE);
    await executed(store, command.putDevice(KEY, {}), at(LATER));
    assert.deepEqual((await other.managedDevice(KEY))?.device.profile, profile, "what is not named stays");
    await executed(store, command.putDevice(KEY, { profile: null, shape: null }), at(LATER));
    assert.equal((await other.managedDevice(KEY))?.device.profile, null);
    assert.equal((await other.managedTank("one"))?.shape, null);
    assert.deepEqual((await other.managedTank("one"))?.tank.updated_at, NEW_YEAR);
  });

  test("what is refused has changed nothing, and all that is wrong is told at once", async (t) => {
    const { store } = await engine.open(t);
    await withTanks(store);
    await store.importTanks([{ tank: tank("gone", "a", { assigned_device_id: "d3" }), deleted: true }]);
    const entries = await auditTotal(store);
    const wrong = { tank_id: "nothing", profile: "no such", shape: { kind: "egg" }, colour: "red" };
    const refusals = [
      [command.putDevice("new", wrong), "body_invalid"],
      [command.putDevice("new", { tank_id: "gone" }), "body_invalid"],
      [command.putDevice("new", { tank_id: "a\u0000b" }), "body_invalid"],
      [command.putDevice("new", { shape: SHAPE }), "body_invalid"],
      [command.putDevice("a\u0000b", {}), "device_unknown"],
      [command.putDevice(EUI, { profile: "elsys" }, { ifMatch: '"old"' }), "precondition_failed"],
      [command.removeDevice("a\u0000b"), "device_unknown"],
      [command.removeDevice("nobody"), "device_unknown"],
      [command.removeDevice(EUI), "device_in_use"],
      [command.removeDevice("d2", '"old"'), "precondition_failed"],
    ] as const;
    for (const [given, code] of refusals) {
      assert.equal((await errorOf(store, given, at(LATER))).error, code, JSON.stringify(given));
    }
    const { errors } = await errorOf(store, command.putDevice("new", wrong), at(LATER));
    assert.deepEqual(errors?.map(({ field }) => field).toSorted(), ["colour", "profile", "shape.kind", "tank_id"]);
    assert.equal(await store.managedDevice("new"), undefined);
    assert.equal(await auditTotal(store), entries);
  });

  test("the tag of a device is that of what can be changed: it does not follow what waits", async (t) => {
    const { store } = await engine.open(t);
    await withTanks(store);
    const { etag: tag } = await executed(store, command.putDevice("new", {}), at(NEW_YEAR));
    await ingest(store, { device: "new", at: 1, fill: 5 });
    const next = await executed(store, command.putDevice("new", { profile: "elsys" }, { ifMatch: tag }), at(LATER));
    assert.deepEqual([next.object["waiting"], next.etag === tag], [1, false]);
    assert.equal((await errorOf(store, command.removeDevice("new", tag), at(LATER))).error, "precondition_failed");
    await executed(store, command.removeDevice("new", next.etag), at(LATER));
    assert.equal(await store.managedDevice("new"), undefined);
  });
}
