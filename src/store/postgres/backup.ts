// Copies of the whole database: a file that psql restores, and a temporary copy.

import { createWriteStream } from "node:fs";
import { pipeline } from "node:stream/promises";
import type pg from "pg";
import { to as copyTo } from "pg-copy-streams";
import { storeUnavailable } from "../../domain/errors.ts";
import type { Progress } from "../../domain/store.ts";
import { isFileError } from "../files.ts";
import { type DbTransaction, transaction } from "./connection.ts";
import { BACKUP_SCHEMA_SCRIPT, createSchema, FINGERPRINT_SCRIPT, TABLES, TABLES_SCRIPT } from "./schema.ts";

/** The first line of a backup. */
export const BACKUP_TITLE =
  "-- A copy of a Tank Monitor database, to restore into an empty one: psql -1 -v ON_ERROR_STOP=1 -d DATABASE -f FILE";
const SIZE = `SELECT coalesce(sum(pg_table_size(name::regclass)), 0)::float8 FROM unnest($1::text[]) AS name`;

/** One snapshot; others can read and write meanwhile. */
export async function backup(pool: pg.Pool, file: string, progress: Progress): Promise<void> {
  try {
    await transaction(pool, (db) => write(db, file, progress), { isolation: "REPEATABLE READ READ ONLY" });
  } catch (error) {
    throw isFileError(error) ? storeUnavailable(error) : error;
  }
}

async function write({ client }: DbTransaction, file: string, progress: Progress): Promise<void> {
  await client.query("SET LOCAL statement_timeout = 0");
  const { rows } = await client.query<[number]>({ text: SIZE, values: [TABLES], rowMode: "array" });
  const total = rows[0]?.[0] ?? 0;
  let done = 0;
  async function* script(): AsyncGenerator<string | Buffer> {
    yield `${BACKUP_TITLE}\n\n`;
    yield BACKUP_SCHEMA_SCRIPT;
    for (const table of TABLES) {
      yield `\nCOPY ${table} FROM stdin;\n`;
      for await (const chunk of client.query(copyTo(`COPY ${table} TO STDOUT`))) {
        done += (chunk as Buffer).length;
        // The text of a table may be larger or smaller than the table.
        progress(Math.min(done, total), total);
        yield chunk as Buffer;
      }
      yield "\\.\n";
    }
    yield `\n${FINGERPRINT_SCRIPT}`;
    progress(total, total);
  }
  await pipeline(script, createWriteStream(file, { flags: "wx", mode: 0o600, flush: true }));
}

/** Copies everything into temporary tables of a connection: only it sees them, and they end with it. */
export async function copyToTemporary(pool: pg.Pool, schema: string, progress: Progress): Promise<void> {
  await createSchema(pool, true, TABLES_SCRIPT);
  await transaction(
    pool,
    async ({ client }) => {
      await client.query("SET LOCAL statement_timeout = 0");
      for (const [i, table] of TABLES.entries()) {
        progress(i, TABLES.length);
        await client.query(`INSERT INTO ${table} SELECT * FROM "${schema.replaceAll('"', '""')}".${table}`);
      }
      progress(TABLES.length, TABLES.length);
    },
    { isolation: "REPEATABLE READ" },
  );
}
