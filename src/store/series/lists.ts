// The lists of objects: all customers, customers with one e-mail, all tanks, tanks of one owner, all alerts, alerts in one state. A
// list is ordered by (created_at, id) and holds live objects. A list of more than 256 entries has a rank index.

import { EARLIEST } from "../../domain/instant.ts";
import { LATEST, type Position } from "./rank-index.ts";

export type ListKind = {
  readonly table: "customer" | "tank" | "alert";
  /** The column whose value selects the entries; null for all objects of the table. */
  readonly column: "email" | "owner_id" | "state" | null;
};

/** Each has an index on (column, created_at, id) of live objects. */
export const LISTS = {
  customers: { table: "customer", column: null }, // customer_by_creation
  customersByEmail: { table: "customer", column: "email" }, // customer_by_email
  tanks: { table: "tank", column: null }, // tank_by_creation
  tanksOfOwner: { table: "tank", column: "owner_id" }, // tank_by_owner
  alerts: { table: "alert", column: null }, // alert_by_creation
  alertsByState: { table: "alert", column: "state" }, // alert_by_state
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

type Listed = {
  readonly id: string;
  readonly created_at: number;
  readonly email?: string;
  readonly owner_id?: string;
  readonly state?: string;
};
/** An object before and after it is changed; undefined while it is not live. */
export type ListedChange = { readonly before: Listed | undefined; readonly after: Listed | undefined };
/** An entry that is added to a list (1) or removed from it (-1); `key` is the value of the list's column. */
export type EntryChange = { readonly key: string | null; readonly at: Position; readonly delta: 1 | -1 };

export function entryChanges({ column }: ListKind, changes: readonly ListedChange[]): EntryChange[] {
  const keyOf = (object: Listed): string | null => (column === null ? null : (object[column] ?? null));
  const entry = (object: Listed | undefined, delta: 1 | -1): EntryChange[] =>
    object === undefined ? [] : [{ key: keyOf(object), at: [object.created_at, object.id], delta }];
  return changes.flatMap(({ before, after }) => {
    const isMoved = before?.created_at !== after?.created_at || (before && keyOf(before)) !== (after && keyOf(after));
    return isMoved ? [...entry(before, -1), ...entry(after, 1)] : [];
  });
}
