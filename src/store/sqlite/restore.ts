// Replaces the database file by a backup: copied beside it, checked, then renamed.

import { chmodSync, chownSync, existsSync, linkSync, mkdirSync, realpathSync, renameSync, rmSync, statSync } from "node:fs";
import { copyFile } from "node:fs/promises";
import { dirname } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { RequestError, UserError } from "../../domain/errors.ts";
import type { CheckTotals, Restored, RestoreOptions } from "../../domain/store.ts";
import { requireConsistent } from "../check/check.ts";
import { DELETE_SESSIONS_AND_SIGN_INS } from "../core/account-tables.ts";
import { raiseSequence } from "../core/alert-tables.ts";
import { renameDurably, sync, syncFolder, withTemporaryFile } from "../files.ts";
import { diskFullError, isBusy, isDamaged, isNotADatabase, isSqliteError } from "./connection.ts";
import { requireOwnDatabase } from "./schema.ts";
import { openSqlite } from "./store.ts";

export async function restoreSqlite(file: string, backup: string, options: RestoreOptions): Promise<Restored> {
  if (existsSync(`${backup}-wal`)) {
    throw new UserError(`${backup} is in use, or was not closed: its -wal file exists. Copy it with "npx tank-monitor backup"`);
  }
  const target = existsSync(file) ? realpathSync(file) : file;
  if (!options.force) await requireReplaceable(target);
  using _lock = lockDatabase(target);
  return withTemporaryFile(`${target}.restore`, async (copy) => {
    mkdirSync(dirname(target), { recursive: true });
    await copyFile(backup, copy);
    setOwnerAndMode(copy, target);
    const totals = await check(copy, backup, options);
    adjust(copy);
    await sync(copy, "r+");
    const kept = moveAside(target);
    // Durable before the new file appears, so that a log of the previous one is never beside it.
    await syncFolder(dirname(target));
    await renameDurably(copy, target);
    return { totals, kept };
  });
}

/**
 * Copies owner and mode of the replaced file; a new file is private. What root restores belongs to the user of the service, whoever
 * owns the backup.
 */
function setOwnerAndMode(copy: string, target: string): void {
  const replaced = statSync(target, { throwIfNoEntry: false });
  if (process.geteuid?.() === 0) {
    const { uid, gid } = replaced ?? statSync(dirname(target));
    chownSync(copy, uid, gid);
  }
  chmodSync(copy, (replaced?.mode ?? 0o600) & 0o777);
}

/** Whether the file is empty or does not exist. */
const isZeroBytes = (file: string): boolean => (statSync(file, { throwIfNoEntry: false })?.size ?? 0) === 0;

/** The logs of a database. SQLite applies one that it finds to the database of that name, whatever it contains. */
const LOGS = ["-wal", "-journal"];

async function requireReplaceable(file: string): Promise<void> {
  const log = LOGS.map((suffix) => file + suffix).find(existsSync);
  if (isZeroBytes(file) && log !== undefined) {
    throw new UserError(`${log} is left over from a previous database and may contain data; --force keeps it under another name`);
  }
  if (!(await isEmpty(file))) throw new UserError(`${file} is not empty; --force replaces it and keeps the old one beside it`);
}

async function isEmpty(file: string): Promise<boolean> {
  if (isZeroBytes(file)) return true;
  try {
    const store = await openSqlite(file, () => {}, false);
    return await store.isEmpty().finally(store.close);
  } catch (error) {
    // A damaged file, or one of another program or version, may have data.
    if (error instanceof UserError || error instanceof RequestError) return false;
    throw error;
  }
}

/** A connection that keeps all others out until it is closed; none if there is no file, or one that SQLite cannot read. */
function lockDatabase(file: string): DatabaseSync | undefined {
  // SQLite would remove the log of an empty file.
  if (isZeroBytes(file)) return undefined;
  let db: DatabaseSync | undefined;
  try {
    db = new DatabaseSync(file, { timeout: 0 });
    // Leaves WAL mode, which needs that no other connection is open, and moves what is in the log to the database.
    db.exec("PRAGMA journal_mode = DELETE");
    db.exec("BEGIN EXCLUSIVE");
    const { journal_mode } = db.prepare("PRAGMA journal_mode").get() ?? {};
    if (journal_mode !== "delete") throw inUse(file);
    return db;
  } catch (error) {
    db?.close();
    if (isDamaged(error) || isNotADatabase(error)) return undefined;
    if (isBusy(error)) throw inUse(file);
    if (!isSqliteError(error)) throw error;
    const full = diskFullError(error, file);
    if (full !== undefined) throw full;
    throw new UserError(`${file} cannot be opened (${(error as Error).message}). Check the path and its permissions.`);
  }
}

function inUse(file: string): UserError {
  return new UserError(`${file} is in use. Stop the service, and other commands, first`);
}

async function check(copy: string, backup: string, { progress, onFinding }: RestoreOptions): Promise<CheckTotals> {
  requireBackup(copy, backup);
  const store = await openSqlite(copy, () => {}, false);
  return requireConsistent(store.check(false, progress), backup, onFinding).finally(store.close);
}

/** What must not be as it was in the backup. */
function adjust(copy: string): void {
  const db = new DatabaseSync(copy);
  try {
    db.exec(DELETE_SESSIONS_AND_SIGN_INS);
    db.exec(raiseSequence(Date.now()));
  } finally {
    db.close();
  }
}

function requireBackup(copy: string, backup: string): void {
  const db = new DatabaseSync(copy);
  try {
    requireOwnDatabase(db, backup, false);
  } catch (error) {
    if (error instanceof UserError && error.code === "schema_mismatch") throw error;
    throw new UserError(
      `${backup} is not a backup of a SQLite database of Tank Monitor, or is incomplete or damaged: copy the backup again`,
    );
  } finally {
    db.close();
  }
}

/** Gives the database and its logs other names beside their own, and returns those. A log may be there without its database. */
function moveAside(file: string): string[] {
  const name = `${file}.before-restore-${new Date().toISOString().replaceAll(/\W/g, "")}`;
  const kept: string[] = [];
  if (existsSync(file)) {
    linkSync(file, name);
    kept.push(name);
  }
  for (const suffix of LOGS.filter((log) => existsSync(file + log))) {
    renameSync(file + suffix, name + suffix);
    kept.push(name + suffix);
  }
  rmSync(`${file}-shm`, { force: true });
  return kept;
}
