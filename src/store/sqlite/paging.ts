// How a page of a list is found: ranks from the milestones, then a walk of at most a gap and a page.

import type { DatabaseSync, StatementSync } from "node:sqlite";
import type { PageQuery } from "../../domain/page.ts";
import { EARLIEST, GAP_MOST, LATEST } from "../series/levels.ts";
import { type ListKind, seriesOf } from "../series/lists.ts";
import { entriesOf, keyValues, LIST_MILESTONES } from "./lists.ts";
import { Milestones } from "./milestones.ts";
import { arrayRow, arrayRows, arrayStatement, type Row } from "./rows.ts";

export type RowPage = { readonly rows: Row[]; readonly totalItems: number };

export class List {
  readonly #kind: ListKind;
  readonly #milestones: Milestones;
  readonly #count: StatementSync;
  readonly #countFrom: StatementSync;
  readonly #newest: StatementSync;
  readonly #rowsFrom: StatementSync;

  constructor(db: DatabaseSync, kind: ListKind, columns: string) {
    const entries = entriesOf(kind);
    this.#kind = kind;
    this.#milestones = new Milestones(db, LIST_MILESTONES);
    this.#count = arrayStatement(db, `SELECT count(*) ${entries} AND created_at BETWEEN ? AND ?`);
    this.#countFrom = arrayStatement(db, `SELECT count(*) ${entries} AND (created_at, id) >= (?, ?) AND created_at < ?`);
    this.#newest = arrayStatement(
      db,
      `SELECT ${columns} ${entries} AND created_at BETWEEN ? AND ? ORDER BY created_at DESC, id DESC LIMIT ? OFFSET ?`,
    );
    this.#rowsFrom = arrayStatement(
      db,
      `SELECT ${columns} ${entries} AND (created_at, id) >= (?, ?) ORDER BY created_at, id LIMIT ? OFFSET ?`,
    );
  }

  page(key: string | null, { from = EARLIEST, to = LATEST, page, size }: PageQuery): RowPage {
    const series = seriesOf(this.#kind, key);
    const values = keyValues(this.#kind, key);
    const skipped = (page - 1) * size;
    const root = this.#milestones.root(series);
    if (root === undefined) {
      const totalItems = Number(arrayRow(this.#count.get(...values, from, to))?.[0]);
      return { rows: this.#near(values, from, to, size, skipped, totalItems), totalItems };
    }
    const rank = (instant: number): number => {
      const { at, ahead } = this.#milestones.gapBefore(series, root, instant);
      return ahead + Number(arrayRow(this.#countFrom.get(...values, ...(at as Row), instant))?.[0]);
    };
    const lower = from === EARLIEST ? 0 : rank(from);
    const upper = rank(to === LATEST ? LATEST : to + 1);
    const totalItems = Math.max(0, upper - lower);
    if (skipped <= GAP_MOST) return { rows: this.#near(values, from, to, size, skipped, totalItems), totalItems };
    const end = upper - skipped;
    const start = Math.max(lower, end - size);
    if (start >= end) return { rows: [], totalItems };
    const { at, ahead } = this.#milestones.gapOf(series, root, start);
    return { rows: arrayRows(this.#rowsFrom.all(...values, ...(at as Row), end - start, start - ahead)).reverse(), totalItems };
  }

  /** Not far from the newest: what is skipped is walked over. */
  #near(values: Row, from: number, to: number, size: number, skipped: number, total: number): Row[] {
    return skipped < total ? arrayRows(this.#newest.all(...values, from, to, size, skipped)) : [];
  }
}
