// Transactions on a database beside its store, to fill it quickly: what the store would do for every object, as keeping rank
// indexes, is done once at the end.

import { DEFAULT_ALERT_SETTINGS } from "../../src/domain/alerts/evaluate.ts";
import type { StoreTransaction } from "../../src/store/core/transaction.ts";
import { openStore } from "../../src/store/open.ts";
import { openPool, transaction } from "../../src/store/postgres/connection.ts";
import { transactionOn as onPostgres } from "../../src/store/postgres/transaction.ts";
import { openWriter } from "../../src/store/sqlite/connection.ts";
import { transactionOn as onSqlite } from "../../src/store/sqlite/transaction.ts";
import type { Engine } from "../bench.ts";
import { sqliteFile } from "./databases.ts";

export type BulkWriter = AsyncDisposable & {
  readonly run: (work: (tx: StoreTransaction) => Promise<void>) => Promise<void>;
  /** Called once, after all rows were added. */
  readonly createIndexes: () => Promise<void>;
};

export async function openBulkWriter(engine: Engine, url: string): Promise<BulkWriter> {
  // It creates the schema.
  await (await openStore(url, () => {})).close();
  return engine === "postgres" ? postgresWriter(url) : sqliteWriter(url);
}

/** Of tables with many rows, without those that make keys unique. */
const INDEXES = `SELECT indexname, indexdef FROM pg_indexes
  WHERE tablename IN ('forecast', 'tank', 'device', 'head') AND indexdef NOT LIKE 'CREATE UNIQUE%'`;
const SETTINGS = "SET LOCAL idle_in_transaction_session_timeout = 0; SET LOCAL synchronous_commit = off";

/** An index that is created at the end takes a fraction of the time. */
async function postgresWriter(url: string): Promise<BulkWriter> {
  const pool = openPool(url, 1, { schema: "public", isUnlimited: true });
  const { rows: indexes } = await pool.query<{ readonly indexname: string; readonly indexdef: string }>(INDEXES);
  for (const { indexname } of indexes) await pool.query(`DROP INDEX ${indexname}`);
  return {
    run: (work) =>
      transaction(pool, async (db) => {
        await db.client.query(SETTINGS);
        await work(onPostgres(db, DEFAULT_ALERT_SETTINGS));
      }),
    async createIndexes() {
      for (const { indexdef } of indexes) await pool.query(indexdef);
    },
    [Symbol.asyncDispose]: () => pool.end(),
  };
}

/** Nothing is synced: if it is interrupted, the file is created again. */
function sqliteWriter(url: string): BulkWriter {
  const db = openWriter(sqliteFile(url));
  db.exec("PRAGMA synchronous = OFF; PRAGMA cache_size = -500000");
  const tx = onSqlite(db, () => {}, DEFAULT_ALERT_SETTINGS);
  return {
    async run(work) {
      db.exec("BEGIN");
      await work(tx);
      db.exec("COMMIT");
    },
    createIndexes: async () => {},
    async [Symbol.asyncDispose]() {
      db.close();
    },
  };
}
