// Copies of the whole database: a file that psql restores, and a copy to try a change on.

import { createWriteStream } from "node:fs";
import { pipeline } from "node:stream/promises";
import type pg from "pg";
import { to as copyTo } from "pg-copy-streams";
import { storeUnavailable } from "../../domain/errors.ts";
import { type Transaction, transaction } from "./connection.ts";
import { migrate, SCHEMA_SCRIPT } from "./migrations.ts";
import { TABLES } from "./schema.ts";

export type CopyProgress = (done: number, total: number) => void;

const SIZE = `SELECT coalesce(sum(pg_table_size(name::regclass)), 0)::float8 FROM unnest($1::text[]) AS name`;

/** Of one snapshot, while others read and write. */
export async function backup(pool: pg.Pool, file: string, progress: CopyProgress): Promise<void> {
  try {
    await transaction(pool, (db) => write(db, file, progress), "REPEATABLE READ READ ONLY");
  } catch (error) {
    throw isOfSystem(error) ? storeUnavailable(error) : error;
  }
}

/** A file that cannot be made, or a disk that is full. */
const isOfSystem = (error: unknown): boolean => error instanceof Error && "syscall" in error;

async function write({ client }: Transaction, file: string, progress: CopyProgress): Promise<void> {
  await client.query("SET LOCAL statement_timeout = 0");
  const { rows } = await client.query<[number]>({ text: SIZE, values: [TABLES], rowMode: "array" });
  const total = rows[0]?.[0] ?? 0;
  let done = 0;
  async function* script(): AsyncGenerator<string | Buffer> {
    yield `-- A copy of Tank Monitor's database, for an empty one: psql -1 -v ON_ERROR_STOP=1 -d DATABASE -f FILE\n\n`;
    yield SCHEMA_SCRIPT;
    for (const table of TABLES) {
      yield `\nCOPY ${table} FROM stdin;\n`;
      for await (const chunk of client.query(copyTo(`COPY ${table} TO STDOUT`))) {
        done += (chunk as Buffer).length;
        // Text is larger than the table it comes from, or smaller: the last word is at the end.
        progress(Math.min(done, total), total);
        yield chunk as Buffer;
      }
      yield "\\.\n";
    }
    progress(total, total);
  }
  await pipeline(script, createWriteStream(file));
}

/** Copies everything into the temporary tables of a connection, where it is seen by that connection alone and ends with it. */
export async function copyToTemporary(pool: pg.Pool, schema: string, progress: CopyProgress): Promise<void> {
  await migrate(pool);
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
    "REPEATABLE READ",
  );
}
