// Says once when something is lost, with the reason, and once when it is back: reading and writing each have one.

import { RequestError } from "../domain/errors.ts";
import type { Observe } from "../domain/events.ts";

export class Health {
  readonly #of: "store" | "writes";
  readonly #observe: Observe;
  #isLost = false;
  #isHeld = false;
  #losses = 0;

  constructor(of: "store" | "writes", observe: Observe) {
    this.#of = of;
    this.#observe = observe;
  }

  lose(reason: string): void {
    this.#losses++;
    if (this.#isLost) return;
    this.#isLost = true;
    this.#observe({ kind: `${this.#of}_unavailable`, reason });
  }

  /** Lost until released: an answer that was under way does not count as its return. */
  hold(reason: string): void {
    this.#isHeld = true;
    this.lose(reason);
  }

  release(): void {
    this.#isHeld = false;
    this.#regain();
  }

  #regain(): void {
    if (!this.#isLost || this.#isHeld) return;
    this.#isLost = false;
    this.#observe({ kind: `${this.#of}_recovered` });
  }

  /** Passes on what `work` gives or throws; an error that means the database is away is noted. */
  async watch<T>(work: () => Promise<T>): Promise<T> {
    const losses = this.#losses;
    try {
      const result = await work();
      // What was asked before the loss, and answered over another connection after it, says nothing of a return.
      if (losses === this.#losses) this.#regain();
      return result;
    } catch (error) {
      if (error instanceof RequestError) this.lose(error.cause instanceof Error ? error.cause.message : error.message);
      throw error;
    }
  }
}
