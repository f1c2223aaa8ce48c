import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { removeOutliers } from "../../../src/domain/forecast/outliers.ts";
import { findRefills } from "../../../src/domain/forecast/refills.ts";
import type { Level } from "../../../src/domain/forecast/variation.ts";
import { scoreRefills } from "../../../src/simulate/detection.ts";
import { simulatedFleet } from "../../../src/simulate/tank-fleet.ts";

const DAY = 86_400_000;

/** One reading a day. */
const daily = (fills: readonly number[]): Level[] => fills.map((fill, day) => ({ at: day * DAY, fill }));

describe("outliers", () => {
  const falling = Array.from({ length: 30 }, (_, day) => 60 - 0.1 * day);
  const table: readonly [name: string, wrong: Readonly<Record<number, number>>][] = [
    ["a single high", { 12: 99 }],
    ["a false high over two days", { 12: 95, 13: 95 }],
    ["several false zeros in a row", { 12: 2.9, 13: 1.9, 14: 0, 15: 0.4 }],
    ["the newest reading", { 29: 0 }],
  ];
  for (const [name, wrong] of table) {
    it(`removes ${name}`, () => {
      const kept = removeOutliers(daily(falling.map((fill, day) => wrong[day] ?? fill)));
      assert.deepEqual(
        kept,
        daily(falling).filter((_, day) => wrong[day] === undefined),
      );
    });
  }
});

describe("refills", () => {
  it("finds a refill amid false zeros", () => {
    const readings = daily([40, 40, 39.9, 39.9, 39.8, 39.8, 2.9, 2, 0, 99.9, 0.4, 99.9, 99.8, 99.8, 99.7]);
    assert.deepEqual(findRefills(removeOutliers(readings)), [{ startedAt: 5 * DAY, endedAt: 9 * DAY, from: 39.8, to: 99.9 }]);
  });

  it("finds 99 % of the deliveries of a simulated fleet, and at most one false refill in ten tank-years", () => {
    const total = { deliveries: 0, found: 0, falseRefills: 0 };
    const [tanks, days] = [40, 730];
    for (const history of simulatedFleet({ seed: "refills", tanks, start: Date.parse("2023-07-01"), days })) {
      const score = scoreRefills(history);
      total.deliveries += score.deliveries;
      total.found += score.found;
      total.falseRefills += score.falseRefills;
    }
    assert.ok(total.deliveries > 400, `${total.deliveries}`);
    assert.ok(total.found / total.deliveries >= 0.99, JSON.stringify(total));
    assert.ok(total.falseRefills / ((tanks * days) / 365) <= 0.1, JSON.stringify(total));
  });
});
