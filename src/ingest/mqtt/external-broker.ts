// Readings from an external broker (`MQTT_URL`). A message is acknowledged after it is stored; until then it stays with the broker.
// While the store is unavailable nothing is acknowledged, and the same readings are tried until they are stored.

import { connect as connectTcp, isIP } from "node:net";
import type { Duplex } from "node:stream";
import { setTimeout as sleep } from "node:timers/promises";
import { connect as connectTls } from "node:tls";
import { type IClientOptions, type IConnackPacket, type IPublishPacket, MqttClient } from "mqtt";
import { generate } from "mqtt-packet";
import { hasCode, UserError } from "../../domain/errors.ts";
import type { Clock } from "../../domain/instant.ts";
import type { Observe } from "../../domain/log-events.ts";
import type { Rejected } from "../../domain/reading.ts";
import { createMqttMessage, TOPIC_FILTERS } from "../decode.ts";
import type { Ingest } from "../ingest.ts";
import { Batcher, type Publisher, reportRejected } from "./batcher.ts";
import { limitPackets } from "./packet-limit.ts";
import { ReceiptTimes } from "./receipt-times.ts";

const DEFAULT_PORTS = { "mqtt:": 1883, "mqtts:": 8883 } as const;

type BrokerAddress = ReturnType<typeof parseBrokerUrl>;

/** Parses `MQTT_URL`. It may contain a password, so no message repeats it. */
export function parseBrokerUrl(text: string) {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url === undefined || (url.protocol !== "mqtt:" && url.protocol !== "mqtts:") || url.hostname === "") {
    throw new UserError("MQTT_URL must be mqtt://HOST or mqtts://HOST, with USER:PASSWORD@ if the broker requires it", 2);
  }
  const { protocol = "5", shared = "yes", ...rest } = Object.fromEntries(url.searchParams);
  const isValid = ["3.1.1", "5"].includes(protocol) && ["yes", "no"].includes(shared) && ["", "/"].includes(url.pathname);
  if (!isValid || Object.keys(rest).length > 0) {
    throw new UserError("MQTT_URL may end with ?protocol=3.1.1 or ?shared=no, and with nothing else", 2);
  }
  return {
    protocol: url.protocol === "mqtt:" ? ("mqtt" as const) : ("mqtts" as const),
    host: url.hostname.replace(/^\[(.*)\]$/, "$1"),
    port: url.port === "" ? DEFAULT_PORTS[url.protocol] : Number(url.port),
    username: decodePart(url.username),
    password: decodePart(url.password),
    /** 4 is MQTT 3.1.1. */
    protocolVersion: protocol === "5" ? (5 as const) : (4 as const),
    /** Whether several processes share the messages; otherwise each gets all of them. MQTT 3.1.1 has no shared subscriptions. */
    isShared: shared === "yes" && protocol === "5",
  };
}

function decodePart(part: string): string | undefined {
  try {
    return part === "" ? undefined : decodeURIComponent(part);
  } catch {
    throw new UserError("MQTT_URL has an invalid % sequence in its user or password; write % itself as %25", 2);
  }
}

/** The address without user and password. */
export const formatBrokerAddress = ({ host, port }: BrokerAddress): string =>
  host.includes(":") ? `[${host}]:${port}` : `${host}:${port}`;

export type ExternalBrokerLimits = Readonly<typeof LIMITS>;

const LIMITS = {
  /** Messages that the broker may send before the first of them is acknowledged. */
  receiveMaximum: 1000,
  /** Size limit of a packet. */
  packetBytes: 1_048_576,
  /** Memory for messages in progress. */
  memoryBytes: 67_108_864,
  /** Time limit for the broker to confirm the subscriptions. */
  subscribeMs: 20_000,
  keepAliveSeconds: 30,
  /** Delay before the next attempt to connect, at first and at most. */
  minReconnectMs: 500,
  maxReconnectMs: 30_000,
  /** Delay after a message failed, until the connection is renewed so that the broker sends it again. */
  resendMs: 30_000,
};

