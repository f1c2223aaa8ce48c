// Orders carried out for a test: what was refused is thrown, unless the refusal is what the test is about.

import type { AuditContext } from "../../src/domain/audit.ts";
import {
  type Command,
  type CommandError,
  type IdempotencyKey,
  type IfMatch,
  isCommandError,
} from "../../src/domain/commands/command.ts";
import { formatInstantOrNull, type Instant } from "../../src/domain/instant.ts";
import type { Key } from "../../src/domain/key.ts";
import type { Resource } from "../../src/domain/resource.ts";
import type { Writes } from "../../src/domain/store.ts";

type Orders = Pick<Writes, "execute">;
type Fields = Readonly<Record<string, unknown>>;

/** The operator of the tests. */
export const OPERATOR = "key_operator";
export const at = (instant: Instant, by = OPERATOR): AuditContext => ({ by, at: instant });

export async function carriedOut(store: Orders, order: Command, context: AuditContext, once?: IdempotencyKey): Promise<Resource> {
  const carried = await store.execute(order, context, once);
  if (isCommandError(carried)) throw new Error(`refused: ${carried.error}: ${carried.detail}`);
  return carried.resource;
}

export async function refusalOf(
  store: Orders,
  order: Command,
  context: AuditContext,
  once?: IdempotencyKey,
): Promise<CommandError> {
  const carried = await store.execute(order, context, once);
  if (isCommandError(carried)) return carried;
  throw new Error(`not refused, but ${JSON.stringify(carried.resource.object)}`);
}

/** What a new tank must have. */
export const tankFields = (owner_id: string, assigned_device_id: string, fields: Fields = {}): Fields => ({
  assigned_device_id,
  capacity: 2700,
  capacity_unit: "liters",
  min_fill_alert_percentage: 20,
  name: "A tank",
  owner_id,
  ...fields,
});

type Way = { readonly swap?: boolean; readonly ifMatch?: IfMatch };

/** Orders as they are given, all but the context. */
export const order = {
  createCustomer: (newId: string, fields: unknown): Command => ({ type: "create_customer", newId, fields }),
  createTank: (newId: string, fields: unknown): Command => ({ type: "create_tank", newId, fields }),
  changeCustomer: (id: string, fields: unknown, ifMatch?: IfMatch): Command => ({
    type: "change_customer",
    id,
    fields,
    ifMatch,
  }),
  changeTank: (id: string, fields: unknown, { swap = false, ifMatch }: Way = {}): Command => ({
    type: "change_tank",
    id,
    fields,
    ifMatch,
    swap,
  }),
  deleteCustomer: (id: string, tanks = false, ifMatch?: IfMatch): Command => ({ type: "delete_customer", id, tanks, ifMatch }),
  restoreCustomer: (id: string, tanks = true, ifMatch?: IfMatch): Command => ({ type: "restore_customer", id, tanks, ifMatch }),
  deleteTank: (id: string, ifMatch?: IfMatch): Command => ({ type: "delete_tank", id, ifMatch }),
  restoreTank: (id: string, fields: unknown = {}, ifMatch?: IfMatch): Command => ({ type: "restore_tank", id, fields, ifMatch }),
  putDevice: (id: string, fields: unknown, { swap = false, ifMatch }: Way = {}): Command => ({
    type: "put_device",
    id,
    fields,
    ifMatch,
    swap,
  }),
  forgetDevice: (id: string, ifMatch?: IfMatch): Command => ({ type: "remove_device", id, ifMatch }),
  addKey: ({ id: newId, name, role, customer_id, device_id, rate, expires_at }: Key, hash: string): Command => ({
    type: "create_key",
    newId,
    fields: { name, role, customer_id, device_id, rate, expires_at: formatInstantOrNull(expires_at) },
    hash,
  }),
  replaceKey: (id: string, overlap: number, newId: string, hash: string): Command => ({
    type: "rotate_key",
    id,
    overlap,
    newId,
    hash,
  }),
  changeKey: (id: string, fields: unknown, ifMatch?: IfMatch): Command => ({ type: "change_key", id, fields, ifMatch }),
  revokeKey: (id: string): Command => ({ type: "revoke_key", id }),
} as const;

export const addKey = (store: Orders, key: Key, hash: string): Promise<Resource> =>
  carriedOut(store, order.addKey(key, hash), at(key.created_at));

type Successor = { readonly overlap: number; readonly newId: string; readonly hash: string };

export const replaceKey = (store: Orders, id: string, { overlap, newId, hash }: Successor, now: Instant): Promise<Resource> =>
  carriedOut(store, order.replaceKey(id, overlap, newId, hash), at(now));

export const revokeKey = (store: Orders, id: string, now: Instant): Promise<Resource> =>
  carriedOut(store, order.revokeKey(id), at(now));
