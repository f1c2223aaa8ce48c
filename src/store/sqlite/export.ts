// Exports from a connection of its own: its snapshot stays open for as long as the reader takes.

import type { DatabaseSync } from "node:sqlite";
import type { ExportRecord } from "../../domain/store.ts";
import { CUSTOMER_COLUMNS, DEVICE_COLUMNS, PENDING_COLUMNS, TANK_WITH_SHAPE_COLUMNS } from "../columns.ts";
import { type ExportQueries, exportRecords } from "../core/export.ts";
import { openReader, translateError } from "./connection.ts";
import { query } from "./statements.ts";

const ASSIGNMENTS = "json_group_array(json_array(until, tank) ORDER BY until)";

/** All in the order of an index, so that nothing is sorted. */
const QUERIES: ExportQueries = {
  customers: `SELECT ${CUSTOMER_COLUMNS} FROM customer ORDER BY pk`,
  tanks: `SELECT ${TANK_WITH_SHAPE_COLUMNS} FROM tank ORDER BY pk`,
  devices: `SELECT ${DEVICE_COLUMNS}, (SELECT ${ASSIGNMENTS} FROM device_assignment WHERE device = device.id)
    FROM device ORDER BY id`,
  removedDevices: `SELECT device, ${ASSIGNMENTS} FROM device_assignment WHERE device NOT IN (SELECT id FROM device)
    GROUP BY device ORDER BY device`,
  readings: `SELECT (SELECT id FROM tank WHERE pk = part.tank), part.data FROM (
      SELECT tank, start, data FROM block UNION ALL SELECT tank, start, data FROM head WHERE total > 0 ORDER BY tank, start
    ) AS part`,
  pending: `SELECT ${PENDING_COLUMNS} FROM pending_reading ORDER BY device, created_at`,
};

export async function* exportFile(file: string): AsyncGenerator<ExportRecord> {
  let db: DatabaseSync | undefined;
  try {
    const reader = openReader(file);
    db = reader;
    db.exec("BEGIN");
    yield* exportRecords((sql) => query(reader, sql).iterate(), QUERIES);
  } catch (error) {
    throw translateError(error);
  } finally {
    db?.close();
  }
}
