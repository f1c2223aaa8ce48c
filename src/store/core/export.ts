// Everything in the database, in the order an import needs. Nothing is sorted: all in the order of an index.

import type { ExportRecord } from "../../domain/store.ts";
import {
  CUSTOMER_COLUMNS,
  customerState,
  DEVICE_COLUMNS,
  deviceWithHistory,
  PENDING_COLUMNS,
  pendingOf,
  type Row,
  removedDevice,
  TANK_WITH_SHAPE_COLUMNS,
  tankWithShape,
} from "../columns.ts";
import { Block, readingsOf } from "../series/block.ts";

/** Columns and expressions that differ between the engines. */
type ExportSql = {
  /** The primary key of customers and tanks. */
  readonly key: string;
  /** The id of a tank, by the column `tank` of its readings. */
  readonly tankId: string;
  /** Until and tank of past assignments, as a JSON array. */
  readonly assignments: string;
};

/** `rows` streams the rows of a query from one snapshot. */
export async function* exportRecords(
  rows: (sql: string) => AsyncIterable<Row> | Iterable<Row>,
  { key, tankId, assignments }: ExportSql,
): AsyncGenerator<ExportRecord> {
  for await (const row of rows(`SELECT ${CUSTOMER_COLUMNS} FROM customer ORDER BY ${key}`)) {
    yield { kind: "customer", ...customerState(row) };
  }
  for await (const row of rows(`SELECT ${TANK_WITH_SHAPE_COLUMNS} FROM tank ORDER BY ${key}`)) {
    yield { kind: "tank", ...tankWithShape(row) };
  }
  const past = `(SELECT ${assignments} FROM device_assignment AS past WHERE past.device = device.id)`;
  for await (const row of rows(`SELECT ${DEVICE_COLUMNS}, ${past} FROM device ORDER BY id`)) {
    yield { kind: "device", ...deviceWithHistory(row) };
  }
  const removed = `SELECT device, ${assignments} FROM device_assignment
    WHERE NOT EXISTS (SELECT 1 FROM device WHERE device.id = device_assignment.device) GROUP BY device ORDER BY device`;
  for await (const row of rows(removed)) yield { kind: "device", ...removedDevice(row) };
  const readings = `SELECT ${tankId}, part.data FROM (
      SELECT tank, start, data FROM block UNION ALL SELECT tank, start, data FROM head WHERE total > 0 ORDER BY tank, start
    ) AS part`;
  for await (const row of rows(readings)) {
    const [id, data] = row as readonly [string, Uint8Array];
    yield { kind: "readings", tankId: id, readings: readingsOf(new Block(data)).reverse() };
  }
  const pending = `SELECT ${PENDING_COLUMNS} FROM pending_reading ORDER BY device, created_at`;
  for await (const row of rows(pending)) yield { kind: "waiting", waiting: pendingOf(row) };
}
