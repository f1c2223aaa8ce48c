// Says once when the database is lost, with the reason, and once when it is back.

import { Refusal } from "../../domain/errors.ts";
import type { Observe } from "../../domain/events.ts";

export class Health {
  readonly #observe: Observe;
  #isLost = false;

  constructor(observe: Observe) {
    this.#observe = observe;
  }

  lose(reason: string): void {
    if (this.#isLost) return;
    this.#isLost = true;
    this.#observe({ kind: "store_lost", reason });
  }

  regain(): void {
    if (!this.#isLost) return;
    this.#isLost = false;
    this.#observe({ kind: "store_back" });
  }

  /** Passes an error on; one that means the database is away is noted. */
  note(error: unknown): unknown {
    if (error instanceof Refusal) this.lose(error.cause instanceof Error ? error.cause.message : error.message);
    return error;
  }
}
