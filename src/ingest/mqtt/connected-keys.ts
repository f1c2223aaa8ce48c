// The keys of connected clients, and what they may use. Clients authenticate with an ingest key as the password. A key is looked up
// again for each batch of its messages, and regularly while its clients are idle, so that revoking it disconnects them.

import { type ErrorCode, RequestError } from "../../domain/errors.ts";
import type { MqttDisconnectReason, Observe } from "../../domain/log-events.ts";
import type { ReadingSender } from "../ingest.ts";
import type { Publisher } from "./batcher.ts";
import { BufferShare, type BufferUse, KeyMemory, MessageMemory, type TakeToken } from "./budgets.ts";
import { type ConnectError, isKeyError, ReasonCode } from "./protocol.ts";

export type EndpointLimits = Readonly<typeof DEFAULT_LIMITS>;

export const DEFAULT_LIMITS = {
  /** Sizes of packets: PUBLISH, CONNECT, and any other, or the properties of a PUBLISH. */
  publishBytes: 1_048_576,
  connectBytes: 4096,
  controlBytes: 1024,
  /** Messages of one client in progress; the Receive Maximum of MQTT 5. */
  inFlight: 100,
  /** Received bytes that may not be ingested yet: with more of them, of one client or of all, sockets are paused. */
  heldBytes: 32_768,
  bufferBytes: 33_554_432,
  /** Packets of one client in half a second that are neither publishes nor belong to one. Large ones count several times. */
  controlPackets: 50,
  /** Time limit for a client to connect. */
  connectMs: 10_000,
  /** For one packet to arrive, or for a reply to be read. Time in which we did not read does not count. */
  packetMs: 30_000,
  /** Time limit without any packet, for clients that set no keep-alive: a sensor may report once a day, and somewhat late. */
  silentMs: 90_000_000,
  /** After this long a client is disconnected whose message was not stored because of damaged data, so that it sends it again. */
  resendMs: 30_000,
  /** Clients at once, and connections that are not clients yet; of these there may be more while there are fewer clients. */
  clients: 10_000,
  connecting: 1000,
  /** Clients at once of a key that is bound to a device, and of any other. */
  clientsPerDeviceKey: 10,
  clientsPerKey: 5000,
  /** Memory for the messages in progress of all clients. */
  memoryBytes: 67_108_864,
};

export type AuthenticatedKey = { readonly keyId: string; readonly sender: ReadingSender; readonly takeToken: TakeToken };

/** Looks up the key of a client at an address; may cache it briefly. Rejects with a `RequestError` if it is not accepted. */
export type AuthenticateClient = (secret: string, address: string) => Promise<AuthenticatedKey>;

/** A connected client, as seen from here. */
export type ConnectedClient = {
  readonly address: string;
  readonly close: (reason: MqttDisconnectReason) => void;
  readonly disconnect: (reasonCode: number) => void;
  /** Pauses it where it may not send more now. */
  readonly updateReading: () => void;
};

/** One key, with all its connected clients by their client id, and those that are gone while messages of theirs are held. */
export type ConnectedKey = Publisher & {
  readonly secret: string;
  key: AuthenticatedKey;
  readonly clients: Map<string, ConnectedClient>;
  readonly leaving: Set<ConnectedClient>;
  readonly memory: KeyMemory;
  readonly buffer: BufferShare;
};

/** Idle keys looked up per check: ten thousand of them cannot keep the store busy. */
const KEYS_PER_CHECK = 500;

/** It remains while memory is used for messages of clients that are gone: a new one would get another share. */
const isUnused = ({ clients, leaving, memory }: ConnectedKey): boolean => clients.size + leaving.size === 0 && !memory.isUsed;

export class ConnectedKeys {
  readonly #authenticate: AuthenticateClient;
  readonly #limits: EndpointLimits;
  readonly #observe: Observe;
  readonly #memory: MessageMemory;
  readonly #buffer: BufferUse;
  /** Keyed by secret; those looked up longest ago come first. */
  readonly #bySecret = new Map<string, ConnectedKey>();

  constructor(authenticate: AuthenticateClient, limits: EndpointLimits, observe: Observe) {
    this.#authenticate = authenticate;
    this.#limits = limits;
    this.#observe = observe;
    this.#memory = new MessageMemory(limits.memoryBytes);
    this.#buffer = { max: limits.bufferBytes, used: 0 };
  }

  /** The number of connected clients. */
  get clients(): number {
    return this.#bySecret.values().reduce((sum, { clients }) => sum + clients.size, 0);
  }

  /** A client with the id of another client of the same key replaces it. */
  async connect(secret: string, clientId: string, client: ConnectedClient): Promise<ConnectedKey | ConnectError> {
    const { address } = client;
    if (secret === "") return this.#reject("key_missing", address);
    try {
      const key = await this.#authenticate(secret, address);
      const connectedKey = this.#bySecret.get(secret) ?? this.#newConnectedKey(secret, address, key);
      const replaced = connectedKey.clients.get(clientId);
      const limit = key.sender.deviceId === null ? this.#limits.clientsPerKey : this.#limits.clientsPerDeviceKey;
      if (connectedKey.clients.size + connectedKey.leaving.size >= limit && replaced === undefined) {
        this.#observe({ kind: "mqtt_client_dropped", reason: "too_many", address });
        return "too_many";
      }
      connectedKey.key = key;
      connectedKey.clients.set(clientId, client);
      this.#bySecret.set(secret, connectedKey);
      replaced?.disconnect(ReasonCode.sessionTakenOver);
      return connectedKey;
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

  /** Its client id is free again. */
  leave(connectedKey: ConnectedKey, clientId: string, client: ConnectedClient): void {
    if (connectedKey.clients.get(clientId) === client) connectedKey.clients.delete(clientId);
    connectedKey.leaving.add(client);
  }

  disconnect(connectedKey: ConnectedKey, clientId: string, client: ConnectedClient): void {
    if (connectedKey.clients.get(clientId) === client) connectedKey.clients.delete(clientId);
    connectedKey.leaving.delete(client);
    if (isUnused(connectedKey) && this.#bySecret.get(connectedKey.secret) === connectedKey)
      this.#bySecret.delete(connectedKey.secret);
  }

  /** Looks up some of the keys, in turn; removes those that are no longer used. */
  recheckKeys(): void {
    for (const connectedKey of this.#bySecret.values().take(KEYS_PER_CHECK).toArray()) {
      this.#bySecret.delete(connectedKey.secret);
      if (isUnused(connectedKey)) continue;
      this.#bySecret.set(connectedKey.secret, connectedKey);
      connectedKey.sender().catch(() => {});
    }
  }

  #newConnectedKey(secret: string, address: string, key: AuthenticatedKey): ConnectedKey {
    const connectedKey: ConnectedKey = {
      secret,
      keyId: key.keyId,
      key,
      clients: new Map(),
      leaving: new Set(),
      memory: new KeyMemory(this.#memory),
      buffer: new BufferShare(this.#buffer, () => {
        for (const client of connectedKey.clients.values()) client.updateReading();
      }),
      sender: async () => {
        try {
          connectedKey.key = await this.#authenticate(secret, address);
          return connectedKey.key.sender;
        } catch (error) {
          if (isKeyError(error))
            for (const client of [...connectedKey.clients.values(), ...connectedKey.leaving]) client.close("key");
          throw error;
        }
      },
    };
    return connectedKey;
  }
}
