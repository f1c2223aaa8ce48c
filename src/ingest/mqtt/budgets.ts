// What the clients of a key may use: memory for messages in progress, memory for what waits, and the key's rate.

import { setTimeout as sleep } from "node:timers/promises";

/** What remains free is for other keys: the more keys there are, the less each may use. */
const SHARE_OF_FREE = 1 / 3;
/** Large messages are reserved before they have arrived, and may be slow; this part of the memory is only for others. */
const SMALL_MESSAGE_BYTES = 65_536;
const RESERVED_FOR_SMALL = 1 / 8;

/** Memory for messages in progress, of all clients. */
export class MessageMemory {
  readonly #max: number;
  readonly #waiting = new RetryList();
  #used = 0;

  constructor(max: number) {
    this.#max = max;
  }

  freeAfter(bytes: number): number {
    return this.#max * (bytes > SMALL_MESSAGE_BYTES ? 1 - RESERVED_FOR_SMALL : 1) - this.#used - bytes;
  }

  /** Returns whether the bytes are reserved; if not, `retry` is called when some were released. */
  reserve(bytes: number, retry: () => void): boolean {
    if (this.freeAfter(bytes) < 0) return this.#waiting.add(retry);
    this.#used += bytes;
    return true;
  }

  release(bytes: number): void {
    this.#used -= bytes;
    this.#waiting.run();
  }
}

/** The part of one key. A single message is accepted whatever its size. */
export class KeyMemory {
  readonly #all: MessageMemory;
  readonly #waiting = new RetryList();
  #used = 0;

  constructor(all: MessageMemory) {
    this.#all = all;
  }

  get isUsed(): boolean {
    return this.#used > 0;
  }

  reserve(bytes: number, retry: () => void): boolean {
    const isWithinShare = this.#used === 0 || this.#used + bytes <= this.#all.freeAfter(bytes) * SHARE_OF_FREE;
    if (!isWithinShare) return this.#waiting.add(retry);
    if (!this.#all.reserve(bytes, retry)) return false;
    this.#used += bytes;
    return true;
  }

  release(bytes: number): void {
    this.#used -= bytes;
    this.#all.release(bytes);
    this.#waiting.run();
  }
}

/** Who could not reserve memory, and tries again when some is released. */
class RetryList {
  #retries = new Set<() => void>();

  /** Returns false: nothing is reserved. */
  add(retry: () => void): false {
    this.#retries.add(retry);
    return false;
  }

  run(): void {
    if (this.#retries.size === 0) return;
    const retries = this.#retries;
    this.#retries = new Set();
    for (const retry of retries) retry();
  }
}

export type BufferUse = { readonly max: number; used: number };

/** The least share of a key: as much as a socket may pass on at once. */
const MIN_SHARE_BYTES = 65_536;

/** The bytes that clients of one key have sent and that may not be ingested yet. */
export class BufferShare {
  readonly #all: BufferUse;
  readonly #onFull: () => void;
  #used = 0;

  /** `onFull` is called when clients must be paused. Whether they may continue is checked every half second. */
  constructor(all: BufferUse, onFull: () => void) {
    this.#all = all;
    this.#onFull = onFull;
  }

  get isFull(): boolean {
    return this.#used > Math.max(MIN_SHARE_BYTES, (this.#all.max - this.#all.used) * SHARE_OF_FREE);
  }

  change(bytes: number): void {
    const wasFull = this.isFull;
    this.#used += bytes;
    this.#all.used += bytes;
    if (!wasFull && this.isFull) this.#onFull();
  }
}

/** The buffered bytes of one client. */
export class BufferedBytes {
  #bytes = 0;

  set(bytes: number, share: BufferShare | undefined): void {
    const change = bytes - this.#bytes;
    if (share === undefined || change === 0) return;
    this.#bytes = bytes;
    share.change(change);
  }
}

/** Takes a token of a key's rate limit and returns 0, or returns the milliseconds after which to try again. */
export type TakeToken = () => number | Promise<number>;

const RETRY_TOKEN_MS = 1000;
/** However low the key's rate is: it may be raised meanwhile. */
const MAX_TOKEN_WAIT_MS = 60_000;

/** The token of a key's rate limit for the next message of one client. */
export class RateToken {
  #state: "none" | "requested" | "available" = "none";

  /** Whether there is one. If not, it is requested, and `retry` is called when it is worth trying again. */
  request(take: TakeToken, retry: () => void): boolean {
    if (this.#state === "none") {
      const delay = take();
      this.#state = delay === 0 ? "available" : "requested";
      if (delay !== 0) void this.#await(delay, retry);
    }
    return this.#state === "available";
  }

  use(): void {
    this.#state = "none";
  }

  async #await(requested: number | Promise<number>, retry: () => void): Promise<void> {
    const delay = await Promise.resolve(requested).catch(() => RETRY_TOKEN_MS);
    if (delay > 0) await sleep(Math.min(delay, MAX_TOKEN_WAIT_MS), undefined, { ref: false });
    this.#state = delay === 0 ? "available" : "none";
    retry();
  }
}
