// Flags that are fields of an object or parameters of a list. One definition gives the flag, its help, what is sent, and the
// name in error messages.

import { readFileSync } from "node:fs";
import type { ParseArgsOptionsConfig } from "node:util";
import { type FieldError, UserError } from "../domain/errors.ts";
import { isPossibleId } from "../domain/id.ts";
import { quoted } from "../domain/text.ts";
import { type CliCall, durationText, type KeyRole, parseWhen, text } from "./command.ts";
import { requireReadable } from "./files.ts";
import { clean } from "./output.ts";
import type { ServiceError } from "./service.ts";

export type Option = {
  readonly flag: string;
  /** Stands for the value in the help. A flag without it is a switch. */
  readonly value?: string;
  readonly help: string;
};

export type Field = Option & {
  /** Its name in the API: `location.city`. */
  readonly path: string;
  /** The argument at this position after the command, instead of a flag. */
  readonly position?: number;
  /** Text by default. `json`: also `@FILE`, or a name that stands for it. */
  readonly kind?: "number" | "json";
  /** An empty value clears the field. */
  readonly clearable?: true;
  /** What a switch sends; true by default. */
  readonly sends?: boolean;
  /** Throws where the value cannot be right. */
  readonly parse?: (given: string, flag: string) => unknown;
};

/** Of `recover`. */
export const RECOVERED_SINCE: Field = {
  flag: "since",
  path: "since",
  value: "WHEN",
  help: "those that failed or expired since a datetime, a date, or a time ago such as 24h",
  parse: parseWhen,
};

/** Filters of lists by when their items were created, or opened. */
const between = (time: "created_at" | "opened_at"): readonly Field[] => [
  {
    flag: "since",
    path: `${time}_gte`,
    value: "WHEN",
    help: "from a datetime, a date (from its start, midnight UTC), or a time ago such as 24h",
    parse: parseWhen,
  },
  {
    flag: "until",
    path: `${time}_lte`,
    value: "WHEN",
    help: "up to a datetime, a date (up to its start, midnight UTC: the day itself is not included), or a time ago",
    parse: parseWhen,
  },
];
export const CREATED_BETWEEN = between("created_at");
export const OPENED_BETWEEN = between("opened_at");

/** For how long an old secret remains valid after a rotation. */
export const overlapField = (help: string): Field => ({
  flag: "overlap",
  path: "overlap",
  value: "DURATION",
  help,
  parse: durationText,
});
/** The default of the API. It is sent explicitly, so that the printed message is right for any service. */
export const DEFAULT_OVERLAP = "24h";

const isFlag = (option: Option): boolean => !("position" in option);

export function flagsOf(options: readonly Option[]): ParseArgsOptionsConfig {
  return Object.fromEntries(
    options.filter(isFlag).map(({ flag, value }) => [flag, { type: value === undefined ? "boolean" : "string" } as const]),
  );
}

export function flagHelp(options: readonly Option[]): string {
  const flags = options.filter(isFlag);
  const names = flags.map(({ flag, value = "" }) => `--${flag} ${value}`.trimEnd());
  const width = Math.max(...names.map((name) => name.length));
  return flags.map(({ help }, i) => `  ${(names[i] ?? "").padEnd(width)}  ${help}`).join("\n");
}

const LISTED_OPTIONAL_FLAGS = 6;

/** `--name NAME [--phone NUMBER] [--json]` */
export function flagUsage(options: readonly Option[], required: readonly string[]): string {
  const [needed, optional] = [true, false].map((isNeeded) =>
    options.filter((option) => isFlag(option) && required.includes(option.flag) === isNeeded),
  ) as [Option[], Option[]];
  const words = (list: readonly Option[]) => list.map(({ flag, value = "" }) => `--${flag} ${value}`.trimEnd());
  const rest = optional.length > LISTED_OPTIONAL_FLAGS ? ["[options]"] : words(optional).map((word) => `[${word}]`);
  return [...words(needed), ...rest].join(" ");
}

function given(call: CliCall, { flag, position }: Field): string | undefined {
  return position === undefined ? text(call, flag) : call.arguments[position];
}

