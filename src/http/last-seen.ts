// Records when customers were last seen, in batches, and at most once a minute per customer.

import { hasCode } from "../domain/errors.ts";
import { type Clock, type Instant, MINUTE } from "../domain/instant.ts";
import type { Observe } from "../domain/log-events.ts";
import type { Writes } from "../domain/store.ts";

const FLUSH_EVERY_MS = 500;
/** Pause after a failed write. */
const RETRY_MS = 5000;

export class LastSeen {
  readonly #update: Writes["updateLastSeen"];
  readonly #clock: Clock;
  readonly #observe: Observe;
  readonly #timer: NodeJS.Timeout;
  /** Customers seen within the last minute. */
  readonly #recent = new Map<string, Instant>();
  /** Times that are not written to the store yet. */
  #pending = new Map<string, Instant>();
  #flushing: Promise<void> = Promise.resolve();
  #retryAt = 0;

  constructor(update: Writes["updateLastSeen"], clock: Clock, observe: Observe) {
    this.#update = update;
    this.#clock = clock;
    this.#observe = observe;
    this.#timer = setInterval(() => this.#scheduleFlush(), FLUSH_EVERY_MS).unref();
  }

  record(customerId: string): void {
    const now = this.#clock();
    const last = this.#recent.get(customerId);
    if (last !== undefined && Math.abs(now - last) < MINUTE) return;
    this.#recent.set(customerId, now);
    this.#pending.set(customerId, now);
  }

  async stop(): Promise<void> {
    clearInterval(this.#timer);
    this.#scheduleFlush();
    await this.#flushing;
  }

  #scheduleFlush(): void {
    this.#flushing = this.#flushing.then(() => this.#flush());
  }

  async #flush(): Promise<void> {
    if (this.#pending.size === 0 || performance.now() < this.#retryAt) return;
    const seen = this.#pending;
    this.#pending = new Map();
    const before = this.#clock() - MINUTE;
    for (const [id, at] of this.#recent) if (at <= before) this.#recent.delete(id);
    try {
      await this.#update(seen);
    } catch (error) {
      // That the database is unavailable is reported elsewhere.
      if (!hasCode(error, "store_unavailable")) this.#observe({ kind: "last_seen_delayed", error });
      this.#retryAt = performance.now() + RETRY_MS;
      this.#pending = new Map([...seen, ...this.#pending]);
    }
  }
}
