import assert from "node:assert/strict";
import test from "node:test";
import { thinned } from "../../../src/domain/forecast/daily.ts";
import { type Forecast, type ForecastInput, historyOf } from "../../../src/domain/forecast/forecast.ts";
import { seeded } from "../../../src/simulate/random.ts";
import { forecast, type Readings } from "../../support/simulated-tanks/forecast.ts";

const DAY = 86_400_000;
const HOUR = DAY / 24;
const START = Date.UTC(2025, 2, 1);

type Series = { readonly days: number; readonly every?: number; readonly start?: number; readonly noise?: number };

/** Readings of a level that is a function of the days since the start. */
function readings({ days, every = DAY, start = START, noise = 0 }: Series, levelOn: (day: number) => number | undefined) {
  const random = seeded("forecast");
  const list: { at: number; fill: number }[] = [];
  for (let at = start; at <= start + days * DAY; at += every) {
    const level = levelOn((at - start) / DAY);
    if (level === undefined) continue;
    const fill = level + (noise === 0 ? 0 : random.normal(0, noise));
    list.push({ at, fill: Math.min(100, Math.max(0, fill)) });
  }
  return list;
}

function forecastOf(list: Readings, more: Partial<ForecastInput> = {}): Forecast {
  const now = list.at(-1)?.at ?? START;
  const tank = { latitude: null, use_case: null, threshold: 20, capacity: 1000, capacity_unit: "liters" } as const;
  return forecast({ readings: list, ...tank, now, ...more });
}

const daysUntil = (at: number | null, from: number | undefined): number => ((at ?? Number.NaN) - (from ?? Number.NaN)) / DAY;
const isNear = (value: number | undefined, expected: number, tolerance: number): void => {
  assert.ok(value !== undefined && Math.abs(value - expected) <= tolerance, `${value} instead of ${expected} ± ${tolerance}`);
};

function isOrdered({ runs_low_at, runs_empty_at }: Forecast, now: number): void {
  for (const { p10, p50, p90 } of [runs_low_at, runs_empty_at]) {
    const dates = [p10, p50, p90].map((at) => at ?? Number.POSITIVE_INFINITY);
    assert.deepEqual(
      dates,
      dates.toSorted((a, b) => a - b),
    );
    assert.ok(dates.every((at) => at >= now));
  }
}

test("constant use: the day it runs low, the day it is empty, and the range around both", () => {
  const list = readings({ days: 60, every: 4 * HOUR, noise: 0.1 }, (day) => 90 - 0.5 * day);
  const result = forecastOf(list);
  const last = list.at(-1)?.at ?? 0;
  assert.equal(result.state, "ok");
  isNear(result.use_per_day?.percentage, 0.5, 0.02);
  isNear(daysUntil(result.runs_low_at.p50, last), 80, 4);
  isNear(daysUntil(result.runs_empty_at.p50, last), 120, 6);
  isOrdered(result, last);
  const level = result.levelAt(last + 30 * DAY);
  isNear(level?.p50, 45, 1);
  assert.ok(level !== undefined && level.p10 < level.p50 && level.p50 < level.p90);
  assert.deepEqual([result.suggested_delivery?.by, result.suggested_delivery?.unit], [result.runs_low_at.p10, "liters"]);
});

test("fewer than five readings or five days are not enough, nor are none", () => {
  const states = [
    forecastOf([]),
    forecastOf(readings({ days: 3 }, (day) => 80 - day)),
    forecastOf(readings({ days: 4.9, every: HOUR }, (day) => 80 - day)),
    forecastOf(readings({ days: 21, every: 7 * DAY }, (day) => 80 - day)),
  ].map(({ state }) => state);
  assert.deepEqual(states, Array(4).fill("insufficient_data"));
  assert.equal(forecastOf(readings({ days: 5 }, (day) => 80 - day)).state, "ok");
  assert.equal(forecastOf(readings({ days: 28, every: 7 * DAY }, (day) => 80 - day)).state, "ok");
});

test("no use, also under noise; a sensor that is stuck claims nothing in the past", () => {
  const idle = forecastOf(
    readings({ days: 200, noise: 0.05 }, () => 60),
    { latitude: 48 },
  );
  assert.equal(idle.state, "no_use");
  assert.equal(idle.use_per_day?.percentage, 0);
  assert.deepEqual(idle.runs_low_at, { p10: null, p50: null, p90: null });
  const list = readings({ days: 120 }, (day) => 90 - 0.5 * Math.min(day, 80));
  const stuck = forecastOf(list);
  assert.ok((stuck.use_per_day?.percentage ?? 1) < 0.05);
  isOrdered(stuck, list.at(-1)?.at ?? 0);
});

