// Random values for the schemas of the OpenAPI document: mostly valid, sometimes extreme, malformed or of another type.

import fc from "fast-check";
import { dateTimes } from "../../domain/datetimes.ts";
import type { Document, Schema } from "../client.ts";

declare global {
  /** TypeScript does not declare these yet. */
  interface JSON {
    rawJSON(text: string): object;
    isRawJSON(value: unknown): boolean;
  }
}

export type Kind =
  | "customer"
  | "tank"
  | "device"
  | "key"
  | "alert"
  | "channel"
  | "notification"
  | "user"
  | "session"
  | "token"
  | "receiver";

/** The id of an object that an earlier request created or deleted. */
export class Reference {
  readonly kind: Kind;
  readonly isDeleted: boolean;
  readonly index: number;

  constructor(kind: Kind, isDeleted: boolean, index: number) {
    this.kind = kind;
    this.isDeleted = isDeleted;
    this.index = index;
  }
}

/** An instant relative to the clock of the service. */
export class Offset {
  readonly milliseconds: number;

  constructor(milliseconds: number) {
    this.milliseconds = milliseconds;
  }
}

export const mostly = <T, U>(usual: fc.Arbitrary<T>, other: fc.Arbitrary<U>, weight = 40): fc.Arbitrary<T | U> =>
  fc.oneof({ withCrossShrink: true }, { weight, arbitrary: usual }, { weight: 1, arbitrary: other });

const LONG_TEXTS = [128, 129, 512, 513, 5000].flatMap((length) => ["x".repeat(length), "\u{1f4a7}".repeat(length)]);
export const HOSTILE_TEXTS: readonly string[] = [
  ...["", " ", "\0", "a\0b", "\t", "\r\nX-Injected: 1\r\n\r\n", "\u001b[31m", "\u0085", "\u2028"],
  ...["\ud800", "\udfff\ud800", "a\udc00", "\ufeff", "\uffff", "\u{10ffff}", `e${"\u0301".repeat(50)}`, "\u202eabc\u202c"],
  ...["İ", "ß", "ﬃ", "\u00e9", "e\u0301", "\u0660", "💧"],
  ...["__proto__", "constructor", "prototype", "toString", "hasOwnProperty", "then", "toJSON", "length"],
  ...["NaN", "Infinity", "-0", "+1", "01", "1e1", "1e400", "0x10", "1_0", "null", "undefined", "true", "[object Object]"],
  ...["'; DROP TABLE customer; --", "' OR '1'='1", "%", "_", "\\", "\\'", "$1", "a%", "%s%n", `\${7*7}`, "{{7*7}}"],
  ...["<img src=x onerror=alert(1)>", "</script><script>alert(1)</script>", "javascript:alert(1)", "&amp;", '"'],
  ...["=1+1", "@SUM(A1)", "+cmd|' /C calc'!A0", "-2", "a,b;c", '"quoted"'],
  ...["../../etc/passwd", "..", ".", "/", "//", "a/b", "a?b", "a#b", "%2e%2e", "%00", "file:///etc/passwd", "http://127.0.0.1/"],
  ...["9999-12-31T23:59:59.999Z", "0000-01-01", "2026-02-30", "2026-11-14T24:00:00Z", "2026-11-14T09:30:00+99:99"],
  ...["1d", "0s", "-1h", "99999999999d", "1.5h", "1h1h"],
  ...LONG_TEXTS,
];
export const hostileText = fc.oneof(
  { weight: 4, arbitrary: fc.constantFrom(...HOSTILE_TEXTS) },
  { weight: 1, arbitrary: fc.array(fc.nat({ max: 0xffff }), { maxLength: 20 }).map((units) => String.fromCharCode(...units)) },
  { weight: 1, arbitrary: fc.string({ unit: "grapheme", maxLength: 20 }) },
);

/** Numbers as they are written, because JSON.stringify writes no -0 and nothing beyond the largest double. */
const NUMBERS = [
  ...["0", "-0", "-1", "0.1", "1e-7", "5e-324", "1e-400", "99.99999999999999", "100.00000000000001", "-90.000001", "180.5"],
  ...["2147483647", "2147483648", "-2147483649", "9007199254740991", "9007199254740993", "9223372036854775808"],
  ...["1e21", "1.7976931348623157e308", "-1.7976931348623157e308", "1e400", "-1e400", "9".repeat(400)],
];
const nested = (levels: number): unknown => JSON.parse("[".repeat(levels) + "]".repeat(levels));

