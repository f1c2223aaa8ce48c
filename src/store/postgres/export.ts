// Everything in the database, of one snapshot, in the order an import needs. It has a connection of its own: the snapshot
// stays open for as long as the reader takes.

import type pg from "pg";
import type { StoredRecord } from "../../domain/record.ts";
import { customerState, tankState } from "../columns.ts";
import { Block, readingsOf } from "../series/block.ts";
import { asRefusal, type Row } from "./connection.ts";
import { ALL_CUSTOMERS } from "./customers.ts";
import { ALL_TANKS } from "./tanks.ts";

const ROWS_A_STEP = 500;

/** By the primary keys of both, so that the readings of a tank come oldest first. */
const READINGS = `
  SELECT tank, start, data FROM block UNION ALL SELECT tank, start, data FROM telemetry WHERE total > 0
  ORDER BY tank, start`;

export async function* records(pool: pg.Pool): AsyncGenerator<StoredRecord> {
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
      yield { kind: "tank", ...tankState(row) };
    }
    for await (const row of rowsOf(client, READINGS)) {
      const [tankId, , data] = row as [string, number, Uint8Array];
      yield { kind: "readings", tankId, readings: readingsOf(new Block(data)).reverse() };
    }
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
