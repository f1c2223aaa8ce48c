import assert from "node:assert/strict";
import test from "node:test";
import type { TankWithShape } from "../../../src/domain/changes.ts";
import { type Device, EARLIEST } from "../../../src/domain/device.ts";
import { formatInstant } from "../../../src/domain/instant.ts";
import { deviceResource } from "../../../src/domain/resource.ts";
import type { Shape } from "../../../src/domain/shape.ts";
import { NEW_YEAR, tank } from "../../store/conformance/objects.ts";
import { order } from "../../support/orders.ts";
import type { StoredObjects } from "../lookups.ts";
import { assertNoChanges, errorOf, invalidFieldsOf, managed, NOW, planned } from "./planned.ts";

const EUI = "A84041C2F1827D3E";
const KEY = EUI.toLowerCase();
const SHAPE: Shape = { kind: "upright", height: 2, unit: "m", sensor_height: 2 };
const device = (id: string, tank_id: string | null, more: Partial<Device> = {}): Device => ({
  id,
  tank_id,
  since: EARLIEST,
  profile: null,
  ...more,
});
const shaped = (id: string, assigned_device_id: string, deleted = false): TankWithShape => ({
  tank: tank(id, "anna", { assigned_device_id }),
  deleted,
  shape: null,
});
const STORED: StoredObjects = {
  customers: [managed("anna")],
  tanks: [shaped("one", EUI), shaped("two", "second"), shaped("gone", "old", true)],
  devices: [device(KEY, "one", { since: NEW_YEAR }), device("second", "two"), device("free", null, { profile: "elsys" })],
  waiting: { free: 7 },
};
const SERVING = { id: KEY, object: "device", tank_id: "one", since: formatInstant(NEW_YEAR), profile: null };

/** Taken in, or replaced. */
const NOTHING = { taken_in: null, replaced_device_id: null };

test("a device is resource with the tank it serves, since when, how it is read, and what waits of it", async () => {
  const plan = await planned(STORED, order.putDevice(EUI, {}));
  assertNoChanges(plan);
  assert.deepEqual(plan.resource.object, { ...SERVING, waiting: 0, dropped: 0, ...NOTHING });
  const free = { id: "free", object: "device", tank_id: null, since: null, profile: "elsys", waiting: 7, dropped: 0, ...NOTHING };
  assert.deepEqual((await planned(STORED, order.putDevice("free", {}))).resource.object, free);
});

test("one that nobody has heard of is known from then on, with a profile or without", async () => {
  assert.deepEqual((await planned(STORED, order.putDevice("new", {}))).profiles, [{ id: "new", profile: null }]);
  const { profiles, audit } = await planned(STORED, order.putDevice("new", { profile: "elsys" }));
  assert.deepEqual(profiles, [{ id: "new", profile: "elsys" }]);
  assert.deepEqual(audit, [
    { object: "device", id: "new", action: "changed", changes: { profile: { from: null, to: "elsys" } } },
  ]);
});

test("a device is assigned by naming its tank, which changes with it", async () => {
  const { resource, tanks } = await planned(STORED, order.putDevice("free", { tank_id: "one" }));
  assert.deepEqual([resource.object["tank_id"], resource.object["replaced_device_id"]], ["one", EUI]);
  assert.deepEqual(
    tanks.map(({ id, after: { tank: now } }) => [id, now.assigned_device_id, now.updated_at]),
    [["one", "free", NOW]],
  );
});

test("a device that serves the tank already keeps the id as the tank has it", async () => {
  for (const id of [EUI, KEY]) assertNoChanges(await planned(STORED, order.putDevice(id, { tank_id: "one" })));
});

test("a device in use is refused, or swapped where that is asked", async () => {
  assert.equal((await errorOf(STORED, order.putDevice("second", { tank_id: "one" }))).error, "device_in_use");
  const { resource, tanks } = await planned(STORED, order.putDevice("second", { tank_id: "one" }, { swap: true }));
  assert.equal(resource.object["tank_id"], "one");
  assert.deepEqual(
    tanks.map(({ id, after: { tank: now } }) => [id, now.assigned_device_id]),
    [
      ["one", "second"],
      ["two", EUI],
    ],
  );
});

