// Whether a list of objects has the milestones that its entries ask for.

import { faultsInLevels, type Milestone } from "./check-levels.ts";
import type { Fault } from "./fault.ts";
import { GAP_MOST, type Gap } from "./levels.ts";
import type { ListKind } from "./lists.ts";

/** `counts` are of the gaps between the milestones of level 0, or one of all entries where there are none. */
export function faultsInList<P extends readonly unknown[]>(
  milestones: readonly Milestone<P>[],
  counts: readonly number[],
  origin: P,
): Fault[] {
  if (milestones.length === 0) {
    const total = counts[0] ?? 0;
    if (total <= GAP_MOST) return [];
    return [{ isDerived: true, what: `there should be milestones for its ${total} entries, there are none` }];
  }
  const gaps = levelZero(milestones).map((at, i): Gap<P> => ({ at, count: counts[i] ?? 0 }));
  const widest = counts.reduce((most, count) => Math.max(most, count), 0);
  const what = `a gap should hold at most ${GAP_MOST} entries, one holds ${widest}`;
  return [...(widest > GAP_MOST ? [{ isDerived: true, what }] : []), ...faultsInLevels(milestones, gaps, origin)];
}

/** Where the gaps of a list begin. */
export function levelZero<P>(milestones: readonly Milestone<P>[]): P[] {
  return milestones.filter(({ level }) => level === 0).map(({ at }) => at);
}

/** As told to the operator. */
export function nameOfList({ table, column }: ListKind, key: string | null): string {
  if (column === null) return `list of all ${table}s`;
  return column === "email" ? `list of customers with the e-mail ${key}` : `list of the tanks of customer ${key}`;
}

/** Milestones of a series that is no list. */
export function strayList(series: string, milestones: number): { readonly where: string; readonly faults: Fault[] } {
  const what = `there is no such list, and ${milestones} milestones of it`;
  return { where: `list "${series}"`, faults: milestones === 0 ? [] : [{ isDerived: true, what }] };
}
