import assert from "node:assert/strict";
import test from "node:test";
import { backtestTank } from "../../../src/domain/forecast/backtest.ts";
import { seeded } from "../../../src/simulate/random.ts";
import { backtest } from "../../support/simulated-tanks/forecast.ts";
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

test("an outcome may be read up to three days after the horizon", () => {
  const without = (first: number, last: number) => {
    const tank = tankOf((day) => 90 - 0.5 * day, 60);
    return { ...tank, readings: tank.readings.filter((_, day) => day < first || day > last) };
  };
  const origins = (tank: ReturnType<typeof without>) => backtestTank(tank, 10).outcomes.map(({ origin }) => origin - START / DAY);
  // Day 30 + 10 = 40 is read on day 43, or not before day 44.
  assert.ok(origins(without(40, 42)).includes(30));
  assert.ok(!origins(without(40, 43)).includes(30));
  assert.ok(origins(without(40, 43)).includes(31));
});

test("the average is that of the last 14 days, from the medians of all readings of a day", () => {
  // 0.2 points a day at first, then 1 a day.
  const levelOn = (day: number): number => (day < 40 ? 95 - 0.2 * day : 87 - (day - 40));
  const { readings } = tankOf(levelOn, 80);
  // On some days most of the readings are of the same four hours; the medians of each four hours would have another median.
  const uneven = readings.flatMap(({ at, fill }, day) => {
    const high = day % 13 === 0 ? [0, 4, 8].map((hour) => ({ at: at + (hour * DAY) / 24, fill: fill + 2 })) : [];
    return [...high, ...[21, 21.5, 22, 22.5, 23].map((hour) => ({ at: at + (hour * DAY) / 24, fill }))];
  });
  for (const list of [readings, uneven]) {
    const { outcomes } = backtestTank({ name: "", readings: list, latitude: null, use_case: null }, 5);
    const averageFrom = (origin: number) => {
      const found = outcomes.find(({ origin: day }) => Math.floor(day - START / DAY) === origin);
      return found === undefined ? Number.NaN : (levelOn(origin) - found.levelByAverage) / (found.due - found.origin);
    };
    // A day with uneven readings has its level at another time of the day.
    const isAbout = (origin: number, use: number) =>
      Math.abs(averageFrom(origin) - use) < (list === readings ? 1e-9 : 0.04 * use);
    assert.ok(isAbout(53, (13 + 0.2) / 14), `${averageFrom(53)}`);
    assert.ok(isAbout(54, 1), `${averageFrom(54)}`);
    assert.ok(isAbout(30, 0.2), `${averageFrom(30)}`);
  }
});

test("an origin does not count if the tank was filled before the outcome, however late or little; another rise changes nothing", () => {
  // On the last day but one: not certain yet. And a small delivery, by 5 points.
  for (const [day, rise] of [
    [79, 60],
    [60, 5],
  ] as const) {
    const tank = tankOf((at) => 90 - 0.5 * at + (at >= day ? rise : 0), 81);
    const { outcomes, skipped } = backtestTank(tank, 10);
    assert.equal(skipped, 0);
    const lasts = outcomes.map(({ due }) => due - START / DAY).filter((due) => due >= day);
    const origins = outcomes.map(({ origin }) => origin - START / DAY);
    assert.ok(!origins.some((origin) => origin < day && origin + 10 >= day), `${day}: ${origins}`);
    assert.equal(lasts.length, day === 60 ? 81 - 60 - 6 - 10 : 0);
    assert.ok(outcomes.every(({ error }) => error < 3));
  }
  // By 5 points in the first days of a tank, where more is required of a refill.
  const risen = backtestTank(
    tankOf((at) => 90 - 0.5 * at + (at >= 10 ? 5 : 0), 81),
    10,
  );
  assert.deepEqual(
    risen.outcomes.map(({ due }) => due - START / DAY),
    Array.from({ length: 81 - 6 - 10 }, (_, i) => 6 + 10 + i),
  );
});

