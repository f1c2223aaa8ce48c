// The check of the lists: their milestones against their entries.

import type { Finding } from "../../domain/store.ts";
import type { Look } from "../check.ts";
import { faultsInList, levelZero, nameOfList, strayList } from "../series/check-lists.ts";
import { findingsOf } from "../series/fault.ts";
import { EARLIEST, GAP_MOST, type Position } from "../series/levels.ts";
import { LISTS, type ListKind, listOf, seriesOf } from "../series/lists.ts";
import { type Db, type Statement, statement } from "./connection.ts";
import { END, entriesOf, keyValues, LIST_MILESTONES, ListKeeper, lockLists, ORIGIN } from "./lists.ts";
import { everyGroup, storedGroupOf } from "./milestones.ts";

const KINDS: readonly ListKind[] = Object.values(LISTS);
const KNOWN = statement("SELECT DISTINCT series FROM list_milestone");
const GROUPS = everyGroup(LIST_MILESTONES);
const DROP = statement("DELETE FROM list_milestone WHERE series = $1");

type Statements = { readonly long: Statement | undefined; readonly counts: Statement };

/** Each by the index named beside its kind. */
const STATEMENTS = new Map(KINDS.map((kind): [ListKind, Statements] => [kind, statementsOf(kind)]));

function statementsOf(kind: ListKind): Statements {
  const { table, column } = kind;
  const counts = statement(`
    SELECT (SELECT count(*) ${entriesOf(kind, "$5")} AND (created_at, id) >= (gap.created_at, gap.id)
      AND (created_at, id) < (gap.end_created_at, gap.end_id))
    FROM unnest($1::bigint[], $2::text[], $3::bigint[], $4::text[])
      WITH ORDINALITY AS gap (created_at, id, end_created_at, end_id, number) ORDER BY number`);
  if (column === null) return { counts, long: undefined };
  return {
    counts,
    long: statement(`SELECT ${column} FROM ${table} WHERE NOT deleted GROUP BY ${column} HAVING count(*) > ${GAP_MOST}`),
  };
}

export async function everySeries(db: Db): Promise<string[]> {
  const series = new Set<string>();
  for (const [kind, { long }] of STATEMENTS) {
    const keys = long === undefined ? [null] : (await db.rows(long)).map(([key]) => String(key));
    for (const key of keys) series.add(seriesOf(kind, key));
  }
  for (const [known] of await db.rows(KNOWN)) series.add(String(known));
  return [...series];
}

export async function lookAtList(db: Db, series: string): Promise<Look> {
  const groups = (await db.rows(GROUPS, [[series]])).map((row) => storedGroupOf(LIST_MILESTONES, row));
  const list = listOf(series);
  if (list === undefined) return strayList(series, groups);
  const { kind, key } = list;
  const places = groups.length === 0 ? [ORIGIN] : levelZero(groups);
  const ends = [...places.slice(1), END];
  const column = (of: readonly Position[], part: number) => of.map((at) => at[part] ?? EARLIEST);
  const asked = [column(places, 0), column(places, 1), column(ends, 0), column(ends, 1)];
  const counts = STATEMENTS.get(kind)?.counts;
  const rows = counts === undefined ? [] : await db.rows(counts, [...asked, ...keyValues(kind, key)]);
  const found = rows.map(([count]) => Number(count));
  return { where: nameOfList(kind, key), faults: faultsInList(groups, found, ORIGIN) };
}

export async function repairList(db: Db, series: string): Promise<Finding[]> {
  await lockLists(db);
  const { where, faults } = await lookAtList(db, series);
  if (faults.length === 0) return [];
  const list = listOf(series);
  if (list === undefined) await db.rows(DROP, [series]);
  else await new ListKeeper(list.kind).rebuild(db, list.key);
  return findingsOf(where, faults, (await lookAtList(db, series)).faults);
}
