import assert from "node:assert/strict";
import test from "node:test";
import { seeded } from "../../src/simulate/random.ts";

const times = <T>(count: number, draw: () => T): T[] => Array.from({ length: count }, draw);
const mean = (values: readonly number[]): number => values.reduce((sum, value) => sum + value, 0) / values.length;

test("the same seed gives the same numbers, another seed others", () => {
  const draw = (seed: string | number) => times(50, seeded(seed).next);
  assert.deepEqual(draw("fleet 1"), draw("fleet 1"));
  assert.deepEqual(draw(7), draw("7"));
  const [one, two] = [draw("fleet 1"), draw("fleet 2")];
  assert.ok(one.every((value, i) => value !== two[i]));
});

test("numbers are evenly distributed, stay within their bounds and reach both", () => {
  const random = seeded("bounds");
  const draws = times(20_000, () => random.between(-1, 3));
  assert.ok(draws.every((value) => value >= -1 && value < 3));
  assert.ok(Math.abs(mean(draws) - 1) < 0.05);
  assert.deepEqual([...new Set(times(1000, () => random.whole(1, 6)))].sort(), [1, 2, 3, 4, 5, 6]);
  const hits = times(20_000, () => (random.chance(0.3) ? 1 : 0));
  assert.ok(Math.abs(mean(hits) - 0.3) < 0.02);
});

test("normally distributed numbers have the given mean and deviation", () => {
  const random = seeded("bell");
  const draws = times(20_000, () => random.normal(10, 2));
  assert.ok(Math.abs(mean(draws) - 10) < 0.1);
  assert.ok(Math.abs(Math.sqrt(mean(draws.map((value) => (value - 10) ** 2))) - 2) < 0.1);
});

test("every entry of a list is picked sooner or later; an empty list is an error", () => {
  const random = seeded("pick");
  assert.deepEqual([...new Set(times(200, () => random.pick(["a", "b", "c"])))].sort(), ["a", "b", "c"]);
  assert.throws(() => random.pick([]));
});
