// The formats of import files, decoded line by line: newline-delimited JSON, and CSV for readings.

import { quoted } from "../domain/text.ts";
import { isObject } from "../domain/validate.ts";
import { BatchContext, decodeIncomingReading, idError } from "./decode.ts";
import type { IncomingReading } from "./ingest.ts";
import { type DecodedRecord, decodeReading, decodeRecord } from "./records.ts";

/** A reading that names its device, as exported while it was pending; `customerId` is the customer its sender was bound to. */
export type DeviceReading = { readonly reading: IncomingReading; readonly customerId: string | null };
export type DecodedLine = DecodedRecord | { readonly kind: "device_reading"; readonly record: DeviceReading };
export type LineDecoder = (text: string) => DecodedLine;

const rejected = (reason: string): { readonly kind: "rejected"; readonly reason: string } => ({ kind: "rejected", reason });

export function decodeJsonLine(text: string): DecodedLine {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    return rejected(`the line is not valid JSON: ${(error as Error).message.replace(/\p{Cc}/gu, "\ufffd")}`);
  }
  if (!isObject(value) || value["object"] !== "telemetry" || !Object.hasOwn(value, "device_id")) return decodeRecord(value);
  const { object: _telemetry, customer_id = null, ...fields } = value;
  const error = customer_id === null ? undefined : idError("customer_id", customer_id);
  if (error !== undefined) return rejected(error.rejected);
  // The time of receipt says nothing here: a file may be imported long after its readings were measured.
  if (fields["created_at"] === undefined) return rejected("created_at: is missing");
  const reading = decodeIncomingReading(fields, new BatchContext(0));
  if ("rejected" in reading) return rejected(reading.rejected);
  return { kind: "device_reading", record: { reading, customerId: customer_id as string | null } };
}

const COLUMNS = ["tank_id", "created_at", "fill_percentage"] as const;

/** The decoder for the rows below this header, or what is wrong with the header. */
export function csvRowDecoder(header: string): ((row: string) => DecodedRecord) | { readonly error: string } {
  const names = splitCsvRow(header)?.map((name) => name.trim().toLowerCase()) ?? [];
  const [tank, time, fill] = COLUMNS.map((column) => names.indexOf(column)) as [number, number, number];
  if (names.length !== COLUMNS.length || Math.min(tank, time, fill) < 0) {
    const isProvisioning = names.some((name) => name === "email" || name === "owner_id");
    const hint = isProvisioning ? '. To import customers and tanks from CSV files, use "npx tank-monitor provision"' : "";
    return { error: `the first line of a CSV file must be the header ${COLUMNS.join(",")}, not ${quoted(header)}${hint}` };
  }
  return (row) => {
    const cells = splitCsvRow(row);
    if (cells === undefined) return rejected("the row has an unclosed or misplaced quote");
    if (cells.length !== COLUMNS.length) {
      return rejected(`a row must have ${COLUMNS.length} columns, this one has ${cells.length}`);
    }
    return decodeReading({
      tank_id: cells[tank],
      created_at: cells[time],
      fill_percentage: parseDecimal(cells[fill] ?? ""),
    });
  };
}

/** Text that is not a plain decimal number stays text, and is rejected as such. */
function parseDecimal(text: string): number | string {
  return /^[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?$/.test(text.trim()) ? Number(text) : text;
}

/** RFC 4180 within one line, since ids and numbers have no line breaks. Undefined where the quotes are wrong. */
function splitCsvRow(row: string): string[] | undefined {
  if (!row.includes('"')) return row.split(",");
  const cell = /(?:"([^"]*(?:""[^"]*)*)"|([^",]*)),/y;
  const text = `${row},`;
  const cells: string[] = [];
  while (cell.lastIndex < text.length) {
    const match = cell.exec(text);
    if (match === null) return undefined;
    cells.push(match[1]?.replaceAll('""', '"') ?? match[2] ?? "");
  }
  return cells;
}