function labelOf({ flag, position, value = "" }: Field): string {
  return position === undefined ? `--${flag}` : value;
}

/** The object that the given flags describe. */
export function bodyFrom(call: CliCall, fields: readonly Field[]): Record<string, unknown> {
  const body: Record<string, unknown> = {};
  const switches = new Map<string, Field>();
  for (const field of fields) {
    if (call.flags[field.flag] === true) {
      const other = switches.get(field.path);
      if (other !== undefined)
        throw new UserError(`${call.name}: ${labelOf(other)} and ${labelOf(field)} contradict each other`, 2);
      switches.set(field.path, field);
      setPath(body, field.path, field.sends ?? true);
    }
    const value = given(call, field);
    if (value !== undefined) setPath(body, field.path, parseField(field, value));
  }
  return body;
}

export function queryFrom(call: CliCall, fields: readonly Field[]): Record<string, string> {
  return Object.fromEntries(Object.entries(bodyFrom(call, fields)).map(([name, value]) => [name, String(value)]));
}

/** Sets a value in an object by its path: `location.city`. */
export function setPath(object: Record<string, unknown>, path: string, value: unknown): void {
  const [first = "", second] = path.split(".");
  if (second === undefined) object[first] = value;
  else object[first] = { ...(object[first] as object | undefined), [second]: value };
}

/** What is not a number, or not JSON, is sent as text: the service rejects it with a better message. */
function parseField(field: Field, value: string): unknown {
  if (field.parse !== undefined) return field.parse(value, field.flag);
  if (value === "" && field.clearable === true) return null;
  if (field.kind === "number") return parseNumber(value);
  if (field.kind !== "json") return value;
  try {
    return jsonOrName(value);
  } catch (error) {
    throw error instanceof UserError ? error : new UserError(`${labelOf(field)} is ${(error as Error).message}`, 2);
  }
}

