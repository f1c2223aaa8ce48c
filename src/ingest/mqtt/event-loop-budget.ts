// Packets of all clients are handled for some milliseconds in each iteration of the event loop, so that requests are served in between.
// Clients that have sent more wait for a later iteration, keys round-robin.

import { RoundRobin } from "../../domain/fair-queue.ts";

const BUDGET_MS = 5;

export class EventLoopBudget {
  readonly #waiting = new RoundRobin<() => void>();
  #endsAt: number | undefined;

  /** Whether the time for this iteration is used up. */
  isUsedUp(): boolean {
    const now = performance.now();
    if (this.#endsAt === undefined) {
      this.#endsAt = now + BUDGET_MS;
      setImmediate(() => this.#begin());
    }
    return now >= this.#endsAt;
  }

  /** Calls `resume` in a later iteration. */
  defer(key: string, resume: () => void): void {
    this.#waiting.add(key, resume);
  }

  #begin(): void {
    this.#endsAt = undefined;
    while (this.#waiting.size > 0 && !this.isUsedUp()) this.#waiting.take()?.item();
  }
}
