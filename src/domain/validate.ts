// Holds a foreign value against a schema of ours and says, in words, what is wrong: the first thing, as imports want it, or
// everything with its field. It knows the kinds of fields in `fields.ts`, objects and lists of them, and no more.

import { type FieldError, RequestError } from "./errors.ts";
import { isCleanText, isLongerThan } from "./id.ts";
import { parseInstant } from "./instant.ts";
import type { ObjectSchema, Schema, Static } from "./schema.ts";
import { quoted, suggestion } from "./text.ts";

/** `required` fields must be there; of the others, those that may be null may also be left out. */
export function errorInObject(
  schema: Pick<ObjectSchema, "properties">,
  required: readonly string[],
  value: unknown,
): string | undefined {
  if (typeof value !== "object" || value === null || Array.isArray(value)) return "must be an object";
  for (const name of Object.keys(value)) {
    if (!Object.hasOwn(schema.properties, name)) {
      return `unknown field ${quoted(name)}.${suggestion(name, Object.keys(schema.properties))}`;
    }
  }
  for (const [name, field] of Object.entries(schema.properties)) {
    const given = (value as Record<string, unknown>)[name];
    if (given === undefined) {
      if (required.includes(name)) return `${name}: is missing`;
      continue;
    }
    const fault = errorInField(field, given);
    if (fault !== undefined) return `${name}: ${fault}`;
  }
  return undefined;
}

type Shape = Pick<Schema, "properties" | "required">;

/** More than anyone mends at once; whoever sends a million wrong fields learns of these, and that there are more. */
const MAX_REPORTED_ERRORS = 50;
/** Of these it is also guessed what was meant, which takes longer than all else. */
const MAX_SUGGESTIONS = 10;

/** Every fault that is told and one more, in every depth that the schema has. What must be there, the schema says itself, in nested objects too. */
export function errorsInObject(schema: Shape, value: unknown): FieldError[] {
  const faults: FieldError[] = [];
  collectObjectErrors(schema, value, "", faults);
  return faults.slice(0, MAX_REPORTED_ERRORS + 1);
}

/** The value, known to fit the schema from here on; or a refusal that names all its faults. */
export function validated<S extends ObjectSchema>(schema: S, value: unknown): Static<S> {
  const faults = errorsInObject(schema, value);
  if (faults.length > 0) throw invalidBody(faults);
  return value as Static<S>;
}

/** `most` faults are told. */
export function invalidBody(errors: readonly FieldError[], most = MAX_REPORTED_ERRORS): RequestError {
  const { field, message } = errors[0] ?? { field: "", message: "is not as it must be" };
  const first = `${field === "" ? "The body" : field} ${message}${/[.?]$/.test(message) ? "" : "."}`;
  return new RequestError("body_invalid", first + moreErrors(errors.length, most), { errors: errors.slice(0, most) });
}

function moreErrors(count: number, most: number): string {
  if (count > most) return ` There are more than ${most} faults: see "errors" for the first ${most}.`;
  return count > 1 ? ` There are ${count} faults in all: see "errors".` : "";
}

function collectObjectErrors(
  { properties = {}, required = [] }: Shape,
  value: unknown,
  path: string,
  faults: FieldError[],
): void {
  if (typeof value !== "object" || value === null || Array.isArray(value)) {
    faults.push({ field: path, message: "must be an object" });
    return;
  }
  for (const name of Object.keys(value)) {
    if (Object.hasOwn(properties, name)) continue;
    if (faults.length > MAX_REPORTED_ERRORS) return;
    const shown = name.slice(0, 80).toWellFormed();
    const meant = faults.length < MAX_SUGGESTIONS ? suggestion(name, Object.keys(properties)) : "";
    faults.push({ field: within(path, shown), message: `is not known here.${meant}` });
  }
  for (const [name, field] of Object.entries(properties)) {
    const given = (value as Record<string, unknown>)[name];
    if (given !== undefined) collectFieldErrors(field, given, within(path, name), faults);
    else if (required.includes(name)) faults.push({ field: within(path, name), message: "is missing" });
  }
}

const within = (path: string, name: string): string => (path === "" ? name : `${path}.${name}`);

function collectFieldErrors(schema: Schema, value: unknown, path: string, faults: FieldError[]): void {
  if (faults.length > MAX_REPORTED_ERRORS) return;
  if (schema.properties !== undefined && value !== null) collectObjectErrors(schema, value, path, faults);
  else if (schema.items !== undefined && value !== null) collectListErrors(schema, schema.items, value, path, faults);
  else {
    const message = errorInField(schema, value);
    if (message !== undefined) faults.push({ field: path, message });
  }
}

