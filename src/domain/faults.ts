// All that is wrong with a foreign object, each with the name of the field, for people who mend it in one go.

import { FAULTS_GUESSED, FAULTS_TOLD, faultInField } from "./check.ts";
import type { ObjectSchema } from "./schema.ts";
import { guess, quoted } from "./text.ts";

export type FieldFault = { readonly field: string; readonly message: string };
export type Fields = Readonly<Record<string, unknown>>;

export function isObject(value: unknown): value is Fields {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** `at` is the name of the object itself. Unknown fields are told up to a bound. Lists are left to the caller, apart from being there. */
export function faultsInFields(schema: ObjectSchema, value: Fields, at: string): FieldFault[] {
  const names = Object.keys(schema.properties);
  const faults: FieldFault[] = Object.keys(value)
    .filter((name) => !Object.hasOwn(schema.properties, name))
    .slice(0, FAULTS_TOLD + 1)
    .map((name, i) => ({ field: at, message: `unknown field ${quoted(name)}.${i < FAULTS_GUESSED ? guess(name, names) : ""}` }));
  for (const [name, field] of Object.entries(schema.properties)) {
    const given = value[name];
    const fault =
      given === undefined ? missing(schema, name) : field.items === undefined ? faultInField(field, given) : undefined;
    if (fault !== undefined) faults.push({ field: `${at}.${name}`, message: fault });
  }
  return faults;
}

function missing(schema: ObjectSchema, name: string): string | undefined {
  return schema.required?.includes(name) === true ? "is missing" : undefined;
}
