// Keys for tests, created, rotated and revoked through the management service. Created and rotated keys are returned as secrets.

import assert from "node:assert/strict";
import { type Clock, formatInstant } from "../../src/domain/instant.ts";
import type { Role } from "../../src/domain/key.ts";
import type { Store } from "../../src/domain/store.ts";
import { ManagementService } from "../../src/http/management.ts";

/** By default a read key for all customers that never expires, without a rate limit. */
export type KeyOptions = {
  readonly name?: string;
  readonly role?: Role;
  readonly customerId?: string | null;
  readonly deviceId?: string | null;
  readonly rate?: number | null;
  /** Milliseconds from now. */
  readonly lifetime?: number;
};

export async function createKey(store: Store, clock: Clock, options: KeyOptions = {}): Promise<string> {
  const { name = "test", role = "read", customerId = null, deviceId = null, rate = null, lifetime } = options;
  const expires_at = lifetime === undefined ? null : formatInstant(clock() + lifetime);
  const fields = { name, role, customer_id: customerId, device_id: deviceId, rate, expires_at };
  const { secret } = await new ManagementService(store, clock).createKey(fields, "test");
  assert.ok(secret !== null);
  return secret;
}

export async function rotateKey(store: Store, clock: Clock, id: string, overlap: number): Promise<string> {
  const { secret } = await new ManagementService(store, clock).rotateKey(id, overlap, "test");
  assert.ok(secret !== null);
  return secret;
}

export async function revokeKey(store: Store, clock: Clock, id: string): Promise<void> {
  await new ManagementService(store, clock).execute({ type: "revoke_key", id }, "test");
}
