import assert from "node:assert/strict";
import { describe, it } from "node:test";
import { removeOutliers } from "../../../src/domain/forecast/outliers.ts";
import { newRefills, type Refill } from "../../../src/domain/forecast/refills.ts";
import type { Level } from "../../../src/domain/forecast/variation.ts";
import { seeded } from "../../../src/simulate/random.ts";
import { refillsIn, scoreRefills } from "../../support/simulated-tanks/detection.ts";
import { simulatedFleet } from "../../support/simulated-tanks/tank-fleet.ts";

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;
const random = seeded("refills");

/** Readings at an interval; those without a fill are missing. */
const every = (interval: number, days: number, fillAt: (day: number) => number | undefined): Level[] =>
  Array.from({ length: Math.floor((days * DAY) / interval) }, (_, i) => i * interval).flatMap((at) => {
    const fill = fillAt(at / DAY);
    return fill === undefined ? [] : [{ at, fill: Math.min(100, Math.max(0, fill)) }];
  });
/** Readings at these hours of each day. */
const listedAt = (hours: readonly number[], days: number, fillAt: (day: number) => number): Level[] =>
  Array.from({ length: days }, (_, day) => hours.map((hour) => day + hour / 24))
    .flat()
    .map((day) => ({ at: day * DAY, fill: fillAt(day) }));
const listed = (fills: readonly number[], interval = DAY): Level[] => fills.map((fill, i) => ({ at: i * interval, fill }));

describe("outliers", () => {
  const falling = Array.from({ length: 30 }, (_, day) => 60 - 0.1 * day);
  const table: readonly [name: string, wrong: Readonly<Record<number, number>>][] = [
    ["a single high", { 12: 99 }],
    ["a single low", { 12: 40 }],
    ["a false high over two days", { 12: 95, 13: 95 }],
    ["several false zeros in a row", { 12: 2.9, 13: 1.9, 14: 0, 15: 0.4 }],
    ["false zeros and false highs", { 9: 0, 12: 95, 13: 95, 20: 1, 21: 1 }],
    ["the newest reading", { 29: 0 }],
    ["the newest reading, when it is too high", { 29: 90 }],
  ];
  for (const interval of [MINUTE, 4 * HOUR, DAY, 7 * DAY]) {
    for (const [name, wrong] of table) {
      // Two readings of a week apart are not two days.
      if (interval > DAY && name.includes("false")) continue;
      it(`removes ${name}, with a reading every ${interval / HOUR} hours`, () => {
        const kept = removeOutliers(listed(falling, interval).map(({ at, fill }, i) => ({ at, fill: wrong[i] ?? fill })));
        assert.deepEqual(
          kept,
          listed(falling, interval).filter((_, i) => wrong[i] === undefined),
        );
      });
    }
  }

  it("keeps what there is of few readings, but for a jump at the end", () => {
    assert.deepEqual(removeOutliers([]), []);
    assert.deepEqual(removeOutliers(listed([50])), listed([50]));
    assert.deepEqual(removeOutliers(listed([50, 90])), listed([50]));
    assert.deepEqual(refillsIn(listed([50, 90, 90])), []);
  });

  it("keeps a level that falls by a jump and stays there", () => {
    const readings = listed(falling.map((fill, day) => (day < 15 ? fill : fill - 30)));
    assert.deepEqual(removeOutliers(readings), readings);
  });

  it("keeps a new level from its third reading on, or once it is 20 hours old", () => {
    const isKept = (...hours: number[]) => {
      const readings = [...listed(falling), ...hours.map((hour) => ({ at: 30 * DAY + hour * HOUR, fill: 90 }))];
      return removeOutliers(readings).length === readings.length;
    };
    assert.deepEqual([isKept(0, 4), isKept(0, 4, 8), isKept(0, 16), isKept(0, 24)], [false, true, false, true]);
  });

  it("removes false zeros of up to a week, and other false levels of up to two and a half days", () => {
    const removed = (wrong: number, days: number) => {
      const readings = every(4 * HOUR, 60, (day) => (day >= 30 && day < 30 + days ? wrong : 60 - 0.1 * day));
      return (readings.length - removeOutliers(readings).length) / 6;
    };
    assert.deepEqual([removed(1, 6.5), removed(1, 8)], [6.5, 0]);
    assert.deepEqual([removed(80, 2), removed(80, 3)], [2, 0]);
    assert.deepEqual([removed(30, 2), removed(30, 3)], [2, 0]);
  });

  it("keeps a tank that is used up and refilled every few days", () => {
    const readings = every(DAY, 60, (day) => 85 - (day % 4) * 15);
    assert.deepEqual(removeOutliers(readings), readings);
  });
});

