// The embedded broker on a free port, and clients for it: mqtt.js, and one that speaks in single packets and bytes.

import { connect as dial, type Socket } from "node:net";
import mqtt, { type IClientOptions, type MqttClient } from "mqtt";
import { generate, type IPublishPacket, type Packet, parser } from "mqtt-packet";
import { type ErrorCode, RequestError } from "../../../src/domain/errors.ts";
import type { Event } from "../../../src/domain/events.ts";
import type { Clock } from "../../../src/domain/instant.ts";
import type { Sender } from "../../../src/ingest/ingest.ts";
import { Broker, type BrokerBounds } from "../../../src/ingest/mqtt/broker.ts";
import type { Guest } from "../../../src/ingest/mqtt/logins.ts";
import type { TakeTurn } from "../../../src/ingest/mqtt/turns.ts";
import type { Lifetime } from "../../support/service.ts";
import { until } from "../../support/until.ts";
import { Shelf } from "./shelf.ts";

export const ANYONE: Sender = { customerId: null, deviceId: null };

export type Embedded = {
  readonly port: number;
  readonly broker: Broker;
  readonly shelf: Shelf;
  readonly events: Event[];
  /** Who may log in, by password; a code refuses. What is not here is `key_invalid`. */
  readonly keys: Map<string, Sender | ErrorCode>;
  /** Of keys with a rate; the others send as they like. */
  readonly turns: Map<string, TakeTurn>;
};

export async function startBroker(
  life: Lifetime,
  bounds: Partial<BrokerBounds> = {},
  clock: Clock = Date.now,
): Promise<Embedded> {
  const shelf = new Shelf();
  const events: Event[] = [];
  const keys = new Map<string, Sender | ErrorCode>([["good", ANYONE]]);
  const turns = new Map<string, TakeTurn>();
  const admit = async (secret: string): Promise<Guest> => {
    const known = keys.get(secret) ?? "key_invalid";
    if (typeof known === "string") throw new RequestError(known, "refused");
    return { keyId: `id of ${secret}`, sender: known, turn: turns.get(secret) ?? (() => 0) };
  };
  const broker = new Broker({ accept: shelf.accept, admit, observe: (event) => events.push(event), clock, bounds });
  const { port } = await broker.start({ host: "127.0.0.1", port: 0 });
  life.after(() => broker.stop());
  return { port, broker, shelf, events, keys, turns };
}

/** Of these kinds, what has happened so far. */
export function told<K extends Event["kind"]>(embedded: Pick<Embedded, "events">, kind: K): Extract<Event, { kind: K }>[] {
  return embedded.events.filter((event): event is Extract<Event, { kind: K }> => event.kind === kind);
}

export async function join(life: Lifetime, { port }: Embedded, options: IClientOptions = {}): Promise<MqttClient> {
  const whole = { password: "good", username: "any", reconnectPeriod: 0, connectTimeout: 5000, ...options };
  const client = mqtt.connect(`mqtt://127.0.0.1:${port}`, whole);
  life.after(() => client.end(true));
  await new Promise<void>((resolve, reject) => {
    client.once("connect", () => resolve());
    client.once("error", reject);
    client.once("close", () => reject(new Error("closed")));
  });
  client.on("error", () => {});
  return client;
}

export const reading = (fill: number): string => JSON.stringify({ fill_percentage: fill });

/** A client that does what it is told, packet by packet. */
export class Peer {
  readonly socket: Socket;
  readonly packets: Packet[] = [];
  isClosed = false;

  constructor(life: Lifetime, { port }: Pick<Embedded, "port">) {
    this.socket = dial(port, "127.0.0.1");
    life.after(() => this.socket.destroy());
    const reader = parser({ protocolVersion: 4 });
    reader.on("packet", (packet: Packet) => this.packets.push(packet));
    this.socket.on("data", (bytes: Buffer) => reader.parse(bytes));
    this.socket.on("error", () => {});
    this.socket.on("close", () => {
      this.isClosed = true;
    });
  }

  send(...packets: Packet[]): void {
    this.socket.write(Buffer.concat(packets.map((packet) => generate(packet))));
  }

  /** Logs in and waits until it may speak. */
  async enter(password = "good", keepalive = 0): Promise<this> {
    this.send(connectPacket(password, keepalive));
    await this.heard("connack");
    return this;
  }

  heard<C extends Packet["cmd"]>(cmd: C, count = 1): Promise<Extract<Packet, { cmd: C }>[]> {
    const heard = () => this.packets.filter((packet): packet is Extract<Packet, { cmd: C }> => packet.cmd === cmd);
    return until(`${count} ${cmd}`, () => (heard().length >= count ? heard() : undefined));
  }

  /** The ids that were acknowledged, in the order of the acknowledgements. */
  get acknowledged(): (number | undefined)[] {
    return this.packets.filter(({ cmd }) => cmd === "puback").map(({ messageId }) => messageId);
  }

  async closed(): Promise<void> {
    await until("the connection is closed", () => this.isClosed);
  }
}

let peers = 0;

export const connectPacket = (password: string, keepalive = 0, clientId = `peer-${peers++}`): Packet => ({
  cmd: "connect",
  protocolId: "MQTT",
  protocolVersion: 4,
  clean: true,
  clientId,
  keepalive,
  username: "any",
  password: Buffer.from(password),
});

export const publish = (messageId: number, payload: string | Buffer, more: Partial<IPublishPacket> = {}): IPublishPacket => ({
  cmd: "publish",
  topic: "tanks/d1/readings",
  payload,
  qos: 1,
  messageId,
  dup: false,
  retain: false,
  ...more,
});

export const range = (count: number): number[] => Array.from({ length: count }, (_, i) => i + 1);
export const later = (milliseconds: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, milliseconds));

/** Somebody else's message is stored and acknowledged. */
export async function expectService(life: Lifetime, embedded: Embedded, password = "good"): Promise<void> {
  const peer = await new Peer(life, embedded).enter(password);
  peer.send(publish(1, reading(50)));
  await peer.heard("puback");
  peer.socket.destroy();
}

export const whyDropped = (embedded: Embedded): string[] => told(embedded, "mqtt_client_dropped").map(({ reason }) => reason);

export const PUBLISH = 0x32;

/** The first bytes of a packet of that length. */
export function head(type: number, length: number): Buffer {
  const bytes = [type];
  for (let rest = length; ; ) {
    const low = rest % 128;
    rest = Math.floor(rest / 128);
    bytes.push(rest > 0 ? low + 128 : low);
    if (rest === 0) return Buffer.from(bytes);
  }
}
