// Readings of all senders, one sender after the other: many readings of one sender are decoded and stored in slices, and those of
// others in between.

import { hasCode } from "../domain/errors.ts";
import { FairQueue, Turns } from "../domain/fair-queue.ts";
import type { IncomingReading, Ingest, ReadingResult, Rejected, Sender } from "./ingest.ts";

/** Readings that are decoded when they are needed. A list of readings is one. */
type ReadingSlices = {
  readonly length: number;
  readonly slice: (from: number, to: number) => readonly (IncomingReading | Rejected)[];
};

/** As `Ingest`, but with a transaction for each slice: where it rejects, some of the readings may be stored. */
export type IngestInTurns = (readings: ReadingSlices, sender: Sender) => Promise<ReadingResult[]>;

/** Decoded at a time, and stored at a time. */
const SLICE_READINGS = 1000;
/** Readings that the store has at a time: those of others wait behind them. */
const MAX_IN_STORE = 4000;
/** The sender of readings without a key. */
const NO_KEY = "";

export function inTurns(ingest: Ingest): IngestInTurns {
  const store = new FairQueue(MAX_IN_STORE);
  const turns = new Turns();

  return async (readings, sender) => {
    const key = sender.keyId ?? NO_KEY;
    const { length } = readings;
    if (length <= SLICE_READINGS) return store.run(key, length, () => ingest(readings.slice(0, length), sender));
    const slices = await turns.run(key, decodedSlices(readings));
    const results = new Array<ReadingResult>(length);
    let failure: unknown;
    async function storeSlice(slice: Slice): Promise<void> {
      // Damaged data concerns some tanks only.
      if (failure !== undefined && !hasCode(failure, "data_damaged")) return;
      try {
        await turns.next(key);
        const stored = await ingest(slice.readings, sender);
        for (const [i, result] of stored.entries()) results[slice.positions[i] as number] = result;
      } catch (error) {
        failure = error;
      }
    }
    await Promise.all(slices.map((slice) => store.run(key, slice.positions.length, () => storeSlice(slice))));
    if (failure !== undefined) throw failure;
    return results;
  };
}

type Slice = { readonly positions: readonly number[]; readonly readings: readonly (IncomingReading | Rejected)[] };

function* decodedSlices(slices: ReadingSlices): Generator<undefined, Slice[]> {
  const readings: (IncomingReading | Rejected)[] = [];
  for (let from = 0; from < slices.length; from += SLICE_READINGS) {
    readings.push(...slices.slice(from, from + SLICE_READINGS));
    yield;
  }
  const positions = storingOrder(readings);
  return Array.from({ length: Math.ceil(positions.length / SLICE_READINGS) }, (_, i) => {
    const own = positions.slice(i * SLICE_READINGS, (i + 1) * SLICE_READINGS);
    return { positions: own, readings: own.map((position) => readings[position] as IncomingReading) };
  });
}

/**
 * Readings of one tank or device stay together where possible: storing several of them costs little more than one. Not where tanks and
 * devices are mixed, because of two readings of one tank the later one counts.
 */
function storingOrder(readings: readonly (IncomingReading | Rejected)[]): number[] {
  const sources = readings.map((reading) => ("rejected" in reading ? undefined : reading.source));
  const idOf = (source: IncomingReading["source"]): string => ("tankId" in source ? source.tankId : source.deviceId);
  const kinds = new Set(sources.map((source) => source && "tankId" in source));
  const isMixed = kinds.has(true) && kinds.has(false);
  const groups = Map.groupBy(sources.keys(), (position) => {
    const source = sources[position];
    return isMixed || source === undefined ? "" : idOf(source);
  });
  return [...groups.values()].flat();
}