function collectListErrors(schema: Schema, items: Schema, value: unknown, path: string, faults: FieldError[]): void {
  const { minItems = 0, maxItems = Number.POSITIVE_INFINITY } = schema;
  if (!Array.isArray(value)) faults.push({ field: path, message: "must be a list" });
  else if (value.length < minItems) faults.push({ field: path, message: `must have at least ${minItems} entries` });
  else if (value.length > maxItems) faults.push({ field: path, message: `must have at most ${maxItems} entries` });
  else for (const [i, item] of value.entries()) collectFieldErrors(items, item, `${path}[${i}]`, faults);
}

export function errorInField(schema: Schema, value: unknown): string | undefined {
  const types = typeof schema.type === "string" ? [schema.type] : (schema.type ?? []);
  if (value === null) return types.includes("null") ? undefined : "must not be null";
  if (schema.const !== undefined) return value === schema.const ? undefined : `must be ${JSON.stringify(schema.const)}`;
  if (schema.enum !== undefined) return schema.enum.includes(value) ? undefined : `must be one of ${joined(schema.enum)}`;
  if (schema.properties !== undefined) return errorInObject({ properties: schema.properties }, [], value);
  if (types.includes("string")) return errorInText(schema, value);
  if (types.includes("number") || types.includes("integer")) return errorInNumber(schema, value, types.includes("integer"));
  if (types.includes("boolean")) return typeof value === "boolean" ? undefined : "must be true or false";
  if (schema.items !== undefined) return errorInList(schema, schema.items, value);
  throw new Error(`no check for a field of type ${types.join("|")}`);
}

/** Lists stand in no import: their first fault is looked for among all. */
function errorInList(schema: Schema, items: Schema, value: unknown): string | undefined {
  const faults: FieldError[] = [];
  collectListErrors(schema, items, value, "", faults);
  return faults[0] && `${faults[0].field} ${faults[0].message}`.trimStart();
}

function errorInText(schema: Schema, value: unknown): string | undefined {
  if (typeof value !== "string") return "must be a text";
  if (schema.format === "date-time") {
    return parseInstant(value) === undefined ? 'must be a datetime such as "2026-11-14T09:30:00Z"' : undefined;
  }
  if (value.length < (schema.minLength ?? 0)) return "must not be empty";
  if (schema.maxLength !== undefined && isLongerThan(value, schema.maxLength)) {
    return `must have at most ${schema.maxLength} characters`;
  }
  if (!isCleanText(value)) return "must not contain control characters or broken Unicode";
  if (schema.pattern !== undefined && !new RegExp(schema.pattern, "u").test(value)) {
    return `${quoted(value)} does not look like one`;
  }
  return undefined;
}

function errorInNumber(schema: Schema, value: unknown, whole: boolean): string | undefined {
  const { minimum = Number.NEGATIVE_INFINITY, maximum = Number.POSITIVE_INFINITY, exclusiveMinimum } = schema;
  if (typeof value !== "number" || !Number.isFinite(value)) return "must be a number";
  if (whole && !Number.isInteger(value)) return "must be a whole number";
  if (exclusiveMinimum !== undefined && value <= exclusiveMinimum) return `must be above ${exclusiveMinimum}`;
  if (value >= minimum && value <= maximum) return undefined;
  if (schema.maximum === undefined) return `must be at least ${minimum}`;
  return schema.minimum === undefined ? `must be at most ${maximum}` : `must be from ${minimum} to ${maximum}`;
}

function joined(values: readonly unknown[]): string {
  return values.filter((value) => value !== null).join(", ");
}

export type JsonObject = Readonly<Record<string, unknown>>;

export function isObject(value: unknown): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** `at` is the name of the object itself. Unknown fields are told up to a bound. Lists are left to the caller, apart from being there. */
export function errorsInFields(schema: ObjectSchema, value: JsonObject, at: string): FieldError[] {
  const names = Object.keys(schema.properties);
  const errors: FieldError[] = Object.keys(value)
    .filter((name) => !Object.hasOwn(schema.properties, name))
    .slice(0, MAX_REPORTED_ERRORS + 1)
    .map((name, i) => ({
      field: at,
      message: `unknown field ${quoted(name)}.${i < MAX_SUGGESTIONS ? suggestion(name, names) : ""}`,
    }));
  for (const [name, field] of Object.entries(schema.properties)) {
    const given = value[name];
    const fault =
      given === undefined ? missing(schema, name) : field.items === undefined ? errorInField(field, given) : undefined;
    if (fault !== undefined) errors.push({ field: `${at}.${name}`, message: fault });
  }
  return errors;
}

function missing(schema: ObjectSchema, name: string): string | undefined {
  return schema.required?.includes(name) === true ? "is missing" : undefined;
}
