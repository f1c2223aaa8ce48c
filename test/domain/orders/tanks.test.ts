import assert from "node:assert/strict";
import test from "node:test";
import { ALWAYS, type Device } from "../../../src/domain/device.ts";
import type { ShapedTank } from "../../../src/domain/fleet.ts";
import { formatInstant } from "../../../src/domain/instant.ts";
import { shownTank } from "../../../src/domain/managed.ts";
import { takingIn } from "../../../src/domain/orders/taken.ts";
import type { Shape } from "../../../src/domain/shape.ts";
import { NOWHERE } from "../../../src/domain/tank.ts";
import { DAY, NEW_YEAR, tank } from "../../store/conformance/objects.ts";
import { order, tankFields } from "../../support/orders.ts";
import type { Knowledge } from "../knowledge.ts";
import { decided, expectNothing, managed, NOW, refusedOf, wrongIn } from "./decided.ts";

const EUI = "A84041C2F1827D3E";
const SHAPE: Shape = { kind: "upright", height: 2, unit: "m" };
const ONE: ShapedTank = { tank: tank("one", "anna", { location: { ...NOWHERE, city: "Ulm" } }), deleted: false, shape: null };
const TWO: ShapedTank = { tank: tank("two", "anna", { assigned_device_id: EUI }), deleted: false, shape: SHAPE };
const GONE: ShapedTank = { tank: tank("gone", "anna"), deleted: true, shape: null };
const ORPHAN: ShapedTank = { tank: tank("orphan", "deleted"), deleted: true, shape: null };
const serves = (id: string, tank_id: string | null): Device => ({ id, tank_id, since: ALWAYS, profile: null });
const KNOWN: Knowledge = {
  customers: [managed("anna"), managed("ben"), managed("deleted", {}, true)],
  tanks: [ONE, TWO, GONE, ORPHAN],
  devices: [serves("device of one", "one"), serves(EUI.toLowerCase(), "two"), serves("free", null)],
};

test("a tank is made with what it must have, the rest is empty", () => {
  const { shown, tanks, deeds, shapes } = decided(KNOWN, order.createTank("tank_new", tankFields("anna", "new device")));
  assert.deepEqual(shown.object, {
    ...tankFields("anna", "new device"),
    id: "tank_new",
    object: "tank",
    created_at: formatInstant(NOW),
    custom_id: null,
    location: NOWHERE,
    updated_at: formatInstant(NOW),
    use_case: null,
    shape: null,
    deleted: false,
    taken_in: null,
  });
  assert.deepEqual([tanks.length, tanks[0]?.before, deeds.length, shapes.size], [1, undefined, 0, 0]);
});

test("a tank may be made with an id, a place, a use and a shape", () => {
  const more = { id: "mine", custom_id: "H3", location: { city: "Ulm", latitude: 48.4 }, use_case: "residential", shape: SHAPE };
  const { shown, shapes } = decided(KNOWN, order.createTank("tank_new", tankFields("anna", "free", more)));
  const { id, custom_id, location, use_case, shape } = shown.object;
  assert.deepEqual([id, custom_id, use_case, shape], ["mine", "H3", "residential", SHAPE]);
  assert.deepEqual(location, { ...NOWHERE, city: "Ulm", latitude: 48.4 });
  assert.deepEqual([...shapes], [["mine", SHAPE]]);
});

test("an id that is taken, by what is deleted too, is refused", () => {
  for (const id of ["one", "gone"]) {
    assert.equal(refusedOf(KNOWN, order.createTank("x", tankFields("anna", "new", { id }))).refused, "id_taken");
  }
});

test("all that is wrong with a tank is told at once, also what only the database and the shape know", () => {
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
  const fields = wrongIn(KNOWN, order.createTank("tank_new", wrong));
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
  const changed = wrongIn(KNOWN, order.changeTank("one", wrong));
  assert.deepEqual(
    changed,
    told.filter((field) => field !== "name" && field !== "assigned_device_id"),
  );
});

