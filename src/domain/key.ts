// API keys: what they permit, and their secrets. A secret is shown once; only its SHA-256 is stored.

import { hash, randomInt } from "node:crypto";
import { crc32 } from "node:zlib";
import { errorInInstants, type Instant } from "./instant.ts";

export const ROLES = ["read", "ingest", "manage", "metrics"] as const;
export type Role = (typeof ROLES)[number];

/** The lowest and the highest rate limit of a key, in requests per second. */
export const MIN_RATE = 0.001;
export const MAX_RATE = 1_000_000;

export type Key = {
  readonly id: string;
  readonly name: string;
  readonly role: Role;
  /** The only customer this key can access; null for all. */
  readonly customer_id: string | null;
  /** The only device an ingest key can send for; null for any. */
  readonly device_id: string | null;
  /** Requests per second; null for `RATE_LIMIT` if it is limited to a customer, else for no limit. */
  readonly rate: number | null;
  readonly created_at: Instant;
  readonly expires_at: Instant | null;
  readonly revoked_at: Instant | null;
  /** The key created when this one was rotated. */
  readonly replaced_by: string | null;
};

/** What a key has unless it is set. */
export const KEY_DEFAULTS = {
  role: "read",
  customer_id: null,
  device_id: null,
  rate: null,
  created_at: 0,
  expires_at: null,
  revoked_at: null,
  replaced_by: null,
} satisfies Partial<Key>;

/** A key, and whether its customer is deleted. */
export type StoredKey = Key & { readonly customer_deleted: boolean };

/** The customer and the device a key can send readings for; null for any. Readings without a key have the `keyId` null. */
export type KeyBinding = { readonly keyId: string | null; readonly customerId: string | null; readonly deviceId: string | null };

export function bindingOf({ id: keyId, role, customer_id, device_id }: Key): KeyBinding {
  return role === "manage"
    ? { keyId, customerId: null, deviceId: null }
    : { keyId, customerId: customer_id, deviceId: device_id };
}

/** The customers, tanks and readings that a caller can access: all, or those of one customer. */
export type Scope = { readonly customerId: string | null };
export const UNRESTRICTED: Scope = { customerId: null };
/** Matches nothing: no customer has an empty id. */
export const NO_ACCESS: Scope = { customerId: "" };

const BASE62 = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
const PREFIX = "tm_";
const RANDOM_LENGTH = 30;
const CHECKSUM_LENGTH = 6;
const SECRET = new RegExp(`^${PREFIX}[0-9A-Za-z]{${RANDOM_LENGTH + CHECKSUM_LENGTH}}$`);

export function newSecret(random: (below: number) => number = randomInt): string {
  const characters = Array.from({ length: RANDOM_LENGTH }, () => BASE62.charAt(random(BASE62.length))).join("");
  return PREFIX + characters + checksum(characters);
}

/** False for a mistyped or incomplete secret, so that no query is needed. */
export function isWellFormedSecret(secret: string): boolean {
  if (!SECRET.test(secret)) return false;
  const end = PREFIX.length + RANDOM_LENGTH;
  return checksum(secret.slice(PREFIX.length, end)) === secret.slice(end);
}

export function hashSecret(secret: string): string {
  return hash("sha256", secret, "hex");
}

/** Matches a secret, whole or in part, with any of its characters percent-encoded. */
const ANY_SECRET = /(?:t|%74)(?:m|%6d)(?:_|%5f)(?:[0-9a-z]|%[3-7][0-9a-f]){8,}/gi;

/** The text without secrets, which clients put anywhere by mistake. */
export function maskSecrets(text: string): string {
  // Nearly all texts have neither, and a search is faster than the expression.
  return text.includes(PREFIX) || text.includes("%") ? text.replace(ANY_SECRET, `${PREFIX}…`) : text;
}

/** As above, for what people type, which may contain names of files such as `tm_readings.csv`: most of a secret, at least. */
export const maskLongSecrets = (text: string): string => text.replaceAll(/tm_[0-9A-Za-z]{20,}/g, `${PREFIX}…`);

export const isSecretLike = (text: string): boolean => text.startsWith(PREFIX);

function checksum(text: string): string {
  let rest = crc32(text);
  let digits = "";
  for (let i = 0; i < CHECKSUM_LENGTH; i++) {
    digits = BASE62.charAt(rest % 62) + digits;
    rest = Math.floor(rest / 62);
  }
  return digits;
}

export const KEY_STATES = ["active", "revoked", "expired", "customer_deleted"] as const;
type KeyState = (typeof KEY_STATES)[number];

export function keyState(key: StoredKey, now: Instant): KeyState {
  if (key.revoked_at !== null) return "revoked";
  if (key.expires_at !== null && key.expires_at <= now) return "expired";
  return key.customer_deleted ? "customer_deleted" : "active";
}

/** What is wrong with a stored key. */
export function errorInKey({ role, created_at, revoked_at }: StoredKey): string | undefined {
  if (!ROLES.includes(role)) return `role: must be one of ${ROLES.join(", ")}, not ${role}`;
  return errorInInstants({ created_at, revoked_at });
}
