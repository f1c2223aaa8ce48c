// CSV readings: a header that names the three columns, in any order, then one reading a row.

import type { DecodedRecord } from "../domain/record.ts";
import { decodeReading } from "../domain/record.ts";
import { quoted } from "../domain/text.ts";

const COLUMNS = ["tank_id", "created_at", "fill_percentage"] as const;

export type RowDecoder = (text: string) => DecodedRecord;

/** From the header row to the decoder of all others, or what is wrong with the header. */
export function csvRowDecoder(header: string): RowDecoder | { readonly fault: string } {
  const names = cells(header)?.map((name) => name.trim().toLowerCase()) ?? [];
  const places = COLUMNS.map((column) => names.indexOf(column));
  if (names.length !== COLUMNS.length || places.includes(-1)) {
    return {
      fault: `the first line of a CSV file must be the header ${COLUMNS.join(",")}, not ${quoted(header)}${hintFor(names)}`,
    };
  }
  return (text) => {
    const values = cells(text);
    if (values === undefined) return { kind: "rejected", reason: "the quotes of this row do not match" };
    if (values.length !== COLUMNS.length) {
      return { kind: "rejected", reason: `a row must have ${COLUMNS.length} columns, this one has ${values.length}` };
    }
    const [tank_id, created_at, fill] = places.map((place) => values[place] ?? "");
    return decodeReading({ tank_id, created_at, fill_percentage: numberOf(fill ?? "") });
  };
}

/** Those who keep customers and tanks in spreadsheets are at the wrong door. */
function hintFor(names: readonly string[]): string {
  const isOther = names.some((name) => name === "email" || name === "owner_id");
  return isOther ? '. Customers and tanks from CSV files: "npx tank-monitor provision"' : "";
}

/** A text that is not a plain decimal number stays a text, and is refused as one. */
function numberOf(text: string): number | string {
  return /^[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?$/.test(text.trim()) ? Number(text) : text;
}

/** RFC 4180, within one line: an id or a number holds no line break. */
function cells(row: string): string[] | undefined {
  if (!row.includes('"')) return row.split(",");
  const found: string[] = [];
  for (let start = 0; ; ) {
    const isQuoted = row[start] === '"';
    const end = isQuoted ? closingQuote(row, start) + 1 : endOfPlain(row, start);
    if ((isQuoted && end === 0) || (end < row.length && row[end] !== ",")) return undefined;
    const cell = isQuoted ? row.slice(start + 1, end - 1).replaceAll('""', '"') : row.slice(start, end);
    if (!isQuoted && cell.includes('"')) return undefined;
    found.push(cell);
    if (end === row.length) return found;
    start = end + 1;
  }
}

/** The quote that ends the cell, past the doubled ones inside it; -1 where there is none. */
function closingQuote(row: string, start: number): number {
  let quote = row.indexOf('"', start + 1);
  while (quote !== -1 && row[quote + 1] === '"') quote = row.indexOf('"', quote + 2);
  return quote;
}

function endOfPlain(row: string, start: number): number {
  const comma = row.indexOf(",", start);
  return comma === -1 ? row.length : comma;
}
