// Room for bodies: so many bytes of all requests together may be held at once. What does not fit is refused while it arrives,
// so that no number of senders fills the memory.

import { Refusal } from "../domain/errors.ts";

export class Room {
  readonly #most: number;
  #held = 0;

  constructor(most: number) {
    this.#most = most;
  }

  /** A share that grows with a request, and ends with it. */
  share(): Share {
    let own = 0;
    return {
      take: (bytes) => {
        if (this.#held + bytes > this.#most) throw tooMuch();
        this.#held += bytes;
        own += bytes;
      },
      leave: () => {
        this.#held -= own;
        own = 0;
      },
    };
  }
}

export type Share = { readonly take: (bytes: number) => void; readonly leave: () => void };

function tooMuch(): Refusal {
  return new Refusal("overloaded", "Too much is being sent at once. Nothing was taken; try again shortly.", { retryAfter: 1 });
}
