// tank-monitor provision FILE…

import { isUtf8 } from "node:buffer";
import { readFileSync } from "node:fs";
import { MAX_PROVISION_ROWS } from "../domain/commands/provision.ts";
import { type FieldError, UserError } from "../domain/errors.ts";
import { isObject } from "../domain/validate.ts";
import { type CsvFormat, type DecimalMark, errorInFormat, NOT_UTF8, parseDecimal } from "../ingest/csv.ts";
import { apiCommand } from "./api-command.ts";
import { type CliCall, decimalMark } from "./command.ts";
import { fieldAt, withValue } from "./fields.ts";
import { requireReadable } from "./files.ts";
import { clean, print, printMessage } from "./output.ts";
import { type CsvColumn, type CsvKind, parseCsv, parseHeader, parseRow } from "./provision-csv.ts";
import { type Item, pathTo, type Service, ServiceError } from "./service.ts";

const MAX_ERRORS_SHOWN = 100;
const MAX_CHANGES_SHOWN = 20;
/** Checking more rows than this takes a while, which is said first. */
const MANY_ROWS = 2000;

export const provision = apiCommand({
  name: "provision",
  summary: "create or change many customers and tanks from CSV files",
  help: `Create or change customers and tanks from CSV files, up to ${MAX_PROVISION_ROWS.toLocaleString("en")} rows in all; - is stdin. The first line of a file names
its columns, which show whether it contains customers or tanks:
  customers  id, email, name, phone, is_verified, verified_at, language, unsubscribed_at
  tanks      id, owner_id, assigned_device_id, name, capacity, capacity_unit, min_fill_alert_percentage, custom_id, use_case,
             city, country, district, latitude, longitude, postal_code, region, street, street_number, silent_after,
             paused_until, runs_low_soon, leak, shape, profile
Columns are separated by commas, semicolons or tabs. shape is JSON or @FILE; profile is that of the tank's device: a
name, JSON or @FILE.
A row with a known id changes that object. Empty cells and missing columns change nothing. All files are checked first; then
they are written, more than 1,000 rows in several transactions. The first ${MAX_CHANGES_SHOWN} changed fields are shown; --json lists up to 100. Exit 1 if a file has errors.`,
  example: "provision customers.csv tanks.csv --dry-run",
  argumentNames: ["file…"],
  options: [
    { flag: "dry-run", help: "check, show what would change, and write nothing" },
    { flag: "decimal-comma", help: "numbers are written as 1.200,5" },
    { flag: "decimal-point", help: "numbers are written as 1,200.5" },
    { flag: "json", help: "print the summary as JSON" },
  ],
  mayCreate: true,
  async execute({ call, service }) {
    const input = new ProvisionInput(decimalMark(call));
    for (const file of call.arguments) input.add(file);
    if (input.count > MAX_PROVISION_ROWS) {
      const [max, count] = [MAX_PROVISION_ROWS, input.count].map((number) => number.toLocaleString("en"));
      throw new UserError(`provision accepts at most ${max} rows in all, not ${count}. Split them, customers first`);
    }
    if (input.hasUnreadFile) throw rejection(input.errors);
    return send(service, call, input);
  },
});

async function send(service: Service, call: CliCall, input: ProvisionInput): Promise<number> {
  if (input.count > MANY_ROWS) printMessage(`checking ${input.count.toLocaleString("en")} rows …`);
  const { customers, tanks } = input;
  // Rows that could be read are checked even if others could not, so that all errors show at once.
  const query = { dry_run: String(call.flags["dry-run"] === true || input.errors.length > 0) };
  try {
    const body = { customers, tanks };
    const summary = await service({ method: "POST", path: pathTo("provision"), query, body, sendsIdempotencyKey: true });
    if (input.errors.length > 0) throw rejection(input.errors);
    if (call.flags["json"] === true) {
      print(JSON.stringify(summary));
      return 0;
    }
    for (const line of changeLines(summary, input)) print(clean(line));
    const dryRun = summary["dry_run"] === true ? " (dry run: nothing was written)" : "";
    print(`customers: ${counts(summary["customers"])}; tanks: ${counts(summary["tanks"])}${dryRun}`);
    return 0;
  } catch (error) {
    if (!(error instanceof ServiceError) || error.errors.length === 0) throw error;
    const errors = error.errors.filter((one) => input.isCertain(one)).map((one) => clean(input.describe(one)));
    throw rejection([...input.errors, ...errors]);
  }
}

function rejection(errors: readonly string[]): UserError {
  if (errors.length === 1) return new UserError(`nothing was written: ${errors[0]}`);
  const shown = errors.slice(0, MAX_ERRORS_SHOWN).map((error) => `  ${error}`);
  const more = errors.length > MAX_ERRORS_SHOWN ? [`  … and ${errors.length - MAX_ERRORS_SHOWN} more`] : [];
  return new UserError([`nothing was written: ${errors.length} errors`, ...shown, ...more].join("\n"));
}

