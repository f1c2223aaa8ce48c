// The memory budget for request bodies: an upper limit on the bytes that all requests hold together. What does not fit is
// rejected while it arrives, so that neither many senders nor a single one can exhaust the memory.

import { RequestError } from "../domain/errors.ts";

const SMALL_BODY_BYTES = 65_536;
/** Part of the budget that only small bodies can use. */
const RESERVED_FOR_SMALL = 1 / 8;
/** Part of the budget for all bodies of one key. A single body is accepted whatever its size. */
const MAX_PART_PER_KEY = { small: 1 / 2, large: 1 / 4 };

/** The bytes of one request. */
export type Reservation = {
  /** Throws `overloaded` where the budget does not allow it. */
  readonly reserve: (bytes: number) => void;
  readonly release: () => void;
};

export class BodyBudget {
  readonly #maxBytes: number;
  readonly #bytesByKey = new Map<string, number>();
  #bytes = 0;

  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes;
  }

  reservation(key: string): Reservation {
    let own = 0;
    return {
      reserve: (bytes) => {
        if (!this.#fits(key, own, bytes)) {
          throw new RequestError("overloaded", "The service is receiving too much data. Nothing was stored; retry shortly.", {
            retryAfter: 1,
          });
        }
        this.#add(key, bytes);
        own += bytes;
      },
      release: () => {
        this.#add(key, -own);
        own = 0;
      },
    };
  }

  #fits(key: string, own: number, bytes: number): boolean {
    const isSmall = own + bytes <= SMALL_BODY_BYTES;
    if (this.#bytes + bytes > this.#maxBytes * (isSmall ? 1 : 1 - RESERVED_FOR_SMALL)) return false;
    const ofKey = this.#bytesByKey.get(key) ?? 0;
    return ofKey === own || ofKey + bytes <= this.#maxBytes * (isSmall ? MAX_PART_PER_KEY.small : MAX_PART_PER_KEY.large);
  }

  #add(key: string, bytes: number): void {
    this.#bytes += bytes;
    const ofKey = (this.#bytesByKey.get(key) ?? 0) + bytes;
    if (ofKey === 0) this.#bytesByKey.delete(key);
    else this.#bytesByKey.set(key, ofKey);
  }
}
