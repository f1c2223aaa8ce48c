// A client's turn to send the next message, where its key has a rate. Who must wait is woken; nothing is lost meanwhile.

/** Takes a turn and gives 0, or takes none and gives the milliseconds after which to ask again. */
export type TakeTurn = () => number | Promise<number>;

const AFTER_FAILURE_MS = 1000;

export class Turns {
  readonly #take: TakeTurn;
  readonly #wake: () => void;
  /** Taken, and not used yet. */
  #isTaken = false;
  #isAsked = false;
  #timer: NodeJS.Timeout | undefined;
  #isStopped = false;

  constructor(take: TakeTurn, wake: () => void) {
    this.#take = take;
    this.#wake = wake;
  }

  isTaken(): boolean {
    if (this.#isTaken || this.#isAsked) return this.#isTaken;
    const wait = this.#take();
    if (wait === 0) {
      this.#isTaken = true;
      return true;
    }
    this.#isAsked = true;
    if (typeof wait === "number") this.#askAgain(wait);
    else {
      wait.then(
        (milliseconds) => this.#hear(milliseconds),
        () => this.#askAgain(AFTER_FAILURE_MS),
      );
    }
    return false;
  }

  use(): void {
    this.#isTaken = false;
  }

  stop(): void {
    this.#isStopped = true;
    clearTimeout(this.#timer);
  }

  #hear(wait: number): void {
    if (wait > 0) {
      this.#askAgain(wait);
      return;
    }
    this.#isTaken = true;
    this.#isAsked = false;
    this.#wake();
  }

  #askAgain(wait: number): void {
    if (this.#isStopped) return;
    this.#timer = setTimeout(() => {
      this.#isAsked = false;
      this.#wake();
    }, wait);
  }
}
