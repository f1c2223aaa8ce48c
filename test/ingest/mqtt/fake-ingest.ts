// What stands on the store's side of a door in these tests: it remembers what it was handed, takes as long as a test wants, and
// fails when told to.

import { RequestError } from "../../../src/domain/errors.ts";
import type { IncomingReading, Ingest, ReadingResult, Rejected, Sender } from "../../../src/ingest/ingest.ts";

export type Call = { readonly readings: readonly (IncomingReading | Rejected)[]; readonly sender: Sender };

export class FakeIngest {
  readonly calls: Call[] = [];
  /** What was taken, in its order. */
  readonly stored: IncomingReading[] = [];
  delayMs = 0;
  /** Asked before anything is taken; an error it gives is thrown. */
  failWith: (call: Call) => unknown = () => undefined;
  #held: Promise<void> | undefined;

  readonly handle: Ingest = async (readings, sender) => {
    const call = { readings, sender };
    this.calls.push(call);
    await this.#held;
    if (this.delayMs > 0) await new Promise((resolve) => setTimeout(resolve, this.delayMs));
    const fault = this.failWith(call);
    if (fault !== undefined) throw fault;
    return readings.map((reading) => this.#take(reading, sender));
  };

  /** Nothing is taken until what this gives is called. */
  hold(): () => void {
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#held = promise;
    return resolve;
  }

  get fills(): number[] {
    return this.stored.map(fillOf);
  }

  #take(reading: IncomingReading | Rejected, sender: Sender): ReadingResult {
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

export const unavailable = (): RequestError => new RequestError("store_unavailable", "away");
