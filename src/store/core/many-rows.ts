// Statements about many rows, which the engines run in different ways. Those of one call do not depend on each other: an engine may
// send them together.

import type { Row, Scalar } from "../columns.ts";
import type { Prepare } from "./reads.ts";

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

export type SqlRunner = { readonly prepare: Prepare; readonly insert: InsertRows; readonly runForIds: RunForIds };

/** Ends an insert: existing rows get the new values. The first `keys` columns identify a row. */
export function updateExisting(columns: readonly string[], keys = 1): string {
  const updates = columns.slice(keys).map((column) => `${column} = excluded.${column}`);
  return `ON CONFLICT (${columns.slice(0, keys).join(", ")}) DO UPDATE SET ${updates.join(", ")}`;
}
