import assert from "node:assert/strict";
import { describe, it } from "node:test";
import type { DailyLevel } from "../../../src/domain/forecast/daily.ts";
import { historyOf as knownHistory } from "../../../src/domain/forecast/forecast.ts";
import { type Leak, type LeakAtLevel, leakStates } from "../../../src/domain/forecast/leak.ts";
import { seasonAt } from "../../../src/domain/forecast/season.ts";
import { seeded } from "../../../src/simulate/random.ts";
import { scoreLeak } from "../../support/simulated-tanks/detection.ts";
import { simulatedFleet } from "../../support/simulated-tanks/tank-fleet.ts";

const DAY = 86_400_000;
const START = Date.parse("2024-01-01") / DAY;
const random = seeded("leaks");

/** A level a day, with a refill when the tank is at 20 %. `useOn` is by day since the first of January. */
function plainLevels(days: number, useOn: (day: number) => number): DailyLevel[] {
  const levels: DailyLevel[] = [];
  let [fill, segment] = [90, 0];
  for (let day = 0; day < days; day++) {
    if (fill < 20) [fill, segment] = [90, segment + 1];
    levels.push({ day: START + day + 0.5, fill, segment, isConfirmed: true });
    fill -= useOn(day);
  }
  return levels;
}

/** The same with noise. */
function levelsOf(days: number, useOn: (day: number) => number, interval = 1): DailyLevel[] {
  const levels = plainLevels(days, useOn).filter((_, day) => day % interval === 0);
  return levels.map((level) => ({ ...level, fill: random.normal(level.fill, 0.1) }));
}

type Opening = { readonly day: number; readonly leak: Leak };

const historyOf = (daily: readonly DailyLevel[]) => ({
  daily,
  cleaned: daily.map(({ day, fill }) => ({ at: day * DAY, fill })),
  refills: [],
  sensorStep: 0,
  isErratic: false,
});

/** The alerts: days since the first level, and the leak as it was when it opened. */
function alertsIn(levels: readonly DailyLevel[], latitude: number | null = 48): Opening[] {
  const states = leakStates(historyOf(levels), seasonAt(latitude, null));
  return states.flatMap(({ day, leak }, i) =>
    leak !== undefined && states[i - 1]?.leak === undefined ? [{ day: day - START, leak }] : [],
  );
}

const heating = (day: number): number => Math.max(0, 0.5 + 0.6 * Math.cos((2 * Math.PI * (day - 20)) / 365));
const cold = (day: number, from: number, until: number): number => (day >= from && day < until ? 1.6 : 1);

