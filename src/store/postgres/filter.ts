// Lists that are filtered: what a filter leaves is counted and sorted when it is asked for. One part of a filter is looked up
// in an index, the others are held against what was found there; all in one statement.

import type { Page, PageQuery } from "../../domain/page.ts";
import { rangeOf } from "../beginning.ts";
import { type Db, type Row, type Statement, statement, type Value } from "./connection.ts";

/** There are as many statements as there are kinds of filters: each is prepared when it is first needed. */
const statements = new Map<string, Statement>();

function statementOf(text: string): Statement {
  const known = statements.get(text) ?? statement(text);
  statements.set(text, known);
  return known;
}

/** The values of a statement, as they are named in it. */
export class Filtering {
  readonly values: Value[] = [];

  value(value: Value, type: string): string {
    this.values.push(value);
    return `$${this.values.length}::${type}`;
  }

  ask(db: Db, text: string): Promise<Row[]> {
    return db.rows(statementOf(text), this.values);
  }
}

/** What is looked up in the order of its index leaves the planner no other, also where tables are small, or seem so. */
export type Condition = { readonly holds: string; readonly order: string };

/** A text that begins so, without regard to the case of A to Z. `column` is an expression of an index. */
export function beginsWith(filtering: Filtering, column: string, start: string): Condition {
  const range = rangeOf(start);
  const [from, to] = [filtering.value(range.from, "text"), filtering.value(range.to, "text")];
  return { holds: `${column} >= ${from} AND ${column} < ${to}`, order: column };
}

/** As a range: of what is equal the order would mean nothing. */
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
  /** What holds for all, and what of it an index is made for. */
  readonly base?: string;
  readonly looked: Condition;
  readonly others: readonly Condition[];
};

/** Rows of the number of all that are found, and the columns; without a page, of the number alone. */
export function filteredPage(
  db: Db,
  filtering: Filtering,
  { table, key, order, columns, base = "true", looked, others }: FilteredList,
  { page, size }: Pick<PageQuery, "page" | "size">,
): Promise<Row[]> {
  const sorted = (alias: string): string => order.map((column) => `${alias}.${column} DESC`).join(", ");
  const limits = `LIMIT ${filtering.value(size, "bigint")} OFFSET ${filtering.value((page - 1) * size, "bigint")}`;
  return filtering.ask(
    db,
    `
    WITH found AS MATERIALIZED (
      SELECT ${order.join(", ")} FROM (
        SELECT * FROM ${table} WHERE ${base} AND ${looked.holds} ORDER BY ${looked.order} OFFSET 0
      ) AS looked ${where(others)}
    )
    SELECT counted.total, entry.* FROM (SELECT count(*) AS total FROM found) AS counted LEFT JOIN (
      (SELECT * FROM found ORDER BY ${sorted("found")} ${limits}) AS page
      CROSS JOIN LATERAL (SELECT ${columns} FROM ${table} WHERE ${key} = page.${key} OFFSET 0) AS entry
    ) ON true ORDER BY ${sorted("page")}`,
  );
}

/** Rows of the number of all, and what `of` reads: without an entry there is one, with the number alone. */
export function pageOf<T>(rows: readonly Row[], of: (columns: Row) => T): Page<T> {
  const found = rows.map(([, ...columns]) => columns).filter(([id]) => id !== null);
  return { data: found.map(of), totalItems: Math.max(0, Number(rows[0]?.[0] ?? 0)) };
}