describe("refills", () => {
  it("finds a refill amid false zeros", () => {
    const readings = listed([40, 40, 39.9, 39.9, 39.8, 39.8, 2.9, 2, 0, 99.9, 0.4, 99.9, 99.8, 99.8, 99.7]);
    assert.deepEqual(refillsIn(readings), [{ startedAt: 5 * DAY, endedAt: 9 * DAY, from: 39.8, to: 99.9 }]);
  });

  /** From 30 to 80 on day 20, by the share that has been delivered. */
  const filled = (day: number, share: number): number => 40 - 0.5 * day + 50 * Math.min(1, Math.max(0, share));
  const found: readonly [name: string, readings: Level[]][] = [
    ["read once a minute", every(MINUTE, 24, (day) => filled(day, (day - 20) * 36))],
    ["spread over several readings", every(4 * HOUR, 40, (day) => filled(day, (day - 20) * 1.5))],
    ["spread over two days of readings at 7:00 and 19:30", listedAt([7, 19.5], 40, (day) => filled(day, (day - 20) / 1.2))],
    ["spread over two days of daily readings", listedAt([7], 40, (day) => filled(day, (day - 20.1) / 1.2))],
    [
      "while readings are missing",
      every(4 * HOUR, 40, (day) => (day > 17 && day < 23 ? undefined : filled(day, (day - 20) * 40))),
    ],
    ["of a noisy sensor", every(4 * HOUR, 40, (day) => random.normal(filled(day, (day - 20) * 40), 1.5))],
    ["read once a week", every(7 * DAY, 70, (day) => filled(day, (day - 20) * 40))],
    [
      "of LPG that swings with the temperature",
      every(HOUR, 40, (day) => filled(day, (day - 20) * 40) * (1 + 0.025 * Math.cos(2 * Math.PI * day))),
    ],
    ["in steps of 7 points", every(HOUR, 40, (day) => Math.round(filled(day, (day - 20) * 40) / 7) * 7)],
    [
      "before the newest reading of a new sensor",
      every(4 * HOUR, 22.2, (day) => (day < 19 ? undefined : filled(day, (day - 20) * 40))),
    ],
  ];
  for (const [name, readings] of found) {
    it(`finds a refill ${name}`, () => {
      const [refill, ...others] = refillsIn(readings);
      assert.deepEqual(others, []);
      assert.ok(refill !== undefined && refill.startedAt <= 20.1 * DAY && refill.endedAt >= 20 * DAY, JSON.stringify(refill));
      const rise = refill.to - refill.from;
      assert.ok(rise > 40 && rise < 60, JSON.stringify(refill));
    });
  }

  const notFound: readonly [name: string, readings: Level[]][] = [
    ["LPG that swings by 4 points a day", every(4 * HOUR, 60, (day) => 80 + 2 * Math.cos(2 * Math.PI * day) - 0.1 * day)],
    ["one hot day", every(HOUR, 30, (day) => 80 + (Math.floor(day) === 20 ? 8 * Math.sin(Math.PI * (day % 1)) : 0))],
    [
      "a level that goes back and forth between two steps of 7 points",
      every(HOUR, 60, (day) => (Math.floor(day * 5) % 3 === 0 ? 52 : 45)),
    ],
    ["a sensor that is stuck", every(HOUR, 60, () => 63)],
    ["a rise of less than two days", every(4 * HOUR, 21.5, (day) => (day > 20 ? 80 : 30))],
    ["a broken sensor", every(HOUR, 60, () => random.between(10, 90))],
  ];
  for (const [name, readings] of notFound) {
    it(`finds none in ${name}`, () => assert.deepEqual(refillsIn(readings), []));
  }

  it("finds every refill of a tank that is used up in days", () => {
    const refills = refillsIn(every(DAY, 61, (day) => 85 - (day % 4) * 15));
    assert.deepEqual(
      refills,
      Array.from({ length: 14 }, (_, i) => ({ startedAt: (4 * i + 3) * DAY, endedAt: (4 * i + 4) * DAY, from: 40, to: 85 })),
    );
  });

  it("is certain of a refill like those before it within a day, of others after two", () => {
    const fills = (top: number, days: number) =>
      every(4 * HOUR, days, (day) => (day < 40 ? 90 - 1.5 * day : top - 1.5 * (day - 40)) + (day < 20 || day >= 40 ? 0 : 30));
    assert.equal(refillsIn(fills(90, 40.4)).length, 1);
    assert.equal(refillsIn(fills(91, 40.8)).length, 2);
    assert.equal(refillsIn(fills(99, 41.7)).length, 1);
    assert.equal(refillsIn(fills(99, 42.2)).length, 2);
  });

  it("is certain of a small refill after two days, also if it is like those before it", () => {
    // Filled from 40 to 90 on day 20, and to 90 again when the tank has lost as much as the second refill brings.
    const fills = (rise: number, daysAfter: number) =>
      every(4 * HOUR, 20 + rise + daysAfter, (day) => (day < 20 ? 60 - day : day < 20 + rise ? 110 - day : 110 - day + rise));
    assert.deepEqual(
      [12, 8].map((rise) => refillsIn(fills(rise, 1)).length),
      [2, 1],
    );
    assert.equal(refillsIn(fills(8, 2.2)).length, 2);
  });

  it("finds a rise of 5 points, but none of 3", () => {
    const risen = (rise: number) => refillsIn(every(4 * HOUR, 60, (day) => 60 - 0.2 * day + (day < 40 ? 0 : rise))).length;
    assert.deepEqual([5, 3].map(risen), [1, 0]);
  });

  it("finds a refill although some large rises before it did not hold, but not after many", () => {
    // Each time the level rises by 16 points, and is down again a day later.
    const wrongly = (day: number, times: number): number =>
      day >= 15 && day < 15 * (times + 1) ? Math.max(0, 16 - 14 * (day % 15)) : 0;
    const found = (times: number) =>
      refillsIn(every(4 * HOUR, 240, (day) => 60 - 0.1 * day + (day < 230 ? 0 : 25) + wrongly(day, times))).length;
    assert.deepEqual([12, 14].map(found), [1, 0]);
  });

  it("announces each refill once, with the bounds that it keeps", () => {
    for (const { readings, interval } of simulatedFleet({ seed: "online", tanks: 8, start: 0, days: 150 })) {
      const announced: Refill[] = [];
      for (let count = 1; count <= readings.length; count += Math.ceil(DAY / interval)) {
        const [now, last] = [readings[count - 1]?.at ?? 0, announced.at(-1)?.endedAt ?? Number.NEGATIVE_INFINITY];
        announced.push(...newRefills(refillsIn(readings.slice(0, count)), last, now));
      }
      const certainUntil = (readings.at(-1)?.at ?? 0) - 7 * DAY - 2 * interval;
      const known = refillsIn(readings).filter(
        ({ endedAt }) => endedAt < certainUntil || endedAt <= (announced.at(-1)?.endedAt ?? 0),
      );
      assert.deepEqual(announced, known);
    }
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
