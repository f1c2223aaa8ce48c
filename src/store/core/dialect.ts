// What differs in SQL that both engines run. Parameters are $1, $2, and so on.

import type { Instant } from "../../domain/instant.ts";
import { asciiLowerCase } from "../../domain/text.ts";
import type { ListKind } from "../packed/lists.ts";
import { ALERT_INDEX_CONDITION, FORECAST_INDEX_CONDITION } from "./schema.ts";

export interface Dialect {
  isLive(table: string): string;
  isDeleted(table: string): string;
  /** `deviceKey` of a column. */
  deviceKeyOf(column: string): string;
  equals(column: string, value: string): string;
  /** Ends a subquery that must be run as it stands, by the index of its ORDER BY. */
  readonly optimizerFence: string;
  /** After the name of a table: its rows are looked up in this index, where the engine would prefer another. */
  indexedBy(index: string): string;
  /** Ends a query whose rows are then changed: leaves out those that another transaction is changing. */
  readonly skipLocked: string;
  /** The aggregate function that makes a JSON array of values. */
  readonly jsonArray: string;
  /** A number of a JSON object without its fraction; null if it has none. Damaged JSON is no error. */
  jsonNumber(column: string, name: string): string;
  /** The time, by the clock that all processes on the database share. `position` is that of its parameter, if it needs one. */
  now(instant: Instant, position: number): { readonly sql: string; readonly values: readonly Instant[] };
}

/** Collects the values of a statement, and returns how each is named in it. */
export class SqlParameters {
  readonly values: (string | number)[] = [];

  add(value: string | number): string {
    this.values.push(value);
    return `$${this.values.length}`;
  }
}

/** `order` is that of the condition's index. */
export type SqlCondition = { readonly holds: string; readonly order: string };

/** One condition for each value that is given. */
export function equalTo(
  { equals }: Pick<Dialect, "equals">,
  parameters: SqlParameters,
  given: Readonly<Record<string, string | undefined>>,
): SqlCondition[] {
  return Object.entries(given).flatMap(([column, value]) =>
    value === undefined ? [] : [{ holds: equals(column, parameters.add(value)), order: column }],
  );
}

/** Ignores the case of A to Z. By an index on lower(column). */
export function startsWith(parameters: SqlParameters, column: string, prefix: string): SqlCondition {
  const { from, to } = prefixRange(prefix);
  const order = `lower(${column})`;
  return { holds: `${order} >= ${parameters.add(from)} AND ${order} < ${parameters.add(to)}`, order };
}

export const where = (conditions: readonly Pick<SqlCondition, "holds">[]): string =>
  conditions.length === 0 ? "" : `WHERE ${conditions.map(({ holds }) => holds).join(" AND ")}`;

/** Whether a row is an entry of lists: it is live. Alerts are never deleted, and only live tanks have a forecast. */
export function isListed({ isLive }: Dialect, table: ListKind["table"]): string {
  if (table === "alert") return `${table}.${ALERT_INDEX_CONDITION}`;
  return table === "forecast" ? `${table}.${FORECAST_INDEX_CONDITION}` : isLive(table);
}

/** FROM and WHERE of a list; `key` is the expression that its column is compared with, if it has one. */
export function entriesOf(dialect: Dialect, { table, column }: ListKind, key: string): string {
  return `FROM ${table} WHERE ${isListed(dialect, table)}${column === null ? "" : ` AND ${table}.${column} = ${key}`}`;
}

/** The values for `key` in a statement with `entriesOf`: one, or none for a list of a whole table. */
export const listKey = ({ column }: ListKind, key: string | null): string[] => (column === null ? [] : [String(key)]);

export const prefixed = (table: string, columns: string): string =>
  columns
    .split(", ")
    .map((column) => `${table}.${column}`)
    .join(", ");

const LAST_POINT = 0x10ffff;
const SURROGATES = { first: 0xd800, after: 0xe000 } as const;

/** Strings with a prefix, as a range in an index on lower(column): from `from` to `to`, exclusive. Only A to Z are lowercased. */
function prefixRange(start: string): { readonly from: string; readonly to: string } {
  const from = asciiLowerCase(start);
  const points = Array.from(from, (character) => character.codePointAt(0) ?? 0);
  for (let point = points.pop(); point !== undefined; point = points.pop()) {
    if (point === LAST_POINT) continue;
    const next = point + 1 === SURROGATES.first ? SURROGATES.after : point + 1;
    return { from, to: String.fromCodePoint(...points, next) };
  }
  // Nothing sorts after the last character: longer than any string that is stored.
  return { from, to: String.fromCodePoint(LAST_POINT).repeat(1000) };
}
