// The lists of objects (`series/lists.ts` tells which): their entries, and their milestones.

import type { DatabaseSync, SQLInputValue, StatementSync } from "node:sqlite";
import { endOf, GAP, GAP_MOST, type Gap, originOf, type Position } from "../series/levels.ts";
import { type Entry, type ListKind, type Move, seriesOf } from "../series/lists.ts";
import type { Ways } from "../series/ways.ts";
import { MilestoneKeeper } from "./milestone-keeper.ts";
import type { MilestoneTable } from "./milestones.ts";
import { arrayRow, arrayStatement, type Row } from "./rows.ts";

export const LIST_MILESTONES: MilestoneTable = {
  table: "list_milestone",
  series: "series",
  key: ["created_at", "id"],
  nodes: ["created_ats", "ids"],
};

export const ORIGIN = originOf(2);
export const END = endOf(2);

/** The table and the condition, which takes `keyValues`. */
export function entriesOf({ table, column }: ListKind): string {
  return `FROM ${table} WHERE deleted = 0${column === null ? "" : ` AND ${column} = ?`}`;
}

export function keyValues({ column }: ListKind, key: string | null): SQLInputValue[] {
  return column === null ? [] : [key];
}

/** Keeps the milestones of one kind of list, in the transaction that changes its entries, after they are changed. */
export class ListKeeper {
  readonly #kind: ListKind;
  readonly #keeper: MilestoneKeeper;
  readonly #few: StatementSync;
  readonly #count: StatementSync;
  readonly #after: StatementSync;
  readonly #all: StatementSync;

  constructor(db: DatabaseSync, kind: ListKind) {
    this.#kind = kind;
    this.#keeper = new MilestoneKeeper(db, LIST_MILESTONES);
    const entries = entriesOf(kind);
    this.#few = arrayStatement(db, `SELECT count(*) FROM (SELECT 1 ${entries} LIMIT ${GAP_MOST + 1})`);
    this.#count = arrayStatement(db, `SELECT count(*) ${entries} AND (created_at, id) >= (?, ?) AND (created_at, id) < (?, ?)`);
    this.#after = arrayStatement(
      db,
      `SELECT created_at, id ${entries} AND (created_at, id) >= (?, ?) ORDER BY created_at, id LIMIT 1 OFFSET ${GAP}`,
    );
    this.#all = arrayStatement(db, `SELECT created_at, id ${entries} ORDER BY created_at, id`);
  }

  /** After all of these objects were written. */
  move(moves: readonly Move[]): void {
    const changed = new Map<string | null, { readonly left: Entry[]; readonly entered: Entry[] }>();
    const of = (key: string | null) => {
      const known = changed.get(key) ?? { left: [], entered: [] };
      changed.set(key, known);
      return known;
    };
    for (const { left, entered } of moves) {
      if (left !== undefined) of(left.key).left.push(left);
      if (entered !== undefined) of(entered.key).entered.push(entered);
    }
    for (const [key, { left, entered }] of changed) this.#change(key, left, entered);
  }

  #change(key: string | null, left: readonly Entry[], entered: readonly Entry[]): void {
    const series = seriesOf(this.#kind, key);
    const ways = this.#keeper.ways(series);
    if (ways.isEmpty) {
      const count = Number(arrayRow(this.#few.get(...keyValues(this.#kind, key)))?.[0]);
      if (count > GAP_MOST) this.rebuild(key);
      return;
    }
    for (const { at } of left) ways.grow(at, -1);
    for (const { at } of entered) ways.grow(at, 1);
    for (const { at } of entered) this.#cut(key, ways, at);
    this.#keeper.keep(series, ways);
  }

  /** The gap at the position, where it has grown too large. */
  #cut(key: string | null, ways: Ways, position: Position): void {
    const values = keyValues(this.#kind, key);
    const gap = ways.gapAt(position);
    const end = gap.end ?? END;
    let count = Number(arrayRow(this.#count.get(...values, ...(gap.at as Row), ...(end as Row)))?.[0]);
    for (let { at, ahead } = gap; count > GAP_MOST; count -= GAP) {
      at = arrayRow(this.#after.get(...values, ...(at as Row))) as Position;
      ahead += GAP;
      ways.open(at, ahead);
    }
  }

  /** Anew from the entries. */
  rebuild(key: string | null): void {
    this.#keeper.rebuild(seriesOf(this.#kind, key), this.gaps(key));
  }

  /** The gaps that the entries make when they are counted anew; none where they are few. */
  gaps(key: string | null): Gap[] {
    const gaps: { at: Position; count: number }[] = [];
    let total = 0;
    for (const position of this.#all.iterate(...keyValues(this.#kind, key)) as unknown as Iterable<Row>) {
      if (total % GAP === 0) gaps.push({ at: total === 0 ? ORIGIN : (position as Position), count: 0 });
      (gaps.at(-1) as { count: number }).count++;
      total++;
    }
    return total > GAP_MOST ? gaps : [];
  }
}
