// Whether a list of objects has the milestones that its entries ask for.

import { faultsInLevels, type StoredGroup } from "./check-levels.ts";
import type { Fault } from "./fault.ts";
import { GAP_MOST, type Gap, type Position } from "./levels.ts";
import type { ListKind } from "./lists.ts";

/** `counts` are of the gaps between the milestones of level 0, or one of all entries where there are none. */
export function faultsInList(groups: readonly StoredGroup[], counts: readonly number[], origin: Position): Fault[] {
  if (groups.length === 0) {
    const total = counts[0] ?? 0;
    if (total <= GAP_MOST) return [];
    return [{ isDerived: true, what: `there should be milestones for its ${total} entries, there are none` }];
  }
  const gaps = levelZero(groups).map((at, i): Gap => ({ at, count: counts[i] ?? 0 }));
  const widest = counts.reduce((most, count) => Math.max(most, count), 0);
  const what = `a gap should hold at most ${GAP_MOST} entries, one holds ${widest}`;
  return [...(widest > GAP_MOST ? [{ isDerived: true, what }] : []), ...faultsInLevels(groups, gaps, origin)];
}

/** Where the gaps of a list begin. */
export function levelZero(groups: readonly StoredGroup[]): Position[] {
  return groups.filter(({ level }) => level === 0).flatMap(({ at }) => at);
}

/** As told to the operator. */
export function nameOfList({ table, column }: ListKind, key: string | null): string {
  if (column === null) return `list of all ${table}s`;
  return column === "email" ? `list of customers with the e-mail ${key}` : `list of the tanks of customer ${key}`;
}

/** Milestones of a series that is no list. */
export function strayList(series: string, groups: readonly unknown[]): { readonly where: string; readonly faults: Fault[] } {
  const what = `there is no such list, and it has milestones`;
  return { where: `list "${series}"`, faults: groups.length === 0 ? [] : [{ isDerived: true, what }] };
}
