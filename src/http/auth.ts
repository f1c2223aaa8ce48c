// Authentication: from the key in a request to a caller with a role, a scope and a rate limit.

import type { FastifyReply, FastifyRequest } from "fastify";
import { RequestError } from "../domain/errors.ts";
import type { Clock, Instant } from "../domain/instant.ts";
import {
  bindingOf,
  hashSecret,
  isWellFormedSecret,
  KEY_DEFAULTS,
  type Key,
  keyState,
  NO_ACCESS,
  type Role,
  type Scope,
  type StoredKey,
} from "../domain/key.ts";
import type { Reads } from "../domain/store.ts";
import type { LastSeen } from "./last-seen.ts";
import { exceedsWrongKeyLimit, type Limits, limitRate, type RateDecision } from "./limits.ts";

export type Caller = { readonly key: Key; readonly scope: Scope };

/** The caller of a route that needs no key. */
export const ANONYMOUS: Caller = {
  key: { ...KEY_DEFAULTS, id: "", name: "anonymous", customer_id: "" },
  scope: NO_ACCESS,
};

export type RequiredRole = "none" | Role;

/** The roles that satisfy a required role. */
export const SUFFICIENT_ROLES: Readonly<Record<RequiredRole, readonly Role[]>> = {
  none: [],
  read: ["read", "manage"],
  ingest: ["ingest", "manage"],
  manage: ["manage"],
  metrics: ["metrics", "manage"],
};

function requireRole({ role }: Key, required: Role): void {
  if (SUFFICIENT_ROLES[required].includes(role)) return;
  const sufficient = SUFFICIENT_ROLES[required].map((role) => `"${role}"`).join(" or ");
  throw new RequestError("role_insufficient", `This key has the role "${role}"; this endpoint requires the role ${sufficient}.`);
}

/** A revoked key stops working everywhere within a second. */
const CACHED_MS = 500;
const MAX_CACHED_KEYS = 10_000;

/** `rate`: requests per second; null where the key is not limited. */
type AuthenticatedCaller = Caller & { readonly rate: number | null };

type CachedCaller = { readonly caller: AuthenticatedCaller; readonly since: Instant; readonly until: Instant };

/** Who sends a secret from an address; throws where the key is not active or lacks the role. */
type Authenticate = (secret: string, client: { readonly ip: string }, required: Role) => Promise<AuthenticatedCaller>;

/** `customerRate`: the rate limit of customers' keys; 0 turns all limits off. Wrong keys from one address are throttled. */
export function createAuthentication(
  reads: Pick<Reads, "keyByHash">,
  clock: Clock,
  limits: Limits,
  customerRate: number,
): Authenticate {
  /** Active keys, by the secret itself: hashing it would cost more than everything else here. */
  const cache = new Map<string, CachedCaller>();

  async function load(secret: string, client: { readonly ip: string }, now: Instant): Promise<CachedCaller> {
    cache.delete(secret);
    const isWellFormed = isWellFormedSecret(secret);
    const key = isWellFormed ? await reads.keyByHash(hashSecret(secret)) : undefined;
    if (key === undefined) {
      if (customerRate !== 0 && (await exceedsWrongKeyLimit(limits, client.ip))) {
        const detail = "Too many wrong keys from this address. Retry after the time in Retry-After.";
        throw new RequestError("keys_throttled", detail, { retryAfter: 1 });
      }
      const malformed = "The value of X-API-Key is not a valid key. It may be mistyped or cut off.";
      throw new RequestError("key_invalid", isWellFormed ? "There is no such key." : malformed);
    }
    requireActive(key, now);
    const rate = customerRate === 0 ? null : (key.rate ?? (key.customer_id === null ? null : customerRate));
    const caller = { key, scope: { customerId: key.role === "manage" ? null : key.customer_id }, rate };
    const cached = { caller, since: now, until: Math.min(now + CACHED_MS, key.expires_at ?? Number.POSITIVE_INFINITY) };
    if (cache.size >= MAX_CACHED_KEYS) cache.clear();
    cache.set(secret, cached);
    return cached;
  }

  return async (secret, client, required) => {
    const now = clock();
    const cached = cache.get(secret);
    // The first comparison fails where the clock was set back.
    const isFresh = cached !== undefined && now >= cached.since && now < cached.until;
    const { caller } = isFresh ? cached : await load(secret, client, now);
    requireRole(caller.key, required);
    return caller;
  };
}

function requireActive(key: StoredKey, now: Instant): void {
  const state = keyState(key, now);
  if (state === "active") return;
  if (state === "expired") throw new RequestError("key_expired", "This key has expired. Ask the operator for a new one.");
  throw new RequestError("key_revoked", "This key has been revoked. Ask the operator for a new one.");
}

/** `bearer`: the key may also be sent as a bearer token. */
type Access = { readonly requiredRole: RequiredRole; readonly bearer?: true };

export type Admit = (request: FastifyRequest, reply: FastifyReply, access: Access) => Promise<void>;

/** Checks the key of a request, its role and its rate limit, and sets `request.caller`. */
export function createAdmission(authenticate: Authenticate, limits: Limits, lastSeen: LastSeen): Admit {
  return async (request, reply, { requiredRole, bearer }) => {
    if (requiredRole === "none") return;
    const caller = await authenticate(secretIn(request, bearer), request, requiredRole);
    request.caller = caller;
    const { key, rate } = caller;
    if (rate !== null) {
      const { allowed, retryAfter, headers } = await limitRate(limits, key.id, rate);
      reply.headers(headers);
      const detail = "This key is over its rate limit. Retry after the time in Retry-After.";
      if (!allowed) throw new RequestError("rate_limited", detail, { retryAfter });
    }
    if (key.customer_id !== null) lastSeen.note(key.customer_id);
  };
}

function secretIn({ headers }: FastifyRequest, bearer = false): string {
  const key = headers["x-api-key"];
  if (typeof key === "string" && key !== "") return key;
  const token = bearer ? /^Bearer +(\S+)$/i.exec(headers.authorization ?? "")?.[1] : undefined;
  if (token !== undefined) return token;
  throw new RequestError("key_missing", "Send your key in the header X-API-Key.");
}

/** A timer may fire a little early. */
const TIMER_MARGIN_MS = 5;

/** Checks the keys of MQTT clients as those of requests, and counts a message as a request. */
export function ingestAuthentication(reads: Pick<Reads, "keyByHash">, clock: Clock, limits: Limits, customerRate: number) {
  const authenticate = createAuthentication(reads, clock, limits, customerRate);
  const delayOf = ({ allowed, retryAfter }: RateDecision) => (allowed ? 0 : retryAfter * 1000 + TIMER_MARGIN_MS);
  return async (secret: string, address: string) => {
    const { key, rate } = await authenticate(secret, { ip: address }, "ingest");
    const takeToken = () => {
      if (rate === null) return 0;
      const decision = limitRate(limits, key.id, rate);
      return decision instanceof Promise ? decision.then(delayOf) : delayOf(decision);
    };
    return { keyId: key.id, sender: bindingOf(key), takeToken };
  };
}
