// When messages were received. No two messages of a topic get the same time: readings without a time of their own have it, and of
// two readings of a device with the same time only one is kept.

import type { Instant } from "../../domain/instant.ts";

/** Topics whose last receipt time is remembered. */
const MAX_TOPICS = 10_000;
/** Maximum lead of assigned times over the clock in a burst. */
const MAX_LEAD_MS = 1000;

export class ReceiptTimes {
  /** Those that were used longest ago come first. */
  readonly #last = new Map<string, Instant>();

  /** The given time, or a millisecond after the message before. */
  next(topic: string, receivedAt: Instant): Instant {
    const last = this.#last.get(topic) ?? Number.NEGATIVE_INFINITY;
    const isTaken = receivedAt <= last && receivedAt > last - MAX_LEAD_MS;
    const time = isTaken ? last + 1 : receivedAt;
    this.#last.delete(topic);
    this.#last.set(topic, time);
    const [oldest] = this.#last.keys();
    if (this.#last.size > MAX_TOPICS && oldest !== undefined) this.#last.delete(oldest);
    return time;
  }
}
