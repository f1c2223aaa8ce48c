// Messages of all clients, gathered: what arrives in one turn of the event loop, or while other messages are being stored, or
// within a few milliseconds where many send, is handed over together, so that many messages share a commit. They are stored,
// and their senders told, in the order of arrival.

import { RequestError } from "../../domain/errors.ts";
import type { Observe } from "../../domain/events.ts";
import { decodeMqttMessage, type MqttMessage } from "../decode/message.ts";
import type { IncomingReading, Ingest, ReadingResult, Rejected, Sender } from "../ingest.ts";
import { Rhythm } from "./rhythm.ts";

/** A message, and whom to tell what became of it. */
export type Post = {
  readonly message: MqttMessage;
  /** Asked when the message's turn has come, so that a key that was revoked meanwhile is noticed. */
  readonly sender: () => Sender | Promise<Sender>;
  readonly settle: (fate: Fate) => void;
};

/** `failed`: nothing of it was stored, or nobody knows. It must not be acknowledged. */
export type Fate = { readonly outcomes: readonly ReadingResult[] } | { readonly failed: unknown };

/** A message that has been read, on its way through a round. */
type Read = { readonly post: Post; readonly readings: readonly (IncomingReading | Rejected)[]; fate: Fate };

type Group = { readonly sender: Sender; readonly reads: Read[] };

/** Readings in one round, and characters of their messages: the message that crosses either mark is the last. */
const ROUND_READINGS = 250;
const ROUND_LENGTH = 2_097_152;
/**
 * While one round is stored, the next is read and handed over, so that the store does not wait for us; and rounds are so small
 * that not all who send wait for one of them.
 */
const MOST_ROUNDS = 2;
const UNTOLD: Fate = { failed: new Error("nobody has told") };

export class Gathering {
  readonly #accept: Ingest;
  readonly #observe: Observe;
  #waiting: Post[] = [];
  /** A round is about to be handed over. */
  #isBeginning = false;
  #underWay = 0;
  /** Messages that were added and are not told yet. */
  #untold = 0;
  readonly #rhythm = new Rhythm();
  #timer: NodeJS.Timeout | undefined;
  /** When all that was handed over has been told. */
  #told = Promise.resolve();
  #whenIdle: (() => void)[] = [];

  constructor(accept: Ingest, observe: Observe) {
    this.#accept = accept;
    this.#observe = observe;
  }

  add(post: Post): void {
    this.#waiting.push(post);
    this.#untold++;
    this.#rhythm.arrived(this.#untold);
    this.#goOn();
  }

  /** Resolves when everything that was added has been told. */
  idle(): Promise<void> {
    return new Promise((resolve) => {
      this.#whenIdle.push(resolve);
      this.#goOn();
    });
  }

  #goOn(): void {
    if (this.#isBeginning || this.#underWay >= MOST_ROUNDS) return;
    if (this.#waiting.length > 0) {
      this.#begin();
    } else if (this.#underWay === 0) {
      for (const resolve of this.#whenIdle.splice(0)) resolve();
    }
  }

  #begin(): void {
    const restMs = this.#rhythm.restMs(this.#waiting.length, performance.now());
    if (restMs > 0) {
      this.#timer ??= setTimeout(() => {
        this.#timer = undefined;
        this.#goOn();
      }, restMs);
      return;
    }
    this.#isBeginning = true;
    setImmediate(() => void this.#round());
  }

  #next(): Read[] {
    const round: Read[] = [];
    let readings = 0;
    let length = 0;
    for (const post of this.#waiting) {
      if (readings >= ROUND_READINGS || length >= ROUND_LENGTH) break;
      const read = { post, readings: decodeMqttMessage(post.message), fate: UNTOLD };
      readings += read.readings.length;
      length += lengthOf(post.message);
      round.push(read);
    }
    this.#waiting = this.#waiting.slice(round.length);
    return round;
  }

  /** Rounds are handed over, and told, in the order of arrival. */
  async #round(): Promise<void> {
    this.#rhythm.begun(performance.now());
    const round = this.#next();
    const groups = await this.#bySender(round);
    const before = this.#told;
    const taken = Promise.all(groups.map(({ sender, reads }) => this.#take(sender, reads)));
    this.#told = Promise.all([before, taken]).then(() => this.#tell(round));
    this.#isBeginning = false;
    this.#underWay++;
    this.#goOn();
    await this.#told;
    this.#underWay--;
    this.#goOn();
  }

  async #bySender(round: readonly Read[]): Promise<Group[]> {
    const asked = round.map(({ post }) => post.sender());
    // Nearly always they are known at once.
    const senders = asked.some((one) => one instanceof Promise) ? await Promise.all(asked.map(orRefusal)) : (asked as Sender[]);
    const groups = new Map<Sender, Group>();
    round.forEach((read, i) => {
      const sender = senders[i] as Sender | Unknown;
      if ("failed" in sender) {
        read.fate = sender;
        if (!(sender.failed instanceof RequestError)) this.#observe({ kind: "mqtt_failed", error: sender.failed });
        return;
      }
      const group = groups.get(sender) ?? { sender, reads: [] };
      group.reads.push(read);
      groups.set(sender, group);
    });
    return [...groups.values()];
  }

  /** A message that makes us fail must not take others with it: where it is not the store, each is tried alone. */
  async #take(sender: Sender, reads: readonly Read[]): Promise<void> {
    const readings = reads.flatMap((read) => read.readings);
    try {
      const outcomes = readings.length === 0 ? [] : await this.#accept(readings, sender);
      if (outcomes.length !== readings.length) throw new Error(`told of ${outcomes.length} of ${readings.length} readings`);
      let at = 0;
      for (const read of reads) {
        read.fate = { outcomes: outcomes.slice(at, at + read.readings.length) };
        at += read.readings.length;
      }
    } catch (failed) {
      for (const read of reads) read.fate = { failed };
      if (isUnavailable(failed)) return;
      this.#observe({ kind: "mqtt_failed", error: failed });
      if (reads.length > 1) for (const read of reads) await this.#take(sender, [read]);
    }
  }

  #tell(round: readonly Read[]): void {
    this.#untold -= round.length;
    for (const { post, fate } of round) {
      try {
        post.settle(fate);
      } catch (error) {
        this.#observe({ kind: "mqtt_failed", error });
      }
    }
  }
}

type Unknown = { readonly failed: unknown };

async function orRefusal(asked: Sender | Promise<Sender>): Promise<Sender | Unknown> {
  try {
    return await asked;
  } catch (failed) {
    return { failed };
  }
}

const lengthOf = ({ text }: MqttMessage): number => (typeof text === "string" ? text.length : 0);

export function isUnavailable(error: unknown): boolean {
  return error instanceof RequestError && error.code === "store_unavailable";
}
