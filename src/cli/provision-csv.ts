// CSV files of customers or tanks: rows with their line numbers, and the objects of the API that they describe.

import { CsvError, type Info, parse } from "csv-parse/sync";
import { TankAlertSettingsObject } from "../domain/alerts/tank-alert-settings.ts";
import { NewCustomer } from "../domain/commands/customers.ts";
import { NewTank } from "../domain/commands/tanks.ts";
import { NotificationSettings } from "../domain/customer.ts";
import type { Schema } from "../domain/schema.ts";
import { Location } from "../domain/tank.ts";
import { quoted, suggestion } from "../domain/text.ts";
import { type CsvFormat, parseDecimal, type Separator, separatorIn } from "../ingest/csv.ts";
import { jsonOrName, setPath } from "./fields.ts";

type CsvRow = {
  /** The line it starts on, from 1. */
  readonly line: number;
  readonly cells: readonly string[];
};
type CsvFile = {
  readonly separator: Separator;
  /** Rows that are not empty. */
  readonly rows: readonly CsvRow[];
  /** Nothing after this line could be read. */
  readonly error?: { readonly line: number; readonly message: string };
};

const MAX_HEADER_CHARACTERS = 65_536;
const QUOTE_ERRORS: Readonly<Record<string, string>> = {
  INVALID_OPENING_QUOTE: "a quote inside an unquoted cell",
  CSV_INVALID_CLOSING_QUOTE: "text after a closing quote",
  CSV_QUOTE_NOT_CLOSED: "a quote is never closed",
};

/** RFC 4180 with any line ending, a byte order mark, and the separator that the header has. */
export function parseCsv(file: string): CsvFile {
  const text = file.replace(/\r\n?/g, "\n");
  const separator = separatorIn(text.slice(0, MAX_HEADER_CHARACTERS).split("\n", 1)[0] ?? "");
  const rows: CsvRow[] = [];
  let lines = 0;
  const onRecord = ({ record, info }: { readonly record: string[]; readonly info: Info }): null => {
    if (record.some((cell) => cell !== "")) rows.push({ line: lines + 1, cells: record });
    lines = info.lines;
    return null;
  };
  try {
    parse(text, {
      bom: true,
      delimiter: separator,
      record_delimiter: "\n",
      relax_column_count: true,
      info: true,
      on_record: onRecord as never,
    });
    return { separator, rows };
  } catch (error) {
    if (!(error instanceof CsvError)) throw error;
    return { separator, rows, error: { line: lines + 1, message: QUOTE_ERRORS[error.code] ?? error.message } };
  }
}

const KINDS = ["customers", "tanks"] as const;
export type CsvKind = (typeof KINDS)[number];
type CellType = "text" | "number" | "boolean" | "json";
export type CsvColumn = { readonly title: string; readonly path: string; readonly type: CellType };
type Header = { readonly kind: CsvKind; readonly columns: readonly CsvColumn[] };
type Errors = { readonly errors: readonly string[] };

/** Names of the API. Fields of a location, of `notifications` and of `alerts` may go without that name. */
const COLUMNS: Readonly<Record<CsvKind, ReadonlyMap<string, Omit<CsvColumn, "title">>>> = {
  customers: new Map([
    ...csvColumns(NewCustomer.properties, "").filter(([name]) => name !== "notifications"),
    ...nestedColumns(NotificationSettings.properties, "notifications."),
  ]),
  tanks: new Map([
    ...csvColumns(NewTank.properties, "").filter(([name]) => name !== "location"),
    ...nestedColumns(Location.properties, "location."),
    ...nestedColumns(TankAlertSettingsObject.properties, "alerts."),
    ["shape", { path: "shape", type: "json" }],
    ["profile", { path: "profile", type: "json" }],
  ]),
};

/** Other names that people use, for a suggestion. */
const SYNONYMS: ReadonlyMap<string, string> = new Map([
  ["customer_id", "owner_id"],
  ["customer", "owner_id"],
  ["owner", "owner_id"],
  ["threshold", "min_fill_alert_percentage"],
  ["device", "assigned_device_id"],
  ["device_id", "assigned_device_id"],
  ["unit", "capacity_unit"],
]);

function csvColumns(properties: Readonly<Record<string, Schema>>, prefix: string) {
  return Object.entries(properties).map(
    ([name, schema]) => [`${prefix}${name}`, { path: `${prefix}${name}`, type: cellType(schema) }] as const,
  );
}

/** Returns each column with the prefix, and without it. */
function nestedColumns(properties: Readonly<Record<string, Schema>>, prefix: string) {
  const columns = csvColumns(properties, prefix);
  return [...columns, ...columns.map(([name, column]) => [name.slice(prefix.length), column] as const)];
}

function cellType({ type = [] }: Schema): CellType {
  if (type.includes("number") || type.includes("integer")) return "number";
  return type.includes("boolean") ? "boolean" : "text";
}

