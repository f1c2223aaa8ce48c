import assert from "node:assert/strict";
import test from "node:test";
import { formatInstant } from "../../../src/domain/instant.ts";
import { NO_LOCATION } from "../../../src/domain/tank.ts";
import { DAY, NEW_YEAR } from "../../store/conformance/objects.ts";
import { command, tankFields } from "../../support/commands.ts";
import { device } from "../lookups.ts";
import { EUI, errorOf, invalidFieldsOf, NOW, OLD, ONE, objectAfter, planned, SHAPE, STORED } from "./planned.ts";

test("a tank has the fields it is created with; the rest is empty", async () => {
  const { resource, tanks } = await planned(command.createTank("tank_new", tankFields("anna", "new device")));
  const created = {
    ...tankFields("anna", "new device"),
    id: "tank_new",
    object: "tank",
    created_at: formatInstant(NOW),
    custom_id: null,
    location: NO_LOCATION,
    updated_at: formatInstant(NOW),
    use_case: null,
    shape: null,
    alerts: { silent_after: null, paused_until: null, runs_low_soon: true, leak: true },
    deleted: false,
    released: null,
  };
  assert.deepEqual(resource.object, created);
  assert.deepEqual([tanks.length, tanks[0]?.before], [1, undefined]);
  const more = { id: "mine", custom_id: "H3", location: { city: "Ulm", latitude: 48.4 }, use_case: "residential", shape: SHAPE };
  const whole = await planned(command.createTank("tank_new", tankFields("anna", "new device", more)));
  const location = { ...NO_LOCATION, ...more.location };
  assert.deepEqual(whole.resource.object, { ...created, ...more, location });
  assert.deepEqual(whole.tanks[0]?.after.shape, SHAPE);
  const alerts = { silent_after: "72h", paused_until: "2026-12-01T00:00:00.000Z", runs_low_soon: false, leak: true };
  const paused = await planned(command.createTank("tank_new", tankFields("anna", "new device", { alerts })));
  assert.deepEqual(paused.resource.object, { ...created, alerts });
});

test("all errors of a tank are reported at once, also those of its owner and shape", async () => {
  const fields = {
    capacity: 0,
    capacity_unit: "buckets",
    min_fill_alert_percentage: 20.5,
    owner_id: "nobody",
    location: { city: 5, planet: "Mars", latitude: 91 },
    use_case: "fun",
    shape: { kind: "upright", unit: "m", height: -1 },
    colour: "red",
  };
  const changed = ["capacity", "capacity_unit", "colour", "location.city", "location.latitude", "location.planet"];
  changed.push("min_fill_alert_percentage", "owner_id", "shape.height", "use_case");
  assert.deepEqual(await invalidFieldsOf(command.changeTank("one", fields)), changed);
  const created = [...changed, "assigned_device_id", "name"].toSorted();
  assert.deepEqual(await invalidFieldsOf(command.createTank("tank_new", fields)), created);
});

test("required fields cannot be null", async () => {
  const names = ["name", "capacity", "capacity_unit", "assigned_device_id", "owner_id", "min_fill_alert_percentage", "location"];
  for (const name of names) assert.deepEqual(await invalidFieldsOf(command.changeTank("one", { [name]: null })), [name]);
});

test("the owner must be a live customer", async () => {
  for (const owner_id of ["nobody", "gone"]) {
    assert.deepEqual(await invalidFieldsOf(command.createTank("x", tankFields(owner_id, "new"))), ["owner_id"]);
    assert.deepEqual(await invalidFieldsOf(command.changeTank("one", { owner_id })), ["owner_id"]);
  }
  assert.equal((await objectAfter(command.changeTank("one", { owner_id: "ben" })))["owner_id"], "ben");
});

test("a change is a merge, in the location too", async () => {
  const changed = await objectAfter(command.changeTank("one", { name: "New", location: { street: "Lindenweg" } }));
  assert.deepEqual([changed["name"], changed["location"]], ["New", { ...NO_LOCATION, city: "Ulm", street: "Lindenweg" }]);
  assert.equal(changed["updated_at"], formatInstant(NOW));
  const cleared = await objectAfter(command.changeTank("one", { location: { city: null } }));
  assert.deepEqual(cleared["location"], NO_LOCATION);
});

