// The milestones of one kind of series (`levels.ts` tells what they are): ranks are found in them.

import type { DatabaseSync, SQLInputValue, StatementSync } from "node:sqlite";
import type { StoredGroup } from "../series/check-levels.ts";
import { type Group, lastPlace, missingGroup, type Position } from "../series/levels.ts";
import { PackedGroup } from "./packed-group.ts";
import { arrayRow, arrayRows, arrayStatement, type Row } from "./rows.ts";

export type MilestoneTable = {
  readonly table: string;
  /** The column that names the series. */
  readonly series: string;
  /** The columns of the position that a group is stored under. */
  readonly key: readonly string[];
  /** The columns that hold the positions of its nodes: instants, and ids where entries may share one. */
  readonly nodes: readonly string[];
};

/** All groups of a series, by level and key, by the table's unique index. */
export function everyGroup(db: DatabaseSync, { table, series, key, nodes }: MilestoneTable) {
  const order = `level, ${key.join(", ")}`;
  const all = arrayStatement(
    db,
    `SELECT ${order}, aheads, ${nodes.join(", ")} FROM ${table} WHERE ${series} = ? ORDER BY ${order}`,
  );
  return (of: SQLInputValue): StoredGroup[] =>
    arrayRows(all.all(of)).map(([level, ...row]) => ({
      ...readGroup([level as number, ...row.slice(key.length)]),
      key: row.slice(0, key.length) as Position,
    }));
}

/** Without nodes, where they cannot be read. */
function readGroup(row: Row): Group {
  try {
    return new PackedGroup(row).unpacked();
  } catch {
    return { level: Number(row[0]), at: [], ahead: [] };
  }
}

/** A gap: where it begins, and its rank. */
export type FoundGap = { readonly at: Position; readonly ahead: number };

export class Milestones {
  readonly #root: StatementSync;
  readonly #group: StatementSync;

  /** Both by the table's unique index: series, level, position. */
  constructor(db: DatabaseSync, { table, series, key, nodes }: MilestoneTable) {
    const group = `SELECT level, aheads, ${nodes.join(", ")} FROM ${table} WHERE ${series} = ?`;
    this.#root = arrayStatement(db, `${group} ORDER BY level DESC LIMIT 1`);
    this.#group = arrayStatement(db, `${group} AND level = ? AND ${key.map((column) => `${column} = ?`).join(" AND ")}`);
  }

  /** The one group of the highest level; undefined where the series has no milestones. */
  root(series: SQLInputValue): PackedGroup | undefined {
    const row = arrayRow(this.#root.get(series));
    return row === undefined ? undefined : new PackedGroup(row);
  }

  group(series: SQLInputValue, level: number, at: Position): PackedGroup | undefined {
    const row = arrayRow(this.#group.get(series, level, ...(at as Row)));
    return row === undefined ? undefined : new PackedGroup(row);
  }

  /** The last gap that begins before the instant. */
  gapBefore(series: SQLInputValue, root: PackedGroup, instant: number): FoundGap {
    return this.#down(series, root, (group) => lastPlace(group.length, (place) => group.instant(place) < instant));
  }

  /** The gap that holds the entry with `rank` others before it; the last gap, where there are not so many. */
  gapOf(series: SQLInputValue, root: PackedGroup, rank: number): FoundGap {
    return this.#down(series, root, (group, ahead) => lastPlace(group.length, (place) => ahead + group.ahead(place) <= rank));
  }

  #down(series: SQLInputValue, root: PackedGroup, search: (group: PackedGroup, ahead: number) => number): FoundGap {
    let ahead = 0;
    for (let group = root; ; ) {
      const place = Math.max(0, search(group, ahead));
      const at = group.at(place);
      ahead += group.ahead(place);
      if (group.level === 0) return { at, ahead };
      const below = this.group(series, group.level - 1, at);
      if (below === undefined) throw missingGroup(group.level - 1, at);
      group = below;
    }
  }
}
