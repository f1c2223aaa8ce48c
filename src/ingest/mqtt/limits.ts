// Limits of clients: memory for messages that are not yet stored, rates, and times.

export type ConnectionLimits = {
  /** Sizes of packets: PUBLISH, CONNECT, and any other. */
  readonly publishBytes: number;
  readonly connectBytes: number;
  readonly controlBytes: number;
  /** Messages of one client in progress; the Receive Maximum of MQTT 5. */
  readonly inFlight: number;
  /** Received bytes of messages that may not be ingested yet: the socket is paused when there are more. */
  readonly heldBytes: number;
  /** Packets per second that are neither publishes nor belong to one. */
  readonly controlPackets: number;
  /** For a client to send CONNECT. */
  readonly connectMs: number;
  /** For one packet to arrive, or for a reply to be read. Time in which we did not read does not count. */
  readonly packetMs: number;
  /** Without any packet, for clients that set no keep-alive. */
  readonly silentMs: number;
};

/** Memory for messages in progress, shared by all clients. A key gets a part of it. */
export class MemoryBudget {
  readonly #limit: number;
  readonly #parent: MemoryBudget | undefined;
  #used = 0;
  #waiting: Set<() => void> = new Set();
  /** The one client whose incomplete message may exceed the limit: of many incomplete messages one can always be completed. */
  #exempt: (() => void) | undefined;

  constructor(limit: number, parent?: MemoryBudget) {
    this.#limit = limit;
    this.#parent = parent;
  }

  /** A part of this budget for one key, so that others find memory beside it. */
  part(divisor: number): MemoryBudget {
    return new MemoryBudget(Math.floor(this.#limit / divisor), this);
  }

  /**
   * Returns whether the bytes are reserved; if not, `retry` is called when some were released. `isContinued`: more bytes of a
   * message that has begun. A message larger than the whole budget is accepted while nothing else is in progress.
   */
  reserve(bytes: number, retry: () => void, isContinued = false): boolean {
    if (!this.#fits(bytes, retry, isContinued)) {
      this.#waiting.add(retry);
      return false;
    }
    if (this.#parent?.reserve(bytes, retry, isContinued) === false) return false;
    this.#used += bytes;
    return true;
  }

  #fits(bytes: number, retry: () => void, isContinued: boolean): boolean {
    if (this.#used + bytes <= this.#limit) return true;
    if (!isContinued) return this.#used === 0;
    this.#exempt ??= retry;
    return this.#exempt === retry;
  }

  release(bytes: number): void {
    this.#used -= bytes;
    this.#parent?.release(bytes);
    const waiting = this.#waiting;
    if (waiting.size === 0) return;
    this.#waiting = new Set();
    for (const retry of waiting) retry();
  }

  /** The message of this client is complete: another may exceed the limit. */
  complete(retry: () => void): void {
    if (this.#exempt === retry) this.#exempt = undefined;
    this.#parent?.complete(retry);
  }

  /** The client is gone. */
  cancel(retry: () => void): void {
    this.#waiting.delete(retry);
    this.complete(retry);
    this.#parent?.cancel(retry);
  }
}

/** Takes a token of a key's rate limit and returns 0, or returns the milliseconds after which to try again. */
export type TakeToken = () => number | Promise<number>;

const RETRY_AFTER_FAILURE_MS = 1000;

/** Holds a client's next message until its key has a token for it. */
export class RateGate {
  readonly #takeToken: TakeToken;
  readonly #retry: () => void;
  #hasToken = false;
  #isWaiting = false;
  #timer: NodeJS.Timeout | undefined;
  #isStopped = false;

  constructor(takeToken: TakeToken, retry: () => void) {
    this.#takeToken = takeToken;
    this.#retry = retry;
  }

  /** Whether a message may pass now; if not, `retry` is called later. A token that is not used is kept. */
  isOpen(): boolean {
    if (this.#hasToken || this.#isWaiting) return this.#hasToken;
    const delay = this.#takeToken();
    if (delay === 0) {
      this.#hasToken = true;
      return true;
    }
    this.#isWaiting = true;
    if (typeof delay === "number") this.#wait(delay);
    else {
      delay.then(
        (milliseconds) => this.#settle(milliseconds),
        () => this.#wait(RETRY_AFTER_FAILURE_MS),
      );
    }
    return false;
  }

  use(): void {
    this.#hasToken = false;
  }

  stop(): void {
    this.#isStopped = true;
    clearTimeout(this.#timer);
  }

  #settle(delay: number): void {
    if (delay > 0) {
      this.#wait(delay);
      return;
    }
    this.#hasToken = true;
    this.#isWaiting = false;
    this.#retry();
  }

  #wait(delay: number): void {
    if (this.#isStopped) return;
    this.#timer = setTimeout(() => {
      this.#isWaiting = false;
      this.#retry();
    }, delay);
  }
}

const SECOND_MS = 1000;

/** Control packets of one client per second. */
export class ControlLimit {
  readonly #limit: number;
  readonly #retry: () => void;
  #count = 0;
  #timer: NodeJS.Timeout | undefined;
  /** No more packets are read until the second is over; `retry` is called then. */
  isReached = false;

  constructor(limit: number, retry: () => void) {
    this.#limit = limit;
    this.#retry = retry;
  }

  take(): boolean {
    this.isReached = this.#count >= this.#limit;
    if (this.isReached) return false;
    this.#count++;
    this.#timer ??= setTimeout(() => {
      this.#timer = undefined;
      this.#count = 0;
      this.isReached = false;
      this.#retry();
    }, SECOND_MS);
    return true;
  }

  giveBack(): void {
    this.#count--;
  }

  stop(): void {
    clearTimeout(this.#timer);
  }
}

/** When a client's bytes arrived. Time in which its socket was paused does not count. */
export class ReadTimes {
  #receivedAt = performance.now();
  #packetSince: number | undefined;
  #pausedSince: number | undefined;

  get isPaused(): boolean {
    return this.#pausedSince !== undefined;
  }

  received(): void {
    this.#receivedAt = performance.now();
  }

  /** Whether a packet is incomplete, and whether another one was complete since the last call. */
  packet(isIncomplete: boolean, hasConsumed: boolean): void {
    if (!isIncomplete) this.#packetSince = undefined;
    else if (hasConsumed || this.#packetSince === undefined) this.#packetSince = performance.now();
  }

  pause(): void {
    this.#pausedSince = performance.now();
  }

  resume(): void {
    const paused = performance.now() - (this.#pausedSince ?? performance.now());
    this.#pausedSince = undefined;
    this.#receivedAt += paused;
    if (this.#packetSince !== undefined) this.#packetSince += paused;
  }

  isPausedFor(milliseconds: number, now: number): boolean {
    return this.#pausedSince !== undefined && now - this.#pausedSince > milliseconds;
  }

  isLate(packetMs: number, silentMs: number, now: number): boolean {
    if (this.isPaused) return false;
    return (this.#packetSince !== undefined && now - this.#packetSince > packetMs) || now - this.#receivedAt > silentMs;
  }
}