test("a tank without use is stale as well after 90 days of silence", () => {
  const idle = readings({ days: 200, noise: 0.05 }, () => 60);
  const states = [89, 91].map((days) => forecastOf(idle, { now: (idle.at(-1)?.at ?? 0) + days * DAY }).state);
  assert.deepEqual(states, ["no_use", "stale"]);
});

test("a saw-tooth of frequent refills does not change the use", () => {
  const list = readings({ days: 120, every: 4 * HOUR, noise: 0.2 }, (day) => 90 - 4 * (day % 15));
  const result = forecastOf(list);
  isNear(result.use_per_day?.percentage, 4, 0.3);
});

test("a step change of habits is seen within three weeks", () => {
  const list = readings({ days: 120 }, (day) => (day < 99 ? 95 - 0.2 * day : 75.2 - 0.6 * (day - 99)));
  isNear(forecastOf(list).use_per_day?.percentage, 0.6, 0.1);
});

/** Uses 0.1 a day and, around January (July in the south), 0.7. */
function heated(start: number, south: boolean): (day: number) => number {
  const used = (day: number): number => {
    const time = start / DAY + day - (south ? 182.6 : 0) - 15;
    return (
      0.4 * day +
      0.3 * (365.25 / (2 * Math.PI)) * (Math.sin((2 * Math.PI * time) / 365.25) - Math.sin((2 * Math.PI * (time - day)) / 365.25))
    );
  };
  return (day) => 99 - (used(day) % 90);
}

test("before winter more use is expected, and before summer less, on both hemispheres", () => {
  let compared = 0;
  for (const [month, south, isRising] of [
    [8, false, true],
    [3, false, false],
    [2, true, true],
    [9, true, false],
  ] as const) {
    const end = Date.UTC(2026, month, 1);
    for (const days of [40, 400]) {
      const start = end - days * DAY;
      const levelOn = heated(start, south);
      const list = readings({ days, start }, levelOn);
      const result = forecastOf(list, { latitude: south ? -48 : 48, threshold: 0 });
      const last = list.at(-1);
      const actual = levelOn(days) - levelOn(days + 60);
      const expected = (last?.fill ?? 0) - (result.levelAt(end + 60 * DAY)?.p50 ?? 0);
      const constant = (result.use_per_day?.percentage ?? 0) * 60;
      if (actual < 0 || (last?.fill ?? 0) < constant) continue;
      assert.ok(isRising ? expected > constant * 1.1 : expected < constant * 0.9, `${month} ${days}: ${expected}, ${constant}`);
      compared++;
      if (days > 365) isNear(expected, actual, 0.25 * actual);
    }
  }
  assert.ok(compared >= 6, `${compared}`);
});

/** Expected use in the days after the last of the readings. */
function usedAfter(list: Readings, days: number, use_case: ForecastInput["use_case"] = "residential"): number {
  const result = forecastOf(list, { latitude: 48, use_case, threshold: 0 });
  const [last] = list.slice(-1);
  return (last?.fill ?? 0) - (result.levelAt((last?.at ?? 0) + days * DAY)?.p50 ?? 0);
}

test("a tank that is new in summer is forecast to heat in winter, until a winter shows that it does not", () => {
  const start = Date.UTC(2025, 5, 1);
  const summer = readings({ days: 90, start, noise: 0.05 }, (day) => 90 - 0.02 * day);
  assert.ok(usedAfter(summer, 60) > 3 * 0.02 * 60, `${usedAfter(summer, 60)}`);
  const winter = readings({ days: 600, start, noise: 0.05 }, (day) => 90 - 0.02 * day);
  isNear(usedAfter(winter, 60), 0.02 * 60, 0.6);
});

test("an industrial tank is hardly expected to heat before it has done so", () => {
  const summer = readings({ days: 90, start: Date.UTC(2025, 5, 1), noise: 0.05 }, (day) => 90 - 0.3 * day);
  isNear(usedAfter(summer, 120, "industrial"), 0.3 * 120, 0.1 * 0.3 * 120);
  assert.ok(usedAfter(summer, 120) > 1.5 * 0.3 * 120, `${usedAfter(summer, 120)}`);
});

