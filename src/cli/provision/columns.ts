// The columns of a sheet: what its header says they are, and what a row of it makes of an object of the interface.

import { NewCustomer } from "../../domain/commands/customers.ts";
import { NewTank } from "../../domain/commands/tanks.ts";
import type { Schema } from "../../domain/schema.ts";
import { Location } from "../../domain/tank.ts";
import { quoted, suggestion } from "../../domain/text.ts";
import { numberIn, put } from "../fields.ts";

const KINDS = ["customers", "tanks"] as const;
export type Kind = (typeof KINDS)[number];
type Reading = "text" | "number" | "yes or no" | "json";
export type Column = { readonly title: string; readonly path: string; readonly reading: Reading };
export type Header = { readonly kind: Kind; readonly columns: readonly Column[] };

type Known = ReadonlyMap<string, Omit<Column, "title">>;

/** Names are those of the interface; a place may also be named by its field alone. */
const KNOWN: Readonly<Record<Kind, Known>> = {
  customers: new Map(columnsOf(NewCustomer.properties, "")),
  tanks: new Map([
    ...columnsOf(NewTank.properties, "").filter(([name]) => name !== "location"),
    ...columnsOf(Location.properties, "location."),
    ...columnsOf(Location.properties, "location.").map(([name, column]) => [name.slice("location.".length), column] as const),
    ["shape", { path: "shape", reading: "json" }],
  ]),
};

/** A place may also be named in full. */
const isShort = (name: string): boolean => !name.startsWith("location.");

/** As the command line, or a spreadsheet, may call them. */
const OTHER_NAMES: ReadonlyMap<string, string> = new Map([
  ["customer_id", "owner_id"],
  ["customer", "owner_id"],
  ["owner", "owner_id"],
  ["threshold", "min_fill_alert_percentage"],
  ["device", "assigned_device_id"],
  ["device_id", "assigned_device_id"],
  ["unit", "capacity_unit"],
]);

function columnsOf(properties: Readonly<Record<string, Schema>>, before: string) {
  return Object.entries(properties).map(
    ([name, schema]) => [`${before}${name}`, { path: `${before}${name}`, reading: readingOf(schema) }] as const,
  );
}

function readingOf({ type = [] }: Schema): Reading {
  if (type.includes("number") || type.includes("integer")) return "number";
  return type.includes("boolean") ? "yes or no" : "text";
}

/** The header, or everything that is wrong with it. */
export function headerOf(cells: readonly string[]): Header | { readonly faults: readonly string[] } {
  const titles = withoutEmptyEnd(cells.map((cell) => cell.trim().toLowerCase()));
  const unknown = KINDS.map((kind) => titles.filter((title) => !KNOWN[kind].has(title)));
  const least = Math.min(...unknown.map(({ length }) => length));
  const kinds = KINDS.filter((_, i) => unknown[i]?.length === least);
  const [kind] = kinds;
  if (kind === undefined || least > 0) {
    const strange = titles.filter((title) => kinds.every((one) => !KNOWN[one].has(title)));
    if (strange.length === 0)
      return { faults: ["the columns are those of customers and of tanks; a file has the one or the other"] };
    const known = kinds.map((one) => `the columns of ${one} are ${[...KNOWN[one].keys()].filter(isShort).join(", ")}`);
    return { faults: [...strange.map((title) => unknownColumn(title, kinds)), ...known] };
  }
  if (kinds.length > 1) {
    return { faults: ["these may be customers or tanks: add a column that only one of them has, such as email or owner_id"] };
  }
  return withColumns(kind, titles);
}

function withColumns(kind: Kind, titles: readonly string[]): Header | { readonly faults: readonly string[] } {
  const columns = titles.flatMap((title) => {
    const known = KNOWN[kind].get(title);
    return known === undefined ? [] : [{ title, ...known }];
  });
  const twice = columns.filter(({ path }, i) => columns.findIndex((column) => column.path === path) < i);
  if (twice.length > 0) return { faults: twice.map(({ title }) => `the column ${quoted(title)} is there twice`) };
  return { kind, columns };
}

function unknownColumn(title: string, kinds: readonly Kind[]): string {
  if (title === "") return "a column has no name";
  const known = kinds.flatMap((kind) => [...KNOWN[kind].keys()]);
  const meant = OTHER_NAMES.get(title);
  const hint = meant !== undefined && known.includes(meant) ? ` Did you mean "${meant}"?` : suggestion(title, known);
  return `there is no column ${quoted(title)} for ${kinds.join(" or ")}.${hint}`;
}

function withoutEmptyEnd(titles: readonly string[]): readonly string[] {
  return titles.slice(0, titles.findLastIndex((title) => title !== "") + 1);
}

export type Made = { readonly object: Readonly<Record<string, unknown>>; readonly faults: readonly string[] };

/** An empty cell is not given. What is no number stays a text, and is refused as one by those who judge. */
export function objectOf(cells: readonly string[], columns: readonly Column[]): Made {
  const object: Record<string, unknown> = {};
  const faults: string[] = [];
  if (cells.length < columns.length || cells.slice(columns.length).some((cell) => cell !== "")) {
    faults.push(`has ${cells.length} cells where the header has ${columns.length} columns`);
  }
  columns.forEach(({ title, path, reading }, i) => {
    const cell = cells[i] ?? "";
    if (cell === "") return;
    const value = valueIn(cell, reading);
    if (value === undefined) faults.push(`${title}: is not JSON (given: ${quoted(cell)})`);
    else put(object, path, value);
  });
  return { object, faults };
}

function valueIn(cell: string, reading: Reading): unknown {
  switch (reading) {
    case "number":
      return numberIn(cell);
    case "yes or no": {
      const word = cell.toLowerCase();
      return word === "true" || word === "false" ? word === "true" : cell;
    }
    case "json":
      return jsonIn(cell);
    default:
      return cell;
  }
}

function jsonIn(cell: string): unknown {
  try {
    return JSON.parse(cell);
  } catch {
    return undefined;
  }
}
