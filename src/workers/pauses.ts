// How long to wait before a worker is replaced.

const LONG_LIFE_MS = 10_000;
const FIRST_MS = 250;
const LONGEST_MS = 10_000;

/** The first one is replaced at once; those that die young after it are waited for, each twice as long as the last. */
export class Pauses {
  #deaths = 0;

  next(age: number): number {
    if (age >= LONG_LIFE_MS) this.#deaths = 0;
    this.#deaths++;
    return this.#deaths === 1 ? 0 : Math.min(LONGEST_MS, FIRST_MS * 2 ** (this.#deaths - 2));
  }
}
