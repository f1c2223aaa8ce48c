// Brings a database to the newest version of the schema, and refuses files that are not ours.

import type { DatabaseSync } from "node:sqlite";
import { UserError } from "../../domain/errors.ts";
import { patiently } from "./connection.ts";
import { rebuildFleet } from "./fleet.ts";
import { addMissingHeads, isEveryReadingMoved, type MoveProgress, moveReadings } from "./move-readings.ts";
import { rebuildLists } from "./rebuild.ts";
import {
  BLOCKS_AND_MILESTONES,
  DEVICES_AND_FLEET,
  DEVICES_OF_TANKS,
  FIRST,
  SENDERS_OF_WAITING,
  WITHOUT_READINGS,
} from "./schema.ts";

/** "TNKM": marks a file as ours. */
const APPLICATION_ID = 0x544e4b4d;
const NEWEST = 5;
/** With devices and a fleet. */
const DEVICES = 4;
/** With readings in blocks. */
const BLOCKS = 3;
/** Of programs that were never released: milestones a row each. */
const PASSED_OVER = 2;

/**
 * Each change is a transaction that first looks where the database stands, so processes that start at once do not trip over
 * each other, and an interrupted migration goes on where it was.
 */
export async function migrate(db: DatabaseSync, progress: MoveProgress = () => {}): Promise<void> {
  change(db, () => {
    if (versionOf(db) > 0) return;
    db.exec(FIRST);
    db.exec(`PRAGMA application_id = ${APPLICATION_ID}`);
    db.exec("PRAGMA user_version = 1");
  });
  change(db, () => {
    if (versionOf(db) === 1 && !hasTable(db, "telemetry")) db.exec(BLOCKS_AND_MILESTONES);
  });
  for (let isDone = false; !isDone; ) {
    if (patiently(() => versionOf(db)) >= BLOCKS) break;
    await moveReadings((work) => change(db, work), db, progress);
    isDone = change(db, () => {
      if (versionOf(db) >= BLOCKS) return true;
      // Another process may have written one since the last look.
      if (!isEveryReadingMoved(db)) return false;
      addMissingHeads(db);
      db.exec(WITHOUT_READINGS);
      rebuildLists(db);
      db.exec(`PRAGMA user_version = ${BLOCKS}`);
      return true;
    });
  }
  change(db, () => {
    if (versionOf(db) >= DEVICES) return;
    db.exec(DEVICES_AND_FLEET);
    db.exec(DEVICES_OF_TANKS);
    db.exec(`PRAGMA user_version = ${DEVICES}`);
  });
  change(db, () => {
    if (versionOf(db) >= NEWEST) return;
    db.exec(SENDERS_OF_WAITING);
    rebuildFleet(db);
    db.exec(`PRAGMA user_version = ${NEWEST}`);
  });
}

/** One transaction, tried again while another process holds the database. */
function change<T>(db: DatabaseSync, work: () => T): T {
  patiently(() => db.exec("BEGIN IMMEDIATE"));
  try {
    const result = work();
    db.exec("COMMIT");
    return result;
  } catch (error) {
    if (db.isTransaction) db.exec("ROLLBACK");
    throw error;
  }
}

function hasTable(db: DatabaseSync, name: string): boolean {
  return db.prepare("SELECT 1 FROM sqlite_schema WHERE type = 'table' AND name = ?").get(name) !== undefined;
}

function hasColumn(db: DatabaseSync, table: string, column: string): boolean {
  return db.prepare("SELECT 1 FROM pragma_table_info(?) WHERE name = ?").get(table, column) !== undefined;
}

/** One statement, hence one moment: another process may be making the database right now. */
const MARKS = `SELECT application_id AS application, (SELECT count(*) FROM sqlite_schema) AS tables FROM pragma_application_id`;

/** Throws where the file is somebody else's, or of a newer version. Reads only. */
export function refuseForeign(db: DatabaseSync, file: string): void {
  const { application, tables } = db.prepare(MARKS).get() ?? {};
  if (application !== APPLICATION_ID && tables !== 0) {
    throw new UserError(`${file} is a SQLite database, but not one of Tank Monitor's. Name another file in DATABASE_URL.`);
  }
  const version = versionOf(db);
  if (version === PASSED_OVER || hasColumn(db, "reading_milestone", "ahead")) {
    throw new UserError(
      `${file} was made by a Tank Monitor that was never released (database version 2). Export it with the program that made it, and import that into a new file.`,
    );
  }
  if (version > NEWEST) {
    throw new UserError(
      `${file} was made by a newer Tank Monitor (database version ${version}; this program knows versions up to ${NEWEST}). Start the newer program.`,
    );
  }
}

function versionOf(db: DatabaseSync): number {
  return Number(db.prepare("PRAGMA user_version").get()?.["user_version"]);
}
