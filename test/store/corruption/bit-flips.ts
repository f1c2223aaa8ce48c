// Single bits of what is stored are changed, in the columns of either engine or anywhere in a SQLite file: nothing wrong is
// exported or read, and the check reports it.

import assert from "node:assert/strict";
import { readFileSync, rmSync, writeFileSync } from "node:fs";
import { DatabaseSync } from "node:sqlite";
import { UserError } from "../../../src/domain/errors.ts";
import { UNRESTRICTED } from "../../../src/domain/key.ts";
import type { Store } from "../../../src/domain/store.ts";
import { type Random, seeded } from "../../../src/simulate/random.ts";
import { openStore } from "../../../src/store/open.ts";
import { at, command, executed } from "../../support/commands.ts";
import { postgresDatabase, TEMPLATE_LOCALE } from "../../support/postgres/database.ts";
import { ingest } from "../../support/readings.ts";
import { putReadings } from "../../support/records.ts";
import type { Lifetime } from "../../support/service.ts";
import { databaseFolder } from "../../support/stores.ts";
import { times } from "../../support/times.ts";
import { checked, customer, NEW_YEAR, putCustomers, tank, WHOLE } from "../conformance/objects.ts";

const TANKS = ["narrow", "wide", "early", "long", "empty", "gone"];
const PROFILE = { value: "level", measures: "percent" };
const PAGE_BYTES = 4096;

/** Every kind of row and every layout of readings, in few rows. */
async function fillWithEverything(store: Store): Promise<void> {
  const now = at(NEW_YEAR);
  await putCustomers(store, customer("a", { phone: "+49 30 5550", verified_at: NEW_YEAR }), customer("b"));
  await store.importCustomers([{ customer: customer("gone"), deleted: true }], now);
  const location = { ...tank("x", "a").location, city: "Ulm", latitude: 48.4, longitude: 9.99 };
  const records = TANKS.map((id) => ({ tank: tank(id, "a", { custom_id: `no ${id}`, location }), deleted: id === "gone" }));
  await store.importTanks(records, now);
  await putReadings(
    store,
    "narrow",
    times(40, (i) => [NEW_YEAR + i * 60_000, 20.25 + i]),
  );
  await putReadings(
    store,
    "wide",
    times(15, (i) => [NEW_YEAR + i * 60_000, 100 / (i + 3)]),
  );
  await putReadings(
    store,
    "early",
    times(10, (i) => [-1e12 + i, i]),
  );
  // Appended in two parts, to a head that is not read.
  for (const part of [0, 1, 2]) {
    await putReadings(
      store,
      "long",
      times(150, (i) => [NEW_YEAR + (part * 150 + i) * 60_000, i % 101]),
    );
  }
  await executed(store, command.changeTank("narrow", { shape: { kind: "upright", height: 2, unit: "m" } }), now);
  await executed(store, command.putDevice("moved", { tank_id: "wide" }), now);
  await executed(store, command.putDevice("moved", { tank_id: "narrow", profile: "elsys" }, { swap: true }), at(NEW_YEAR + 1));
  await executed(store, command.putDevice("device of wide", { tank_id: "wide" }), at(NEW_YEAR + 2));
  await ingest(
    store,
    { device: "waits", at: 1, fill: 12.5 },
    { device: "waits", at: NEW_YEAR, payload: { level: 5 } },
    { device: "waits", at: 3, fill: 1 / 3 },
  );
  await executed(store, command.putDevice("waits", { profile: PROFILE }), now);
  await store.updateLastSeen(new Map([["a", NEW_YEAR + 5]]));
}

type Contents = { readonly records: readonly string[]; readonly reads: ReadonlyMap<string, string> };

/** What an export contains, and every page of readings. A failed read is not in it. */
async function contentsOf(store: Store): Promise<Contents> {
  const records: string[] = [];
  try {
    for await (const record of store.exportRecords()) records.push(JSON.stringify(record));
  } catch (error) {
    expectDamage(error);
    records.push(DAMAGED);
  }
  const reads = new Map<string, string>();
  for (const id of TANKS) {
    for (const query of [{}, { size: 10 }, { page: 3 }, { from: NEW_YEAR + 3_600_000, to: NEW_YEAR + 9_000_000 }]) {
      const page = await store.telemetryPage(id, { ...WHOLE, ...query }, UNRESTRICTED).catch(expectDamage);
      if (typeof page === "object") reads.set(`${id} ${JSON.stringify(query)}`, JSON.stringify(page));
    }
  }
  return { records, reads };
}

