// The embedded MQTT endpoint on a free port, and clients for it: mqtt.js, and one that sends single packets and bytes.

import { connect as openSocket, type Socket } from "node:net";
import { setFlagsFromString } from "node:v8";
import { runInNewContext } from "node:vm";
import mqtt, { type IClientOptions, type MqttClient } from "mqtt";
import { generate, type IConnectPacket, type IPublishPacket, type Packet, parser } from "mqtt-packet";
import { type ErrorCode, RequestError } from "../../../src/domain/errors.ts";
import type { LogEvent } from "../../../src/domain/log-events.ts";
import type { ReadingSender } from "../../../src/ingest/ingest.ts";
import type { TakeToken } from "../../../src/ingest/mqtt/budgets.ts";
import type { AuthenticatedKey, EndpointLimits } from "../../../src/ingest/mqtt/connected-keys.ts";
import { type EndpointDependencies, type Listener, MqttEndpoint } from "../../../src/ingest/mqtt/endpoint.ts";
import type { Lifetime } from "../../support/service.ts";
import { until } from "../../support/until.ts";
import { FakeIngest } from "./fake-ingest.ts";

export const ANYONE: ReadingSender = { keyId: "key_1", customerId: null, deviceId: null };

export type TestEndpoint = {
  readonly port: number;
  readonly stop: () => Promise<void>;
  readonly ingest: FakeIngest;
  readonly events: LogEvent[];
  /** By password; a code is the reason for refusing it. Others are `key_invalid`. */
  readonly keys: Map<string, ReadingSender | ErrorCode>;
  /** Of keys with a rate limit. */
  readonly tokens: Map<string, TakeToken>;
};

export async function startEndpoint(
  life: Lifetime,
  limits: Partial<EndpointLimits> = {},
  tls?: NonNullable<Listener["tls"]>,
  admit: EndpointDependencies["admit"] = () => true,
): Promise<TestEndpoint> {
  const ingest = new FakeIngest();
  const events: LogEvent[] = [];
  const keys = new Map<string, ReadingSender | ErrorCode>([["good", ANYONE]]);
  const tokens = new Map<string, TakeToken>();
  const authenticate = async (secret: string): Promise<AuthenticatedKey> => {
    const known = keys.get(secret) ?? "key_invalid";
    if (typeof known === "string") throw new RequestError(known, "refused");
    return { keyId: `id of ${secret}`, sender: known, takeToken: tokens.get(secret) ?? (() => 0) };
  };
  const observe = (event: LogEvent): void => void events.push(event);
  const endpoint = new MqttEndpoint({ ingest: ingest.handle, authenticate, observe, clock: Date.now, admit, limits });
  const { port } = await endpoint.listen({ host: "127.0.0.1", port: 0, ...(tls && { tls }) });
  const stop = () => endpoint.stop();
  life.after(stop);
  return { port, stop, ingest, events, keys, tokens };
}

/** The events of one kind so far. */
export function eventsOf<K extends LogEvent["kind"]>(
  { events }: Pick<TestEndpoint, "events">,
  kind: K,
): Extract<LogEvent, { kind: K }>[] {
  return events.filter((event): event is Extract<LogEvent, { kind: K }> => event.kind === kind);
}

export async function connectClient(life: Lifetime, { port }: TestEndpoint, options: IClientOptions = {}): Promise<MqttClient> {
  const defaults = { password: "good", username: "any", reconnectPeriod: 0, connectTimeout: 5000 };
  const client = mqtt.connect(`${options.protocol ?? "mqtt"}://127.0.0.1:${port}`, { ...defaults, ...options });
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

/** Sends exactly the packets it is given. */
export class RawClient {
  readonly socket: Socket;
  readonly packets: Packet[] = [];
  readonly #protocolVersion: 4 | 5;
  isClosed = false;

  constructor(life: Lifetime, { port }: Pick<TestEndpoint, "port">, protocolVersion: 4 | 5 = 4) {
    this.#protocolVersion = protocolVersion;
    this.socket = openSocket(port, "127.0.0.1");
    life.after(() => this.socket.destroy());
    const reader = parser({ protocolVersion });
    reader.on("packet", (packet: Packet) => this.packets.push(packet));
    this.socket.on("data", (bytes: Buffer) => reader.parse(bytes));
    this.socket.on("error", () => {});
    this.socket.on("close", () => {
      this.isClosed = true;
    });
  }

  send(...packets: Packet[]): void {
    this.socket.write(Buffer.concat(packets.map((packet) => generate(packet, { protocolVersion: this.#protocolVersion }))));
  }

  /** Resolves when the connection is accepted or refused. */
  async connect(password = "good", keepalive = 0): Promise<this> {
    this.send(connectPacket(password, { keepalive, protocolVersion: this.#protocolVersion }));
    await this.received("connack");
    return this;
  }

  received<C extends Packet["cmd"]>(cmd: C, count = 1): Promise<Extract<Packet, { cmd: C }>[]> {
    const received = () => this.packets.filter((packet): packet is Extract<Packet, { cmd: C }> => packet.cmd === cmd);
    return until(`${count} ${cmd}`, () => (received().length >= count ? received() : undefined));
  }

  /** The ids that were acknowledged, in the order of the acknowledgements. */
  get acknowledged(): (number | undefined)[] {
    return this.packets.filter(({ cmd }) => cmd === "puback").map(({ messageId }) => messageId);
  }

  async closed(): Promise<void> {
    await until("the connection is closed", () => this.isClosed);
  }
}

let clients = 0;

export const connectPacket = (password: string, more: Partial<IConnectPacket> = {}): IConnectPacket => ({
  cmd: "connect",
  protocolId: "MQTT",
  protocolVersion: 4,
  clean: true,
  clientId: `client-${clients++}`,
  keepalive: 0,
  username: "any",
  password: Buffer.from(password),
  ...more,
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
export { setTimeout as sleep } from "node:timers/promises";

/** A message of another client is stored and acknowledged. */
export async function expectService(life: Lifetime, endpoint: TestEndpoint, password = "good"): Promise<void> {
  const client = await new RawClient(life, endpoint).connect(password);
  client.send(publish(1, reading(50)));
  await client.received("puback");
  client.socket.destroy();
}

export const dropReasons = (endpoint: TestEndpoint): string[] =>
  eventsOf(endpoint, "mqtt_client_dropped").map(({ reason }) => reason);

export const PUBLISH = 0x32;

/** The fixed header of a packet with that remaining length. */
export function fixedHeader(type: number, length: number): Buffer {
  const bytes = [type];
  for (let rest = length; ; ) {
    const low = rest % 128;
    rest = Math.floor(rest / 128);
    bytes.push(rest > 0 ? low + 128 : low);
    if (rest === 0) return Buffer.from(bytes);
  }
}

setFlagsFromString("--expose-gc");
const collectGarbage = runInNewContext("gc") as () => void;

/** Bytes in buffers of this process that are still in use. */
export function bufferBytes(): number {
  collectGarbage();
  return process.memoryUsage().arrayBuffers;
}
