// Customers, tanks and readings for tests of stores.

import type { CustomerRecord, TankRecord } from "../../src/domain/records.ts";
import type { Writes } from "../../src/domain/store.ts";
import { decodeRecord } from "../../src/ingest/records.ts";
import { customer, type Line, tank } from "./lines.ts";

export function customerRecord(id: string, fields: Line = {}): CustomerRecord {
  const decoded = decodeRecord(customer(id, fields));
  if (decoded.kind !== "customer") throw new Error(`not a customer: ${JSON.stringify(decoded)}`);
  return decoded.record;
}

export function tankRecord(id: string, owner: string, fields: Line = {}): TankRecord {
  const decoded = decodeRecord(tank(id, owner, fields));
  if (decoded.kind !== "tank") throw new Error(`not a tank: ${JSON.stringify(decoded)}`);
  return decoded.record;
}

/** Stores readings of one tank, `[instant, fill]`, and returns the outcome of each as an index into `READING_OUTCOMES`. */
export async function putReadings(
  store: Pick<Writes, "ingest">,
  tankId: string,
  readings: readonly (readonly [number, number])[],
): Promise<Uint8Array> {
  const { outcomes } = await store.ingest({
    sources: [{ kind: "tank", id: tankId, customerId: null }],
    sourceOf: new Uint32Array(readings.length),
    createdAt: Float64Array.from(readings, ([at]) => at),
    fill: Float64Array.from(readings, ([, fill]) => fill),
    payloads: new Map(),
  });
  return outcomes;
}
