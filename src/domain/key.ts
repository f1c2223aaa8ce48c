// API keys: what one may do, and how its secret is made. The secret is shown once; only its SHA-256 is kept.

import { hash, randomInt } from "node:crypto";
import { crc32 } from "node:zlib";
import type { Instant } from "./instant.ts";

export const ROLES = ["read", "ingest", "manage"] as const;
export type Role = (typeof ROLES)[number];

/** Requests a second, at most, that a key may be given. */
export const MAX_RATE = 1_000_000;

export type Key = {
  readonly id: string;
  readonly name: string;
  readonly role: Role;
  /** The one customer this key sees; null sees everything. */
  readonly customer_id: string | null;
  /** The one device an ingest key sends for; null sends for any. */
  readonly device_id: string | null;
  /** Requests a second; null takes the default of its kind. */
  readonly rate: number | null;
  readonly created_at: Instant;
  readonly expires_at: Instant | null;
  readonly revoked_at: Instant | null;
  /** The key that took its place when it was rotated. */
  readonly replaced_by: string | null;
};

/** A key as it is looked up: with whether the customer it belongs to is still there. */
export type StoredKey = Key & { readonly customer_deleted: boolean };

/** For whom a key sends readings; null is not bound. */
export type KeyBinding = { readonly customerId: string | null; readonly deviceId: string | null };

export function bindingOf({ role, customer_id, device_id }: Key): KeyBinding {
  return role === "manage" ? { customerId: null, deviceId: null } : { customerId: customer_id, deviceId: device_id };
}

/** Which customers, tanks and readings a caller may learn of: all of them, or one customer's. */
export type Scope = { readonly customerId: string | null };
export const UNRESTRICTED: Scope = { customerId: null };
/** No customer has an empty id. */
export const NO_ACCESS: Scope = { customerId: "" };

const BASE62 = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
const PREFIX = "tm_";
const RANDOM_LENGTH = 30;
const CHECKSUM_LENGTH = 6;
const FORM = new RegExp(`^${PREFIX}[0-9A-Za-z]{${RANDOM_LENGTH + CHECKSUM_LENGTH}}$`);

export function newSecret(random: (below: number) => number = randomInt): string {
  let chance = "";
  for (let i = 0; i < RANDOM_LENGTH; i++) chance += BASE62.charAt(random(BASE62.length));
  return PREFIX + chance + checksum(chance);
}

/** Tells a mistyped or cut secret from a whole one, without asking the store. */
export function isWellFormedSecret(secret: string): boolean {
  if (!FORM.test(secret)) return false;
  const end = PREFIX.length + RANDOM_LENGTH;
  return checksum(secret.slice(PREFIX.length, end)) === secret.slice(end);
}

export function hashSecret(secret: string): string {
  return hash("sha256", secret, "hex");
}

function checksum(text: string): string {
  let rest = crc32(text);
  let digits = "";
  for (let i = 0; i < CHECKSUM_LENGTH; i++) {
    digits = BASE62.charAt(rest % 62) + digits;
    rest = Math.floor(rest / 62);
  }
  return digits;
}

export const KEY_STATES = ["active", "revoked", "expired", "customer deleted"] as const;
export type KeyState = (typeof KEY_STATES)[number];

export function keyState(key: StoredKey, now: Instant): KeyState {
  if (key.revoked_at !== null) return "revoked";
  if (key.expires_at !== null && key.expires_at <= now) return "expired";
  return key.customer_deleted ? "customer deleted" : "active";
}