test("a cold month is expected to continue at first, and then to return to normal", () => {
  const start = Date.UTC(2024, 7, 1);
  const days = (Date.UTC(2026, 0, 20) - start) / DAY;
  const levelOn = heated(start, false);
  const normal = readings({ days, start }, levelOn);
  const cold = readings({ days, start }, (day) => levelOn(day) - 0.3 * Math.max(0, day - (days - 30)));
  const [soon, until35, until45] = [10, 35, 45].map((ahead) => usedAfter(cold, ahead) - usedAfter(normal, ahead));
  const later = (until45 ?? 0) - (until35 ?? 0);
  assert.ok(soon !== undefined && soon > 1.5 && soon < 3 && later < 0.6 * soon, `${soon} ${later}`);
});

test("a burst of use counts little", () => {
  for (const days of [81, 90]) {
    const list = readings({ days }, (day) => 95 - 0.2 * day - (day < 80 ? 0 : 2.5));
    isNear(forecastOf(list).use_per_day?.percentage, 0.2, 0.07);
  }
});

test("one reading a week and one a minute give about the same forecast", () => {
  const levelOn = (day: number): number => 95 - 0.4 * day;
  const weekly = forecastOf(readings({ days: 91, every: 7 * DAY }, levelOn));
  const often = forecastOf(readings({ days: 91, every: 60_000 }, levelOn));
  isNear(weekly.use_per_day?.percentage, 0.4, 0.03);
  isNear(often.use_per_day?.percentage, 0.4, 0.03);
  isNear(daysUntil(weekly.runs_low_at.p50, often.runs_low_at.p50 ?? 0), 0, 4);
});

test("a refill during an outage, and a device swapped for one with another offset, are no use", () => {
  const outage = forecastOf(
    readings({ days: 90 }, (day) => (day < 40 ? 60 - 0.5 * day : day < 60 ? undefined : 95 - 0.5 * (day - 60))),
  );
  isNear(outage.use_per_day?.percentage, 0.5, 0.05);
  for (const offset of [-10, 4]) {
    const swapped = forecastOf(readings({ days: 90, noise: 0.05 }, (day) => 90 - 0.3 * day + (day < 80 ? 0 : offset)));
    isNear(swapped.use_per_day?.percentage, 0.3, 0.05);
  }
});

test("a capacity in gallons gives volumes in gallons and the same days", () => {
  const list = readings({ days: 60 }, (day) => 90 - 0.5 * day);
  const liters = forecastOf(list);
  const gallons = forecastOf(list, { capacity: 500, capacity_unit: "gallons" });
  assert.deepEqual(gallons.runs_low_at, liters.runs_low_at);
  assert.equal(gallons.use_per_day?.unit, "gallons");
  isNear(gallons.use_per_day?.volume, 2.5, 0.1);
});

test("one outlier, wherever it is, does not move the forecast", () => {
  const list = readings({ days: 60, every: 4 * HOUR, noise: 0.1 }, (day) => 90 - 0.5 * day);
  const expected = forecastOf(list);
  for (const index of [0, 100, list.length - 10, list.length - 2, list.length - 1]) {
    for (const fill of [0, 100]) {
      const wrong = list.map((reading, i) => (i === index ? { ...reading, fill } : reading));
      const result = forecastOf(wrong);
      isNear(result.use_per_day?.percentage, expected.use_per_day?.percentage ?? 0, 0.03);
      isNear(daysUntil(result.runs_low_at.p50, expected.runs_low_at.p50 ?? 0), 0, 5);
    }
  }
});

test("a small outlier as one of the newest readings, which may be the first or second of its day, hardly moves the forecast", () => {
  for (const [every, count] of [
    [4 * HOUR, 361],
    [4 * HOUR, 362],
    [DAY, 61],
    [DAY, 62],
  ] as const) {
    const list = readings({ days: 70, every, noise: 0.1 }, (day) => 90 - 0.5 * day).slice(0, count);
    const expected = forecastOf(list);
    for (const newer of [0, 1, 2]) {
      for (const error of [-4, -2.5, -1.5, 1.5, 2.5, 3, 4]) {
        const index = list.length - 1 - newer;
        const wrong = list.map((reading, i) => (i === index ? { ...reading, fill: reading.fill + error } : reading));
        const result = forecastOf(wrong);
        isNear(result.use_per_day?.percentage, expected.use_per_day?.percentage ?? 0, 0.05);
        isNear(daysUntil(result.runs_low_at.p50, expected.runs_low_at.p50 ?? 0), 0, 8);
      }
    }
  }
});

