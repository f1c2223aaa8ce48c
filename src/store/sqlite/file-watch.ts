// Watches whether the files of the database are still those that were opened, and whole. SQLite continues to read and write files
// that were moved away or removed, to read pages in memory of one that was overwritten, and to write behind the former end of a
// write-ahead log (WAL) that was truncated; what is acknowledged then is lost to the operator.

import { closeSync, fstatSync, openSync, readSync, type Stats, statSync } from "node:fs";
import type { DatabaseSync, StatementSync } from "node:sqlite";
import { isDamaged, isNotADatabase, openReader } from "./connection.ts";

const CHECK_INTERVAL_MS = 500;

/** The WAL: https://sqlite.org/fileformat2.html#walformat */
const WAL_HEADER_BYTES = 32;
const FRAME_HEADER_BYTES = 24;
const WAL_MAGIC = [0x377f0682, 0x377f0683];
/** Between the two steps of an attempt, another process may empty the WAL or begin it again. */
const MAX_ATTEMPTS = 5;

/** The files of an open database. While a connection is open SQLite neither removes nor replaces any of them. */
export class OpenFiles {
  readonly #file: string;
  readonly #inodes = new Map<string, number>();
  readonly #wal: number;
  /** Changes nothing; returns the number of frames in the WAL. */
  readonly #checkpoint: StatementSync;
  readonly #frameBytes: number;

  /** Create it after the connection has read, so that the -wal and -shm files exist. */
  constructor(file: string, db: DatabaseSync) {
    this.#file = file;
    this.#wal = openSync(`${file}-wal`, "r");
    this.#checkpoint = db.prepare("PRAGMA wal_checkpoint(NOOP)");
    this.#frameBytes = FRAME_HEADER_BYTES + Number(db.prepare("PRAGMA page_size").get()?.["page_size"]);
    this.lossReason();
  }

  /** Why what is written now would be lost. The connection must not be in a transaction. */
  lossReason(): string | undefined {
    for (const file of [this.#file, `${this.#file}-wal`, `${this.#file}-shm`]) {
      const found = statusOf(file);
      const inode = typeof found === "string" ? found : found.ino;
      const known = this.#inodes.get(file);
      if (typeof inode === "number" && known === undefined) this.#inodes.set(file, inode);
      else if (inode !== known) return this.#describe(file, inode);
    }
    return this.walLossReason();
  }

  /** The part of it that costs least. */
  walLossReason(): string | undefined {
    try {
      for (let attempt = 1; attempt <= MAX_ATTEMPTS; attempt++) {
        const frames = Number(this.#checkpoint.get()?.["log"]);
        if (frames === 0 || this.#isWalWhole(frames)) return undefined;
      }
    } catch {
      // What is damaged, locked or unreadable is reported by the calls that need it.
      return undefined;
    }
    return `${this.#file}-wal was truncated while in use; end the service with SIGKILL, start it again, and run check`;
  }

  /** The WAL has these frames, and its beginning, without which none of them is found after a crash. */
  #isWalWhole(frames: number): boolean {
    if (fstatSync(this.#wal).size < WAL_HEADER_BYTES + frames * this.#frameBytes) return false;
    const magic = Buffer.alloc(4);
    readSync(this.#wal, magic, 0, magic.length, 0);
    return WAL_MAGIC.includes(magic.readUInt32BE());
  }

  close(): void {
    closeSync(this.#wal);
  }

  #describe(file: string, inode: number | string): string {
    if (file !== this.#file) return `${file} was removed or replaced while in use; stop the service normally, and start it again`;
    if (typeof inode === "string") return `${file} cannot be found: ${inode}`;
    return `${file} was replaced while in use; restart to serve the new file`;
  }
}

/** The file's status, or why it cannot be read. */
function statusOf(file: string): Stats | string {
  try {
    return statSync(file);
  } catch (error) {
    return (error as Error).message;
  }
}

/** `onChange` gets the reason when the database is lost, and undefined when it is back. Returns the function that stops watching. */
export function watchFiles(file: string, db: DatabaseSync, onChange: (lost: string | undefined) => void): () => void {
  const files = new OpenFiles(file, db);
  let lost: string | undefined;
  let checkedAt: number | undefined;
  let knownSize = 0;

  function damageReason(): string | undefined {
    const found = statusOf(file);
    if (typeof found === "string") return undefined;
    const { mtimeMs, size } = found;
    if (mtimeMs === checkedAt && lost === undefined) return undefined;
    checkedAt = mtimeMs;
    // SQLite would remove the WAL of an empty file.
    const damage = size === 0 ? "it is empty" : damageIn(file, size < knownSize ? size : undefined);
    if (damage === undefined) knownSize = size;
    return damage && `${file} is damaged (${damage}); stop the service and restore a backup`;
  }

  function check(): void {
    const before = lost;
    lost = files.lossReason() ?? damageReason();
    if (lost !== before) onChange(lost);
  }

  check();
  const timer = setInterval(check, CHECK_INTERVAL_MS);
  timer.unref();
  return () => {
    clearInterval(timer);
    files.close();
  };
}

/** Reads the first page on a new connection, which has nothing in memory. A file that has shrunk has its size in `shrunkTo`. */
function damageIn(file: string, shrunkTo: number | undefined): string | undefined {
  try {
    const db = openReader(file);
    try {
      db.prepare("SELECT count(*) FROM sqlite_schema").get();
      const { bytes } = db.prepare("SELECT page_count * page_size AS bytes FROM pragma_page_count, pragma_page_size").get() ?? {};
      return shrunkTo !== undefined && Number(bytes) > shrunkTo ? `it was truncated to ${shrunkTo} bytes` : undefined;
    } finally {
      db.close();
    }
  } catch (error) {
    return isDamaged(error) || isNotADatabase(error) ? (error as Error).message : undefined;
  }
}
