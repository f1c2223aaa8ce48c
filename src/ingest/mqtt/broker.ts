// The embedded broker: clients log in with an ingest key and publish readings, which are acknowledged after they are stored.
// It passes nothing on to anybody: no subscriptions, no retained messages, no wills, no sessions.

import { type AddressInfo, createServer, type Server, type Socket } from "node:net";
import { setTimeout as pause } from "node:timers/promises";
import { Aedes, type AedesOptions, type Client } from "aedes";
import { RequestError } from "../../domain/errors.ts";
import type { MqttDisconnectReason, Observe } from "../../domain/events.ts";
import type { Clock } from "../../domain/instant.ts";
import { hashSecret } from "../../domain/key.ts";
import { createMqttMessage } from "../decode/message.ts";
import type { Ingest } from "../ingest.ts";
import { Budget } from "./budget.ts";
import { Drop, returnCode, whyOf } from "./drop.ts";
import { type Fate, Gathering, isUnavailable } from "./gathering.ts";
import { type Admit, isFinal, type Login, Logins } from "./logins.ts";
import { NOWHERE } from "./nowhere.ts";
import { tellRefused } from "./refused.ts";
import { Wire, type WireBounds } from "./wire.ts";

export type BrokerBounds = WireBounds & {
  readonly connections: number;
  /** Of these, of one key: of one that sends for a device, and of any other. */
  readonly clientsOfDevice: number;
  readonly clientsOfKey: number;
  /** For a client to say who it is. */
  readonly connectMs: number;
  /** Of messages of all clients that are not yet settled. */
  readonly bytes: number;
};

const BOUNDS: BrokerBounds = {
  publishBytes: 1_048_576,
  otherBytes: 16_384,
  underWay: 100,
  chatter: 100,
  packetMs: 30_000,
  // A sensor that reports once a day, and somewhat late, stays.
  silentMs: 90_000_000,
  connections: 10_000,
  clientsOfDevice: 10,
  clientsOfKey: 5_000,
  connectMs: 10_000,
  bytes: 67_108_864,
};

export type BrokerParts = {
  readonly accept: Ingest;
  readonly admit: Admit;
  readonly observe: Observe;
  readonly clock: Clock;
  readonly bounds?: Partial<BrokerBounds>;
};

/** A connection, and who has logged in over it. */
type Session = { readonly wire: Wire; login: Login | undefined; isTold: boolean };

type Publish = Parameters<NonNullable<AedesOptions["authorizePublish"]>>[1];
type Authenticated = Parameters<NonNullable<AedesOptions["authenticate"]>>[3];

const SWEEP_MS = 500;
const STOP_MS = 5000;
/** "Server unavailable". */
const COME_AGAIN = 3;
/** Aedes' limit for clients of MQTT 3.1; ids are longer by then. */
const ANY_LENGTH = 65_535;
const NOTHING = Buffer.alloc(0);

export class Broker {
  readonly #parts: BrokerParts;
  readonly #bounds: BrokerBounds;
  readonly #gathering: Gathering;
  readonly #logins: Logins;
  readonly #aedes: Aedes;
  readonly #server: Server;
  readonly #sessions = new Map<Client, Session>();
  #sweeper: NodeJS.Timeout | undefined;

  constructor(parts: BrokerParts) {
    this.#parts = parts;
    this.#bounds = { ...BOUNDS, ...parts.bounds };
    this.#gathering = new Gathering(parts.accept, parts.observe);
    this.#logins = new Logins(parts.admit, parts.clock, this.#bounds, new Budget(this.#bounds.bytes));
    this.#aedes = this.#newAedes();
    this.#server = createServer((socket) => this.#receive(socket));
    this.#server.maxConnections = this.#bounds.connections;
    this.#server.on("drop", (data) => this.#tellDropped("too_many", data?.remoteAddress ?? ""));
  }

  /** Port 0 takes any free one. Rejects with the system's error where it cannot listen. */
  async start({ host, port }: { readonly host: string; readonly port: number }): Promise<{ readonly port: number }> {
    await this.#aedes.listen();
    try {
      await new Promise<void>((resolve, reject) => {
        this.#server.once("error", reject);
        this.#server.listen(port, host, resolve);
      });
    } catch (error) {
      this.#aedes.close();
      throw error;
    }
    this.#server.on("error", (error) => this.#parts.observe({ kind: "mqtt_failed", error }));
    this.#sweeper = setInterval(() => this.#sweep(), SWEEP_MS);
    const address = this.#server.address() as AddressInfo;
    const shown = address.family === "IPv6" ? `[${address.address}]` : address.address;
    this.#parts.observe({ kind: "mqtt_listening", url: `mqtt://${shown}:${address.port}` });
    return { port: address.port };
  }

