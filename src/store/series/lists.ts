// The lists of objects: all customers, customers with one e-mail, all tanks, tanks of one owner. A list is ordered by
// (created_at, id) and holds live objects. A list of more than 256 entries has a rank index.

import type { Change, CustomerState, TankState } from "../../domain/changes.ts";
import { EARLIEST, LATEST, type Position } from "./rank-index.ts";

export type ListKind = {
  readonly table: "customer" | "tank";
  /** The column whose value selects the entries; null for all objects of the table. */
  readonly column: "email" | "owner_id" | null;
};

/** Each has an index on (column, created_at, id) of live objects. */
export const LISTS = {
  customers: { table: "customer", column: null }, // customer_by_creation
  customersByEmail: { table: "customer", column: "email" }, // customer_by_email
  tanks: { table: "tank", column: null }, // tank_by_creation
  tanksOfOwner: { table: "tank", column: "owner_id" }, // tank_by_owner
} as const satisfies Record<string, ListKind>;

export const LIST_START: Position = [EARLIEST, ""];
export const LIST_END: Position = [LATEST, ""];

/** The name of a list in the table of its rank index. */
export function seriesOf({ table, column }: ListKind, key: string | null): string {
  return column === null ? table : `${table} ${column} ${key}`;
}

export function listOf(series: string): { readonly kind: ListKind; readonly key: string | null } | undefined {
  for (const kind of Object.values(LISTS)) {
    const prefix = seriesOf(kind, "");
    if (kind.column === null ? series === prefix : series.startsWith(prefix)) {
      return { kind, key: kind.column === null ? null : series.slice(prefix.length) };
    }
  }
  return undefined;
}

/** An object's place in a list; `key` is the value of the list's column. */
export type ListEntry = { readonly key: string | null; readonly at: readonly [created_at: number, id: string] };
/** What a change means to a list: an entry that is removed, one that is added, or neither. */
export type ListMove = { readonly removed: ListEntry | undefined; readonly added: ListEntry | undefined };

export function customerMove({ column }: ListKind, { before, after }: Change<CustomerState>): ListMove {
  const entry = ({ customer: { created_at, id, email } }: CustomerState): ListEntry => ({
    key: column === null ? null : email,
    at: [created_at, id],
  });
  return moveOf(before, after, entry);
}

export function tankMove({ column }: ListKind, { before, after }: Change<TankState>): ListMove {
  const entry = ({ tank: { created_at, id, owner_id } }: TankState): ListEntry => ({
    key: column === null ? null : owner_id,
    at: [created_at, id],
  });
  return moveOf(before, after, entry);
}

function moveOf<S extends { readonly deleted: boolean }>(
  before: S | undefined,
  after: S,
  entry: (state: S) => ListEntry,
): ListMove {
  const removed = before === undefined || before.deleted ? undefined : entry(before);
  const added = after.deleted ? undefined : entry(after);
  const stays = removed !== undefined && added !== undefined && removed.key === added.key && removed.at[0] === added.at[0];
  return stays ? { removed: undefined, added: undefined } : { removed, added };
}
