// Rows as objects: both engines select the same columns in the same order. `deleted` comes last, as a number or a boolean;
// functions that return the object alone ignore it.
//
// Rows that are exported have a checksum of the exported columns, but for those that `check` compares with other rows: the
// number of a customer's tanks, the tank of a device. What is changed without reading the row is a term of the sum:
// `last_seen_at` of a customer, `dropped` of a device.

import { crc32 } from "node:zlib";
import type { TankAlertSettings } from "../domain/alerts/tank-alert-settings.ts";
import type { AuditEntry } from "../domain/audit.ts";
import type { CustomerState, TankState } from "../domain/changes.ts";
import type { CustomerWithCount, NotificationSettings } from "../domain/customer.ts";
import { type Device, type DeviceAssignment, type ProfileChoice, unknownDevice } from "../domain/device.ts";
import { DamageError } from "../domain/errors.ts";
import { deviceKey } from "../domain/id.ts";
import { displayInstant, EARLIEST, type Instant } from "../domain/instant.ts";
import type { StoredKey } from "../domain/key.ts";
import type { MaybeDamaged } from "../domain/lookups.ts";
import type { PendingReading } from "../domain/placement.ts";
import type { DeviceWithHistory } from "../domain/records.ts";
import type { ManagedCustomer, ManagedDevice } from "../domain/resource.ts";
import type { Shape } from "../domain/shape.ts";
import type { Tank } from "../domain/tank.ts";
import { parseJson } from "../domain/validate.ts";

export type Row = readonly unknown[];
export type Scalar = string | number | null;

/** The first columns of a row by name, in the order of `names`. Slower than destructuring, which matters for customers and tanks. */
export const fieldsOf = <Name extends string>(names: readonly Name[], row: Row): Record<Name, unknown> =>
  Object.fromEntries(names.map((name, i) => [name, row[i]])) as Record<Name, unknown>;

/** The values of these columns, in their order. */
export const valuesOf = <Name extends string>(names: readonly Name[], values: Readonly<Record<Name, Scalar>>): Scalar[] =>
  names.map((name) => values[name]);

/** A boolean counts as a number: engines differ in it. */
function checksumOf(values: Row): number {
  return crc32(JSON.stringify(values.map((value) => (typeof value === "boolean" ? Number(value) : value))));
}

const PUBLIC_CUSTOMER_FIELDS = ["created_at", "email", "last_seen_at", "name", "phone", "updated_at", "verified_at"] as const;
const MAIL_SETTING_FIELDS = ["language", "unsubscribed_at"] as const;
/** Columns in the order of `customerValues`; without the id and `tank_count`. */
export const CUSTOMER_FIELDS = [...PUBLIC_CUSTOMER_FIELDS, ...MAIL_SETTING_FIELDS, "deleted_at"];
export const CUSTOMER_COLUMNS = `id, ${PUBLIC_CUSTOMER_FIELDS.join(", ")}, tank_count, ${MAIL_SETTING_FIELDS.join(", ")}, deleted_at, deleted`;

export function customerOf(row: Row): CustomerWithCount {
  const [id, created_at, email, last_seen_at, name, phone, updated_at, verified_at, tank_count] = row;
  return { id, created_at, email, last_seen_at, name, phone, updated_at, verified_at, tank_count } as CustomerWithCount;
}

export function customerValues({ customer, notifications, deletedAt }: CustomerState): Scalar[] {
  const settings = MAIL_SETTING_FIELDS.map((field) => notifications[field]);
  return [...PUBLIC_CUSTOMER_FIELDS.map((field) => customer[field]), ...settings, deletedAt];
}

/** The first columns of `tankValues`, without the id. */
const TANK_FIELDS = [
  "assigned_device_id",
  "capacity",
  "capacity_unit",
  "created_at",
  "custom_id",
  "min_fill_alert_percentage",
  "name",
  "owner_id",
  "updated_at",
  "use_case",
] as const;
const LOCATION_FIELDS = [
  "city",
  "country",
  "district",
  "latitude",
  "longitude",
  "postal_code",
  "region",
  "street",
  "street_number",
] as const;
export const TANK_COLUMNS = `id, ${TANK_FIELDS.join(", ")}, ${LOCATION_FIELDS.join(", ")}, deleted`;

export function tankOf(row: Row): Tank {
  const [id, assigned_device_id, capacity, capacity_unit, created_at, custom_id, min_fill_alert_percentage, ...others] = row;
  const [name, owner_id, updated_at, use_case, ...place] = others;
  const [city, country, district, latitude, longitude, postal_code, region, street, street_number] = place;
  return {
    id,
    assigned_device_id,
    capacity,
    capacity_unit,
    created_at,
    custom_id,
    location: { city, country, district, latitude, longitude, postal_code, region, street, street_number },
    min_fill_alert_percentage,
    name,
    owner_id,
    updated_at,
    use_case,
  } as Tank;
}

