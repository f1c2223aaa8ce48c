// Clients authenticate with an ingest key as the password. A key is looked up again while its clients are connected, so that
// revoking it disconnects them.

import { type ErrorCode, RequestError, storeUnavailable } from "../../domain/errors.ts";
import type { MqttDisconnectReason } from "../../domain/events.ts";
import type { Clock, Instant } from "../../domain/instant.ts";
import type { Sender } from "../ingest.ts";
import type { MemoryBudget, TakeToken } from "./limits.ts";

export type AuthenticatedKey = { readonly keyId: string; readonly sender: Sender; readonly takeToken: TakeToken };

/** Looks up the key of a client at an address. Rejects with a `RequestError` that says why it is not accepted. */
export type Authenticate = (secret: string, address: string) => Promise<AuthenticatedKey>;

/** A connected client, as seen from here. */
export type Client = { readonly close: (reason: MqttDisconnectReason) => void; readonly closeTakenOver: () => void };

/** One key, with all its connected clients by their client id. */
export type KeySession = {
  readonly secret: string;
  readonly address: string;
  key: AuthenticatedKey;
  checkedAt: Instant;
  checking: Promise<AuthenticatedKey> | undefined;
  readonly clients: Map<string, Client>;
  readonly memory: MemoryBudget;
};

export type ClientLimits = {
  /** Clients at once of a key that is bound to a device, and of any other. */
  readonly clientsPerDeviceKey: number;
  readonly clientsPerKey: number;
};

/** A key is looked up again after this time. */
const TRUSTED_MS = 500;
/** Idle keys looked up per sweep: ten thousand of them cannot keep the store busy. */
const KEYS_PER_SWEEP = 500;
/** One key may use a quarter of the memory for messages. */
const KEY_MEMORY_DIVISOR = 4;
const LOOKUP_TIMEOUT_MS = 10_000;

/** These concern the key itself; any other error may be over in a moment. */
const KEY_ERRORS: ReadonlySet<ErrorCode> = new Set([
  "key_missing",
  "key_invalid",
  "key_expired",
  "key_revoked",
  "role_insufficient",
]);

export function isKeyError(error: unknown): boolean {
  return error instanceof RequestError && KEY_ERRORS.has(error.code);
}

export class Authentication {
  readonly #authenticate: Authenticate;
  readonly #clock: Clock;
  readonly #limits: ClientLimits;
  readonly #memory: MemoryBudget;
  /** By secret; those looked up longest ago come first. */
  readonly #sessions = new Map<string, KeySession>();

  constructor(authenticate: Authenticate, clock: Clock, limits: ClientLimits, memory: MemoryBudget) {
    this.#authenticate = authenticate;
    this.#clock = clock;
    this.#limits = limits;
    this.#memory = memory;
  }

  /** A client with the id of another client of the same key replaces it. Rejects with a `RequestError`. */
  async connect(secret: string, address: string, clientId: string, client: Client): Promise<KeySession | "too_many"> {
    const key = await this.#lookUp(secret, address);
    const session = this.#sessions.get(secret) ?? this.#newSession(secret, address, key);
    const replaced = session.clients.get(clientId);
    const limit = key.sender.deviceId === null ? this.#limits.clientsPerKey : this.#limits.clientsPerDeviceKey;
    if (session.clients.size >= limit && replaced === undefined) return "too_many";
    session.clients.set(clientId, client);
    this.#renew(session, key);
    replaced?.closeTakenOver();
    return session;
  }

  disconnect(session: KeySession, clientId: string, client: Client): void {
    if (session.clients.get(clientId) === client) session.clients.delete(clientId);
    if (session.clients.size === 0 && this.#sessions.get(session.secret) === session) this.#sessions.delete(session.secret);
  }

  /** What the key allows now; at once if it was looked up a moment ago. */
  sender(session: KeySession): Sender | Promise<Sender> {
    return this.#isFresh(session) ? session.key.sender : this.#check(session).then(({ sender }) => sender);
  }

  /** Looks up some of the keys that were not looked up for longest. */
  async sweep(): Promise<void> {
    const stale: KeySession[] = [];
    for (const session of this.#sessions.values()) {
      if (stale.length >= KEYS_PER_SWEEP || this.#isFresh(session)) break;
      stale.push(session);
    }
    await Promise.allSettled(stale.map((session) => this.#check(session)));
  }

  /** After the clock was set back, nothing is fresh. */
  #isFresh({ checkedAt }: KeySession): boolean {
    const now = this.#clock();
    return now >= checkedAt && now < checkedAt + TRUSTED_MS;
  }

  #renew(session: KeySession, key: AuthenticatedKey): void {
    if (session.clients.size === 0) return;
    session.key = key;
    session.checkedAt = this.#clock();
    this.#sessions.delete(session.secret);
    this.#sessions.set(session.secret, session);
  }

  #check(session: KeySession): Promise<AuthenticatedKey> {
    session.checking ??= this.#recheck(session).finally(() => {
      session.checking = undefined;
    });
    return session.checking;
  }

  async #recheck(session: KeySession): Promise<AuthenticatedKey> {
    try {
      const key = await this.#lookUp(session.secret, session.address);
      this.#renew(session, key);
      return key;
    } catch (error) {
      if (isKeyError(error)) for (const client of [...session.clients.values()]) client.close("key");
      if (!(error instanceof RequestError) || error.code !== "rate_limited") throw error;
      this.#renew(session, session.key);
      return session.key;
    }
  }

  async #lookUp(secret: string, address: string): Promise<AuthenticatedKey> {
    let timer: NodeJS.Timeout | undefined;
    const timeout = new Promise<never>((_resolve, reject) => {
      timer = setTimeout(() => reject(storeUnavailable(new Error("looking up a key timed out"))), LOOKUP_TIMEOUT_MS);
    });
    try {
      return await Promise.race([this.#authenticate(secret, address), timeout]);
    } finally {
      clearTimeout(timer);
    }
  }

  #newSession(secret: string, address: string, key: AuthenticatedKey): KeySession {
    const memory = this.#memory.part(KEY_MEMORY_DIVISOR);
    return { secret, address, key, checkedAt: 0, checking: undefined, clients: new Map(), memory };
  }
}
