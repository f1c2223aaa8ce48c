// Room for bodies: so many bytes of all requests together may be held at once. What does not fit is refused while it arrives,
// so that no number of senders fills the memory, and no single one keeps the others out.

import { RequestError } from "../domain/errors.ts";

/** Most bodies are smaller. For these there is some room that large ones do not get. */
const SMALL_BYTES = 65_536;
const RESERVED_PART = 1 / 8;
/** Of the room, for all bodies of one key together; a single one is let in whatever its size. */
const PART_OF_KEY = { small: 1 / 2, large: 1 / 4 };

export class Room {
  readonly #most: number;
  readonly #heldBy = new Map<string, number>();
  #held = 0;

  constructor(most: number) {
    this.#most = most;
  }

  /** A share that grows with a request of this key, and ends with it. */
  share(key: string): Share {
    let own = 0;
    return {
      take: (bytes) => {
        if (!this.#fits(key, own, bytes)) throw tooMuch();
        this.#add(key, bytes);
        own += bytes;
      },
      leave: () => {
        this.#add(key, -own);
        own = 0;
      },
    };
  }

  #fits(key: string, own: number, bytes: number): boolean {
    const isSmall = own + bytes <= SMALL_BYTES;
    if (this.#held + bytes > this.#most * (isSmall ? 1 : 1 - RESERVED_PART)) return false;
    const ofKey = this.#heldBy.get(key) ?? 0;
    return ofKey === own || ofKey + bytes <= this.#most * (isSmall ? PART_OF_KEY.small : PART_OF_KEY.large);
  }

  #add(key: string, bytes: number): void {
    this.#held += bytes;
    const ofKey = (this.#heldBy.get(key) ?? 0) + bytes;
    if (ofKey === 0) this.#heldBy.delete(key);
    else this.#heldBy.set(key, ofKey);
  }
}

export type Share = { readonly take: (bytes: number) => void; readonly leave: () => void };

function tooMuch(): RequestError {
  return new RequestError("overloaded", "Too much is being sent at once. Nothing was taken; try again shortly.", {
    retryAfter: 1,
  });
}
