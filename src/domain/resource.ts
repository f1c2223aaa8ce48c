// The objects of the interface as the operator sees and changes them: with what the interface keeps to itself, and with a
// tag that tells one version from another.

import { hash } from "node:crypto";
import type { TankWithShape } from "./changes.ts";
import { type CustomerWithCount, customerObject } from "./customer.ts";
import type { Device } from "./device.ts";
import { EARLIEST } from "./device.ts";
import { formatInstant, formatInstantOrNull } from "./instant.ts";
import { type Key, keyState, type StoredKey } from "./key.ts";
import { tankObject } from "./tank.ts";

export type ManagedCustomer = { readonly customer: CustomerWithCount; readonly deleted: boolean };
/** A device with what waits of it. */
export type ManagedDevice = {
  readonly device: Device;
  readonly waiting: number;
  /** How many readings had to go since more could not wait. */
  readonly dropped: number;
};

/** What a caller sees of an object, and the tag of what can be changed in it. */
export type Resource = { readonly object: Readonly<Record<string, unknown>>; readonly etag: string };

export function customerResource({ customer, deleted }: ManagedCustomer): Resource {
  const { last_seen_at, tank_count, ...data } = customerObject(customer);
  return { object: { ...customerObject(customer), deleted }, etag: etagOf({ ...data, deleted }) };
}

export function tankResource({ tank, shape, deleted }: TankWithShape): Resource {
  return withEtag({ ...tankObject(tank), shape, deleted });
}

export function deviceResource({ device, waiting, dropped }: ManagedDevice): Resource {
  const { id, tank_id, profile } = device;
  const since = device.since === EARLIEST ? null : formatInstant(device.since);
  const data = { id, object: "device", tank_id, since, profile };
  return { object: { ...data, waiting, dropped }, etag: etagOf(data) };
}

export function keyResource(key: StoredKey, now: number): Resource {
  return withEtag({ ...keyFields(key), state: keyState(key, now) });
}

/** All but its secret, of which nothing is known. */
export function keyFields(key: Key): Readonly<Record<string, unknown>> {
  return {
    id: key.id,
    object: "key",
    name: key.name,
    role: key.role,
    customer_id: key.customer_id,
    device_id: key.device_id,
    rate: key.rate,
    created_at: formatInstant(key.created_at),
    expires_at: formatInstantOrNull(key.expires_at),
    revoked_at: formatInstantOrNull(key.revoked_at),
    replaced_by: key.replaced_by,
  };
}

function withEtag(object: Readonly<Record<string, unknown>>): Resource {
  return { object, etag: etagOf(object) };
}

/** As an entity tag is written. */
function etagOf(data: object): string {
  return `"${hash("sha256", JSON.stringify(data), "base64url").slice(0, 27)}"`;
}
