import assert from "node:assert/strict";
import test from "node:test";
import { theilSen } from "../../../src/domain/forecast/slope.ts";
import { seeded } from "../../../src/simulate/random.ts";

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

test("the slope is the median of the slopes of all pairs, by weight, as sorting them gives", () => {
  for (let seed = 0; seed < 300; seed++) {
    const random = seeded(seed);
    const list = Array.from({ length: random.whole(2, 12) }, (_, x) => ({ x, y: random.whole(0, 6), segment: 0 }));
    const weightOf = seed % 2 === 0 ? () => 1 : (from: { x: number }, to: { x: number }) => 1 + ((from.x * 7 + to.x) % 5);
    const pairs = list
      .flatMap((to, j) =>
        list.slice(0, j).map((from) => ({ slope: (to.y - from.y) / (to.x - from.x), weight: weightOf(from, to) })),
      )
      .sort((a, b) => a.slope - b.slope);
    const half = pairs.reduce((sum, { weight }) => sum + weight, 0) / 2;
    let below = 0;
    let expected = Number.NaN;
    for (const [i, { slope, weight }] of pairs.entries()) {
      below += weight;
      if (below < half) continue;
      expected = below === half ? (slope + (pairs[i + 1]?.slope ?? slope)) / 2 : slope;
      break;
    }
    assert.equal(theilSen(list, weightOf), expected, `seed ${seed}`);
  }
});

test("points of other segments are not compared; a prior decides where there are no pairs of weight", () => {
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
  assert.equal(
    theilSen(points([[0, 50]]), () => 1, { slope: -1, share: 0.2 }),
    -1,
  );
});
