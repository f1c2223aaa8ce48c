// Managing keys: create, rotate, revoke. The rules stand here; the doors (the command line, later HTTP) only speak.

import { Complaint } from "../domain/errors.ts";
import { isCleanText, isLongerThan, newId } from "../domain/id.ts";
import type { Clock } from "../domain/instant.ts";
import { hashOfSecret, type Key, type KnownKey, keyState, newSecret, type Role, SEES_ALL } from "../domain/key.ts";
import type { Store } from "../domain/store.ts";

export type NewKey = {
  readonly name: string;
  readonly role: Role;
  readonly customerId: string | null;
  readonly deviceId: string | null;
  readonly rate: number | null;
  /** Milliseconds from now; null never expires. */
  readonly lifetime: number | null;
};

export type MadeKey = { readonly key: Key; readonly secret: string };

const NAME_MAX_LENGTH = 512;

export async function createKey(store: Store, clock: Clock, wish: NewKey): Promise<MadeKey> {
  await refuseUnfit(store, wish);
  const now = clock();
  const key: Key = {
    id: newId("key", now),
    name: wish.name,
    role: wish.role,
    customer_id: wish.customerId,
    device_id: wish.deviceId,
    rate: wish.rate,
    created_at: now,
    expires_at: wish.lifetime === null ? null : now + wish.lifetime,
    revoked_at: null,
    replaced_by: null,
  };
  const secret = newSecret();
  await store.addKey(key, hashOfSecret(secret));
  return { key, secret };
}

async function refuseUnfit(store: Store, wish: NewKey): Promise<void> {
  if (wish.name === "" || isLongerThan(wish.name, NAME_MAX_LENGTH) || !isCleanText(wish.name)) {
    throw new Complaint(`a key's name must have 1 to ${NAME_MAX_LENGTH} characters, none of them control characters`, 2);
  }
  if (wish.lifetime === 0) throw new Complaint("a key that expires at once is of no use", 2);
  if (wish.role === "manage" && wish.customerId !== null) {
    throw new Complaint("a key of the role manage sees everything: it cannot be bound to a customer", 2);
  }
  if (wish.deviceId !== null && (wish.role !== "ingest" || wish.customerId !== null)) {
    throw new Complaint("only a key of the role ingest can be bound to a device, and then to nothing else", 2);
  }
  if (wish.customerId !== null) {
    const customer = await store.customerById(wish.customerId, SEES_ALL);
    if (customer === undefined) throw new Complaint(`there is no customer ${wish.customerId}`);
    if (customer === "deleted") throw new Complaint(`customer ${wish.customerId} is deleted`);
  }
}

/** A successor with a lifetime as long as the old key's; the old one works on for `overlap` milliseconds. */
export async function rotateKey(store: Store, clock: Clock, id: string, overlap: number): Promise<MadeKey> {
  const old = await keyById(store, id);
  const now = clock();
  const state = keyState(old, now);
  if (state !== "active") throw new Complaint(`key ${id} cannot be rotated: it is ${state}`);
  if (old.replaced_by !== null) throw new Complaint(`key ${id} was rotated already; its successor is ${old.replaced_by}`);
  const key: Key = {
    ...withoutCustomerState(old),
    id: newId("key", now),
    created_at: now,
    expires_at: old.expires_at === null ? null : now + (old.expires_at - old.created_at),
  };
  const secret = newSecret();
  const oldEnds = Math.min(now + overlap, old.expires_at ?? Number.POSITIVE_INFINITY);
  const isReplaced = await store.replaceKey(id, oldEnds, key, hashOfSecret(secret));
  if (!isReplaced) throw new Complaint(`key ${id} cannot be rotated: it was revoked or rotated just now`);
  return { key, secret };
}

export async function revokeKey(store: Store, clock: Clock, id: string): Promise<void> {
  await keyById(store, id);
  await store.revokeKey(id, clock());
}

async function keyById(store: Store, id: string): Promise<KnownKey> {
  const key = (await store.keyList()).find((known) => known.id === id);
  if (key === undefined) throw new Complaint(`there is no key ${id}; "tank-monitor key list" shows them`);
  return key;
}

function withoutCustomerState({ customer_deleted: _, ...key }: KnownKey): Key {
  return key;
}
