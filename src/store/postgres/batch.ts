// Statements that write many rows at once: one array per column.

import { chunksOf } from "../../domain/chunks.ts";
import type { InsertRows, RunForIds, RunForRows } from "../core/sql-runner.ts";
import { bigints, doubles, texts } from "./arrays.ts";
import { type Db, statement, type Value } from "./connection.ts";
import { COLUMN_TYPES } from "./schema.ts";

type ColumnValue = string | number | boolean | null;

/** Inserts of the use cases that are written once for both engines. */
export function insertOn(db: Db): InsertRows {
  return async (table, columns, rows, end = "") => {
    if (rows.length === 0) return;
    const types = columns.map((column) => typeOf(table, column));
    const arrays = types.map((type, i) => `$${i + 1}::${type}[]`);
    const insertion = `INSERT INTO ${table} (${columns.join(", ")}) SELECT * FROM unnest(${arrays.join(", ")}) ${end}`;
    for (const some of chunksOf(rows, MAX_ROWS_PER_STATEMENT)) {
      const values = transposed(some).map((column, i) => arrayParameter(types[i] as string, column));
      await db.rows(statement(insertion), values);
    }
  };
}

/** A statement has a time limit, and alerts of many tanks may mean very many notifications. */
const MAX_ROWS_PER_STATEMENT = 10_000;

function typeOf(table: string, column: string): string {
  const type = COLUMN_TYPES.get(`${table}.${column}`);
  if (type === undefined) throw new Error(`the schema has no column ${table}.${column}`);
  return type;
}

/** The driver converts what has no binary format here. */
function arrayParameter(type: string, values: ColumnValue[]): Value {
  if (values.includes(null)) return values;
  if (type === "text") return texts(values as string[]);
  if (type === "bigint") return bigints(values as number[]);
  return type === "double precision" ? doubles(values as number[]) : values;
}

export function runForIdsOn(db: Db): RunForIds {
  return async (ids, sql, ...values) => {
    if (ids.length === 0) return [];
    const text = sql((column) => `${column} = ANY ($${values.length + 1}::text[])`);
    return db.rows(statement(text), [...values, ids]);
  };
}

export function runForRowsOn(db: Db): RunForRows {
  return async (columns, rows, sql, ...values) => {
    if (rows.length === 0) return [];
    const types = Object.values(columns);
    const arrays = types.map((type, i) => `$${values.length + i + 1}::${type}[]`);
    const given = `given (${Object.keys(columns).join(", ")}) AS MATERIALIZED (SELECT * FROM unnest(${arrays.join(", ")}))`;
    const parameters = transposed(rows).map((column, i) => arrayParameter(types[i] as string, column));
    return db.rows(statement(`WITH ${given} ${sql}`), [...values, ...parameters]);
  };
}

/** Equality, written so that each row is looked up: the planner would scan a table that it believes to be small. */
export const equalsByIndex = (column: string, by: string): string => `${column} BETWEEN ${by} AND ${by}`;

export function transposed(rows: readonly (readonly ColumnValue[])[]): ColumnValue[][] {
  return (rows[0] ?? []).map((_, i) => rows.map((row) => row[i] ?? null));
}
