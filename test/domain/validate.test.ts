import assert from "node:assert/strict";
import test from "node:test";
import {
  array,
  boolean,
  idField,
  instantField,
  integer,
  literal,
  nullable,
  nullableNumberField,
  nullableTextField,
  number,
  object,
  oneOf,
  partial,
  text,
  textField,
} from "../../src/domain/schema.ts";
import { errorInObject, errorsInObject, invalidBody } from "../../src/domain/validate.ts";

const Fields = partial(
  object({
    id: idField("", "x"),
    name: textField("", "x"),
    note: nullableTextField("", "x"),
    since: instantField(""),
    until: nullable(instantField("")),
    share: nullableNumberField("", -1, 1, 0),
    count: integer({ minimum: 0, maximum: 10 }),
    total: integer(),
    isOn: boolean(),
    kind: oneOf(["a", "b"]),
    fixed: literal("thing"),
  }),
);

test("each kind of field says what it must be", () => {
  const valid = { id: "x", name: "x", since: "2026-01-01", count: 1, isOn: false, kind: "a", fixed: "thing" };
  assert.equal(errorInObject(Fields, { ...valid, note: null, until: null, share: null }), undefined);
  assert.equal(errorInObject(Fields, {}), undefined);
  const cases: [string, unknown, string][] = [
    ["id", 1, "must be a string"],
    ["id", "", "must not be empty"],
    ["name", "x".repeat(513), "must have at most 512 characters"],
    ["note", "\u0007", "must not contain control characters or broken Unicode"],
    ["since", null, "must not be null"],
    ["since", "soon", 'must be a datetime such as "2026-11-14T09:30:00Z"'],
    ["until", 5, "must be a string"],
    ["share", "0", "must be a number"],
    ["share", Number.NaN, "must be a number"],
    ["share", 1.01, "must be from -1 to 1"],
    ["count", 1.5, "must be a whole number"],
    ["count", 11, "must be from 0 to 10"],
    ["total", 2 ** 53, "must be from -9007199254740991 to 9007199254740991"],
    ["total", -1e19, "must be from -9007199254740991 to 9007199254740991"],
    ["isOn", "true", "must be true or false"],
    ["kind", "c", "must be one of a, b"],
    ["fixed", "other", 'must be "thing"'],
  ];
  for (const [field, value, message] of cases) {
    assert.equal(errorInObject(Fields, { ...valid, [field]: value }), `${field}: ${message}`);
  }
});

test("inherited properties are neither fields nor values", () => {
  assert.equal(errorInObject(Fields, { toString: 1 }), "toString: is not a known field");
  assert.equal(errorInObject(Fields, JSON.parse('{"__proto__": 1}')), "__proto__: is not a known field");
});

test("an unknown type in a schema throws", () => {
  assert.throws(() => errorInObject(object({ odd: { type: "odd" } }), { odd: [] }), /no validation for a field of type odd/);
});

const Point = object({ height: number({ minimum: 0 }), volume: number({ maximum: 9 }), note: text() }, {}, ["note"]);
const Shape = object(
  {
    name: textField("", "x"),
    top: Point,
    bottom: nullable(Point),
    kind: nullable(oneOf(["a", "b"])),
    points: array(Point, { minItems: 1, maxItems: 3 }),
    table: array(array(integer())),
  },
  {},
  ["bottom", "kind", "table"],
);
const POINT = { height: 1, volume: 2 };
const SHAPE = { name: "x", top: POINT, points: [POINT] };
const errorsOf = (value: unknown) => errorsInObject(Shape, value).map(({ field, message }) => `${field}: ${message}`);

test("all errors are reported, each with its path, unknown fields first", () => {
  assert.deepEqual(errorsOf(SHAPE), []);
  assert.deepEqual(errorsOf({ ...SHAPE, bottom: null, kind: null, table: [[1], []] }), []);
  assert.deepEqual(errorsOf({ name: undefined }), ["name: is missing", "top: is missing", "points: is missing"]);
  assert.deepEqual(errorsOf({ ...SHAPE, naem: 1, name: "", kind: "c" }), [
    'naem: is not a known field. Did you mean "name"?',
    "name: must not be empty",
    "kind: must be one of a, b",
  ]);
  assert.deepEqual(errorsOf({ ...SHAPE, top: { height: -1, volume: "2", hieght: 1 }, bottom: { height: 1, volume: 10 } }), [
    'top.hieght: is not a known field. Did you mean "height"?',
    "top.height: must be at least 0",
    "top.volume: must be a number",
    "bottom.volume: must be at most 9",
  ]);
  assert.deepEqual(errorsOf({ ...SHAPE, points: [POINT, { height: 1 }, 5], table: [[1, 1.5], 2, null] }), [
    "points[1].volume: is missing",
    "points[2]: must be an object",
    "table[0][1]: must be a whole number",
    "table[1]: must be a list",
    "table[2]: must not be null",
  ]);
});

test("a value of another type or length is one error", () => {
  for (const value of [null, undefined, 1, "x", [], () => 1]) assert.deepEqual(errorsOf(value), [": must be an object"]);
  assert.equal(errorInObject(Shape, 1), "must be an object");
  assert.deepEqual(errorsOf({ ...SHAPE, top: null, points: {} }), ["top: must not be null", "points: must be a list"]);
  const few = ["top: must be an object", "points: must have at least 1 entry"];
  assert.deepEqual(errorsOf({ ...SHAPE, top: [], points: [] }), few);
  assert.deepEqual(errorsOf({ ...SHAPE, points: [POINT, POINT, POINT, POINT] }), ["points: must have at most 3 entries"]);
});

test("at most 50 errors are reported, and 100,000 take less than a second", () => {
  const flood = Object.fromEntries(Array.from({ length: 100_000 }, (_, i) => [`unknown field number ${i}`, i]));
  const started = process.cpuUsage();
  const { errors = [], message } = invalidBody(errorsInObject(Shape, flood));
  assert.equal(errors.length, 50);
  assert.match(
    message,
    /^unknown field number 0: is not a known field\. The body has more than 50 errors: see "errors" for the first 50\.$/,
  );
  const list = errorsInObject(object({ list: array(text()) }), { list: Array.from({ length: 100_000 }, () => 1) });
  assert.equal(invalidBody(list).errors?.length, 50);
  assert.ok(process.cpuUsage(started).user < 1_000_000);
  assert.ok((errorsOf({ ...SHAPE, ["x".repeat(5000)]: 1 })[0] ?? "").length < 200);
});

test("invalid fields become an error with all of them, and the message of the first", () => {
  const bodyError = (value: unknown) => invalidBody(errorsInObject(Shape, value));
  assert.equal(bodyError(5).message, "The body must be an object.");
  const { code, message } = bodyError({ ...SHAPE, name: 5 });
  assert.deepEqual([code, message], ["body_invalid", "name: must be a string."]);
  const two = bodyError({ ...SHAPE, naem: 1, name: 5 });
  assert.equal(two.errors?.length, 2);
  assert.match(two.message, /Did you mean "name"\? The body has 2 errors/);
});