const hostileValue: fc.Arbitrary<unknown> = fc.oneof(
  { weight: 4, arbitrary: hostileText },
  { weight: 3, arbitrary: fc.constantFrom(...NUMBERS).map((text) => JSON.rawJSON(text)) },
  { weight: 3, arbitrary: fc.constantFrom<unknown>(null, true, false, [], {}, [[]], [null], nested(20), nested(90)) },
  { weight: 1, arbitrary: fc.constantFrom("__proto__", "constructor", "").map((name) => ({ [name]: { name: "x", id: "y" } })) },
  { weight: 1, arbitrary: fc.array(fc.constantFrom<unknown>(0, "x", null, {}), { minLength: 50, maxLength: 300 }) },
  { weight: 1, arbitrary: fc.jsonValue({ maxDepth: 3 }) },
);

const KINDS: Readonly<Record<string, Kind>> = {
  owner_id: "customer",
  customer_id: "customer",
  tank_id: "tank",
  tank_ids: "tank",
  device_id: "device",
  assigned_device_id: "device",
  devEui: "device",
  dev_eui: "device",
  by: "key",
  alert_id: "alert",
  channel_id: "channel",
  url: "receiver",
  token: "token",
  account: "user",
};

export const reference = (kind: Kind, deletedWeight = 1): fc.Arbitrary<Reference> =>
  fc
    .tuple(
      fc.oneof({ weight: 12, arbitrary: fc.constant(false) }, { weight: deletedWeight, arbitrary: fc.constant(true) }),
      fc.nat({ max: 63 }),
    )
    .map(([isDeleted, index]) => new Reference(kind, isDeleted, index));

const YEAR = 31_536_000_000;
const OFFSETS: Readonly<Record<string, { readonly min: number; readonly max: number }>> = {
  expires_at: { min: 1, max: YEAR },
  // Before `to`.
  from: { min: -2 * YEAR, max: -YEAR },
};
const offsets = (name: string): fc.Arbitrary<Offset> =>
  fc.integer(OFFSETS[name] ?? { min: -YEAR, max: 0 }).map((offset) => new Offset(offset));
const datetimes = (name: string) => mostly(offsets(name), dateTimes, 6);
const freshId = fc.stringMatching(/^[a-f0-9]{16}$/);
const cleanText = fc.oneof(
  fc.string({ minLength: 1, maxLength: 12 }),
  fc.string({ unit: "grapheme", minLength: 1, maxLength: 12 }),
);

type Type = "string" | "number" | "integer" | "boolean" | "null" | "array" | "object";
/** The part of JSON Schema that the document uses. */
export type Rules = {
  readonly $ref?: string;
  readonly type?: Type | readonly Type[];
  readonly anyOf?: readonly Rules[];
  readonly properties?: Readonly<Record<string, Rules>>;
  readonly required?: readonly string[];
  readonly items?: Rules;
  readonly enum?: readonly unknown[];
  readonly const?: unknown;
  readonly format?: string;
  readonly pattern?: string;
  readonly minimum?: number;
  readonly maximum?: number;
  readonly exclusiveMinimum?: number;
  readonly examples?: readonly unknown[];
};

/** Values of a field with this name: mostly those that the schema allows. */
export function valuesFor(schema: Schema, name: string, document: Document): fc.Arbitrary<unknown> {
  return mostly(validValues(schema as Rules, name, document), hostileValue);
}

export function validValues(schema: Rules, name: string, document: Document): fc.Arbitrary<unknown> {
  const { $ref, anyOf, examples = [], type, format } = schema;
  if ($ref !== undefined) {
    return validValues((document.components.schemas[$ref.split("/").at(-1) ?? ""] ?? {}) as Rules, name, document);
  }
  if (schema.const !== undefined) return fc.constant(schema.const);
  if (schema.enum !== undefined) return fc.constantFrom(...schema.enum);
  if (anyOf !== undefined) return fc.oneof(...anyOf.map((one) => validValues(one, name, document)));
  const byType = [type ?? "object"].flat().map((one) => validOfType(one, schema, name, document));
  const isIdOrTime = name === "id" || name in KINDS || format === "date-time";
  return fc.oneof(...byType, ...(isIdOrTime ? [] : examples.map((example) => fc.constant(example))));
}

