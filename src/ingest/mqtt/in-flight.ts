// The messages of one client in progress: being ingested, or of QoS 2 and not yet released by the client.

export class InFlight {
  readonly #max: number;
  #count = 0;
  /** Messages of QoS 1 and 2 that are received and not yet finished, held ones included. */
  #unacknowledged = 0;
  readonly #qos2 = new Map<number, "ingesting" | "stored">();

  constructor(max: number) {
    this.#max = max;
  }

  get isFull(): boolean {
    return this.#count >= this.#max;
  }

  /** Whether the client has sent more than it may before the first is acknowledged. */
  get isExceeded(): boolean {
    return this.#unacknowledged > this.#max;
  }

  receive(qos: number): void {
    if (qos > 0) this.#unacknowledged++;
  }

  begin(): void {
    this.#count++;
  }

  finish(qos: number): void {
    this.#count--;
    if (qos > 0) this.#unacknowledged--;
  }

  /** What is known of a message of QoS 2 if it was sent before; otherwise it is noted. */
  identify(qos: number, messageId: number): "ingesting" | "stored" | undefined {
    if (qos !== 2) return undefined;
    const known = this.#qos2.get(messageId);
    if (known === undefined) this.#qos2.set(messageId, "ingesting");
    return known;
  }

  /** A message of QoS 2 that is stored stays in progress until it is released. */
  settle(qos: number, messageId: number, isStored: boolean): void {
    if (qos === 2 && isStored) this.#qos2.set(messageId, "stored");
    else {
      this.#qos2.delete(messageId);
      this.finish(qos);
    }
  }

  /** Whether a message with this id was waiting for its release. */
  release(messageId: number): boolean {
    const isStored = this.#qos2.get(messageId) === "stored";
    if (isStored) {
      this.#qos2.delete(messageId);
      this.finish(2);
    }
    return isStored;
  }
}
