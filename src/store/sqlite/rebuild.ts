// Milestones made anew from what they count.

import type { DatabaseSync } from "node:sqlite";
import { GAP_MOST } from "../series/levels.ts";
import { LISTS, type ListKind } from "../series/lists.ts";
import { ListKeeper } from "./lists.ts";
import { arrayStatement, type Row } from "./rows.ts";

/** The milestones of every list. */
export function rebuildLists(db: DatabaseSync): void {
  db.exec("DELETE FROM list_milestone");
  for (const kind of Object.values(LISTS)) {
    const keeper = new ListKeeper(db, kind);
    for (const key of longKeys(db, kind)) keeper.rebuild(key);
  }
}

/** The keys of the lists that are long enough for milestones. */
export function longKeys(db: DatabaseSync, kind: ListKind): (string | null)[] {
  const { table, column } = kind;
  if (column === null) return [null];
  const long = `SELECT ${column} FROM ${table} WHERE deleted = 0 GROUP BY ${column} HAVING count(*) > ${GAP_MOST}`;
  return (arrayStatement(db, long).all() as unknown as Row[]).map(([key]) => String(key));
}
