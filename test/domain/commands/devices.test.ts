import assert from "node:assert/strict";
import test from "node:test";
import { formatInstant } from "../../../src/domain/instant.ts";
import { NEW_YEAR } from "../../store/conformance/objects.ts";
import { command } from "../../support/commands.ts";
import { assertErrors, EUI, invalidFieldsOf, NOW, objectAfter, planned, SHAPE, STORED } from "./planned.ts";

const KEY = EUI.toLowerCase();

test("a device has its tank, since when, its profile and its pending readings", async () => {
  const common = { object: "device", dropped: 0, released: null, replaced_device_id: null };
  const assigned = { id: KEY, tank_id: "two", since: formatInstant(NEW_YEAR), profile: null, pending: 0, ...common };
  assert.deepEqual(await objectAfter(command.putDevice(EUI, {})), assigned);
  const free = { id: "free", tank_id: null, since: null, profile: "elsys", pending: 7, ...common };
  assert.deepEqual(await objectAfter(command.putDevice("free", {})), free);
});

test("an unknown device is known from then on, with a profile or without", async () => {
  assert.deepEqual((await planned(command.putDevice("new", {}))).profiles, [{ id: "new", profile: null }]);
  const { profiles, audit } = await planned(command.putDevice("new", { profile: "elsys" }));
  assert.deepEqual(profiles, [{ id: "new", profile: "elsys" }]);
  const changes = { profile: { from: null, to: "elsys" } };
  assert.deepEqual(audit, [{ object: "device", id: "new", action: "changed", changes }]);
});

test("a device is assigned by naming its tank, which changes with it", async () => {
  const { resource, tanks } = await planned(command.putDevice("free", { tank_id: "two" }));
  assert.deepEqual([resource.object["tank_id"], resource.object["replaced_device_id"]], ["two", EUI]);
  assert.deepEqual(
    tanks.map(({ id, after: { tank } }) => [id, tank.assigned_device_id, tank.updated_at]),
    [["two", "free", NOW]],
  );
});

test("a device in use is an error; with swap both tanks swap their devices", async () => {
  await assertErrors("device_in_use", [command.putDevice(EUI, { tank_id: "one" })]);
  const { resource, tanks } = await planned(command.putDevice(EUI, { tank_id: "one" }, { swap: true }));
  assert.equal(resource.object["tank_id"], "one");
  assert.deepEqual(
    tanks.map(({ id, after: { tank } }) => [id, tank.assigned_device_id]),
    [
      ["one", EUI],
      ["two", "device of one"],
    ],
  );
});

test("the profile belongs to the device, the shape to its tank; both stay where they are not given", async () => {
  const shape = { ...SHAPE, height: 1 };
  const { resource, profiles, tanks } = await planned(command.putDevice(KEY, { profile: "elsys", shape }));
  assert.equal(resource.object["profile"], "elsys");
  assert.deepEqual(profiles, [{ id: KEY, profile: "elsys" }]);
  assert.deepEqual(
    tanks.map(({ id, before, after }) => [id, after.shape, after.tank === before?.tank]),
    [["two", shape, true]],
  );
  const moved = await planned(command.putDevice("free", { tank_id: "one", shape }));
  assert.deepEqual([moved.resource.object["profile"], moved.profiles, moved.tanks[0]?.after.shape], ["elsys", [], shape]);
  assert.deepEqual((await planned(command.putDevice("free", { profile: null }))).profiles, [{ id: "free", profile: null }]);
});

test("all errors of a device are reported at once", async () => {
  for (const [fields, ...invalid] of [
    [{ tank_id: "x", profile: "elsis", shape: { kind: "egg" }, colour: 1 }, "colour", "profile", "shape.kind", "tank_id"],
    [{ tank_id: "old" }, "tank_id"],
    [{ tank_id: 5 }, "tank_id"],
    [{ tank_id: null }, "tank_id"],
    [{ shape: SHAPE }, "shape"],
  ] as const) {
    assert.deepEqual(await invalidFieldsOf(command.putDevice("free", fields)), invalid);
  }
});

test("a device is removed with its pending readings unless it is assigned to a tank", async () => {
  const { resource, pendingRemoved, devicesRemoved, audit } = await planned(command.removeDevice("free"));
  assert.deepEqual([pendingRemoved, devicesRemoved], [["free"], ["free"]]);
  assert.deepEqual(resource.object, { id: "free", object: "device", deleted: true, removed: 7, last_assignment: null });
  const changes = { profile: { from: "elsys", to: null }, pending: { from: 7, to: null } };
  assert.deepEqual(audit, [{ object: "device", id: "free", action: "deleted", changes }]);
  await assertErrors("device_in_use", [command.removeDevice(EUI)]);
});

test("the past assignments of a removed device stay", async () => {
  const assignments = [
    { device: "free", until: NEW_YEAR, tankId: "one" },
    { device: "free", until: NOW, tankId: "two" },
  ];
  const { resource, pendingRemoved, devicesRemoved, profiles } = await planned(command.removeDevice("free"), {
    ...STORED,
    assignments,
  });
  assert.deepEqual([pendingRemoved, devicesRemoved, profiles], [["free"], [], [{ id: "free", profile: null }]]);
  assert.deepEqual(resource.object["last_assignment"], { tank_id: "two", until: formatInstant(NOW) });
});
