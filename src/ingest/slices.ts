// Readings of all senders, one sender after the other: many readings of one sender are decoded and stored in slices, and those of
// others in between.

import { hasCode } from "../domain/errors.ts";
import { FairQueue, type StepScheduler } from "../domain/fair-queue.ts";
import type { ReadingResult, Rejected } from "../domain/reading.ts";
import type { IncomingReading, Ingest, ReadingSender } from "./ingest.ts";

/** Readings that are decoded when they are needed. A list of readings is one. */
type ReadingSlices = {
  readonly length: number;
  readonly slice: (from: number, to: number) => readonly (IncomingReading | Rejected)[];
};

/** As `Ingest`, but with a transaction for each slice: where it rejects, some of the readings may be stored. */
export type SlicedIngest = (readings: ReadingSlices, sender: ReadingSender) => Promise<ReadingResult[]>;

/** Up to this many readings are decoded without a scheduler step: less than 0.2 ms. */
const MAX_UNSCHEDULED_READINGS = 100;
/** Decoded at a time, and stored at a time: readings and reads of others wait for a slice. */
const SLICE_READINGS = { onlyActiveKey: 1000, otherKeysActive: 250 };
/** Lists up to this size are stored in the order of the calls. A longer one may be stored after those that follow it. */
export const MAX_ORDERED_READINGS = SLICE_READINGS.otherKeysActive;
/** Readings that the store has at a time: those of others wait behind them. */
const MAX_IN_STORE = 4000;
/** The sender of readings without a key. */
const NO_KEY = "";

export function ingestInSlices(ingest: Ingest, scheduler: StepScheduler): SlicedIngest {
  const store = new FairQueue(MAX_IN_STORE);

  return async (readings, sender) => {
    const key = sender.keyId ?? NO_KEY;
    const { length } = readings;
    const isOnlyKey = scheduler.hasOneKey();
    const size = SLICE_READINGS[isOnlyKey ? "onlyActiveKey" : "otherKeysActive"];
    if (length <= size) {
      const decode = () => readings.slice(0, length);
      const isUnscheduled = length <= MAX_UNSCHEDULED_READINGS || Array.isArray(readings);
      const decoded = isUnscheduled ? decode() : await scheduler.runStep(key, decode);
      return store.run(key, () => ingest(decoded, sender), length);
    }
    const { decoded, slices } = await scheduler.runSteps(key, decodeInSlices(readings, size));
    const results = new Array<ReadingResult>(length);
    let failure: unknown;
    async function storeSlice(positions: readonly number[]): Promise<void> {
      // Damaged data concerns some tanks only.
      if (failure !== undefined && !hasCode(failure, "data_damaged")) return;
      try {
        const stored = await ingest(
          positions.map((position) => decoded[position] as IncomingReading),
          sender,
        );
        for (const [i, result] of stored.entries()) results[positions[i] as number] = result;
      } catch (error) {
        failure = error;
      }
    }
    const storeInTurn = (positions: readonly number[]) => store.run(key, () => storeSlice(positions), positions.length);
    if (isOnlyKey) await Promise.all(slices.map(storeInTurn));
    else for (const positions of slices) await storeInTurn(positions);
    if (failure !== undefined) throw failure;
    return results;
  };
}

type DecodedSlices = {
  readonly decoded: readonly (IncomingReading | Rejected)[];
  /** The positions of the readings that are stored together. */
  readonly slices: readonly (readonly number[])[];
};

/**
 * Readings of one tank or device stay together where possible: storing several of them costs little more than one. Not where tanks and
 * devices are mixed, because of two readings of one tank the later one counts.
 */
function* decodeInSlices(readings: ReadingSlices, size: number): Generator<undefined, DecodedSlices> {
  const decoded: (IncomingReading | Rejected)[] = [];
  const bySource = new Map<string, number[]>();
  const kinds = new Set<"tank" | "device">();
  for (let from = 0; from < readings.length; from += size) {
    for (const reading of readings.slice(from, from + size)) {
      const position = decoded.push(reading) - 1;
      const [kind, id] = sourceOf(reading);
      if (kind !== undefined) kinds.add(kind);
      const positions = bySource.get(id);
      if (positions === undefined) bySource.set(id, [position]);
      else positions.push(position);
    }
    yield;
  }
  const order = kinds.size > 1 ? [...decoded.keys()] : [...bySource.values()].flat();
  const count = Math.ceil(order.length / size);
  const slices = Array.from({ length: count }, (_, i) => order.slice(i * size, (i + 1) * size));
  return { decoded, slices };
}

function sourceOf(reading: IncomingReading | Rejected): readonly [kind: "tank" | "device" | undefined, id: string] {
  if ("rejected" in reading) return [undefined, ""];
  const { source } = reading;
  return "tankId" in source ? ["tank", source.tankId] : ["device", source.deviceId];
}
