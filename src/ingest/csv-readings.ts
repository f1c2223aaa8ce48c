// Readings in CSV files: the header, rows, and times as spreadsheets and loggers write them.

import { parseInstant } from "../domain/instant.ts";
import { quoted } from "../domain/text.ts";
import { type CsvFormat, type DecimalMark, parseDecimal, type Separator, separatorIn } from "./csv.ts";
import { unescapeFormula } from "./formula.ts";
import { decodeReading, type LineDecoder, rejectedRecord } from "./records.ts";

export type CsvOptions = {
  readonly decimal?: DecimalMark;
  /** The time zone of times without an offset; UTC by default. */
  readonly timezone?: string;
};

const COLUMNS = ["tank_id", "created_at", "fill_percentage"] as const;

/** The decoder for the rows below this header, or what is wrong with the header. */
export function csvRowDecoder(header: string, options: CsvOptions = {}): LineDecoder | { readonly error: string } {
  const format: CsvFormat = { separator: separatorIn(header), decimal: options.decimal };
  const { separator } = format;
  const names = splitRow(header, separator)?.map((name) => name.trim().toLowerCase()) ?? [];
  const [tank, time, fill] = COLUMNS.map((column) => names.indexOf(column)) as [number, number, number];
  if (names.length !== COLUMNS.length || Math.min(tank, time, fill) < 0) {
    const isProvisioning = names.some((name) => name === "email" || name === "owner_id");
    const hint = isProvisioning ? '. To import customers and tanks from CSV files, use "npx tank-monitor provision"' : "";
    return { error: `the first line of a CSV file must be the header ${COLUMNS.join(",")}, not ${quoted(header)}${hint}` };
  }
  const toIso = csvTimes(options);
  return (row) => {
    const cells = splitRow(row, separator);
    if (cells === undefined) return rejectedRecord("the row has an unclosed or misplaced quote");
    if (cells.length !== COLUMNS.length) {
      return rejectedRecord(`a row must have ${COLUMNS.length} columns, this one has ${cells.length}`);
    }
    const fill_percentage = parseDecimal(cells[fill] ?? "", format);
    if (typeof fill_percentage === "object") return rejectedRecord(`fill_percentage: ${fill_percentage.error}`);
    const created_at = toIso(cells[time] ?? "");
    if (typeof created_at === "object") return rejectedRecord(`created_at: ${created_at.error}`);
    const decoded = decodeReading({ tank_id: unescapeFormula(cells[tank] ?? ""), created_at, fill_percentage }, null);
    const [date] = /^\d{4}-\d\d-\d\d/.exec(created_at) ?? [];
    const isNoDate = decoded.kind === "rejected" && date !== undefined && parseInstant(date) === undefined;
    return isNoDate ? rejectedRecord(`created_at: the date ${date} does not exist`) : decoded;
  };
}

/** RFC 4180 within one line, since ids and numbers have no line breaks. Undefined where the quotes are wrong. */
export function splitRow(row: string, separator: Separator): string[] | undefined {
  if (!row.includes('"')) return row.split(separator);
  const cell = CELLS[separator];
  cell.lastIndex = 0;
  const text = `${row}${separator}`;
  const cells: string[] = [];
  while (cell.lastIndex < text.length) {
    const match = cell.exec(text);
    if (match === null) return undefined;
    cells.push(match[1]?.replaceAll('""', '"') ?? match[2] ?? "");
  }
  return cells;
}

const cellPattern = (separator: Separator): RegExp =>
  new RegExp(`(?:"([^"]*(?:""[^"]*)*)"|([^"${separator}]*))${separator}`, "y");
const CELLS: Readonly<Record<Separator, RegExp>> = { ",": cellPattern(","), ";": cellPattern(";"), "\t": cellPattern("\t") };

/** `2026-11-01 08:00`, with T, seconds and an offset if there are any; the date also as `01.11.2026`. */
const TIME =
  /^(?:(\d{4}-\d\d-\d\d)|(\d\d?)\.(\d\d?)\.(\d{4}))(?:[Tt ](\d\d?):(\d\d)(?::(\d\d(?:\.\d+)?))? ?(Z|z|[+-]\d\d(?::?\d\d)?)?)?$/;
/** PostgreSQL writes `+01`, others write `+0100`. */
const SHORT_OFFSET = /^([+-]\d\d)(\d\d)?$/;
const TIME_FORMS = "must be a datetime such as 2026-11-14T09:30:00Z, 2026-11-14 09:30 or 14.11.2026 09:30, or a date (midnight)";
const MAX_CACHED_MINUTES = 20_000;

/** Turns the time in a cell into a text for `parseInstant`, or says what is wrong. A time without an offset gets that of `timezone`. */
export function csvTimes({ timezone }: CsvOptions = {}): (cell: string) => string | { readonly error: string } {
  const offsets = new Map<string, string | { readonly error: string }>();

  function offsetAt(minute: string, zone: string): string | { readonly error: string } {
    const cached = offsets.get(minute);
    if (cached !== undefined) return cached;
    if (offsets.size >= MAX_CACHED_MINUTES) offsets.clear();
    const offset = zoneOffset(minute, zone);
    offsets.set(minute, offset);
    return offset;
  }

  return (cell) => {
    // Our own format.
    if (cell.length === 24 && cell.endsWith("Z")) return cell;
    const parts = TIME.exec(cell.trim());
    if (parts === null) return parseInstant(cell) === undefined ? { error: TIME_FORMS } : cell;
    const [, iso, day = "", month = "", year, hour = "0", minutes = "00", seconds = "00", given] = parts;
    const date = iso ?? `${year}-${month.padStart(2, "0")}-${day.padStart(2, "0")}`;
    const minute = `${date}T${hour.padStart(2, "0")}:${minutes}`;
    const withColon = given?.replace(SHORT_OFFSET, (_, hours, rest = "00") => `${hours}:${rest}`);
    const offset = withColon ?? (timezone === undefined ? "" : offsetAt(minute, timezone));
    return typeof offset === "string" ? `${minute}:${seconds}${offset}` : offset;
  };
}

/** Local times that clocks skip or repeat cannot be known for sure: two readings could get one instant, and one would be lost. */
function zoneOffset(minute: string, zone: string): string | { readonly error: string } {
  let local: Temporal.PlainDateTime;
  try {
    local = Temporal.PlainDateTime.from(minute);
  } catch {
    // Rejected with the message for all invalid times.
    return "";
  }
  const [earlier, later] = (["earlier", "later"] as const).map((disambiguation) =>
    local.toZonedDateTime(zone, { disambiguation }),
  ) as [Temporal.ZonedDateTime, Temporal.ZonedDateTime];
  if (earlier.equals(later)) return earlier.offset;
  const shown = minute.replace("T", " ");
  if (!earlier.toPlainDateTime().equals(local)) return { error: `${shown} does not exist in ${zone}: clocks skip it` };
  return {
    error: `${shown} exists twice in ${zone}: add the offset, ${minute}:00${earlier.offset} or ${minute}:00${later.offset}`,
  };
}
