// The lists of objects (`series/lists.ts` tells which): their entries, and their milestones.

import type { DatabaseSync, SQLInputValue, StatementSync } from "node:sqlite";
import { GAP, GAP_MOST, type Gap } from "../series/levels.ts";
import { type Entry, type ListKind, type Move, seriesOf } from "../series/lists.ts";
import { MilestoneKeeper } from "./milestone-keeper.ts";
import { Milestones, type MilestoneTable, type Position } from "./milestones.ts";
import { arrayRow, arrayStatement, type Row } from "./rows.ts";

export const LIST_MILESTONES: MilestoneTable = { table: "list_milestone", series: "series", position: ["created_at", "id"] };

export function listMilestones(db: DatabaseSync): Milestones {
  return new Milestones(db, LIST_MILESTONES);
}

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
  readonly #milestones: Milestones;
  readonly #keeper: MilestoneKeeper;
  readonly #few: StatementSync;
  readonly #count: StatementSync;
  readonly #after: StatementSync;
  readonly #all: StatementSync;

  constructor(db: DatabaseSync, kind: ListKind) {
    this.#kind = kind;
    this.#milestones = listMilestones(db);
    this.#keeper = new MilestoneKeeper(db, this.#milestones, LIST_MILESTONES);
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
    const entered = moves.flatMap((move) => (move.entered === undefined ? [] : [move.entered]));
    for (const { left, entered: came } of moves) {
      if (left !== undefined) this.#shift(left, -1);
      if (came !== undefined) this.#shift(came, 1);
    }
    const counted = new Map<string | null, boolean>();
    for (const { key, at } of entered) {
      // A list without milestones is looked at once: all that came are in it already.
      if (!counted.has(key)) counted.set(key, this.#isCounted(key));
      if (counted.get(key) === true) this.#cut(key, at);
    }
  }

  #shift({ key, at }: Entry, delta: number): void {
    const series = seriesOf(this.#kind, key);
    const top = this.#milestones.top(series);
    if (top !== undefined) this.#keeper.shift(series, top, at, delta);
  }

  /** Whether the list had milestones before; where it has grown long enough for them, they are made. */
  #isCounted(key: string | null): boolean {
    if (this.#milestones.top(seriesOf(this.#kind, key)) !== undefined) return true;
    const count = Number(arrayRow(this.#few.get(...keyValues(this.#kind, key)))?.[0]);
    if (count > GAP_MOST) this.rebuild(key);
    return false;
  }

  /** The gap at the position, where it has grown too large. */
  #cut(key: string | null, position: Position): void {
    const series = seriesOf(this.#kind, key);
    const values = keyValues(this.#kind, key);
    const first = this.#milestones.floor(series, 0, position);
    const end = this.#milestones.next(series, 0, first.at) ?? this.#milestones.end;
    let count = Number(arrayRow(this.#count.get(...values, ...first.at, ...end))?.[0]);
    if (count <= GAP_MOST) return;
    for (let gap = first; count > GAP_MOST; count -= GAP) {
      gap = { at: arrayRow(this.#after.get(...values, ...gap.at)) as Row, ahead: gap.ahead + GAP };
      this.#keeper.insert(series, 0, gap);
    }
    this.#keeper.balance(series, 0, first.at);
  }

  /** Anew from the entries. */
  rebuild(key: string | null): void {
    this.#keeper.rebuild(seriesOf(this.#kind, key), this.gaps(key));
  }

  /** The gaps that the entries make when they are counted anew; none where they are few. */
  gaps(key: string | null): Gap<Position>[] {
    const gaps: { at: Position; count: number }[] = [];
    let total = 0;
    for (const position of this.#all.iterate(...keyValues(this.#kind, key)) as unknown as Iterable<Row>) {
      if (total % GAP === 0) gaps.push({ at: total === 0 ? this.#milestones.origin : position, count: 0 });
      (gaps.at(-1) as { count: number }).count++;
      total++;
    }
    return total > GAP_MOST ? gaps : [];
  }
}
