// An `Ingest` for tests: it records its calls, takes as long as a test wants, and fails on demand.

import { RequestError } from "../../../src/domain/errors.ts";
import type { ReadingResult, Rejected } from "../../../src/domain/reading.ts";
import type { IncomingReading, Ingest, ReadingSender } from "../../../src/ingest/ingest.ts";

export type Call = { readonly readings: readonly (IncomingReading | Rejected)[]; readonly sender: ReadingSender };

export class FakeIngest {
  readonly calls: Call[] = [];
  readonly stored: IncomingReading[] = [];
  delayMs = 0;
  /** Called before anything is stored; an error it returns is thrown. */
  failWith: (call: Call) => unknown = () => undefined;
  #held: Promise<void> | undefined;
  #isHeld: (call: Call) => boolean = () => true;

  readonly handle: Ingest = async (readings, sender) => {
    const call = { readings, sender };
    this.calls.push(call);
    if (this.#isHeld(call)) await this.#held;
    if (this.delayMs > 0) await new Promise((resolve) => setTimeout(resolve, this.delayMs));
    const error = this.failWith(call);
    if (error !== undefined) throw error;
    return readings.map((reading) => this.#store(reading, sender));
  };

  /** Nothing is stored, or nothing of some calls, until the returned function is called. */
  hold(isHeld: (call: Call) => boolean = () => true): () => void {
    this.#isHeld = isHeld;
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#held = promise;
    return resolve;
  }

  get fills(): number[] {
    return this.stored.map(fillOf);
  }

  #store(reading: IncomingReading | Rejected, sender: ReadingSender): ReadingResult {
    if ("rejected" in reading) return reading;
    if (sender.deviceId !== null && "deviceId" in reading.source && reading.source.deviceId !== sender.deviceId) {
      return { rejected: "device_id: this key sends for another device" };
    }
    this.stored.push(reading);
    return "stored";
  }
}

export function fillOf({ measurement }: IncomingReading): number {
  return "fill" in measurement ? measurement.fill : Number.NaN;
}

export const unavailable = (): RequestError => new RequestError("store_unavailable", "unavailable");
