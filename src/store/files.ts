// Files that are written under a temporary name, and renamed when they are complete.

import { randomBytes } from "node:crypto";
import { renameSync, rmSync } from "node:fs";
import { open } from "node:fs/promises";
import { dirname } from "node:path";

/** What follows the name of a SQLite database in the names of its files. */
export const DATABASE_SUFFIXES = ["", "-wal", "-shm", "-journal"] as const;

/** An error of the file system, such as a folder that cannot be created, or a full disk. */
export const isFileError = (error: unknown): boolean => error instanceof Error && "syscall" in error;

export function removeDatabase(file: string): void {
  for (const suffix of DATABASE_SUFFIXES) rmSync(file + suffix, { force: true });
}

/** `work` gets a new name that begins with `name`. The file, or database, is removed if it still has it in the end, or at an exit. */
export async function withTemporaryFile<T>(name: string, work: (file: string) => Promise<T>): Promise<T> {
  const file = `${name}-${randomBytes(4).toString("hex")}`;
  const remove = (): void => removeDatabase(file);
  process.once("exit", remove);
  try {
    return await work(file);
  } finally {
    remove();
    process.off("exit", remove);
  }
}

/** The new name lasts, also after a power cut. */
export async function renameDurably(from: string, to: string): Promise<void> {
  renameSync(from, to);
  await syncFolder(dirname(to));
}

export async function syncFolder(folder: string): Promise<void> {
  // Windows cannot sync a folder.
  if (process.platform !== "win32") await sync(folder, "r");
}

export async function sync(path: string, flags: string): Promise<void> {
  const handle = await open(path, flags);
  await handle.sync().finally(() => handle.close());
}
