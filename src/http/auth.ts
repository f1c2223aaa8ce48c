// Authentication: from the key or the session in a request to a caller with a role, a scope and a rate limit.

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
import { hasSessionRole, SESSION_ROLES, type SessionRole, type SessionWithAccount } from "../domain/session.ts";
import type { Reads } from "../domain/store.ts";
import { clientAddress, networkOf } from "./connection-limit.ts";
import { Cookies, requireSecureContext } from "./cookies.ts";
import type { LastSeen } from "./last-seen.ts";
import { exceeds, type Limits, limitRate, type RateDecision } from "./limits.ts";
import { isSafeMethod, requireSameOrigin } from "./same-origin.ts";

/** For a session, `key` has only the id, the name and the customer of the account; its rights are those of `session.account`. */
export type Caller = { readonly key: Key; readonly scope: Scope; readonly session: SessionWithAccount | null };

/** The caller of a route that needs no key. */
export const ANONYMOUS: Caller = {
  key: { ...KEY_DEFAULTS, id: "", name: "anonymous", customer_id: "" },
  scope: NO_ACCESS,
  session: null,
};

/** `session`: for people who are signed in, not for keys. */
export type RequiredRole = "none" | "session" | Role;

/** The roles that satisfy a required role. */
export const SUFFICIENT_ROLES: Readonly<Record<RequiredRole, readonly Role[]>> = {
  none: [],
  session: [],
  read: ["read", "manage"],
  ingest: ["ingest", "manage"],
  manage: ["manage"],
  metrics: ["metrics", "manage"],
};

const quotedRoles = (roles: readonly string[]): string => roles.map((role) => `"${role}"`).join(" or ");

function requireRole({ role }: Key, required: Exclude<RequiredRole, "none">): void {
  const sufficient = SUFFICIENT_ROLES[required];
  if (sufficient.includes(role)) return;
  const requires = required === "session" ? "is for people who are signed in" : `requires the role ${quotedRoles(sufficient)}`;
  throw new RequestError("role_insufficient", `This key has the role "${role}"; this endpoint ${requires}.`);
}

function requireSessionRole({ account: { role } }: SessionWithAccount, required: SessionRole): void {
  if (hasSessionRole(role, required)) return;
  const sufficient = quotedRoles(SESSION_ROLES.slice(SESSION_ROLES.indexOf(required)));
  throw new RequestError("role_insufficient", `You have the role "${role}"; this endpoint requires the role ${sufficient}.`);
}

/** A revoked key, or a session that has ended, stops working everywhere within a second. */
const CACHED_MS = 500;
const MAX_CACHED = 10_000;

/** `rate`: requests per second; null where the caller is not limited. */
type AuthenticatedCaller = Caller & { readonly rate: number | null };

type CachedCaller = { readonly caller: AuthenticatedCaller; readonly since: Instant; readonly until: Instant };

