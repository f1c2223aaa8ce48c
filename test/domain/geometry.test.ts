import assert from "node:assert/strict";
import test from "node:test";
import fc from "fast-check";
import { fillAtLevel, fullLevel, type Point, type Shape, shapeOf } from "../../src/domain/shape.ts";

const flat: Shape = { kind: "horizontal_cylinder", diameter: 1, unit: "m", heads: "flat" };
/** Length in diameters. Without a straight part it is the two heads alone, which no operator may write down. */
const elliptical = (length: number): Shape => ({
  kind: "horizontal_cylinder",
  diameter: 1,
  unit: "m",
  heads: "elliptical",
  length,
});
const upright: Shape = { kind: "upright", height: 2.1, unit: "m" };
const table: Shape = {
  kind: "strapping_table",
  unit: "cm",
  points: [
    [0, 0],
    [10, 120],
    [20, 120],
    [50, 900],
    [60, 1000],
  ],
};

const golden = (shape: Shape, values: readonly (readonly [number, string])[]) => {
  for (const [level, fill] of values) assert.equal(fillAtLevel(shape, level)?.toFixed(2), fill, `at ${level}`);
};

test("a horizontal cylinder with flat heads has the fills of the books", () => {
  golden(flat, [
    [0.1, "5.20"],
    [0.25, "19.55"],
    [0.75, "80.45"],
    [0.8, "85.76"],
    [0.85, "90.59"],
    [0.9, "94.80"],
  ]);
  assert.ok(Math.abs((fillAtLevel(flat, 0.1) ?? 0) - 5.2044) < 0.00005);
  assert.ok(Math.abs((fillAtLevel(flat, 0.25) ?? 0) - 19.5501) < 0.00005);
});

test("two elliptical heads alone have the fills of the books", () => {
  golden(elliptical(0), [
    [0.1, "2.80"],
    [0.8, "89.60"],
  ]);
  assert.equal(fillAtLevel(elliptical(0), 0.25), 15.625);
  assert.equal(fillAtLevel(elliptical(0), 0.85), 93.925);
});

test("a whole vessel with elliptical heads lies between its cylinder and its heads", () => {
  golden(elliptical(2.5), [
    [0.1, "4.92"],
    [0.25, "19.09"],
    [0.4, "37.10"],
    [0.8, "86.21"],
  ]);
});

test("the length makes no difference where the heads are flat", () => {
  for (const level of [0.1, 0.33, 0.9]) assert.equal(fillAtLevel({ ...flat, length: 7 }, level), fillAtLevel(flat, level));
});

test("an upright and a rectangular tank fill evenly", () => {
  assert.equal(fillAtLevel(upright, 0.21), 10);
  assert.equal(fillAtLevel({ ...upright, kind: "rectangular" }, 1.05), 50);
});

test("a strapping table is followed in straight lines, flat stretches included", () => {
  const fills: [number, number][] = [
    [5, 6],
    [10, 12],
    [15, 12],
    [20, 12],
    [35, 51],
    [50, 90],
    [55, 95],
  ];
  for (const [level, fill] of fills) assert.equal(fillAtLevel(table, level), fill, `at ${level}`);
});

test("a table of a thousand points is looked up like a line", () => {
  const points = Array.from({ length: 1000 }, (_, i): Point => [i, i * i]);
  const shape: Shape = { kind: "strapping_table", unit: "mm", points };
  for (let i = 0; i < 1000; i++) assert.ok(Math.abs((fillAtLevel(shape, i) ?? -1) - (i * i * 100) / 998001) < 1e-6);
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

test("any shape is exactly empty at the bottom, exactly full at the top, and nothing outside", () => {
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

test("a higher surface is never a lower fill", () => {
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

test("a horizontal cylinder is half full in the middle, and mirrored around it", () => {
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

test("heads that were left out are flat", () => {
  const shape = shapeOf({ kind: "horizontal_cylinder", diameter: 1.25, unit: "m" });
  assert.equal(fillAtLevel(shape, 0.3125)?.toFixed(2), "19.55");
});
