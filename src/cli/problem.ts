// Refusals, as a command hears them, and how they are told to whoever typed it: by the names of the flags.

import { UserError } from "../domain/errors.ts";
import { quoted } from "../domain/text.ts";
import { isObject } from "../domain/validate.ts";
import type { Call } from "./command.ts";
import { type Field, givenFor, labelOf, withPoint } from "./fields.ts";
import { clean } from "./width.ts";

export type Answer = {
  readonly status: number;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: unknown;
  /** What happened, where it happened here. */
  readonly cause?: unknown;
};

type Fault = { readonly field: string; readonly message: string };

/** An answer that is a refusal. The message is its detail. */
export class Problem extends Error {
  readonly status: number;
  readonly code: string;
  readonly param: string | undefined;
  readonly errors: readonly Fault[];
  readonly retryAfter: number | undefined;

  constructor(answer: Answer) {
    const { status, body, cause } = answer;
    const { detail, code, param, errors } = isObject(body) ? body : {};
    super(clean(typeof detail === "string" ? detail : `The answer is HTTP ${status}.`), { cause });
    this.status = status;
    this.code = typeof code === "string" ? code : "";
    this.param = typeof param === "string" ? param : undefined;
    this.errors = Array.isArray(errors) ? errors.filter(isFault) : [];
    this.retryAfter = retryAfter(answer);
  }
}

/** In seconds, where an answer says so. */
export function retryAfter({ headers }: Answer): number | undefined {
  const given = headers["retry-after"] ?? "";
  return /^\d{1,6}$/.test(given) ? Number(given) : undefined;
}

function isFault(value: unknown): value is Fault {
  return isObject(value) && typeof value["field"] === "string" && typeof value["message"] === "string";
}

/** The object in an answer; nothing, where there is none. */
export function accepted(answer: Answer): Readonly<Record<string, unknown>> {
  if (answer.status >= 300) throw new Problem(answer);
  return isObject(answer.body) ? answer.body : {};
}

/** `fields` are those that the command has flags for. */
export function complaintOf(problem: Problem, call: Call, fields: readonly Field[]): UserError {
  const exitCode = isWrongCall(problem) ? 2 : 1;
  const { code, status, errors, param } = problem;
  if (errors.length > 0) return new UserError(told(errors, call, fields), exitCode);
  if (code.endsWith("_unknown") && status === 404 && code !== "route_unknown") return unknown(code, call);
  const field = fields.find(({ path }) => path === param);
  const detail = field === undefined ? problem.message : problem.message.replace(field.path, labelOf(field));
  return new UserError(`${inFlags(detail, fields)}${advice(problem)}`, exitCode);
}

/** What is refused for what the database has, and not for how it is written, is no fault of the call. */
const OF_THE_DATABASE = /^names (?:no|a) /;

function isWrongCall({ status, code, errors }: Problem): boolean {
  if (status !== 400) return false;
  return code !== "body_invalid" || errors.length === 0 || !errors.every(({ message }) => OF_THE_DATABASE.test(message));
}

function told(errors: readonly Fault[], call: Call, fields: readonly Field[]): string {
  const lines = errors.map((fault) => faultLine(fault, call, fields));
  const [first = ""] = lines;
  if (lines.length === 1) return `${call.name}: ${first}`;
  return `${call.name}: ${lines.length} things are wrong\n${lines.map((line) => `  ${line}`).join("\n")}`;
}

/** `shape.height` is of the flag for `shape`. */
function faultLine({ field: path, message }: Fault, call: Call, fields: readonly Field[]): string {
  const field = fields.find(
    (known) => path === known.path || path.startsWith(`${known.path}.`) || path.startsWith(`${known.path}[`),
  );
  if (field === undefined) return clean(`${path === "" ? "" : `${path}: `}${message}`);
  const given = path === field.path && field.kind !== "json" ? givenFor(call, field) : undefined;
  const inside = path.slice(field.path.length);
  const point = withPoint(given ?? "", message);
  const words = `${labelOf(field)}${inside === "" ? "" : ` (${inside.replace(/^\./, "")})`}: ${message}${point}`;
  const isTold = given === undefined || message.includes(quoted(given));
  return clean(isTold ? words : `${words} (given: ${quoted(given)})`);
}

function unknown(code: string, { arguments: [id = ""] }: Call): UserError {
  const noun = code.slice(0, -"_unknown".length);
  return new UserError(`there is no ${noun} ${clean(id)}; "npx tank-monitor ${noun} list" shows them`);
}

/** Parameters and fields of the interface have other names here. */
function inFlags(detail: string, fields: readonly Field[]): string {
  const flagged = detail
    .replaceAll(/\b(tanks|swap)=true\b/g, "--$1")
    .replaceAll(/\btanks=false\b/g, "--no-tanks")
    .replaceAll(/\b(restore each tank), with another assigned_device_id\b/g, '$1 ("tank restore ID"), with another --device');
  return fields
    .filter(({ path }) => /^[a-z]+_[a-z_]+$/.test(path))
    .reduce((words, field) => words.replaceAll(new RegExp(`\\b${field.path}\\b`, "g"), labelOf(field)), flagged);
}

function advice({ status, code, cause, retryAfter }: Problem): string {
  if (cause instanceof Error) return ` (${cause.message})`;
  if (status === 401 || status === 403) {
    return " Make one where the database is: npx tank-monitor key create --name NAME --role manage";
  }
  if (code === "route_unknown") return " Is it the address of a Tank Monitor, and one of this version?";
  return retryAfter === undefined ? "" : ` It asks for ${retryAfter} s of patience.`;
}
