// Admission: what every request passes before anything is asked. Order: the shape of the request, the key, its role, its
// rate. Plain calls, and no waiting where the key is fresh in memory and its bucket in this process.

import type { FastifyReply, FastifyRequest } from "fastify";
import { RequestError } from "../domain/errors.ts";
import type { Clock } from "../domain/instant.ts";
import type { Reads } from "../domain/store.ts";
import { type Caller, KeyRing, type Reach, requireReach } from "./auth.ts";
import { andThen, KeyLimits, type Limits, type Taken, WrongKeys } from "./limits.ts";
import type { LastSeen } from "./seen.ts";

const HEADERS_MAX = 100;

/** What HTTP/1.1 itself asks, and Node does not check. */
export function misshapen(request: FastifyRequest): RequestError | undefined {
  const { rawHeaders, httpVersion, url = "" } = request.raw;
  if (url.includes("#")) return new RequestError("request_malformed", "A fragment (#…) is not sent to a server.");
  if (rawHeaders.length > HEADERS_MAX * 2) {
    return new RequestError("headers_too_large", `A request may have at most ${HEADERS_MAX} headers.`);
  }
  let hosts = 0;
  for (let i = 0; i < rawHeaders.length; i += 2) {
    const name = rawHeaders[i] as string;
    if (name.length === 4 && name.toLowerCase() === "host") hosts++;
  }
  if (hosts > 1 || (hosts === 0 && httpVersion === "1.1")) {
    return new RequestError("request_malformed", "A request must have exactly one Host header.");
  }
  return undefined;
}

/** What a route asks of those who come. */
export type Entrance = { readonly reach: Exclude<Reach, "open">; readonly bearer: boolean };

export class Admission {
  readonly #keys: KeyRing;
  readonly #limits: KeyLimits;
  readonly #wrongKeys: WrongKeys | undefined;
  readonly #seen: LastSeen;

  constructor(reads: Pick<Reads, "keyByHash">, clock: Clock, limits: Limits, customerRate: number, seen: LastSeen) {
    this.#keys = new KeyRing(reads, clock);
    this.#limits = new KeyLimits(limits, customerRate);
    this.#wrongKeys = customerRate === 0 ? undefined : new WrongKeys(limits);
    this.#seen = seen;
  }

  admit(request: FastifyRequest, reply: FastifyReply, entrance: Entrance, done: (error?: Error) => void): void {
    const enter = (caller: Caller) => this.#enter(caller, request, reply, entrance.reach);
    let admitted: undefined | Promise<undefined>;
    try {
      const caller = this.#keys.callerOf(secretIn(request, entrance));
      admitted = caller instanceof Promise ? caller.then(enter) : enter(caller);
    } catch (error) {
      this.#refuse(error as Error, request, done);
      return;
    }
    if (admitted === undefined) done();
    else admitted.then(done, (error) => this.#refuse(error, request, done));
  }

  #enter(caller: Caller, request: FastifyRequest, reply: FastifyReply, reach: Reach): undefined | Promise<undefined> {
    requireReach(caller, reach);
    request.caller = caller;
    return andThen(this.#limits.take(caller.key), (taken) => this.#pass(caller, taken, reply));
  }

  #pass(caller: Caller, taken: Taken | undefined, reply: FastifyReply): undefined {
    if (taken !== undefined) {
      reply.headers(taken.headers);
      if (!taken.allowed) {
        throw new RequestError("rate_limited", "This key has used up its requests for now. Retry-After says when to go on.", {
          retryAfter: taken.retryAfter,
        });
      }
    }
    if (caller.key.customer_id !== null) this.#seen.note(caller.key.customer_id);
  }

  #refuse(error: Error, request: FastifyRequest, done: (error: Error) => void): void {
    const isWrongKey = error instanceof RequestError && error.code === "key_invalid";
    const isFlood = isWrongKey && this.#wrongKeys?.isFlood(request.ip);
    andThen(isFlood, (flooded) => done(flooded ? throttled() : error));
  }
}

export function throttled(): RequestError {
  return new RequestError("keys_throttled", "Too many wrong keys from this address. Retry-After says when to go on.", {
    retryAfter: 1,
  });
}

function secretIn(request: FastifyRequest, entrance: Entrance): string {
  const key = request.headers["x-api-key"];
  if (typeof key === "string" && key !== "") return key;
  const bearer = entrance.bearer ? /^Bearer +(\S+)$/i.exec(request.headers.authorization ?? "")?.[1] : undefined;
  if (bearer !== undefined) return bearer;
  throw new RequestError("key_missing", "Send your key in the header X-API-Key.");
}