  /** What has arrived is stored and acknowledged, then all are disconnected. */
  async stop(): Promise<void> {
    const closed = new Promise((resolve) => this.#server.close(resolve));
    clearInterval(this.#sweeper);
    for (const { wire } of this.#sessions.values()) wire.shut();
    await Promise.race([this.#gathering.idle(), pause(STOP_MS, undefined, { ref: false })]);
    // Acknowledgements are written in the next turn.
    await new Promise(setImmediate);
    await new Promise<void>((resolve) => this.#aedes.close(resolve));
    for (const { wire } of this.#sessions.values()) wire.stream.destroy();
    await closed;
  }

  #newAedes(): Aedes {
    const aedes = new Aedes({
      mq: NOWHERE,
      connectTimeout: this.#bounds.connectMs,
      // Messages of QoS 2 that were taken and that their sender has yet to release.
      maxInflightInbound: this.#bounds.underWay,
      maxClientsIdLength: ANY_LENGTH,
      preConnect: (_client, packet, done) => {
        packet.clean = true;
        delete packet.will;
        // A client takes over the connection of another of the same id: only of one with the same key.
        if (packet.clientId !== "") packet.clientId = `${hashSecret(String(packet.password))} ${packet.clientId}`;
        done(null, true);
      },
      authenticate: (client, _user, password, done) => {
        this.#authenticate(client, password?.toString() ?? "", done).catch((error) => done(error, false));
      },
      authorizePublish: (client, packet, done) => this.#take(client, packet, done),
      authorizeSubscribe: (_client, _subscription, done) => done(null, null),
    });
    aedes.on("clientReady", (client) => this.#open(client));
    aedes.on("clientError", (client, error) => this.#dropped(client, error));
    aedes.on("connectionError", (client, error) => this.#dropped(client, error));
    aedes.addListener("error", (error) => this.#parts.observe({ kind: "mqtt_failed", error }));
    return aedes;
  }

  #receive(socket: Socket): void {
    const wire = new Wire(socket, this.#bounds);
    const client = this.#aedes.handle(wire.stream);
    this.#sessions.set(client, { wire, login: undefined, isTold: false });
    wire.stream.once("close", () => this.#sessions.delete(client));
  }

  async #authenticate(client: Client, secret: string, done: Authenticated): Promise<void> {
    const session = this.#sessions.get(client);
    if (session === undefined) return;
    const { wire } = session;
    try {
      if (secret === "") throw new RequestError("key_missing", "Log in with an ingest key as the password.");
      const end = (): void => this.#drop(session, "key");
      const login = await this.#logins.enter(secret, wire.address, client.id, end);
      session.login = login;
      const leave = (): void => this.#logins.leave(login, client.id, end);
      if (wire.isClosed) leave();
      else wire.stream.once("close", leave);
      done(null, true);
    } catch (error) {
      if (error instanceof Drop) {
        done(Object.assign(error, { returnCode: COME_AGAIN }), false);
        return;
      }
      const code = error instanceof RequestError ? error.code : "internal";
      if (code === "internal") this.#parts.observe({ kind: "mqtt_failed", error });
      this.#parts.observe({ kind: "mqtt_client_rejected", code, address: wire.address });
      session.isTold = true;
      done(Object.assign(new Error(code), { returnCode: returnCode(code) }), false);
    }
  }

  #open(client: Client): void {
    const { wire, login } = this.#sessions.get(client) ?? {};
    if (login !== undefined) wire?.open({ budget: login.budget, turn: () => login.guest.turn() });
  }

  #take(client: Client | null, packet: Publish, done: (error?: Error) => void): void {
    const session = client === null ? undefined : this.#sessions.get(client);
    const login = session?.login;
    if (session === undefined || login === undefined) {
      done(new Drop("protocol"));
      return;
    }
    const { topic } = packet;
    const cost = session.wire.claim();
    const bytes = typeof packet.payload === "string" ? Buffer.from(packet.payload) : packet.payload;
    const message = createMqttMessage(topic, bytes, this.#parts.clock());
    // All that the broker keeps of it, while the client has yet to release a message of QoS 2.
    Object.assign(packet, { topic: "taken", payload: NOTHING, retain: false });
    const settle = (fate: Fate): void => {
      session.wire.release(cost);
      if ("failed" in fate) {
        done(new Drop(isUnavailable(fate.failed) ? "store_unavailable" : isFinal(fate.failed) ? "key" : "failed"));
        return;
      }
      tellRefused(this.#parts.observe, { endpoint: "mqtt", keyId: login.guest.keyId, topic, message }, fate.outcomes);
      done();
    };
    this.#gathering.add({ message, sender: () => this.#logins.sender(login), settle });
  }

  #sweep(): void {
    void this.#logins.sweep();
    const now = performance.now();
    for (const session of this.#sessions.values()) if (session.wire.isStuck(now)) this.#drop(session, "too_slow");
  }

  #drop({ wire }: Session, why: MqttDisconnectReason): void {
    wire.stream.destroy(new Drop(why));
  }

  #dropped(client: Client, error: Error): void {
    const session = this.#sessions.get(client);
    if (session === undefined || session.isTold) return;
    session.isTold = true;
    this.#tellDropped(whyOf(error), session.wire.address);
  }

  #tellDropped(reason: MqttDisconnectReason, address: string): void {
    this.#parts.observe({ kind: "mqtt_client_dropped", reason, address });
  }
}
