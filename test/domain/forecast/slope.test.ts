import assert from "node:assert/strict";
import test from "node:test";
import { theilSen } from "../../../src/domain/forecast/slope.ts";

const points = (list: readonly (readonly [number, number])[]) => list.map(([x, y]) => ({ x, y, segment: 0 }));
const REFERENCE = points([
  [0, 73.5],
  [12, 72],
  [19, 69],
  [34, 62],
  [46, 60],
  [53, 56],
  [60, 54],
  [69, 51],
]);

test("the Theil–Sen slope of the reference case, and the days from its last level to 20 %", () => {
  const slope = theilSen(REFERENCE);
  assert.equal(slope.toFixed(5), "-0.33578");
  assert.equal(((20 - 51) / slope).toFixed(1), "92.3");
});

test("one wrong point hardly moves the slope", () => {
  const wrong = REFERENCE.map((point, i) => (i === 3 ? { ...point, y: 0 } : point));
  assert.ok(Math.abs(theilSen(wrong) - theilSen(REFERENCE)) < 0.03);
});

test("points of other segments are not compared; without pairs there is no slope", () => {
  const refilled = [
    ...points([
      [0, 50],
      [1, 48],
      [2, 46],
    ]),
    ...points([
      [3, 90],
      [4, 88],
      [5, 86],
    ]).map((point) => ({ ...point, segment: 1 })),
  ];
  assert.equal(theilSen(refilled), -2);
  assert.ok(Number.isNaN(theilSen(points([[0, 50]]))));
});