test("an owner must be a customer who is there", () => {
  for (const owner_id of ["nobody", "deleted"]) {
    assert.deepEqual(wrongIn(KNOWN, order.createTank("x", tankFields(owner_id, "new"))), ["owner_id"]);
    assert.deepEqual(wrongIn(KNOWN, order.changeTank("one", { owner_id })), ["owner_id"]);
  }
  assert.equal(decided(KNOWN, order.changeTank("one", { owner_id: "ben" })).shown.object["owner_id"], "ben");
});

test("a body that is no object is told to be wrong as a whole", () => {
  for (const fields of [null, undefined, [], "name", 5]) {
    for (const given of [order.createTank("x", fields), order.changeTank("one", fields)]) {
      assert.equal(refusedOf(KNOWN, given).refused, "body_invalid", JSON.stringify(fields));
    }
  }
});

test("what is null where nothing may be is told, and nothing is emptied that must be there", () => {
  const names = ["name", "capacity", "capacity_unit", "assigned_device_id", "owner_id", "min_fill_alert_percentage", "location"];
  for (const name of names) {
    assert.deepEqual(wrongIn(KNOWN, order.changeTank("one", { [name]: null })), [name]);
  }
});

test("a change is a merge, in the location too", () => {
  const { object } = decided(KNOWN, order.changeTank("one", { name: "New", location: { street: "Lindenweg" } })).shown;
  assert.deepEqual([object["name"], object["location"]], ["New", { ...NOWHERE, city: "Ulm", street: "Lindenweg" }]);
  assert.equal(object["updated_at"], formatInstant(NOW));
  const emptied = decided(KNOWN, order.changeTank("one", { location: { city: null } })).shown.object;
  assert.deepEqual(emptied["location"], NOWHERE);
});

test("a change that changes nothing does nothing", () => {
  for (const fields of [{}, { name: "Tank one" }, { location: { city: "Ulm" } }, { location: {} }, { shape: null }]) {
    const decision = decided(KNOWN, order.changeTank("one", fields));
    expectNothing(decision);
    assert.deepEqual(decision.shown, takingIn(shownTank(ONE)));
  }
});

test("updated_at moves on, whatever the clock says, and not for a shape, which the interface does not show", () => {
  for (const now of [NEW_YEAR, NEW_YEAR - DAY]) {
    const { object } = decided(KNOWN, order.changeTank("one", { capacity: 5 }), now).shown;
    assert.equal(object["updated_at"], formatInstant(NEW_YEAR + 1));
  }
  const { shown, tanks, shapes, deeds } = decided(KNOWN, order.changeTank("one", { shape: SHAPE }));
  assert.deepEqual([shown.object["updated_at"], shown.object["shape"]], [formatInstant(NEW_YEAR), SHAPE]);
  assert.deepEqual([tanks.length, [...shapes]], [0, [["one", SHAPE]]]);
  assert.deepEqual(deeds, [{ object: "tank", id: "one", action: "changed", changes: { shape: { from: null, to: SHAPE } } }]);
  assert.deepEqual([...decided(KNOWN, order.changeTank("two", { shape: null })).shapes], [["two", null]]);
});

test("a device in use is refused, or swapped where that is asked; the other tank is told in the refusal", () => {
  for (const assigned_device_id of [EUI, EUI.toLowerCase()]) {
    const refusals = [
      order.changeTank("one", { assigned_device_id }),
      order.createTank("x", tankFields("anna", assigned_device_id)),
    ];
    for (const given of refusals) {
      const { refused, detail } = refusedOf(KNOWN, given);
      assert.equal(refused, "device_in_use");
      assert.match(detail, /\btwo\b/);
    }
    const { tanks } = decided(KNOWN, order.changeTank("one", { assigned_device_id, name: "New" }, { swap: true }));
    assert.deepEqual(
      tanks.map(({ id, after: { tank: now } }) => [id, now.assigned_device_id, now.name, now.updated_at]),
      [
        ["one", assigned_device_id, "New", NOW],
        ["two", "device of one", "Tank two", NOW],
      ],
    );
  }
});