/**
 * With a persistent client id the broker keeps, across restarts, what was not acknowledged. Of several processes of a service only
 * the first subscribes where messages cannot be shared: each would get, and store, all of them.
 */
export type BrokerIdentity = { readonly clientId: string; readonly isPersistent: boolean; readonly isFirst: boolean };

type ExternalBrokerDependencies = {
  /** `MQTT_URL`. */
  readonly url: string;
  readonly identity: BrokerIdentity;
  readonly ingest: Ingest;
  readonly observe: Observe;
  readonly clock: Clock;
  readonly limits?: Partial<ExternalBrokerLimits>;
};

/** The broker decides who may publish what. */
const BROKER: Publisher = { keyId: null, sender: async () => ({ keyId: null, customerId: null, deviceId: null }) };
const SHARE_GROUP = "tank-monitor";
const CONNECT_TIMEOUT_MS = 10_000;
const CLOSE_TIMEOUT_MS = 1000;
/** For this long the broker keeps our messages while we are disconnected. */
const SESSION_SECONDS = 86_400;
const MIN_RETRY_MS = 100;
const MAX_RETRY_MS = 2000;
const TOO_LARGE: Rejected = { rejected: "the message is larger than 1 MiB; set this limit in the broker, too" };
const SESSION_TAKEN_OVER = 0x8e;
const PROTOCOL_HINT = "; if it supports MQTT 3.1.1 only, add ?protocol=3.1.1 to MQTT_URL";
/** mqtt.js acknowledges a message when it was handled, unless handling failed: this makes it leave the acknowledgement to us. */
const ACKNOWLEDGED_LATER = new Error("acknowledged later");

export class ExternalBroker {
  readonly #dependencies: ExternalBrokerDependencies;
  readonly #limits: ExternalBrokerLimits;
  readonly #address: BrokerAddress;
  readonly #batcher: Batcher;
  readonly #receiptTimes = new ReceiptTimes();
  readonly #stopping = new AbortController();
  #running: Promise<void> = Promise.resolve();
  /** Resolves when all batches so far are stored, or have failed. */
  #stored: Promise<unknown> = Promise.resolve();
  #isShared: boolean;
  #client: MqttClient | undefined;
  /** State of the current connection. The first reason for its end explains those that follow. */
  #isAccepted = false;
  #endReason: string | undefined;
  /** The last reported reason for having no connection. */
  #reported: string | undefined;
  #reconnectMs: number;
  #messages = 0;
  #bytes = 0;
  /** Called when there is memory for more messages; those of an ended connection may be among them. */
  #whenNotFull: (() => void)[] = [];
  #resendTimer: NodeJS.Timeout | undefined;

  /** Throws a `UserError` if the URL is invalid. */
  constructor(dependencies: ExternalBrokerDependencies) {
    this.#dependencies = dependencies;
    this.#limits = { ...LIMITS, ...dependencies.limits };
    this.#address = parseBrokerUrl(dependencies.url);
    this.#isShared = this.#address.isShared;
    this.#reconnectMs = this.#limits.minReconnectMs;
    this.#batcher = new Batcher("mqtt_url", (readings, sender) => this.#ingest(readings, sender), dependencies.observe);
  }

  /** Connects and reconnects in the background. */
  start(): void {
    this.#running = this.#run();
  }

