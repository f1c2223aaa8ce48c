// When the messages that wait are handed over. Of a few senders, at once: they may be waiting to be told before they send again.
// In a crowd, a little later, with those that come meanwhile: a commit for each would take the processor from everybody.

/** So many that are not told yet are a crowd. */
const CROWD = 4;
const GATHER_MS = 5;
/** So many are enough, and wait for no others. */
const LARGE = 32;
/** What the latest message counts for in the share of those that came into a crowd, and the share that matters. */
const NOTICE = 1 / 32;
const CROWDED = 0.25;

export class Rhythm {
  #crowded = 0;
  #begunAt = Number.NEGATIVE_INFINITY;

  /** A message has come; with it, so many are not told yet. */
  arrived(untold: number): void {
    this.#crowded += ((untold >= CROWD ? 1 : 0) - this.#crowded) * NOTICE;
  }

  /** Messages are handed over. */
  begun(now: number): void {
    this.#begunAt = now;
  }

  /** For how many milliseconds those that wait should wait for others. */
  restMs(waiting: number, now: number): number {
    return this.#crowded > CROWDED && waiting < LARGE ? Math.max(0, this.#begunAt + GATHER_MS - now) : 0;
  }
}
