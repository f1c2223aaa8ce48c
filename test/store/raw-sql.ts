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
  const client = new pg.Client(url);
  await client.connect();
  try {
    return (await client.query(sql)).rows;
  } finally {
    await client.end();
  }
}
