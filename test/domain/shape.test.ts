import assert from "node:assert/strict";
import test from "node:test";
import fc from "fast-check";
import { errorsInShape, fillAtLevel, fullLevel, type Point, type Shape, shapeOf } from "../../src/domain/shape.ts";

const UPRIGHT = { kind: "upright", height: 2.1, unit: "m" };
const CYLINDER = { kind: "horizontal_cylinder", diameter: 1.25, unit: "m" };
const table = (unit: string, ...points: unknown[]) => ({ kind: "strapping_table", unit, points });
const TABLE = table("cm", [0, 0], [10, 120], [200, 2700]);

const errorsOf = (value: unknown): string[] => errorsInShape(value).map(({ field, message }) => `${field}: ${message}`);

/** Each case: a shape, and all its errors. */
const check = (cases: readonly (readonly [unknown, ...string[]])[]) => {
  for (const [value, ...errors] of cases) assert.deepEqual(errorsOf(value), errors, JSON.stringify(value));
};

test("valid shapes", () => {
  const valid = [
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
    { ...table("cm", [0, 0], [0.5, 0], [10, 5]), sensor_height: 30 },
  ];
  for (const shape of valid) {
    assert.deepEqual(errorsOf(shape), [], JSON.stringify(shape));
    shapeOf(shape);
  }
});

test("heads are flat by default, and the rest is kept as written; an invalid shape throws", () => {
  assert.deepEqual(shapeOf(CYLINDER), { ...CYLINDER, heads: "flat" });
  for (const shape of [UPRIGHT, TABLE, { ...CYLINDER, heads: "elliptical", length: 3.2 }])
    assert.deepEqual(shapeOf(shape), shape);
  assert.throws(() => shapeOf({ ...UPRIGHT, height: 0 }), /shape\.height: must be above 0/);
});

test("a shape must be an object of a known kind", () => {
  for (const value of [null, undefined, 1, "upright", [], [UPRIGHT]]) check([[value, "shape: must be an object"]]);
  const kinds = "shape.kind: must be one of upright, rectangular, horizontal_cylinder, strapping_table";
  check([
    [{}, "shape.kind: is missing"],
    [JSON.parse('{"__proto__": {"kind": "upright"}}'), "shape.kind: is missing"],
    [{ ...UPRIGHT, kind: "sphere" }, kinds],
    [{ ...UPRIGHT, kind: null }, kinds],
    [{ ...UPRIGHT, kind: ["upright"] }, kinds],
    [{ ...UPRIGHT, kind: "toString" }, kinds],
  ]);
});

