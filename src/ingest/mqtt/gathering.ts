// Messages of all clients, gathered: what arrives in one turn of the event loop, or while other messages are being stored,
// is handed over together, so that many messages share a commit. Their senders are told in the order of arrival.

import { Refusal } from "../../domain/errors.ts";
import type { Observe } from "../../domain/events.ts";
import type { Accept, Arrival, Outcome, Rejected, Sender } from "../arrival.ts";
import { type Message, readingsOf } from "../decode/message.ts";

/** A message, and whom to tell what became of it. */
export type Post = {
  readonly message: Message;
  /** Asked when the message's turn has come, so that a key that was revoked meanwhile is noticed. */
  readonly sender: () => Sender | Promise<Sender>;
  readonly settle: (fate: Fate) => void;
};

/** `failed`: nothing of it was stored, or nobody knows. It must not be acknowledged. */
export type Fate = { readonly outcomes: readonly Outcome[] } | { readonly failed: unknown };

/** A message that has been read, on its way through a round. */
type Read = { readonly post: Post; readonly readings: readonly (Arrival | Rejected)[]; fate: Fate };

/** Readings in one round; the message that crosses this mark is the last. */
const ROUND_READINGS = 10_000;
const UNTOLD: Fate = { failed: new Error("nobody has told") };

export class Gathering {
  readonly #accept: Accept;
  readonly #observe: Observe;
  #waiting: Post[] = [];
  #running: Promise<void> | undefined;

  constructor(accept: Accept, observe: Observe) {
    this.#accept = accept;
    this.#observe = observe;
  }

  add(post: Post): void {
    this.#waiting.push(post);
    this.#running ??= this.#run();
  }

  /** Resolves when everything that was added has been told. */
  async idle(): Promise<void> {
    while (this.#running !== undefined) await this.#running;
  }

  async #run(): Promise<void> {
    await new Promise(setImmediate);
    while (this.#waiting.length > 0) await this.#round(this.#next());
    this.#running = undefined;
  }

  #next(): Read[] {
    const round: Read[] = [];
    let readings = 0;
    for (const post of this.#waiting) {
      if (readings >= ROUND_READINGS) break;
      const read = { post, readings: readingsOf(post.message), fate: UNTOLD };
      readings += read.readings.length;
      round.push(read);
    }
    this.#waiting = this.#waiting.slice(round.length);
    return round;
  }

  async #round(round: readonly Read[]): Promise<void> {
    const senders = await Promise.allSettled(round.map(async ({ post }) => post.sender()));
    const groups = new Map<string, { readonly sender: Sender; readonly reads: Read[] }>();
    round.forEach((read, i) => {
      const sender = senders[i];
      if (sender?.status !== "fulfilled") {
        read.fate = { failed: sender?.reason };
        if (!(sender?.reason instanceof Refusal)) this.#observe({ kind: "mqtt_failed", error: sender?.reason });
        return;
      }
      const { customerId, deviceId } = sender.value;
      const name = JSON.stringify([customerId, deviceId]);
      const group = groups.get(name) ?? { sender: sender.value, reads: [] };
      group.reads.push(read);
      groups.set(name, group);
    });
    await Promise.all(Array.from(groups.values(), ({ sender, reads }) => this.#take(sender, reads)));
    for (const read of round) this.#tell(read);
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

  #tell({ post, fate }: Read): void {
    try {
      post.settle(fate);
    } catch (error) {
      this.#observe({ kind: "mqtt_failed", error });
    }
  }
}

export function isUnavailable(error: unknown): boolean {
  return error instanceof Refusal && error.code === "store_unavailable";
}
