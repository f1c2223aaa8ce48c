// Statements that write many rows at once: one array per column.

import type { Row } from "../columns.ts";
import type { InsertRows } from "../core/many-rows.ts";
import { bigints, doubles, texts } from "./arrays.ts";
import { type Db, statementOf, type Value } from "./connection.ts";

/** Columns that are not text. */
const TYPES: Readonly<Record<string, string>> = {
  acknowledged_at: "bigint",
  at: "bigint",
  capacity: "double precision",
  checksum: "bigint",
  closed_at: "bigint",
  computed_at: "bigint",
  created_at: "bigint",
  deleted: "boolean",
  deleted_at: "bigint",
  dropped: "bigint",
  due_at: "bigint",
  ended_at: "bigint",
  fill: "double precision",
  from_percentage: "double precision",
  last_seen_at: "bigint",
  latest_at: "bigint",
  latest_fill: "double precision",
  latitude: "double precision",
  leak: "bigint",
  leak_excess: "double precision",
  leak_loss: "double precision",
  leak_since: "bigint",
  longitude: "double precision",
  margin: "bigint",
  min_fill_alert_percentage: "integer",
  number: "bigint",
  outdated_since: "bigint",
  paused_until: "bigint",
  pending_since: "bigint",
  runs_low_at: "bigint",
  runs_low_soon: "bigint",
  sequence: "bigint",
  silent_after: "bigint",
  since: "bigint",
  started_at: "bigint",
  threshold: "bigint",
  to_percentage: "double precision",
  unsubscribed_at: "bigint",
  until: "bigint",
  updated_at: "bigint",
  urgency: "bigint",
  verified_at: "bigint",
};

type ColumnValue = string | number | boolean | null;

function insertion(table: string, columns: readonly string[]): string {
  const arrays = columns.map((column, i) => `$${i + 1}::${TYPES[column] ?? "text"}[]`);
  return `INSERT INTO ${table} (${columns.join(", ")}) SELECT * FROM unnest(${arrays.join(", ")})`;
}

/** Inserts of the use cases that are written once for both engines. */
export function insertOn(db: Db): InsertRows {
  return async (table, columns, rows, end = "") => {
    if (rows.length === 0) return;
    const values = columnsOf(rows).map((column, i) => arrayOf(TYPES[columns[i] as string] ?? "text", column));
    await db.rows(statementOf(`${insertion(table, columns)} ${end}`), values);
  };
}

/** The driver converts what has no binary format here. */
function arrayOf(type: string, values: ColumnValue[]): Value {
  if (values.includes(null)) return values;
  if (type === "text") return texts(values as string[]);
  if (type === "bigint") return bigints(values as number[]);
  return type === "double precision" ? doubles(values as number[]) : values;
}

/** Equality, written so that each row is looked up: the planner would scan a table that it believes to be small. */
export const equalsByIndex = (column: string, by: string): string => `${column} BETWEEN ${by} AND ${by}`;

/** Rows by their first column, in the order of `ids`. */
export function byId<T>(ids: readonly string[], rows: readonly Row[], toObject: (row: Row) => T): Map<string, T> {
  const found = new Map(rows.map((row) => [row[0] as string, row]));
  return new Map(ids.flatMap((id) => (found.has(id) ? [[id, toObject(found.get(id) as Row)]] : [])));
}

export function columnsOf(rows: readonly (readonly ColumnValue[])[]): ColumnValue[][] {
  return (rows[0] ?? []).map((_, i) => rows.map((row) => row[i] ?? null));
}
