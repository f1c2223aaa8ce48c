// Readings from an external broker (`MQTT_URL`). A message is acknowledged after it is stored; until then it stays with the broker.
// While the store is unavailable nothing is acknowledged, and the same readings are tried until they are stored.

import { setTimeout as sleep } from "node:timers/promises";
import type { Observe } from "../../domain/events.ts";
import type { Clock } from "../../domain/instant.ts";
import { createMqttMessage } from "../decode/message.ts";
import type { Ingest, Rejected, Sender } from "../ingest.ts";
import { Batcher, isUnavailable, reportRejected } from "./batcher.ts";
import {
  type BrokerAddress,
  BrokerConnection,
  type BrokerIdentity,
  formatBrokerAddress,
  parseBrokerUrl,
} from "./broker-connection.ts";

export type ExternalBrokerLimits = {
  readonly receiveMaximum: number;
  readonly messageBytes: number;
  /** Of messages in progress. */
  readonly memoryBytes: number;
  /** Before the next attempt to connect, at first and at most. */
  readonly minReconnectMs: number;
  readonly maxReconnectMs: number;
  /** After a message failed, until the connection is renewed so that the broker sends it again. */
  readonly resendMs: number;
};

const LIMITS: ExternalBrokerLimits = {
  receiveMaximum: 1000,
  messageBytes: 1_048_576,
  memoryBytes: 67_108_864,
  minReconnectMs: 500,
  maxReconnectMs: 30_000,
  resendMs: 30_000,
};

export type ExternalBrokerDependencies = {
  /** `MQTT_URL`. */
  readonly url: string;
  readonly identity: BrokerIdentity;
  readonly ingest: Ingest;
  readonly observe: Observe;
  readonly clock: Clock;
  readonly limits?: Partial<ExternalBrokerLimits>;
};

/** The broker decides who may publish what. */
const ANY_SENDER: Sender = { customerId: null, deviceId: null };
/** A connection that lasted this long counts as good. */
const GOOD_CONNECTION_MS = 10_000;
const MIN_RETRY_MS = 100;
const MAX_RETRY_MS = 2000;
const STOP_TIMEOUT_MS = 5000;
const TOO_LARGE: Rejected = { rejected: "the message is larger than 1 MiB" };

export class ExternalBroker {
  readonly #dependencies: ExternalBrokerDependencies;
  readonly #limits: ExternalBrokerLimits;
  readonly #address: BrokerAddress;
  readonly #batcher: Batcher;
  readonly #stopping = new AbortController();
  #running: Promise<void> = Promise.resolve();
  #connection: BrokerConnection | undefined;
  #messages = 0;
  #bytes = 0;
  /** Connections that wait for memory; one that has ended may be among them. */
  #waiting: (() => void)[] = [];
  #resendTimer: NodeJS.Timeout | undefined;
  /** Whether a message was stored since the connection was made. */
  #hasStored = false;

  /** Throws a `UserError` if the URL is invalid. */
  constructor(dependencies: ExternalBrokerDependencies) {
    this.#dependencies = dependencies;
    this.#limits = { ...LIMITS, ...dependencies.limits };
    this.#address = parseBrokerUrl(dependencies.url);
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
    await Promise.race([this.#batcher.idle(), sleep(STOP_TIMEOUT_MS, undefined, { ref: false })]);
    await this.#connection?.close();
    await this.#running;
  }

  async #run(): Promise<void> {
    const { observe } = this.#dependencies;
    const { minReconnectMs, maxReconnectMs } = this.#limits;
    const broker = formatBrokerAddress(this.#address);
    let delay = minReconnectMs;
    let lastReason: string | undefined;
    while (!this.#stopping.signal.aborted) {
      const startedAt = performance.now();
      this.#connection = this.#connect((notGranted) => {
        lastReason = undefined;
        observe({ kind: "broker_connected", broker, notGranted });
      });
      const reason = await this.#connection.ended;
      if (this.#stopping.signal.aborted) return;
      if (reason !== lastReason) observe({ kind: "broker_disconnected", broker, reason });
      lastReason = reason;
      if (this.#hasStored || performance.now() - startedAt > GOOD_CONNECTION_MS) delay = minReconnectMs;
      this.#hasStored = false;
      await this.#sleep(delay);
      delay = Math.min(delay * 2, maxReconnectMs);
    }
  }

  #connect(onConnected: (notGranted: readonly string[]) => void): BrokerConnection {
    const { receiveMaximum, messageBytes } = this.#limits;
    return new BrokerConnection({
      address: this.#address,
      identity: this.#dependencies.identity,
      receiveMaximum,
      messageBytes,
      onConnected,
      onMessage: (topic, bytes, acknowledge) => this.#receive(topic, bytes, acknowledge),
    });
  }

  #receive(topic: string, bytes: Buffer, acknowledge: () => void): Promise<void> | undefined {
    if (this.#stopping.signal.aborted) return undefined;
    // A broker of MQTT 5 knows the limit and sends nothing larger.
    const isTooLarge = bytes.length > this.#limits.messageBytes;
    const message = createMqttMessage(topic, isTooLarge ? Buffer.alloc(0) : bytes, this.#dependencies.clock());
    if (isTooLarge) {
      reportRejected(this.#dependencies.observe, "mqtt_url", { topic, message, keyId: null }, [TOO_LARGE]);
      acknowledge();
      return undefined;
    }
    this.#messages++;
    this.#bytes += bytes.length;
    this.#batcher.add({
      topic,
      message,
      keyId: null,
      sender: () => ANY_SENDER,
      settle: (result) => {
        this.#messages--;
        this.#bytes -= bytes.length;
        if (!this.#isFull()) for (const resolve of this.#waiting.splice(0)) resolve();
        if ("error" in result) {
          this.#requestResend();
          return;
        }
        this.#hasStored = true;
        acknowledge();
      },
    });
    return this.#isFull() ? new Promise((resolve) => this.#waiting.push(resolve)) : undefined;
  }

  /** Messages of QoS 0, and those of MQTT 3.1.1, have no receive maximum. */
  #isFull(): boolean {
    return this.#messages > this.#limits.receiveMaximum || this.#bytes > this.#limits.memoryBytes;
  }

  /** A broker sends messages again when we reconnect, and not before. */
  #requestResend(): void {
    if (this.#stopping.signal.aborted) return;
    this.#resendTimer ??= setTimeout(() => {
      this.#resendTimer = undefined;
      void this.#connection?.close("reconnecting to receive a failed message again");
    }, this.#limits.resendMs);
  }

  async #ingest(...args: Parameters<Ingest>): ReturnType<Ingest> {
    for (let delay = MIN_RETRY_MS; ; delay = Math.min(delay * 2, MAX_RETRY_MS)) {
      try {
        return await this.#dependencies.ingest(...args);
      } catch (error) {
        if (!isUnavailable(error) || this.#stopping.signal.aborted) throw error;
        await this.#sleep(delay);
      }
    }
  }

  /** Ends early when stopping. */
  #sleep(milliseconds: number): Promise<void> {
    return sleep(milliseconds, undefined, { signal: this.#stopping.signal }).catch(() => {});
  }
}