/** Columns of what is stored beside the public fields. */
const TANK_SETTINGS = ["shape", "silent_after", "paused_until", "runs_low_soon", "leak", "deleted_at"] as const;
/** Columns in the order of `tankValues`. */
export const TANK_VALUE_COLUMNS = [...TANK_FIELDS, ...LOCATION_FIELDS, ...TANK_SETTINGS] as const;

export function tankValues({ tank, shape, alerts, deletedAt }: TankState): Scalar[] {
  const location = LOCATION_FIELDS.map((field) => tank.location[field]);
  const { silent_after, paused_until, runs_low_soon, leak } = alerts;
  const settings = [silent_after, paused_until, Number(runs_low_soon), Number(leak), deletedAt];
  return [...TANK_FIELDS.map((field) => tank[field]), ...location, shape === null ? null : JSON.stringify(shape), ...settings];
}

export function isDeleted(row: Row): boolean {
  return Number(row.at(-1)) === 1;
}

/** Columns with the checksum. */
export const STORED_CUSTOMER_COLUMNS = `${CUSTOMER_COLUMNS}, checksum`;

export function customerChecksum(state: CustomerState): number {
  const { id, last_seen_at } = state.customer;
  const values = customerValues({ ...state, customer: { ...state.customer, last_seen_at: null } });
  return checksumOf([id, ...values, state.deleted]) + (last_seen_at ?? 0);
}

export function storedCustomer(row: Row): MaybeDamaged<ManagedCustomer> {
  const state = customerState(row.slice(0, -1));
  return row.at(-1) === customerChecksum(state) ? state : { ...state, damage: `customer ${state.customer.id} is damaged` };
}

export function customerState(row: Row): ManagedCustomer {
  const [language, unsubscribed_at, deletedAt] = row.slice(-4);
  return {
    customer: customerOf(row),
    deleted: isDeleted(row),
    deletedAt: deletedAt as Instant | null,
    notifications: { language, unsubscribed_at } as NotificationSettings,
  };
}

/** The settings come before `deleted`. */
export const TANK_STATE_COLUMNS = `id, ${TANK_VALUE_COLUMNS.join(", ")}, deleted`;
const SETTINGS_AND_DELETED = TANK_SETTINGS.length + 1;
export function tankState(row: Row): TankState {
  const [shape, silent_after, paused_until, runs_low_soon, leak, deletedAt] = row.slice(-SETTINGS_AND_DELETED);
  return {
    tank: tankOf(row),
    deleted: isDeleted(row),
    deletedAt: deletedAt as Instant | null,
    shape: storedJson(shape, `the shape of tank ${row[0]}`) as Shape | null,
    alerts: { silent_after, paused_until, runs_low_soon: runs_low_soon === 1, leak: leak === 1 } as TankAlertSettings,
  };
}

export const STORED_TANK_COLUMNS = `${TANK_STATE_COLUMNS}, checksum`;

export function tankChecksum(state: TankState): number {
  return checksumOf([state.tank.id, ...tankValues(state), state.deleted]);
}

export function storedTank(row: Row): MaybeDamaged<TankState> {
  const columns = row.slice(0, -1);
  if (row.at(-1) === checksumOf(columns)) return tankState(columns);
  return { ...tankState(columns.with(-SETTINGS_AND_DELETED, null)), damage: `tank ${row[0]} is damaged` };
}

export const DEVICE_COLUMNS = "id, tank, since, profile, pending, dropped";
function deviceOf([id, tank_id, since, profile]: Row): Device {
  return { id, tank_id, since, profile: storedJson(profile, `the profile of device ${id}`) as ProfileChoice | null } as Device;
}
export const managedDevice = (row: Row): ManagedDevice => ({
  device: deviceOf(row),
  pending: Number(row[4]),
  dropped: Number(row[5]),
});

export const STORED_DEVICE_COLUMNS = `${DEVICE_COLUMNS}, checksum`;
export const storedProfile = (profile: ProfileChoice | null): string | null =>
  profile === null ? null : JSON.stringify(profile);

export function deviceChecksum({ id, since, profile }: Device, dropped: number): number {
  return checksumOf([id, since, storedProfile(profile)]) + dropped;
}

export function storedDevice(row: Row): MaybeDamaged<ManagedDevice> {
  const [id, , since, profile, , dropped, checksum] = row;
  if (checksum === checksumOf([id, since, profile]) + Number(dropped)) return managedDevice(row);
  return { ...managedDevice(row.with(3, null)), damage: `device ${id} is damaged` };
}

