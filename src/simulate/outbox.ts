// Messages on their way out. It holds so many and no more: while the service is away, devices wait rather than memory fills.

import type { Message } from "./message.ts";

export class Outbox {
  readonly #capacity: number;
  /** Those in our own words travel together, others one by one. */
  readonly #own: Message[] = [];
  readonly #others: Message[] = [];
  readonly #waiting: (() => void)[] = [];
  #isOwnTurn = true;
  #isClosed = false;

  constructor(capacity: number) {
    this.#capacity = capacity;
  }

  get size(): number {
    return this.#own.length + this.#others.length;
  }

  get isFull(): boolean {
    return this.size >= this.#capacity;
  }

  put(message: Message): void {
    (message.by === "own" ? this.#own : this.#others).push(message);
    this.#waiting.shift()?.();
  }

  /** The next to be sent, as soon as there is something; undefined where nothing comes any more. */
  async take(most: number): Promise<readonly Message[] | undefined> {
    while (this.size === 0) {
      if (this.#isClosed) return undefined;
      await new Promise<void>((resolve) => this.#waiting.push(resolve));
    }
    // Taken in turn, so that neither kind keeps the other waiting.
    this.#isOwnTurn = !this.#isOwnTurn;
    const isOwn = this.#others.length === 0 || (this.#isOwnTurn && this.#own.length > 0);
    return isOwn ? this.#own.splice(0, most) : this.#others.splice(0, 1);
  }

  /** Nothing is put into it any more. */
  close(): void {
    this.#isClosed = true;
    for (const wake of this.#waiting.splice(0)) wake();
  }
}
