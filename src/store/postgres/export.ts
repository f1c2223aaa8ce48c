// Exports from a connection of its own: its snapshot stays open for as long as the reader takes.

import type pg from "pg";
import type { ExportRecord } from "../../domain/store.ts";
import { CUSTOMER_COLUMNS, DEVICE_COLUMNS, PENDING_COLUMNS, TANK_WITH_SHAPE_COLUMNS } from "../columns.ts";
import { type ExportQueries, exportRecords } from "../core/export.ts";
import { type Row, translateError } from "./connection.ts";

const ASSIGNMENTS = "json_agg(json_build_array(until, tank) ORDER BY until)::text";

/** All in the order of a primary key. */
const QUERIES: ExportQueries = {
  customers: `SELECT ${CUSTOMER_COLUMNS} FROM customer ORDER BY id`,
  tanks: `SELECT ${TANK_WITH_SHAPE_COLUMNS} FROM tank ORDER BY id`,
  devices: `SELECT ${DEVICE_COLUMNS}, (SELECT ${ASSIGNMENTS} FROM device_assignment AS past WHERE past.device = device.id)
    FROM device ORDER BY id`,
  removedDevices: `SELECT device, ${ASSIGNMENTS} FROM device_assignment
    WHERE NOT EXISTS (SELECT FROM device WHERE device.id = device_assignment.device) GROUP BY device ORDER BY device`,
  readings: `SELECT tank, data FROM (
      SELECT tank, start, data FROM block UNION ALL SELECT tank, start, data FROM head WHERE total > 0 ORDER BY tank, start
    ) AS part`,
  pending: `SELECT ${PENDING_COLUMNS} FROM pending_reading ORDER BY device, created_at`,
};

const ROWS_PER_FETCH = 500;

export async function* exportDatabase(pool: pg.Pool): AsyncGenerator<ExportRecord> {
  let client: pg.PoolClient | undefined;
  let isBroken = false;
  try {
    const connected = await pool.connect();
    client = connected;
    await client.query("BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY");
    // The reader may take its time.
    await client.query("SET LOCAL idle_in_transaction_session_timeout = 0");
    yield* exportRecords((sql) => rowsOf(connected, sql), QUERIES);
  } catch (error) {
    isBroken = true;
    throw translateError(error);
  } finally {
    if (!isBroken) await client?.query("COMMIT").catch(() => (isBroken = true));
    client?.release(isBroken);
  }
}

async function* rowsOf(client: pg.PoolClient, sql: string): AsyncGenerator<Row> {
  await client.query(`DECLARE export NO SCROLL CURSOR FOR ${sql}`);
  for (;;) {
    const { rows } = await client.query<unknown[]>({ text: `FETCH ${ROWS_PER_FETCH} FROM export`, rowMode: "array" });
    if (rows.length === 0) break;
    yield* rows;
  }
  await client.query("CLOSE export");
}
