// SQL on the database of a store, for what no interface shows or does.

import { existsSync, readFileSync } from "node:fs";
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

/** Whether the text is in any table, or in what SQLite has left of earlier rows in its files. */
export async function isStored(text: string, url: string): Promise<boolean> {
  if (url.startsWith("sqlite:")) {
    const file = url.slice("sqlite:".length);
    return [file, `${file}-wal`].some((name) => existsSync(name) && readFileSync(name).includes(text));
  }
  const tables = await runSql(url, "SELECT relname FROM pg_class WHERE relkind = 'r' AND relnamespace = 'public'::regnamespace");
  const rows = await Promise.all(tables.map(({ relname }) => runSql(url, `SELECT * FROM ${relname}`)));
  return JSON.stringify(rows).includes(text);
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
