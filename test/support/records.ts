// Customers, tanks and readings for tests of stores.

import type { CustomerRecord, TankRecord } from "../../src/domain/records.ts";
import type { Writes } from "../../src/domain/store.ts";
import { decodeRecord } from "../../src/ingest/records.ts";

type Fields = Readonly<Record<string, unknown>>;

export function customerRecord(id: string, fields: Fields = {}): CustomerRecord {
  const line = {
    object: "customer",
    id,
    created_at: "2026-01-01T00:00:00Z",
    email: `${id}@customers.example`,
    name: `Customer ${id}`,
  };
  const decoded = decodeRecord({ ...line, ...fields });
  if (decoded.kind !== "customer") throw new Error(`not a customer: ${JSON.stringify(decoded)}`);
  return decoded.record;
}

export function tankRecord(id: string, owner: string, fields: Fields = {}): TankRecord {
  const line = {
    object: "tank",
    id,
    owner_id: owner,
    assigned_device_id: `device-${id}`,
    capacity: 2700,
    capacity_unit: "liters",
    created_at: "2026-01-02T00:00:00Z",
    min_fill_alert_percentage: 20,
    name: `Tank ${id}`,
  };
  const decoded = decodeRecord({ ...line, ...fields });
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
    source: new Uint32Array(readings.length),
    createdAt: Float64Array.from(readings, ([at]) => at),
    fill: Float64Array.from(readings, ([, fill]) => fill),
    payloads: new Map(),
  });
  return outcomes;
}
