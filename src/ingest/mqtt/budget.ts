// How much may be under way at once, of all clients together. Whoever finds no room is woken when some has been given back.

export class Budget {
  readonly #most: number;
  #used = 0;
  #waiting: Set<() => void> = new Set();

  constructor(most: number) {
    this.#most = most;
  }

  /** What is larger than everything there is goes alone, rather than never. */
  take(cost: number, wake: () => void): boolean {
    if (this.#used > 0 && this.#used + cost > this.#most) {
      this.#waiting.add(wake);
      return false;
    }
    this.#used += cost;
    return true;
  }

  give(cost: number): void {
    this.#used -= cost;
    const waiting = this.#waiting;
    if (waiting.size === 0) return;
    this.#waiting = new Set();
    for (const wake of waiting) wake();
  }

  forget(wake: () => void): void {
    this.#waiting.delete(wake);
  }
}
