// Exports from a connection of its own: its snapshot stays open for as long as the reader takes.

import type pg from "pg";
import type { ExportRecord } from "../../domain/store.ts";
import type { Row, Scalar } from "../columns.ts";
import { type ExportSql, exportRecords } from "../core/export.ts";
import type { Snapshot } from "../core/scan.ts";
import { translateError } from "./connection.ts";
import { DIALECT } from "./schema.ts";

const SQL: ExportSql = {
  key: "id",
  blockKey: ["tank", "start"],
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
    // An error ends the statements behind it, and not the snapshot.
    await client.query("SAVEPOINT begun");
    yield* exportRecords(snapshotOn(connected), SQL);
  } catch (error) {
    isBroken = true;
    throw translateError(error);
  } finally {
    if (!isBroken) await client?.query("COMMIT").catch(() => (isBroken = true));
    client?.release(isBroken);
  }
}

const snapshotOn = (client: pg.PoolClient): Snapshot => ({
  rows: (sql, values) => rowsOf(client, sql, values),
  async pageCount(table) {
    const text = `SELECT pg_relation_size('${table}') / current_setting('block_size')::bigint`;
    const { rows } = await client.query<[number]>({ text, rowMode: "array" });
    return rows[0]?.[0] ?? 0;
  },
  pagesOf: (table, from, to) =>
    `(SELECT * FROM ${table} WHERE ctid >= '(${from},0)' AND ctid < '(${to},0)' OFFSET 0) AS ${table}`,
  translateError,
});

/** Streams the rows. After an error the connection can be used again. */
async function* rowsOf(client: pg.PoolClient, sql: string, values: readonly Scalar[]): AsyncGenerator<Row> {
  try {
    await client.query(`DECLARE export NO SCROLL CURSOR FOR ${sql}`, [...values]);
    for (;;) {
      const { rows } = await client.query<unknown[]>({ text: `FETCH ${ROWS_PER_FETCH} FROM export`, rowMode: "array" });
      yield* rows;
      if (rows.length < ROWS_PER_FETCH) break;
    }
    await client.query("CLOSE export");
  } catch (error) {
    await client.query("ROLLBACK TO begun").catch(() => {});
    throw error;
  }
}
