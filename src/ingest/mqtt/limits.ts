// Limits of the embedded endpoint, and the memory that messages in progress may use.

export type EndpointLimits = Readonly<typeof DEFAULT_LIMITS>;

export const DEFAULT_LIMITS = {
  /** Sizes of packets: PUBLISH, CONNECT, and any other. */
  publishBytes: 1_048_576,
  connectBytes: 16_384,
  controlBytes: 1024,
  /** Messages of one client in progress; the Receive Maximum of MQTT 5. */
  inFlight: 100,
  /** Received bytes of one client that may not be ingested yet: with more of them its socket is paused. */
  heldBytes: 32_768,
  /** Packets of one client in half a second that are neither publishes nor belong to one. */
  controlPackets: 50,
  /** For a client to connect. */
  connectMs: 10_000,
  /** For one packet to arrive, or for a reply to be read. Time in which we did not read does not count. */
  packetMs: 30_000,
  /** Without any packet, for clients that set no keep-alive: a sensor may report once a day, and somewhat late. */
  silentMs: 90_000_000,
  connections: 10_000,
  /** Clients at once of a key that is bound to a device, and of any other. */
  clientsPerDeviceKey: 10,
  clientsPerKey: 5000,
  /** Of messages of all clients in progress. One key may use a quarter of it, which must be more than a message. */
  memoryBytes: 67_108_864,
};

/** Memory for messages in progress: of all clients, and of one key as a part of that. */
export class MemoryBudget {
  readonly #limit: number;
  readonly #parent: MemoryBudget | undefined;
  #used = 0;
  #waiting = new Set<() => void>();

  constructor(limit: number, parent?: MemoryBudget) {
    this.#limit = limit;
    this.#parent = parent;
  }

  /** Returns whether the bytes are reserved; if not, `retry` is called when some were released. */
  reserve(bytes: number, retry: () => void): boolean {
    if (this.#used + bytes > this.#limit) {
      this.#waiting.add(retry);
      return false;
    }
    if (this.#parent?.reserve(bytes, retry) === false) return false;
    this.#used += bytes;
    return true;
  }

  release(bytes: number): void {
    this.#used -= bytes;
    this.#parent?.release(bytes);
    if (this.#waiting.size === 0) return;
    const waiting = this.#waiting;
    this.#waiting = new Set();
    for (const retry of waiting) retry();
  }
}
