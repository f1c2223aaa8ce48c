// Everything in the database, of one snapshot, in the order an import needs. It has a connection of its own: the snapshot
// stays open for as long as the reader takes.

import type pg from "pg";
import type { ExportRecord } from "../../domain/store.ts";
import {
  customerState,
  DEVICE_COLUMNS,
  forgottenDevice,
  keptDevice,
  shapedTank,
  WAITING_COLUMNS,
  waitingOf,
} from "../columns.ts";
import { Block, readingsOf } from "../series/block.ts";
import { asRefusal, type Row } from "./connection.ts";
import { ALL_CUSTOMERS } from "./customers.ts";
import { ALL_TANKS } from "./tanks.ts";

const ROWS_A_STEP = 500;

/** By the primary keys of both, so that the readings of a tank come oldest first. */
const READINGS = `
  SELECT tank, start, data FROM block UNION ALL SELECT tank, start, data FROM telemetry WHERE total > 0
  ORDER BY tank, start`;

const SERVICES = "json_agg(json_build_array(until, tank) ORDER BY until)::text";
/** By primary keys. */
const DEVICES = `SELECT ${DEVICE_COLUMNS}, (SELECT ${SERVICES} FROM service WHERE service.device = device.id) FROM device ORDER BY id`;
const FORGOTTEN = `
  SELECT device, ${SERVICES} FROM service WHERE NOT EXISTS (SELECT FROM device WHERE device.id = service.device)
  GROUP BY device ORDER BY device`;
const WAITING = `SELECT ${WAITING_COLUMNS} FROM waiting ORDER BY device, created_at`;

export async function* records(pool: pg.Pool): AsyncGenerator<ExportRecord> {
  let client: pg.PoolClient | undefined;
  let isBroken = false;
  try {
    client = await pool.connect();
    await client.query("BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY");
    // The reader may take its time.
    await client.query("SET LOCAL idle_in_transaction_session_timeout = 0");
    for await (const row of rowsOf(client, ALL_CUSTOMERS)) {
      yield { kind: "customer", ...customerState(row) };
    }
    for await (const row of rowsOf(client, ALL_TANKS)) {
      yield { kind: "tank", ...shapedTank(row) };
    }
    for await (const row of rowsOf(client, DEVICES)) yield { kind: "device", ...keptDevice(row) };
    for await (const row of rowsOf(client, FORGOTTEN)) yield { kind: "device", ...forgottenDevice(row) };
    for await (const row of rowsOf(client, READINGS)) {
      const [tankId, , data] = row as [string, number, Uint8Array];
      yield { kind: "readings", tankId, readings: readingsOf(new Block(data)).reverse() };
    }
    for await (const row of rowsOf(client, WAITING)) yield { kind: "waiting", waiting: waitingOf(row) };
  } catch (error) {
    isBroken = true;
    throw asRefusal(error);
  } finally {
    if (!isBroken) await client?.query("COMMIT").catch(() => (isBroken = true));
    client?.release(isBroken);
  }
}

async function* rowsOf(client: pg.PoolClient, question: string): AsyncGenerator<Row> {
  await client.query(`DECLARE export NO SCROLL CURSOR FOR ${question}`);
  for (;;) {
    const { rows } = await client.query<unknown[]>({ text: `FETCH ${ROWS_A_STEP} FROM export`, rowMode: "array" });
    if (rows.length === 0) break;
    yield* rows;
  }
  await client.query("CLOSE export");
}
