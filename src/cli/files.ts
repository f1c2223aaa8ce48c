// Files that commands read and write. New ones are complete before they appear, and never those of the database.

import { accessSync, chmodSync, constants, existsSync, realpathSync, statSync } from "node:fs";
import { basename, dirname, join } from "node:path";
import { UserError } from "../domain/errors.ts";
import { renameDurably, withTemporaryFile } from "../store/files.ts";
import { databaseFiles } from "../store/open.ts";

/** `-` is stdin. */
export function requireReadable(file: string): void {
  if (file === "-") return;
  const stats = statSync(file, { throwIfNoEntry: false });
  if (stats === undefined) throw new UserError(`no such file: ${file}`);
  if (stats.isDirectory()) throw new UserError(`${file} is a folder; name the files in it`);
  try {
    accessSync(file, constants.R_OK);
  } catch {
    throw new UserError(`no permission to read ${file}`);
  }
}

/** Rejects files of the database, also under other names, and paths at which no file can be. */
export function rejectDatabaseFile(file: string, databaseUrl: string): void {
  const folder = dirname(file);
  if (statSync(file, { throwIfNoEntry: false })?.isDirectory() === true) {
    throw new UserError(`${file} is a folder; name a file in it`);
  }
  if (!existsSync(folder)) throw new UserError(`cannot write ${file}: no such folder: ${folder}`);
  if (databaseFiles(databaseUrl).some((own) => isSameFile(own, file)))
    throw new UserError(`${file} is a file of the database itself; name another file`);
}

/** Also through links, or in a folder with two paths. */
export function isSameFile(one: string, other: string): boolean {
  return realPath(one) === realPath(other) || inodeOf(one) === inodeOf(other);
}

/** Resolves links in the path of a file that may not exist yet. */
function realPath(file: string): string {
  try {
    return realpathSync(file);
  } catch {
    return dirname(file) === file ? file : join(realPath(dirname(file)), basename(file));
  }
}

function inodeOf(file: string): string | symbol {
  const stats = statSync(file, { bigint: true, throwIfNoEntry: false });
  return stats === undefined ? Symbol() : `${stats.dev} ${stats.ino}`;
}

/** An orderly exit removes temporary files. */
export function exitOnSignals(): void {
  for (const signal of ["SIGINT", "SIGTERM"]) process.once(signal, () => process.exit(130));
}

/** An error of the file system in one line; others unchanged. */
export function cannotWrite(file: string, error: unknown): unknown {
  if (!(error instanceof Error && "syscall" in error)) return error;
  // Without the path, which may be that of a temporary file.
  return new UserError(`cannot write ${file}: ${error.message.replace(/, \w+(?: '.*)?$/, "")}`);
}

/** `file` appears, or is replaced, once `write` has written and synced all of it to another path. An existing file keeps its mode. */
export async function writeAtomically(file: string, write: (partial: string) => Promise<void>): Promise<void> {
  exitOnSignals();
  await withTemporaryFile(`${file}.partial`, async (partial) => {
    await write(partial);
    copyMode(file, partial);
    await renameDurably(partial, file);
  });
}

/** Of a file that may not exist. */
export function copyMode(from: string, to: string): void {
  const existing = statSync(from, { throwIfNoEntry: false });
  if (existing !== undefined) chmodSync(to, existing.mode & 0o777);
}
