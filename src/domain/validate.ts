// JSON from outside: measured before it is parsed, then validated against our schemas, with messages for people. Validation
// supports the keywords of JSON Schema that `schema.ts` declares.

import { type FieldError, RequestError } from "./errors.ts";
import { isCleanText, isLongerThan, NO_DOT_SEGMENT } from "./id.ts";
import { parseInstant } from "./instant.ts";
import { ADDRESS_PATTERN, DURATION_PATTERN, EMAIL_PATTERN, NEW_ID_PATTERN, type Schema, TIME_PATTERN } from "./schema.ts";
import { printable, suggestion } from "./text.ts";

export type JsonObject = Readonly<Record<string, unknown>>;

export function isObject(value: unknown): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** Undefined if it is not JSON. */
export function parseJson(text: string): { readonly value: unknown } | undefined {
  try {
    return { value: JSON.parse(text) };
  } catch {
    return undefined;
  }
}

type ObjectRules = Pick<Schema, "properties" | "required">;

const MAX_REPORTED_ERRORS = 50;
/** Suggestions are by far the slowest part of a message. */
const MAX_SUGGESTIONS = 10;

/** The first error, as `field: message`. */
export function errorInObject(schema: ObjectRules, value: unknown): string | undefined {
  return firstError([...fieldErrors(schema, value, "").take(1)]);
}

export function firstError([first]: readonly FieldError[]): string | undefined {
  return first && (first.field === "" ? first.message : `${first.field}: ${first.message}`);
}

/** Whether an error is about the field or an entry of it. Also true if there are more errors than are reported: one of them may be. */
export function hasError(errors: readonly FieldError[], path: string): boolean {
  return errors.length > MAX_REPORTED_ERRORS || errors.some(({ field }) => field === path || field.startsWith(`${path}[`));
}

/** All errors up to the reported number, and one more. `at` is the path of the object itself. */
export function errorsInObject(schema: ObjectRules, value: unknown, at = ""): FieldError[] {
  return [...fieldErrors(schema, value, at).take(MAX_REPORTED_ERRORS + 1)];
}

export function invalidBody(errors: readonly FieldError[], limit = MAX_REPORTED_ERRORS): RequestError {
  const { field, message } = errors[0] ?? { field: "", message: "is invalid" };
  const first = `${field === "" ? "The body" : `${field}:`} ${message}${/[.?]$/.test(message) ? "" : "."}`;
  return new RequestError("body_invalid", first + errorCount(errors.length, limit), { errors: errors.slice(0, limit) });
}

function errorCount(count: number, limit: number): string {
  if (count > limit) return ` The body has more than ${limit} errors: see "errors" for the first ${limit}.`;
  return count > 1 ? ` The body has ${count} errors: see "errors".` : "";
}

function* fieldErrors({ properties = {}, required = [] }: ObjectRules, value: unknown, path: string): Generator<FieldError> {
  if (!isObject(value)) {
    yield { field: path, message: "must be an object" };
    return;
  }
  const names = Object.keys(properties);
  const unknown = Object.keys(value).filter((name) => !Object.hasOwn(properties, name));
  for (const [i, name] of unknown.entries()) {
    const hint = i < MAX_SUGGESTIONS ? suggestion(name, names) : "";
    yield { field: fieldPath(path, printable(name)), message: `is not a known field${hint === "" ? "" : `.${hint}`}` };
  }
  for (const [name, field] of Object.entries(properties)) {
    const given = value[name];
    if (given !== undefined) yield* valueErrors(field, given, fieldPath(path, name));
    else if (required.includes(name)) yield { field: fieldPath(path, name), message: "is missing" };
  }
}

function* valueErrors(schema: Schema, value: unknown, path: string): Generator<FieldError> {
  if (schema.properties !== undefined && value !== null) {
    yield* fieldErrors(schema, value, path);
    return;
  }
  const message = errorInValue(schema, value);
  if (message !== undefined) yield { field: path, message };
  else if (schema.items !== undefined && Array.isArray(value)) {
    for (const [i, item] of value.entries()) yield* valueErrors(schema.items, item, `${path}[${i}]`);
  }
}

