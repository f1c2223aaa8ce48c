// Flags that are fields of an object, or parameters of a list: one definition gives the flags of a command, its help, what is
// sent, and the name of what is refused.

import { readFileSync } from "node:fs";
import type { ParseArgsOptionsConfig } from "node:util";
import { UserError } from "../domain/errors.ts";
import { quoted } from "../domain/text.ts";
import { type Call, text } from "./command.ts";

export type Field = {
  readonly flag: string;
  /** It is no flag, but the word at this place after the command. */
  readonly place?: number;
  /** Its name in the interface: `location.city`. */
  readonly path: string;
  /** What stands for its value in the help. */
  readonly value: string;
  readonly words: string;
  /** A text unless it says otherwise. `json`: also `@FILE`, or a name that stands for it. */
  readonly kind?: "number" | "json";
  /** An empty value empties the field. */
  readonly empties?: true;
};

export function flagsOf(fields: readonly Field[]): ParseArgsOptionsConfig {
  return Object.fromEntries(fields.filter(isFlag).map(({ flag }) => [flag, { type: "string" as const }]));
}

const isFlag = ({ place }: Pick<Field, "place">): boolean => place === undefined;

/** What was typed for it. */
export function givenFor(call: Call, { flag, place }: Field): string | undefined {
  return place === undefined ? text(call, flag) : call.arguments[place];
}

export function labelOf({ flag, place, value }: Field): string {
  return place === undefined ? `--${flag}` : value;
}

/** A line a flag: what it is called, what it takes, what it means. */
export function helpOf(all: readonly Pick<Field, "flag" | "value" | "words" | "place">[]): string {
  const fields = all.filter(isFlag);
  const names = fields.map(({ flag, value }) => `--${flag} ${value}`.trimEnd());
  const width = Math.max(...names.map((name) => name.length));
  return fields.map(({ words }, i) => `  ${(names[i] ?? "").padEnd(width)}  ${words}`).join("\n");
}

/** The object of the flags that are given. */
export function bodyOf(call: Call, fields: readonly Field[]): Record<string, unknown> {
  const body: Record<string, unknown> = {};
  for (const field of fields) {
    const given = givenFor(call, field);
    if (given !== undefined) put(body, field.path, valueIn(field, given));
  }
  return body;
}

/** What is asked for with the flags that are given. */
export function queryFrom(call: Call, fields: readonly Field[]): Record<string, string | undefined> {
  return Object.fromEntries(fields.map(({ flag, path }) => [path, text(call, flag)]));
}

/** Sets a value inside of an object, by its path. */
export function put(object: Record<string, unknown>, path: string, value: unknown): void {
  const [first = "", second] = path.split(".");
  if (second === undefined) object[first] = value;
  else object[first] = { ...(object[first] as object | undefined), [second]: value };
}

/** What is no number, or no JSON, stays a text: it is refused by those who know what it should be. */
function valueIn(field: Field, given: string): unknown {
  if (given === "" && field.empties === true) return null;
  if (field.kind === "number") return numberIn(given);
  if (field.kind !== "json") return given;
  if (given.startsWith("@")) return jsonIn(field, contentOf(given.slice(1)));
  return /^\s*[{[]/.test(given) ? jsonIn(field, given) : given;
}

/** A plain decimal number, or the text itself. */
export function numberIn(given: string): number | string {
  const value = /^[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?$/.test(given) ? Number(given) : Number.NaN;
  return Number.isFinite(value) ? value : given;
}

/** What is meant where a number has a comma: `, with a point: 47.99`. */
export function withPoint(given: string, message: string): string {
  return /^must be a number/.test(message) && /^[+-]?\d+,\d+$/.test(given) ? `, with a point: ${given.replace(",", ".")}` : "";
}

function jsonIn(field: Field, given: string): unknown {
  try {
    return JSON.parse(given);
  } catch (error) {
    throw new UserError(`${labelOf(field)} is not JSON: ${quoted((error as Error).message)}`, 2);
  }
}

function contentOf(file: string): string {
  try {
    return readFileSync(file, "utf8").replace(/^\ufeff/, "");
  } catch (error) {
    throw new UserError(`${file} cannot be read: ${(error as Error).message}`);
  }
}
