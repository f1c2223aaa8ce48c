// Packets of all clients are handled for some milliseconds in each turn of the event loop, so that requests are served in between.
// Clients that have sent more wait for a later turn, in which their keys take turns.

import { RoundRobin } from "../../domain/fair-queue.ts";

const TURN_MS = 5;

export class TurnLimit {
  readonly #waiting = new RoundRobin<() => void>();
  #endsAt: number | undefined;

  /** Whether the time for this turn is used up. */
  isOver(): boolean {
    const now = performance.now();
    if (this.#endsAt === undefined) {
      this.#endsAt = now + TURN_MS;
      setImmediate(() => this.#begin());
    }
    return now >= this.#endsAt;
  }

  /** Calls `resume` in a later turn, after this one was over. */
  defer(key: string, resume: () => void): void {
    this.#waiting.add(key, resume);
  }

  #begin(): void {
    this.#endsAt = undefined;
    while (this.#waiting.size > 0 && !this.isOver()) this.#waiting.take()?.item();
  }
}
