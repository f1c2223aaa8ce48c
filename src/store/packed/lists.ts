// The lists: all customers, customers with one e-mail, all tanks, tanks of one owner, all alerts, alerts in one state, ordered by
// creation; the fleet, and the tanks of one owner in it, ordered by urgency, margin and silence. A list holds live objects. One of
// more than 256 entries has a rank index.

import { EARLIEST, LATEST } from "../../domain/instant.ts";
import type { Position } from "./rank-index.ts";

export type ListKind = {
  readonly table: "customer" | "tank" | "alert" | "forecast";
  /** The column whose value selects the entries; null for all objects of the table. */
  readonly column: "email" | "owner_id" | "state" | null;
  /** Entries are ordered by this column of safe integers, then by id. */
  readonly position: "created_at" | "urgency" | "margin" | "at";
};

/** Each has an index on (column, position, id) of live objects. */
export const LISTS = {
  customers: { table: "customer", column: null, position: "created_at" }, // customer_by_creation
  customersByEmail: { table: "customer", column: "email", position: "created_at" }, // customer_by_email
  tanks: { table: "tank", column: null, position: "created_at" }, // tank_by_creation
  tanksOfOwner: { table: "tank", column: "owner_id", position: "created_at" }, // tank_by_owner
  alerts: { table: "alert", column: null, position: "created_at" }, // alert_by_creation
  alertsByState: { table: "alert", column: "state", position: "created_at" }, // alert_by_state
  fleetByUrgency: { table: "forecast", column: null, position: "urgency" }, // forecast_by_urgency
  fleetByMargin: { table: "forecast", column: null, position: "margin" }, // forecast_by_margin
  fleetBySilence: { table: "forecast", column: null, position: "at" }, // forecast_by_silence
  fleetOfOwnerByUrgency: { table: "forecast", column: "owner_id", position: "urgency" }, // forecast_of_owner_by_urgency
  fleetOfOwnerByMargin: { table: "forecast", column: "owner_id", position: "margin" }, // forecast_of_owner_by_margin
  fleetOfOwnerBySilence: { table: "forecast", column: "owner_id", position: "at" }, // forecast_of_owner_by_silence
} as const satisfies Record<string, ListKind>;

/** Pages of what is ordered by creation begin with the newest. */
export const isDescending = ({ position }: ListKind): boolean => position === "created_at";

export const LIST_START: Position = [EARLIEST, ""];
export const LIST_END: Position = [LATEST, ""];

/** The name of a list in the table of its rank index. */
export function listName({ table, column, position }: ListKind, key: string | null): string {
  const name = position === "created_at" ? table : `${table} ${position}`;
  return column === null ? name : `${name} ${column} ${key}`;
}

export function listNamed(name: string): { readonly kind: ListKind; readonly key: string | null } | undefined {
  for (const kind of Object.values(LISTS)) {
    const prefix = listName(kind, "");
    if (kind.column === null ? name === prefix : name.startsWith(prefix)) {
      return { kind, key: kind.column === null ? null : name.slice(prefix.length) };
    }
  }
  return undefined;
}

type Listed = {
  readonly id: string;
  readonly created_at?: number;
  readonly urgency?: number;
  readonly margin?: number;
  readonly at?: number;
  readonly email?: string;
  readonly owner_id?: string;
  readonly state?: string;
};
/** An object before and after it is changed; undefined while it is not live. */
export type ListedChange = { readonly before: Listed | undefined; readonly after: Listed | undefined };
/** An entry that is added to a list (1) or removed from it (-1); `key` is the value of the list's column. */
export type EntryChange = { readonly key: string | null; readonly at: Position; readonly delta: 1 | -1 };

export function entryChanges({ column, position }: ListKind, changes: readonly ListedChange[]): EntryChange[] {
  const keyOf = (object: Listed): string | null => (column === null ? null : (object[column] ?? null));
  const entry = (object: Listed | undefined, delta: 1 | -1): EntryChange[] =>
    object === undefined ? [] : [{ key: keyOf(object), at: [Number(object[position]), object.id], delta }];
  return changes.flatMap(({ before, after }) => {
    const isMoved = before?.[position] !== after?.[position] || (before && keyOf(before)) !== (after && keyOf(after));
    return isMoved ? [...entry(before, -1), ...entry(after, 1)] : [];
  });
}
