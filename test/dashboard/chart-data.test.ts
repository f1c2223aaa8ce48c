// What the charts of a tank draw: levels, pauses, the forecast, the labels of the time axis, and the use of each week.

import assert from "node:assert/strict";
import { test } from "node:test";
import type { Forecast, Refill, Series } from "../../client/src/index.ts";
import { chartData } from "../../dashboard/src/tank/chart-data.ts";
import { labelSpace, timeLabels } from "../../dashboard/src/tank/time-labels.ts";
import { weeklyUse } from "../../dashboard/src/tank/weekly.ts";

const DAY = 86_400_000;
const START = Date.parse("2026-10-05T00:00:00Z");
const at = (day: number): string => new Date(START + day * DAY).toISOString();
const seconds = (day: number): number => (START + day * DAY) / 1000;
const bucket = (day: number, last: number) => ({ start: at(day), min: last - 1, max: last + 1, mean: last, last, count: 4 });
const series = (buckets: Series["buckets"]): Series => ({
  ...{ object: "series", tank_id: "t", from: at(0), to: at(90), step: "1d", timezone: "UTC" },
  buckets,
});
const NEVER = { p10: null, p50: null, p90: null };
const forecast = (fields: Partial<Forecast>): Forecast => ({
  ...{ object: "forecast", tank_id: "t", state: "ok", computed_at: at(4), based_on_until: at(4), use_per_day: null },
  ...{ runs_low_at: NEVER, runs_empty_at: NEVER, suggested_delivery: null },
  ...fields,
});
const latest = (day: number, fill_percentage: number) => ({ object: "telemetry", created_at: at(day), fill_percentage }) as const;

test("a pause that is much longer than usual interrupts the line", () => {
  const { times, last, min } = chartData(series([bucket(0, 50), bucket(1, 49), bucket(2, 48), bucket(12, 40)]), {
    ...{ forecast: undefined, latest: latest(12.5, 40), threshold: 20 },
  });
  assert.deepEqual(times, [0, 1, 2, 3, 7, 12, 12.5].map(seconds));
  assert.deepEqual(last, [null, 50, 49, 48, null, null, 40]);
  assert.deepEqual(min, [49, 49, 48, 47, null, 39, 39]);
});

test("the last reading of a month is at its end, at most at the latest reading", () => {
  const months = { ...series([bucket(0, 50), bucket(31, 40), bucket(61, 30)]), step: "1M", to: at(75) } as const;
  const { times, last } = chartData(months, { forecast: undefined, latest: latest(70, 30), threshold: 20 });
  assert.deepEqual(times, [0, 31, 61, 70].map(seconds));
  assert.deepEqual(last, [null, 50, 40, 30]);
});

test("the forecast goes from the latest reading to the threshold to empty, with its range", () => {
  const dates = { runs_low_at: { p10: at(8), p50: at(14), p90: at(24) }, runs_empty_at: { p10: at(16), p50: at(34), p90: null } };
  const { times, expected, early, late } = chartData(series([bucket(2, 41), bucket(3, 40)]), {
    ...{ forecast: forecast(dates), latest: latest(4, 40), threshold: 20 },
  });
  assert.deepEqual(times, [2, 3, 4, 8, 14, 16, 24, 34].map(seconds));
  assert.deepEqual(expected.map(round), [null, null, 40, 32, 20, 18, 10, 0]);
  assert.deepEqual(early.map(round), [null, null, 40, 20, 5, 0, 0, 0], "it stays empty, below the others");
  assert.deepEqual(late.map(round), [null, null, 40, 36, 30, 28, 20, null]);
});

const round = (level: number | null) => (level === null ? null : Math.round(level * 1e6) / 1e6);

test("no forecast is drawn where there is none, or where its dates have passed", () => {
  for (const [state, level] of [
    ["stale", 40],
    ["ok", 10],
  ] as const) {
    const dates = { runs_low_at: { p10: at(1), p50: at(1), p90: at(1) }, runs_empty_at: { p10: at(1), p50: at(2), p90: at(3) } };
    const { expected } = chartData(series([bucket(2, level), bucket(3, level)]), {
      ...{ forecast: forecast({ state, ...dates }), latest: latest(4, level), threshold: 20 },
    });
    assert.deepEqual(expected, [null, null, null]);
  }
});

test("the time axis has the year of months and days, and the day of times, below the first label and where it changes", () => {
  const labels = (step: number, ...dates: readonly (readonly [number, number, number?, number?])[]) =>
    timeLabels(
      dates.map(([year, month, day = 1, hour = 0]) => new Date(year, month - 1, day, hour).getTime() / 1000),
      (step * DAY) / 1000,
    );
  const format = (options: Intl.DateTimeFormatOptions, ...date: readonly [number, number, number?, number?]) =>
    new Date(date[0], date[1] - 1, date[2] ?? 1, date[3] ?? 0).toLocaleString([], options);
  const month = (number: number) => format({ month: "short" }, 2021, number);
  assert.deepEqual(labels(182, [2020, 11], [2021, 5], [2021, 11], [2022, 5]), [
    ...[`${month(11)}\n2020`, `${month(5)}\n2021`, month(11), `${month(5)}\n2022`],
  ]);
  const day = (number: number) => format({ day: "numeric", month: "short" }, 2021, 11, number);
  assert.deepEqual(labels(1, [2021, 11, 17], [2021, 11, 18]), [`${day(17)}\n2021`, day(18)]);
  const time = (hour: number) => format({ hour: "2-digit", minute: "2-digit" }, 2021, 11, 17, hour);
  assert.deepEqual(labels(0.25, [2021, 11, 17, 12], [2021, 11, 17, 18], [2021, 11, 18]), [
    ...[`${time(12)}\n${day(17)}`, time(18), `${time(0)}\n${day(18)}`],
  ]);
  assert.deepEqual(labels(365, [2020, 1], [2021, 1]), ["2020", "2021"]);
  assert.ok(labelSpace(DAY / 1000, 300) > labelSpace((90 * DAY) / 1000, 300), "times of day are longer than dates");
});

test("the use of a week is how far the level fell, plus refills; unknown after a pause or an unconfirmed refill", () => {
  const refill = (day: number, from_percentage: number, to_percentage: number): Refill => ({
    ...{
      object: "refill",
      started_at: at(day - 0.1),
      ended_at: at(day),
      from_percentage,
      to_percentage,
      volume: 1,
      unit: "liters",
    },
  });
  const weeks = [bucket(0, 50), bucket(7, 40), bucket(14, 80), bucket(21, 80.5), bucket(35, 70), bucket(42, 90)];
  const used = (until: number) => weeklyUse(weeks, [refill(16, 33, 83)], START + until * DAY);
  assert.deepEqual(
    used(45).map((week) => week.used),
    [10, 10, 0, null, null, null],
  );
  assert.deepEqual(
    // An hour more or less where clocks change.
    used(60).map((week) => [Math.round((Date.parse(week.start) - START) / DAY), week.used]),
    [[7, 10], [14, 10], [21, 0], ...[28, 35, 42, 49, 56].map((day) => [day, null])],
    "weeks without readings have no bar, up to the present week",
  );
  assert.deepEqual(weeklyUse([bucket(0, 50)], [], START + 30 * DAY), []);
});
