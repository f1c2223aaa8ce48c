// Writes many objects with one statement: an array a column.

import { type Row, type Statement, statement, type Value } from "./connection.ts";

/** What is not text. */
const TYPES: Readonly<Record<string, string>> = {
  capacity: "double precision",
  created_at: "bigint",
  deleted: "boolean",
  deleted_at: "bigint",
  dropped: "bigint",
  last_seen_at: "bigint",
  latitude: "double precision",
  longitude: "double precision",
  min_fill_alert_percentage: "integer",
  since: "bigint",
  until: "bigint",
  updated_at: "bigint",
  verified_at: "bigint",
};

/** Makes the rows, or replaces these columns of those that are there. They are known by the first column, or the first few. */
export function putStatement(table: string, columns: readonly string[], keys = 1): Statement {
  const arrays = columns.map((column, i) => `$${i + 1}::${TYPES[column] ?? "text"}[]`);
  const sets = columns.slice(keys).map((column) => `${column} = ${newValue(table, column)}`);
  return statement(`
    INSERT INTO ${table} (${columns.join(", ")}) SELECT * FROM unnest(${arrays.join(", ")})
    ON CONFLICT (${columns.slice(0, keys).join(", ")}) DO UPDATE SET ${sets.join(", ")}`);
}

/**
 * That two are equal, said so that rows of a table are looked up one by one: of a table that was small when it was planned for,
 * every row would be looked at, since an equality can be met by walking both.
 */
export const lookedUp = (column: string, by: string): string => `${column} BETWEEN ${by} AND ${by}`;

/** What was deleted before keeps the moment of that. */
function newValue(table: string, column: string): string {
  if (column !== "deleted_at") return `excluded.${column}`;
  return `CASE WHEN excluded.deleted THEN coalesce(excluded.deleted_at, ${table}.deleted_at) END`;
}

/** When an object becomes deleted; null where it does not, or was before. */
export function deletedAt(before: { readonly deleted: boolean } | undefined, after: { readonly deleted: boolean }, at: number) {
  return after.deleted && before?.deleted !== true ? at : null;
}

/** Rows by their first column, in the order in which that was asked for. */
export function byId<T>(ids: readonly string[], rows: readonly Row[], of: (row: Row) => T): Map<string, T> {
  const found = new Map(rows.map((row) => [row[0] as string, row]));
  return new Map(ids.flatMap((id) => (found.has(id) ? [[id, of(found.get(id) as Row)]] : [])));
}

/** Rows as columns: one array each. */
export function columnsOf(rows: readonly (readonly (string | number | boolean | null)[])[]): Value[] {
  return (rows[0] ?? []).map((_, i) => rows.map((row) => row[i] ?? null));
}