/** JSON, `@FILE` with JSON in it, or a name that stands for it. */
export function jsonOrName(value: string): unknown {
  if (value.startsWith("@")) return parseJson(readText(value.slice(1)));
  return /^\s*(?:[{[]|null$)/.test(value) ? parseJson(value) : value;
}

/** A plain decimal number, or the text itself. */
function parseNumber(value: string): number | string {
  const number = /^[+-]?(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d+)?$/.test(value) ? Number(value) : Number.NaN;
  return Number.isFinite(number) ? number : value;
}

/** An error message with the invalid value, and a hint where that is a number with a comma. */
export function withValue(message: string, value: string | undefined): string {
  if (value === undefined) return message;
  const words = /^must be a number/.test(message) ? withCommaHint(message, value) : message;
  return `${words}${words.includes(quoted(value)) ? "" : ` (given: ${quoted(value)})`}`;
}

/** `2,7` has a decimal comma; the comma in `2,700` may also separate thousands. */
function withCommaHint(message: string, value: string): string {
  if (!/^[+-]?\d+,\d+$/.test(value)) return message;
  const decimal = value.replace(",", ".");
  if (!/^[+-]?[1-9]\d{0,2},\d{3}$/.test(value)) return `${message}, with a decimal point: ${decimal}`;
  return `may be ${Number(value.replace(",", ""))} or ${Number(decimal)}: write one of them`;
}

function parseJson(value: string): unknown {
  try {
    return JSON.parse(value);
  } catch (error) {
    throw new Error(`not valid JSON: ${quoted((error as Error).message)}`);
  }
}

function readText(file: string): string {
  requireReadable(file);
  try {
    return readFileSync(file, "utf8").replace(/^\ufeff/, "");
  } catch (error) {
    throw new UserError(`cannot read ${file}: ${(error as Error).message}`);
  }
}

/** The field that `shape.height` or `shape[3]` is part of. */
export function fieldAt<T extends { readonly path: string }>(fields: readonly T[], path: string): T | undefined {
  const isWithin = (known: T): boolean => path.startsWith(`${known.path}.`) || path.startsWith(`${known.path}[`);
  return fields.find((known) => path === known.path) ?? fields.find(isWithin);
}

/** `advice` says when to try again. */
const RETRY_HINT = / (?:(?:Retry|Try again) shortly|Retry after the time in Retry-After)\.$/;

/** An error response in the words of the command line: flags instead of fields and parameters. */
export function userErrorFor(error: ServiceError, call: CliCall, fields: readonly Field[], keyRole: KeyRole): UserError {
  const exitCode = isWrongUsage(error, call, fields) ? 2 : 1;
  const { code, status, errors, param } = error;
  if (errors.length > 0) return new UserError(errorList(errors, call, fields), exitCode);
  if (code.endsWith("_unknown") && status === 404 && code !== "route_unknown") {
    const noun = code.slice(0, -"_unknown".length);
    return new UserError(`no such ${noun}: ${clean(call.arguments[0] ?? "")}; see "npx tank-monitor ${noun} list"`);
  }
  const field = fields.find(({ path }) => path === param);
  const detail = field === undefined ? error.message : error.message.replace(field.path, labelOf(field));
  const words = withFlagNames(detail, fields).replace(RETRY_HINT, "");
  return new UserError(`${words}${advice(error, keyRole)}`, exitCode);
}

const REFERENCES = ["owner_id", "customer_id", "tank_id"];

/** The id of another object that is well-formed, but not in the database, is not wrong usage. */
function isWrongUsage({ status, errors }: ServiceError, call: CliCall, fields: readonly Field[]): boolean {
  const isReference = ({ field: path }: FieldError): boolean => {
    const field = fieldAt(fields, path);
    return REFERENCES.includes(path) && field !== undefined && isPossibleId(given(call, field) ?? "");
  };
  return status === 400 && (errors.length === 0 || !errors.every(isReference));
}

function errorList(errors: readonly FieldError[], call: CliCall, fields: readonly Field[]): string {
  const lines = errors.map((error) => errorLine(error, call, fields));
  if (lines.length === 1) return `${call.name}: ${lines[0]}`;
  return `${call.name}: ${lines.length} errors\n${lines.map((line) => `  ${line}`).join("\n")}`;
}

function errorLine({ field: path, message }: FieldError, call: CliCall, fields: readonly Field[]): string {
  const field = fieldAt(fields, path);
  if (field === undefined) return clean(`${path === "" ? "" : `${path}: `}${message}`);
  const inside = path.slice(field.path.length).replace(/^\./, "");
  const isBySetting = message.includes("WEBHOOK_ALLOW=") && text(call, "url") === undefined;
  const hint = isBySetting ? " In the file .env, the service and commands in its folder both find it." : "";
  const words = `${withFlagNames(message, fields)}${hint}`;
  if (field.kind === "json") return clean(`${labelOf(field)}${inside === "" ? "" : ` (${inside})`}: ${words}`);
  // `events[1]` is the second of a list that is separated by commas.
  const [, index] = /^\[(\d+)\]$/.exec(inside) ?? [];
  const value = index === undefined ? given(call, field) : given(call, field)?.split(",")[Number(index)]?.trim();
  return clean(`${labelOf(field)}: ${withValue(words, value)}`);
}

function withFlagNames(detail: string, fields: readonly Field[]): string {
  const flagged = detail
    .replaceAll(/\b(tanks|swap)=true\b/g, "--$1")
    .replaceAll(/\btanks=false\b/g, "--no-tanks")
    .replaceAll(" Ask the operator for a new one.", "")
    .replaceAll(/\b(restore each tank), with another assigned_device_id\b/g, '$1 ("tank restore ID"), with another --device');
  return fields
    .filter(({ path }) => /^[a-z]+_[a-z_]+$/.test(path))
    .reduce((words, field) => words.replaceAll(new RegExp(`\\b${field.path}\\b`, "g"), labelOf(field)), flagged);
}

function advice({ status, code, cause, retryAfter }: ServiceError, keyRole: KeyRole): string {
  if (cause instanceof Error) return ` (${cause.message})`;
  if (status === 401 || status === 403) {
    return ` Create a key where the database is: npx tank-monitor key create --name NAME --role ${keyRole}`;
  }
  if (code === "route_unknown") return " Is this the address of a Tank Monitor of the same version?";
  return retryAfter === undefined ? "" : ` Try again in ${retryAfter} s.`;
}
