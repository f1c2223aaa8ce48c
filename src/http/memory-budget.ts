// Upper limits on the memory that all requests hold together: for their bodies, and for responses that have not been received. What
// does not fit is rejected, so that neither many clients nor a single one can exhaust the memory.

import { RequestError } from "../domain/errors.ts";

const SMALL_BYTES = 65_536;
/** Part of the budget that only small bodies and responses can use. */
const RESERVED_FOR_SMALL = 1 / 8;
/**
 * A key that already holds something may use at most this multiple of the free memory. The first body or response of a key is always
 * accepted if it fits.
 */
const MAX_SHARE_OF_FREE = { small: 1, large: 1 / 3 };

/** What one request holds. */
export type MemoryReservation = {
  /** Throws `overloaded` where the budget does not allow it. */
  readonly reserve: (bytes: number) => void;
  /** For what must be held even if it exceeds the budget. */
  readonly add: (bytes: number) => void;
  readonly release: () => void;
};

/** Error details for the client: the key or address holds too much, or all together do. */
type Messages = { readonly ofKey: string; readonly ofAll: string };

export class MemoryBudget {
  readonly #maxBytes: number;
  readonly #messages: Messages;
  readonly #bytesByKey = new Map<string, number>();
  /**
   * Bytes a key held when something large was last rejected. Until it holds less, all else that is large is rejected immediately.
   */
  readonly #exhausted = new Map<string, number>();
  #bytes = 0;

  constructor(maxBytes: number, messages: Messages) {
    this.#maxBytes = maxBytes;
    this.#messages = messages;
  }

  reservation(key: string): MemoryReservation {
    let reserved = 0;
    const add = (bytes: number): void => {
      this.#add(key, bytes);
      reserved += bytes;
    };
    return {
      reserve: (bytes) => {
        const message = this.#rejection(key, reserved, bytes);
        if (message !== undefined) throw new RequestError("overloaded", message, { retryAfter: 1 });
        add(bytes);
      },
      add,
      release: () => add(-reserved),
    };
  }

  #rejection(key: string, reserved: number, bytes: number): string | undefined {
    const isSmall = reserved + bytes <= SMALL_BYTES;
    const free = this.#maxBytes * (isSmall ? 1 : 1 - RESERVED_FOR_SMALL) - this.#bytes - bytes;
    const ofKey = this.#bytesByKey.get(key) ?? 0;
    const isWithinShare =
      ofKey === reserved || ofKey + bytes <= free * (isSmall ? MAX_SHARE_OF_FREE.small : MAX_SHARE_OF_FREE.large);
    const others = ofKey - reserved;
    if (!isWithinShare || (!isSmall && others >= (this.#exhausted.get(key) ?? Number.POSITIVE_INFINITY))) {
      if (!isSmall) this.#exhausted.set(key, others);
      return this.#messages.ofKey;
    }
    return free < 0 ? this.#messages.ofAll : undefined;
  }

  #add(key: string, bytes: number): void {
    this.#bytes += bytes;
    const ofKey = (this.#bytesByKey.get(key) ?? 0) + bytes;
    if (ofKey < (this.#exhausted.get(key) ?? 0)) this.#exhausted.delete(key);
    if (ofKey === 0) this.#bytesByKey.delete(key);
    else this.#bytesByKey.set(key, ofKey);
  }
}
