// Readings of all senders, one sender after the other: many readings of one sender are decoded and stored in slices, and those of
// others in between.

import { chunksOf } from "../domain/chunks.ts";
import { hasCode } from "../domain/errors.ts";
import { FairQueue, forEachInSteps, type StepScheduler } from "../domain/fair-queue.ts";
import type { ReadingResult, Rejected } from "../domain/reading.ts";
import type { IncomingReading, Ingest, ReadingSender } from "./ingest.ts";

/** Readings that are decoded when they are needed. */
type UndecodedReadings = Iterable<IncomingReading | Rejected> & { readonly length: number };

/** As `Ingest`, but with a transaction for each slice: where it rejects, some of the readings may be stored. */
export type SlicedIngest = (
  readings: UndecodedReadings | readonly (IncomingReading | Rejected)[],
  sender: ReadingSender,
) => Promise<ReadingResult[]>;

/** The decoding of up to this many readings begins without the scheduler: most are decoded in less than 0.2 ms. */
const MAX_UNSCHEDULED_READINGS = 100;
/** Stored at a time: readings and reads of others wait for a slice. */
const SLICE_READINGS = { onlyActiveKey: 1000, otherKeysActive: 250 };
/** Lists up to this size are stored in the order of the calls. A longer one may be stored after those that follow it. */
export const MAX_ORDERED_READINGS = SLICE_READINGS.otherKeysActive;
/** Readings that the store has at a time: those of others wait behind them. */
const MAX_IN_STORE = 4000;
/** The sender of readings without a key. */
const NO_KEY = "";

export function ingestInSlices(ingest: Ingest, scheduler: StepScheduler): SlicedIngest {
  const store = new FairQueue(MAX_IN_STORE);

  async function decodeInTurn(key: string, readings: UndecodedReadings): Promise<readonly (IncomingReading | Rejected)[]> {
    const steps = decodeInSteps(readings);
    const first = readings.length <= MAX_UNSCHEDULED_READINGS ? steps.next() : undefined;
    return first?.done === true ? first.value : scheduler.runSteps(key, steps);
  }

  return async (readings, sender) => {
    const key = sender.keyId ?? NO_KEY;
    const isOnlyKey = scheduler.hasOneKey();
    const size = SLICE_READINGS[isOnlyKey ? "onlyActiveKey" : "otherKeysActive"];
    const decoded = isDecoded(readings) ? readings : await decodeInTurn(key, readings);
    const { length } = decoded;
    if (length <= size) return store.run(key, () => ingest(decoded, sender), length);
    const slices = slicesOf(decoded, size);
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

const isDecoded = (readings: UndecodedReadings): readings is readonly (IncomingReading | Rejected)[] => Array.isArray(readings);

function* decodeInSteps(readings: UndecodedReadings): Generator<undefined, readonly (IncomingReading | Rejected)[]> {
  const decoded: (IncomingReading | Rejected)[] = [];
  yield* forEachInSteps(readings, (reading) => decoded.push(reading));
  return decoded;
}

/**
 * The positions of the readings that are stored together. Those of one tank or device stay together where possible: storing several of
 * them costs little more than one. Where tanks and devices are mixed, the order stays: of two readings of one tank for an instant, the
 * later one counts.
 */
function slicesOf(readings: readonly (IncomingReading | Rejected)[], size: number): readonly (readonly number[])[] {
  const bySource = new Map<string, number[]>();
  const kinds = new Set<"tank" | "device">();
  for (const [position, reading] of readings.entries()) {
    const [kind, id] = sourceOf(reading);
    if (kind !== undefined) kinds.add(kind);
    const positions = bySource.get(id);
    if (positions === undefined) bySource.set(id, [position]);
    else positions.push(position);
  }
  const order = kinds.size > 1 ? [...readings.keys()] : [...bySource.values()].flat();
  return chunksOf(order, size);
}

function sourceOf(reading: IncomingReading | Rejected): readonly [kind: "tank" | "device" | undefined, id: string] {
  if ("rejected" in reading) return [undefined, ""];
  const { source } = reading;
  return "tankId" in source ? ["tank", source.tankId] : ["device", source.deviceId];
}
