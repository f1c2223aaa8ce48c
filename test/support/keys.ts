// Keys for tests, created, rotated and revoked through the management service.

import assert from "node:assert/strict";
import type { Clock } from "../../src/domain/instant.ts";
import { formatInstant } from "../../src/domain/instant.ts";
import { hashSecret, type Key, type Role } from "../../src/domain/key.ts";
import type { Store } from "../../src/domain/store.ts";
import { ManagementService } from "../../src/http/management.ts";

export type KeyWish = {
  readonly name: string;
  readonly role: Role;
  readonly customerId: string | null;
  readonly deviceId: string | null;
  readonly rate: number | null;
  /** Milliseconds from now; null never expires. */
  readonly lifetime: number | null;
};

type Made = { readonly key: Key; readonly secret: string };

export async function makeKey(store: Store, clock: Clock, wish: KeyWish): Promise<Made> {
  const { name, role, customerId: customer_id, deviceId: device_id, rate, lifetime } = wish;
  const expires_at = lifetime === null ? null : formatInstant(clock() + lifetime);
  return told(
    store,
    await new ManagementService(store, clock).createKey({ name, role, customer_id, device_id, rate, expires_at }, "test"),
  );
}

export async function turnKey(store: Store, clock: Clock, id: string, overlap: number): Promise<Made> {
  return told(store, await new ManagementService(store, clock).rotateKey(id, overlap, "test"));
}

export async function endKey(store: Store, clock: Clock, id: string): Promise<void> {
  await new ManagementService(store, clock).execute({ type: "revoke_key", id }, "test");
}

async function told(store: Store, { secret }: { readonly secret: string | null }): Promise<Made> {
  assert.ok(secret !== null);
  const known = await store.keyByHash(hashSecret(secret));
  assert.ok(known !== undefined);
  const { customer_deleted: _, ...key } = known;
  return { key, secret };
}
