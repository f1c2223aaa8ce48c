// The embedded store: SQLite through `node:sqlite`. The serving thread reads on a connection of its own; writes go to the
// writer thread, and reads that may be long to the reader thread.

import { randomBytes } from "node:crypto";
import { existsSync } from "node:fs";
import { backup, type DatabaseSync } from "node:sqlite";
import { DEFAULT_ALERT_SETTINGS } from "../../domain/alerts/evaluate.ts";
import { UserError } from "../../domain/errors.ts";
import type { Observe } from "../../domain/log-events.ts";
import type { IngestResult } from "../../domain/reading.ts";
import type { ExportRecord, Progress, Store } from "../../domain/store.ts";
import { type ExportSql, exportRecords } from "../core/export.ts";
import type { Snapshot } from "../core/scan.ts";
import { type Engine, StoreHealth, storeOn } from "../core/store.ts";
import type { WriteResult } from "../core/writes.ts";
import { isFileError, removeDatabase } from "../files.ts";
import {
  createPrivateFile,
  diskFullError,
  isDamaged,
  isNotADatabase,
  isSqliteError,
  openReader,
  openWriter,
  retryWhileBusy,
  translateError,
  withReader,
} from "./connection.ts";
import { watchFiles } from "./file-watch.ts";
import type { ReaderThreadReads } from "./reader-thread.ts";
import { readsOn } from "./reads.ts";
import { createSchema, DIALECT, noDatabase, requireOwnDatabase } from "./schema.ts";
import { tolerantQuery } from "./statements.ts";
import { StoreThread } from "./thread.ts";

const WRITER = new URL("./writer-thread.ts", import.meta.url);
const READER = new URL("./reader-thread.ts", import.meta.url);

export async function openSqlite(
  file: string,
  observe: Observe,
  mayCreate: boolean,
  alerts = DEFAULT_ALERT_SETTINGS,
): Promise<Store> {
  if (!mayCreate && !existsSync(file)) throw noDatabase(file);
  const { db, closedLast } = openDatabase(file, mayCreate);
  const health = new StoreHealth(observe);
  const writer = new StoreThread(WRITER, { file, alerts }, (reason) => health.writes.lose(reason), observe);
  const reader = new StoreThread(READER, { file, alerts }, (reason) => health.reads.lose(reason), observe);
  const reads = retryWhileBusy(() => readsOn(db));
  const stopWatching = watchFiles(file, db, (lost) => {
    health.fileLossReason = lost;
  });

  function threaded<N extends keyof ReaderThreadReads>(name: N) {
    return (...args: Parameters<ReaderThreadReads[N]>) =>
      reader.call(name, args) as Promise<Awaited<ReturnType<ReaderThreadReads[N]>>>;
  }

  const engine: Engine = {
    reads: {
      ...reads,
      customerSearch: threaded("customerSearch"),
      tankSearch: threaded("tankSearch"),
      deviceSearch: threaded("deviceSearch"),
      fleetPage: threaded("fleetPage"),
      fleetMap: threaded("fleetMap"),
      scanFleet: threaded("scanFleet"),
      historyColumns: threaded("historyColumns"),
      fleetCounts: threaded("fleetCounts"),
      notificationCounts: threaded("notificationCounts"),
      auditPage: threaded("auditPage"),
      alertPage: threaded("alertPage"),
      notificationPage: threaded("notificationPage"),
      channelStatus: threaded("channelStatus"),
      checkProvision: threaded("checkProvision"),
    },
    write: (name, ...args) => writer.call(name, args) as Promise<WriteResult<typeof name>>,
    ingest: (batch) => writer.call("ingest", [batch]) as Promise<IngestResult>,
    addDamagedTank: (damagedTank) => writer.send({ damagedTank }),
    backup: (to, progress) => copy(file, to, progress),
    scratchCopy: (progress) => openCopy(file, progress, observe),
    exportRecords: () => exportFile(file),
    async *check(repair, progress) {
      // Only the command needs this code.
      const { checkFile } = await import("./check.ts");
      return yield* checkFile(file, repair ? writer : undefined, progress);
    },
    translateError,
    async close() {
      stopWatching();
      db.close();
      await reader.close();
      await writer.close();
      closedLast.close();
    },
  };
  return storeOn(engine, observe, health);
}

/**
 * Returns a connection to read, and one to close last: the last connection to close empties the log, and only one that may
 * write can do so. Whatever prevents opening is reported to the operator in one line.
 */
function openDatabase(file: string, mayCreate: boolean): { db: DatabaseSync; closedLast: DatabaseSync } {
  try {
    // Another process may be creating or closing the database at this moment.
    const closedLast = retryWhileBusy(() => openWriter(file, (db) => requireOwnDatabase(db, file, mayCreate)));
    try {
      createSchema(closedLast);
      return { db: retryWhileBusy(() => openReader(file)), closedLast };
    } catch (error) {
      closedLast.close();
      throw error;
    }
  } catch (error) {
    if (isNotADatabase(error)) {
      const reason = "is not a database, or its first page is damaged";
      throw new UserError(`${file} ${reason}. Set DATABASE_URL to another file, or restore a backup.`);
    }
    if (isDamaged(error)) throw new UserError(`${file} is damaged (${(error as Error).message}). Restore a backup.`);
    if (!isSqliteError(error) && !isFileError(error)) throw error;
    const full = diskFullError(error, file);
    if (full !== undefined) throw full;
    const reason = error instanceof Error ? error.message : "";
    throw new UserError(`${file} cannot be opened or created (${reason}). Check the path, its permissions and the disk.`);
  }
}

async function openCopy(file: string, progress: Progress, observe: Observe): Promise<Store> {
  const to = `${file}.copy-${randomBytes(4).toString("hex")}`;
  const remove = (): void => removeDatabase(to);
  process.once("exit", remove);
  try {
    await copy(file, to, progress);
    const store = await openSqlite(to, observe, false);
    return {
      ...store,
      async close() {
        await store.close().finally(remove);
        process.off("exit", remove);
      },
    };
  } catch (error) {
    remove();
    throw error;
  }
}

/** Copies from a connection with an open read: writers continue, and the copy is not restarted for each of them. */
async function copy(file: string, to: string, progress: Progress): Promise<void> {
  const db = openReader(file);
  try {
    db.exec("BEGIN");
    db.prepare("SELECT count(*) FROM sqlite_schema").get();
    createPrivateFile(to);
    await backup(db, to, {
      rate: 2000,
      progress: ({ totalPages, remainingPages }) => progress(totalPages - remainingPages, totalPages),
    });
  } finally {
    db.close();
  }
}

const EXPORT_SQL: ExportSql = {
  key: "pk",
  blockKey: ["pk"],
  tankId: "(SELECT id FROM tank WHERE pk = part.tank)",
  assignments: "json_group_array(json_array(until, tank, checksum) ORDER BY until)",
  dialect: DIALECT,
};

/** The snapshot stays open for as long as the reader takes. */
function exportFile(file: string): AsyncGenerator<ExportRecord> {
  return withReader(file, (db) => {
    const snapshot: Snapshot = {
      rows(sql, values) {
        // An error of the disk ends the snapshot: what is read after it may be newer.
        if (!db.isTransaction) db.exec("BEGIN");
        return tolerantQuery(db, sql).iterate(...values);
      },
      pageCount: () => 0,
      pagesOf: (table) => table,
      translateError,
    };
    return exportRecords(snapshot, EXPORT_SQL);
  });
}
