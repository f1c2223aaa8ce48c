// Rows as objects: both engines select the same columns in the same order. `deleted` comes last, as a number or a boolean.

import type { AuditEntry } from "../domain/audit.ts";
import type { CustomerState, TankWithShape } from "../domain/changes.ts";
import type { Customer, CustomerWithCount } from "../domain/customer.ts";
import { type Device, type DeviceAssignment, type ProfileChoice, unknownDevice } from "../domain/device.ts";
import type { FleetEntry } from "../domain/fleet.ts";
import { EARLIEST } from "../domain/instant.ts";
import type { StoredKey } from "../domain/key.ts";
import type { Page } from "../domain/page.ts";
import type { PendingReading } from "../domain/placement.ts";
import type { DeviceWithHistory } from "../domain/records.ts";
import type { ManagedDevice } from "../domain/resource.ts";
import type { Shape } from "../domain/shape.ts";
import type { CustomerQuery } from "../domain/store.ts";
import type { Tank } from "../domain/tank.ts";
import { LATEST } from "./series/rank-index.ts";

export type Row = readonly unknown[];
type Scalar = string | number | null;

/** In the order of `customerValues`; without the id and `tank_count`. */
export const CUSTOMER_FIELDS = ["created_at", "email", "last_seen_at", "name", "phone", "updated_at", "verified_at"] as const;
export const CUSTOMER_COLUMNS = `id, ${CUSTOMER_FIELDS.join(", ")}, tank_count, deleted`;

export function customerOf(row: Row): CustomerWithCount {
  const [id, created_at, email, last_seen_at, name, phone, updated_at, verified_at, tank_count] = row;
  return { id, created_at, email, last_seen_at, name, phone, updated_at, verified_at, tank_count } as CustomerWithCount;
}

export function customerValues(customer: Customer): Scalar[] {
  return CUSTOMER_FIELDS.map((field) => customer[field]);
}

/** In the order of `tankValues`; without the id and the shape. */
export const TANK_FIELDS = [
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
export const LOCATION_FIELDS = [
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

export function tankValues({ tank, shape }: TankWithShape): Scalar[] {
  const location = LOCATION_FIELDS.map((field) => tank.location[field]);
  return [...TANK_FIELDS.map((field) => tank[field]), ...location, shape === null ? null : JSON.stringify(shape)];
}

export function isDeleted(row: Row): boolean {
  return Number(row.at(-1)) === 1;
}

export const customerState = (row: Row): CustomerState & { readonly customer: CustomerWithCount } => ({
  customer: customerOf(row),
  deleted: isDeleted(row),
});

/** `shape` comes before `deleted`. */
export const TANK_WITH_SHAPE_COLUMNS = `id, ${TANK_FIELDS.join(", ")}, ${LOCATION_FIELDS.join(", ")}, shape, deleted`;
export const tankWithShape = (row: Row): TankWithShape => ({
  tank: tankOf(row),
  deleted: isDeleted(row),
  shape: jsonOrNull(row.at(-2)) as Shape | null,
});

/** A tank, then the instant and the fill of its latest reading. */
export function fleetEntryOf(row: Row): FleetEntry {
  const [at, fill] = row.slice(-2);
  return { tank: tankOf(row), latest: fill === null ? null : { created_at: Number(at), fill_percentage: Number(fill) } };
}

export const DEVICE_COLUMNS = "id, tank, since, profile, pending, dropped";
function deviceOf([id, tank_id, since, profile]: Row): Device {
  return { id, tank_id, since, profile: jsonOrNull(profile) as ProfileChoice | null } as Device;
}
export const managedDevice = (row: Row): ManagedDevice => ({
  device: deviceOf(row),
  waiting: Number(row[4]),
  dropped: Number(row[5]),
});

export const ASSIGNMENT_COLUMNS = "device, until, tank";
export const assignmentOf = ([device, until, tankId]: Row): DeviceAssignment => ({ device, until, tankId }) as DeviceAssignment;

/** For exports. The last column has the past assignments as JSON: pairs of until and tank. */
export function deviceWithHistory(row: Row): DeviceWithHistory {
  const { device, dropped } = managedDevice(row);
  return { device, dropped, assignments: assignmentsOf(device.id, row.at(-1)) };
}
/** A removed device that has past assignments is exported as one that serves no tank. */
export function removedDevice([id, pairs]: Row): DeviceWithHistory {
  const assignments = assignmentsOf(String(id), pairs);
  return {
    device: { ...unknownDevice(String(id)), since: assignments.at(-1)?.until ?? EARLIEST },
    dropped: 0,
    assignments,
  };
}
function assignmentsOf(device: string, pairs: unknown): DeviceAssignment[] {
  const ends = (jsonOrNull(pairs) ?? []) as readonly (readonly [number, string])[];
  return ends.map(([until, tankId]) => ({ device, until, tankId }));
}

export const PENDING_COLUMNS = "device, created_at, fill, payload, customer_id";
export const pendingOf = ([device, created_at, fill, payload, customer_id]: Row): PendingReading =>
  ({ device, created_at, fill, payload, customer_id }) as PendingReading;

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
  return { number, at, by, object, id, action, changes: JSON.parse(String(changes)) } as AuditEntry;
}

function jsonOrNull(text: unknown): unknown {
  return typeof text === "string" ? JSON.parse(text) : null;
}

/** The customer list of a key that is bound to a customer: that customer, if the filters include it. */
export function ownPage(row: Row | undefined, { email, from, to, page }: CustomerQuery): Page<CustomerWithCount> {
  const customer = row === undefined || isDeleted(row) ? undefined : customerOf(row);
  if (customer === undefined || (email !== undefined && customer.email !== email)) return { data: [], totalItems: 0 };
  if (customer.created_at < (from ?? EARLIEST) || customer.created_at > (to ?? LATEST)) return { data: [], totalItems: 0 };
  return { data: page === 1 ? [customer] : [], totalItems: 1 };
}