describe("leaks", () => {
  const leaky: readonly [name: string, levels: DailyLevel[], from: number][] = [
    ["constant use", levelsOf(200, (day) => 0.4 + (day >= 150 ? 1 : 0)), 150],
    ["no use", levelsOf(200, (day) => (day >= 150 ? 1 : 0)), 150],
    ["heating in its second winter", levelsOf(450, (day) => heating(day) + (day >= 400 ? 1 : 0)), 400],
    ["heating in summer", levelsOf(250, (day) => heating(day) + (day >= 200 ? 1 : 0)), 200],
    ["weekly patterns", levelsOf(200, (day) => (day % 7 < 5 ? 0.7 : 0.1) + (day >= 150 ? 1 : 0)), 150],
    ["a tank that loses 4 points a day", levelsOf(165, (day) => 0.4 + (day >= 150 ? 4 : 0)), 150],
  ];
  for (const [name, levels, from] of leaky) {
    it(`finds a leak within seven days: ${name}`, () => {
      const [alert, ...others] = alertsIn(levels);
      assert.deepEqual(others, []);
      assert.ok(alert !== undefined && alert.day > from && alert.day <= from + 7.6, JSON.stringify(alert));
      assert.ok(Math.abs(alert.leak.since / DAY - START - from) <= 3, JSON.stringify(alert));
    });
  }

  const tight: readonly [name: string, levels: DailyLevel[], latitude?: number | null][] = [
    ["heating that starts in autumn, never seen before", levelsOf(300, (day) => heating(day + 170))],
    ["the same in the south", levelsOf(300, (day) => heating(day + 170 + 182)), -40],
    ["a cold week", levelsOf(500, (day) => heating(day) * cold(day, 390, 400))],
    ["10 to 20 % a day", levelsOf(200, () => random.between(10, 20))],
    ["a works that starts again after two weeks", levelsOf(200, (day) => (day >= 120 && day < 134 ? 0 : 1.2)), null],
    ["a generator that runs now and then", levelsOf(400, (day) => (day % 23 < 2 ? random.between(5, 12) : 0)), null],
    ["readings once a week, of use that changes", levelsOf(400, (day) => 0.3 + (day % 100) / 80, 7), null],
  ];
  for (const [name, levels, latitude] of tight) {
    it(`opens no alert: ${name}`, () => assert.deepEqual(alertsIn(levels, latitude), []));
  }

  it("closes when the leak is repaired, and opens again for the next one", () => {
    const levels = levelsOf(260, (day) => 0.4 + ((day >= 150 && day < 170) || day >= 230 ? 1 : 0));
    assert.equal(alertsIn(levels).length, 2);
    const states = leakStates(historyOf(levels), seasonAt(null, null));
    assert.equal(states.find(({ day }) => day > START + 178)?.leak, undefined);
    assert.notEqual(states.at(-1)?.leak, undefined);
  });

  it("says nothing of a leak while days without readings keep it from being judged, also after a theft months before", () => {
    const used = levelsOf(214, (day) => 0.3 + (day >= 190 ? 1.2 : 0) + (day === 60 ? 15 : 0));
    const levels = used.filter(({ day }) => day < START + 200 || day > START + 207);
    const states = leakStates(historyOf(levels), seasonAt(null, null));
    assert.ok(states.some(({ leak }) => leak?.isSudden));
    assert.equal(states.find(({ day }) => day > START + 68)?.leak, undefined);
    const last = states.findLast(({ day }) => day < START + 200);
    assert.equal(last?.leak?.isSudden, false);
    assert.deepEqual(
      states.filter(({ day, leak }) => day > START + 200 && leak === undefined),
      [],
    );
  });

  it("finds a leak of a generator while it stands still", () => {
    const inBursts = levelsOf(300, (day) => (day % 23 < 2 ? random.between(5, 12) : 0) + (day >= 212 ? 1 : 0));
    const [alert] = alertsIn(inBursts, null);
    assert.ok(alert !== undefined && alert.day > 212 && alert.day <= 219.6, JSON.stringify(alert));
  });

  it("stays open while the leak is half as large, and closes before it is gone", () => {
    const levels = plainLevels(200, (day) => 0.4 + (day < 150 ? 0 : day < 160 ? 1 : day < 180 ? 0.4 : 0.2));
    const states = leakStates(historyOf(levels), seasonAt(null, null));
    const isOpen = [160, 180, 190].map((day) => states.findLast((state) => state.day < START + day)?.leak !== undefined);
    assert.deepEqual(isOpen, [true, true, false]);
  });

  it("finds none before the use of a new tank is known for seven weeks", () => {
    const found = (from: number) => alertsIn(plainLevels(from + 10, (day) => 0.3 + (day >= from ? 1.5 : 0))).length;
    assert.deepEqual([35, 60].map(found), [0, 1]);
  });

  it("finds none in tanks that use more than 6 points a day", () => {
    const found = (use: number) =>
      alertsIn(
        plainLevels(200, (day) => use + (day >= 150 ? 5 : 0)),
        null,
      ).length;
    assert.deepEqual([5, 7].map(found), [1, 0]);
  });

  it("opens for high use of up to two weeks until that has become normal; longer high use never does", () => {
    const found = (days: number) =>
      alertsIn(
        plainLevels(400, (day) => 0.3 + (day >= 100 && day % 40 < days ? 1 : 0)),
        null,
      ).map(({ day }) => Math.floor(day / 40));
    assert.deepEqual(found(16), [3, 4, 5]);
    assert.deepEqual(found(20), [3, 4, 5, 6, 7, 8, 9]);
  });

  it("finds none with a sensor that fails", () => {
    // One reading of ten is too high; the others show the leak.
    const found = (error: number) => {
      const readings = Array.from({ length: 160 * 6 }, (_, i) => {
        const day = i / 6;
        return { at: START * DAY + day * DAY, fill: 90 - 0.2 * day - Math.max(0, day - 150) + (i % 10 === 9 ? error : 0) };
      });
      return leakStates(knownHistory(readings), seasonAt(48, null)).some(({ leak }) => leak !== undefined);
    };
    assert.deepEqual([0, 20].map(found), [true, false]);
  });

  it("opens at most one false alert in 20 tank-years of a simulated fleet, and finds 95 % of leaks of twice the use or more", () => {
    const [tanks, days, start] = [80, 730, Date.parse("2023-07-01")];
    const found: boolean[] = [];
    let [falseAlerts, daysWithoutLeak] = [0, 0];
    for (const history of simulatedFleet({ seed: "leaks", tanks, start, days, leak: { afterDay: 365, perDay: 1 } })) {
      const score = scoreLeak(history);
      falseAlerts += score.falseAlerts;
      daysWithoutLeak += ((history.leak?.from ?? start) - start) / DAY;
      // A generator uses nothing on most days: its average says little.
      if (score.isFound !== undefined && score.usePerDay <= 0.5 && history.use !== "generator") found.push(score.isFound);
    }
    assert.ok(found.length > 30, `${found.length}`);
    assert.ok(found.filter(Boolean).length / found.length >= 0.95, `${found.filter(Boolean).length} of ${found.length}`);
    assert.ok(falseAlerts <= daysWithoutLeak / 365 / 20, `${falseAlerts}`);
  });
});