const ASSIGNMENT_COLUMNS = "device, until, tank";
export const STORED_ASSIGNMENT_COLUMNS = `${ASSIGNMENT_COLUMNS}, checksum`;

export const assignmentChecksum = ({ device, until, tankId }: DeviceAssignment): number => checksumOf([device, until, tankId]);

export function storedAssignment([device, until, tankId, checksum]: Row): MaybeDamaged<DeviceAssignment> {
  const assignment = { device, until, tankId } as DeviceAssignment;
  if (checksum === assignmentChecksum(assignment)) return assignment;
  return { ...assignment, damage: `device ${device}: its assignment until ${displayInstant(assignment.until)} is damaged` };
}

/**
 * For exports: the columns of a device, the device that its tank names, and the past assignments as JSON: until, tank and
 * checksum of each.
 */
export function deviceWithHistory(row: Row): MaybeDamaged<DeviceWithHistory> {
  const { device, dropped, damage } = storedDevice(row.slice(0, -2));
  const { assignments, damage: other } = assignmentsOf(device.id, row.at(-1));
  const named = row.at(-2);
  const isAssigned = device.tank_id === null || (typeof named === "string" && deviceKey(named) === device.id);
  return { device, dropped, assignments, damage: damage ?? other ?? (isAssigned ? undefined : `device ${device.id} is damaged`) };
}
/** A removed device that has past assignments is exported as one that is assigned to no tank. */
export function removedDevice([id, past]: Row): MaybeDamaged<DeviceWithHistory> {
  const { assignments, damage } = assignmentsOf(String(id), past);
  const since = assignments.at(-1)?.until ?? EARLIEST;
  return { device: { ...unknownDevice(String(id)), since }, dropped: 0, assignments, damage };
}
function assignmentsOf(device: string, past: unknown): MaybeDamaged<Pick<DeviceWithHistory, "assignments">> {
  const assignments = ((storedJson(past, `the assignments of device ${device}`) ?? []) as readonly Row[]).map((row) =>
    storedAssignment([device, ...row]),
  );
  return { assignments, damage: assignments.find(({ damage }) => damage !== undefined)?.damage };
}

export const PENDING_COLUMNS = "device, created_at, fill, payload, customer_id";
export const STORED_PENDING_COLUMNS = `${PENDING_COLUMNS}, checksum`;
export const pendingOf = ([device, created_at, fill, payload, customer_id]: Row): PendingReading =>
  ({ device, created_at, fill, payload, customer_id }) as PendingReading;

/** Values in the order of `STORED_PENDING_COLUMNS`. */
export function pendingValues({ device, created_at, fill, payload, customer_id }: PendingReading): Scalar[] {
  const values = [device, created_at, fill, payload, customer_id];
  return [...values, checksumOf(values)];
}

/** For writes that release it. */
export function intactPending(row: Row): PendingReading {
  const { damage, ...reading } = storedPending(row);
  if (damage !== undefined) throw new DamageError(damage);
  return reading;
}

export function storedPending(row: Row): MaybeDamaged<PendingReading> {
  const reading = pendingOf(row);
  if (row[5] === checksumOf(row.slice(0, 5))) return reading;
  const { device, created_at } = reading;
  return { ...reading, damage: `device ${device}: its pending reading of ${displayInstant(created_at)} is damaged` };
}

export const KEY_COLUMNS = `k.id, k.name, k.role, k.customer_id, k.device_id, k.rate, k.created_at, k.expires_at, k.revoked_at,
  k.replaced_by, c.deleted`;
export const KEY_TABLES = "api_key k LEFT JOIN customer c ON c.id = k.customer_id";
export function keyOf(row: Row): StoredKey {
  const [id, name, role, customer_id, device_id, rate, created_at, expires_at, revoked_at, replaced_by, deleted] = row;
  const key = { id, name, role, customer_id, device_id, rate, created_at, expires_at, revoked_at, replaced_by };
  return { ...key, customer_deleted: Number(deleted) === 1 } as StoredKey;
}

export const AUDIT_COLUMNS = "number, at, who, object, id, action, changes";
export function auditEntryOf([number, at, by, object, id, action, changes]: Row): AuditEntry {
  return { number, at, by, object, id, action, changes: storedJson(changes, `audit entry ${number}`) } as AuditEntry;
}

/** `what` tells the operator which object is damaged. */
export function storedJson(text: unknown, what: string): unknown {
  if (text === null || text === undefined) return null;
  const parsed = parseJson(String(text));
  if (parsed === undefined) throw new DamageError(`${what} cannot be read`);
  return parsed.value;
}

/** JSON that is returned as it is stored. */
export function intactJson(text: unknown, what: string): string {
  storedJson(text, what);
  return String(text);
}
