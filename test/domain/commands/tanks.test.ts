import assert from "node:assert/strict";
import test from "node:test";
import type { TankWithShape } from "../../../src/domain/changes.ts";
import { withReleasedField } from "../../../src/domain/commands/command.ts";
import { type Device, EARLIEST } from "../../../src/domain/device.ts";
import { formatInstant } from "../../../src/domain/instant.ts";
import { tankResource } from "../../../src/domain/resource.ts";
import type { Shape } from "../../../src/domain/shape.ts";
import { NO_LOCATION } from "../../../src/domain/tank.ts";
import { DAY, NEW_YEAR, tank } from "../../store/conformance/objects.ts";
import { order, tankFields } from "../../support/orders.ts";
import type { StoredObjects } from "../lookups.ts";
import { assertNoChanges, errorOf, invalidFieldsOf, managed, NOW, planned } from "./planned.ts";

const EUI = "A84041C2F1827D3E";
const SHAPE: Shape = { kind: "upright", height: 2, unit: "m" };
const ONE: TankWithShape = {
  tank: tank("one", "anna", { location: { ...NO_LOCATION, city: "Ulm" } }),
  deleted: false,
  shape: null,
};
const TWO: TankWithShape = { tank: tank("two", "anna", { assigned_device_id: EUI }), deleted: false, shape: SHAPE };
const GONE: TankWithShape = { tank: tank("gone", "anna"), deleted: true, shape: null };
const ORPHAN: TankWithShape = { tank: tank("orphan", "deleted"), deleted: true, shape: null };
const serves = (id: string, tank_id: string | null): Device => ({ id, tank_id, since: EARLIEST, profile: null });
const STORED: StoredObjects = {
  customers: [managed("anna"), managed("ben"), managed("deleted", {}, true)],
  tanks: [ONE, TWO, GONE, ORPHAN],
  devices: [serves("device of one", "one"), serves(EUI.toLowerCase(), "two"), serves("free", null)],
};

test("a tank is made with what it must have, the rest is empty", async () => {
  const { resource, tanks, audit, shapes } = await planned(
    STORED,
    order.createTank("tank_new", tankFields("anna", "new device")),
  );
  assert.deepEqual(resource.object, {
    ...tankFields("anna", "new device"),
    id: "tank_new",
    object: "tank",
    created_at: formatInstant(NOW),
    custom_id: null,
    location: NO_LOCATION,
    updated_at: formatInstant(NOW),
    use_case: null,
    shape: null,
    deleted: false,
    taken_in: null,
  });
  assert.deepEqual([tanks.length, tanks[0]?.before, audit.length, shapes.size], [1, undefined, 0, 0]);
});

test("a tank may be made with an id, a place, a use and a shape", async () => {
  const more = { id: "mine", custom_id: "H3", location: { city: "Ulm", latitude: 48.4 }, use_case: "residential", shape: SHAPE };
  const { resource, shapes } = await planned(STORED, order.createTank("tank_new", tankFields("anna", "free", more)));
  const { id, custom_id, location, use_case, shape } = resource.object;
  assert.deepEqual([id, custom_id, use_case, shape], ["mine", "H3", "residential", SHAPE]);
  assert.deepEqual(location, { ...NO_LOCATION, city: "Ulm", latitude: 48.4 });
  assert.deepEqual([...shapes], [["mine", SHAPE]]);
});

test("an id that is taken, by what is deleted too, is refused", async () => {
  for (const id of ["one", "gone"]) {
    assert.equal((await errorOf(STORED, order.createTank("x", tankFields("anna", "new", { id })))).error, "id_taken");
  }
});

test("all that is wrong with a tank is told at once, also what only the database and the shape know", async () => {
  const wrong = {
    capacity: 0,
    capacity_unit: "buckets",
    min_fill_alert_percentage: 20.5,
    owner_id: "nobody",
    location: { city: 5, planet: "Mars", latitude: 91 },
    use_case: "fun",
    shape: { kind: "upright", unit: "m", height: -1 },
    colour: "red",
  };
  const fields = await invalidFieldsOf(STORED, order.createTank("tank_new", wrong));
  const told = [
    "assigned_device_id",
    "capacity",
    "capacity_unit",
    "colour",
    "location.city",
    "location.latitude",
    "location.planet",
    "min_fill_alert_percentage",
    "name",
    "owner_id",
    "shape.height",
    "use_case",
  ];
  assert.deepEqual(fields, told);
  const changed = await invalidFieldsOf(STORED, order.changeTank("one", wrong));
  assert.deepEqual(
    changed,
    told.filter((field) => field !== "name" && field !== "assigned_device_id"),
  );
});

