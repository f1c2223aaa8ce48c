// How much may be under way at once: of one key, and of all clients together. Whoever finds no room is woken when some has been
// given back.

export class Budget {
  readonly #most: number;
  /** What this is a share of. */
  readonly #whole: Budget | undefined;
  #used = 0;
  #waiting: Set<() => void> = new Set();
  /** The one whose message may go over the mark, so that of many that have come in part one can be completed. */
  #ahead: (() => void) | undefined;

  constructor(most: number, whole?: Budget) {
    this.#most = most;
    this.#whole = whole;
  }

  /** So much of it, at most, for one: others find room beside it. */
  share(part: number): Budget {
    return new Budget(Math.floor(this.#most / part), this);
  }

  /** `isBegun`: more of a message of which a part was let in. What is larger than everything there is goes alone, not never. */
  take(cost: number, wake: () => void, isBegun = false): boolean {
    if (!this.#hasRoom(cost, wake, isBegun)) {
      this.#waiting.add(wake);
      return false;
    }
    if (this.#whole?.take(cost, wake, isBegun) === false) return false;
    this.#used += cost;
    return true;
  }

  #hasRoom(cost: number, wake: () => void, isBegun: boolean): boolean {
    if (this.#used + cost <= this.#most) return true;
    if (!isBegun) return this.#used === 0;
    this.#ahead ??= wake;
    return this.#ahead === wake;
  }

  give(cost: number): void {
    this.#used -= cost;
    this.#whole?.give(cost);
    const waiting = this.#waiting;
    if (waiting.size === 0) return;
    this.#waiting = new Set();
    for (const wake of waiting) wake();
  }

  /** The message has come whole. What it took is given back later, and wakes the next. */
  complete(wake: () => void): void {
    if (this.#ahead === wake) this.#ahead = undefined;
    this.#whole?.complete(wake);
  }

  forget(wake: () => void): void {
    this.#waiting.delete(wake);
    if (this.#ahead === wake) this.#ahead = undefined;
    this.#whole?.forget(wake);
  }
}