  /** Messages that have arrived are stored and acknowledged, as far as the store is available. */
  async stop(): Promise<void> {
    this.#stopping.abort();
    clearTimeout(this.#resendTimer);
    await this.#batcher.idle();
    this.#close("stopped");
    await this.#running;
  }

  async #run(): Promise<void> {
    const broker = formatBrokerAddress(this.#address);
    while (!this.#stopping.signal.aborted && this.#isNeeded()) {
      const reason = await this.#connect();
      if (this.#stopping.signal.aborted || !this.#isNeeded()) return;
      if (reason !== this.#reported) this.#dependencies.observe({ kind: "broker_disconnected", broker, reason });
      this.#reported = reason;
      await this.#sleep(this.#reconnectMs);
      this.#reconnectMs = Math.min(this.#reconnectMs * 2, this.#limits.maxReconnectMs);
    }
  }

  #isNeeded(): boolean {
    return this.#isShared || this.#dependencies.identity.isFirst;
  }

  /** Resolves when the connection has ended, with the reason. */
  async #connect(): Promise<string> {
    this.#isAccepted = false;
    this.#endReason = undefined;
    const client = new MqttClient(() => this.#openStream(), this.#clientOptions());
    this.#client = client;
    client.handleMessage = (packet, done) => this.#handleMessage(client, packet, done);
    client.on("connect", (packet) => void this.#subscribe(client, packet));
    client.on("error", (error) => {
      this.#endReason ??= error.message || String("code" in error ? error.code : error);
    });
    client.on("disconnect", ({ reasonCode = 0 }) => {
      const explanation = reasonCode === SESSION_TAKEN_OVER ? ": another client has the same client id" : "";
      this.#endReason ??= `the broker closed the connection with reason code ${reasonCode}${explanation}`;
    });
    client.connect();
    await new Promise<void>((resolve) => client.once("close", () => resolve()));
    client.end(true);
    this.#client = undefined;
    const reason = this.#endReason ?? (this.#isAccepted ? "the connection was lost" : "the broker did not respond");
    const mayBeVersion = this.#endReason === undefined || /protocol version/i.test(reason);
    const needsHint = mayBeVersion && !this.#isAccepted && this.#address.protocolVersion === 5;
    return needsHint ? `${reason}${PROTOCOL_HINT}` : reason;
  }

  #clientOptions(): IClientOptions {
    const { isShared: _, username, password, ...address } = this.#address;
    const { clientId, isPersistent } = this.#dependencies.identity;
    const { receiveMaximum, packetBytes: maximumPacketSize, keepAliveSeconds: keepalive } = this.#limits;
    const sessionExpiryInterval = isPersistent ? SESSION_SECONDS : 0;
    return {
      ...address,
      ...(username !== undefined && { username }),
      ...(password !== undefined && { password }),
      clientId,
      clean: !isPersistent,
      keepalive,
      connectTimeout: CONNECT_TIMEOUT_MS,
      manualConnect: true,
      reconnectPeriod: 0,
      resubscribe: false,
      ...(address.protocolVersion === 5 && { properties: { sessionExpiryInterval, receiveMaximum, maximumPacketSize } }),
    };
  }

  #openStream(): Duplex {
    const { protocol, host, port } = this.#address;
    const servername = isIP(host) === 0 ? { servername: host } : {};
    const socket = protocol === "mqtt" ? connectTcp({ host, port }) : connectTls({ host, port, ...servername });
    const stream: Duplex = limitPackets(socket, this.#limits.packetBytes, ({ topic, qos, messageId }) => {
      const { observe, clock } = this.#dependencies;
      const message = createMqttMessage(topic, Buffer.alloc(0), clock());
      reportRejected(observe, "mqtt_url", { topic, message, publisher: BROKER }, [TOO_LARGE]);
      observe({ kind: "readings_ingested", endpoint: "mqtt_url", stored: 0, rejected: 1 });
      // Otherwise the broker would send it again on every connection.
      if (qos > 0) this.#acknowledge(stream, messageId);
    });
    stream.on("error", (error) => {
      this.#endReason ??= error.message;
    });
    return stream;
  }

