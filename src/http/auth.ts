// Authentication: from the key in a request to a caller with a role and a scope, and the rate limits of that key. Does not
// wait while the key is cached and its rate limit is kept in this process.

import type { FastifyReply, FastifyRequest } from "fastify";
import { RequestError } from "../domain/errors.ts";
import type { Clock, Instant } from "../domain/instant.ts";
import {
  bindingOf,
  hashSecret,
  isWellFormedSecret,
  type Key,
  keyState,
  NO_ACCESS,
  NO_LIMITS,
  type Role,
  type Scope,
  type StoredKey,
} from "../domain/key.ts";
import type { Reads } from "../domain/store.ts";
import type { LastSeen } from "./last-seen.ts";
import { andThen, type Limits, type RateDecision, RateLimits } from "./limits.ts";

export type Caller = { readonly key: Key; readonly scope: Scope };

/** The caller of a route that needs no key. */
export const ANONYMOUS: Caller = {
  key: { ...NO_LIMITS, id: "", name: "anonymous", customer_id: "" },
  scope: NO_ACCESS,
};

export type RequiredRole = "none" | Role;

/** The roles that satisfy a required role. */
export const SUFFICIENT_ROLES: Readonly<Record<RequiredRole, readonly Role[]>> = {
  none: [],
  read: ["read", "manage"],
  ingest: ["ingest", "manage"],
  manage: ["manage"],
};

function requireRole({ key }: Caller, required: RequiredRole): void {
  if (SUFFICIENT_ROLES[required].includes(key.role)) return;
  const sufficient = SUFFICIENT_ROLES[required].map((role) => `"${role}"`).join(" or ");
  throw new RequestError(
    "role_insufficient",
    `This key has the role "${key.role}"; this endpoint requires the role ${sufficient}.`,
  );
}

/** A revoked key stops working everywhere within a second. */
const CACHED_MS = 500;
const MAX_CACHED_KEYS = 10_000;

/** Keyed by the secret itself: hashing it would cost more than everything else here. */
type CachedKey = { readonly caller: Caller; readonly stored: StoredKey; readonly since: Instant };

class KeyRing {
  readonly #reads: Pick<Reads, "keyByHash">;
  readonly #clock: Clock;
  readonly #cached = new Map<string, CachedKey>();

  constructor(reads: Pick<Reads, "keyByHash">, clock: Clock) {
    this.#reads = reads;
    this.#clock = clock;
  }

  /** Synchronous while the key is cached. Unknown keys are never cached. */
  callerOf(secret: string): Caller | Promise<Caller> {
    const cached = this.#cached.get(secret);
    const now = this.#clock();
    // The first comparison fails where the clock was set back.
    if (cached !== undefined && now >= cached.since && now < cached.since + CACHED_MS) return activeCaller(cached, now);
    if (!isWellFormedSecret(secret)) {
      throw new RequestError("key_invalid", "The value of X-API-Key is not a valid key. It may be mistyped or cut off.");
    }
    return this.#load(secret);
  }

  async #load(secret: string): Promise<Caller> {
    const stored = await this.#reads.keyByHash(hashSecret(secret));
    if (stored === undefined) {
      this.#cached.delete(secret);
      throw new RequestError("key_invalid", "There is no such key.");
    }
    const now = this.#clock();
    const scope = { customerId: stored.role === "manage" ? null : stored.customer_id };
    const cached = { stored, caller: { key: stored, scope }, since: now };
    if (this.#cached.size >= MAX_CACHED_KEYS) this.#cached.clear();
    this.#cached.set(secret, cached);
    return activeCaller(cached, now);
  }
}

function activeCaller({ caller, stored }: CachedKey, now: Instant): Caller {
  switch (keyState(stored, now)) {
    case "active":
      return caller;
    case "expired":
      throw new RequestError("key_expired", "This key has expired. Ask the operator for a new one.");
    default:
      throw new RequestError("key_revoked", "This key has been revoked. Ask the operator for a new one.");
  }
}

/** The error for the sender. Wrong keys from one address are throttled. */
function rejection(error: Error, limits: RateLimits, address: string): Error | Promise<Error> {
  if (!(error instanceof RequestError) || error.code !== "key_invalid") return error;
  const detail = "Too many wrong keys from this address. Retry after the time in Retry-After.";
  return andThen(limits.isFlood(address), (isFlood) =>
    isFlood ? new RequestError("keys_throttled", detail, { retryAfter: 1 }) : error,
  );
}

type Access = { readonly requiredRole: Role; readonly bearer: boolean };

/** Checks the key of a request, its role and its rate limit, and sets `request.caller`. */
export class Admission {
  readonly #keys: KeyRing;
  readonly #limits: RateLimits;
  readonly #lastSeen: LastSeen;

  constructor(reads: Pick<Reads, "keyByHash">, clock: Clock, limits: Limits, customerRate: number, lastSeen: LastSeen) {
    this.#keys = new KeyRing(reads, clock);
    this.#limits = new RateLimits(limits, customerRate);
    this.#lastSeen = lastSeen;
  }

  admit(request: FastifyRequest, reply: FastifyReply, access: Access, done: (error?: Error) => void): void {
    const authorize = (caller: Caller) => this.#authorize(caller, request, reply, access.requiredRole);
    let admitted: undefined | Promise<undefined>;
    try {
      const caller = this.#keys.callerOf(secretIn(request, access));
      admitted = caller instanceof Promise ? caller.then(authorize) : authorize(caller);
    } catch (error) {
      this.#reject(error as Error, request, done);
      return;
    }
    if (admitted === undefined) done();
    else admitted.then(done, (error) => this.#reject(error, request, done));
  }

  #authorize(caller: Caller, request: FastifyRequest, reply: FastifyReply, required: Role): undefined | Promise<undefined> {
    requireRole(caller, required);
    request.caller = caller;
    return andThen(this.#limits.take(caller.key), (decision) => this.#limitRate(caller, decision, reply));
  }

  #limitRate({ key }: Caller, decision: RateDecision | undefined, reply: FastifyReply): undefined {
    if (decision !== undefined) {
      reply.headers(decision.headers);
      if (!decision.allowed) {
        const { retryAfter } = decision;
        throw new RequestError("rate_limited", "This key is over its rate limit. Retry after the time in Retry-After.", {
          retryAfter,
        });
      }
    }
    if (key.customer_id !== null) this.#lastSeen.note(key.customer_id);
  }

  #reject(error: Error, request: FastifyRequest, done: (error: Error) => void): void {
    andThen(rejection(error, this.#limits, request.ip), done);
  }
}

function secretIn({ headers }: FastifyRequest, { bearer }: Access): string {
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
  const keys = new KeyRing(reads, clock);
  const rateLimits = new RateLimits(limits, customerRate);
  const delayOf = (decision: RateDecision | undefined): number =>
    decision === undefined || decision.allowed ? 0 : decision.retryAfter * 1000 + TIMER_MARGIN_MS;
  return async (secret: string, address: string) => {
    try {
      const caller = await keys.callerOf(secret);
      requireRole(caller, "ingest");
      const takeToken = () => andThen(rateLimits.take(caller.key), delayOf);
      return { keyId: caller.key.id, sender: bindingOf(caller.key), takeToken };
    } catch (error) {
      throw await rejection(error as Error, rateLimits, address);
    }
  };
}
