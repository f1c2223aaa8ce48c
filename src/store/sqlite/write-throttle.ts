// Slows the writer thread down a little where it has time to spare: on a machine with few processors the serving thread would
// wait for it. And leaves the lock free for other processes that wait to write.

import { sleep } from "./connection.ts";

/** After this much work the thread pauses. */
const WORK_MS = 0.4;
const PAUSE_MS = 0.15;
/** Held for this long, in one transaction or several, the lock is left free for longer than others take to look again. */
const MAX_LOCK_MS = 100;
const UNLOCKED_MS = 3;

export class WriteThrottle {
  #begunAt = 0;
  #endedAt = 0;
  #pausedAt = 0;
  #hasTime = false;
  /** How long the lock was held since it was last free for a while. */
  #lockedMs = 0;

  beginTransaction(): void {
    const now = performance.now();
    const idle = now - this.#endedAt;
    // A thread that is busy most of the time does not pause.
    this.#hasTime = idle > this.#endedAt - this.#begunAt;
    if (idle > UNLOCKED_MS) this.#lockedMs = 0;
    this.#begunAt = now;
    this.#pausedAt = now;
  }

  /** Called between two pieces of work. */
  readonly pause = (): void => {
    if (!this.#hasTime || performance.now() - this.#pausedAt < WORK_MS) return;
    sleep(PAUSE_MS);
    this.#pausedAt = performance.now();
  };

  endTransaction(): void {
    this.#endedAt = performance.now();
    this.#lockedMs += this.#endedAt - this.#begunAt;
    if (this.#lockedMs > MAX_LOCK_MS) sleep(UNLOCKED_MS);
  }
}
