// Keeps the milestones of one kind of series, in the transaction that changes the series.

import type { DatabaseSync, SQLInputValue, StatementSync } from "node:sqlite";
import { cutGroup, type Gap, GROUP_MOST, levelsOf, type Node, TOP } from "../series/levels.ts";
import type { Milestones, MilestoneTable, Position } from "./milestones.ts";
import { arrayRows, arrayStatement } from "./rows.ts";

export class MilestoneKeeper {
  readonly #milestones: Milestones;
  readonly #group: StatementSync;
  readonly #shift: StatementSync;
  readonly #insert: StatementSync;
  readonly #clear: StatementSync;

  /** Every statement walks the table's primary key: series, level, position. */
  constructor(db: DatabaseSync, milestones: Milestones, { table, series, position }: MilestoneTable) {
    const at = position.join(", ");
    const here = position.map(() => "?").join(", ");
    const group = `${series} = ? AND level = ? AND (${at}) >= (${here}) AND (${at}) < (${here})`;
    this.#milestones = milestones;
    this.#group = arrayStatement(db, `SELECT ${at}, ahead FROM ${table} WHERE ${group} ORDER BY ${at}`);
    this.#shift = db.prepare(`UPDATE ${table} SET ahead = ahead + ? WHERE ${group}`);
    this.#insert = db.prepare(`INSERT INTO ${table} (${series}, level, ${at}, ahead) VALUES (?, ?, ${here}, ?)`);
    this.#clear = db.prepare(`DELETE FROM ${table} WHERE ${series} = ?`);
  }

  /** Entries came or went in the gap at the position: what follows in each of its groups has so many more ahead. */
  shift(series: SQLInputValue, top: number, position: Position, delta: number): void {
    let end = this.#milestones.end;
    for (let level = top; level >= 0; level--) {
      const next = this.#milestones.next(series, level, position);
      if (next === undefined) continue;
      this.#shift.run(delta, series, level, ...next, ...end);
      end = next;
    }
  }

  /** A gap more, in the group that `ahead` is counted in. */
  insert(series: SQLInputValue, level: number, { at, ahead }: Node<Position>): void {
    this.#insert.run(series, level, ...at, ahead);
  }

  /** After nodes were inserted behind the one at `at`, in its group: the group is cut where it has grown too large. */
  balance(series: SQLInputValue, level: number, at: Position): void {
    if (level === TOP) return;
    const above = level + 1;
    const hasAbove = (this.#milestones.top(series) ?? 0) >= above;
    const group = hasAbove ? this.#milestones.floor(series, above, at) : { at: this.#milestones.origin, ahead: 0 };
    const end = (hasAbove ? this.#milestones.next(series, above, group.at) : undefined) ?? this.#milestones.end;
    const nodes = arrayRows(this.#group.all(series, level, ...group.at, ...end)).map((row) => this.#milestones.node(row));
    if (nodes.length <= GROUP_MOST) return;
    if (!hasAbove) this.insert(series, above, group);
    const [, ...cut] = cutGroup(nodes).map(([first]) => first as Node<Position>);
    cut.forEach((first, i) => {
      this.insert(series, above, { at: first.at, ahead: group.ahead + first.ahead });
      this.#shift.run(-first.ahead, series, level, ...first.at, ...(cut[i + 1]?.at ?? end));
    });
    this.balance(series, above, group.at);
  }

  /** All levels anew. */
  rebuild(series: SQLInputValue, gaps: readonly Gap<Position>[]): void {
    this.#clear.run(series);
    levelsOf(gaps).forEach((nodes, level) => {
      for (const node of nodes) this.insert(series, level, node);
    });
  }
}
