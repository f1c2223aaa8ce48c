// Notes when a customer was last seen, and tells the store in batches: at most once a minute a customer.

import type { Observe } from "../domain/events.ts";
import type { Clock, Instant } from "../domain/instant.ts";
import type { Writes } from "../domain/store.ts";

const TOLD_EVERY_MS = 60_000;
const FLUSH_EVERY_MS = 500;
/** After a write that failed. */
const REST_MS = 5000;

export class LastSeen {
  readonly #touch: Writes["updateLastSeen"];
  readonly #clock: Clock;
  readonly #observe: Observe;
  readonly #told = new Map<string, Instant>();
  readonly #timer: NodeJS.Timeout;
  #due = new Map<string, Instant>();
  #flushing: Promise<void> = Promise.resolve();
  #restUntil = 0;

  constructor(touch: Writes["updateLastSeen"], clock: Clock, observe: Observe) {
    this.#touch = touch;
    this.#clock = clock;
    this.#observe = observe;
    this.#timer = setInterval(() => this.#flush(), FLUSH_EVERY_MS);
    this.#timer.unref();
  }

  note(customerId: string): void {
    const now = this.#clock();
    const told = this.#told.get(customerId);
    if (told === undefined || Math.abs(now - told) >= TOLD_EVERY_MS) this.#due.set(customerId, now);
  }

  async stop(): Promise<void> {
    clearInterval(this.#timer);
    this.#flush();
    await this.#flushing;
  }

  #flush(): void {
    if (this.#due.size === 0 || performance.now() < this.#restUntil) return;
    const seen = this.#due;
    this.#due = new Map();
    for (const [id, at] of seen) this.#told.set(id, at);
    this.#forgetOld();
    this.#flushing = this.#flushing.then(async () => {
      try {
        await this.#touch(seen);
      } catch (error) {
        this.#observe({ kind: "last_seen_delayed", error });
        this.#restUntil = performance.now() + REST_MS;
        for (const [id, at] of seen) {
          this.#told.delete(id);
          if (!this.#due.has(id)) this.#due.set(id, at);
        }
      }
    });
  }

  #forgetOld(): void {
    const before = this.#clock() - TOLD_EVERY_MS;
    for (const [id, at] of this.#told) if (at <= before) this.#told.delete(id);
  }
}
