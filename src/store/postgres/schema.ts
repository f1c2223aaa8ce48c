// The schema on PostgreSQL, and the check that a database has it.
// Text is compared byte by byte (COLLATE "C").

import { hash } from "node:crypto";
import type pg from "pg";
import { UserError } from "../../domain/errors.ts";
import { EARLIEST } from "../../domain/instant.ts";
import { indexesIn } from "../check/indexes.ts";
import type { Dialect } from "../core/dialect.ts";
import { type ColumnTypes, columnTypesIn, commonTables, missingTable, tablesIn } from "../core/schema.ts";
import { type DbTransaction, statement, transaction } from "./connection.ts";
import { READINGS_SQL } from "./readings-sql.ts";

const TYPES: ColumnTypes = {
  id: 'id text COLLATE "C" PRIMARY KEY',
  text: 'text COLLATE "C"',
  integer: "bigint",
  real: "double precision",
  flag: "boolean NOT NULL DEFAULT false",
  isLive: "NOT deleted",
  isDeleted: "deleted",
  table: "",
  keyedTable: "",
};

const SCHEMA = `${commonTables(TYPES)}
  -- The newest readings of a tank, packed; the number of all its readings, and of those in blocks; its latest reading. Of live
  -- tanks also the threshold. Half of each page is left free, so that the new version of a row fits beside the old one.
  CREATE TABLE head (
    tank text COLLATE "C" PRIMARY KEY REFERENCES tank (id),
    total bigint NOT NULL DEFAULT 0,
    in_blocks bigint NOT NULL DEFAULT 0,
    start bigint NOT NULL DEFAULT ${EARLIEST},
    data bytea NOT NULL DEFAULT '',
    checksum bigint NOT NULL,
    at bigint NOT NULL DEFAULT ${EARLIEST},
    fill double precision,
    threshold integer,
    active_conditions integer NOT NULL DEFAULT 0, -- see CONDITION_BITS
    evaluate_at bigint -- when alerts must be evaluated again without a reading
  ) WITH (fillfactor = 50, autovacuum_vacuum_scale_factor = 0.05, toast_tuple_target = 8160);
  -- Packed data is not compressed. Here and below nothing is moved out of a row that fits into a page.
  ALTER TABLE head ALTER COLUMN data SET STORAGE PLAIN;
  CREATE INDEX fleet_by_evaluate_at ON head (evaluate_at) WHERE evaluate_at IS NOT NULL;
  CREATE VIEW fleet AS
    SELECT tank, threshold, at, fill, active_conditions, evaluate_at FROM head WHERE threshold IS NOT NULL;

  -- Older readings, 128 to 256 per row.
  CREATE TABLE block (
    tank text COLLATE "C" NOT NULL,
    start bigint NOT NULL,
    data bytea NOT NULL,
    checksum bigint NOT NULL,
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
    list text COLLATE "C" NOT NULL,
    level smallint NOT NULL,
    position bigint NOT NULL,
    id text COLLATE "C" NOT NULL,
    positions bigint[] NOT NULL,
    ids text[] COLLATE "C" NOT NULL,
    offsets bigint[] NOT NULL,
    PRIMARY KEY (list, level, position, id)
  ) WITH (toast_tuple_target = 8160);
`;

export const TABLES = tablesIn(SCHEMA);
export const INDEXES = indexesIn(SCHEMA);
export const COLUMN_TYPES = columnTypesIn(SCHEMA);
/** A view that is needed as the tables are. */
const VIEW = "fleet";
/** All of the tables, and one of the view. */
export const COLUMNS = [...COLUMN_TYPES.keys(), `${VIEW}.tank`];

export const DIALECT: Dialect = {
  isLive: (table) => `NOT ${table}.deleted`,
  isDeleted: (table) => `${table}.deleted`,
  deviceKeyOf: (column) => `CASE WHEN ${column} ~ '^[0-9A-Fa-f]{16}$' THEN lower(${column}) ELSE ${column} END`,
  // As a range: an ORDER BY of a column that is equal for all rows is dropped.
  equals: (column, value) => `${column} >= ${value} AND ${column} <= ${value}`,
  optimizerFence: "OFFSET 0",
  indexedBy: () => "",
  skipLocked: "FOR UPDATE SKIP LOCKED",
  jsonArray: "json_agg",
  jsonNumber: (column, name) => `CAST(substring(${column} from '"${name}":([0-9]{1,15})') AS bigint)`,
  now: () => ({ sql: "CAST(extract(epoch FROM statement_timestamp()) * 1000 AS bigint)", values: [] }),
};