test("an owner must be a customer who is there", async () => {
  for (const owner_id of ["nobody", "deleted"]) {
    assert.deepEqual(await invalidFieldsOf(STORED, order.createTank("x", tankFields(owner_id, "new"))), ["owner_id"]);
    assert.deepEqual(await invalidFieldsOf(STORED, order.changeTank("one", { owner_id })), ["owner_id"]);
  }
  assert.equal((await planned(STORED, order.changeTank("one", { owner_id: "ben" }))).resource.object["owner_id"], "ben");
});

test("a body that is no object is told to be wrong as a whole", async () => {
  for (const fields of [null, undefined, [], "name", 5]) {
    for (const command of [order.createTank("x", fields), order.changeTank("one", fields)]) {
      assert.equal((await errorOf(STORED, command)).error, "body_invalid", JSON.stringify(fields));
    }
  }
});

test("what is null where nothing may be is told, and nothing is pendingRemoved that must be there", async () => {
  const names = ["name", "capacity", "capacity_unit", "assigned_device_id", "owner_id", "min_fill_alert_percentage", "location"];
  for (const name of names) {
    assert.deepEqual(await invalidFieldsOf(STORED, order.changeTank("one", { [name]: null })), [name]);
  }
});

test("a change is a merge, in the location too", async () => {
  const { object } = (await planned(STORED, order.changeTank("one", { name: "New", location: { street: "Lindenweg" } })))
    .resource;
  assert.deepEqual([object["name"], object["location"]], ["New", { ...NO_LOCATION, city: "Ulm", street: "Lindenweg" }]);
  assert.equal(object["updated_at"], formatInstant(NOW));
  const pendingRemoved = (await planned(STORED, order.changeTank("one", { location: { city: null } }))).resource.object;
  assert.deepEqual(pendingRemoved["location"], NO_LOCATION);
});

test("a change that changes nothing does nothing", async () => {
  for (const fields of [{}, { name: "Tank one" }, { location: { city: "Ulm" } }, { location: {} }, { shape: null }]) {
    const plan = await planned(STORED, order.changeTank("one", fields));
    assertNoChanges(plan);
    assert.deepEqual(plan.resource, withReleasedField(tankResource(ONE)));
  }
});

test("updated_at moves on, whatever the clock says, and not for a shape, which the interface does not show", async () => {
  for (const now of [NEW_YEAR, NEW_YEAR - DAY]) {
    const { object } = (await planned(STORED, order.changeTank("one", { capacity: 5 }), now)).resource;
    assert.equal(object["updated_at"], formatInstant(NEW_YEAR + 1));
  }
  const { resource, tanks, shapes, audit } = await planned(STORED, order.changeTank("one", { shape: SHAPE }));
  assert.deepEqual([resource.object["updated_at"], resource.object["shape"]], [formatInstant(NEW_YEAR), SHAPE]);
  assert.deepEqual([tanks.length, [...shapes]], [0, [["one", SHAPE]]]);
  assert.deepEqual(audit, [{ object: "tank", id: "one", action: "changed", changes: { shape: { from: null, to: SHAPE } } }]);
  assert.deepEqual([...(await planned(STORED, order.changeTank("two", { shape: null }))).shapes], [["two", null]]);
});