test("all errors are reported at once, each with its field", () => {
  check([
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

test("fields of another kind are unknown", () => {
  check([
    [{ ...UPRIGHT, diameter: 1 }, "shape.diameter: is not a known field"],
    [{ ...TABLE, heads: "flat" }, "shape.heads: is not a known field"],
  ]);
});

test("lengths are numbers above 0, and never null", () => {
  for (const height of [0, -0, -2.1, -5e-324]) check([[{ ...UPRIGHT, height }, "shape.height: must be above 0"]]);
  for (const height of ["2.1", JSON.parse("1e400")]) check([[{ ...UPRIGHT, height }, "shape.height: must be a number"]]);
  check([
    [{ ...UPRIGHT, sensor_height: null }, "shape.sensor_height: must not be null"],
    [{ ...UPRIGHT, sensor_height: 0 }, "shape.sensor_height: must be above 0"],
  ]);
});

test("a tank smaller than a centimetre or larger than a hundred metres is rejected", () => {
  for (const [shape, field, length] of [
    [{ ...UPRIGHT, height: 2100 }, "height", "2100 m"],
    [{ ...UPRIGHT, unit: "mm" }, "height", "2.1 mm"],
    [{ ...CYLINDER, diameter: 100.1 }, "diameter", "100.1 m"],
    [{ ...CYLINDER, length: 5e-324 }, "length", "5e-324 m"],
    [{ ...UPRIGHT, sensor_height: 230 }, "sensor_height", "230 m"],
    [{ ...UPRIGHT, sensor_height: 1.7976931348623157e308 }, "sensor_height", "1.7976931348623157e+308 m"],
    [table("ft", [0, 0], [400, 1]), "points[1]", "400 ft"],
    [table("mm", [0, 0], [9, 1]), "points[1]", "9 mm"],
  ] as const) {
    check([[shape, `shape.${field}: must be from 1 cm to 100 m, not ${length}. Is the unit right?`]]);
  }
});

test("elliptical heads need the length of the straight part", () => {
  check([
    [{ ...CYLINDER, heads: "elliptical" }, "shape.length: is missing: elliptical heads need the length of the straight part"],
    [{ ...CYLINDER, heads: "elliptical", length: 0 }, "shape.length: must be above 0"],
    [{ ...CYLINDER, heads: null }, "shape.heads: must not be null"],
  ]);
});

test("a strapping table rises from empty to full", () => {
  const points = (...list: unknown[]) => table("cm", ...list);
  const pair = "must be a pair of height and volume, such as [10, 120]";
  check([
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
  ]);
});

test("a strapping table has from 2 to 1000 points", () => {
  const points = (count: number) => ({ ...TABLE, points: Array.from({ length: count }, (_, i) => [i, i]) });
  check([
    [points(2)],
    [points(1000)],
    [points(1), "shape.points: must have at least 2 entries"],
    [points(1001), "shape.points: must have at most 1000 entries"],
    [{ ...TABLE, points: { 0: [0, 0] } }, "shape.points: must be a list"],
    [{ kind: "strapping_table", unit: "cm" }, "shape.points: is missing"],
  ]);
});

test("a deeply nested shape gets one error", () => {
  let deep: unknown = 1;
  for (let i = 0; i < 10_000; i++) deep = [deep];
  for (const value of [{ ...UPRIGHT, height: deep }, table("cm", deep), table("cm", [0, 0], deep)]) {
    assert.equal(errorsInShape(value).length, 1);
  }
});

// Fills

const flat: Shape = { kind: "horizontal_cylinder", diameter: 1, unit: "m", heads: "flat" };
/** Length in diameters; 0 is the two heads alone. */
const elliptical = (length: number): Shape => ({
  kind: "horizontal_cylinder",
  diameter: 1,
  unit: "m",
  heads: "elliptical",
  length,
});
const upright: Shape = { kind: "upright", height: 2.1, unit: "m" };

/** Fills by level, to two places. */
function checkFills(shape: Shape, fills: Readonly<Record<string, string>>): void {
  for (const [level, fill] of Object.entries(fills)) assert.equal(fillAtLevel(shape, Number(level))?.toFixed(2), fill, level);
}

test("horizontal cylinders have the published fills", () => {
  const published = { 0.1: "5.20", 0.25: "19.55", 0.75: "80.45", 0.8: "85.76", 0.85: "90.59", 0.9: "94.80" };
  checkFills(flat, published);
  checkFills({ ...flat, length: 7 }, published);
  checkFills(elliptical(0), { 0.1: "2.80", 0.25: "15.63", 0.8: "89.60", 0.85: "93.92" });
  checkFills(elliptical(2.5), { 0.1: "4.92", 0.25: "19.09", 0.4: "37.10", 0.8: "86.21" });
  for (const [shape, level, fill] of [
    [flat, 0.1, 5.2044],
    [flat, 0.25, 19.5501],
    [elliptical(0), 0.25, 15.625],
    [elliptical(0), 0.85, 93.925],
  ] as const) {
    assert.ok(Math.abs((fillAtLevel(shape, level) ?? 0) - fill) < 0.00005);
  }
});

test("an upright and a rectangular tank fill evenly", () => {
  assert.equal(fillAtLevel(upright, 0.21), 10);
  assert.equal(fillAtLevel({ ...upright, kind: "rectangular" }, 1.05), 50);
});

test("a strapping table is interpolated linearly", () => {
  const shape = shapeOf(table("cm", [0, 0], [10, 120], [20, 120], [50, 900], [60, 1000]));
  checkFills(shape, { 5: "6.00", 10: "12.00", 15: "12.00", 20: "12.00", 35: "51.00", 50: "90.00", 55: "95.00" });
  const points = Array.from({ length: 1000 }, (_, i): Point => [i, i * i]);
  for (const [height, volume] of points) {
    const fill = fillAtLevel({ kind: "strapping_table", unit: "mm", points }, height) ?? -1;
    assert.ok(Math.abs(fill - (volume * 100) / 998001) < 1e-6);
  }
});

const ANY_SHAPE = fc.oneof(
  fc.double({ min: 0.01, max: 100, noNaN: true }).map((height): Shape => ({ ...upright, kind: "upright", height })),
  fc
    .double({ min: 0.01, max: 100, noNaN: true })
    .map((diameter): Shape => ({ ...flat, kind: "horizontal_cylinder", heads: "flat", diameter })),
  fc
    .tuple(fc.double({ min: 0.01, max: 100, noNaN: true }), fc.double({ min: 0.01, max: 100, noNaN: true }))
    .map(([diameter, length]): Shape => ({ kind: "horizontal_cylinder", unit: "m", heads: "elliptical", diameter, length })),
  fc
    .array(fc.tuple(fc.integer({ min: 1, max: 500 }), fc.integer({ min: 0, max: 500 })), { minLength: 1, maxLength: 30 })
    .map((steps): Shape => {
      const points: Point[] = [[0, 0]];
      for (const [height, volume] of [...steps, [1, 1] as const]) {
        const [h, v] = points.at(-1) ?? [0, 0];
        points.push([h + height, v + volume]);
      }
      return { kind: "strapping_table", unit: "mm", points };
    }),
);
const PART = fc.double({ min: 0, max: 1, noNaN: true });

test("any shape is exactly empty at the bottom, exactly full at the top, and has no fill outside", () => {
  fc.assert(
    fc.property(ANY_SHAPE, (shape) => {
      const full = fullLevel(shape);
      assert.ok(Object.is(fillAtLevel(shape, 0), 0));
      assert.ok(Object.is(fillAtLevel(shape, -0), 0));
      assert.equal(fillAtLevel(shape, full), 100);
      for (const level of [-1e-9, full * 1.000001, Number.NaN, Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY]) {
        assert.equal(fillAtLevel(shape, level), undefined);
      }
    }),
  );
});

test("a higher level is never a lower fill", () => {
  fc.assert(
    fc.property(ANY_SHAPE, PART, PART, (shape, a, b) => {
      const full = fullLevel(shape);
      const low = fillAtLevel(shape, Math.min(a, b) * full) ?? Number.NaN;
      const high = fillAtLevel(shape, Math.max(a, b) * full) ?? Number.NaN;
      assert.ok(low >= 0 && low <= high && high <= 100, `${low} to ${high}`);
    }),
    { numRuns: 1000 },
  );
});

test("a horizontal cylinder is half full in the middle, and symmetrical", () => {
  fc.assert(
    fc.property(fc.double({ min: 0, max: 20, noNaN: true }), PART, (length, level) => {
      for (const shape of [flat, elliptical(length)]) {
        assert.equal(fillAtLevel(shape, 0.5), 50);
        const sum = (fillAtLevel(shape, level) ?? Number.NaN) + (fillAtLevel(shape, 1 - level) ?? Number.NaN);
        assert.ok(Math.abs(sum - 100) < 2e-6, `${sum}`);
      }
    }),
  );
});

test("a shape with more errors than are reported is rejected, whatever its other fields are", () => {
  const unknown = Object.fromEntries(Array.from({ length: 60 }, (_, i) => [`x${i}`, 1]));
  for (const points of [5, null, "x", {}, [1], [[1, "x"], null]]) {
    const errors = errorsInShape({ kind: "strapping_table", unit: "m", ...unknown, points });
    assert.equal(errors[0]?.field, "shape.x0");
  }
});
