// How a page of an ordered series is found: the one place that counts and skips. For now by COUNT and OFFSET, whose cost
// grows with what they walk over.

import type { DatabaseSync, SQLInputValue, StatementSync } from "node:sqlite";
import type { PageQuestion } from "../../domain/page.ts";

const EARLIEST = Number.MIN_SAFE_INTEGER;
const LATEST = Number.MAX_SAFE_INTEGER;

export type Row = readonly SQLInputValue[];

/**
 * A series is a selection with an order, newest first:
 * `count` ends in "created_at BETWEEN ? AND ?", `rows` in "… BETWEEN ? AND ? ORDER BY … LIMIT ? OFFSET ?".
 */
export class Series {
  readonly #count: StatementSync;
  readonly #rows: StatementSync;

  constructor(db: DatabaseSync, count: string, rows: string) {
    this.#count = arrayStatement(db, count);
    this.#rows = arrayStatement(db, rows);
  }

  /** To be called inside a snapshot. `kept` is the count of the whole series, where one is kept. */
  page(key: Row, question: PageQuestion, kept?: number): { rows: Row[]; totalItems: number } {
    const { from, to, page, size } = question;
    const bounds = [...key, from ?? EARLIEST, to ?? LATEST];
    const whole = from === undefined && to === undefined;
    const totalItems = whole && kept !== undefined ? kept : Number(firstOf(this.#count.get(...bounds)));
    const skipped = (page - 1) * size;
    const rows = skipped >= totalItems ? [] : arrayRows(this.#rows.all(...bounds, size, skipped));
    return { rows, totalItems };
  }
}

export function arrayStatement(db: DatabaseSync, sql: string): StatementSync {
  const statement = db.prepare(sql);
  statement.setReturnArrays(true);
  return statement;
}

/** What a statement with array rows gives; its declared type knows only objects. */
export function arrayRows(rows: unknown): Row[] {
  return rows as Row[];
}

export function arrayRow(row: unknown): Row | undefined {
  return row as Row | undefined;
}

function firstOf(row: unknown): SQLInputValue | undefined {
  return arrayRow(row)?.[0];
}

/** Runs several statements on one state of the database. Synchronous: nothing is awaited while a read is open. */
export class Snapshot {
  readonly #begin: StatementSync;
  readonly #end: StatementSync;

  constructor(db: DatabaseSync) {
    this.#begin = db.prepare("BEGIN");
    this.#end = db.prepare("COMMIT");
  }

  take<T>(look: () => T): T {
    this.#begin.run();
    try {
      return look();
    } finally {
      this.#end.run();
    }
  }
}
