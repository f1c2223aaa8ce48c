// Runs a scenario at a steady rate, and sends its messages until they are acknowledged.

import { setTimeout as sleep } from "node:timers/promises";
import type { Clock } from "../domain/instant.ts";
import type { Fleet } from "./fleet.ts";
import type { Message } from "./messages.ts";
import type { Seed } from "./random.ts";
import { Scenario, type ScenarioObserver } from "./scenario.ts";

/** Messages queued for sending; beyond it devices stop measuring. */
const QUEUE_LIMIT = 5000;
const MAX_TICK_MS = 50;

/** What the service responded for a reading. A broker only acknowledges. */
export type SendResult = {
  readonly status: "stored" | "duplicate" | "replaced" | "pending" | "rejected" | "acknowledged";
  readonly reason?: string;
};

/** A connection to the service. */
export type MessageTransport = {
  /** How many deliveries run at the same time. */
  readonly concurrency: number;
  /** How many messages in our own format can be delivered together. */
  readonly batchSize: number;
  /**
   * Retries until everything is acknowledged. Resolves with a result for each reading, in order; rejects when aborted, or with
   * an error that a retry does not fix. `onResend` is called with the number of readings that are sent again.
   */
  readonly deliver: (
    messages: readonly Message[],
    onResend: (readings: number) => void,
    abort: AbortSignal,
  ) => Promise<SendResult[]>;
  readonly close: () => Promise<void>;
};

/** Called while a simulation runs: with the number of a reading, or with a count of readings. */
export type Observer = ScenarioObserver & {
  readonly sent: (readings: number) => void;
  readonly resent: (readings: number) => void;
  readonly result: (number: number, result: SendResult) => void;
  readonly undelivered: (readings: number) => void;
};

type Simulation = {
  readonly fleet: Fleet;
  readonly seed: Seed;
  readonly transport: MessageTransport;
  /** Readings a second of all devices together. */
  readonly rate: number;
  readonly clock: Clock;
  readonly observer: Observer;
  /** Ends it gracefully: backlogs are sent, and pending deliveries finish. */
  readonly stop: AbortSignal;
  /** Ends it immediately: what is not delivered yet is given up. */
  readonly abort: AbortSignal;
};

/** Resolves when everything is delivered or given up; rejects with an error that a retry does not fix. */
export async function simulate({ fleet, seed, transport, rate, clock, observer, stop, abort }: Simulation): Promise<void> {
  const scenario = new Scenario(fleet, seed, observer);
  const queue = new MessageQueue();
  const failed = new AbortController();
  const giveUp = AbortSignal.any([abort, failed.signal]);
  const sendLoop = async (): Promise<void> => {
    for (;;) {
      const messages = await queue.take(transport.batchSize);
      if (messages === undefined) return;
      await deliver(messages, transport, observer, giveUp).catch((error) => failed.abort(error));
    }
  };
  const sending = Promise.all(Array.from({ length: transport.concurrency }, sendLoop));
  await reportAtRate(scenario, queue, rate, clock, AbortSignal.any([stop, giveUp]));
  for (const message of scenario.rest()) queue.put(message);
  queue.close();
  await sending;
  if (failed.signal.aborted) throw failed.signal.reason;
}

/** Reports that fall due while the queue is full are skipped. */
async function reportAtRate(
  scenario: Scenario,
  queue: MessageQueue,
  rate: number,
  clock: Clock,
  stop: AbortSignal,
): Promise<void> {
  const tickMs = Math.min(1000 / rate, MAX_TICK_MS);
  let before = performance.now();
  let due = 1;
  while (!stop.aborted) {
    for (; due >= 1 && !queue.isFull && !stop.aborted; due--) {
      for (const message of scenario.next(clock())) queue.put(message);
    }
    await sleep(tickMs, undefined, { signal: stop }).catch(() => {});
    const now = performance.now();
    due = Math.min(rate + 1, due + ((now - before) / 1000) * rate);
    before = now;
  }
}

async function deliver(
  messages: readonly Message[],
  transport: MessageTransport,
  observer: Observer,
  abort: AbortSignal,
): Promise<void> {
  const numbers = messages.flatMap((message) => message.numbers);
  if (abort.aborted) {
    observer.undelivered(numbers.length);
    return;
  }
  observer.sent(numbers.length);
  try {
    const results = await transport.deliver(messages, (readings) => observer.resent(readings), abort);
    numbers.forEach((number, i) => {
      observer.result(number, results[i] ?? NO_RESULT);
    });
  } catch (error) {
    observer.undelivered(numbers.length);
    if (!abort.aborted) throw error;
  }
}

const NO_RESULT: SendResult = { status: "rejected", reason: "the response has fewer results than readings were sent" };

/** Bounded, so that an unavailable service slows devices down instead of filling memory. */
class MessageQueue {
  /** JSON messages are sent in batches, others one by one. */
  readonly #batchable: Message[] = [];
  readonly #others: Message[] = [];
  readonly #takers: (() => void)[] = [];
  #isBatchTurn = true;
  #isClosed = false;

  get size(): number {
    return this.#batchable.length + this.#others.length;
  }

  get isFull(): boolean {
    return this.size >= QUEUE_LIMIT;
  }

  put(message: Message): void {
    (message.format === "json" ? this.#batchable : this.#others).push(message);
    this.#takers.shift()?.();
  }

  /** Waits for the next messages; undefined once the queue is closed and empty. */
  async take(batchSize: number): Promise<readonly Message[] | undefined> {
    while (this.size === 0) {
      if (this.#isClosed) return undefined;
      await new Promise<void>((resolve) => this.#takers.push(resolve));
    }
    // The two kinds alternate, so that neither holds up the other.
    this.#isBatchTurn = !this.#isBatchTurn;
    const isBatch = this.#others.length === 0 || (this.#isBatchTurn && this.#batchable.length > 0);
    return isBatch ? this.#batchable.splice(0, batchSize) : this.#others.splice(0, 1);
  }

  close(): void {
    this.#isClosed = true;
    for (const wake of this.#takers.splice(0)) wake();
  }
}
