// Tanks that begin to be used much more, sensors with large steps, tanks that are filled every few days or used in bursts, and empty ones.

import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { suddenLosses } from "../../../src/domain/forecast/loss.ts";
import { removeOutliers } from "../../../src/domain/forecast/outliers.ts";
import { type Level, sensorStepOf } from "../../../src/domain/forecast/variation.ts";
import { seeded } from "../../../src/simulate/random.ts";
import { refillsIn } from "../../support/simulated-tanks/detection.ts";
import { forecast } from "../../support/simulated-tanks/forecast.ts";

const HOUR = 3_600_000;
const DAY = 24 * HOUR;
const START = Date.UTC(2025, 2, 1);

type Sensor = { readonly every: number; readonly noise: number; readonly step?: number };

/** What a sensor reports of a level that depends on the days since the start. */
function measured({ every, noise, step = 0.01 }: Sensor, days: number, levelOn: (day: number) => number): Level[] {
  const random = seeded("unusual tanks");
  return Array.from({ length: Math.floor((days * DAY) / every) + 1 }, (_, i) => {
    const fill = levelOn((i * every) / DAY) + (noise === 0 ? 0 : random.normal(0, noise));
    return { at: START + i * every, fill: Math.min(100, Math.max(0, Math.round(fill / step) * step)) };
  });
}

function forecastOf(readings: readonly Level[]) {
  const now = readings.at(-1)?.at ?? START;
  const tank = { latitude: null, use_case: null, threshold: 20, capacity: 1000, capacity_unit: "liters" } as const;
  const result = forecast({ readings, ...tank, now });
  return { ...result, daysLeft: ((result.runs_low_at.p50 ?? Number.POSITIVE_INFINITY) - now) / DAY };
}

describe("a tank that was hardly used, and is used much now", () => {
  for (const [every, use, days] of [
    [4 * HOUR, 8, 9],
    [4 * HOUR, 4, 16],
    [DAY, 2, 24],
  ] as const) {
    it(`runs low soon after ${days} days of ${use} points, with a reading every ${every / HOUR} hours`, () => {
      const begin = 300 - days;
      const { state, daysLeft } = forecastOf(measured({ every, noise: 0.2 }, 300, (day) => 98 - use * Math.max(0, day - begin)));
      const left = (98 - use * days - 20) / use;
      assert.equal(state, "ok");
      assert.ok(daysLeft > left / 2 && daysLeft < 1.3 * left + 4, `${daysLeft} days instead of ${left}`);
    });
  }
});

describe("a sensor with large steps", () => {
  for (const [step, use, noise] of [
    [2, 0.2, 0],
    [2.5, 0.2, 0],
    [5, 0.2, 0],
    [10, 0.5, 0],
    [5, 0.5, 0.3],
  ] as const) {
    it(`shows use of ${use} points a day in steps of ${step}, with noise of ${noise}`, () => {
      const levels = measured({ every: 4 * HOUR, noise, step }, 300, (day) =>
        day * use < 70 ? 95 - use * day : 95 - use * (day - 140),
      );
      const { use_per_day } = forecastOf(levels);
      const found = use_per_day?.percentage ?? 0;
      assert.ok(found > 0.6 * use && found < 1.6 * use, `${found}`);
    });
  }

  it("makes no refills of its noise, and shows deliveries", () => {
    // Four months of use, and a delivery.
    const levelOn = (day: number): number => 90 - 0.5 * (day % 120);
    for (const [every, noise, step] of [
      [DAY, 1, 0.1],
      [DAY, 1.5, 0.1],
      [4 * HOUR, 1, 2],
      [4 * HOUR, 1, 2.5],
      [DAY, 1, 5],
    ] as const) {
      const refills = refillsIn(measured({ every, noise, step }, 700, levelOn));
      assert.equal(refills.length, 5, `every ${every / HOUR} hours, noise ${noise}, steps of ${step}`);
    }
  });

  it("is not seen in a level that has hardly changed, or changes by different amounts: deliveries are shown", () => {
    const sensor = { every: 4 * HOUR, noise: 0 };
    assert.equal(refillsIn(measured(sensor, 60, (day) => (day < 40 ? 50 : 75))).length, 1);
    // Every five days 1 or 6 points are used.
    const used = (day: number): number => 6 * Math.floor((day + 5) / 10) + Math.floor(day / 10);
    assert.equal(refillsIn(measured(sensor, 60, (day) => 90 - used(day) + (day < 52 ? 0 : 6.5))).length, 1);
  });

  it("makes no sudden losses of its steps, but shows a theft", () => {
    const readings = (stolen: number) =>
      removeOutliers(measured({ every: 4 * HOUR, noise: 0, step: 10 }, 270, (day) => 95 - 0.2 * day - (day > 200 ? stolen : 0)));
    const lossesOf = (cleaned: readonly Level[]) => suddenLosses(cleaned, [], sensorStepOf(cleaned));
    // The first steps come before anything is known of the sensor.
    assert.ok(lossesOf(readings(0)).length <= 1);
    assert.ok(lossesOf(readings(35)).some(({ since }) => Math.abs(since - START - 200 * DAY) < DAY));
  });
});

