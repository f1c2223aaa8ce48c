// Records when customers were last seen, in batches, and at most once a minute per customer.

import type { Observe } from "../domain/events.ts";
import type { Clock, Instant } from "../domain/instant.ts";
import type { Writes } from "../domain/store.ts";

const WRITE_EVERY_MS = 60_000;
const FLUSH_EVERY_MS = 500;
/** Pause after a failed write. */
const RETRY_MS = 5000;

export class LastSeen {
  readonly #update: Writes["updateLastSeen"];
  readonly #clock: Clock;
  readonly #observe: Observe;
  readonly #written = new Map<string, Instant>();
  readonly #timer: NodeJS.Timeout;
  #pending = new Map<string, Instant>();
  #flushing: Promise<void> = Promise.resolve();
  #retryAt = 0;

  constructor(update: Writes["updateLastSeen"], clock: Clock, observe: Observe) {
    this.#update = update;
    this.#clock = clock;
    this.#observe = observe;
    this.#timer = setInterval(() => this.#flush(), FLUSH_EVERY_MS);
    this.#timer.unref();
  }

  note(customerId: string): void {
    const now = this.#clock();
    const written = this.#written.get(customerId);
    if (written === undefined || Math.abs(now - written) >= WRITE_EVERY_MS) this.#pending.set(customerId, now);
  }

  async stop(): Promise<void> {
    clearInterval(this.#timer);
    this.#flush();
    await this.#flushing;
  }

  #flush(): void {
    if (this.#pending.size === 0 || performance.now() < this.#retryAt) return;
    const seen = this.#pending;
    this.#pending = new Map();
    for (const [id, at] of seen) this.#written.set(id, at);
    this.#removeOld();
    this.#flushing = this.#flushing.then(async () => {
      try {
        await this.#update(seen);
      } catch (error) {
        this.#observe({ kind: "last_seen_delayed", error });
        this.#retryAt = performance.now() + RETRY_MS;
        for (const [id, at] of seen) {
          this.#written.delete(id);
          if (!this.#pending.has(id)) this.#pending.set(id, at);
        }
      }
    });
  }

  #removeOld(): void {
    const before = this.#clock() - WRITE_EVERY_MS;
    for (const [id, at] of this.#written) if (at <= before) this.#written.delete(id);
  }
}