  #acknowledge(stream: Pick<Duplex, "write">, messageId: number): void {
    const { protocolVersion } = this.#address;
    stream.write(generate({ cmd: "puback", messageId, reasonCode: 0 }, { protocolVersion }));
  }

  async #subscribe(client: MqttClient, { properties, sessionPresent }: IConnackPacket): Promise<void> {
    this.#isAccepted = true;
    this.#isShared = this.#address.isShared && properties?.sharedSubscriptionAvailable !== false;
    const shared = TOPIC_FILTERS.map((filter) => `$share/${SHARE_GROUP}/${filter}`);
    const [filters, others] = this.#isShared ? [shared, TOPIC_FILTERS] : [TOPIC_FILTERS, shared];
    if (!this.#isNeeded()) {
      this.#close("the broker has no shared subscriptions: the first process receives all messages");
      return;
    }
    const timer = setTimeout(() => this.#close("the broker did not confirm our subscriptions"), this.#limits.subscribeMs);
    client.once("close", () => clearTimeout(timer));
    // A session may have the subscriptions of an earlier MQTT_URL: with both, each message would arrive twice.
    if (sessionPresent) client.unsubscribe([...others], () => {});
    const results = await Promise.allSettled(filters.map((filter) => client.subscribeAsync(filter, { qos: 1 })));
    clearTimeout(timer);
    if (!client.connected) return;
    const notGranted = TOPIC_FILTERS.filter((_filter, i) => results[i]?.status === "rejected");
    if (notGranted.length === TOPIC_FILTERS.length) {
      this.#close("the broker grants none of our subscriptions");
      return;
    }
    this.#reported = undefined;
    this.#reconnectMs = this.#limits.minReconnectMs;
    this.#dependencies.observe({ kind: "broker_connected", broker: formatBrokerAddress(this.#address), notGranted });
  }

  /** The session stays: the broker sends again what was not acknowledged. */
  #close(reason: string): void {
    const client = this.#client;
    if (client === undefined) return;
    this.#endReason ??= reason;
    const timer = setTimeout(() => client.stream.destroy(), CLOSE_TIMEOUT_MS);
    client.once("close", () => clearTimeout(timer));
    client.end(!client.connected);
  }

  /** mqtt.js passes on the next message after `done`. Messages of QoS 0, and those of MQTT 3.1.1, have no receive maximum. */
  #handleMessage(client: MqttClient, packet: IPublishPacket, done: (error?: Error) => void): void {
    this.#receive(client, packet);
    const next = (): void => done(packet.qos === 1 ? ACKNOWLEDGED_LATER : undefined);
    if (this.#isFull()) this.#whenNotFull.push(next);
    else next();
  }

  #receive(client: MqttClient, { topic, payload, qos, messageId = 0 }: IPublishPacket): void {
    if (this.#stopping.signal.aborted) return;
    const bytes = typeof payload === "string" ? Buffer.from(payload) : payload;
    this.#messages++;
    this.#bytes += bytes.length;
    this.#batcher.add({
      topic,
      message: createMqttMessage(topic, bytes, this.#receiptTimes.next(topic, this.#dependencies.clock())),
      publisher: BROKER,
      settle: (result) => {
        this.#messages--;
        this.#bytes -= bytes.length;
        if ("error" in result) this.#requestResend();
        // On this connection only: on another the same id may belong to another message.
        else if (qos === 1 && client.connected) this.#acknowledge(client.stream, messageId);
        if (!this.#isFull()) for (const next of this.#whenNotFull.splice(0)) next();
      },
    });
  }

  #isFull(): boolean {
    return this.#messages > this.#limits.receiveMaximum || this.#bytes > this.#limits.memoryBytes;
  }

  /** A broker sends messages again when we reconnect, and not before. */
  #requestResend(): void {
    if (this.#stopping.signal.aborted) return;
    this.#resendTimer ??= setTimeout(() => {
      this.#resendTimer = undefined;
      this.#close("reconnecting to receive a failed message again");
    }, this.#limits.resendMs);
  }

  /** One batch after the other: the next must not be stored while this one is tried again. */
  #ingest(...args: Parameters<Ingest>): ReturnType<Ingest> {
    const results = this.#stored.then(() => this.#storeUntilAvailable(...args));
    this.#stored = results.catch(() => {});
    return results;
  }

  async #storeUntilAvailable(...args: Parameters<Ingest>): ReturnType<Ingest> {
    for (let delay = MIN_RETRY_MS; ; delay = Math.min(delay * 2, MAX_RETRY_MS)) {
      try {
        return await this.#dependencies.ingest(...args);
      } catch (error) {
        if (!hasCode(error, "store_unavailable") || this.#stopping.signal.aborted) throw error;
        await this.#sleep(delay);
      }
    }
  }

  /** Ends early when stopping. */
  #sleep(milliseconds: number): Promise<void> {
    return sleep(milliseconds, undefined, { signal: this.#stopping.signal }).catch(() => {});
  }
}
