// Packets of a client that are no messages: pings, subscriptions. Each is answered, and none waits for the store, so there may be
// so many a second.

import { PUBREL } from "./head.ts";

const SECOND_MS = 1000;

export class Chatter {
  readonly #most: number;
  readonly #wake: () => void;
  #said = 0;
  /** Messages of QoS 2 that are yet to be released: that belongs to the message. */
  #releases = 0;
  #timer: NodeJS.Timeout | undefined;

  constructor(most: number, wake: () => void) {
    this.#most = most;
    this.#wake = wake;
  }

  expectRelease(): void {
    this.#releases++;
  }

  /** Who has said enough is woken when the second is over. */
  isLetIn(type: number): boolean {
    if (type === PUBREL && this.#releases > 0) {
      this.#releases--;
      return true;
    }
    if (this.#said >= this.#most) return false;
    this.#said++;
    this.#timer ??= setTimeout(() => this.#goOn(), SECOND_MS);
    return true;
  }

  #goOn(): void {
    this.#timer = undefined;
    this.#said = 0;
    this.#wake();
  }

  stop(): void {
    clearTimeout(this.#timer);
  }
}