test("an origin whose last 14 days have one level only is skipped", () => {
  const tank = tankOf((day) => 95 - 0.3 * day, 240);
  const readings = tank.readings.filter((_, day) => day % 20 === 0);
  const { outcomes, skipped } = backtestTank({ ...tank, readings }, 20);
  // Not on day 20: with two readings it is not known which one is false.
  assert.deepEqual([outcomes.length, skipped], [0, 9]);
});

test("a forecast knows the 730 days before it", () => {
  const tank = tankOf((day) => (day < 300 ? 90 - 0.2 * day : 95 - 0.1 * (day - 300)), 800);
  const lastLevel = (firstDay: number) => {
    const readings = tank.readings.filter((_, day) => day >= firstDay && day % 5 === 4);
    return backtestTank({ ...tank, readings }, 10).outcomes.at(-1)?.level;
  };
  // The last origin is day 789: days 59 to 789 are known.
  assert.equal(lastLevel(59), lastLevel(0));
  assert.notEqual(lastLevel(64), lastLevel(0));
});

test("median and 90th percentile are those of all errors, also of the day on which the tank runs low", () => {
  // The 14-day average of constant use is exact; that of a tank which stops is wrong by what it expects.
  const constant = tankOf((day) => 90 - 0.5 * day, 40);
  const stopping = { ...tankOf((day) => (day < 26 ? 95 - day : 69), 40), name: "stopping" };
  const tanks = [constant, stopping].map((tank) => backtestTank(tank, 10));
  const result = backtest([constant, stopping], 10);
  const errors = tanks.flatMap(({ outcomes }) => outcomes.map(({ averageError }) => averageError)).toSorted((a, b) => a - b);
  const mean = errors.reduce((sum, error) => sum + error, 0) / errors.length;
  assert.ok(Math.abs((result.mean_absolute_error_14_day_average ?? 0) - mean) < 1e-9);
  assert.ok(Math.abs(Math.max(...errors) - 10) < 1e-6, "a point a day for ten days");
  const { median, p90 } = result.level_error_14_day_average ?? { median: Number.NaN, p90: Number.NaN };
  assert.ok(errors.filter((error) => error < median - 1e-9).length <= errors.length / 2);
  assert.ok(errors.filter((error) => error > median + 1e-9).length <= errors.length / 2);
  assert.ok(Math.abs(errors.filter((error) => error > p90 + 1e-9).length - errors.length / 10) <= 1);
  // The average of the stopped tank never comes to a lower level; such an error counts as twice the horizon at most.
  const days = tanks.flatMap(({ outcomes }) => outcomes.flatMap(({ averageDayError }) => averageDayError ?? []));
  assert.ok(days.every((error) => error >= 0 && error <= 20) && days.some((error) => error > 1));
  assert.ok((result.day_error_14_day_average?.p90 ?? 99) <= Math.max(...days));
});

test("the 14-day average expects no level below empty or above full", () => {
  const levelsOf = (levelOn: (day: number) => number, horizon: number) =>
    backtestTank(tankOf(levelOn, 140), horizon).outcomes.map(({ levelByAverage }) => levelByAverage);
  assert.equal(Math.min(...levelsOf((day) => Math.max(0, 50 - 2 * day), 20)), 0);
  // A sensor that drifts, after months in which use was seen.
  assert.equal(Math.max(...levelsOf((day) => (day < 60 ? 99 - 0.05 * day : 96 + 0.1 * (day - 60)), 60)), 100);
});

test("a day that is expected far too late is wrong by twice the horizon", () => {
  // Hardly used, and then a point a day.
  const { outcomes } = backtestTank(
    tankOf((day) => 90 - 0.02 * day - Math.max(0, day - 40), 60),
    10,
  );
  assert.equal(Math.max(...outcomes.map(({ averageDayError }) => averageDayError ?? 0)), 20);
  assert.equal(Math.max(...outcomes.map(({ dayError }) => dayError ?? 0)), 20);
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
      outcomes.map(({ origin, due, level, range, levelByAverage }) => [
        `${origin} ${due}`,
        { origin, level, range, levelByAverage },
      ]),
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
      assert.deepEqual(forecasts, { level: before.level, range: before.range, levelByAverage: before.levelByAverage });
      compared++;
    }
    assert.ok(compared > 50, `${compared}`);
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
