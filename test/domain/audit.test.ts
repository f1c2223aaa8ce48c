import assert from "node:assert/strict";
import test from "node:test";
import { DEFAULT_TANK_ALERT_SETTINGS } from "../../src/domain/alerts/tank-alert-settings.ts";
import { auditCustomers, auditTanks, differences } from "../../src/domain/audit.ts";
import { DEFAULT_NOTIFICATION_SETTINGS } from "../../src/domain/customer.ts";
import { formatInstant } from "../../src/domain/instant.ts";
import { NO_LOCATION } from "../../src/domain/tank.ts";
import { customer, NEW_YEAR, tank } from "../store/conformance/objects.ts";

const live = customer("a", { phone: "1" });
const stateOf = (customer: typeof live, settings = {}) => ({
  customer,
  deleted: false,
  deletedAt: null,
  notifications: { ...DEFAULT_NOTIFICATION_SETTINGS, ...settings },
});
const auditOf = (after: typeof live, before?: typeof live) =>
  auditCustomers([{ id: "a", before: before && stateOf(before), after: stateOf(after) }]);
const tankOf = (fields: Parameters<typeof tank>[2] = {}) => ({
  tank: tank("one", "a", fields),
  deleted: false,
  deletedAt: null,
  shape: null,
  alerts: DEFAULT_TANK_ALERT_SETTINGS,
});

test("a creation has all fields that are set", () => {
  const fields = { created_at: formatInstant(NEW_YEAR), email: live.email, name: live.name, phone: "1" };
  const changes = Object.fromEntries(Object.entries(fields).map(([name, to]) => [name, { from: null, to }]));
  assert.deepEqual(auditOf(live), [{ object: "customer", id: "a", action: "created", changes }]);
});

test("a change has the fields that differ, with both values", () => {
  const after = { ...live, name: "New", phone: null, updated_at: NEW_YEAR + 5 };
  const changes = { name: { from: "Customer a", to: "New" }, phone: { from: "1", to: null } };
  assert.deepEqual(auditOf(after, live), [{ object: "customer", id: "a", action: "changed", changes }]);
});

test("last_seen_at and updated_at alone are no change", () => {
  assert.deepEqual(auditOf({ ...live, last_seen_at: 5, updated_at: NEW_YEAR + 1 }, live), []);
});

test("mail settings are compared by field", () => {
  const [entry] = auditCustomers([
    { id: "a", before: stateOf(live, { language: "de" }), after: stateOf(live, { unsubscribed_at: NEW_YEAR }) },
  ]);
  assert.deepEqual(entry?.changes, {
    "notifications.language": { from: "de", to: null },
    "notifications.unsubscribed_at": { from: null, to: formatInstant(NEW_YEAR) },
  });
});

test("a location is compared by field", () => {
  const before = tankOf({ location: { ...NO_LOCATION, city: "Ulm", street: "Lindenweg" } });
  const after = tankOf({ location: { ...NO_LOCATION, city: "Bonn", street: "Lindenweg", latitude: 50.7 } });
  assert.deepEqual(auditTanks([{ id: "one", before, after }])[0]?.changes, {
    "location.city": { from: "Ulm", to: "Bonn" },
    "location.latitude": { from: null, to: 50.7 },
  });
});

test("deletion and restoration are actions of their own, with the fields that changed", () => {
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

test("a change of the shape is an entry of its own", () => {
  const shape = { kind: "upright", height: 2, unit: "m" } as const;
  const entry = { object: "tank", id: "one", action: "changed", changes: { shape: { from: null, to: shape } } };
  assert.deepEqual(auditTanks([{ id: "one", before: tankOf(), after: { ...tankOf(), shape } }]), [entry]);
  const [created, shaped] = auditTanks([{ id: "one", before: undefined, after: { ...tankOf(), shape } }]);
  assert.deepEqual([created?.action, shaped], ["created", entry]);
});

test("a change of the settings for alerts is an entry of its own, in the words of the interface", () => {
  const after = {
    ...tankOf(),
    alerts: { silent_after: 72 * 3_600_000, paused_until: NEW_YEAR, runs_low_soon: true, leak: false },
  };
  const changes = {
    "alerts.silent_after": { from: null, to: "72h" },
    "alerts.paused_until": { from: null, to: formatInstant(NEW_YEAR) },
    "alerts.leak": { from: true, to: false },
  };
  assert.deepEqual(auditTanks([{ id: "one", before: tankOf(), after }]), [
    { object: "tank", id: "one", action: "changed", changes },
  ]);
});

test("differences are of values, not of the order or identity of objects", () => {
  assert.deepEqual(differences({ a: { x: 1 }, b: null }, { a: { x: 1 }, c: null }), {});
  assert.deepEqual(differences({ a: 1 }, { b: 2 }), { a: { from: 1, to: null }, b: { from: null, to: 2 } });
});
