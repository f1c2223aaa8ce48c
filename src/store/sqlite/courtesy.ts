// How the writing thread makes room for others: for those of its process who answer meanwhile, and would have to wait where
// processors are few; and for other processes that wait to write.

import { sleep } from "./connection.ts";

/** After this much work it rests, so that nobody waits for longer than that. */
const WORK_MS = 0.4;
const REST_MS = 0.15;
/** Held for this long, in one transaction or many, the lock is left free for longer than others take to look again. */
const HELD_MS = 100;
const PAUSE_MS = 3;

export class Courtesy {
  #begunAt = 0;
  #freedAt = 0;
  #restedAt = 0;
  #isCalm = false;
  /** For how long the lock was held since it was last left free for a while. */
  #heldMs = 0;

  /** A transaction begins. */
  begin(): void {
    const now = performance.now();
    const free = now - this.#freedAt;
    // Where it has no more time than it needs, nobody is helped by its taking longer.
    this.#isCalm = free > this.#freedAt - this.#begunAt;
    if (free > PAUSE_MS) this.#heldMs = 0;
    this.#begunAt = now;
    this.#restedAt = now;
  }

  /** Between two pieces of its work. */
  readonly rest = (): void => {
    if (!this.#isCalm || performance.now() - this.#restedAt < WORK_MS) return;
    sleep(REST_MS);
    this.#restedAt = performance.now();
  };

  /** The transaction is over. */
  end(): void {
    this.#freedAt = performance.now();
    this.#heldMs += this.#freedAt - this.#begunAt;
    if (this.#heldMs > HELD_MS) sleep(PAUSE_MS);
  }
}
