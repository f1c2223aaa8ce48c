// The milestones of one kind of series (`levels.ts` tells what they are): ranks are found in them.

import type { DatabaseSync, SQLInputValue, StatementSync } from "node:sqlite";
import type { Milestone } from "../series/check-levels.ts";
import { EARLIEST, LATEST, type Node } from "../series/levels.ts";
import { arrayRow, arrayRows, arrayStatement } from "./rows.ts";

/** Where a node begins: an instant, and an id where entries may share one. */
export type Position = readonly SQLInputValue[];

export type MilestoneTable = {
  readonly table: string;
  /** The column that names the series. */
  readonly series: string;
  /** The columns that make a position. */
  readonly position: readonly string[];
};

/** All milestones of a series, by level and position: the table's primary key. */
export function everyMilestone(db: DatabaseSync, { table, series, position }: MilestoneTable) {
  const at = position.join(", ");
  const all = arrayStatement(db, `SELECT level, ahead, ${at} FROM ${table} WHERE ${series} = ? ORDER BY level, ${at}`);
  return (of: SQLInputValue): Milestone<Position>[] =>
    arrayRows(all.all(of)).map(([level, ahead, ...place]) => ({ level: Number(level), ahead: Number(ahead), at: place }));
}

export class Milestones {
  /** Where the first node of every level begins, and a place after the last. */
  readonly origin: Position;
  readonly end: Position;
  readonly #width: number;
  readonly #top: StatementSync;
  readonly #floor: StatementSync;
  readonly #reached: StatementSync;
  readonly #next: StatementSync;

  /** Every statement walks the table's primary key: series, level, position. */
  constructor(db: DatabaseSync, { table, series, position }: MilestoneTable) {
    const at = position.join(", ");
    const here = position.map(() => "?").join(", ");
    const level = `FROM ${table} WHERE ${series} = ? AND level = ?`;
    const inGroup = `AND (${at}) >= (${here}) AND (${at}) < (${here})`;
    const last = `ORDER BY ${position.map((column) => `${column} DESC`).join(", ")} LIMIT 1`;
    this.origin = position.map((_, i) => (i === 0 ? EARLIEST : ""));
    this.end = position.map((_, i) => (i === 0 ? LATEST : ""));
    this.#width = position.length;
    this.#top = arrayStatement(db, `SELECT max(level) FROM ${table} WHERE ${series} = ?`);
    this.#floor = arrayStatement(db, `SELECT ${at}, ahead ${level} AND (${at}) <= (${here}) ${last}`);
    this.#reached = arrayStatement(db, `SELECT ${at}, ahead ${level} ${inGroup} AND ahead <= ? ${last}`);
    this.#next = arrayStatement(db, `SELECT ${at} ${level} AND (${at}) > (${here}) ORDER BY ${at} LIMIT 1`);
  }

  /** The highest level; undefined where the series has no milestones. */
  top(series: SQLInputValue): number | undefined {
    const top = arrayRow(this.#top.get(series))?.[0] ?? null;
    return top === null ? undefined : Number(top);
  }

  /** The gap that holds the position; `ahead` of it is its rank. */
  gapAt(series: SQLInputValue, top: number, position: Position): Node<Position> {
    let ahead = 0;
    let at = this.origin;
    for (let level = top; level >= 0; level--) {
      const node = this.floor(series, level, position);
      ahead += node.ahead;
      at = node.at;
    }
    return { at, ahead };
  }

  /** The gap that holds the entry with `rank` others before it; the last gap, where there are not so many. */
  gapOf(series: SQLInputValue, top: number, rank: number): Node<Position> {
    let at = this.origin;
    let end = this.end;
    let ahead = 0;
    for (let level = top; level >= 0; level--) {
      const node = this.node(this.#reached.get(series, level, ...at, ...end, rank - ahead));
      ahead += node.ahead;
      at = node.at;
      if (level > 0) end = this.next(series, level, at) ?? end;
    }
    return { at, ahead };
  }

  /** The node that holds the position. */
  floor(series: SQLInputValue, level: number, position: Position): Node<Position> {
    return this.node(this.#floor.get(series, level, ...position));
  }

  /** Where the next node of the level begins; undefined at the last. */
  next(series: SQLInputValue, level: number, at: Position): Position | undefined {
    return arrayRow(this.#next.get(series, level, ...at));
  }

  /** A row of position and `ahead`. */
  node(row: unknown): Node<Position> {
    const values = arrayRow(row);
    if (values === undefined) return { at: this.origin, ahead: 0 };
    return { at: values.slice(0, this.#width), ahead: values[this.#width] as number };
  }
}
