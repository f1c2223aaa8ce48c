import assert from "node:assert/strict";
import test from "node:test";
import { auditCustomers, auditTanks, differences } from "../../src/domain/audit.ts";
import { formatInstant } from "../../src/domain/instant.ts";
import { NO_LOCATION } from "../../src/domain/tank.ts";
import { customer, NEW_YEAR, tank } from "../store/conformance/objects.ts";

const live = customer("a", { phone: "1" });
const tankOf = (fields: Parameters<typeof tank>[2] = {}) => ({ tank: tank("one", "a", fields), deleted: false });

test("what is made is told with all that it has, and without what is empty", () => {
  const [deed, ...others] = auditCustomers([{ id: "a", before: undefined, after: { customer: live, deleted: false } }]);
  assert.equal(others.length, 0);
  assert.deepEqual(deed, {
    object: "customer",
    id: "a",
    action: "created",
    changes: {
      created_at: { from: null, to: formatInstant(NEW_YEAR) },
      email: { from: null, to: "office@customers.example" },
      name: { from: null, to: "Customer a" },
      phone: { from: null, to: "1" },
    },
  });
});

test("a change tells the fields that differ, from what to what, and nothing else", () => {
  const after = { ...live, name: "New", phone: null, updated_at: NEW_YEAR + 5 };
  const changes = [{ id: "a", before: { customer: live, deleted: false }, after: { customer: after, deleted: false } }];
  assert.deepEqual(auditCustomers(changes), [
    {
      object: "customer",
      id: "a",
      action: "changed",
      changes: { name: { from: "Customer a", to: "New" }, phone: { from: "1", to: null } },
    },
  ]);
});

test("who was seen when, and what is derived, is no deed", () => {
  const after = { ...live, last_seen_at: 5, updated_at: NEW_YEAR + 1 };
  assert.deepEqual(
    auditCustomers([{ id: "a", before: { customer: live, deleted: false }, after: { customer: after, deleted: false } }]),
    [],
  );
});

test("a place is told field by field", () => {
  const before = tankOf({ location: { ...NO_LOCATION, city: "Ulm", street: "Lindenweg" } });
  const after = tankOf({ location: { ...NO_LOCATION, city: "Bonn", street: "Lindenweg", latitude: 50.7 } });
  assert.deepEqual(auditTanks([{ id: "one", before, after }])[0]?.changes, {
    "location.city": { from: "Ulm", to: "Bonn" },
    "location.latitude": { from: null, to: 50.7 },
  });
});

test("deletions and returns are told as such, with what changed along with them", () => {
  const gone = { ...tankOf(), deleted: true };
  assert.deepEqual(auditTanks([{ id: "one", before: tankOf(), after: gone }]), [
    { object: "tank", id: "one", action: "deleted", changes: {} },
  ]);
  const back = tankOf({ assigned_device_id: "new" });
  assert.deepEqual(auditTanks([{ id: "one", before: gone, after: back }]), [
    {
      object: "tank",
      id: "one",
      action: "restored",
      changes: { assigned_device_id: { from: "device of one", to: "new" } },
    },
  ]);
});

test("differences are of values, not of the order or identity of objects", () => {
  assert.deepEqual(differences({ a: { x: 1 }, b: null }, { a: { x: 1 }, c: null }), {});
  assert.deepEqual(differences({ a: 1 }, { b: 2 }), { a: { from: 1, to: null }, b: { from: null, to: 2 } });
});
