import assert from "node:assert/strict";
import test from "node:test";
import { errorsInShape, shapeOf } from "../../src/domain/shape.ts";

const UPRIGHT = { kind: "upright", height: 2.1, unit: "m" };
const CYLINDER = { kind: "horizontal_cylinder", diameter: 1.25, unit: "m" };
const TABLE = {
  kind: "strapping_table",
  unit: "cm",
  points: [
    [0, 0],
    [10, 120],
    [200, 2700],
  ],
};

const said = (value: unknown): string[] => errorsInShape(value).map(({ field, message }) => `${field}: ${message}`);

/** Each case: the shape, and all that is said of it. */
const hold = (cases: readonly (readonly [unknown, ...string[]])[]) => {
  for (const [value, ...faults] of cases) assert.deepEqual(said(value), faults, JSON.stringify(value));
};

test("shapes as an operator writes them are taken", () => {
  const good = [
    UPRIGHT,
    { ...UPRIGHT, kind: "rectangular" },
    { ...UPRIGHT, sensor_height: 2.3 },
    { ...UPRIGHT, sensor_height: 1.9 },
    { kind: "upright", height: 7, unit: "ft" },
    { kind: "upright", height: 82.5, unit: "in" },
    { kind: "upright", height: 2100, unit: "mm" },
    { kind: "upright", height: 1, unit: "cm" },
    { kind: "upright", height: 100, unit: "m" },
    CYLINDER,
    { ...CYLINDER, heads: "flat", sensor_height: 1.5 },
    { ...CYLINDER, heads: "flat", length: 3.2 },
    { ...CYLINDER, heads: "elliptical", length: 3.2 },
    TABLE,
    {
      ...TABLE,
      points: [
        [0, 0],
        [0.5, 0],
        [10, 5],
      ],
      sensor_height: 30,
    },
  ];
  for (const shape of good) {
    assert.deepEqual(said(shape), [], JSON.stringify(shape));
    shapeOf(shape);
  }
});

test("what is left out of a shape is filled in, and the rest is kept as written", () => {
  assert.deepEqual(shapeOf(CYLINDER), { ...CYLINDER, heads: "flat" });
  for (const shape of [UPRIGHT, TABLE, { ...CYLINDER, heads: "elliptical", length: 3.2 }])
    assert.deepEqual(shapeOf(shape), shape);
});

test("a shape with faults is not made into one", () => {
  assert.throws(() => shapeOf({ ...UPRIGHT, height: 0 }), /shape\.height: must be above 0/);
});

test("a shape must be an object of a known kind", () => {
  for (const value of [null, undefined, 1, "upright", [], [UPRIGHT]]) hold([[value, "shape: must be an object"]]);
  const kinds = "shape.kind: must be one of upright, rectangular, horizontal_cylinder, strapping_table";
  hold([
    [{}, "shape.kind: is missing"],
    [JSON.parse('{"__proto__": {"kind": "upright"}}'), "shape.kind: is missing"],
    [{ ...UPRIGHT, kind: "sphere" }, kinds],
    [{ ...UPRIGHT, kind: null }, kinds],
    [{ ...UPRIGHT, kind: ["upright"] }, kinds],
    [{ ...UPRIGHT, kind: "toString" }, kinds],
  ]);
});

test("all faults are told at once, each with its field", () => {
  hold([
    [
      { kind: "upright", heigth: 2.1, unit: "metres", sensor_height: "2.3" },
      'shape.heigth: is not a known field. Did you mean "height"?',
      "shape.height: is missing",
      "shape.unit: must be one of mm, cm, m, in, ft",
      "shape.sensor_height: must be a number",
    ],
    [
      { kind: "horizontal_cylinder", diameter: -1, heads: "round", length: 0 },
      "shape.diameter: must be above 0",
      "shape.heads: must be one of flat, elliptical",
      "shape.length: must be above 0",
      "shape.unit: is missing",
    ],
  ]);
});

test("they bear the name the caller gives the shape", () => {
  assert.deepEqual(errorsInShape({ ...UPRIGHT, height: 0 }, "tank.shape"), [
    { field: "tank.shape.height", message: "must be above 0" },
  ]);
});

test("fields of another kind, and of JavaScript, are unknown", () => {
  hold([
    [{ ...UPRIGHT, diameter: 1 }, "shape.diameter: is not a known field."],
    [{ ...TABLE, heads: "flat" }, "shape.heads: is not a known field."],
    [{ ...UPRIGHT, constructor: 1 }, "shape.constructor: is not a known field."],
    [JSON.parse('{"kind": "upright", "height": 2.1, "unit": "m", "__proto__": 1}'), "shape.__proto__: is not a known field."],
  ]);
});

test("lengths are numbers above 0, and never null", () => {
  for (const height of [0, -0, -2.1, Number.NEGATIVE_INFINITY, -5e-324]) {
    const words = Number.isFinite(height) ? "must be above 0" : "must be a number";
    hold([[{ ...UPRIGHT, height }, `shape.height: ${words}`]]);
  }
  for (const height of ["2.1", Number.NaN, JSON.parse("1e400"), true, [2.1], {}]) {
    hold([[{ ...UPRIGHT, height }, "shape.height: must be a number"]]);
  }
  hold([
    [{ ...UPRIGHT, height: null }, "shape.height: must not be null"],
    [{ ...UPRIGHT, sensor_height: null }, "shape.sensor_height: must not be null"],
    [{ ...UPRIGHT, sensor_height: 0 }, "shape.sensor_height: must be above 0"],
  ]);
});

