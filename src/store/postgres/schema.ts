// The schema on PostgreSQL, and the refusal of databases that do not have it.
//
// It can be distributed over machines: every key of the telemetry tables begins with the tank, every query about telemetry
// names it, and no number is drawn from a sequence. Text is compared byte by byte (COLLATE "C").

import { hash } from "node:crypto";
import type pg from "pg";
import { UserError } from "../../domain/errors.ts";
import type { Dialect } from "../core/dialect.ts";
import { EARLIEST } from "../series/rank-index.ts";
import { statement, transaction } from "./connection.ts";

const SCHEMA = `
  CREATE TABLE customer (
    id text COLLATE "C" PRIMARY KEY,
    created_at bigint NOT NULL,
    email text COLLATE "C" NOT NULL,
    last_seen_at bigint,
    name text COLLATE "C" NOT NULL,
    phone text,
    updated_at bigint NOT NULL,
    verified_at bigint,
    tank_count integer NOT NULL DEFAULT 0,
    deleted boolean NOT NULL,
    deleted_at bigint
  );
  CREATE INDEX customer_by_creation ON customer (created_at, id) WHERE NOT deleted;
  CREATE INDEX customer_by_email ON customer (email, created_at, id) WHERE NOT deleted;
  CREATE INDEX customer_by_name ON customer (lower(name)) WHERE NOT deleted;
  CREATE INDEX customer_by_any_case_email ON customer (lower(email)) WHERE NOT deleted;
  CREATE INDEX customer_deleted ON customer (created_at, id) WHERE deleted;

  CREATE TABLE tank (
    id text COLLATE "C" PRIMARY KEY,
    assigned_device_id text COLLATE "C" NOT NULL,
    capacity double precision NOT NULL,
    capacity_unit text NOT NULL,
    created_at bigint NOT NULL,
    custom_id text COLLATE "C",
    min_fill_alert_percentage integer NOT NULL,
    name text COLLATE "C" NOT NULL,
    owner_id text COLLATE "C" NOT NULL REFERENCES customer (id),
    updated_at bigint NOT NULL,
    use_case text,
    city text COLLATE "C",
    country text,
    district text,
    latitude double precision,
    longitude double precision,
    postal_code text,
    region text,
    street text,
    street_number text,
    shape text, -- JSON
    deleted boolean NOT NULL,
    deleted_at bigint
  );
  CREATE INDEX tank_by_creation ON tank (created_at, id) WHERE NOT deleted;
  CREATE INDEX tank_by_owner ON tank (owner_id, created_at, id) WHERE NOT deleted;
  CREATE UNIQUE INDEX tank_by_device ON tank (assigned_device_id) WHERE NOT deleted;
  CREATE INDEX tank_by_name ON tank (lower(name)) WHERE NOT deleted;
  CREATE INDEX tank_by_city ON tank (lower(city)) WHERE NOT deleted;
  CREATE INDEX tank_by_custom_id ON tank (lower(custom_id)) WHERE NOT deleted;
  CREATE INDEX tank_deleted ON tank (created_at, id) WHERE deleted;

  -- The newest readings of a tank, packed; the number of all its readings, and of those in blocks; its latest reading. Of live
  -- tanks also what the fleet is sorted by: the indexed columns are coarse, so that few readings change an index: the margin
  -- above the threshold in steps, and the quarter day of the latest reading. Half of each page is left free, so that the new
  -- version of a row fits beside the old one.
  CREATE TABLE head (
    tank text COLLATE "C" PRIMARY KEY REFERENCES tank (id),
    total bigint NOT NULL DEFAULT 0,
    in_blocks bigint NOT NULL DEFAULT 0,
    start bigint NOT NULL DEFAULT ${EARLIEST},
    data bytea NOT NULL DEFAULT '',
    at bigint NOT NULL DEFAULT ${EARLIEST},
    fill double precision,
    threshold integer,
    urgency integer,
    heard bigint
  ) WITH (fillfactor = 50, autovacuum_vacuum_scale_factor = 0.05, toast_tuple_target = 8160);
  -- Packed data is not compressed. Here and below nothing is moved out of a row that fits into a page.
  ALTER TABLE head ALTER COLUMN data SET STORAGE PLAIN;
  CREATE INDEX fleet_by_urgency ON head (urgency);
  CREATE INDEX fleet_by_heard ON head (heard);
  CREATE VIEW fleet AS SELECT tank, threshold, at, fill, urgency, heard FROM head WHERE urgency IS NOT NULL;

  -- Older readings, 128 to 256 per row.
  CREATE TABLE block (
    tank text COLLATE "C" NOT NULL,
    start bigint NOT NULL,
    data bytea NOT NULL,
    PRIMARY KEY (tank, start)
  ) WITH (toast_tuple_target = 8160);
  ALTER TABLE block ALTER COLUMN data SET STORAGE PLAIN;

  -- Rank indexes, one group per row.
  CREATE TABLE reading_index (
    tank text COLLATE "C" NOT NULL,
    level smallint NOT NULL,
    start bigint NOT NULL,
    starts bigint[] NOT NULL,
    offsets bigint[] NOT NULL,
    PRIMARY KEY (tank, level, start)
  ) WITH (toast_tuple_target = 8160);

  CREATE TABLE list_index (
    series text COLLATE "C" NOT NULL,
    level smallint NOT NULL,
    created_at bigint NOT NULL,
    id text COLLATE "C" NOT NULL,
    created_ats bigint[] NOT NULL,
    ids text[] COLLATE "C" NOT NULL,
    offsets bigint[] NOT NULL,
    PRIMARY KEY (series, level, created_at, id)
  ) WITH (toast_tuple_target = 8160);

  CREATE TABLE api_key (
    id text COLLATE "C" PRIMARY KEY,
    hash text COLLATE "C" NOT NULL UNIQUE,
    name text NOT NULL,
    role text NOT NULL,
    customer_id text COLLATE "C" REFERENCES customer (id),
    device_id text,
    rate double precision,
    created_at bigint NOT NULL,
    expires_at bigint,
    revoked_at bigint,
    replaced_by text
  );

  -- Every device that serves a tank, has a profile, or has sent a reading. pending counts its rows in pending_reading.
  CREATE TABLE device (
    id text COLLATE "C" PRIMARY KEY,
    tank text COLLATE "C",
    since bigint NOT NULL DEFAULT ${EARLIEST},
    profile text, -- JSON
    pending integer NOT NULL DEFAULT 0,
    dropped bigint NOT NULL DEFAULT 0
  );
  CREATE INDEX device_pending ON device (id) WHERE pending > 0;
  CREATE INDEX device_free ON device (id) WHERE tank IS NULL;

  -- Past assignments: the device served the tank until then.
  CREATE TABLE device_assignment (
    device text COLLATE "C" NOT NULL,
    until bigint NOT NULL,
    tank text COLLATE "C" NOT NULL,
    PRIMARY KEY (device, until)
  );

  -- Readings of devices without a tank, or without a profile that can interpret them. Either fill or payload (JSON) is set.
  CREATE TABLE pending_reading (
    device text COLLATE "C" NOT NULL,
    created_at bigint NOT NULL,
    fill double precision,
    payload text,
    customer_id text COLLATE "C",
    PRIMARY KEY (device, created_at)
  );

  -- Numbered without gaps, by writers that hold the lock of the lists.
  CREATE TABLE audit (
    number bigint PRIMARY KEY,
    at bigint NOT NULL,
    who text COLLATE "C" NOT NULL,
    object text COLLATE "C" NOT NULL,
    id text COLLATE "C" NOT NULL,
    action text NOT NULL,
    changes text NOT NULL
  );
  CREATE INDEX audit_by_time ON audit (at);
  CREATE INDEX audit_by_object ON audit (object, id);
  CREATE INDEX audit_by_id ON audit (id);
  CREATE INDEX audit_by_who ON audit (who);

  -- Results of commands with an idempotency key.
  CREATE TABLE idempotency (
    who text COLLATE "C" NOT NULL,
    key text COLLATE "C" NOT NULL,
    at bigint NOT NULL,
    fingerprint text NOT NULL,
    resource text NOT NULL,
    PRIMARY KEY (who, key)
  );
  CREATE INDEX idempotency_by_time ON idempotency (at);
`;

