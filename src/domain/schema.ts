// The part of JSON Schema that the API needs. One definition gives the TypeScript type, the validation (`validate.ts`) and the
// OpenAPI document.

import { ID_MAX_LENGTH } from "./id.ts";

declare const typed: unique symbol;

/** A JSON Schema for values of type `T`; at run time a plain object. */
export type Schema<T = unknown> = {
  readonly type?: string | readonly string[];
  readonly const?: unknown;
  readonly enum?: readonly unknown[];
  readonly format?: string;
  readonly pattern?: string;
  readonly minLength?: number;
  readonly maxLength?: number;
  readonly minimum?: number;
  readonly maximum?: number;
  readonly exclusiveMinimum?: number;
  readonly minItems?: number;
  readonly maxItems?: number;
  readonly default?: unknown;
  readonly description?: string;
  readonly examples?: readonly unknown[];
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly required?: readonly string[];
  readonly additionalProperties?: boolean;
  readonly items?: Schema;
  readonly anyOf?: readonly Schema[];
  readonly $ref?: string;
  readonly [typed]?: T;
};

export type Static<S extends Schema> = S extends Schema<infer T> ? T : never;

type Keywords = Omit<Schema, "type" | "properties" | "required" | "items" | typeof typed>;
type Properties = Readonly<Record<string, Schema>>;
type RequiredProperties<P extends Properties, O extends keyof P> = { -readonly [N in Exclude<keyof P, O>]: Static<P[N]> };
type OptionalProperties<P extends Properties, O extends keyof P> = { -readonly [N in O]?: Static<P[N]> };
/** `O`: the names of the optional properties. */
export type ObjectSchema<P extends Properties = Properties, O extends keyof P = never> = Schema<
  RequiredProperties<P, O> & OptionalProperties<P, O>
> & {
  readonly properties: P;
};

export const text = (keywords: Keywords = {}): Schema<string> => ({ type: "string", ...keywords });
export const number = (keywords: Keywords = {}): Schema<number> => ({ type: "number", ...keywords });
export const integer = (keywords: Keywords = {}): Schema<number> => ({ type: "integer", ...keywords });
export const boolean = (keywords: Keywords = {}): Schema<boolean> => ({ type: "boolean", ...keywords });

export const literal = <T extends string | boolean>(value: T, keywords: Keywords = {}): Schema<T> => ({
  type: typeof value,
  const: value,
  ...keywords,
});

export const oneOf = <const T extends string>(values: readonly T[], keywords: Keywords = {}): Schema<T> => ({
  type: "string",
  enum: values,
  ...keywords,
});

/** Properties are required unless listed in `optional`; others are not allowed. */
export function object<P extends Properties, O extends keyof P & string = never>(
  properties: P,
  keywords: Keywords = {},
  optional: readonly O[] = [],
): ObjectSchema<P, O> {
  const optionalNames: readonly string[] = optional;
  const required = Object.keys(properties).filter((name) => !optionalNames.includes(name));
  return { type: "object", properties, required, additionalProperties: false, ...keywords };
}

export const array = <T>(items: Schema<T>, keywords: Keywords = {}): Schema<T[]> => ({ type: "array", items, ...keywords });

export function nullable<T>(schema: Schema<T>): Schema<T | null> {
  const types = typeof schema.type === "string" ? [schema.type] : (schema.type ?? []);
  const choices = schema.enum === undefined ? {} : { enum: [...schema.enum, null] };
  return { ...schema, type: [...types, "null"], ...choices };
}

/** All properties optional, as in a merge patch. */
export function partial<P extends Properties, O extends keyof P>(schema: ObjectSchema<P, O>, keywords: Keywords = {}) {
  return object(schema.properties, keywords, Object.keys(schema.properties) as (keyof P & string)[]);
}

/** A component of the OpenAPI document. */
export const ref = (name: string): Schema => ({ $ref: `#/components/schemas/${name}` });
export const anyOf = (...schemas: readonly Schema[]): Schema => ({ anyOf: schemas });

// The kinds of fields that API objects are made of.

const TEXT_MAX_LENGTH = 512;
const NO_CONTROL_CHARACTERS = "^[^\\u0000-\\u001f\\u007f-\\u009f]*$";
/** Of stored customers, and for signing in: new addresses match ADDRESS_PATTERN. */
export const EMAIL_PATTERN = "^[^\\s@]+@[^\\s@]+$";
/** Address of one recipient of mail, without a display name. The domain may be international. */
export const ADDRESS_PATTERN =
  "^[\\p{L}\\p{M}\\p{N}.!#$%&'*+/=?^_`{|}~-]{1,64}@[\\p{L}\\p{N}](?:[\\p{L}\\p{M}\\p{N}.-]{0,252}[\\p{L}\\p{M}\\p{N}])?$";
/** Local time of day. */
export const TIME_PATTERN = "^(?:[01]\\d|2[0-3]):[0-5]\\d$";
/** Id of a new object: see `isDotSegment`. */
export const NEW_ID_PATTERN = "^(?!\\.\\.?$)[^\\u0000-\\u001f\\u007f-\\u009f]*$";
const INSTANT_EXAMPLE = "2026-11-14T09:30:00.000Z";

export const idField = (description: string, example: string) =>
  text({ minLength: 1, maxLength: ID_MAX_LENGTH, pattern: NO_CONTROL_CHARACTERS, description, examples: [example] });

export const textField = (description: string, example: string) =>
  text({ minLength: 1, maxLength: TEXT_MAX_LENGTH, pattern: NO_CONTROL_CHARACTERS, description, examples: [example] });

export const emailField = (description: string, example: string) =>
  text({ maxLength: TEXT_MAX_LENGTH, pattern: EMAIL_PATTERN, description, examples: [example] });

export const nullableTextField = (description: string, example: string) =>
  nullable(text({ maxLength: TEXT_MAX_LENGTH, pattern: NO_CONTROL_CHARACTERS, description, examples: [example] }));

export const nullableNumberField = (description: string, minimum: number, maximum: number, example: number) =>
  nullable(number({ minimum, maximum, description, examples: [example] }));

/** Duration: see `parseDuration`. */
export const DURATION_PATTERN = "^[0-9]{1,6}[smhd]$";

export const durationField = (description: string, example: string) =>
  text({ pattern: DURATION_PATTERN, description, examples: [example] });

export const instantField = (description: string) => text({ format: "date-time", description, examples: [INSTANT_EXAMPLE] });
