// How the engines run SQL that is written once for both. Statements about many rows they run in different ways; those of one call do
// not depend on each other: an engine may send them together.

import type { Row, Scalar } from "../columns.ts";

/** Prepares a statement with the parameters $1, $2, and so on. */
export type Prepare = (sql: string) => (...values: (string | number | null)[]) => Promise<readonly Row[]>;
/** Runs a statement with the parameters $1, $2, and so on. */
export type RunQuery = (sql: string, ...values: (string | number)[]) => Promise<readonly Row[]>;

/** `end` is the end of the statement, behind the rows. */
export type InsertRows = (
  table: string,
  columns: readonly string[],
  rows: readonly (readonly Scalar[])[],
  end?: string,
) => Promise<void>;

/**
 * Runs a statement for any number of ids. `sql` is called with the condition that a column is one of them. Its other parameters are
 * `values`, from $1 on.
 */
export type RunForIds = (
  ids: readonly string[],
  sql: (isOneOf: (column: string) => string) => string,
  ...values: readonly (string | number)[]
) => Promise<readonly Row[]>;

/**
 * Runs a statement for any number of rows: each is a row of the table `given`, which has these columns. Its other parameters are
 * `values`, from $1 on.
 */
export type RunForRows = (
  columns: Readonly<Record<string, "text" | "bigint">>,
  rows: readonly (readonly Scalar[])[],
  sql: string,
  ...values: readonly (string | number)[]
) => Promise<readonly Row[]>;

export type SqlRunner = {
  readonly prepare: Prepare;
  readonly insert: InsertRows;
  readonly runForIds: RunForIds;
  readonly runForRows: RunForRows;
};

/** Ends an insert: existing rows get the new values. The first `keys` columns identify a row. */
export function updateExisting(columns: readonly string[], keys = 1): string {
  const updates = columns.slice(keys).map((column) => `${column} = excluded.${column}`);
  return `ON CONFLICT (${columns.slice(0, keys).join(", ")}) DO UPDATE SET ${updates.join(", ")}`;
}