test("a tank smaller than a centimetre or larger than a hundred metres is a mistaken unit", () => {
  const words = "must be from 1 cm to 100 m, not";
  hold([
    [{ ...UPRIGHT, height: 2100 }, `shape.height: ${words} 2100 m. Is the unit right?`],
    [{ ...UPRIGHT, unit: "mm" }, `shape.height: ${words} 2.1 mm. Is the unit right?`],
    [{ ...CYLINDER, diameter: 100.1 }, `shape.diameter: ${words} 100.1 m. Is the unit right?`],
    [{ ...CYLINDER, length: 5e-324 }, `shape.length: ${words} 5e-324 m. Is the unit right?`],
    [{ ...UPRIGHT, sensor_height: 230 }, `shape.sensor_height: ${words} 230 m. Is the unit right?`],
    [
      { ...UPRIGHT, sensor_height: 1.7976931348623157e308 },
      `shape.sensor_height: ${words} 1.7976931348623157e+308 m. Is the unit right?`,
    ],
    [
      {
        ...TABLE,
        unit: "ft",
        points: [
          [0, 0],
          [400, 1],
        ],
      },
      `shape.points[1]: ${words} 400 ft. Is the unit right?`,
    ],
    [
      {
        ...TABLE,
        unit: "mm",
        points: [
          [0, 0],
          [9, 1],
        ],
      },
      `shape.points[1]: ${words} 9 mm. Is the unit right?`,
    ],
  ]);
});

test("elliptical heads need the length of the straight part", () => {
  hold([
    [{ ...CYLINDER, heads: "elliptical" }, "shape.length: is missing: elliptical heads need the length of the straight part"],
    [{ ...CYLINDER, heads: "elliptical", length: 0 }, "shape.length: must be above 0"],
    [{ ...CYLINDER, heads: null }, "shape.heads: must not be null"],
  ]);
});

test("a strapping table goes up from empty to full", () => {
  const points = (...list: unknown[]) => ({ ...TABLE, points: list });
  const pair = "must be a pair of height and volume, such as [10, 120]";
  hold([
    [points([0, 5], [10, 120]), "shape.points[0]: must be [0, 0], the empty tank"],
    [points([1, 0], [10, 120]), "shape.points[0]: must be [0, 0], the empty tank"],
    [points([0, 0], [10, 1], [10, 2]), "shape.points[2]: height 10 must be above the previous one, 10"],
    [points([0, 0], [10, 1], [9, 2]), "shape.points[2]: height 9 must be above the previous one, 10"],
    [points([0, 0], [10, 3], [20, 2]), "shape.points[2]: volume 2 must not be below the previous one, 3"],
    [points([0, 0], [10, -1], [20, 2]), "shape.points[1]: volume -1 must not be below the previous one, 0"],
    [points([0, 0], [10, 0]), "shape.points[1]: volume of the full tank must be above 0 and at most 1000000000000"],
    [points([0, 0], [10, 1e13]), "shape.points[1]: volume of the full tank must be above 0 and at most 1000000000000"],
    [points([0, 0], [10], [30, 1, 2], [50, 7]), ...[1, 2].map((i) => `shape.points[${i}]: ${pair}`)],
    [points([0, 0], "x", [40, "5"]), "shape.points[1]: must be a list", "shape.points[2][1]: must be a number"],
    [points([0, 0], [10, Number.NaN]), "shape.points[1][1]: must be a number"],
  ]);
});

test("a strapping table has from 2 to 1000 points", () => {
  const points = (count: number) => ({ ...TABLE, points: Array.from({ length: count }, (_, i) => [i, i]) });
  hold([
    [points(2)],
    [points(1000)],
    [points(1), "shape.points: must have at least 2 entries"],
    [points(1001), "shape.points: must have at most 1000 entries"],
    [{ ...TABLE, points: [] }, "shape.points: must have at least 2 entries"],
    [{ ...TABLE, points: { 0: [0, 0] } }, "shape.points: must be a list"],
    [{ ...TABLE, points: null }, "shape.points: must not be null"],
    [{ kind: "strapping_table", unit: "cm" }, "shape.points: is missing"],
  ]);
});

test("a hostile shape is refused shortly", () => {
  let deep: unknown = 1;
  for (let i = 0; i < 10_000; i++) deep = [deep];
  for (const value of [
    { ...UPRIGHT, height: deep },
    { ...TABLE, points: deep },
    { ...TABLE, points: [[0, 0], deep] },
  ]) {
    assert.equal(errorsInShape(value).length, 1);
  }
  const [fault] = said({ ...UPRIGHT, ["\u001b[31m".repeat(100_000)]: 1 });
  assert.ok(fault !== undefined && fault.length < 300 && !fault.includes("\u001b"));
});
