// CSV readings: a header that names the three columns, in any order, then one reading a row.

import type { DecodedRecord } from "../domain/record.ts";
import { decodeReading } from "../domain/record.ts";
import { quoted } from "../domain/text.ts";

const COLUMNS = ["tank_id", "created_at", "fill_percentage"] as const;

export type RowDecoder = (text: string) => DecodedRecord;

/** From the header row to the decoder of all others, or what is wrong with the header. */
export function rowDecoder(header: string): RowDecoder | { readonly fault: string } {
  const names = cells(header)?.map((name) => name.trim().toLowerCase()) ?? [];
  const places = COLUMNS.map((column) => names.indexOf(column));
  if (names.length !== COLUMNS.length || places.includes(-1)) {
    return { fault: `the first line of a CSV file must be the header ${COLUMNS.join(",")}, not ${quoted(header)}` };
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

/** A text that is not a plain decimal number stays a text, and is refused as one. */
function numberOf(text: string): number | string {
  return /^[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?$/.test(text.trim()) ? Number(text) : text;
}

/** RFC 4180, within one line: an id or a number holds no line break. */
function cells(row: string): string[] | undefined {
  if (!row.includes('"')) return row.split(",");
  const found: string[] = [];
  const cell = /(?:^|,)(?:"((?:[^"]|"")*)"|([^",]*))/gy;
  while (cell.lastIndex < row.length || found.length === 0) {
    const match = cell.exec(row);
    if (match === null) return undefined;
    found.push(match[1]?.replaceAll('""', '"') ?? match[2] ?? "");
  }
  return found;
}
