// Holds a foreign value against the schema of an object of the interface and says, in words, the first thing that is
// wrong. It knows the kinds of fields in `fields.ts`, and no more.

import { isCleanText, isLongerThan } from "./id.ts";
import { parseInstant } from "./instant.ts";
import type { ObjectSchema, Schema } from "./schema.ts";
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

function faultInField(schema: Schema, value: unknown): string | undefined {
  const types = typeof schema.type === "string" ? [schema.type] : (schema.type ?? []);
  if (value === null) return types.includes("null") ? undefined : "must not be null";
  if (schema.const !== undefined) return value === schema.const ? undefined : `must be ${JSON.stringify(schema.const)}`;
  if (schema.enum !== undefined) return schema.enum.includes(value) ? undefined : `must be one of ${words(schema.enum)}`;
  if (schema.properties !== undefined) return faultInObject({ properties: schema.properties }, [], value);
  if (types.includes("string")) return faultInText(schema, value);
  if (types.includes("number") || types.includes("integer")) return faultInNumber(schema, value, types.includes("integer"));
  if (types.includes("boolean")) return typeof value === "boolean" ? undefined : "must be true or false";
  throw new Error(`no check for a field of type ${types.join("|")}`);
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
  if (value < minimum || value > maximum) return `must be from ${minimum} to ${maximum}`;
  return undefined;
}

function words(values: readonly unknown[]): string {
  return values.filter((value) => value !== null).join(", ");
}
