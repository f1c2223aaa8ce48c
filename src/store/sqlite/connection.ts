// Opens connections, sets their pragmas, and classifies SQLite's errors.

import { closeSync, mkdirSync, openSync, statfsSync, statSync } from "node:fs";
import { dirname } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { DamageError, dataDamaged, isDiskFull, RequestError, storeUnavailable, UserError } from "../../domain/errors.ts";

/** The one writing connection of a process. Creates a missing file; `check` runs before anything is changed. */
export function openWriter(file: string, check: (db: DatabaseSync) => void = () => {}): DatabaseSync {
  mkdirSync(dirname(file), { recursive: true });
  createPrivateFile(file);
  const { ino } = statSync(file);
  const db = new DatabaseSync(file, { enableForeignKeyConstraints: true, timeout: 0 });
  try {
    for (const step of [check, setUp]) {
      retryWhileBusy(() => step(db));
      // A backup may have been restored while this waited for the lock.
      if (statSync(file).ino === ino) continue;
      db.close();
      return openWriter(file, check);
    }
  } catch (error) {
    if (db.isOpen) db.close();
    throw error;
  }
  return db;
}

/** Only its owner may read what this process creates; SQLite gives the -wal and -shm files the same mode. */
export function createPrivateFile(file: string): void {
  try {
    closeSync(openSync(file, "wx", 0o600));
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "EEXIST") throw error;
  }
}

function setUp(db: DatabaseSync): void {
  // Readers continue during writes, and a commit is one append and one fsync.
  expectPragma(db, "journal_mode", "wal");
  // FULL syncs the log at every commit, so that acknowledged writes survive a power cut.
  expectPragma(db, "synchronous", "FULL", 2);
  expectPragma(db, "foreign_keys", "ON", 1);
  // The log shrinks again after a long read.
  db.exec("PRAGMA journal_size_limit = 67108864");
}

const LOCK_WAIT_MS = 10_000;
const LOCK_POLL_MS = 1;
const sleeper = new Int32Array(new SharedArrayBuffer(4));

export function sleep(milliseconds: number): void {
  Atomics.wait(sleeper, 0, 0, milliseconds);
}

/**
 * Retries every millisecond while another process writes. SQLite's own busy handler backs off to 100 ms and starves beside a
 * busy importer, and does not wait at all when two processes create a database at once.
 */
export function retryWhileBusy<T>(work: () => T): T {
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

/** A connection that cannot write. */
export function openReader(file: string): DatabaseSync {
  const db = new DatabaseSync(file, { readOnly: true, timeout: 250 });
  // 8 MiB holds the hot pages of a large fleet.
  db.exec("PRAGMA cache_size = -8192");
  db.exec("PRAGMA query_only = ON");
  return db;
}

/** Reads on a connection of its own, which is closed when the results have been read. */
export async function* withReader<T, R>(
  file: string,
  read: (db: DatabaseSync) => AsyncGenerator<T, R, void>,
): AsyncGenerator<T, R, void> {
  let db: DatabaseSync | undefined;
  try {
    db = openReader(file);
    return yield* read(db);
  } catch (error) {
    throw translateError(error);
  } finally {
    db?.close();
  }
}

function expectPragma(db: DatabaseSync, name: string, value: string, expected: string | number = value): void {
  db.exec(`PRAGMA ${name} = ${value}`);
  const got = db.prepare(`PRAGMA ${name}`).get()?.[name];
  if (got !== expected) throw new UserError(`SQLite did not accept ${name} = ${value} for this database (it is ${got})`);
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
const UNAVAILABLE = new Set([BUSY, LOCKED, READONLY, IO_ERROR, FULL, CANT_OPEN, NOT_A_DATABASE]);

/** An extended result code: https://sqlite.org/rescode.html#ioerr_read */
const READ_ERROR = 266;

/** Somebody has dropped or renamed it. */
const MISSING = /^no such (table|column|index):|^table \S+ has no column named /;

/** SQLite's primary result code, or undefined for other errors. */
function sqliteCode(error: unknown): number | undefined {
  if (!(error instanceof Error) || !("errcode" in error) || typeof error.errcode !== "number") return undefined;
  return error.errcode & 0xff;
}

export const isBusy = (error: unknown): boolean => sqliteCode(error) === BUSY;
/** A stored integer is larger than any that is written. */
const isOutOfRange = (error: unknown): boolean =>
  error instanceof RangeError && "code" in error && error.code === "ERR_OUT_OF_RANGE";
/** The file is damaged, or the disk cannot read a part of it. */
export const isDamaged = (error: unknown): boolean =>
  sqliteCode(error) === CORRUPT || (error instanceof Error && "errcode" in error && error.errcode === READ_ERROR);
export const isConstraintError = (error: unknown): boolean => sqliteCode(error) === CONSTRAINT;
export const isNotADatabase = (error: unknown): boolean => sqliteCode(error) === NOT_A_DATABASE;
export const isSqliteError = (error: unknown): boolean => sqliteCode(error) !== undefined;

/** What a full disk prevents; undefined for other errors. Where SQLite cannot extend its -shm file, it says "disk I/O error". */
export function diskFullError(error: unknown, file: string): UserError | undefined {
  const isFull = isDiskFull(error) || (sqliteCode(error) === IO_ERROR && statfsSync(dirname(file)).bavail === 0);
  return isFull ? new UserError(`the disk of ${file} is full. Free some space, then run this again.`) : undefined;
}

/** `store_unavailable` for errors of disk, lock, file or schema, `data_damaged` for damage; other errors are bugs and stay as they are. */
export function translateError(error: unknown): unknown {
  if (error instanceof RequestError) return error;
  if (error instanceof DamageError || isDamaged(error) || isOutOfRange(error)) return dataDamaged(error);
  const code = sqliteCode(error);
  const isUnavailable = code !== undefined && (UNAVAILABLE.has(code) || MISSING.test((error as Error).message));
  return isUnavailable ? storeUnavailable(error) : error;
}
