// Runs of changed bits: in the columns of either engine, and anywhere in a SQLite file.

import { copyFileSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { DatabaseSync } from "node:sqlite";
import { UserError } from "../../../src/domain/errors.ts";
import type { Store } from "../../../src/domain/store.ts";
import { seeded } from "../../../src/simulate/random.ts";
import { openStore } from "../../../src/store/open.ts";
import { postgresDatabase, TEMPLATE_LOCALE } from "../../support/postgres/database.ts";
import type { Lifetime } from "../../support/service.ts";
import { databaseFolder } from "../../support/stores.ts";
import {
  type ColumnType,
  contentsOf,
  expectNothingWrong,
  fillWithEverything,
  flipBit,
  type Value,
  withFlippedBit,
} from "./bit-flips.ts";

/** With their primary keys. */
const TABLES: Readonly<Record<string, readonly string[]>> = {
  customer: ["id"],
  tank: ["id"],
  device: ["id"],
  device_assignment: ["device", "until"],
  pending_reading: ["device", "created_at"],
  head: ["tank"],
  block: ["tank", "start"],
};

type Row = Readonly<Record<string, Value | null>>;
type Rows = {
  readonly types: (table: string) => Promise<ReadonlyMap<string, ColumnType>>;
  readonly all: (table: string) => Promise<readonly Row[]>;
  /** Returns false if the database does not accept the value. */
  readonly update: (table: string, key: Row, column: string, value: Value) => Promise<boolean>;
};

async function flipColumns(store: Store, rows: Rows, seed: string, count: number): Promise<void> {
  const random = seeded(seed);
  const sound = await contentsOf(store);
  const tables = await Promise.all(
    Object.entries(TABLES).map(async ([table, key]) => ({
      table,
      key,
      types: await rows.types(table),
      all: await rows.all(table),
    })),
  );
  for (let done = 0; done < count; ) {
    const { table, key, types, all } = random.pick(tables);
    const [column, type] = random.pick([...types]);
    const row = random.pick(all);
    const value = withFlippedBit(row[column] ?? null, type, random);
    const keyOf = (from: Row): Row => Object.fromEntries(key.map((name) => [name, from[name] as Value]));
    if (value === undefined || !(await rows.update(table, keyOf(row), column, value))) continue;
    try {
      await expectNothingWrong(store, sound);
    } catch (cause) {
      const what = `${table}.${column} of ${JSON.stringify(Object.values(keyOf(row)).map(String))}: ${row[column]} to ${value}`;
      throw new Error(`${what}\n${(cause as Error).message}\nTEST_SEED=${seed} repeats it`, { cause });
    }
    await rows.update(table, keyOf({ ...row, [column]: value }), column, row[column] as Value);
    done++;
  }
}

const SQLITE_TYPES: Readonly<Record<string, ColumnType>> = { INTEGER: "integer", REAL: "real", TEXT: "text", BLOB: "bytes" };

export async function flipBitsOfSqlite(life: Lifetime, seed: string, count: number): Promise<void> {
  const { file, open } = databaseFolder(life);
  const store = await open();
  await fillWithEverything(store);
  using db = new DatabaseSync(file, { enableForeignKeyConstraints: false, readBigInts: true, timeout: 5000 });
  await flipColumns(
    store,
    {
      types: async (table) =>
        new Map(
          db
            .prepare("SELECT name, type FROM pragma_table_info(?) WHERE name <> 'pk'")
            .all(table)
            .map(({ name, type }) => [String(name), SQLITE_TYPES[String(type)] as ColumnType]),
        ),
      all: async (table) => db.prepare(`SELECT * FROM ${table}`).all() as Row[],
      async update(table, key, column, value) {
        const where = Object.keys(key).map((name) => `${name} = ?`);
        try {
          const sql = `UPDATE ${table} SET ${column} = ? WHERE ${where.join(" AND ")}`;
          return db.prepare(sql).run(value as string, ...(Object.values(key) as string[])).changes === 1n;
        } catch {
          return false;
        }
      },
    },
    seed,
    count,
  );
}

const POSTGRES_TYPES: Readonly<Record<string, ColumnType>> = {
  bigint: "integer",
  integer: "integer",
  "double precision": "real",
  text: "text",
  bytea: "bytes",
  boolean: "flag",
};
const COLUMNS = "SELECT column_name AS name, data_type AS type FROM information_schema.columns WHERE table_name = $1";

export async function flipBitsOfPostgres(life: Lifetime, seed: string, count: number): Promise<void> {
  const { url, query, closeFirst } = await postgresDatabase(life, { locale: TEMPLATE_LOCALE, withSchema: true });
  const store = await openStore(url, () => {});
  closeFirst(() => store.close());
  await fillWithEverything(store);
  // References would not allow most changes of ids.
  await query("ALTER TABLE head DROP CONSTRAINT head_tank_fkey; ALTER TABLE tank DROP CONSTRAINT tank_owner_id_fkey");
  await flipColumns(
    store,
    {
      types: async (table) => {
        const columns = await query<{ name: string; type: string }>(COLUMNS, [table]);
        return new Map(columns.map(({ name, type }) => [name, POSTGRES_TYPES[type] as ColumnType]));
      },
      all: (table) => query(`SELECT * FROM ${table}`),
      async update(table, key, column, value) {
        const where = Object.keys(key).map((name, i) => `${name} = $${i + 2}`);
        const sql = `WITH changed AS (UPDATE ${table} SET ${column} = $1 WHERE ${where.join(" AND ")} RETURNING 1) SELECT FROM changed`;
        const values = [value, ...Object.values(key)].map((one) => (typeof one === "bigint" ? String(one) : one));
        return query(sql, values).then(
          (found) => found.length === 1,
          () => false,
        );
      },
    },
    seed,
    count,
  );
}

/** Anywhere in the file, except for its first page, which has the schema. */
export async function flipBitsOfFile(life: Lifetime, seed: string, count: number): Promise<void> {
  const random = seeded(seed);
  const { file, path, open } = databaseFolder(life);
  const first = await open();
  await fillWithEverything(first);
  const sound = await contentsOf(first);
  await first.close();
  const copy = `${path}/copy.db`;
  const results = { reported: 0, unchanged: 0, refused: 0 };
  for (let i = 0; i < count; i++) {
    copyFileSync(file, copy);
    const bytes = readFileSync(copy);
    const page = random.whole(1, bytes.length / 4096 - 1) * 4096;
    flipBit(bytes.subarray(page, page + 4096), random);
    writeFileSync(copy, bytes);
    try {
      const store = await openStore(`sqlite:${copy}`, () => {});
      try {
        results[await expectNothingWrong(store, sound)]++;
      } finally {
        await store.close();
      }
    } catch (error) {
      if (!(error instanceof UserError)) {
        throw new Error(`copy ${i}: ${(error as Error).message}\nTEST_SEED=${seed} repeats it`, { cause: error });
      }
      results.refused++;
    }
    for (const suffix of ["", "-wal", "-shm"]) rmSync(copy + suffix, { force: true });
  }
}
