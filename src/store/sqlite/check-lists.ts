// The check of the lists: their milestones against their entries.

import type { DatabaseSync } from "node:sqlite";
import type { Finding } from "../../domain/store.ts";
import type { Look } from "../check.ts";
import { faultsInList, levelZero, nameOfList, strayList } from "../series/check-lists.ts";
import { findingsOf } from "../series/fault.ts";
import type { Position } from "../series/levels.ts";
import { LISTS, type ListKind, listOf, seriesOf } from "../series/lists.ts";
import { END, entriesOf, keyValues, LIST_MILESTONES, ListKeeper, ORIGIN } from "./lists.ts";
import { everyGroup } from "./milestones.ts";
import { longKeys } from "./rebuild.ts";
import { arrayRow, arrayRows, arrayStatement, type Row } from "./rows.ts";

const KINDS: readonly ListKind[] = Object.values(LISTS);

export function listLooks(db: DatabaseSync) {
  const known = arrayStatement(db, "SELECT DISTINCT series FROM list_milestone");
  const groupsOf = everyGroup(db, LIST_MILESTONES);
  /** Each by the index named beside its kind. */
  const counts = new Map(
    KINDS.map((kind) => [
      kind,
      arrayStatement(db, `SELECT count(*) ${entriesOf(kind)} AND (created_at, id) >= (?, ?) AND (created_at, id) < (?, ?)`),
    ]),
  );

  function count(kind: ListKind, key: string | null, from: Position, to: Position): number {
    return Number(arrayRow(counts.get(kind)?.get(...keyValues(kind, key), ...(from as Row), ...(to as Row)))?.[0]);
  }

  return {
    everySeries(): string[] {
      const named = arrayRows(known.all()).map(([series]) => String(series));
      const long = KINDS.flatMap((kind) => longKeys(db, kind).map((key) => seriesOf(kind, key)));
      return [...new Set([...long, ...named])];
    },

    list(series: string): Look {
      const groups = groupsOf(series);
      const list = listOf(series);
      if (list === undefined) return strayList(series, groups);
      const { kind, key } = list;
      const places = groups.length === 0 ? [ORIGIN] : levelZero(groups);
      const found = places.map((at, i) => count(kind, key, at, places[i + 1] ?? END));
      return { where: nameOfList(kind, key), faults: faultsInList(groups, found, ORIGIN) };
    },
  };
}

export function listRepairs(db: DatabaseSync) {
  const looks = listLooks(db);
  const drop = db.prepare("DELETE FROM list_milestone WHERE series = ?");
  return {
    repairList(series: string): Finding[] {
      const { where, faults } = looks.list(series);
      if (faults.length === 0) return [];
      const list = listOf(series);
      if (list === undefined) drop.run(series);
      else new ListKeeper(db, list.kind).rebuild(list.key);
      return findingsOf(where, faults, looks.list(series).faults);
    },
  };
}