describe("a tank that is filled every few days", () => {
  it("has a forecast, and its deliveries are found", () => {
    const levels = measured({ every: 6 * HOUR, noise: 0.2 }, 200, (day) => 95 - 25 * (day % 2.8));
    const { state, daysLeft } = forecastOf(levels);
    assert.equal(state, "ok");
    assert.ok(daysLeft < 4, `${daysLeft} days`);
    assert.ok(refillsIn(levels).length > 65);
  });
});

describe("a tank that is empty", () => {
  it("is so now, by all three dates", () => {
    const levels = measured({ every: DAY, noise: 0 }, 160, (day) => 42 - 0.3 * day);
    const { state, runs_low_at, runs_empty_at } = forecastOf(levels);
    const now = levels.at(-1)?.at;
    assert.equal(state, "ok");
    assert.deepEqual([runs_low_at, runs_empty_at], Array(2).fill({ p10: now, p50: now, p90: now }));
  });
});

describe("a tank that is used in bursts", () => {
  /** Every three to nine days a generator uses 15 to 40 points in a day; the tank is filled when it is below 40. */
  function generatorTank(days: number, lastBurst = days) {
    const random = seeded("generator");
    const levels: number[] = [];
    let [level, next, used] = [95, 4, 0];
    for (let day = 0; day <= days; day++) {
      if (day === next) {
        const use = random.between(15, 40);
        if (level < 40) level = 95;
        else if (day <= lastBurst) {
          level -= use;
          used += use;
        }
        next += random.whole(3, 9);
      }
      levels.push(level);
    }
    return { usePerDay: used / days, level, levelOn: (day: number) => levels[Math.floor(day)] ?? level };
  }

  for (const every of [HOUR, DAY]) {
    it(`is expected to go on so, with a reading every ${every / HOUR} hours`, () => {
      const { usePerDay, level, levelOn } = generatorTank(238);
      const { state, use_per_day, daysLeft } = forecastOf(measured({ every, noise: 0.1 }, 238, levelOn));
      const left = (level - 20) / usePerDay;
      assert.equal(state, "ok");
      assert.ok(
        Math.abs((use_per_day?.percentage ?? 0) / usePerDay - 1) < 0.2,
        `${use_per_day?.percentage} instead of ${usePerDay}`,
      );
      assert.ok(daysLeft > 0.8 * left && daysLeft < 1.2 * left + 6, `${daysLeft} days instead of ${left}`);
    });
  }

  it("is not expected to go on so long after the last burst", () => {
    const { levelOn } = generatorTank(240, 140);
    const { use_per_day } = forecastOf(measured({ every: DAY, noise: 0.1 }, 240, levelOn));
    assert.ok((use_per_day?.percentage ?? 0) < 0.5, `${use_per_day?.percentage}`);
  });

  it("is told apart from a heating tank whose sensor has large steps", () => {
    // Begins in March, and is used only in the cold half of the year.
    const levelOn = (day: number): number => 95 - 0.7 * (Math.min(day, 60) + Math.max(0, Math.min(day - 240, 185 - 60)));
    const readings = measured({ every: DAY, noise: 0, step: 10 }, 500, (day) => levelOn(day) + (day > 300 ? 60 : 0));
    const now = readings.at(-1)?.at ?? START;
    const tank = { latitude: 48, use_case: null, threshold: 5, capacity: 1000, capacity_unit: "liters" } as const;
    const { use_per_day } = forecast({ readings, ...tank, now });
    assert.ok((use_per_day?.percentage ?? 0) < 0.15, `${use_per_day?.percentage}`);
  });
});
