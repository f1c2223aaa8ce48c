// Keeps the milestones of one kind of series, in the transaction that changes the series.

import type { DatabaseSync, SQLInputValue, StatementSync } from "node:sqlite";
import type { Gap, Group } from "../series/levels.ts";
import { Ways } from "../series/ways.ts";
import { Milestones, type MilestoneTable } from "./milestones.ts";
import { packGroup } from "./packed-group.ts";
import type { Row } from "./rows.ts";

export class MilestoneKeeper {
  readonly #milestones: Milestones;
  readonly #put: StatementSync;
  readonly #clear: StatementSync;

  constructor(db: DatabaseSync, milestones: MilestoneTable) {
    const { table, series, key, nodes } = milestones;
    const known = [series, "level", ...key];
    const held = ["aheads", ...nodes];
    const here = [...known, ...held].map(() => "?").join(", ");
    this.#milestones = new Milestones(db, milestones);
    this.#put = db.prepare(
      `INSERT INTO ${table} (${[...known, ...held].join(", ")}) VALUES (${here})
      ON CONFLICT (${known.join(", ")}) DO UPDATE SET ${held.map((column) => `${column} = excluded.${column}`).join(", ")}`,
    );
    this.#clear = db.prepare(`DELETE FROM ${table} WHERE ${series} = ?`);
  }

  ways(series: SQLInputValue): Ways {
    return new Ways({
      root: () => this.#milestones.root(series)?.unpacked(),
      group: (level, at) => this.#milestones.group(series, level, at)?.unpacked(),
    });
  }

  /** What has changed on these ways. */
  keep(series: SQLInputValue, ways: Ways): void {
    this.#write(series, ways.changes());
  }

  /** All levels anew. */
  rebuild(series: SQLInputValue, gaps: readonly Gap[]): void {
    this.#clear.run(series);
    this.#write(series, Ways.groupsOf(gaps));
  }

  #write(series: SQLInputValue, groups: readonly Group[]): void {
    for (const group of groups) this.#put.run(series, group.level, ...(group.at[0] as Row), ...packGroup(group));
  }
}
