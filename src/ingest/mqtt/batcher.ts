// Messages of all clients are ingested in batches, so that many of them share a commit: those that arrive in one turn of the event
// loop, while other batches are stored, or within a few milliseconds under load. Keys take turns; the messages of one key are stored
// and settled in the order of arrival.

import { setTimeout as sleep } from "node:timers/promises";
import { hasCode, RequestError } from "../../domain/errors.ts";
import { RoundRobin } from "../../domain/fair-queue.ts";
import type { MqttEndpointKind, Observe } from "../../domain/log-events.ts";
import type { ReadingResult, Rejected } from "../../domain/reading.ts";
import { printable } from "../../domain/text.ts";
import { decodeMqttMessage, type MqttMessage } from "../decode.ts";
import type { IncomingReading, Ingest, ReadingSender } from "../ingest.ts";
import { MAX_ORDERED_READINGS } from "../slices.ts";

/** `error`: nothing of the message was stored, or the outcome is unknown. It must not be acknowledged. */
export type MessageResult = { readonly results: readonly ReadingResult[] } | { readonly error: unknown };

/** The clients of a key, or an external broker. Its messages are ingested together. */
export type Publisher = {
  /** Null for an external broker. */
  readonly keyId: string | null;
  /** Called for each batch, so that a key revoked meanwhile is noticed. */
  readonly sender: () => Promise<ReadingSender>;
};

type PendingMessage = {
  readonly topic: string;
  readonly message: MqttMessage;
  readonly publisher: Publisher;
  readonly settle: (result: MessageResult) => void;
};

type DecodedMessage = {
  readonly pending: PendingMessage;
  readonly readings: readonly (IncomingReading | Rejected)[];
  result: MessageResult;
};

/** Batches of one key in progress. They are handed over to the store, and settled, in their order. */
type KeyBatches = { batches: number; hasLongBatch: boolean; authenticated: Promise<unknown>; settled: Promise<void> };

/** Readings and characters after which a batch is full: the message that reaches either limit is its last. */
const BATCH_READINGS = MAX_ORDERED_READINGS;
const BATCH_LENGTH = 262_144;
/**
 * Batches of one key at a time. While one is stored, the next is decoded and handed over, so that the store never waits for us. The
 * next one has to wait if the batch has a message with so many readings that they are not stored at once.
 */
const MAX_BATCHES = 2;
/**
 * With at least `BUSY_MESSAGES` unsettled messages a batch starts no sooner than `BATCH_DELAY_MS` after the one before, unless it
 * has `LARGE_BATCH` messages. With fewer it starts at once: their senders may wait for the acknowledgement to send the next.
 */
const BUSY_MESSAGES = 4;
const LARGE_BATCH = 32;
const BATCH_DELAY_MS = 5;
const IDLE_TIMEOUT_MS = 5000;
const NOT_SETTLED: MessageResult = { error: new Error("not settled") };

export class Batcher {
  readonly #endpoint: MqttEndpointKind;
  readonly #ingest: Ingest;
  readonly #observe: Observe;
  readonly #waiting = new RoundRobin<PendingMessage>();
  #unsettled = 0;
  #isStarting = false;
  readonly #byKey = new Map<string, KeyBatches>();
  #startedAt = Number.NEGATIVE_INFINITY;
  #timer: NodeJS.Timeout | undefined;
  #whenIdle: PromiseWithResolvers<void> | undefined;

  constructor(endpoint: MqttEndpointKind, ingest: Ingest, observe: Observe) {
    this.#endpoint = endpoint;
    this.#ingest = ingest;
    this.#observe = observe;
  }

  add(message: PendingMessage): void {
    this.#waiting.add(keyOf(message), message);
    this.#unsettled++;
    this.#next();
  }