test("a device in use is refused, or swapped where that is asked; the other tank is told in the refusal", async () => {
  for (const assigned_device_id of [EUI, EUI.toLowerCase()]) {
    const refusals = [
      order.changeTank("one", { assigned_device_id }),
      order.createTank("x", tankFields("anna", assigned_device_id)),
    ];
    for (const command of refusals) {
      const { error, detail } = await errorOf(STORED, command);
      assert.equal(error, "device_in_use");
      assert.match(detail, /\btwo\b/);
    }
    const { tanks } = await planned(STORED, order.changeTank("one", { assigned_device_id, name: "New" }, { swap: true }));
    assert.deepEqual(
      tanks.map(({ id, after: { tank: now } }) => [id, now.assigned_device_id, now.name, now.updated_at]),
      [
        ["one", assigned_device_id, "New", NOW],
        ["two", "device of one", "Tank two", NOW],
      ],
    );
  }
});

test("a tank takes a free device, and another way of writing its own, without a swap", async () => {
  for (const [id, assigned_device_id] of [
    ["one", "free"],
    ["one", "unheard-of"],
    ["two", EUI.toLowerCase()],
  ] as const) {
    const { tanks } = await planned(STORED, order.changeTank(id, { assigned_device_id }));
    assert.deepEqual(
      tanks.map((change) => [change.id, change.after.tank.assigned_device_id]),
      [[id, assigned_device_id]],
    );
  }
});

test("what is not there cannot be changed, deleted or restored, and what is deleted not changed", async () => {
  for (const command of [order.changeTank("nothing", {}), order.deleteTank("nothing"), order.restoreTank("nothing")]) {
    assert.equal((await errorOf(STORED, command)).error, "tank_unknown");
  }
  assert.equal((await errorOf(STORED, order.changeTank("gone", { name: "Back" }))).error, "state_conflict");
});

test("a tank that is deleted or restored keeps its updated_at; doing it again does nothing", async () => {
  const { resource, tanks } = await planned(STORED, order.deleteTank("one"));
  assert.deepEqual([resource.object["deleted"], tanks[0]?.after], [true, { ...ONE, deleted: true }]);
  assertNoChanges(await planned(STORED, order.deleteTank("gone")));
  const back = await planned(STORED, order.restoreTank("gone"));
  assert.deepEqual([back.resource.object["deleted"], back.tanks[0]?.after.tank], [false, GONE.tank]);
  assertNoChanges(await planned(STORED, order.restoreTank("one")));
  assert.deepEqual((await planned(STORED, order.restoreTank("gone", null))).resource, back.resource, "without a body too");
});

test("a tank comes back with its device, with another one, or not at all where that serves another", async () => {
  const taken: StoredObjects = { ...STORED, devices: [serves("device of gone", "one"), serves(EUI.toLowerCase(), "two")] };
  const { error, detail } = await errorOf(taken, order.restoreTank("gone"));
  assert.equal(error, "device_in_use");
  assert.match(detail, /device of gone.*\bone\b/);
  assert.equal((await errorOf(taken, order.restoreTank("gone", { assigned_device_id: EUI }))).error, "device_in_use");
  const { assigned_device_id, updated_at } = (await planned(taken, order.restoreTank("gone", { assigned_device_id: "new" })))
    .resource.object;
  assert.deepEqual([assigned_device_id, updated_at], ["new", formatInstant(NOW)]);
  assert.deepEqual(await invalidFieldsOf(STORED, order.restoreTank("gone", { assigned_device_id: "", name: "New" })), [
    "assigned_device_id",
    "name",
  ]);
});

test("a tank of a deleted customer is not restored before the customer is", async () => {
  const { error, detail } = await errorOf(STORED, order.restoreTank("orphan"));
  assert.equal(error, "state_conflict");
  assert.match(detail, /deleted/);
});

test("If-Match holds for change, delete and restore", async () => {
  for (const ifMatch of [tankResource(ONE).etag, "*"]) {
    await planned(STORED, order.changeTank("one", { name: "New" }, { ifMatch }));
    await planned(STORED, order.deleteTank("one", ifMatch));
  }
  await planned(STORED, order.restoreTank("gone", {}, tankResource(GONE).etag));
  for (const command of [
    order.changeTank("one", { name: "New" }, { ifMatch: tankResource(TWO).etag }),
    order.deleteTank("one", tankResource({ ...ONE, shape: SHAPE }).etag),
    order.restoreTank("gone", {}, tankResource({ ...GONE, deleted: false }).etag),
  ]) {
    assert.equal((await errorOf(STORED, command)).error, "precondition_failed");
  }
});
