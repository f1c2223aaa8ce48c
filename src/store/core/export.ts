// Everything in the database, in the order an import needs.

import type { ExportRecord } from "../../domain/store.ts";
import { customerState, deviceWithHistory, pendingOf, type Row, removedDevice, tankWithShape } from "../columns.ts";
import { Block, readingsOf } from "../series/block.ts";

/** `readings` selects tank ids and packed readings, by tank and oldest first. */
export type ExportQueries = Readonly<
  Record<"customers" | "tanks" | "devices" | "removedDevices" | "readings" | "pending", string>
>;

/** `rows` streams the rows of a query from one snapshot. */
export async function* exportRecords(
  rows: (sql: string) => AsyncIterable<Row> | Iterable<Row>,
  queries: ExportQueries,
): AsyncGenerator<ExportRecord> {
  for await (const row of rows(queries.customers)) yield { kind: "customer", ...customerState(row) };
  for await (const row of rows(queries.tanks)) yield { kind: "tank", ...tankWithShape(row) };
  for await (const row of rows(queries.devices)) yield { kind: "device", ...deviceWithHistory(row) };
  for await (const row of rows(queries.removedDevices)) yield { kind: "device", ...removedDevice(row) };
  for await (const row of rows(queries.readings)) {
    const [tankId, data] = row as readonly [string, Uint8Array];
    yield { kind: "readings", tankId, readings: readingsOf(new Block(data)).reverse() };
  }
  for await (const row of rows(queries.pending)) yield { kind: "waiting", waiting: pendingOf(row) };
}