function validOfType(type: Type, schema: Rules, name: string, document: Document): fc.Arbitrary<unknown> {
  const { minimum, maximum, exclusiveMinimum, items, properties = {}, required = [], examples = [] } = schema;
  switch (type) {
    case "null":
      return fc.constant(null);
    case "boolean":
      return fc.boolean();
    case "integer":
      return fc.oneof(
        fc.integer({ min: minimum ?? -1000, max: Math.min(maximum ?? 1000, (minimum ?? 0) + 100) }),
        fc.constantFrom(minimum ?? 0, maximum ?? 2 ** 31),
      );
    case "number": {
      const [example = 1000] = examples.filter((one) => typeof one === "number");
      const bounds = { min: minimum ?? exclusiveMinimum ?? 0, max: maximum ?? 2 * example };
      return fc.oneof(
        fc.double({ ...bounds, noNaN: true, minExcluded: true }),
        fc.integer({ min: 1, max: Math.ceil(bounds.max) }),
      );
    }
    case "array":
      return fc.array(items === undefined ? hostileValue : valuesFor(items as Schema, name, document), { maxLength: 2 });
    case "object":
      return objects(properties, required, document);
    case "string":
      return texts(schema, name);
  }
}

function objects(properties: Readonly<Record<string, Rules>>, required: readonly string[], document: Document) {
  const fields = Object.fromEntries(
    Object.entries(properties).map(([name, schema]) => [name, valuesFor(schema as Schema, name, document)]),
  );
  const complete = fc.record(fields, { requiredKeys: [...required] });
  const extra = fc.dictionary(hostileText, hostileValue, { minKeys: 1, maxKeys: 2 });
  return fc
    .tuple(mostly(complete, fc.record(fields, { requiredKeys: [] })), mostly(fc.constant({}), extra))
    .map(([usual, more]) => ({ ...usual, ...more }));
}

function texts({ format, pattern = "" }: Rules, name: string): fc.Arbitrary<unknown> {
  const kind = KINDS[name];
  if (format === "date-time") return datetimes(name);
  if (name === "assigned_device_id")
    return fc.oneof({ weight: 3, arbitrary: freshId }, { weight: 1, arbitrary: reference("device") });
  if (kind !== undefined) return mostly(reference(kind), freshId, 8);
  if (name === "id") return fc.oneof(freshId, fc.stringMatching(/^[a-f][0-9]{2}$/));
  if (["silent_for", "overlap", "delay"].includes(name)) return fc.constantFrom("24h", "90m", "7d", "1s");
  if (pattern.includes(":[0-5]")) return fc.constantFrom("21:00", "07:30", "00:00", "23:59");
  if (name === "timezone") return fc.constantFrom("Europe/Berlin", "UTC", "America/New_York");
  if (name === "event") return fc.constantFrom("up", "up", "join");
  if (pattern.includes("@")) return fc.tuple(freshId, fc.constantFrom("a.example", "ü.example")).map((parts) => parts.join("@"));
  return cleanText;
}

/** Values like this one: mostly equal, sometimes with another leaf. */
export function valuesLike(value: unknown, name = ""): fc.Arbitrary<unknown> {
  if (Array.isArray(value)) return mostly(fc.tuple(...value.map((one) => valuesLike(one))), hostileValue);
  if (typeof value === "object" && value !== null) {
    const fields = Object.entries(value).map(([key, one]) => [key, valuesLike(one, key)] as const);
    return mostly(
      fc.oneof(
        { weight: 9, arbitrary: fc.record(Object.fromEntries(fields)) },
        { weight: 1, arbitrary: fc.record(Object.fromEntries(fields), { requiredKeys: [] }) },
      ),
      hostileValue,
    );
  }
  const kind = KINDS[name];
  if (kind !== undefined) return mostly(reference(kind), hostileValue, 8);
  if (typeof value === "string" && /^\d{4}-\d\d-\d\dT/.test(value)) return mostly(datetimes(name), hostileValue);
  return mostly(fc.constant(value), hostileValue);
}
