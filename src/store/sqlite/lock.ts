// A lock beside the database file, which the system releases when the process ends, however it ends.

import { mkdirSync } from "node:fs";
import { dirname } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { UserError } from "../../domain/errors.ts";
import { createPrivateFile, isBusy } from "./connection.ts";

/** Undefined if another process has it. */
export function lockSqlite(file: string): AsyncDisposable | undefined {
  const lock = `${file}.lock`;
  let db: DatabaseSync | undefined;
  try {
    mkdirSync(dirname(lock), { recursive: true });
    createPrivateFile(lock);
    db = new DatabaseSync(lock, { timeout: 0 });
    db.exec("BEGIN EXCLUSIVE");
  } catch (error) {
    db?.close();
    if (isBusy(error)) return undefined;
    throw new UserError(`${lock} cannot be opened or created (${(error as Error).message}). Check the path and its permissions.`);
  }
  const opened = db;
  return { [Symbol.asyncDispose]: async () => opened.close() };
}
