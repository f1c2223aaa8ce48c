// Watches whether the database file is still the one that was opened, and whole. SQLite continues to read and write a file that
// was moved away, and to read pages in memory of one that was overwritten; what is acknowledged then is lost to the operator.

import { stat } from "node:fs/promises";
import { isDamaged, isNotADatabase, openReader } from "./connection.ts";

const CHECK_INTERVAL_MS = 500;

/** `changed` gets the reason when the file is lost, and undefined when it is back. Returns the function that stops watching. */
export async function watchFile(file: string, changed: (lost: string | undefined) => void): Promise<() => void> {
  let inode: number | undefined;
  let lost: string | undefined;
  let checkedAt: number | undefined;
  let knownSize = 0;
  let isStopped = false;

  async function lossReason(): Promise<string | undefined> {
    try {
      const { ino, mtimeMs, size } = await stat(file);
      inode ??= ino;
      if (ino !== inode) return `${file} was replaced while in use; restart to serve the new file`;
      if (isStopped || (mtimeMs === checkedAt && lost === undefined)) return undefined;
      checkedAt = mtimeMs;
      // SQLite would remove the log of an empty file.
      const damage = size === 0 ? "it is empty" : damageIn(file, size < knownSize ? size : undefined);
      if (damage === undefined) knownSize = size;
      return damage && `${file} is damaged (${damage}); stop the service and restore a backup`;
    } catch (error) {
      return `${file} cannot be found: ${(error as Error).message}`;
    }
  }

  async function check(): Promise<void> {
    const before = lost;
    lost = await lossReason();
    if (lost !== before) changed(lost);
  }

  await check();
  const timer = setInterval(() => void check(), CHECK_INTERVAL_MS);
  timer.unref();
  return () => {
    isStopped = true;
    clearInterval(timer);
  };
}

/** Reads the first page on a new connection, which has nothing in memory. A file that has shrunk has its size in `shrunkTo`. */
function damageIn(file: string, shrunkTo: number | undefined): string | undefined {
  try {
    const db = openReader(file);
    try {
      db.prepare("SELECT count(*) FROM sqlite_schema").get();
      const { bytes } = db.prepare("SELECT page_count * page_size AS bytes FROM pragma_page_count, pragma_page_size").get() ?? {};
      return shrunkTo !== undefined && Number(bytes) > shrunkTo ? `it has been cut off at ${shrunkTo} bytes` : undefined;
    } finally {
      db.close();
    }
  } catch (error) {
    return isDamaged(error) || isNotADatabase(error) ? (error as Error).message : undefined;
  }
}
