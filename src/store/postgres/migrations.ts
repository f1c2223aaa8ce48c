// Brings a database to the newest version of the schema, and refuses one that is somebody else's.

import type pg from "pg";
import { UserError } from "../../domain/errors.ts";
import { statement, type Transaction, transaction } from "./connection.ts";
import { fillDevices, fillFleet } from "./fill-fleet.ts";
import { DEVICES_AND_FLEET, FIRST, SENDERS_AND_LATEST, TABLES } from "./schema.ts";

type Step = {
  readonly version: number;
  readonly sql: string;
  /** What follows from the rows that are there. */
  readonly fill?: (db: Transaction) => Promise<void>;
};

/** What brings a database to a version. Version 1 is of programs that were never released. */
const STEPS: readonly Step[] = [
  { version: 2, sql: FIRST },
  { version: 3, sql: DEVICES_AND_FLEET, fill: fillDevices },
  { version: 4, sql: SENDERS_AND_LATEST, fill: fillFleet },
];
const NEWEST = 4;

const MARK = "CREATE TABLE tank_monitor (version integer NOT NULL)";

/** The newest schema, as a script. */
export const SCHEMA_SCRIPT = `${MARK};\nINSERT INTO tank_monitor VALUES (${NEWEST});\n${STEPS.map(({ sql }) => sql).join("\n")}`;

/** Held while a process looks and migrates, so that several may start at once: they wait. Any number that nobody else takes. */
const LOCK = statement("SELECT pg_advisory_xact_lock(5522219041)");
const IS_OURS = statement("SELECT to_regclass('tank_monitor') IS NOT NULL");
const FOREIGN = statement("SELECT name FROM unnest($1::text[]) AS name WHERE to_regclass(name) IS NOT NULL LIMIT 1");
const VERSION = statement("SELECT version FROM tank_monitor");
const SET_VERSION = statement("UPDATE tank_monitor SET version = $1");

/** On connections that are patient: a large database takes its time, and so does whoever waits for it. */
export async function migrate(pool: pg.Pool): Promise<void> {
  await transaction(pool, async (db) => {
    await db.client.query("SET LOCAL lock_timeout = 0");
    await db.rows(LOCK);
    if ((await db.rows(IS_OURS))[0]?.[0] !== true) {
      const [foreign] = await db.rows(FOREIGN, [TABLES]);
      if (foreign !== undefined) {
        throw new UserError(
          `the database has a table "${foreign[0]}" that is not Tank Monitor's. Name another database in DATABASE_URL.`,
        );
      }
      await db.client.query(MARK);
      await db.client.query("INSERT INTO tank_monitor VALUES (0)");
    }
    const version = Number((await db.rows(VERSION))[0]?.[0]);
    if (version === 1) {
      throw new UserError(
        "the database was made by a Tank Monitor that was never released (database version 1). Export it with the program that made it, and import that into an empty database.",
      );
    }
    if (version > NEWEST) {
      throw new UserError(
        `the database was made by a newer Tank Monitor (database version ${version}; this program knows versions up to ${NEWEST}). Start the newer program.`,
      );
    }
    for (const { version: reached, sql, fill } of STEPS) {
      if (version >= reached) continue;
      await db.client.query(sql);
      await fill?.(db);
    }
    if (version < NEWEST) await db.rows(SET_VERSION, [NEWEST]);
  });
}
