// JSON Schema, as far as the interface needs it. One definition gives the TypeScript type, the check of a foreign value
// (`check.ts`) and the OpenAPI document. Written out here because the usual library takes 24 MB and 0.2 s of every start.

declare const typed: unique symbol;

/** A JSON Schema for values of the type `T`; at run time a plain object, ready for JSON. */
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

/** What may be said about a value of a given type. */
type Keywords = Omit<Schema, "type" | "properties" | "required" | "items" | typeof typed>;
type Properties = Readonly<Record<string, Schema>>;
type RequiredProperties<P extends Properties, O extends keyof P> = { -readonly [N in Exclude<keyof P, O>]: Static<P[N]> };
type OptionalProperties<P extends Properties, O extends keyof P> = { -readonly [N in O]?: Static<P[N]> };
/** `O`: the names of those that may be left out. */
export type ObjectSchema<P extends Properties = Properties, O extends keyof P = never> = Schema<
  RequiredProperties<P, O> & OptionalProperties<P, O>
> & {
  readonly properties: P;
};

export const text = (words: Keywords = {}): Schema<string> => ({ type: "string", ...words });
export const nullableText = (words: Keywords = {}): Schema<string | null> => ({ type: ["string", "null"], ...words });
export const number = (words: Keywords = {}): Schema<number> => ({ type: "number", ...words });
export const nullableNumber = (words: Keywords = {}): Schema<number | null> => ({ type: ["number", "null"], ...words });
export const integer = (words: Keywords = {}): Schema<number> => ({ type: "integer", ...words });
export const boolean = (words: Keywords = {}): Schema<boolean> => ({ type: "boolean", ...words });

export const literal = <T extends string | boolean>(value: T, words: Keywords = {}): Schema<T> => ({
  type: typeof value,
  const: value,
  ...words,
});

export const oneOf = <const T extends string>(values: readonly T[], words: Keywords = {}): Schema<T> => ({
  type: "string",
  enum: values,
  ...words,
});

export const oneOfOrNull = <const T extends string>(values: readonly T[], words: Keywords = {}): Schema<T | null> => ({
  type: ["string", "null"],
  enum: [...values, null],
  ...words,
});

/** Every property is required unless it is named in `optional`; nothing else is allowed. */
export function object<P extends Properties, O extends keyof P & string = never>(
  properties: P,
  words: Keywords = {},
  optional: readonly O[] = [],
): ObjectSchema<P, O> {
  const spare: readonly string[] = optional;
  const required = Object.keys(properties).filter((name) => !spare.includes(name));
  return { type: "object", properties, required, additionalProperties: false, ...words };
}

export const array = <T>(items: Schema<T>, words: Keywords = {}): Schema<T[]> => ({ type: "array", items, ...words });

/** The same, or null. */
export function nullable<T>(schema: Schema<T>): Schema<T | null> {
  const types = typeof schema.type === "string" ? [schema.type] : (schema.type ?? []);
  const choices = schema.enum === undefined ? {} : { enum: [...schema.enum, null] };
  return { ...schema, type: [...types, "null"], ...choices };
}

/** The same with every property left to the sender, as a merge patch has them. */
export function partial<P extends Properties, O extends keyof P>(schema: ObjectSchema<P, O>, words: Keywords = {}) {
  return object(schema.properties, words, Object.keys(schema.properties) as (keyof P & string)[]);
}

/** By the name under which the OpenAPI document lists it. */
export const ref = (name: string): Schema => ({ $ref: `#/components/schemas/${name}` });
export const anyOf = (...schemas: readonly Schema[]): Schema => ({ anyOf: schemas });
