// The fleet as CSV, one line a tank.

import { csvCell } from "../../../src/ingest/formula.ts";
import { type Cell, CSV_COLUMNS, type FleetEntry } from "./csv-columns.ts";

export const FORMATS = ["comma", "semicolon", "tab"] as const;
export type Format = (typeof FORMATS)[number];

const SEPARATORS: Readonly<Record<Format, string>> = { comma: ",", semicolon: ";", tab: "\t" };

export const csvHeader = (format: Format): string => CSV_COLUMNS.map(([name]) => name).join(SEPARATORS[format]);

export const csvRow = (entry: FleetEntry, format: Format): string =>
  CSV_COLUMNS.map(([, cell]) => textOf(cell(entry), format)).join(SEPARATORS[format]);

function textOf(cell: Cell, format: Format): string {
  if (typeof cell === "number") return format === "semicolon" ? String(cell).replace(".", ",") : String(cell);
  return csvCell(String(cell ?? ""));
}
