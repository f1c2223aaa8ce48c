// A write as a value: it can be sent to a store, to another process, and to the naive model.

import type { CustomerRecord, RecordOutcome, TankRecord } from "../../../src/domain/record.ts";
import { READING_OUTCOMES, type Writes } from "../../../src/domain/store.ts";
import type { NaiveStore } from "../conformance/model.ts";

export type SentReading = readonly [tankId: string, at: number, fill: number];

export type Write =
  | { readonly kind: "customers"; readonly records: readonly CustomerRecord[] }
  | { readonly kind: "tanks"; readonly records: readonly TankRecord[] }
  | { readonly kind: "readings"; readonly readings: readonly SentReading[] };

/** What became of each part, in words. */
export async function send(store: Writes, write: Write): Promise<string[]> {
  if (write.kind === "customers") return (await store.putCustomers(write.records)).map(word);
  if (write.kind === "tanks") return (await store.putTanks(write.records)).map(word);
  const tankIds = [...new Set(write.readings.map(([tankId]) => tankId))];
  const places = new Map(tankIds.map((id, i) => [id, i]));
  const outcomes = await store.acceptReadings({
    tankIds,
    tank: Uint32Array.from(write.readings, ([id]) => places.get(id) as number),
    createdAt: Float64Array.from(write.readings, ([, at]) => at),
    fill: Float64Array.from(write.readings, ([, , fill]) => fill),
  });
  return Array.from(outcomes, (code) => READING_OUTCOMES[code] as string);
}

/** The same, in the model. */
export function note(model: NaiveStore, write: Write): string[] {
  if (write.kind === "customers") return write.records.map((record) => model.putCustomer(record));
  if (write.kind === "tanks") return write.records.map((record) => model.putTank(record));
  return write.readings.map(([tankId, at, fill]) => model.putReading(tankId, at, fill));
}

const word = (outcome: RecordOutcome): string => (typeof outcome === "string" ? outcome : "rejected");
