import assert from "node:assert/strict";
import test from "node:test";
import { backtestTank } from "../../../src/domain/forecast/backtest.ts";
import { seeded } from "../../../src/simulate/random.ts";
import { backtest, forecast } from "../../support/simulated-tanks/forecast.ts";
import { tankHistory } from "../../support/simulated-tanks/tank-history.ts";

const DAY = 86_400_000;
const START = Date.UTC(2024, 5, 1);

const tankOf = (levelOn: (day: number) => number, days: number) => ({
  name: "tank",
  readings: Array.from({ length: days }, (_, day) => ({ at: START + day * DAY, fill: levelOn(day) })),
  latitude: null,
  use_case: null,
});

test("of constant use, both methods are about right; an origin needs six days of history and an outcome", () => {
  const { outcomes, skipped } = backtestTank(
    tankOf((day) => 90 - 0.5 * day, 60),
    30,
  );
  // From day 6 to day 29: day 59 is the last with a reading.
  assert.equal(outcomes.length + skipped, 24);
  assert.equal(skipped, 0);
  for (const { error, averageError, isInside, dayError } of outcomes) {
    assert.ok(error < 0.8 && averageError < 1e-9 && isInside && (dayError ?? 9) < 2);
  }
});

test("a day whose reading is false, as turns out later, is an origin like the others", () => {
  const { outcomes, skipped } = backtestTank(
    tankOf((day) => (day === 15 ? 0 : 90 - 0.5 * day), 60),
    30,
  );
  assert.equal(outcomes.length + skipped, 24);
});

test("origins with a refill before the outcome do not count, nor do those too soon after one", () => {
  const { outcomes, skipped } = backtestTank(
    tankOf((day) => (day < 30 ? 90 - day : 95 - (day - 30)), 60),
    10,
  );
  // Before the refill on day 30 from day 6 to 19, after it from day 36 to 49.
  assert.equal(outcomes.length + skipped, 28);
});

test("the figures of a fleet are those of all outcomes; days without a forecast are counted", () => {
  const used = tankOf((day) => 95 - 0.3 * day, 200);
  const idle = { ...tankOf(() => 50, 100), name: "idle" };
  const result = backtest([used, idle], 30);
  assert.deepEqual([result.horizon_days, result.tanks, result.origins], [30, 2, 164]);
  assert.deepEqual(
    result.tanks_detail.map(({ name, origins, skipped }) => ({ name, origins, skipped })),
    [
      { name: "tank", origins: 164, skipped: 0 },
      { name: "idle", origins: 0, skipped: 64 },
    ],
  );
  assert.equal(result.tanks_detail[1]?.ratio, null);
  assert.equal(result.skipped, 64);
});

test("there is no ratio to the errors of a 14-day average that is exact", () => {
  const result = backtest([tankOf((day) => 90 - 0.1 * day, 90)], 30);
  assert.ok(result.origins > 0);
  assert.ok((result.mean_absolute_error_14_day_average ?? 1) > 0, "apart from floating-point noise");
  assert.equal(result.ratio, null);
});

test("a forecast does not know what comes after it: it is the same whatever is read later", () => {
  const { readings } = tankHistory({
    seed: "causal",
    use: "heating_and_water",
    latitude: 48,
    start: START,
    days: 400,
    interval: DAY / 2,
  });
  const random = seeded("later");
  const of = (list: typeof readings) => {
    const { outcomes } = backtestTank({ name: "", readings: list, latitude: 48, use_case: null }, 14);
    return new Map(
      outcomes.map(({ origin, due, level, levelByAverage }) => [`${origin} ${due}`, { origin, level, levelByAverage }]),
    );
  };
  const known = of(readings);
  for (const day of [150, 300]) {
    const end = START + day * DAY;
    const changed = readings.map((reading) => (reading.at < end ? reading : { ...reading, fill: random.between(0, 100) }));
    let compared = 0;
    for (const [key, { origin, ...forecasts }] of of(changed)) {
      const before = known.get(key);
      if (before === undefined || origin >= end / DAY) continue;
      assert.deepEqual(forecasts, { level: before.level, levelByAverage: before.levelByAverage });
      compared++;
    }
    assert.ok(compared > 50, `${compared}`);
    const input = { latitude: 48, use_case: null, threshold: 20, capacity: 100, capacity_unit: "liters", now: end } as const;
    const past = readings.filter(({ at }) => at < end);
    const { levelAt: _, ...first } = forecast({ ...input, readings: past });
    const { levelAt: __, ...second } = forecast({ ...input, readings: changed.filter(({ at }) => at < end) });
    assert.deepEqual(first, second);
  }
});

test("on simulated heating tanks, errors are well below those of the 14-day average, and 80 % of outcomes in the range", () => {
  const tanks = [48, 55, -41, 51, 45, 60].map((latitude) => ({
    name: String(latitude),
    ...tankHistory({ seed: `town ${latitude}`, use: "heating_and_water", latitude, start: START, days: 450, interval: DAY }),
    use_case: "residential" as const,
  }));
  const { ratio, inside_range, origins } = backtest(tanks, 60);
  assert.ok(origins > 300);
  assert.ok(ratio !== null && ratio < 0.6, `${ratio}`);
  assert.ok(inside_range !== null && inside_range > 0.7 && inside_range < 0.95, `${inside_range}`);
});