/** The columns show whether rows are customers or tanks. */
export function parseHeader(cells: readonly string[]): Header | Errors {
  const names = cells.map((cell) => cell.trim().toLowerCase());
  const titles = names.slice(0, names.findLastIndex((name) => name !== "") + 1);
  if (titles.includes("fill_percentage")) {
    return { errors: ['this is a file of readings, not of customers or tanks: use "npx tank-monitor import"'] };
  }
  const unknownIn = (kind: CsvKind): number => titles.filter((title) => !COLUMNS[kind].has(title)).length;
  const fewestUnknown = Math.min(...KINDS.map(unknownIn));
  const kinds = KINDS.filter((kind) => unknownIn(kind) === fewestUnknown);
  const [kind] = kinds;
  if (kind === undefined || fewestUnknown > 0) return { errors: unknownColumns(titles, kinds) };
  if (kinds.length > 1) {
    return { errors: ["these may be customers or tanks: add a column that only one of them has, such as email or owner_id"] };
  }
  const columns = titles.flatMap((title) => {
    const known = COLUMNS[kind].get(title);
    return known === undefined ? [] : [{ title, ...known }];
  });
  const repeated = columns.filter(({ path }, i) => columns.findIndex((column) => column.path === path) < i);
  if (repeated.length > 0) return { errors: repeated.map(({ title }) => `duplicate column ${quoted(title)}`) };
  return { kind, columns };
}

function unknownColumns(titles: readonly string[], kinds: readonly CsvKind[]): string[] {
  const unknown = titles.filter((title) => kinds.every((kind) => !COLUMNS[kind].has(title)));
  if (unknown.length === 0) return ["columns of both customers and tanks; a file has one or the other"];
  const names = (kind: CsvKind) => [...COLUMNS[kind].keys()].filter((name) => !name.includes("."));
  const known = kinds.map((kind) => ` The columns of ${kind} are ${names(kind).join(", ")}.`).join("");
  return unknown.map((title, i) => unknownColumn(title, kinds) + (i === unknown.length - 1 ? known : ""));
}

function unknownColumn(title: string, kinds: readonly CsvKind[]): string {
  if (title === "") return "a column has no name";
  const known = kinds.flatMap((kind) => [...COLUMNS[kind].keys()]);
  const meant = SYNONYMS.get(title);
  const hint = meant !== undefined && known.includes(meant) ? ` Did you mean "${meant}"?` : suggestion(title, known);
  return `no such column for ${kinds.join(" or ")}: ${quoted(title)}.${hint}`;
}

type ParsedRow = { readonly object: Readonly<Record<string, unknown>>; readonly errors: readonly string[] };

/** Empty cells are left out. What is not a number is sent as text: the service rejects it with a better message. */
export function parseRow(cells: readonly string[], columns: readonly CsvColumn[], format: CsvFormat): ParsedRow {
  const object: Record<string, unknown> = {};
  const errors: string[] = [];
  if (cells.length < columns.length || cells.slice(columns.length).some((cell) => cell !== "")) {
    errors.push(`${cells.length} cells, but the header has ${columns.length} columns`);
  }
  columns.forEach((column, i) => {
    const cell = cells[i] ?? "";
    if (cell === "") return;
    const parsed = parseCell(cell, column, format);
    if ("error" in parsed) errors.push(`${column.title}: ${parsed.error}`);
    else setPath(object, column.path, parsed.value);
  });
  return { object, errors };
}

type ParsedCell = { readonly value: unknown } | { readonly error: string };

function parseCell(cell: string, { path, type }: CsvColumn, format: CsvFormat): ParsedCell {
  if (type === "boolean" && /^(true|false)$/i.test(cell)) return { value: cell.toLowerCase() === "true" };
  if (type === "number") {
    const value = parseDecimal(cell, format);
    return { value: typeof value === "object" ? cell : value };
  }
  if (type !== "json") return parseText(cell, path);
  try {
    return { value: jsonOrName(cell) };
  } catch (error) {
    return { error: (error as Error).message };
  }
}

/** A spreadsheet writes a long number, such as the id of a device, as 7,0764E+15. */
const ROUNDED_NUMBER = /^\d([.,]\d+)?E\+\d+$/i;
const IDS: ReadonlySet<string> = new Set(["id", "owner_id", "assigned_device_id"]);

function parseText(cell: string, path: string): ParsedCell {
  if (ROUNDED_NUMBER.test(cell)) {
    const advice = "format the column as text and enter it again";
    return { error: `a spreadsheet has rounded this number: ${advice} (given: ${quoted(cell)})` };
  }
  // A device sends its id without the space, so its readings would stay pending.
  if (IDS.has(path) && cell !== cell.trim()) return { error: `begins or ends with a space (given: ${quoted(cell)})` };
  return { value: cell };
}