const FINGERPRINT = hash("sha256", SCHEMA + READINGS_SQL, "hex").slice(0, 16);
const MARK = "CREATE TABLE tank_monitor (fingerprint text NOT NULL)";

/** Makes the database usable: the last statement of a backup, so that what an incomplete one restores is rejected. */
export const FINGERPRINT_SCRIPT = `INSERT INTO tank_monitor VALUES ('${FINGERPRINT}');\n`;
/** The tables as a script, for a temporary copy, which only the program itself reads. */
export const TABLES_SCRIPT = `${MARK};\n${FINGERPRINT_SCRIPT}${SCHEMA}`;
/** The whole schema, without the fingerprint. */
export const BACKUP_SCHEMA_SCRIPT = `${MARK};\n${SCHEMA}${READINGS_SQL}`;

/** Processes that start at once wait for each other. */
const LOCK = statement("SELECT pg_advisory_xact_lock(5522219041)");
const IS_OURS = statement("SELECT to_regclass('tank_monitor') IS NOT NULL");
const FOREIGN = statement("SELECT name FROM unnest($1::text[]) AS name WHERE to_regclass(name) IS NOT NULL LIMIT 1");
const MISSING = statement("SELECT name FROM unnest($1::text[]) AS name WHERE to_regclass(name) IS NULL LIMIT 1");
const STORED_FINGERPRINT = statement("SELECT to_jsonb(tank_monitor) ->> 'fingerprint' FROM tank_monitor");

const SYNCHRONOUS_COMMIT = statement("SELECT current_setting('synchronous_commit')");

/** Creates the schema in an empty database, if it may; throws if the database belongs to another program or has another schema. */
export async function createSchema(
  pool: pg.Pool,
  mayCreate: boolean,
  script = `${BACKUP_SCHEMA_SCRIPT}${FINGERPRINT_SCRIPT}`,
): Promise<void> {
  await transaction(pool, async (db) => {
    // Commits are acknowledged, so they must be on disk. `fsync` is not checked: test servers turn it off.
    if ((await db.rows(SYNCHRONOUS_COMMIT))[0]?.[0] === "off") {
      throw new UserError(
        "synchronous_commit is off for the role, the database or the server in DATABASE_URL: acknowledged readings could be lost. Turn it on with ALTER ROLE … SET synchronous_commit = on.",
      );
    }
    if (await hasSchema(db)) {
      const missing = await missingTableName(db);
      if (missing !== undefined) throw missingTable(missing);
      return;
    }
    if (!mayCreate)
      throw new UserError("the database in DATABASE_URL is empty. Set DATABASE_URL to the database of the service.");
    await db.client.query(script);
  });
}

/** A table or the view, which somebody has dropped or renamed. */
export async function missingTableName(db: DbTransaction): Promise<string | undefined> {
  const [missing] = await db.rows(MISSING, [[...TABLES, VIEW]]);
  return missing && String(missing[0]);
}

/** False for an empty database. Until the end of the transaction no other process creates or restores it. */
export async function hasSchema(db: DbTransaction): Promise<boolean> {
  await db.client.query("SET LOCAL lock_timeout = 0");
  await db.rows(LOCK);
  if ((await db.rows(IS_OURS))[0]?.[0] === true) {
    const [stored] = await db.rows(STORED_FINGERPRINT);
    if (stored === undefined) {
      throw new UserError(
        "the database is incomplete: the backup that was restored with psql was not complete. Restore a complete one into an empty database.",
      );
    }
    if (stored[0] === FINGERPRINT) return true;
    throw new UserError(
      "the database was created by another version of Tank Monitor. Export it with that version and import the export into an empty database.",
      1,
      "schema_mismatch",
    );
  }
  const [foreign] = await db.rows(FOREIGN, [[...TABLES, "readings"]]);
  if (foreign === undefined) return false;
  throw new UserError(`the database has a table "${foreign[0]}" of another program. Set DATABASE_URL to another database.`);
}
