// The connections of the endpoint: how many there are, and which is dropped for another.

import type { EndpointLimits } from "./connected-keys.ts";

type Droppable = { readonly drop: () => void };

/** A disconnected client whose messages are still held is only in `all`. */
export class Connections<T extends Droppable> {
  readonly all = new Set<T>();
  readonly #limits: EndpointLimits;
  /** Not accepted yet, or rejected and not closed yet; the oldest first. */
  readonly #connecting = new Set<T>();
  readonly #clients = new Set<T>();

  constructor(limits: EndpointLimits) {
    this.#limits = limits;
  }

  /** Connections that send nothing do not block new clients: the oldest of them is dropped for a new one. */
  open(connection: T): void {
    const max = Math.max(this.#limits.connecting, this.#limits.clients - this.#clients.size);
    const [oldest] = this.#connecting;
    if (this.#connecting.size >= max) oldest?.drop();
    this.all.add(connection);
    this.#connecting.add(connection);
  }

  /** Whether there is a place for one more client. */
  accept(connection: T): boolean {
    if (this.#clients.size >= this.#limits.clients) return false;
    this.#connecting.delete(connection);
    this.#clients.add(connection);
    return true;
  }

  /** Its socket is closed. */
  close(connection: T): void {
    this.#connecting.delete(connection);
    this.#clients.delete(connection);
  }

  /** Nothing more is to do for it. */
  end(connection: T): void {
    this.all.delete(connection);
    this.#clients.delete(connection);
  }
}