test("an outlier among weekly readings moves the forecast by a bounded amount", () => {
  const list = readings({ days: 210, every: 7 * DAY, noise: 0.15 }, (day) => 90 - 0.3 * day);
  const use = [-4, -2.5, 0, 2.5, 4].map((error) => {
    const wrong = list.map((reading, i) => (i === list.length - 1 ? { ...reading, fill: reading.fill + error } : reading));
    return forecastOf(wrong).use_per_day?.percentage ?? 0;
  });
  const [, , expected = 0] = use;
  for (const value of use) isNear(value, expected, 0.11);
});

test("a fall of a few points counts in full once the next reading confirms it", () => {
  const list = readings({ days: 62, noise: 0.1 }, (day) => 90 - 0.5 * day - (day > 60 ? 2 : 0));
  const [unconfirmed, confirmed] = [list.slice(0, 62), list].map((some) => {
    const now = some.at(-1)?.at ?? 0;
    return forecastOf(some).levelAt(now)?.p50;
  });
  isNear(unconfirmed, 59.5, 1.1);
  isNear(confirmed, 57, 0.5);
});

test("with two readings in four hours, noise does not raise or lower the level", () => {
  const list = readings({ days: 60, every: 2 * HOUR, noise: 1 }, () => 60);
  const kept = thinned(list);
  const mean = kept.reduce((sum, { fill }) => sum + fill, 0) / kept.length;
  assert.equal(kept.length, 361);
  isNear(mean, 60, 0.1);
  assert.ok(kept.every((reading) => list.includes(reading)));
});

test("a silent tank keeps a forecast whose range widens, until it says nothing; no date is in the past", () => {
  const list = readings({ days: 60 }, (day) => 90 - 0.5 * day);
  const last = list.at(-1)?.at ?? 0;
  const spread = (silent: number): number => {
    const result = forecastOf(list, { now: last + silent * DAY });
    const level = result.levelAt(last + silent * DAY);
    assert.equal(result.state, "ok");
    isOrdered(result, last + silent * DAY);
    return (level?.p90 ?? 0) - (level?.p10 ?? 0);
  };
  assert.ok(spread(0) < spread(20) && spread(20) < spread(60));
  const stale = forecastOf(list, { now: last + 100 * DAY });
  assert.equal(stale.state, "stale");
  assert.deepEqual(stale.runs_low_at, { p10: null, p50: null, p90: null });
  // One that uses much says nothing after days.
  const statesAfterTwoDays = [5, 8].map((use) => {
    const fast = readings({ days: 26 }, (day) => 90 - use * (day % Math.floor(80 / use)));
    return forecastOf(fast, { now: (fast.at(-1)?.at ?? 0) + 2 * DAY }).state;
  });
  assert.deepEqual(statesAfterTwoDays, ["ok", "stale"]);
});

test("a silent tank that is stale stays so, also when it should be empty by now", () => {
  // Filled every twentieth day, used little in the first half of that time and much in the second.
  const used = (day: number): number => (day < 10 ? day : 10 + 7 * (day - 10));
  const list = readings({ days: 124 }, (day) => 95 - used(day % 20));
  const last = list.at(-1)?.at ?? 0;
  const states = Array.from({ length: 91 }, (_, silent) => forecastOf(list, { now: last + silent * DAY }).state);
  const isStale = states.indexOf("stale");
  assert.ok(isStale > 1 && isStale < 30, `${isStale}`);
  assert.deepEqual(new Set(states.slice(0, isStale)), new Set(["ok"]));
  assert.deepEqual(new Set(states.slice(isStale)), new Set(["stale"]));
});

test("a tank that uses so much that nothing can be said of the next day gets no forecast", () => {
  const states = [12, 15].map(
    (use) => forecastOf(readings({ days: 26 }, (day) => 90 - use * (day % Math.floor(80 / use)))).state,
  );
  assert.deepEqual(states, ["ok", "insufficient_data"]);
});

test("the use of a silent tank is that of the present day, not that of its last reading", () => {
  const start = Date.UTC(2024, 6, 1);
  const days = (Date.UTC(2025, 8, 1) - start) / DAY;
  const list = readings({ days, start }, heated(start, false));
  const now = (list.at(-1)?.at ?? 0) + 60 * DAY;
  const [before, after] = [now - 60 * DAY, now].map((at) => forecastOf(list, { latitude: 48, now: at }));
  const expected = (after?.levelAt(now)?.p50 ?? 0) - (after?.levelAt(now + DAY)?.p50 ?? 0);
  isNear(after?.use_per_day?.percentage, expected, 1e-9);
  assert.ok(expected > 1.3 * (before?.use_per_day?.percentage ?? 0), `${expected}`);
});