/** Active keys and sessions, by the secret itself: hashing it would cost more than everything else here. */
class CallerCache {
  readonly #clock: Clock;
  readonly #cached = new Map<string, CachedCaller>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** `load` returns the caller, and when the secret expires. */
  async get(
    secret: string,
    load: (now: Instant) => Promise<{ readonly caller: AuthenticatedCaller; readonly expiresAt: Instant | null }>,
  ): Promise<AuthenticatedCaller> {
    const now = this.#clock();
    const cached = this.#cached.get(secret);
    // `now` is before `since` if the clock was set back.
    if (cached !== undefined && now >= cached.since && now < cached.until) return cached.caller;
    this.#cached.delete(secret);
    const { caller, expiresAt } = await load(now);
    if (this.#cached.size >= MAX_CACHED) this.#cached.clear();
    const until = Math.min(now + CACHED_MS, expiresAt ?? Number.POSITIVE_INFINITY);
    this.#cached.set(secret, { caller, since: now, until });
    return caller;
  }
}

/** Returns the caller with this key, sent from an address. Throws if the key is not active or lacks the role. */
type AuthenticateKey = (
  secret: string,
  address: () => string,
  required: Exclude<RequiredRole, "none">,
) => Promise<AuthenticatedCaller>;

/** `customerRate`: the rate limit of customers' keys; 0 turns all limits off. Wrong keys from one address are throttled. */
function createKeyAuthenticator(
  reads: Pick<Reads, "keyByHash">,
  clock: Clock,
  limits: Limits,
  customerRate: number,
): AuthenticateKey {
  const cache = new CallerCache(clock);

  async function load(secret: string, address: () => string, now: Instant) {
    const isWellFormed = isWellFormedSecret(secret);
    const key = isWellFormed ? await reads.keyByHash(hashSecret(secret)) : undefined;
    if (key === undefined) {
      if (await exceeds(limits, "wrong key", networkOf(address()))) {
        const detail = "Too many wrong keys from this address. Retry after the time in Retry-After.";
        throw new RequestError("keys_throttled", detail, { retryAfter: 1 });
      }
      const malformed = "The value of X-API-Key is not a valid key. It may be mistyped or truncated.";
      throw new RequestError("key_invalid", isWellFormed ? "There is no such key." : malformed);
    }
    requireActive(key, now);
    const rate = customerRate === 0 ? null : (key.rate ?? (key.customer_id === null ? null : customerRate));
    const scope = { customerId: key.role === "manage" ? null : key.customer_id };
    return { caller: { key, scope, session: null, rate }, expiresAt: key.expires_at };
  }

  return async (secret, address, required) => {
    const caller = await cache.get(secret, (now) => load(secret, address, now));
    requireRole(caller.key, required);
    return caller;
  };
}

function requireActive(key: StoredKey, now: Instant): void {
  const state = keyState(key, now);
  if (state === "active") return;
  if (state === "expired") throw new RequestError("key_expired", "This key has expired. Ask the operator for a new one.");
  if (state === "customer_deleted") throw new RequestError("key_revoked", "The customer of this key is deleted.");
  throw new RequestError("key_revoked", "This key has been revoked. Ask the operator for a new one.");
}

type AuthenticateSession = (secret: string, required: SessionRole) => Promise<AuthenticatedCaller>;

/** Customers have the scope and the rate limit of their keys. */
function createSessionAuthenticator(
  reads: Pick<Reads, "sessionByHash">,
  clock: Clock,
  customerRate: number,
): AuthenticateSession {
  const cache = new CallerCache(clock);

  async function load(secret: string, now: Instant) {
    const session = isWellFormedSecret(secret) ? await reads.sessionByHash(hashSecret(secret)) : undefined;
    if (session === undefined || session.expires_at <= now) {
      throw new RequestError("session_ended", "Your session has ended. Sign in again.");
    }
    const { account, customer_id, expires_at } = session;
    const key: Key = { ...KEY_DEFAULTS, id: account.id, name: account.name, customer_id };
    const rate = customer_id === null || customerRate === 0 ? null : customerRate;
    return { caller: { key, scope: { customerId: customer_id }, session, rate }, expiresAt: expires_at };
  }

  return async (secret, required) => {
    const caller = await cache.get(secret, (now) => load(secret, now));
    if (caller.session !== null) requireSessionRole(caller.session, required);
    return caller;
  };
}

/** What a route demands of its caller. */
export type Access = {
  readonly requiredRole: RequiredRole;
  /** The key may also be sent as a bearer token. */
  readonly bearer?: true;
  /** People who are signed in may use it, too, with this role or more; `customer`: each customer within their own scope. */
  readonly sessionRole?: SessionRole;
  /** Only for pages of this service, even without a session (CSRF protection). */
  readonly requiresSameOrigin?: true;
  /** It changes the mail settings of a customer, who may not do so often. */
  readonly changesMailSettings?: true;
};

export type Authenticate = (request: FastifyRequest, reply: FastifyReply, access: Access) => Promise<void>;

type AuthenticatorOptions = {
  readonly reads: Pick<Reads, "keyByHash" | "sessionByHash">;
  readonly clock: Clock;
  readonly limits: Limits;
  readonly lastSeen: LastSeen;
  readonly rateLimit: number;
  readonly publicUrl: string | null;
};

/** Checks the key or the session of a request, its role and its rate limit, and sets `request.caller`. */
export function createAuthenticator(options: AuthenticatorOptions): Authenticate {
  const { reads, clock, limits, lastSeen, rateLimit, publicUrl } = options;
  const authenticateKey = createKeyAuthenticator(reads, clock, limits, rateLimit);
  const authenticateSession = createSessionAuthenticator(reads, clock, rateLimit);

  /** A key takes precedence over a session. */
  async function callerOf(request: FastifyRequest, { requiredRole, bearer, sessionRole }: Access): Promise<AuthenticatedCaller> {
    const key = keyIn(request, bearer);
    if (requiredRole !== "none" && key !== undefined) return authenticateKey(key, () => clientAddress(request), requiredRole);
    const secret = sessionRole === undefined ? undefined : new Cookies(request, publicUrl).get("session");
    if (sessionRole !== undefined && secret !== undefined) {
      if (!isSafeMethod(request.method)) requireSameOrigin(request, publicUrl);
      const caller = await authenticateSession(secret, sessionRole);
      requireExpectedAccount(request, caller);
      return caller;
    }
    if (requiredRole === "session") throw new RequestError("session_missing", "Sign in first.");
    throw new RequestError("key_missing", "Send your key in the header X-API-Key.");
  }

  return async (request, reply, access) => {
    if (access.requiresSameOrigin === true) {
      requireSameOrigin(request, publicUrl);
      requireSecureContext(request, publicUrl);
    }
    if (access.requiredRole === "none") return;
    const caller = await callerOf(request, access);
    request.caller = caller;
    const { key, rate } = caller;
    if (rate !== null) {
      const { allowed, retryAfter, headers } = await limitRate(limits, key.id, rate);
      reply.headers(headers);
      const detail = "Too many requests. Retry after the time in Retry-After.";
      if (!allowed) throw new RequestError("rate_limited", detail, { retryAfter });
    }
    if (key.customer_id === null) return;
    if (access.changesMailSettings === true && (await exceeds(limits, "mail settings", key.customer_id))) {
      throw new RequestError("rate_limited", "Too many changes of your mail settings.", { retryAfter: 6 });
    }
    lastSeen.record(key.customer_id);
  };
}

/**
 * All tabs of a browser share the cookie of the session. A page says which account it is for, so that nothing it sends is done as
 * another one, which has signed in since.
 */
function requireExpectedAccount({ headers }: FastifyRequest, { key }: AuthenticatedCaller): void {
  const expected = headers["x-account"];
  if (expected === undefined || expected === key.id) return;
  throw new RequestError("account_changed", "Another account has signed in in this browser. Load the page again.");
}

function keyIn({ headers }: FastifyRequest, bearer = false): string | undefined {
  const key = headers["x-api-key"];
  if (typeof key === "string" && key !== "") return key;
  return bearer ? /^Bearer +(\S+)$/i.exec(headers.authorization ?? "")?.[1] : undefined;
}

/** A timer may fire a little early. */
const TIMER_MARGIN_MS = 5;

/** Checks the keys of MQTT clients as those of requests, and counts a message as a request. */
export function ingestAuthentication(reads: Pick<Reads, "keyByHash">, clock: Clock, limits: Limits, customerRate: number) {
  const authenticateKey = createKeyAuthenticator(reads, clock, limits, customerRate);
  const delayOf = ({ allowed, retryAfter }: RateDecision) => (allowed ? 0 : retryAfter * 1000 + TIMER_MARGIN_MS);
  return async (secret: string, address: string) => {
    const { key, rate } = await authenticateKey(secret, () => address, "ingest");
    const takeToken = () => {
      if (rate === null) return 0;
      const decision = limitRate(limits, key.id, rate);
      return decision instanceof Promise ? decision.then(delayOf) : delayOf(decision);
    };
    return { keyId: key.id, sender: bindingOf(key), takeToken };
  };
}
