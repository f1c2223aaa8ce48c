// Exports from a connection of its own: its snapshot stays open for as long as the reader takes.

import type pg from "pg";
import type { ExportRecord } from "../../domain/store.ts";
import type { Row } from "../columns.ts";
import { exportRecords } from "../core/export.ts";
import { translateError } from "./connection.ts";
import { DIALECT } from "./schema.ts";

const SQL = {
  key: "id",
  tankId: "part.tank",
  assignments: "json_agg(json_build_array(until, tank, checksum) ORDER BY until)::text",
  dialect: DIALECT,
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
    yield* exportRecords((sql) => rowsOf(connected, sql), SQL);
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