test("a delivery fills the tank to where full ones have ended; small rises and part deliveries do not count", () => {
  for (const [name, levelOn, expected] of [
    ["no refill", (day: number) => 90 - day, 95],
    ["another sensor", (day: number) => (day < 20 ? 86 - day : 92 - day), 95],
    ["a part delivery", (day: number) => (day < 20 ? 40 - day : 70 - day), 95],
    ["a small delivery at the top", (day: number) => (day < 12 ? 90 - day : 98 - day), 95],
    ["filled to 85 %", (day: number) => (day < 20 ? 40 - day : 105 - day), 85],
  ] as const) {
    const { suggested_delivery: delivery, levelAt } = forecastOf(readings({ days: 30, every: 6 * HOUR }, levelOn));
    assert.ok(delivery !== null, name);
    isNear(delivery.volume / 10 + (levelAt(delivery.by)?.p50 ?? 0), expected, 0.3);
  }
});

test("a tank that is expected to be empty, or is, runs low now and needs a delivery", () => {
  const silent = readings({ days: 14 }, (day) => 95 - 5 * day);
  const empty = readings({ days: 20 }, (day) => Math.max(0, 95 - 5 * day));
  for (const [list, days] of [
    [silent, 6],
    [silent, 30],
    [silent, 89],
    [empty, 0],
  ] as const) {
    const now = (list.at(-1)?.at ?? 0) + days * DAY;
    const { state, runs_low_at, runs_empty_at, suggested_delivery, levelAt } = forecastOf(list, { now });
    assert.deepEqual([state, levelAt(now)?.p50, runs_low_at.p50, runs_empty_at.p50], ["ok", 0, now, now], `${days} days`);
    assert.deepEqual(suggested_delivery, { by: now, volume: 950, unit: "liters" });
  }
});

test("a sensor that jumps erratically gets no forecast", () => {
  const random = seeded("leaps");
  const list = readings({ days: 60, every: HOUR }, () => random.pick([15, 50, 75, 99]));
  assert.equal(forecastOf(list).state, "insufficient_data");
});

test("single readings that are false cost a tank its forecast if there are many", () => {
  const states = [30, 10].map((count) => {
    const list = readings({ days: 60, every: 4 * HOUR }, (day) => 70 - 0.5 * day + (Math.round(day * 6) % count === 0 ? 10 : 0));
    return forecastOf(list).state;
  });
  assert.deepEqual(states, ["ok", "insufficient_data"]);
});

test("the levels of a day with a delivery are those before and after it", () => {
  // From 40 to 90 within 16 hours of day 20.
  const delivered = (day: number): number => 50 * Math.min(1, Math.max(0, (day - 20.1) * 1.5));
  const { daily } = historyOf(readings({ days: 40, every: HOUR }, (day) => 60 - day + delivered(day)));
  const levels = daily.filter(({ day }) => Math.floor(day - START / DAY) === 20).map(({ fill }) => Math.round(fill));
  assert.deepEqual(levels, [40, 89]);
});

test("use is never negative, and dates are in order, whatever the readings", () => {
  for (let seed = 0; seed < 200; seed++) {
    const random = seeded(seed);
    let level = random.between(0, 100);
    const wobble = random.pick([0, 0.1, 2, 20]);
    const list = readings({ days: random.whole(5, 300), every: random.pick([HOUR * 6, DAY, 5 * DAY]) }, () => {
      level = random.chance(0.02) ? random.between(0, 100) : Math.max(0, level - random.between(-wobble, wobble + 0.3));
      return random.chance(0.1) ? undefined : level;
    });
    const now = (list.at(-1)?.at ?? START) + random.whole(0, 40) * DAY;
    const result = forecastOf(list, { latitude: random.pick([null, 0, 48, -60, 90]), now });
    assert.ok((result.use_per_day?.percentage ?? 0) >= 0, `seed ${seed}`);
    isOrdered(result, now);
    for (const days of [0, 1, 33, 400, 2000]) {
      const range = result.levelAt(now + days * DAY);
      if (range === undefined) continue;
      const { p10, p50, p90 } = range;
      assert.ok(0 <= p10 && p10 <= p50 && p50 <= p90 && p90 <= 100, `seed ${seed}, ${days} days: ${p10} ${p50} ${p90}`);
    }
  }
});
