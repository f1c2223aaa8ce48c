// The lists of objects: all customers, customers of one e-mail, all tanks, tanks of one owner. A list is ordered by
// (created_at, id) and holds what is not deleted. Up to 256 entries it is counted when asked; a longer one has milestones.

import type { Change, CustomerState, TankState } from "../../domain/changes.ts";

export type ListKind = {
  readonly table: "customer" | "tank";
  /** The column whose value selects the entries; null: all of the table. */
  readonly column: "email" | "owner_id" | null;
};

/** Behind each stands an index on (column, created_at, id) of what is not deleted. */
export const LISTS = {
  customers: { table: "customer", column: null }, // customer_by_creation
  customersByEmail: { table: "customer", column: "email" }, // customer_by_email
  tanks: { table: "tank", column: null }, // tank_by_creation
  tanksOfOwner: { table: "tank", column: "owner_id" }, // tank_by_owner
} as const satisfies Record<string, ListKind>;

/** How a list is called in the table of milestones. */
export function seriesOf({ table, column }: ListKind, key: string | null): string {
  return column === null ? table : `${table} ${column} ${key}`;
}

/** The list that has this name there; undefined where none has. */
export function listOf(series: string): { readonly kind: ListKind; readonly key: string | null } | undefined {
  for (const kind of Object.values(LISTS)) {
    const name = seriesOf(kind, "");
    if (kind.column === null ? series === name : series.startsWith(name)) {
      return { kind, key: kind.column === null ? null : series.slice(name.length) };
    }
  }
  return undefined;
}

/** Where an object stands in a list: `key` selects the list, where there is one for each value. */
export type Entry = { readonly key: string | null; readonly at: readonly [created_at: number, id: string] };
/** What a change means to a list: an entry that goes, one that comes, or nothing. */
export type Move = { readonly left: Entry | undefined; readonly entered: Entry | undefined };

export function customerMove(kind: ListKind, { before, after }: Change<CustomerState>): Move {
  return moveOf(customerEntry(kind, before), customerEntry(kind, after));
}

export function tankMove(kind: ListKind, { before, after }: Change<TankState>): Move {
  return moveOf(tankEntry(kind, before), tankEntry(kind, after));
}

function customerEntry({ column }: ListKind, state: CustomerState | undefined): Entry | undefined {
  if (state === undefined || state.deleted) return undefined;
  const { created_at, id, email } = state.customer;
  return { key: column === null ? null : email, at: [created_at, id] };
}

function tankEntry({ column }: ListKind, state: TankState | undefined): Entry | undefined {
  if (state === undefined || state.deleted) return undefined;
  const { created_at, id, owner_id } = state.tank;
  return { key: column === null ? null : owner_id, at: [created_at, id] };
}

function moveOf(left: Entry | undefined, entered: Entry | undefined): Move {
  const stays = left !== undefined && entered !== undefined && left.key === entered.key && left.at[0] === entered.at[0];
  return stays ? { left: undefined, entered: undefined } : { left, entered };
}
