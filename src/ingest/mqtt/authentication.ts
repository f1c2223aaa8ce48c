// Clients authenticate with an ingest key as the password. A key is looked up again for each batch of its messages, and regularly
// while its clients are idle, so that revoking it disconnects them.

import { type ErrorCode, RequestError } from "../../domain/errors.ts";
import type { MqttDisconnectReason, Observe } from "../../domain/events.ts";
import type { Sender } from "../ingest.ts";
import type { MessageSource } from "./batcher.ts";
import { type EndpointLimits, MemoryBudget } from "./limits.ts";
import { type ConnectError, isKeyError, ReasonCode } from "./protocol.ts";

/** Takes a token of a key's rate limit and returns 0, or returns the milliseconds after which to try again. */
export type TakeToken = () => number | Promise<number>;

export type AuthenticatedKey = { readonly keyId: string; readonly sender: Sender; readonly takeToken: TakeToken };

/** Looks up the key of a client at an address; may cache it briefly. Rejects with a `RequestError` if it is not accepted. */
export type Authenticate = (secret: string, address: string) => Promise<AuthenticatedKey>;

/** A connected client, as seen from here. */
export type Client = {
  readonly address: string;
  readonly close: (reason: MqttDisconnectReason) => void;
  readonly disconnect: (reasonCode: number) => void;
};

/** One key, with all its connected clients by their client id. */
export type KeySession = MessageSource & {
  readonly secret: string;
  readonly address: string;
  key: AuthenticatedKey;
  checking: Promise<Sender> | undefined;
  readonly clients: Map<string, Client>;
  readonly memory: MemoryBudget;
};

/** Idle keys looked up per sweep: ten thousand of them cannot keep the store busy. */
const KEYS_PER_SWEEP = 500;
/** One key may use a quarter of the memory for messages. */
const KEY_MEMORY_DIVISOR = 4;

export class Authentication {
  readonly #authenticate: Authenticate;
  readonly #limits: EndpointLimits;
  readonly #observe: Observe;
  readonly #memory: MemoryBudget;
  /** By secret; those looked up longest ago come first. */
  readonly #sessions = new Map<string, KeySession>();

  constructor(authenticate: Authenticate, limits: EndpointLimits, observe: Observe) {
    this.#authenticate = authenticate;
    this.#limits = limits;
    this.#observe = observe;
    this.#memory = new MemoryBudget(limits.memoryBytes);
  }

  /** A client with the id of another client of the same key replaces it. */
  async connect(secret: string, clientId: string, client: Client): Promise<KeySession | ConnectError> {
    const { address } = client;
    if (secret === "") return this.#reject("key_missing", address);
    try {
      const key = await this.#authenticate(secret, address);
      const session = this.#sessions.get(secret) ?? this.#newSession(secret, address, key);
      const replaced = session.clients.get(clientId);
      const limit = key.sender.deviceId === null ? this.#limits.clientsPerKey : this.#limits.clientsPerDeviceKey;
      if (session.clients.size >= limit && replaced === undefined) {
        this.#observe({ kind: "mqtt_client_dropped", reason: "too_many", address });
        return "too_many";
      }
      session.clients.set(clientId, client);
      this.#renew(session, key);
      replaced?.disconnect(ReasonCode.sessionTakenOver);
      return session;
    } catch (error) {
      if (error instanceof RequestError) return this.#reject(error.code, address);
      this.#observe({ kind: "mqtt_failed", error });
      return this.#reject("internal", address);
    }
  }

  #reject(code: ErrorCode, address: string): ErrorCode {
    this.#observe({ kind: "mqtt_client_rejected", code, address });
    return code;
  }

  disconnect(session: KeySession, clientId: string, client: Client): void {
    if (session.clients.get(clientId) === client) session.clients.delete(clientId);
    if (session.clients.size === 0 && this.#sessions.get(session.secret) === session) this.#sessions.delete(session.secret);
  }

  /** Looks up some of the keys that were not looked up for longest. */
  sweep(): void {
    for (const session of this.#sessions.values().take(KEYS_PER_SWEEP).toArray()) session.sender().catch(() => {});
  }

  #newSession(secret: string, address: string, key: AuthenticatedKey): KeySession {
    const memory = new MemoryBudget(Math.floor(this.#limits.memoryBytes / KEY_MEMORY_DIVISOR), this.#memory);
    const session: KeySession = {
      secret,
      address,
      key,
      checking: undefined,
      clients: new Map(),
      memory,
      keyId: key.keyId,
      sender: () => {
        session.checking ??= this.#check(session).finally(() => {
          session.checking = undefined;
        });
        return session.checking;
      },
    };
    return session;
  }

  async #check(session: KeySession): Promise<Sender> {
    try {
      const key = await this.#authenticate(session.secret, session.address);
      this.#renew(session, key);
      return key.sender;
    } catch (error) {
      if (isKeyError(error)) for (const client of [...session.clients.values()]) client.close("key");
      throw error;
    }
  }

  #renew(session: KeySession, key: AuthenticatedKey): void {
    session.key = key;
    if (session.clients.size === 0) return;
    this.#sessions.delete(session.secret);
    this.#sessions.set(session.secret, session);
  }
}
