// The schema of the embedded database, and the refusal of files that do not have it.

import { hash } from "node:crypto";
import type { DatabaseSync } from "node:sqlite";
import { UserError } from "../../domain/errors.ts";
import type { Dialect } from "../core/dialect.ts";
import { EARLIEST } from "../series/rank-index.ts";
import { retryWhileBusy } from "./connection.ts";

const SCHEMA = `
  CREATE TABLE customer (
    pk INTEGER PRIMARY KEY,
    id TEXT NOT NULL UNIQUE,
    created_at INTEGER NOT NULL,
    email TEXT NOT NULL,
    last_seen_at INTEGER,
    name TEXT NOT NULL,
    phone TEXT,
    updated_at INTEGER NOT NULL,
    verified_at INTEGER,
    tank_count INTEGER NOT NULL DEFAULT 0,
    deleted INTEGER NOT NULL DEFAULT 0,
    deleted_at INTEGER
  ) STRICT;
  CREATE INDEX customer_by_creation ON customer (created_at, id) WHERE deleted = 0;
  CREATE INDEX customer_by_email ON customer (email, created_at, id) WHERE deleted = 0;
  CREATE INDEX customer_by_name ON customer (lower(name)) WHERE deleted = 0;
  CREATE INDEX customer_by_any_case_email ON customer (lower(email)) WHERE deleted = 0;
  CREATE INDEX customer_deleted ON customer (created_at, id) WHERE deleted = 1;

  CREATE TABLE tank (
    pk INTEGER PRIMARY KEY,
    id TEXT NOT NULL UNIQUE,
    assigned_device_id TEXT NOT NULL,
    capacity REAL NOT NULL,
    capacity_unit TEXT NOT NULL,
    created_at INTEGER NOT NULL,
    custom_id TEXT,
    min_fill_alert_percentage INTEGER NOT NULL,
    name TEXT NOT NULL,
    owner_id TEXT NOT NULL REFERENCES customer (id),
    updated_at INTEGER NOT NULL,
    use_case TEXT,
    city TEXT,
    country TEXT,
    district TEXT,
    latitude REAL,
    longitude REAL,
    postal_code TEXT,
    region TEXT,
    street TEXT,
    street_number TEXT,
    shape TEXT, -- JSON
    deleted INTEGER NOT NULL DEFAULT 0,
    deleted_at INTEGER
  ) STRICT;
  CREATE INDEX tank_by_creation ON tank (created_at, id) WHERE deleted = 0;
  CREATE INDEX tank_by_owner ON tank (owner_id, created_at, id) WHERE deleted = 0;
  CREATE UNIQUE INDEX tank_by_device ON tank (assigned_device_id) WHERE deleted = 0;
  CREATE INDEX tank_by_name ON tank (lower(name)) WHERE deleted = 0;
  CREATE INDEX tank_by_city ON tank (lower(city)) WHERE deleted = 0;
  CREATE INDEX tank_by_custom_id ON tank (lower(custom_id)) WHERE deleted = 0;
  CREATE INDEX tank_deleted ON tank (created_at, id) WHERE deleted = 1;

  -- The newest readings of a tank, packed, and the number of all its readings.
  CREATE TABLE head (
    tank INTEGER PRIMARY KEY REFERENCES tank (pk),
    total INTEGER NOT NULL DEFAULT 0,
    start INTEGER NOT NULL DEFAULT ${EARLIEST},
    data BLOB NOT NULL DEFAULT x''
  ) STRICT;

  -- Older readings, 128 to 256 per row. Keyed by rowid: large rows in an index make a tall, thin tree.
  CREATE TABLE block (
    pk INTEGER PRIMARY KEY,
    tank INTEGER NOT NULL REFERENCES tank (pk),
    start INTEGER NOT NULL,
    data BLOB NOT NULL
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
    series TEXT NOT NULL,
    level INTEGER NOT NULL,
    created_at INTEGER NOT NULL,
    id TEXT NOT NULL,
    created_ats BLOB NOT NULL,
    ids TEXT NOT NULL,
    offsets BLOB NOT NULL
  ) STRICT;
  CREATE UNIQUE INDEX list_index_by_position ON list_index (series, level, created_at, id);

  CREATE TABLE api_key (
    pk INTEGER PRIMARY KEY,
    id TEXT NOT NULL UNIQUE,
    hash TEXT NOT NULL UNIQUE,
    name TEXT NOT NULL,
    role TEXT NOT NULL,
    customer_id TEXT REFERENCES customer (id),
    device_id TEXT,
    rate REAL,
    created_at INTEGER NOT NULL,
    expires_at INTEGER,
    revoked_at INTEGER,
    replaced_by TEXT
  ) STRICT;

  -- Every device that serves a tank, has a profile, or has sent a reading. pending counts its rows in pending_reading.
  CREATE TABLE device (
    id TEXT PRIMARY KEY,
    tank TEXT,
    since INTEGER NOT NULL DEFAULT ${EARLIEST},
    profile TEXT, -- JSON
    pending INTEGER NOT NULL DEFAULT 0,
    dropped INTEGER NOT NULL DEFAULT 0
  ) STRICT, WITHOUT ROWID;
  CREATE INDEX device_pending ON device (id) WHERE pending > 0;
  CREATE INDEX device_free ON device (id) WHERE tank IS NULL;

  -- Past assignments: the device served the tank until then.
  CREATE TABLE device_assignment (
    device TEXT NOT NULL,
    until INTEGER NOT NULL,
    tank TEXT NOT NULL,
    PRIMARY KEY (device, until)
  ) STRICT, WITHOUT ROWID;

  -- Readings of devices without a tank, or without a profile that can interpret them. Either fill or payload (JSON) is set.
  CREATE TABLE pending_reading (
    device TEXT NOT NULL,
    created_at INTEGER NOT NULL,
    fill REAL,
    payload TEXT,
    customer_id TEXT,
    PRIMARY KEY (device, created_at)
  ) STRICT, WITHOUT ROWID;

  -- Every live tank, with its threshold and latest reading. The indexed columns are coarse, so that few readings change an
  -- index: the margin above the threshold in steps, and the quarter day of the latest reading.
  CREATE TABLE fleet (
    tank TEXT PRIMARY KEY,
    threshold INTEGER NOT NULL,
    at INTEGER NOT NULL,
    fill REAL,
    urgency INTEGER NOT NULL,
    heard INTEGER NOT NULL
  ) STRICT, WITHOUT ROWID;
  CREATE INDEX fleet_by_urgency ON fleet (urgency);
  CREATE INDEX fleet_by_heard ON fleet (heard);

  -- Numbered without gaps.
  CREATE TABLE audit (
    number INTEGER PRIMARY KEY,
    at INTEGER NOT NULL,
    who TEXT NOT NULL,
    object TEXT NOT NULL,
    id TEXT NOT NULL,
    action TEXT NOT NULL,
    changes TEXT NOT NULL
  ) STRICT;
  CREATE INDEX audit_by_time ON audit (at);
  CREATE INDEX audit_by_object ON audit (object, id);
  CREATE INDEX audit_by_id ON audit (id);
  CREATE INDEX audit_by_who ON audit (who);

  -- Results of commands with an idempotency key.
  CREATE TABLE idempotency (
    who TEXT NOT NULL,
    key TEXT NOT NULL,
    at INTEGER NOT NULL,
    fingerprint TEXT NOT NULL,
    resource TEXT NOT NULL,
    PRIMARY KEY (who, key)
  ) STRICT, WITHOUT ROWID;
  CREATE INDEX idempotency_by_time ON idempotency (at);
`;

export const DIALECT: Dialect = {
  isLive: (table) => `${table}.deleted = 0`,
  isDeleted: (table) => `${table}.deleted = 1`,
  deviceKeyOf: (column) => `iif(length(${column}) = 16 AND ${column} NOT GLOB '*[^0-9A-Fa-f]*', lower(${column}), ${column})`,
  equals: (column, value) => `${column} = ${value}`,
  fence: "",
};

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

/** Throws if the file belongs to another program or has another schema. Only reads. */
export function refuseForeign(db: DatabaseSync, file: string): void {
  const { application, tables } = db.prepare(MARKS).get() ?? {};
  if (application !== APPLICATION_ID && tables !== 0) {
    throw new UserError(`${file} is a SQLite database of another program. Name another file in DATABASE_URL.`);
  }
  const version = versionOf(db);
  if (version !== 0 && version !== FINGERPRINT) {
    throw new UserError(
      `${file} was created by another version of Tank Monitor. Export it with that version and import the export into a new file.`,
      1,
      "schema_mismatch",
    );
  }
}

function versionOf(db: DatabaseSync): number {
  return Number(db.prepare("PRAGMA user_version").get()?.["user_version"]);
}
