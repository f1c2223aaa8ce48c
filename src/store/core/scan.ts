// Scans of whole tables for exports. If a page is damaged, the rows on other pages are read in other ways: from the end of the
// table, page by page where the engine can, and one by one, by keys from an index. What cannot be read is reported.

import { DamageError, hasCode } from "../../domain/errors.ts";
import type { ExportRecord } from "../../domain/store.ts";
import type { Row, Scalar } from "../columns.ts";
import { SqlParameters } from "./dialect.ts";

/** One snapshot, on a connection of its own. */
export type Snapshot = {
  /** Streams the rows of a query. The next query begins when they have been read, or one of them could not be read. */
  readonly rows: (sql: string, values: readonly Scalar[]) => AsyncIterable<Row> | Iterable<Row>;
  /** How many pages of a table can be read apart from others; 0 if the engine cannot do that. */
  readonly pageCount: (table: string) => number | Promise<number>;
  /** These pages of the table, as a table of the same name, to follow FROM. */
  readonly pagesOf: (table: string, from: number, to: number) => string;
  /** Damage becomes a `data_damaged` error with its cause. */
  readonly translateError: (error: unknown) => unknown;
};

type ScannedTable = {
  readonly table: string;
  readonly joins?: string;
  readonly columns: string;
  /** Adds its values to the parameters. */
  readonly where?: (parameters: SqlParameters) => string;
  readonly groupBy?: string;
  /** Columns that identify a row. They are in the order in which rows are read. */
  readonly key: readonly string[];
  /** Gets the values of `columns`. */
  readonly recordsOf: (row: Row) => readonly ExportRecord[];
  readonly index: KeyIndex;
};

/** An index with the keys of all rows. */
export type KeyIndex = {
  readonly table: string;
  /** Follows the name of the table in queries, so that they use this index. */
  readonly hint: string;
  /** Here, the columns of the key. */
  readonly key: readonly string[];
  /** The columns of the index, which tell the operator which row it is. */
  readonly names: readonly string[];
  readonly describe: (...names: Row) => string;
  /** The plural noun for the rows, for messages. */
  readonly what: string;
};

export const damaged = (what: string): ExportRecord => ({ kind: "damaged", what });

/** Returns what is damaged, and rethrows other errors. */
export function requireDamage({ translateError }: Snapshot, error: unknown): string {
  const translated = translateError(error);
  if (!hasCode(translated, "data_damaged")) throw error;
  return (translated.cause as Error).message;
}

/** Keys that were read last, from either end: what remains is between them. */
type Ends = { ASC?: Row | undefined; DESC?: Row | undefined };
const DIRECTIONS = ["ASC", "DESC"] as const;

export async function* scan(snapshot: Snapshot, table: ScannedTable): AsyncGenerator<ExportRecord> {
  const { key, index } = table;
  const ends: Ends = {};
  for (const direction of DIRECTIONS) {
    try {
      const { sql, values } = select(table, (parameters) => isBetween(parameters, key, ends));
      for await (const row of snapshot.rows(`${sql} ${orderBy(key, direction)}`, values)) {
        ends[direction] = row.slice(0, key.length);
        yield* recordsOf(table, row);
      }
      return;
    } catch (error) {
      requireDamage(snapshot, error);
    }
  }
  const seen = new Set<string>();
  yield* scanPages(snapshot, table, ends, seen, 0, await snapshot.pageCount(table.table));
  for await (const found of keysBetween(snapshot, index, ends)) {
    if ("kind" in found) yield found;
    if ("kind" in found || seen.has(JSON.stringify(found.key))) continue;
    try {
      const { sql, values } = select(table, (parameters) => [compare(parameters, key, "=", found.key)]);
      for await (const row of snapshot.rows(sql, values)) yield* recordsOf(table, row);
    } catch (error) {
      yield damaged(`${index.describe(...found.names)} cannot be read: ${requireDamage(snapshot, error)}`);
    }
  }
}