const fieldPath = (path: string, name: string): string => (path === "" ? name : `${path}.${name}`);

function errorInValue(schema: Schema, value: unknown): string | undefined {
  const types = typeof schema.type === "string" ? [schema.type] : (schema.type ?? []);
  if (value === null) return types.includes("null") ? undefined : "must not be null";
  if (schema.const !== undefined) return value === schema.const ? undefined : `must be ${JSON.stringify(schema.const)}`;
  if (schema.enum !== undefined) {
    return schema.enum.includes(value) ? undefined : `must be one of ${schema.enum.filter((one) => one !== null).join(", ")}`;
  }
  if (schema.items !== undefined) return errorInList(schema, value);
  if (types.includes("string")) return errorInText(schema, value);
  if (types.includes("number") || types.includes("integer")) return errorInNumber(schema, value, types.includes("integer"));
  if (types.includes("boolean")) return typeof value === "boolean" ? undefined : "must be true or false";
  throw new Error(`no validation for a field of type ${types.join("|")}`);
}

function errorInList({ minItems = 0, maxItems = Number.POSITIVE_INFINITY }: Schema, value: unknown): string | undefined {
  if (!Array.isArray(value)) return "must be a list";
  if (value.length < minItems) return `must have at least ${minItems} ${minItems === 1 ? "entry" : "entries"}`;
  return value.length > maxItems ? `must have at most ${maxItems} entries` : undefined;
}

function errorInText(schema: Schema, value: unknown): string | undefined {
  if (typeof value !== "string") return "must be a string";
  if (schema.format === "date-time") {
    return parseInstant(value) === undefined ? 'must be a datetime such as "2026-11-14T09:30:00Z"' : undefined;
  }
  if (value.length < (schema.minLength ?? 0)) return "must not be empty";
  if (schema.maxLength !== undefined && isLongerThan(value, schema.maxLength)) {
    return `must have at most ${schema.maxLength} characters`;
  }
  if (!isCleanText(value)) return "must not contain control characters or broken Unicode";
  if (schema.pattern === undefined || new RegExp(schema.pattern, "u").test(value)) return undefined;
  return PATTERN_MESSAGES[schema.pattern] ?? `must match ${schema.pattern}`;
}

const PATTERN_MESSAGES: Readonly<Record<string, string>> = {
  [EMAIL_PATTERN]: "must be an email address",
  [NEW_ID_PATTERN]: NO_DOT_SEGMENT,
  [ADDRESS_PATTERN]: "must be one email address such as dispatch@example.com",
  [TIME_PATTERN]: 'must be a time of day such as "21:00"',
  [DURATION_PATTERN]: "must be a duration such as 30m, 4h or 7d",
};

/** Beyond these, neighbouring whole numbers are the same number. */
const NOT_SAFE = `must be from ${Number.MIN_SAFE_INTEGER} to ${Number.MAX_SAFE_INTEGER}`;

function errorInNumber(schema: Schema, value: unknown, isInteger: boolean): string | undefined {
  const { minimum = Number.NEGATIVE_INFINITY, maximum = Number.POSITIVE_INFINITY, exclusiveMinimum } = schema;
  if (typeof value !== "number" || !Number.isFinite(value)) return "must be a number";
  if (isInteger && !Number.isInteger(value)) return "must be a whole number";
  if (exclusiveMinimum !== undefined && value <= exclusiveMinimum) return `must be above ${exclusiveMinimum}`;
  if (value >= minimum && value <= maximum) return isInteger && !Number.isSafeInteger(value) ? NOT_SAFE : undefined;
  if (schema.maximum === undefined) return `must be at least ${minimum}`;
  return schema.minimum === undefined ? `must be at most ${maximum}` : `must be from ${minimum} to ${maximum}`;
}

// Values take many times the memory of their text, so a text with too many values or too much depth is found before any memory is used
// for it. Whether it is valid JSON is left to the parser.

