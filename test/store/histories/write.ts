// A write as a value: it can be sent to a store, to another process, and to the naive model.

import type { CustomerRecord, RecordOutcome, TankRecord } from "../../../src/domain/records.ts";
import type { Writes } from "../../../src/domain/store.ts";
import { arrivalsOf, outcomeNames, type Sent } from "../../support/arrivals.ts";
import type { NaiveStore } from "../conformance/model.ts";

export type SentReading = readonly [tankId: string, at: number, fill: number];

export type Write =
  | { readonly kind: "customers"; readonly records: readonly CustomerRecord[] }
  | { readonly kind: "tanks"; readonly records: readonly TankRecord[] }
  | { readonly kind: "readings"; readonly readings: readonly SentReading[] };

/** Readings as they arrive, by device too: of those the naive model knows nothing. */
export type Arrivals = { readonly kind: "arrivals"; readonly sent: readonly Sent[] };

/** What became of each part, in words. */
export async function send(store: Writes, write: Write | Arrivals): Promise<string[]> {
  if (write.kind === "customers") return (await store.importCustomers(write.records)).map(word);
  if (write.kind === "tanks") return (await store.importTanks(write.records)).map(word);
  const sent = write.kind === "arrivals" ? write.sent : write.readings.map(([tank, at, fill]) => ({ tank, at, fill }));
  // Not one argument each: a long history begins with a million.
  const told = outcomeNames(await store.ingest(arrivalsOf(sent)));
  return told.map((one) => (typeof one === "string" ? one : "rejected"));
}

/** The same, in the model. */
export function note(model: NaiveStore, write: Write): string[] {
  if (write.kind === "customers") return write.records.map((record) => model.putCustomer(record));
  if (write.kind === "tanks") return write.records.map((record) => model.putTank(record));
  return write.readings.map(([tankId, at, fill]) => model.putReading(tankId, at, fill));
}

const word = (outcome: RecordOutcome): string => (typeof outcome === "string" ? outcome : "rejected");
