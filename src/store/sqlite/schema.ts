// The schema of the embedded database, and the check that a database has it.

import { hash } from "node:crypto";
import type { DatabaseSync } from "node:sqlite";
import { UserError } from "../../domain/errors.ts";
import { EARLIEST } from "../../domain/instant.ts";
import { indexesIn } from "../check/indexes.ts";
import type { Dialect } from "../core/dialect.ts";
import { type ColumnTypes, columnTypesIn, commonTables, missingTable, tablesIn } from "../core/schema.ts";
import { retryWhileBusy } from "./connection.ts";

const TYPES: ColumnTypes = {
  id: "pk INTEGER PRIMARY KEY, id TEXT NOT NULL UNIQUE",
  text: "TEXT",
  integer: "INTEGER",
  real: "REAL",
  flag: "INTEGER NOT NULL DEFAULT 0",
  // Equal to a constant: an index then covers the column.
  isLive: "deleted = 0",
  isDeleted: "deleted = 1",
  table: "STRICT",
  keyedTable: "STRICT, WITHOUT ROWID",
};

const SCHEMA = `${commonTables(TYPES)}
  -- The newest readings of a tank, packed, and the number of all its readings.
  CREATE TABLE head (
    tank INTEGER PRIMARY KEY REFERENCES tank (pk),
    total INTEGER NOT NULL DEFAULT 0,
    start INTEGER NOT NULL DEFAULT ${EARLIEST},
    data BLOB NOT NULL DEFAULT x'',
    checksum INTEGER NOT NULL
  ) STRICT;

  -- Older readings, 128 to 256 per row. Keyed by rowid: large rows in an index make a tall, thin tree.
  CREATE TABLE block (
    pk INTEGER PRIMARY KEY,
    tank INTEGER NOT NULL REFERENCES tank (pk),
    start INTEGER NOT NULL,
    data BLOB NOT NULL,
    checksum INTEGER NOT NULL
  ) STRICT;
  CREATE UNIQUE INDEX block_by_start ON block (tank, start);

  -- Rank indexes, one group per row.
  CREATE TABLE reading_index (
    pk INTEGER PRIMARY KEY,
    tank INTEGER NOT NULL REFERENCES tank (pk),
    level INTEGER NOT NULL,
    start INTEGER NOT NULL,
    starts BLOB NOT NULL,
    offsets BLOB NOT NULL
  ) STRICT;
  CREATE UNIQUE INDEX reading_index_by_start ON reading_index (tank, level, start);

  CREATE TABLE list_index (
    pk INTEGER PRIMARY KEY,
    list TEXT NOT NULL,
    level INTEGER NOT NULL,
    position INTEGER NOT NULL,
    id TEXT NOT NULL,
    positions BLOB NOT NULL,
    ids TEXT NOT NULL,
    offsets BLOB NOT NULL
  ) STRICT;
  CREATE UNIQUE INDEX list_index_by_position ON list_index (list, level, position, id);

  -- Every live tank, with its threshold and latest reading.
  CREATE TABLE fleet (
    tank TEXT PRIMARY KEY,
    threshold INTEGER NOT NULL,
    at INTEGER NOT NULL,
    fill REAL,
    active_conditions INTEGER NOT NULL DEFAULT 0, -- see CONDITION_BITS
    evaluate_at INTEGER -- when alerts must be evaluated again without a reading
  ) STRICT, WITHOUT ROWID;
  CREATE INDEX fleet_by_evaluate_at ON fleet (evaluate_at) WHERE evaluate_at IS NOT NULL;
`;

export const DIALECT: Dialect = {
  isLive: (table) => `${table}.${TYPES.isLive}`,
  isDeleted: (table) => `${table}.${TYPES.isDeleted}`,
  deviceKeyOf: (column) => `iif(length(${column}) = 16 AND ${column} NOT GLOB '*[^0-9A-Fa-f]*', lower(${column}), ${column})`,
  equals: (column, value) => `${column} = ${value}`,
  optimizerFence: "",
  indexedBy: (index) => `INDEXED BY ${index}`,
  skipLocked: "",
  jsonArray: "json_group_array",
  jsonNumber: (column, name) => `CASE WHEN json_valid(${column}) THEN CAST(json_extract(${column}, '$.${name}') AS integer) END`,
  now: (instant, position) => ({ sql: `$${position}`, values: [instant] }),
};

const TABLES = tablesIn(SCHEMA);
export const INDEXES = indexesIn(SCHEMA);
export const COLUMN_TYPES = columnTypesIn(SCHEMA);

/** "TNKM": marks a file as ours. */
const APPLICATION_ID = 0x544e4b4d;
/** Identifies the schema, as a positive 31-bit number. */
const FINGERPRINT = Number.parseInt(hash("sha256", SCHEMA, "hex").slice(0, 8), 16) >>> 1 || 1;

/** Creates the schema in an empty file. Processes that start at once wait for each other. */
export function createSchema(db: DatabaseSync): void {
  retryWhileBusy(() => db.exec("BEGIN IMMEDIATE"));
  try {
    if (versionOf(db) === 0) {
      db.exec(SCHEMA);
      db.exec(`PRAGMA application_id = ${APPLICATION_ID}; PRAGMA user_version = ${FINGERPRINT}`);
    }
    db.exec("COMMIT");
  } catch (error) {
    if (db.isTransaction) db.exec("ROLLBACK");
    throw error;
  }
}

/** One statement, hence one moment: another process may be creating the database right now. */
const MARKS = `SELECT application_id AS application, (SELECT count(*) FROM sqlite_schema) AS tables FROM pragma_application_id`;

/** Throws if the file belongs to another program or has another schema, or is empty and may not be filled. Only reads. */
export function requireOwnDatabase(db: DatabaseSync, file: string, mayCreate: boolean): void {
  const { application, tables } = db.prepare(MARKS).get() ?? {};
  if (tables === 0 && !mayCreate) throw noDatabase(`${file}: the file is empty`);
  if (application !== APPLICATION_ID && tables !== 0) {
    throw new UserError(`${file} is a SQLite database of another program. Set DATABASE_URL to another file.`);
  }
  const version = versionOf(db);
  if (version !== 0 && version !== FINGERPRINT) {
    throw new UserError(
      `${file} was created by another version of Tank Monitor. Export it with that version and import the export into a new file.`,
      1,
      "schema_mismatch",
    );
  }
  if (version === 0) return;
  const found = new Set(
    db
      .prepare("SELECT name FROM sqlite_schema WHERE type = 'table'")
      .all()
      .map(({ name }) => name),
  );
  const missing = TABLES.find((name) => !found.has(name));
  if (missing !== undefined) throw missingTable(missing);
}

export function noDatabase(where: string): UserError {
  return new UserError(`no database at ${where}. Run this in the folder of the service, or set DATABASE_URL`);
}

function versionOf(db: DatabaseSync): number {
  return Number(db.prepare("PRAGMA user_version").get()?.["user_version"]);
}
