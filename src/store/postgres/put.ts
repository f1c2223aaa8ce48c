// Writes many objects with one statement: an array a column.

import { type Statement, statement, type Value } from "./connection.ts";

/** What is not text. */
const TYPES: Readonly<Record<string, string>> = {
  capacity: "double precision",
  created_at: "bigint",
  deleted: "boolean",
  last_seen_at: "bigint",
  latitude: "double precision",
  longitude: "double precision",
  min_fill_alert_percentage: "integer",
  updated_at: "bigint",
  verified_at: "bigint",
};

/** Makes the rows, or replaces these columns of those that are there. The first column is the id. */
export function putStatement(table: string, columns: readonly string[]): Statement {
  const arrays = columns.map((column, i) => `$${i + 1}::${TYPES[column] ?? "text"}[]`);
  return statement(`
    INSERT INTO ${table} (${columns.join(", ")}) SELECT * FROM unnest(${arrays.join(", ")})
    ON CONFLICT (id) DO UPDATE SET ${columns.map((column) => `${column} = excluded.${column}`).join(", ")}`);
}

/** Rows as columns: one array each. */
export function columnsOf(rows: readonly (readonly (string | number | boolean | null)[])[]): Value[] {
  return (rows[0] ?? []).map((_, i) => rows.map((row) => row[i] ?? null));
}
