import assert from "node:assert/strict";
import test from "node:test";
import { faultInObject } from "../../src/domain/check.ts";
import {
  idField,
  instantField,
  nullableInstantField,
  nullableNumberField,
  nullableTextField,
  textField,
} from "../../src/domain/fields.ts";
import { array, boolean, integer, literal, object, oneOf, text } from "../../src/domain/schema.ts";

const Thing = object({
  id: idField("", "x"),
  name: textField("", "x"),
  note: nullableTextField("", "x"),
  since: instantField(""),
  until: nullableInstantField(""),
  share: nullableNumberField("", -1, 1, 0),
  count: integer({ minimum: 0, maximum: 10 }),
  isOn: boolean(),
  kind: oneOf(["a", "b"]),
  fixed: literal("thing"),
});
const GOOD = {
  id: "x",
  name: "x",
  note: null,
  since: "2026-01-01",
  until: null,
  share: 0,
  count: 1,
  isOn: false,
  kind: "a",
  fixed: "thing",
};

test("a good object has no fault, and optional fields may be left out", () => {
  assert.equal(faultInObject(Thing, ["id"], GOOD), undefined);
  assert.equal(faultInObject(Thing, ["id"], { id: "x" }), undefined);
  assert.equal(faultInObject(Thing, [], {}), undefined);
});

test("what is no object is said to be none", () => {
  for (const value of [null, undefined, 1, "x", [], () => 1]) {
    assert.equal(faultInObject(Thing, [], value), "must be an object");
  }
});

test("the first fault is named with its field, unknown fields before all others", () => {
  assert.equal(faultInObject(Thing, ["id", "name"], {}), "id: is missing");
  assert.equal(faultInObject(Thing, ["id"], { ...GOOD, naem: 1, id: 1 }), 'unknown field "naem". Did you mean "name"?');
  assert.equal(faultInObject(Thing, ["id"], { ...GOOD, id: undefined }), "id: is missing");
});

test("inherited properties are neither fields nor values", () => {
  assert.equal(faultInObject(Thing, [], { ...GOOD, toString: 1 }), 'unknown field "toString".');
  assert.equal(faultInObject(Thing, [], JSON.parse('{"__proto__": 1}')), 'unknown field "__proto__".');
});

test("each kind of field says what it must be", () => {
  const cases: [string, unknown, string][] = [
    ["id", 1, "must be a text"],
    ["id", "", "must not be empty"],
    ["name", "x".repeat(513), "must have at most 512 characters"],
    ["note", "\u0007", "must not contain control characters or broken Unicode"],
    ["since", null, "must not be null"],
    ["since", "soon", 'must be a datetime such as "2026-11-14T09:30:00Z"'],
    ["until", 5, "must be a text"],
    ["share", "0", "must be a number"],
    ["share", Number.NaN, "must be a number"],
    ["share", 1.01, "must be from -1 to 1"],
    ["count", 1.5, "must be a whole number"],
    ["count", 11, "must be from 0 to 10"],
    ["isOn", "true", "must be true or false"],
    ["kind", "c", "must be one of a, b"],
    ["fixed", "other", 'must be "thing"'],
  ];
  for (const [field, value, words] of cases) {
    assert.equal(faultInObject(Thing, [], { ...GOOD, [field]: value }), `${field}: ${words}`);
  }
});

test("a kind of field that it does not know is a fault of ours, not of the line", () => {
  assert.throws(() => faultInObject(object({ list: array(text()) }), [], { list: [] }), /no check for a field of type array/);
});
