// How a page of an ordered series is found: the one place that counts and skips. For now by COUNT and OFFSET, whose cost
// grows with what they walk over.

import type { DatabaseSync, SQLInputValue, StatementSync } from "node:sqlite";
import type { PageQuestion } from "../../domain/page.ts";

const EARLIEST = Number.MIN_SAFE_INTEGER;
const LATEST = Number.MAX_SAFE_INTEGER;

export type Row = readonly SQLInputValue[];

export type SeriesSql = {
  readonly columns: string;
  /** The table and the condition that selects the series, with a `?` for each part of its key. */
  readonly from: string;
  /** Newest first. */
  readonly order: string;
};

/** A selection with an order. */
export class Series {
  readonly #count: StatementSync;
  readonly #countBetween: StatementSync;
  readonly #rows: StatementSync;
  readonly #rowsBetween: StatementSync;

  constructor(db: DatabaseSync, { columns, from, order }: SeriesSql) {
    const between = `${from} AND created_at BETWEEN ? AND ?`;
    const page = `ORDER BY ${order} LIMIT ? OFFSET ?`;
    this.#count = arrayStatement(db, `SELECT count(*) FROM ${from}`);
    this.#countBetween = arrayStatement(db, `SELECT count(*) FROM ${between}`);
    this.#rows = arrayStatement(db, `SELECT ${columns} FROM ${from} ${page}`);
    this.#rowsBetween = arrayStatement(db, `SELECT ${columns} FROM ${between} ${page}`);
  }

  /** `kept` is the count of the whole series, where one is kept. */
  page(key: Row, { from, to, page, size }: PageQuestion, kept?: number): { rows: Row[]; totalItems: number } {
    const isWhole = from === undefined && to === undefined;
    const bounds = isWhole ? key : [...key, from ?? EARLIEST, to ?? LATEST];
    const count = isWhole ? this.#count : this.#countBetween;
    const totalItems = isWhole && kept !== undefined ? kept : Number(firstOf(count.get(...bounds)));
    const skipped = (page - 1) * size;
    if (skipped >= totalItems) return { rows: [], totalItems };
    const rows = isWhole ? this.#rows : this.#rowsBetween;
    return { rows: arrayRows(rows.all(...bounds, size, skipped)), totalItems };
  }
}

export function arrayStatement(db: DatabaseSync, sql: string): StatementSync {
  const statement = db.prepare(sql);
  statement.setReturnArrays(true);
  return statement;
}

/** What a statement with array rows gives; its declared type knows only objects. */
function arrayRows(rows: unknown): Row[] {
  return rows as Row[];
}

export function arrayRow(row: unknown): Row | undefined {
  return row as Row | undefined;
}

function firstOf(row: unknown): SQLInputValue | undefined {
  return arrayRow(row)?.[0];
}
