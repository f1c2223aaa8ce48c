// The lists of objects: all customers, customers of one e-mail, all tanks, tanks of one owner. A list is ordered by
// (created_at, id) and holds what is not deleted. Up to 256 entries it is counted when asked; a longer one has milestones.

import type { DatabaseSync, SQLInputValue, StatementSync } from "node:sqlite";
import { GAP, GAP_MOST, type Gap } from "../series/levels.ts";
import { MilestoneKeeper } from "./milestone-keeper.ts";
import { Milestones, type MilestoneTable, type Position } from "./milestones.ts";
import { arrayRow, arrayStatement, type Row } from "./rows.ts";

export const LIST_MILESTONES: MilestoneTable = { table: "list_milestone", series: "series", position: ["created_at", "id"] };

export type ListKind = {
  readonly table: "customer" | "tank";
  /** The column whose value selects the entries; null: all of the table. */
  readonly column: string | null;
};

/** Behind each stands an index on (column, created_at, id) of what is not deleted. */
export const LISTS = {
  customers: { table: "customer", column: null }, // customer_by_creation
  customersByEmail: { table: "customer", column: "email" }, // customer_by_email
  tanks: { table: "tank", column: null }, // tank_by_creation
  tanksOfOwner: { table: "tank", column: "owner_id" }, // tank_by_owner
} as const satisfies Record<string, ListKind>;

export function listMilestones(db: DatabaseSync): Milestones {
  return new Milestones(db, LIST_MILESTONES);
}

/** How a list is called in the table of milestones. */
export function seriesOf({ table, column }: ListKind, key: string | null): string {
  return column === null ? table : `${table} ${column} ${key}`;
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

  enter(key: string | null, position: Position): void {
    const series = seriesOf(this.#kind, key);
    const top = this.#milestones.top(series);
    if (top === undefined) {
      const count = Number(arrayRow(this.#few.get(...keyValues(this.#kind, key)))?.[0]);
      if (count > GAP_MOST) this.rebuild(key);
      return;
    }
    this.#keeper.shift(series, top, position, 1);
    const { at, ahead } = this.#milestones.floor(series, 0, position);
    const end = this.#milestones.next(series, 0, at) ?? this.#milestones.end;
    const values = keyValues(this.#kind, key);
    if (Number(arrayRow(this.#count.get(...values, ...at, ...end))?.[0]) <= GAP_MOST) return;
    this.#keeper.insert(series, 0, { at: arrayRow(this.#after.get(...values, ...at)) as Row, ahead: ahead + GAP });
    this.#keeper.balance(series, 0, at);
  }

  leave(key: string | null, position: Position): void {
    const series = seriesOf(this.#kind, key);
    const top = this.#milestones.top(series);
    if (top !== undefined) this.#keeper.shift(series, top, position, -1);
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

/** An object as the lists see it: the keys of the lists it is in, or null while it is deleted. */
export type Listed = { readonly position: Position; readonly keys: readonly (string | null)[] } | null;

/** Moves an object from where it stood in each of the lists to where it stands now. */
export function relist(keepers: readonly ListKeeper[], before: Listed, after: Listed): void {
  keepers.forEach((keeper, i) => {
    const stays =
      before !== null &&
      after !== null &&
      before.keys[i] === after.keys[i] &&
      before.position.every((value, part) => value === after.position[part]);
    if (stays) return;
    if (before !== null) keeper.leave(before.keys[i] ?? null, before.position);
    if (after !== null) keeper.enter(after.keys[i] ?? null, after.position);
  });
}