  /** Resolves when every message that was added is settled, or after a limited time. */
  async idle(): Promise<void> {
    this.#whenIdle = Promise.withResolvers();
    if (this.#unsettled === 0) return;
    await Promise.race([this.#whenIdle.promise, sleep(IDLE_TIMEOUT_MS, undefined, { ref: false })]);
  }

  #next(): void {
    if (this.#isStarting || this.#waiting.size === 0) return;
    const delay = this.#delay();
    if (delay > 0) {
      this.#timer ??= setTimeout(() => {
        this.#timer = undefined;
        this.#next();
      }, delay);
      return;
    }
    this.#isStarting = true;
    setImmediate(() => this.#run());
  }

  #delay(): number {
    if (this.#unsettled < BUSY_MESSAGES || this.#waiting.size >= LARGE_BATCH) return 0;
    return this.#startedAt + BATCH_DELAY_MS - performance.now();
  }

  #run(): void {
    this.#isStarting = false;
    this.#startedAt = performance.now();
    const batches = Map.groupBy(this.#takeMessages(), ({ pending }) => keyOf(pending));
    for (const [key, batch] of batches) this.#start(key, batch);
    this.#next();
  }

  #start(key: string, batch: readonly DecodedMessage[]): void {
    const [first] = batch;
    if (first === undefined) return;
    const { publisher } = first.pending;
    const own = this.#byKey.get(key) ?? newKeyBatches();
    this.#byKey.set(key, own);
    own.batches++;
    own.hasLongBatch = batch.reduce((sum, { readings }) => sum + readings.length, 0) > MAX_ORDERED_READINGS;
    if (own.hasLongBatch || own.batches === MAX_BATCHES) this.#waiting.pause(key);
    const sender = own.authenticated.then(publisher.sender);
    own.authenticated = sender.catch(() => {});
    own.settled = Promise.all([own.settled, this.#store(publisher, batch, sender)]).then(() => {
      own.batches--;
      if (own.batches === 0) this.#byKey.delete(key);
      // A long batch is the last one: nothing is started after it until it is settled.
      if (own.batches === 0 || !own.hasLongBatch) this.#waiting.resume(key);
      this.#settle(batch);
      this.#next();
    });
  }

  #takeMessages(): DecodedMessage[] {
    const taken: DecodedMessage[] = [];
    let readings = 0;
    let length = 0;
    while (readings < BATCH_READINGS && length < BATCH_LENGTH) {
      const pending = this.#waiting.take()?.item;
      if (pending === undefined) break;
      const decoded = { pending, readings: decodeMqttMessage(pending.message), result: NOT_SETTLED };
      readings += decoded.readings.length;
      length += typeof pending.message.text === "string" ? pending.message.text.length : 0;
      taken.push(decoded);
    }
    return taken;
  }

  /** A message that makes ingestion fail must not fail the others: after an unexpected error, or damage, each is tried alone. */
  async #store(publisher: Publisher, messages: readonly DecodedMessage[], sender: Promise<ReadingSender>): Promise<void> {
    const readings = messages.flatMap((decoded) => decoded.readings);
    try {
      const authenticated = await sender;
      const results = readings.length === 0 ? [] : await this.#ingest(readings, authenticated);
      if (results.length !== readings.length) throw new Error(`${results.length} results for ${readings.length} readings`);
      let at = 0;
      for (const decoded of messages) {
        decoded.result = { results: results.slice(at, at + decoded.readings.length) };
        at += decoded.readings.length;
      }
    } catch (error) {
      for (const decoded of messages) decoded.result = { error };
      const isDamaged = hasCode(error, "data_damaged");
      if (error instanceof RequestError && !isDamaged) return;
      if (!isDamaged) this.#observe({ kind: "mqtt_failed", error });
      if (messages.length > 1)
        await Promise.all(messages.map((decoded) => this.#store(publisher, [decoded], publisher.sender())));
    }
  }

  #settle(batch: readonly DecodedMessage[]): void {
    this.#unsettled -= batch.length;
    for (const { pending, result } of batch) {
      try {
        if ("results" in result) reportRejected(this.#observe, this.#endpoint, pending, result.results);
        pending.settle(result);
      } catch (error) {
        this.#observe({ kind: "mqtt_failed", error });
      }
    }
    if (this.#unsettled === 0) this.#whenIdle?.resolve();
  }
}

const newKeyBatches = (): KeyBatches => ({
  batches: 0,
  hasLongBatch: false,
  authenticated: Promise.resolve(),
  settled: Promise.resolve(),
});

const keyOf = ({ publisher }: PendingMessage): string => publisher.keyId ?? "";

/** Rejected readings are reported to the operator: not every MQTT client can receive a reason. */
export function reportRejected(
  observe: Observe,
  endpoint: MqttEndpointKind,
  { topic, message, publisher }: Omit<PendingMessage, "settle">,
  results: readonly ReadingResult[],
): void {
  const reasons = results.flatMap((result) => (typeof result === "string" ? [] : [result.rejected]));
  const [reason] = reasons;
  if (reason === undefined) return;
  observe({
    kind: "readings_rejected",
    endpoint,
    keyId: publisher.keyId,
    topic: printable(topic, MAX_SHOWN_LENGTH),
    device: message.topic !== undefined && "device" in message.topic ? printable(message.topic.device, MAX_SHOWN_LENGTH) : null,
    count: reasons.length,
    reason,
  });
}

const MAX_SHOWN_LENGTH = 256;