test("the profile is the device's, the shape its tank's; both are kept where they are not named", async () => {
  const { resource, profiles, shapes, tanks } = await planned(STORED, order.putDevice(KEY, { profile: "elsys", shape: SHAPE }));
  assert.equal(resource.object["profile"], "elsys");
  assert.deepEqual([profiles, [...shapes], tanks.length], [[{ id: KEY, profile: "elsys" }], [["one", SHAPE]], 0]);
  const moved = await planned(STORED, order.putDevice("free", { tank_id: "one", shape: SHAPE }));
  assert.deepEqual([moved.resource.object["profile"], moved.profiles, [...moved.shapes]], ["elsys", [], [["one", SHAPE]]]);
  assert.deepEqual((await planned(STORED, order.putDevice("free", { profile: null }))).profiles, [{ id: "free", profile: null }]);
});

test("all that is wrong with a device is told at once", async () => {
  const wrong = { tank_id: "nothing", profile: "elsis", shape: { kind: "egg" }, colour: "red" };
  assert.deepEqual(await invalidFieldsOf(STORED, order.putDevice("free", wrong)), ["colour", "profile", "shape.kind", "tank_id"]);
  assert.deepEqual(await invalidFieldsOf(STORED, order.putDevice("free", { tank_id: "gone" })), ["tank_id"]);
  assert.deepEqual(await invalidFieldsOf(STORED, order.putDevice("free", { tank_id: 5 })), ["tank_id"]);
  assert.deepEqual(await invalidFieldsOf(STORED, order.putDevice("free", { tank_id: null })), ["tank_id"]);
  assert.deepEqual(await invalidFieldsOf(STORED, order.putDevice("free", { shape: SHAPE })), ["shape"]);
  for (const fields of [null, [], "elsys"]) {
    assert.equal((await errorOf(STORED, order.putDevice("free", fields))).error, "body_invalid");
  }
});

test("what can be no id is no device", async () => {
  for (const id of ["", "a\u0000b", "x".repeat(129), "\ud800"]) {
    assert.equal((await errorOf(STORED, order.putDevice(id, {}))).error, "device_unknown");
    assert.equal((await errorOf(STORED, order.forgetDevice(id))).error, "device_unknown");
  }
});

test("a device is forgotten unless it serves a tank", async () => {
  const { resource, pendingRemoved, devicesRemoved, audit } = await planned(STORED, order.forgetDevice("free"));
  assert.deepEqual([pendingRemoved, devicesRemoved], [["free"], ["free"]]);
  assert.deepEqual(resource.object, { id: "free", object: "device", deleted: true, removed: 7, served: null });
  assert.deepEqual(audit, [
    {
      object: "device",
      id: "free",
      action: "deleted",
      changes: { profile: { from: "elsys", to: null }, waiting: { from: 7, to: null } },
    },
  ]);
  assert.equal((await errorOf(STORED, order.forgetDevice(EUI))).error, "device_in_use");
  assert.equal((await errorOf(STORED, order.forgetDevice("nobody"))).error, "device_unknown");
});

test("of a device that has served a tank, this is not forgotten", async () => {
  const assignments = [
    { device: "free", until: NEW_YEAR, tankId: "one" },
    { device: "free", until: NOW, tankId: "two" },
  ];
  const { resource, pendingRemoved, devicesRemoved, profiles } = await planned(
    { ...STORED, assignments },
    order.forgetDevice("free"),
  );
  assert.deepEqual([pendingRemoved, devicesRemoved, profiles], [["free"], [], [{ id: "free", profile: null }]]);
  assert.deepEqual(resource.object["served"], { tank_id: "two", until: formatInstant(NOW) });
});

test("If-Match holds for a device, whatever waits of it meanwhile", async () => {
  const [free] = (STORED.devices ?? []).filter(({ id }) => id === "free") as [Device];
  for (const ifMatch of [deviceResource({ device: free, waiting: 99, dropped: 3 }).etag, "*"]) {
    await planned(STORED, order.putDevice("free", { profile: null }, { ifMatch }));
    await planned(STORED, order.forgetDevice("free", ifMatch));
  }
  const { etag } = deviceResource({ device: { ...free, profile: null }, waiting: 7, dropped: 0 });
  for (const command of [order.putDevice("free", { profile: null }, { ifMatch: etag }), order.forgetDevice("free", etag)]) {
    assert.equal((await errorOf(STORED, command)).error, "precondition_failed");
  }
});