export const MAX_JSON_DEPTH = 64;
export const TOO_DEEP = `must not be nested deeper than ${MAX_JSON_DEPTH} levels`;
/** More than any object of ours has. Objects with more take many times as long to parse and to read. */
export const MAX_JSON_FIELDS = 1000;
export const TOO_MANY_FIELDS = `must have at most ${MAX_JSON_FIELDS} fields in one object`;

/** `entries` are those of the list if the text is one, 1 otherwise. */
type JsonSize = {
  readonly values: number;
  readonly depth: number;
  /** Of the object that has most of them. */
  readonly fields: number;
  readonly entries: number;
  /** The number of values of the entry that has most of them. */
  readonly longestEntry: number;
  /** Commas between entries, at least some kilobytes apart: the text can be parsed in pieces between them. */
  readonly cuts: readonly Cut[];
};
type Cut = { readonly at: number; readonly entriesBefore: number };

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const COMMA = 0x2c;
const LIST = 0x5b;
const OBJECT = 0x7b;

/** Bytes that matter outside of strings. The codes of ] and } are those of [ and { plus two. */
const IS_STRUCTURAL = new Uint8Array(256);
for (const byte of [QUOTE, COMMA, LIST, LIST + 2, OBJECT, OBJECT + 2]) IS_STRUCTURAL[byte] = 1;

const CUT_BYTES = 8192;
const STEP_BYTES = 131_072;

/** Measures JSON in UTF-8. Stops at the first value, depth or field that exceeds its limit. */
export function measureJson(bytes: Uint8Array, maxValues: number): JsonSize {
  const measuring = measureJsonInSteps(bytes, maxValues);
  for (;;) {
    const { done, value } = measuring.next();
    if (done === true) return value;
  }
}

/** A step takes about half a millisecond. */
export function* measureJsonInSteps(bytes: Uint8Array, maxValues: number): Generator<undefined, JsonSize> {
  const { length } = bytes;
  const cuts: Cut[] = [];
  let lastCut = 0;
  let entryStart = 0;
  let longestEntry = 0;
  let nextStep = STEP_BYTES;
  let values = 0;
  let depth = 0;
  let deepest = 0;
  let entries = 1;
  let isList = false;
  let fields = 0;
  /** Of the open object at each depth; negative in a list. */
  const fieldsAtDepth: number[] = [];
  for (let at = 0; at < length; at++) {
    const byte = bytes[at] as number;
    if (at >= nextStep) {
      nextStep = at + STEP_BYTES;
      yield;
    }
    if (IS_STRUCTURAL[byte] === 0) continue;
    if (byte === QUOTE) at = endOfString(bytes, at);
    else if (byte === COMMA) {
      if (depth === 1 && isList) {
        if (values - entryStart > longestEntry) longestEntry = values - entryStart;
        entryStart = values;
        if (at - lastCut >= CUT_BYTES) {
          lastCut = at;
          cuts.push({ at, entriesBefore: entries });
        }
        entries++;
      }
      const fieldsHere = (fieldsAtDepth[depth] ?? 0) + 1;
      fieldsAtDepth[depth] = fieldsHere;
      if (fieldsHere > fields) fields = fieldsHere;
      if (++values > maxValues || fields > MAX_JSON_FIELDS) break;
    } else if (byte === LIST || byte === OBJECT) {
      if (deepest === 0) isList = byte === LIST;
      if (++depth > deepest) deepest = depth;
      fieldsAtDepth[depth] = byte === OBJECT ? 1 : Number.NEGATIVE_INFINITY;
      if (++values > maxValues || deepest > MAX_JSON_DEPTH) break;
    } else depth--;
  }
  return { values, depth: deepest, fields, entries, longestEntry: Math.max(longestEntry, values - entryStart), cuts };
}

/** The position of the closing quote. */
function endOfString(bytes: Uint8Array, from: number): number {
  const { length } = bytes;
  let at = from + 1;
  for (; at < length; at++) {
    const byte = bytes[at];
    if (byte === QUOTE) return at;
    if (byte === BACKSLASH) at++;
  }
  return at;
}