describe("sudden losses", () => {
  const HOUR = DAY / 24;
  /** Readings of a tank that uses half a point a day; `levelOf` changes them by the hour since the loss, on day 60. */
  function leaksOf(levelOf: (level: number, hour: number) => number, days = 63, interval = 4): readonly LeakAtLevel[] {
    const start = START * DAY;
    const readings = Array.from({ length: Math.floor((days * 24) / interval) }, (_, i) => {
      const hour = i * interval;
      return { at: start + hour * HOUR, fill: levelOf(random.normal(90 - hour / 48, 0.05), hour - 60 * 24) };
    });
    return leakStates(knownHistory(readings), seasonAt(48, null));
  }
  const stolen = (level: number, hour: number): number => level - 10 * Math.min(1, Math.max(0, hour / 3));

  for (const interval of [1, 4, 6, 24]) {
    it(`reports a tenth of the tank that is gone within hours, read every ${interval} hours`, () => {
      const leak = leaksOf(stolen, 62 + interval / 12, interval).at(-1)?.leak;
      assert.ok(leak !== undefined && Math.abs(leak.excess - 10) < 1.5, JSON.stringify(leak));
      assert.ok(Math.abs(leak.since / DAY - START - 60) <= Math.max(interval, 8) / 24, JSON.stringify(leak));
    });
  }

  it("reports it within half a day of 4-hourly readings, and for a week", () => {
    assert.equal(leaksOf(stolen, 60.2).at(-1)?.leak, undefined);
    assert.notEqual(leaksOf(stolen, 60.7).at(-1)?.leak, undefined);
    assert.notEqual(leaksOf(stolen, 66).at(-1)?.leak, undefined);
    assert.equal(leaksOf(stolen, 68).at(-1)?.leak, undefined);
  });

  it("reports it once the level has stayed down for 8 hours", () => {
    assert.equal(leaksOf(stolen, 60.35, 1).at(-1)?.leak, undefined);
    assert.notEqual(leaksOf(stolen, 60.55, 1).at(-1)?.leak, undefined);
  });

  it("reports what was lost in two days without readings, but not in three", () => {
    const isReported = (gap: number) => {
      const readings = Array.from({ length: 65 * 6 }, (_, i) => i / 6)
        .filter((day) => day <= 60 || day >= 60 + gap)
        .map((day) => ({ at: (START + day) * DAY, fill: 90 - 0.5 * day - (day > 60 ? 15 : 0) }));
      return leakStates(knownHistory(readings), seasonAt(48, null)).some(({ leak }) => leak?.isSudden);
    };
    assert.deepEqual([2, 3].map(isReported), [true, false]);
  });

  it("reports a second one as large as the first", () => {
    const leak = leaksOf((level, hour) => stolen(stolen(level, hour), hour - 240), 71).at(-1)?.leak;
    assert.ok(leak !== undefined && Math.abs(leak.since / DAY - START - 70) <= 0.2, JSON.stringify(leak));
  });

  const harmless: readonly [name: string, levelOf: (level: number, hour: number) => number][] = [
    ["a single wrong reading", (level, hour) => (hour === 0 ? 40 : level)],
    ["false zeros of a day", (level, hour) => (hour >= 0 && hour < 24 ? 0 : level)],
    ["the end of a false high", (level, hour) => (hour >= 0 && hour < 36 ? 99 : level - 12)],
    [
      "the end of a false high that began with a refill",
      (level, hour) => level - 30 + (hour < -24 ? 0 : hour < 0 ? 35 - level + 90 : 50),
    ],
    ["a sensor that was stuck for three weeks", (level, hour) => (hour > -504 && hour < 0 ? 70.5 : level)],
    ["as much as the tank uses on other days", (level, hour) => level - 12 * Math.floor((hour + 1440) / 480)],
  ];
  for (const [name, levelOf] of harmless) {
    it(`reports nothing: ${name}`, () => {
      const first = name.startsWith("as much") ? START + 55 : START;
      for (const days of [60.2, 60.4, 61, 62, 63, 64]) {
        assert.deepEqual(
          leaksOf(levelOf, days).filter(({ day, leak }) => day > first && leak !== undefined),
          [],
        );
      }
    });
  }

  for (const hours of [8, 16, 30, 54]) {
    it(`reports a theft ${hours} hours after a refill, and for a week`, () => {
      const filled = (level: number, hour: number): number => level - 30 + (hour >= -hours ? 50 : 0);
      const leakAfter = (days: number) => leaksOf((level, hour) => 2 * stolen(filled(level, hour) / 2, hour), days).at(-1)?.leak;
      for (const days of [62.5, 63, 66]) {
        const leak = leakAfter(days);
        assert.ok(leak !== undefined && Math.abs(leak.excess - 20) < 2, `${days}: ${JSON.stringify(leak)}`);
      }
      assert.equal(leakAfter(68)?.since, undefined);
    });
  }

  it("ends with a refill", () => {
    const refilled = leaksOf((level, hour) => stolen(level, hour) + (hour > 48 ? 20 : 0), 64.5);
    assert.equal(refilled.at(-1)?.leak, undefined);
  });

  it("takes a device with a lower offset for a loss, for a week", () => {
    assert.notEqual(leaksOf((level, hour) => (hour < 0 ? level : level - 15)).at(-1)?.leak, undefined);
    assert.equal(leaksOf((level, hour) => (hour < 0 ? level : level - 15), 68).at(-1)?.leak, undefined);
  });
});
