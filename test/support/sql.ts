// SQL on the database of a store, for what no interface offers: to look into tables, and to move them in time.

import { DatabaseSync, type SQLInputValue } from "node:sqlite";
import pg from "pg";
import type { Lifetime } from "./service.ts";

export type Sql = (text: string, ...values: readonly (string | number | null)[]) => Promise<Record<string, unknown>[]>;

/** Parameters are $1, $2, and so on. The connection is closed after the test. */
export async function sqlOn(life: Lifetime, url: string): Promise<Sql> {
  if (url.startsWith("sqlite:")) {
    const db = new DatabaseSync(url.slice("sqlite:".length), { timeout: 5000 });
    life.after(() => db.close());
    return async (text, ...values) =>
      db.prepare(text.replaceAll(/\$(?=\d)/g, "?")).all(...(values as SQLInputValue[])) as Record<string, unknown>[];
  }
  const client = new pg.Client({ connectionString: url });
  client.on("error", () => {});
  await client.connect();
  life.after(() => client.end());
  return async (text, ...values) => (await client.query(text, [...values])).rows;
}
