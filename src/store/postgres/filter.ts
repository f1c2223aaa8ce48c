// Filtered lists: what a filter matches is counted and sorted in one statement. One condition is looked up in an index, the
// others are tested on what is found there.

import type { Page, PageQuery } from "../../domain/page.ts";
import { prefixRange } from "../prefix-range.ts";
import { type Db, type Row, statementOf, type Value } from "./connection.ts";

/** Collects the values of a statement, and returns how each is named in it. */
export class Parameters {
  readonly values: Value[] = [];

  add(value: Value, type: string): string {
    this.values.push(value);
    return `$${this.values.length}::${type}`;
  }

  rows(db: Db, text: string): Promise<Row[]> {
    return db.rows(statementOf(text), this.values);
  }
}

/** `order` is that of the condition's index: sorting by it leaves the planner no other index, even on small tables. */
export type Condition = { readonly holds: string; readonly order: string };

/** Ignores the case of A to Z. `column` is the expression of an index. */
export function startsWith(parameters: Parameters, column: string, prefix: string): Condition {
  const range = prefixRange(prefix);
  const [from, to] = [parameters.add(range.from, "text"), parameters.add(range.to, "text")];
  return { holds: `${column} >= ${from} AND ${column} < ${to}`, order: column };
}

/** As a range: an ORDER BY of a column that is equal for all rows is dropped. */
export function isEqual(column: string, value: string): Condition {
  return { holds: `${column} >= ${value} AND ${column} <= ${value}`, order: column };
}

export const where = (conditions: readonly Pick<Condition, "holds">[]): string =>
  conditions.length === 0 ? "" : `WHERE ${conditions.map(({ holds }) => holds).join(" AND ")}`;

export type FilteredList = {
  readonly table: string;
  readonly key: string;
  /** Descending. */
  readonly order: readonly string[];
  readonly columns: string;
  /** The condition of the partial indexes. */
  readonly base?: string;
  readonly lookup: Condition;
  readonly others: readonly Condition[];
};

/** Rows: the number of all matches, and the columns. A page without entries is one row with the number only. */
export function filteredPage(
  db: Db,
  parameters: Parameters,
  { table, key, order, columns, base = "true", lookup, others }: FilteredList,
  { page, size }: Pick<PageQuery, "page" | "size">,
): Promise<Row[]> {
  const sorted = (alias: string): string => order.map((column) => `${alias}.${column} DESC`).join(", ");
  const limits = `LIMIT ${parameters.add(size, "bigint")} OFFSET ${parameters.add((page - 1) * size, "bigint")}`;
  return parameters.rows(
    db,
    `
    WITH found AS MATERIALIZED (
      SELECT ${order.join(", ")} FROM (
        SELECT * FROM ${table} WHERE ${base} AND ${lookup.holds} ORDER BY ${lookup.order} OFFSET 0
      ) AS candidate ${where(others)}
    )
    SELECT counted.total, entry.* FROM (SELECT count(*) AS total FROM found) AS counted LEFT JOIN (
      (SELECT * FROM found ORDER BY ${sorted("found")} ${limits}) AS page
      CROSS JOIN LATERAL (SELECT ${columns} FROM ${table} WHERE ${key} = page.${key} OFFSET 0) AS entry
    ) ON true ORDER BY ${sorted("page")}`,
  );
}

export function pageOf<T>(rows: readonly Row[], toObject: (columns: Row) => T): Page<T> {
  const found = rows.map(([, ...columns]) => columns).filter(([id]) => id !== null);
  return { data: found.map(toObject), totalItems: Math.max(0, Number(rows[0]?.[0] ?? 0)) };
}
