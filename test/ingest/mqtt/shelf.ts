// What stands on the store's side of a door in these tests: it remembers what it was handed, takes as long as a test wants, and
// fails when told to.

import { RequestError } from "../../../src/domain/errors.ts";
import type { Accept, Arrival, Outcome, Rejected, Sender } from "../../../src/ingest/arrival.ts";

export type Call = { readonly readings: readonly (Arrival | Rejected)[]; readonly sender: Sender };

export class Shelf {
  readonly calls: Call[] = [];
  /** What was taken, in its order. */
  readonly stored: Arrival[] = [];
  delayMs = 0;
  /** Asked before anything is taken; an error it gives is thrown. */
  fault: (call: Call) => unknown = () => undefined;
  #held: Promise<void> | undefined;

  readonly accept: Accept = async (readings, sender) => {
    const call = { readings, sender };
    this.calls.push(call);
    await this.#held;
    if (this.delayMs > 0) await new Promise((resolve) => setTimeout(resolve, this.delayMs));
    const fault = this.fault(call);
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

  #take(reading: Arrival | Rejected, sender: Sender): Outcome {
    if ("rejected" in reading) return reading;
    if (sender.deviceId !== null && "deviceId" in reading.of && reading.of.deviceId !== sender.deviceId) {
      return { rejected: "device_id: this key sends for another device" };
    }
    this.stored.push(reading);
    return "stored";
  }
}

export function fillOf({ measured }: Arrival): number {
  return "fill" in measured ? measured.fill : Number.NaN;
}

export const away = (): RequestError => new RequestError("store_unavailable", "away");
