// Holds a foreign value against a schema of ours and says, in words, what is wrong: the first thing, as imports want it, or
// everything with its field. It knows the kinds of fields in `fields.ts`, objects and lists of them, and no more.

import { type Fault, Refusal } from "./errors.ts";
import { isCleanText, isLongerThan } from "./id.ts";
import { parseInstant } from "./instant.ts";
import type { ObjectSchema, Schema, Static } from "./schema.ts";
import { guess, quoted } from "./text.ts";

/** `required` fields must be there; of the others, those that may be null may also be left out. */
export function faultInObject(
  schema: Pick<ObjectSchema, "properties">,
  required: readonly string[],
  value: unknown,
): string | undefined {
  if (typeof value !== "object" || value === null || Array.isArray(value)) return "must be an object";
  for (const name of Object.keys(value)) {
    if (!Object.hasOwn(schema.properties, name)) {
      return `unknown field ${quoted(name)}.${guess(name, Object.keys(schema.properties))}`;
    }
  }
  for (const [name, field] of Object.entries(schema.properties)) {
    const given = (value as Record<string, unknown>)[name];
    if (given === undefined) {
      if (required.includes(name)) return `${name}: is missing`;
      continue;
    }
    const fault = faultInField(field, given);
    if (fault !== undefined) return `${name}: ${fault}`;
  }
  return undefined;
}

type Shape = Pick<Schema, "properties" | "required">;

/** More than anyone mends at once; whoever sends a million wrong fields learns of these, and that there are more. */
export const FAULTS_TOLD = 50;
/** Of these it is also guessed what was meant, which takes longer than all else. */
export const FAULTS_GUESSED = 10;

/** Every fault that is told and one more, in every depth that the schema has. What must be there, the schema says itself, in nested objects too. */
export function faultsInObject(schema: Shape, value: unknown): Fault[] {
  const faults: Fault[] = [];
  noteObject(schema, value, "", faults);
  return faults.slice(0, FAULTS_TOLD + 1);
}

/** The value, known to fit the schema from here on; or a refusal that names all its faults. */
export function checked<S extends ObjectSchema>(schema: S, value: unknown): Static<S> {
  const faults = faultsInObject(schema, value);
  if (faults.length > 0) throw bodyInvalid(faults);
  return value as Static<S>;
}

/** `most` faults are told. */
export function bodyInvalid(errors: readonly Fault[], most = FAULTS_TOLD): Refusal {
  const { field, message } = errors[0] ?? { field: "", message: "is not as it must be" };
  const first = `${field === "" ? "The body" : field} ${message}${/[.?]$/.test(message) ? "" : "."}`;
  return new Refusal("body_invalid", first + others(errors.length, most), { errors: errors.slice(0, most) });
}

function others(count: number, most: number): string {
  if (count > most) return ` There are more than ${most} faults: see "errors" for the first ${most}.`;
  return count > 1 ? ` There are ${count} faults in all: see "errors".` : "";
}

function noteObject({ properties = {}, required = [] }: Shape, value: unknown, path: string, faults: Fault[]): void {
  if (typeof value !== "object" || value === null || Array.isArray(value)) {
    faults.push({ field: path, message: "must be an object" });
    return;
  }
  for (const name of Object.keys(value)) {
    if (Object.hasOwn(properties, name)) continue;
    if (faults.length > FAULTS_TOLD) return;
    const shown = name.slice(0, 80).toWellFormed();
    const meant = faults.length < FAULTS_GUESSED ? guess(name, Object.keys(properties)) : "";
    faults.push({ field: within(path, shown), message: `is not known here.${meant}` });
  }
  for (const [name, field] of Object.entries(properties)) {
    const given = (value as Record<string, unknown>)[name];
    if (given !== undefined) noteField(field, given, within(path, name), faults);
    else if (required.includes(name)) faults.push({ field: within(path, name), message: "is missing" });
  }
}

const within = (path: string, name: string): string => (path === "" ? name : `${path}.${name}`);

function noteField(schema: Schema, value: unknown, path: string, faults: Fault[]): void {
  if (faults.length > FAULTS_TOLD) return;
  if (schema.properties !== undefined && value !== null) noteObject(schema, value, path, faults);
  else if (schema.items !== undefined && value !== null) noteList(schema, schema.items, value, path, faults);
  else {
    const message = faultInField(schema, value);
    if (message !== undefined) faults.push({ field: path, message });
  }
}

function noteList(schema: Schema, items: Schema, value: unknown, path: string, faults: Fault[]): void {
  const { minItems = 0, maxItems = Number.POSITIVE_INFINITY } = schema;
  if (!Array.isArray(value)) faults.push({ field: path, message: "must be a list" });
  else if (value.length < minItems) faults.push({ field: path, message: `must have at least ${minItems} entries` });
  else if (value.length > maxItems) faults.push({ field: path, message: `must have at most ${maxItems} entries` });
  else for (const [i, item] of value.entries()) noteField(items, item, `${path}[${i}]`, faults);
}

export function faultInField(schema: Schema, value: unknown): string | undefined {
  const types = typeof schema.type === "string" ? [schema.type] : (schema.type ?? []);
  if (value === null) return types.includes("null") ? undefined : "must not be null";
  if (schema.const !== undefined) return value === schema.const ? undefined : `must be ${JSON.stringify(schema.const)}`;
  if (schema.enum !== undefined) return schema.enum.includes(value) ? undefined : `must be one of ${words(schema.enum)}`;
  if (schema.properties !== undefined) return faultInObject({ properties: schema.properties }, [], value);
  if (types.includes("string")) return faultInText(schema, value);
  if (types.includes("number") || types.includes("integer")) return faultInNumber(schema, value, types.includes("integer"));
  if (types.includes("boolean")) return typeof value === "boolean" ? undefined : "must be true or false";
  if (schema.items !== undefined) return faultInList(schema, schema.items, value);
  throw new Error(`no check for a field of type ${types.join("|")}`);
}

/** Lists stand in no import: their first fault is looked for among all. */
function faultInList(schema: Schema, items: Schema, value: unknown): string | undefined {
  const faults: Fault[] = [];
  noteList(schema, items, value, "", faults);
  return faults[0] && `${faults[0].field} ${faults[0].message}`.trimStart();
}

function faultInText(schema: Schema, value: unknown): string | undefined {
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

function faultInNumber(schema: Schema, value: unknown, whole: boolean): string | undefined {
  const { minimum = Number.NEGATIVE_INFINITY, maximum = Number.POSITIVE_INFINITY, exclusiveMinimum } = schema;
  if (typeof value !== "number" || !Number.isFinite(value)) return "must be a number";
  if (whole && !Number.isInteger(value)) return "must be a whole number";
  if (exclusiveMinimum !== undefined && value <= exclusiveMinimum) return `must be above ${exclusiveMinimum}`;
  if (value >= minimum && value <= maximum) return undefined;
  if (schema.maximum === undefined) return `must be at least ${minimum}`;
  return schema.minimum === undefined ? `must be at most ${maximum}` : `must be from ${minimum} to ${maximum}`;
}

function words(values: readonly unknown[]): string {
  return values.filter((value) => value !== null).join(", ");
}
