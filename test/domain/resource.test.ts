import assert from "node:assert/strict";
import test from "node:test";
import { DEFAULT_TANK_ALERT_SETTINGS } from "../../src/domain/alerts/tank-alert-settings.ts";
import { DEFAULT_NOTIFICATION_SETTINGS, type NotificationSettings } from "../../src/domain/customer.ts";
import type { Device } from "../../src/domain/device.ts";
import { EARLIEST } from "../../src/domain/instant.ts";
import { customerResource, deviceResource, keyResource, tankResource } from "../../src/domain/resource.ts";
import type { Tank } from "../../src/domain/tank.ts";
import { customer, key, NEW_YEAR, tank } from "../store/conformance/objects.ts";

const CUSTOMER = { ...customer("a"), tank_count: 1 };
const TANK = { shape: null, alerts: DEFAULT_TANK_ALERT_SETTINGS, deleted: false, deletedAt: null };
const DEVICE: Device = { id: "d", tank_id: "one", since: EARLIEST, profile: null };

test("an ETag is a quoted string", () => {
  for (const { etag } of [
    customerResource({ customer: CUSTOMER, deleted: false, deletedAt: null, notifications: DEFAULT_NOTIFICATION_SETTINGS }),
    tankResource({ ...TANK, tank: tank("one", "a") }),
    deviceResource({ device: DEVICE, pending: 0, dropped: 0 }),
    keyResource({ ...key("k"), customer_deleted: false }, NEW_YEAR),
  ]) {
    assert.match(etag, /^"[\w-]{20,}"$/);
  }
});

test("a customer's ETag depends on the fields that an operator can change", () => {
  const tag = (fields: Partial<typeof CUSTOMER>, deleted = false, settings: Partial<NotificationSettings> = {}) =>
    customerResource({
      customer: { ...CUSTOMER, ...fields },
      deleted,
      deletedAt: null,
      notifications: { ...DEFAULT_NOTIFICATION_SETTINGS, ...settings },
    }).etag;
  const same = tag({});
  assert.equal(tag({ last_seen_at: 5 }), same);
  assert.equal(tag({ tank_count: 9 }), same);
  const others = [
    tag({ name: "x" }),
    tag({ phone: "1" }),
    tag({ email: "x@y.example" }),
    tag({ verified_at: 1 }),
    tag({ updated_at: NEW_YEAR + 1 }),
    tag({}, true),
    tag({}, false, { language: "de" }),
    tag({}, false, { unsubscribed_at: 1 }),
  ];
  assert.equal(new Set([same, ...others]).size, others.length + 1);
});

test("a tank's ETag depends on every field, its shape, its alerts and deleted", () => {
  const tag = (fields: Partial<Tank>, more: object = {}) =>
    tankResource({ ...TANK, tank: tank("one", "a", fields), ...more }).etag;
  const shape = { kind: "upright", height: 2, unit: "m" } as const;
  const tags = [
    tag({}),
    tag({ name: "x" }),
    tag({ capacity: 1 }),
    tag({ custom_id: "x" }),
    tag({}, { shape }),
    tag({}, { alerts: { ...DEFAULT_TANK_ALERT_SETTINGS, silent_after: 600_000 } }),
    tag({}, { alerts: { ...DEFAULT_TANK_ALERT_SETTINGS, paused_until: NEW_YEAR } }),
    tag({}, { alerts: { ...DEFAULT_TANK_ALERT_SETTINGS, leak: false } }),
    tag({}, { deleted: true }),
  ];
  assert.equal(new Set(tags).size, tags.length);
  assert.equal(tag({}), tag({}));
});

test("a device's ETag does not depend on pending readings", () => {
  const shown = (device: Device, pending: number) => deviceResource({ device, pending, dropped: pending });
  assert.equal(shown(DEVICE, 0).etag, shown(DEVICE, 5).etag);
  assert.notEqual(shown(DEVICE, 0).etag, shown({ ...DEVICE, profile: "elsys" }, 0).etag);
  assert.notEqual(shown(DEVICE, 0).etag, shown({ ...DEVICE, tank_id: null }, 0).etag);
  assert.deepEqual([shown(DEVICE, 5).object["pending"], shown(DEVICE, 5).object["dropped"]], [5, 5]);
});
