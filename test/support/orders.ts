// Orders carried out for a test: what was refused is thrown, unless the refusal is what the test is about.

import type { Occasion } from "../../src/domain/audit.ts";
import type { Instant } from "../../src/domain/instant.ts";
import type { Key } from "../../src/domain/key.ts";
import type { Shown } from "../../src/domain/managed.ts";
import { type IfMatch, isRefused, type Once, type Order, type Refused } from "../../src/domain/orders/order.ts";
import type { Writes } from "../../src/domain/store.ts";

type Orders = Pick<Writes, "carryOut">;
type Fields = Readonly<Record<string, unknown>>;

/** The operator of the tests. */
export const OPERATOR = "key_operator";
export const at = (instant: Instant, by = OPERATOR): Occasion => ({ by, at: instant });

export async function carriedOut(store: Orders, order: Order, occasion: Occasion, once?: Once): Promise<Shown> {
  const carried = await store.carryOut(order, occasion, once);
  if (isRefused(carried)) throw new Error(`refused: ${carried.refused}: ${carried.detail}`);
  return carried.shown;
}

export async function refusalOf(store: Orders, order: Order, occasion: Occasion, once?: Once): Promise<Refused> {
  const carried = await store.carryOut(order, occasion, once);
  if (isRefused(carried)) return carried;
  throw new Error(`not refused, but ${JSON.stringify(carried.shown.object)}`);
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

/** Orders as they are given, all but the occasion. */
export const order = {
  createCustomer: (newId: string, fields: unknown): Order => ({ order: "create_customer", newId, fields }),
  createTank: (newId: string, fields: unknown): Order => ({ order: "create_tank", newId, fields }),
  changeCustomer: (id: string, fields: unknown, ifMatch?: IfMatch): Order => ({ order: "change_customer", id, fields, ifMatch }),
  changeTank: (id: string, fields: unknown, { swap = false, ifMatch }: Way = {}): Order => ({
    order: "change_tank",
    id,
    fields,
    ifMatch,
    swap,
  }),
  deleteCustomer: (id: string, tanks = false, ifMatch?: IfMatch): Order => ({ order: "delete_customer", id, tanks, ifMatch }),
  restoreCustomer: (id: string, tanks = true, ifMatch?: IfMatch): Order => ({ order: "restore_customer", id, tanks, ifMatch }),
  deleteTank: (id: string, ifMatch?: IfMatch): Order => ({ order: "delete_tank", id, ifMatch }),
  restoreTank: (id: string, fields: unknown = {}, ifMatch?: IfMatch): Order => ({ order: "restore_tank", id, fields, ifMatch }),
  putDevice: (id: string, fields: unknown, { swap = false, ifMatch }: Way = {}): Order => ({
    order: "put_device",
    id,
    fields,
    ifMatch,
    swap,
  }),
  forgetDevice: (id: string, ifMatch?: IfMatch): Order => ({ order: "forget_device", id, ifMatch }),
  addKey: (key: Key, hash: string): Order => ({ order: "add_key", key, hash }),
  replaceKey: (id: string, overlap: number, newId: string, hash: string): Order => ({
    order: "replace_key",
    id,
    overlap,
    newId,
    hash,
  }),
  changeKey: (id: string, fields: unknown, ifMatch?: IfMatch): Order => ({ order: "change_key", id, fields, ifMatch }),
  revokeKey: (id: string): Order => ({ order: "revoke_key", id }),
} as const;

export const addKey = (store: Orders, key: Key, hash: string): Promise<Shown> =>
  carriedOut(store, order.addKey(key, hash), at(key.created_at));

type Successor = { readonly overlap: number; readonly newId: string; readonly hash: string };

export const replaceKey = (store: Orders, id: string, { overlap, newId, hash }: Successor, now: Instant): Promise<Shown> =>
  carriedOut(store, order.replaceKey(id, overlap, newId, hash), at(now));

export const revokeKey = (store: Orders, id: string, now: Instant): Promise<Shown> =>
  carriedOut(store, order.revokeKey(id), at(now));