/** `tanks.csv:3: t-204: name "Hall 3" → "Hall 4"` */
function changeLines({ changes, more_changes }: Item, input: ProvisionInput): string[] {
  const all = Array.isArray(changes) ? changes.filter(isObject) : [];
  const lines = all.slice(0, MAX_CHANGES_SHOWN).map(({ row, id, field, from, to }) => {
    return `${input.positionOf(String(row)) ?? row}: ${id}: ${field} ${JSON.stringify(from)} → ${JSON.stringify(to)}`;
  });
  const more = all.length - lines.length + Number(more_changes ?? 0);
  return more > 0 ? [...lines, `… and ${more} more changes`] : lines;
}

function counts(count: unknown): string {
  const { new: created = 0, changed = 0, unchanged = 0 } = isObject(count) ? count : {};
  return `${created} new, ${changed} changed, ${unchanged} unchanged`;
}

type Origin = {
  readonly position: string;
  readonly columns: readonly CsvColumn[];
  readonly cells: readonly string[];
  readonly format: CsvFormat;
  readonly isMalformed: boolean;
};

const ROW = /\b(customers|tanks)\[(\d+)\]/;

/** The files as one request, with the file and line that each of its rows came from. */
class ProvisionInput {
  readonly customers: Item[] = [];
  readonly tanks: Item[] = [];
  /** Each with its file and line. */
  readonly errors: string[] = [];
  hasUnreadFile = false;
  readonly #origins: Readonly<Record<CsvKind, Origin[]>> = { customers: [], tanks: [] };

  readonly #decimal: DecimalMark | undefined;

  constructor(decimal: DecimalMark | undefined) {
    this.#decimal = decimal;
  }

  get count(): number {
    return this.customers.length + this.tanks.length;
  }

  add(file: string): void {
    const name = file === "-" ? "stdin" : file;
    const { separator, rows, error } = parseCsv(readUtf8(file, name));
    const [first, ...rest] = rows;
    const header = first === undefined ? { errors: [] } : parseHeader(first.cells);
    if (error !== undefined) this.errors.push(`${name}:${error.line}: ${error.message}`);
    else if (first === undefined) this.errors.push(`${name}: is empty; the first line names the columns`);
    if ("errors" in header) {
      this.errors.push(...header.errors.map((message) => `${name}:${first?.line}: ${message}`));
      this.hasUnreadFile = true;
      return;
    }
    const { kind, columns } = header;
    const format = { separator, decimal: this.#decimal };
    for (const { line, cells } of rest) {
      const position = `${name}:${line}`;
      const { object, errors } = parseRow(cells, columns, format);
      this.errors.push(...errors.map((message) => `${position}: ${message}`));
      this[kind].push(object);
      this.#origins[kind].push({ position, columns, cells, format, isMalformed: errors.length > 0 });
    }
  }

  /** Whether an error would remain if every row had been read: references may be to rows that were not. */
  isCertain({ field }: FieldError): boolean {
    if (this.errors.length === 0) return true;
    if (/\.(owner_id|assigned_device_id)$/.test(field)) return false;
    const origin = this.#originOf(field);
    return origin?.isMalformed !== true || cellOf(origin, field).cell !== "";
  }

  #originOf(row: string): Origin | undefined {
    const [, kind, index = ""] = ROW.exec(row) ?? [];
    return kind === "customers" || kind === "tanks" ? this.#origins[kind][Number(index)] : undefined;
  }

  /** `tanks.csv:3` for `tanks[1]`. */
  positionOf(row: string): string | undefined {
    return this.#originOf(row)?.position;
  }

  /** An error of `tanks[17].owner_id` by file, line and column. */
  describe({ field, message: original }: FieldError): string {
    const message = original.replace(ROW, (row) => this.positionOf(row) ?? row);
    const origin = this.#originOf(field);
    if (origin === undefined) return field === "" ? message : `${field}: ${message}`;
    const { path, column, cell } = cellOf(origin, field);
    const name = column === undefined ? path : `${column.title}${path.slice(column.path.length)}`;
    const value = column?.path === path && cell !== "" ? cell : undefined;
    const number = column?.type === "number" && value !== undefined ? parseDecimal(value, origin.format) : undefined;
    if (typeof number === "object") return `${origin.position}: ${name}: ${number.error}`;
    return `${origin.position}: ${name === "" ? "" : `${name}: `}${withValue(message, value)}`;
  }
}

/** The column and cell that `tanks[17].shape.unit` is in. */
function cellOf({ columns, cells }: Origin, field: string) {
  const path = field.replace(/^\w+\[\d+\]\.?/, "");
  const column = fieldAt(columns, path);
  return { path, column, cell: column === undefined ? "" : (cells[columns.indexOf(column)] ?? "") };
}

/** Other encodings, which some spreadsheets still write, would lose every umlaut. */
function readUtf8(file: string, name: string): string {
  const bytes = readBytes(file, name);
  const error = errorInFormat(bytes);
  if (error !== undefined) throw new UserError(`${name}: ${error}`);
  if (/^\s*[[{]/.test(bytes.toString("latin1", 0, 100))) {
    throw new UserError(`${name}: this is JSON, not CSV. "import" reads JSON, with one object per line`);
  }
  if (!isUtf8(bytes)) throw new UserError(`${name} ${NOT_UTF8}`);
  return bytes.toString("utf8");
}

function readBytes(file: string, name: string): Buffer {
  requireReadable(file);
  try {
    return readFileSync(file === "-" ? 0 : file);
  } catch (error) {
    throw new UserError(`cannot read ${name}: ${(error as Error).message}`);
  }
}
