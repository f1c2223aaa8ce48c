// Opens connections: every pragma is set here, with its reason, and what matters is read back.

import { mkdirSync } from "node:fs";
import { dirname } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { RequestError, storeUnavailable, UserError } from "../../domain/errors.ts";

/** The one writing connection of a process. Creates the file where there is none. `check` sees it before it is touched. */
export function openWriter(file: string, check: (db: DatabaseSync) => void = () => {}): DatabaseSync {
  mkdirSync(dirname(file), { recursive: true });
  const db = new DatabaseSync(file, { enableForeignKeyConstraints: true, timeout: 0 });
  try {
    patiently(() => check(db));
    patiently(() => setUp(db));
  } catch (error) {
    db.close();
    throw error;
  }
  return db;
}

function setUp(db: DatabaseSync): void {
  // Readers go on while we write, and a commit is one append and one fsync.
  expectPragma(db, "journal_mode", "wal");
  // FULL syncs the log at every commit: what was acknowledged survives a power cut. (NORMAL would not.)
  expectPragma(db, "synchronous", "FULL", 2);
  expectPragma(db, "foreign_keys", "ON", 1);
  // A log that grew under a long read shrinks again.
  db.exec("PRAGMA journal_size_limit = 67108864");
}

const LOCK_WAIT_MS = 10_000;
const LOCK_POLL_MS = 1;
const sleeper = new Int32Array(new SharedArrayBuffer(4));

export function sleep(milliseconds: number): void {
  Atomics.wait(sleeper, 0, 0, milliseconds);
}

/**
 * Waits for other processes to finish writing, by looking every millisecond. SQLite's own waiting backs off to 100 ms, so
 * that it starves beside a busy importer, and does not wait at all where two processes make a database at once.
 */
export function patiently<T>(work: () => T): T {
  const deadline = performance.now() + LOCK_WAIT_MS;
  for (;;) {
    try {
      return work();
    } catch (error) {
      if (!isBusy(error) || performance.now() > deadline) throw error;
      sleep(LOCK_POLL_MS);
    }
  }
}

/** The serving thread's connection: it cannot write, whatever it is asked. */
export function openReader(file: string): DatabaseSync {
  const db = new DatabaseSync(file, { readOnly: true, timeout: 250 });
  // 8 MiB: the hot pages of a large fleet, and little next to the process itself.
  db.exec("PRAGMA cache_size = -8192");
  db.exec("PRAGMA query_only = ON");
  return db;
}

function expectPragma(db: DatabaseSync, name: string, value: string, expected: string | number = value): void {
  db.exec(`PRAGMA ${name} = ${value}`);
  const got = db.prepare(`PRAGMA ${name}`).get()?.[name];
  if (got !== expected) throw new UserError(`SQLite did not accept ${name} = ${value} for this database (it says ${got})`);
}

const BUSY = 5;
const LOCKED = 6;
const READONLY = 8;
const IO_ERROR = 10;
const CORRUPT = 11;
const FULL = 13;
const CANT_OPEN = 14;
const CONSTRAINT = 19;
const NOT_A_DATABASE = 26;
const AWAY = new Set([BUSY, LOCKED, READONLY, IO_ERROR, CORRUPT, FULL, CANT_OPEN, NOT_A_DATABASE]);

/** SQLite's primary result code, or undefined where the error is not SQLite's. */
function sqliteCode(error: unknown): number | undefined {
  if (!(error instanceof Error) || !("errcode" in error) || typeof error.errcode !== "number") return undefined;
  return error.errcode & 0xff;
}

const isBusy = (error: unknown): boolean => sqliteCode(error) === BUSY;
/** Of the file system: a folder that cannot be made, a file in its place. */
export function isFileError(error: unknown): boolean {
  return error instanceof Error && "syscall" in error;
}

/** The file holds what SQLite cannot have written. */
export const isDamaged = (error: unknown): boolean => sqliteCode(error) === CORRUPT;
export const isAgainstConstraint = (error: unknown): boolean => sqliteCode(error) === CONSTRAINT;
export const isNotADatabase = (error: unknown): boolean => sqliteCode(error) === NOT_A_DATABASE;
export const isSqliteError = (error: unknown): boolean => sqliteCode(error) !== undefined;

/** A disk, lock or file that is not there now is the port's `store_unavailable`; anything else is a fault of ours. */
export function asRefusal(error: unknown): unknown {
  if (error instanceof RequestError) return error;
  const code = sqliteCode(error);
  return code !== undefined && AWAY.has(code) ? storeUnavailable(error) : error;
}
