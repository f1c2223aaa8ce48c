// Readings from an external broker. What it sends is acknowledged after it was stored; what was not stays with the broker, and
// comes again. While the store is away nothing is acknowledged and nothing is asked for again: the same readings are tried until
// they are stored.

import { setTimeout as pause } from "node:timers/promises";
import type { Observe } from "../../domain/events.ts";
import type { Clock } from "../../domain/instant.ts";
import { createMqttMessage } from "../decode/message.ts";
import type { Ingest, Rejected, Sender } from "../ingest.ts";
import { type BrokerAddress, brokerAddress, shownAddress } from "./address.ts";
import { type Fate, Gathering, isUnavailable } from "./gathering.ts";
import { type Identity, Link } from "./link.ts";
import { tellRefused } from "./refused.ts";

export type SubscriberBounds = {
  readonly receiveMaximum: number;
  readonly messageBytes: number;
  /** Of messages that are not yet settled. */
  readonly bytes: number;
  /** Before the next attempt to connect, at first and at most. */
  readonly pauseMs: number;
  readonly longestPauseMs: number;
  /** After a message that failed by our fault, until the broker is made to send it again. */
  readonly failureMs: number;
};

const BOUNDS: SubscriberBounds = {
  receiveMaximum: 1000,
  messageBytes: 1_048_576,
  bytes: 67_108_864,
  pauseMs: 500,
  longestPauseMs: 30_000,
  failureMs: 30_000,
};

export type SubscriberParts = {
  /** `MQTT_URL`. */
  readonly url: string;
  readonly identity: Identity;
  readonly accept: Ingest;
  readonly observe: Observe;
  readonly clock: Clock;
  readonly bounds?: Partial<SubscriberBounds>;
};

/** Whom the broker lets publish is the broker's to say. */
const ANYONE: Sender = { customerId: null, deviceId: null };
/** A connection that lasted this long was a good one. */
const GOOD_MS = 10_000;
const RETRY_MS = 100;
const LONGEST_RETRY_MS = 2000;
const STOP_MS = 5000;
const NOTHING = Buffer.alloc(0);
const TOO_LARGE: Rejected = { rejected: "the message is larger than 1 MiB" };

export class Subscriber {
  readonly #parts: SubscriberParts;
  readonly #bounds: SubscriberBounds;
  readonly #address: BrokerAddress;
  readonly #gathering: Gathering;
  readonly #stopping = new AbortController();
  #running: Promise<void> = Promise.resolve();
  #link: Link | undefined;
  #underWay = 0;
  #bytes = 0;
  /** Who waits for room. A connection waits for one message at a time, and one that has ended may still be waiting. */
  #crowded: (() => void)[] = [];
  #failure: NodeJS.Timeout | undefined;
  /** Whether anything that has come lately was stored. */
  #isOfUse = false;

  /** Throws a `Complaint` where the address cannot be one. */
  constructor(parts: SubscriberParts) {
    this.#parts = parts;
    this.#bounds = { ...BOUNDS, ...parts.bounds };
    this.#address = brokerAddress(parts.url);
    this.#gathering = new Gathering((readings, sender) => this.#store(readings, sender), parts.observe);
  }

  /** Connects, and connects again, in the background. */
  start(): void {
    this.#running = this.#run();
  }

  /** What has arrived is stored and acknowledged, as far as the store is there. */
  async stop(): Promise<void> {
    this.#stopping.abort();
    clearTimeout(this.#failure);
    await Promise.race([this.#gathering.idle(), pause(STOP_MS, undefined, { ref: false })]);
    await this.#link?.close();
    await this.#running;
  }

  async #run(): Promise<void> {
    const broker = shownAddress(this.#address);
    let wait = this.#bounds.pauseMs;
    let lastTold: string | undefined;
    while (!this.#stopping.signal.aborted) {
      const begun = performance.now();
      this.#link = this.#connect(broker, () => {
        lastTold = undefined;
      });
      const reason = await this.#link.ended;
      if (this.#stopping.signal.aborted) return;
      if (reason !== lastTold) this.#parts.observe({ kind: "broker_disconnected", broker, reason });
      lastTold = reason;
      if (this.#isOfUse || performance.now() - begun > GOOD_MS) wait = this.#bounds.pauseMs;
      this.#isOfUse = false;
      await this.#sleep(wait);
      wait = Math.min(wait * 2, this.#bounds.longestPauseMs);
    }
  }

  #connect(broker: string, isUp: () => void): Link {
    const { receiveMaximum, messageBytes } = this.#bounds;
    const settings = { address: this.#address, identity: this.#parts.identity, receiveMaximum, messageBytes };
    return new Link(settings, {
      take: (topic, bytes, acknowledge) => this.#take(topic, bytes, acknowledge),
      up: (notGranted) => {
        isUp();
        this.#parts.observe({ kind: "broker_connected", broker, notGranted });
      },
    });
  }

  #take(topic: string, bytes: Buffer, acknowledge: () => void): Promise<void> | undefined {
    if (this.#stopping.signal.aborted) return undefined;
    if (bytes.length > this.#bounds.messageBytes) {
      this.#refuse(topic, acknowledge);
      return undefined;
    }
    const message = createMqttMessage(topic, bytes, this.#parts.clock());
    this.#underWay++;
    this.#bytes += bytes.length;
    const settle = (fate: Fate): void => {
      this.#underWay--;
      this.#bytes -= bytes.length;
      this.#makeRoom();
      if ("failed" in fate) {
        this.#askAgainLater();
        return;
      }
      this.#isOfUse = true;
      tellRefused(this.#parts.observe, { endpoint: "mqtt_url", keyId: null, topic, message }, fate.outcomes);
      acknowledge();
    };
    this.#gathering.add({ message, sender: () => ANYONE, settle });
    return this.#isCrowded() ? new Promise((resolve) => this.#crowded.push(resolve)) : undefined;
  }

  /** A broker of MQTT 5 knows our limit, and sends nothing that is larger. */
  #refuse(topic: string, acknowledge: () => void): void {
    const message = createMqttMessage(topic, NOTHING, this.#parts.clock());
    tellRefused(this.#parts.observe, { endpoint: "mqtt_url", keyId: null, topic, message }, [TOO_LARGE]);
    acknowledge();
  }

  /** With its own limit the broker stops by itself; messages of QoS 0, and those of MQTT 3.1.1, have no such limit. */
  #isCrowded(): boolean {
    return this.#underWay > this.#bounds.receiveMaximum || this.#bytes > this.#bounds.bytes;
  }

  #makeRoom(): void {
    if (this.#crowded.length === 0 || this.#isCrowded()) return;
    for (const go of this.#crowded.splice(0)) go();
  }

  /** The broker sends what was not acknowledged with the next connection, and no sooner. */
  #askAgainLater(): void {
    if (this.#stopping.signal.aborted) return;
    this.#failure ??= setTimeout(() => {
      this.#failure = undefined;
      void this.#link?.close("a message failed, and is asked for again");
    }, this.#bounds.failureMs);
  }

  async #store(...call: Parameters<Ingest>): ReturnType<Ingest> {
    for (let wait = RETRY_MS; ; wait = Math.min(wait * 2, LONGEST_RETRY_MS)) {
      try {
        return await this.#parts.accept(...call);
      } catch (error) {
        if (!isUnavailable(error) || this.#stopping.signal.aborted) throw error;
        await this.#sleep(wait);
      }
    }
  }

  /** Until the time has passed, or we are stopped. */
  #sleep(milliseconds: number): Promise<void> {
    return pause(milliseconds, undefined, { signal: this.#stopping.signal }).catch(() => {});
  }
}
