// The schema, as numbered steps. A step, once released, never changes; a new one is added below it.

import type { DatabaseSync } from "node:sqlite";
import { Complaint } from "../../domain/errors.ts";
import { patiently } from "./connection.ts";

/** "TNKM": marks a file as ours. */
const APPLICATION_ID = 0x544e4b4d;

const STEPS: readonly string[] = [
  // 1: customers, tanks, readings, keys.
  `
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
    deleted INTEGER NOT NULL DEFAULT 0
  ) STRICT;
  CREATE INDEX customer_by_creation ON customer (created_at, id) WHERE deleted = 0;
  CREATE INDEX customer_by_email ON customer (email, created_at, id) WHERE deleted = 0;

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
    reading_count INTEGER NOT NULL DEFAULT 0,
    deleted INTEGER NOT NULL DEFAULT 0
  ) STRICT;
  CREATE INDEX tank_by_creation ON tank (created_at, id) WHERE deleted = 0;
  CREATE INDEX tank_by_owner ON tank (owner_id, created_at, id) WHERE deleted = 0;
  CREATE UNIQUE INDEX tank_by_device ON tank (assigned_device_id) WHERE deleted = 0;

  -- Clustered by tank and time: a page is one short walk, and a reading costs about 26 bytes.
  CREATE TABLE reading (
    tank INTEGER NOT NULL REFERENCES tank (pk),
    created_at INTEGER NOT NULL,
    fill REAL NOT NULL,
    PRIMARY KEY (tank, created_at)
  ) STRICT, WITHOUT ROWID;

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
  `,
];

/**
 * Brings the database to the newest version. Each step is one transaction that first looks at the version again, so two
 * processes that start at once do not trip over each other.
 */
export function migrate(db: DatabaseSync): void {
  for (let version = versionOf(db); version < STEPS.length; version = versionOf(db)) {
    patiently(() => db.exec("BEGIN IMMEDIATE"));
    try {
      if (versionOf(db) === version) {
        db.exec(STEPS[version] ?? "");
        db.exec(`PRAGMA application_id = ${APPLICATION_ID}`);
        db.exec(`PRAGMA user_version = ${version + 1}`);
      }
      db.exec("COMMIT");
    } catch (error) {
      if (db.isTransaction) db.exec("ROLLBACK");
      throw error;
    }
  }
}

/** One statement, hence one moment: another process may be making the database right now. */
const MARKS = `SELECT application_id AS application, (SELECT count(*) FROM sqlite_schema) AS tables FROM pragma_application_id`;

/** Throws where the file is somebody else's, or of a newer version. Reads only. */
export function refuseForeign(db: DatabaseSync, file: string): void {
  const { application, tables } = db.prepare(MARKS).get() ?? {};
  if (application !== APPLICATION_ID && tables !== 0) {
    throw new Complaint(`${file} is a SQLite database, but not one of Tank Monitor's. Name another file in DATABASE_URL.`);
  }
  const version = versionOf(db);
  if (version > STEPS.length) {
    throw new Complaint(
      `${file} was made by a newer Tank Monitor (database version ${version}; this program knows versions up to ${STEPS.length}). Start the newer program.`,
    );
  }
}

function versionOf(db: DatabaseSync): number {
  return Number(db.prepare("PRAGMA user_version").get()?.["user_version"]);
}