test("a tank takes a free device, and another way of writing its own, without a swap", () => {
  for (const [id, assigned_device_id] of [
    ["one", "free"],
    ["one", "unheard-of"],
    ["two", EUI.toLowerCase()],
  ] as const) {
    const { tanks } = decided(KNOWN, order.changeTank(id, { assigned_device_id }));
    assert.deepEqual(
      tanks.map((change) => [change.id, change.after.tank.assigned_device_id]),
      [[id, assigned_device_id]],
    );
  }
});

test("what is not there cannot be changed, deleted or restored, and what is deleted not changed", () => {
  for (const given of [order.changeTank("nothing", {}), order.deleteTank("nothing"), order.restoreTank("nothing")]) {
    assert.equal(refusedOf(KNOWN, given).refused, "tank_unknown");
  }
  assert.equal(refusedOf(KNOWN, order.changeTank("gone", { name: "Back" })).refused, "state_conflict");
});

test("a tank that is deleted or restored keeps its updated_at; doing it again does nothing", () => {
  const { shown, tanks } = decided(KNOWN, order.deleteTank("one"));
  assert.deepEqual([shown.object["deleted"], tanks[0]?.after], [true, { ...ONE, deleted: true }]);
  expectNothing(decided(KNOWN, order.deleteTank("gone")));
  const back = decided(KNOWN, order.restoreTank("gone"));
  assert.deepEqual([back.shown.object["deleted"], back.tanks[0]?.after.tank], [false, GONE.tank]);
  expectNothing(decided(KNOWN, order.restoreTank("one")));
  assert.deepEqual(decided(KNOWN, order.restoreTank("gone", null)).shown, back.shown, "without a body too");
});

test("a tank comes back with its device, with another one, or not at all where that serves another", () => {
  const taken: Knowledge = { ...KNOWN, devices: [serves("device of gone", "one"), serves(EUI.toLowerCase(), "two")] };
  const { refused, detail } = refusedOf(taken, order.restoreTank("gone"));
  assert.equal(refused, "device_in_use");
  assert.match(detail, /device of gone.*\bone\b/);
  assert.equal(refusedOf(taken, order.restoreTank("gone", { assigned_device_id: EUI })).refused, "device_in_use");
  const { assigned_device_id, updated_at } = decided(taken, order.restoreTank("gone", { assigned_device_id: "new" })).shown
    .object;
  assert.deepEqual([assigned_device_id, updated_at], ["new", formatInstant(NOW)]);
  assert.deepEqual(wrongIn(KNOWN, order.restoreTank("gone", { assigned_device_id: "", name: "New" })), [
    "assigned_device_id",
    "name",
  ]);
});

test("a tank of a deleted customer is not restored before the customer is", () => {
  const { refused, detail } = refusedOf(KNOWN, order.restoreTank("orphan"));
  assert.equal(refused, "state_conflict");
  assert.match(detail, /deleted/);
});

test("If-Match holds for change, delete and restore", () => {
  for (const ifMatch of [shownTank(ONE).tag, "*"]) {
    decided(KNOWN, order.changeTank("one", { name: "New" }, { ifMatch }));
    decided(KNOWN, order.deleteTank("one", ifMatch));
  }
  decided(KNOWN, order.restoreTank("gone", {}, shownTank(GONE).tag));
  for (const given of [
    order.changeTank("one", { name: "New" }, { ifMatch: shownTank(TWO).tag }),
    order.deleteTank("one", shownTank({ ...ONE, shape: SHAPE }).tag),
    order.restoreTank("gone", {}, shownTank({ ...GONE, deleted: false }).tag),
  ]) {
    assert.equal(refusedOf(KNOWN, given).refused, "precondition_failed");
  }
});
