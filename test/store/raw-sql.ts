// SQL on the database of a store, for what no interface shows or does.

import { DatabaseSync } from "node:sqlite";
import pg from "pg";

/** `url` is what `openStore` takes. */
export async function runSql(url: string, sql: string): Promise<Record<string, unknown>[]> {
  if (url.startsWith("sqlite:")) {
    const db = new DatabaseSync(url.slice("sqlite:".length), { timeout: 5000 });
    try {
      return db.prepare(sql).all();
    } finally {
      db.close();
    }
  }
  return (await poolOf(url).query(sql)).rows;
}

const pools = new Map<string, pg.Pool>();

/** Connections are used again for a while: opening one takes longer than most statements. */
function poolOf(url: string): pg.Pool {
  const known = pools.get(url);
  if (known !== undefined) return known;
  // Without the name by which sessions of other processes are found.
  const connectionString = Object.assign(new URL(url), { search: "" }).href;
  const pool = new pg.Pool({ connectionString, max: 2, idleTimeoutMillis: 2000, allowExitOnIdle: true });
  // The database is dropped after the test.
  pool.on("error", () => {});
  pools.set(url, pool);
  return pool;
}
