// Reads of the serving thread, which cost little whatever the size of the database.

import type { DatabaseSync, StatementSync } from "node:sqlite";
import { type ListPages, replicaReads } from "../core/reads.ts";
import { primaryOnlyReads } from "../core/reads-and-tables.ts";
import type { Prepare, RunForIds } from "../core/sql-runner.ts";
import { listPages } from "./list-pages.ts";
import { COLUMN_TYPES, DIALECT } from "./schema.ts";
import { QueryCache } from "./statements.ts";
import { telemetryReads } from "./telemetry-reads.ts";

export function readsOn(db: DatabaseSync) {
  const snapshot = new SharedSnapshot(db);
  const { telemetryPage, readingColumns } = telemetryReads(db);
  const queries = new QueryCache(db);
  const prepare: Prepare = (sql) => {
    const prepared = queries.query(sql);
    return (...values) => snapshot.read(() => prepared.all(...values));
  };
  const runForIds: RunForIds = (...args) => snapshot.read(() => queries.rowsForIds(...args));
  const pages: ListPages = (kind, columns) => {
    const { page } = listPages(db, kind, columns);
    return (...args) => snapshot.read(page, ...args);
  };
  return {
    telemetryPage: (...args: Parameters<typeof telemetryPage>) => snapshot.read(telemetryPage, ...args),
    readingColumns: (...args: Parameters<typeof readingColumns>) => snapshot.read(readingColumns, ...args),
    ...replicaReads(prepare, pages),
    ...primaryOnlyReads({ prepare, runForIds }, DIALECT, [...COLUMN_TYPES.keys()]),
  };
}

type WaitingRead = {
  readonly read: (...args: unknown[]) => unknown;
  readonly args: unknown[];
  readonly resolve: (result: unknown) => void;
  readonly reject: (error: unknown) => void;
};

/**
 * Reads that arrive in one turn of the event loop run together, in one snapshot. Under load that is several times as fast as
 * one by one, since the processor's caches hold either SQLite or the rest of the program. Nothing is awaited in between.
 */
class SharedSnapshot {
  readonly #db: DatabaseSync;
  readonly #begin: StatementSync;
  readonly #end: StatementSync;
  #waiting: WaitingRead[] = [];

  constructor(db: DatabaseSync) {
    this.#db = db;
    this.#begin = db.prepare("BEGIN");
    // In a damaged file COMMIT may fail.
    this.#end = db.prepare("ROLLBACK");
  }

  read<A extends unknown[], T>(read: (...args: A) => T, ...args: A): Promise<T> {
    return new Promise<T>((resolve, reject) => {
      this.#waiting.push({ read, args, resolve, reject } as unknown as WaitingRead);
      if (this.#waiting.length === 1) setImmediate(() => this.#runAll());
    });
  }

  #runAll(): void {
    const waiting = this.#waiting;
    this.#waiting = [];
    for (const { read, args, resolve, reject } of waiting) {
      try {
        // After some errors SQLite has ended the transaction itself.
        if (!this.#db.isTransaction) this.#begin.run();
        resolve(read(...args));
      } catch (error) {
        reject(error);
      }
    }
    if (this.#db.isOpen && this.#db.isTransaction) this.#end.run();
  }
}