test("updated_at increases even if the clock goes back, and stays where only the shape changes", async () => {
  for (const now of [NEW_YEAR, NEW_YEAR - DAY]) {
    const { updated_at } = await objectAfter(command.changeTank("one", { capacity: 5 }), STORED, now);
    assert.equal(updated_at, formatInstant(NEW_YEAR + 1));
  }
  const { resource, tanks } = await planned(command.changeTank("one", { shape: SHAPE }));
  assert.deepEqual([resource.object["updated_at"], resource.object["shape"]], [formatInstant(NEW_YEAR), SHAPE]);
  assert.deepEqual(tanks, [{ id: "one", before: ONE, after: { ...ONE, shape: SHAPE } }]);
  assert.equal((await planned(command.changeTank("two", { shape: null }))).tanks[0]?.after.shape, null);
});

test("a device in use is an error that names its tank; with swap both tanks swap their devices", async () => {
  for (const assigned_device_id of [EUI, EUI.toLowerCase()]) {
    for (const given of [
      command.changeTank("one", { assigned_device_id }),
      command.createTank("x", tankFields("anna", assigned_device_id)),
    ]) {
      const { error, detail } = await errorOf(given);
      assert.equal(error, "device_in_use");
      assert.match(detail, /\btwo\b/);
    }
    const { tanks } = await planned(command.changeTank("one", { assigned_device_id, name: "New" }, { swap: true }));
    assert.deepEqual(
      tanks.map(({ id, after: { tank } }) => [id, tank.assigned_device_id, tank.name, tank.updated_at]),
      [
        ["one", assigned_device_id, "New", NOW],
        ["two", "device of one", "Tank two", NOW],
      ],
    );
  }
});

test("a tank gets a free device, or its own in another spelling, without a swap", async () => {
  for (const [id, assigned_device_id] of [
    ["one", "free"],
    ["one", "unknown"],
    ["two", EUI.toLowerCase()],
  ] as const) {
    const { tanks } = await planned(command.changeTank(id, { assigned_device_id }));
    assert.deepEqual(
      tanks.map((change) => [change.id, change.after.tank.assigned_device_id]),
      [[id, assigned_device_id]],
    );
  }
});

test("a tank that is deleted or restored keeps its updated_at", async () => {
  const deleted = await planned(command.deleteTank("one"));
  assert.deepEqual(
    [deleted.resource.object["deleted"], deleted.tanks[0]?.after],
    [true, { ...ONE, deleted: true, deletedAt: NOW }],
  );
  const restored = await planned(command.restoreTank("old"));
  assert.deepEqual([restored.resource.object["deleted"], restored.tanks[0]?.after.tank], [false, OLD.tank]);
  assert.deepEqual(await invalidFieldsOf(command.restoreTank("old", null)), [""]);
});

test("a tank is restored with its device, or with another one if that is in use", async () => {
  const stored = { ...STORED, devices: [device("device of old", "one"), device(EUI.toLowerCase(), "two")] };
  const { error, detail } = await errorOf(command.restoreTank("old"), stored);
  assert.equal(error, "device_in_use");
  assert.match(detail, /device of old.*\bone\b/);
  assert.equal((await errorOf(command.restoreTank("old", { assigned_device_id: EUI }), stored)).error, "device_in_use");
  const { assigned_device_id, updated_at } = await objectAfter(command.restoreTank("old", { assigned_device_id: "new" }), stored);
  assert.deepEqual([assigned_device_id, updated_at], ["new", formatInstant(NOW)]);
  const fields = { assigned_device_id: "", name: "New" };
  assert.deepEqual(await invalidFieldsOf(command.restoreTank("old", fields)), Object.keys(fields));
});

test("a tank of a deleted customer is not restored before the customer is", async () => {
  const { error, detail } = await errorOf(command.restoreTank("orphan"));
  assert.equal(error, "state_conflict");
  assert.match(detail, /\bgone\b/);
});
