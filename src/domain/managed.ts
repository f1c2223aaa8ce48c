// The objects of the interface as the operator sees and changes them: with what the interface keeps to itself, and with a
// tag that tells one version from another.

import { hash } from "node:crypto";
import { type CountedCustomer, customerObject } from "./customer.ts";
import type { Device } from "./device.ts";
import { ALWAYS } from "./device.ts";
import type { ShapedTank } from "./fleet.ts";
import { formatInstant, formatInstantOrNull } from "./instant.ts";
import { type Key, type KnownKey, keyState } from "./key.ts";
import { tankObject } from "./tank.ts";

export type ManagedCustomer = { readonly customer: CountedCustomer; readonly deleted: boolean };
/** A device with what waits of it. */
export type ManagedDevice = {
  readonly device: Device;
  readonly waiting: number;
  /** How many readings had to go since more could not wait. */
  readonly dropped: number;
};

/** What a caller sees of an object, and the tag of what can be changed in it. */
export type Shown = { readonly object: Readonly<Record<string, unknown>>; readonly tag: string };

export function shownCustomer({ customer, deleted }: ManagedCustomer): Shown {
  const { last_seen_at, tank_count, ...data } = customerObject(customer);
  return { object: { ...customerObject(customer), deleted }, tag: tagOf({ ...data, deleted }) };
}

export function shownTank({ tank, shape, deleted }: ShapedTank): Shown {
  return withTag({ ...tankObject(tank), shape, deleted });
}

export function shownDevice({ device, waiting, dropped }: ManagedDevice): Shown {
  const { id, tank_id, profile } = device;
  const since = device.since === ALWAYS ? null : formatInstant(device.since);
  const data = { id, object: "device", tank_id, since, profile };
  return { object: { ...data, waiting, dropped }, tag: tagOf(data) };
}

export function shownKey(key: KnownKey, now: number): Shown {
  return withTag({ ...keyFields(key), state: keyState(key, now) });
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

function withTag(object: Readonly<Record<string, unknown>>): Shown {
  return { object, tag: tagOf(object) };
}

/** As an entity tag is written. */
function tagOf(data: object): string {
  return `"${hash("sha256", JSON.stringify(data), "base64url").slice(0, 27)}"`;
}
