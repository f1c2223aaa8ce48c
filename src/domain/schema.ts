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
type Words = Omit<Schema, "type" | "properties" | "required" | "items" | typeof typed>;
type Properties = Readonly<Record<string, Schema>>;
export type ObjectSchema<P extends Properties = Properties> = Schema<{ -readonly [N in keyof P]: Static<P[N]> }> & {
  readonly properties: P;
};

export const text = (words: Words = {}): Schema<string> => ({ type: "string", ...words });
export const nullableText = (words: Words = {}): Schema<string | null> => ({ type: ["string", "null"], ...words });
export const number = (words: Words = {}): Schema<number> => ({ type: "number", ...words });
export const nullableNumber = (words: Words = {}): Schema<number | null> => ({ type: ["number", "null"], ...words });
export const integer = (words: Words = {}): Schema<number> => ({ type: "integer", ...words });
export const boolean = (words: Words = {}): Schema<boolean> => ({ type: "boolean", ...words });

export const literal = <T extends string | boolean>(value: T, words: Words = {}): Schema<T> => ({
  type: typeof value,
  const: value,
  ...words,
});

export const oneOf = <T extends string>(values: readonly T[], words: Words = {}): Schema<T> => ({
  type: "string",
  enum: values,
  ...words,
});

export const oneOfOrNull = <T extends string>(values: readonly T[], words: Words = {}): Schema<T | null> => ({
  type: ["string", "null"],
  enum: [...values, null],
  ...words,
});

/** Every property is required unless it is named in `optional`; nothing else is allowed. */
export function object<P extends Properties>(
  properties: P,
  words: Words = {},
  optional: readonly string[] = [],
): ObjectSchema<P> {
  const required = Object.keys(properties).filter((name) => !optional.includes(name));
  return { type: "object", properties, required, additionalProperties: false, ...words };
}

export const array = <T>(items: Schema<T>, words: Words = {}): Schema<T[]> => ({ type: "array", items, ...words });

/** By the name under which the OpenAPI document lists it. */
export const ref = (name: string): Schema => ({ $ref: `#/components/schemas/${name}` });
export const anyOf = (...schemas: readonly Schema[]): Schema => ({ anyOf: schemas });
