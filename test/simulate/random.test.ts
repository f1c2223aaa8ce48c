import assert from "node:assert/strict";
import test from "node:test";
import { seeded } from "../../src/simulate/random.ts";

test("the same seed draws the same numbers, another seed others", () => {
  const draw = (seed: string | number) => {
    const random = seeded(seed);
    return Array.from({ length: 50 }, () => random.next());
  };
  assert.deepEqual(draw("fleet 1"), draw("fleet 1"));
  assert.deepEqual(draw(7), draw("7"));
  const [one, two] = [draw("fleet 1"), draw("fleet 2")];
  assert.ok(one.every((value, i) => value !== two[i]));
});

test("draws are even, stay inside their bounds and reach both ends", () => {
  const random = seeded("bounds");
  const draws = Array.from({ length: 20_000 }, () => random.between(-1, 3));
  assert.ok(draws.every((value) => value >= -1 && value < 3));
  assert.ok(Math.abs(mean(draws) - 1) < 0.05);
  const seen = new Set(Array.from({ length: 1000 }, () => random.whole(1, 6)));
  assert.deepEqual([...seen].sort(), [1, 2, 3, 4, 5, 6]);
  const hits = Array.from({ length: 20_000 }, () => (random.chance(0.3) ? 1 : 0));
  assert.ok(Math.abs(mean(hits) - 0.3) < 0.02);
});

test("normal draws have the mean and the deviation asked for", () => {
  const random = seeded("bell");
  const draws = Array.from({ length: 20_000 }, () => random.normal(10, 2));
  assert.ok(Math.abs(mean(draws) - 10) < 0.1);
  const variance = mean(draws.map((value) => (value - 10) ** 2));
  assert.ok(Math.abs(Math.sqrt(variance) - 2) < 0.1);
});

test("picking takes every entry in time, and nothing from an empty list", () => {
  const random = seeded("pick");
  const picked = new Set(Array.from({ length: 200 }, () => random.pick(["a", "b", "c"])));
  assert.deepEqual([...picked].sort(), ["a", "b", "c"]);
  assert.throws(() => random.pick([]));
});

function mean(values: readonly number[]): number {
  return values.reduce((sum, value) => sum + value, 0) / values.length;
}
