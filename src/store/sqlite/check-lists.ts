// The check of the lists: their milestones against their entries.

import type { DatabaseSync } from "node:sqlite";
import type { Finding } from "../../domain/store.ts";
import { faultsInLevels } from "../series/check-levels.ts";
import { type Fault, findingsOf } from "../series/fault.ts";
import { GAP_MOST, type Gap } from "../series/levels.ts";
import {
  entriesOf,
  keyValues,
  LIST_MILESTONES,
  LISTS,
  ListKeeper,
  type ListKind,
  listMilestones,
  listOf,
  seriesOf,
} from "./lists.ts";
import { everyMilestone, type Position } from "./milestones.ts";
import { longKeys } from "./rebuild.ts";
import { arrayRow, arrayRows, arrayStatement } from "./rows.ts";

type ListLook = { readonly where: string; readonly faults: readonly Fault[] };

export function listLooks(db: DatabaseSync) {
  const known = arrayStatement(db, "SELECT DISTINCT series FROM list_milestone");
  const milestonesOf = everyMilestone(db, LIST_MILESTONES);
  const { origin, end } = listMilestones(db);
  /** Each by the index named beside its kind. */
  const counts = new Map<ListKind, ReturnType<typeof arrayStatement>>(
    Object.values(LISTS).map((kind) => [
      kind,
      arrayStatement(db, `SELECT count(*) ${entriesOf(kind)} AND (created_at, id) >= (?, ?) AND (created_at, id) < (?, ?)`),
    ]),
  );

  function count(kind: ListKind, key: string | null, from: Position, to: Position): number {
    return Number(arrayRow(counts.get(kind)?.get(...keyValues(kind, key), ...from, ...to))?.[0]);
  }

  function faultsIn(kind: ListKind, key: string | null): Fault[] {
    const milestones = milestonesOf(seriesOf(kind, key));
    if (milestones.length === 0) {
      const total = count(kind, key, origin, end);
      if (total <= GAP_MOST) return [];
      return [{ isDerived: true, what: `there should be milestones for its ${total} entries, there are none` }];
    }
    const places = milestones.filter(({ level }) => level === 0).map(({ at }) => at);
    const gaps = places.map((at, i): Gap<Position> => ({ at, count: count(kind, key, at, places[i + 1] ?? end) }));
    const wide = gaps.find((gap) => gap.count > GAP_MOST);
    const what = `a gap should hold at most ${GAP_MOST} entries, one holds ${wide?.count}`;
    const widths = wide === undefined ? [] : [{ isDerived: true, what }];
    return [...widths, ...faultsInLevels(milestones, gaps, origin)];
  }

  return {
    /** The lists that have milestones, or should. */
    everySeries(): string[] {
      const named = arrayRows(known.all()).map(([series]) => String(series));
      const long = Object.values(LISTS).flatMap((kind) => longKeys(db, kind).map((key) => seriesOf(kind, key)));
      return [...new Set([...long, ...named])];
    },

    list(series: string): ListLook {
      const list = listOf(series);
      if (list !== undefined) return { where: nameOf(list.kind, list.key), faults: faultsIn(list.kind, list.key) };
      const stray = milestonesOf(series).length;
      const faults = stray === 0 ? [] : [{ isDerived: true, what: `there is no such list, and ${stray} milestones of it` }];
      return { where: `list "${series}"`, faults };
    },
  };
}

export function listRepairs(db: DatabaseSync) {
  const looks = listLooks(db);
  const drop = db.prepare("DELETE FROM list_milestone WHERE series = ?");
  return {
    repairList(series: string): Finding[] {
      const before = looks.list(series);
      if (before.faults.length === 0) return [];
      const list = listOf(series);
      if (list === undefined) drop.run(series);
      else new ListKeeper(db, list.kind).rebuild(list.key);
      return findingsOf(before.where, before.faults, looks.list(series).faults);
    },
  };
}

function nameOf({ table, column }: ListKind, key: string | null): string {
  if (column === null) return `list of all ${table}s`;
  return column === "email" ? `list of customers with the e-mail ${key}` : `list of the tanks of customer ${key}`;
}