const DAMAGED = '{"kind":"damaged"';

function expectDamage(error: unknown): undefined {
  assert.equal((error as { code?: unknown }).code, "data_damaged", String((error as Error).stack));
}

/** `tank_count` is derived: an import counts the tanks itself. */
const comparable = (record: string): string => record.replace(/"tank_count":[^,}]+/, "");

/** After one bit was changed. */
async function expectNothingWrong(store: Store, sound: Contents): Promise<void> {
  const { records, reads } = await contentsOf(store);
  const known = new Set(sound.records.map(comparable));
  // Of a device whose id was changed the other rows remain; that it is damaged is reported beside them.
  const isExpected = (record: string): boolean =>
    record.startsWith(DAMAGED) || (record.startsWith('{"kind":"device"') && records.some((other) => other.startsWith(DAMAGED)));
  const wrong = records.filter((record) => !known.has(comparable(record)) && !isExpected(record));
  assert.deepEqual(wrong, [], "exported as if it were right");
  for (const [query, page] of sound.reads) assert.equal(reads.get(query) ?? page, page, query);
  if (JSON.stringify(records) === JSON.stringify(sound.records) && reads.size === sound.reads.size) return;
  const findings = await checked(store).then((result) => result.findings, expectDamage);
  assert.notDeepEqual(findings, []);
}

type ColumnType = "integer" | "real" | "text" | "bytes" | "flag";
type Value = bigint | number | string | boolean | Uint8Array;

/** The value with another bit; undefined if it has none, or is no valid value any more. */
function withFlippedBit(value: Value | null, type: ColumnType, random: Random): Value | undefined {
  if (value === null) return undefined;
  if (type === "flag") return !value;
  if (type === "integer") return BigInt.asIntN(64, BigInt(value as bigint) ^ (1n << BigInt(random.whole(0, 63))));
  if (type === "real") {
    const bytes = Buffer.alloc(8);
    bytes.writeDoubleLE(Number(value));
    const other = flipBit(bytes, random).readDoubleLE();
    return Number.isFinite(other) ? other : undefined;
  }
  const bytes = type === "text" ? Buffer.from(String(value)) : Buffer.from(value as Uint8Array);
  if (bytes.length === 0) return undefined;
  const flipped = flipBit(bytes, random);
  if (type === "bytes") return flipped;
  const text = flipped.toString();
  return text.includes("\0") || text.includes("\ufffd") ? undefined : text;
}

function flipBit(bytes: Buffer, random: Random): Buffer {
  const bit = random.whole(0, bytes.length * 8 - 1);
  bytes[bit >> 3] = (bytes[bit >> 3] ?? 0) ^ (1 << (bit & 7));
  return bytes;
}

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
  const tables = await Array.fromAsync(Object.entries(TABLES), async ([table, key]) => ({
    table,
    key,
    types: await rows.types(table),
    all: await rows.all(table),
  }));
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

/** Anywhere in the file, except for the schema. */
export async function flipBitsOfFile(life: Lifetime, seed: string, count: number): Promise<void> {
  const random = seeded(seed);
  const { file, path, open } = databaseFolder(life);
  const first = await open();
  await fillWithEverything(first);
  const sound = await contentsOf(first);
  await first.close();
  const db = new DatabaseSync(file);
  const pages = db.prepare("SELECT pageno FROM dbstat WHERE name <> 'sqlite_schema'").all();
  db.close();
  const copy = `${path}/copy.db`;
  for (let i = 0; i < count; i++) {
    for (const suffix of ["-wal", "-shm"]) rmSync(copy + suffix, { force: true });
    const bytes = readFileSync(file);
    const page = (Number(random.pick(pages)["pageno"]) - 1) * PAGE_BYTES;
    flipBit(bytes.subarray(page, page + PAGE_BYTES), random);
    writeFileSync(copy, bytes);
    try {
      const store = await openStore(`sqlite:${copy}`, () => {});
      try {
        await expectNothingWrong(store, sound);
      } finally {
        await store.close();
      }
    } catch (error) {
      // It is not opened.
      if (error instanceof UserError) continue;
      throw new Error(`copy ${i}: ${(error as Error).message}\nTEST_SEED=${seed} repeats it`, { cause: error });
    }
  }
}
