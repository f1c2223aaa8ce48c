// How long one client may take: to connect, for a packet, without a packet, and to read our replies.

import type { EndpointLimits } from "./connected-keys.ts";

const SECOND_MS = 1000;
const KEEP_ALIVE_TOLERANCE = 1.5;
const PINGS_PER_KEEP_ALIVE = 4;

/** Time in which the client is not read does not count. */
export class Deadlines {
  readonly #limits: EndpointLimits;
  #receivedAt = performance.now();
  #packetSince: number | undefined;
  #pausedSince: number | undefined;
  #silentMs: number;
  #keepAliveMs = Number.POSITIVE_INFINITY;
  #pingedAt = 0;

  constructor(limits: EndpointLimits) {
    this.#limits = limits;
    this.#silentMs = limits.connectMs;
  }

  /** `keepAlive`: the client's, in seconds; 0 for none. */
  connected(keepAlive: number): void {
    const keepAliveMs = keepAlive * SECOND_MS;
    this.#silentMs = keepAliveMs * KEEP_ALIVE_TOLERANCE || this.#limits.silentMs;
    this.#keepAliveMs = keepAliveMs || Number.POSITIVE_INFINITY;
    this.received();
  }

  received(): void {
    this.#receivedAt = performance.now();
  }

  get isPaused(): boolean {
    return this.#pausedSince !== undefined;
  }

  /** Returns whether it was not so before. */
  pause(isPaused: boolean): boolean {
    if (isPaused === this.isPaused) return false;
    this.#pausedSince = isPaused ? performance.now() : undefined;
    this.received();
    return true;
  }

  /** `hasBegun`: a part of a packet has arrived; `isNew`: it is another one than before, or reading was resumed. */
  updatePacketStart(hasBegun: boolean, isNew: boolean): void {
    if (!hasBegun) this.#packetSince = undefined;
    else if (isNew) this.#packetSince = performance.now();
    else this.#packetSince ??= performance.now();
  }

  isExceeded(now: number, isUnread: boolean): boolean {
    const { packetMs } = this.#limits;
    if (this.#pausedSince !== undefined) return isUnread && now - this.#pausedSince > packetMs;
    return now - this.#receivedAt > this.#silentMs || now - (this.#packetSince ?? now) > packetMs;
  }

  /** Whether to send a PINGRESP: the pings of a client that is not read are behind its messages, and it would disconnect. */
  isPingDue(now: number): boolean {
    if (!this.isPaused || now - this.#pingedAt < this.#keepAliveMs / PINGS_PER_KEEP_ALIVE) return false;
    this.#pingedAt = now;
    return true;
  }
}
