// Does what `psql -f` does with a script of statements and COPY, as npm's PostgreSQL has no psql.

import { createReadStream } from "node:fs";
import { createInterface } from "node:readline";
import { finished } from "node:stream/promises";
import { Client } from "pg";
import { from as copyFrom } from "pg-copy-streams";
import type { Lifetime } from "../service.ts";
import { type Database, postgresDatabase } from "./database.ts";

/** A new database with what a backup holds. */
export async function restoredFrom(file: string, life: Lifetime): Promise<Database> {
  const database = await postgresDatabase(life);
  const client = new Client({ connectionString: database.url });
  await client.connect();
  let script = "";
  let copy: ReturnType<typeof copyFrom> | undefined;
  for await (const line of createInterface({ input: createReadStream(file) })) {
    if (copy !== undefined && line === "\\.") {
      copy.end();
      await finished(copy);
      copy = undefined;
    } else if (copy !== undefined) {
      copy.write(`${line}\n`);
    } else if (line.startsWith("COPY ")) {
      await client.query(script);
      script = "";
      copy = client.query(copyFrom(line));
    } else {
      script += `${line}\n`;
    }
  }
  await client.query(script);
  await client.end();
  return database;
}