/** Rows whose keys are not in `seen` yet. */
async function* scanPages(
  snapshot: Snapshot,
  table: ScannedTable,
  ends: Ends,
  seen: Set<string>,
  from: number,
  to: number,
): AsyncGenerator<ExportRecord> {
  if (from === to) return;
  try {
    const pages = snapshot.pagesOf(table.table, from, to);
    const { sql, values } = select(table, (parameters) => isBetween(parameters, table.key, ends), pages);
    for await (const row of snapshot.rows(sql, values)) {
      const key = JSON.stringify(row.slice(0, table.key.length));
      if (seen.has(key)) continue;
      seen.add(key);
      yield* recordsOf(table, row);
    }
  } catch (error) {
    requireDamage(snapshot, error);
    if (to - from === 1) return;
    const middle = (from + to) >> 1;
    yield* scanPages(snapshot, table, ends, seen, from, middle);
    yield* scanPages(snapshot, table, ends, seen, middle, to);
  }
}

type KeyConditions = (parameters: SqlParameters) => readonly string[];

function select({ table, joins, columns, where, groupBy, key }: ScannedTable, keyConditions: KeyConditions, from = table) {
  const parameters = new SqlParameters();
  const conditions = [...(where === undefined ? [] : [where(parameters)]), ...keyConditions(parameters)];
  const sql = `SELECT ${[...key, columns].join(", ")} FROM ${from} ${joins ?? ""} ${allOf(conditions)} ${groupBy ?? ""}`;
  return { sql, values: parameters.values };
}

function isBetween(parameters: SqlParameters, columns: readonly string[], { ASC, DESC }: Ends): string[] {
  const conditions = ASC === undefined ? [] : [compare(parameters, columns, ">", ASC)];
  return DESC === undefined ? conditions : [...conditions, compare(parameters, columns, "<", DESC)];
}

export function compare(parameters: SqlParameters, columns: readonly string[], operator: string, values: Row): string {
  const given = values.map((value) => parameters.add(value as string | number));
  return `(${columns.join(", ")}) ${operator} (${given.join(", ")})`;
}

const allOf = (conditions: readonly string[]): string => (conditions.length === 0 ? "" : `WHERE ${conditions.join(" AND ")}`);
const orderBy = (columns: readonly string[], direction: string): string =>
  `ORDER BY ${columns.map((column) => `${column} ${direction}`).join(", ")}`;

function recordsOf({ key, recordsOf: read }: ScannedTable, row: Row): readonly ExportRecord[] {
  try {
    return read(row.slice(key.length));
  } catch (error) {
    if (!(error instanceof DamageError)) throw error;
    return [damaged(error.message)];
  }
}

type FoundKey = { readonly key: Row; readonly names: Row };

const KEYS_AT_ONCE = 1000;

/** In the order of the index; if the index is damaged too, from both ends. */
async function* keysBetween(
  snapshot: Snapshot,
  { table, hint, key, names, what, describe }: KeyIndex,
  ends: Ends,
): AsyncGenerator<FoundKey | (ExportRecord & { readonly kind: "damaged" })> {
  const named: Ends = String(names) === String(key) ? { ...ends } : {};
  let damage = "";

  async function read(direction: (typeof DIRECTIONS)[number]) {
    const parameters = new SqlParameters();
    const conditions = allOf([...isBetween(parameters, key, ends), ...isBetween(parameters, names, named)]);
    const sql = `SELECT DISTINCT ${[...key, ...names].join(", ")} FROM ${table} ${hint} ${conditions}
      ${orderBy(names, direction)} LIMIT ${KEYS_AT_ONCE}`;
    const found: FoundKey[] = [];
    try {
      for await (const row of snapshot.rows(sql, parameters.values)) {
        found.push({ key: row.slice(0, key.length), names: row.slice(key.length) });
      }
      return { found, isDamaged: false };
    } catch (error) {
      damage = requireDamage(snapshot, error);
      return { found, isDamaged: true };
    }
  }

  for (const direction of DIRECTIONS) {
    for (let isDamaged = false; !isDamaged; ) {
      const part = await read(direction);
      yield* part.found;
      named[direction] = part.found.at(-1)?.names ?? named[direction];
      isDamaged = part.isDamaged;
      if (!isDamaged && part.found.length < KEYS_AT_ONCE) return;
    }
  }
  const after = named.ASC === undefined ? "" : ` after ${describe(...named.ASC)}`;
  const before = named.DESC === undefined ? "" : ` before ${describe(...named.DESC)}`;
  yield { kind: "damaged", what: `${what}${after}${before} may be missing: ${damage}` };
}