/** In the order in which their contents can be restored. */
export const TABLES = [
  "customer",
  "tank",
  "head",
  "block",
  "reading_index",
  "list_index",
  "api_key",
  "device",
  "device_assignment",
  "pending_reading",
  "audit",
  "idempotency",
] as const;

export const DIALECT: Dialect = {
  isLive: (table) => `NOT ${table}.deleted`,
  isDeleted: (table) => `${table}.deleted`,
  deviceKeyOf: (column) => `CASE WHEN ${column} ~ '^[0-9A-Fa-f]{16}$' THEN lower(${column}) ELSE ${column} END`,
  // As a range: an ORDER BY of a column that is equal for all rows is dropped.
  equals: (column, value) => `${column} >= ${value} AND ${column} <= ${value}`,
  fence: "OFFSET 0",
};

const FINGERPRINT = hash("sha256", SCHEMA, "hex").slice(0, 16);
const MARK = "CREATE TABLE tank_monitor (fingerprint text NOT NULL)";

/** The schema as a script, for backups. */
export const SCHEMA_SCRIPT = `${MARK};\nINSERT INTO tank_monitor VALUES ('${FINGERPRINT}');\n${SCHEMA}`;

/** Processes that start at once wait for each other. */
const LOCK = statement("SELECT pg_advisory_xact_lock(5522219041)");
const IS_OURS = statement("SELECT to_regclass('tank_monitor') IS NOT NULL");
const FOREIGN = statement("SELECT name FROM unnest($1::text[]) AS name WHERE to_regclass(name) IS NOT NULL LIMIT 1");
const STORED_FINGERPRINT = statement("SELECT to_jsonb(tank_monitor) ->> 'fingerprint' FROM tank_monitor");

/** Creates the schema in an empty database; throws if the database belongs to another program or has another schema. */
export async function createSchema(pool: pg.Pool): Promise<void> {
  await transaction(pool, async (db) => {
    await db.client.query("SET LOCAL lock_timeout = 0");
    await db.rows(LOCK);
    if ((await db.rows(IS_OURS))[0]?.[0] === true) {
      if ((await db.rows(STORED_FINGERPRINT))[0]?.[0] === FINGERPRINT) return;
      throw new UserError(
        "the database was created by another version of Tank Monitor. Export it with that version and import the export into an empty database.",
        1,
        "schema_mismatch",
      );
    }
    const [foreign] = await db.rows(FOREIGN, [TABLES]);
    if (foreign !== undefined) {
      throw new UserError(`the database has a table "${foreign[0]}" of another program. Name another database in DATABASE_URL.`);
    }
    await db.client.query(SCHEMA_SCRIPT);
  });
}
