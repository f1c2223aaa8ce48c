// Statements about many rows. They go into few statements, of few sizes, so that each is prepared once. Those of one call do not
// depend on each other: an engine may send them together.

import { chunksOf } from "../../domain/chunks.ts";
import type { Row, Scalar } from "../columns.ts";
import type { Prepare } from "./reads.ts";

/** `end` is the end of the statement, behind the rows. The engines differ in how they insert many. */
export type InsertRows = (
  table: string,
  columns: readonly string[],
  rows: readonly (readonly Scalar[])[],
  end?: string,
) => Promise<void>;

/** The largest is that of a page. */
const CHUNK_SIZES = [1, 4, 16, 64, 100] as const;
const MAX_CHUNK = 100;

/** The last item is repeated where a chunk has none for its size: it must not matter if a statement contains it twice. */
export function paddedChunks<T>(items: readonly T[]): T[][] {
  return chunksOf(items, MAX_CHUNK).map((chunk) => {
    const size = CHUNK_SIZES.find((one) => one >= chunk.length) ?? MAX_CHUNK;
    return [...chunk, ...Array<T>(size - chunk.length).fill(chunk.at(-1) as T)];
  });
}

/** `(CAST($1 AS text), CAST($2 AS bigint)), (CAST($3 AS text), …` and so on, with a type for each column. */
export function valueRows(rows: number, types: readonly string[]): string {
  return Array.from({ length: rows }, (_, row) => {
    const values = types.map((type, column) => `CAST($${row * types.length + column + 1} AS ${type})`);
    return `(${values.join(", ")})`;
  }).join(", ");
}

/** Ends an insert: existing rows get the new values. The first `keys` columns identify a row. */
export function updateExisting(columns: readonly string[], keys = 1): string {
  const updates = columns.slice(keys).map((column) => `${column} = excluded.${column}`);
  return `ON CONFLICT (${columns.slice(0, keys).join(", ")}) DO UPDATE SET ${updates.join(", ")}`;
}

/** `sql` is called with the list of ids, as in `id IN (list)`. Its other parameters are `values`, from $1 on. */
export async function rowsForIds(
  prepare: Prepare,
  ids: readonly (string | number)[],
  sql: (list: string) => string,
  ...values: readonly (string | number)[]
): Promise<Row[]> {
  const found = paddedChunks([...new Set(ids)]).map((chunk) => {
    const list = chunk.map((_, i) => `$${values.length + i + 1}`).join(", ");
    return prepare(sql(list))(...values, ...chunk);
  });
  return (await Promise.all(found)).flat();
}
