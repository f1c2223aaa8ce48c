// Buckets of readings: local days, weeks and months across changes of the clock, beside a naive version on Temporal.

import assert from "node:assert/strict";
import { describe, it } from "node:test";
import fc from "fast-check";
import {
  type Bucket,
  BucketCollector,
  boundsFor,
  maxBuckets,
  Periods,
  STEPS,
  type Step,
  shortestStep,
} from "../../src/domain/buckets.ts";
import { EARLIEST, FIRST_INSTANT, formatInstant, LAST_INSTANT } from "../../src/domain/instant.ts";
import { type TimeZone, timeZone } from "../../src/domain/timezone.ts";

const HOUR = 3_600_000;
const DAY = 24 * HOUR;
const at = (text: string): number => Date.parse(text);

function zoneOf(name: string): TimeZone {
  const zone = timeZone(name);
  assert.ok(zone !== undefined, name);
  return zone;
}

/** The bounds of the bucket that contains the instant. */
function bounds(step: Step, zone: string, instant: string): string {
  const { start, end } = boundsFor(step, zoneOf(zone))(at(instant));
  return [start, end].map((one) => formatInstant(one).replace(":00.000Z", "")).join(" ");
}

type Reading = readonly [instant: number, fill: number];

function collected(step: Step, zone: string, readings: readonly Reading[]): readonly Bucket[] {
  return collectedIn(new Periods(step, zoneOf(zone)), readings);
}

function collectedIn(periods: Periods, readings: readonly Reading[], parts = 1): readonly Bucket[] {
  const collector = new BucketCollector(periods);
  const size = Math.ceil(readings.length / parts) || 1;
  for (let i = 0; i < readings.length; i += size) {
    const part = readings.slice(i, i + size);
    collector.add({ instants: Float64Array.from(part, ([one]) => one), fills: Float64Array.from(part, ([, fill]) => fill) });
  }
  return collector.buckets();
}

describe("bounds of a bucket", () => {
  for (const [title, step, zone, instant, expected] of [
    ["a day of 24 hours", "1d", "Europe/Berlin", "2026-06-10T12:00:00Z", "2026-06-09T22:00 2026-06-10T22:00"],
    ["the day on which clocks go forward", "1d", "Europe/Berlin", "2026-03-29T12:00:00Z", "2026-03-28T23:00 2026-03-29T22:00"],
    ["the day before it", "1d", "Europe/Berlin", "2026-03-28T22:59:59.999Z", "2026-03-27T23:00 2026-03-28T23:00"],
    ["the day on which clocks go back", "1d", "Europe/Berlin", "2026-10-25T12:00:00Z", "2026-10-24T22:00 2026-10-25T23:00"],
    ["the first instant of a day", "1d", "America/New_York", "2026-11-01T04:00:00Z", "2026-11-01T04:00 2026-11-02T05:00"],
    [
      "a day with a change of half an hour",
      "1d",
      "Australia/Lord_Howe",
      "2026-04-05T00:00:00Z",
      "2026-04-04T13:00 2026-04-05T13:30",
    ],
    ["a day at UTC+05:45", "1d", "Asia/Kathmandu", "2026-06-10T12:00:00Z", "2026-06-09T18:15 2026-06-10T18:15"],
    ["the day before one that was skipped", "1d", "Pacific/Apia", "2011-12-30T09:59:00Z", "2011-12-29T10:00 2011-12-30T10:00"],
    ["the day after one that was skipped", "1d", "Pacific/Apia", "2011-12-30T10:00:00Z", "2011-12-30T10:00 2011-12-31T10:00"],
    ["a week without one of its days", "1w", "Pacific/Apia", "2011-12-31T00:00:00Z", "2011-12-26T10:00 2012-01-01T10:00"],
    ["a day without midnight", "1d", "America/Sao_Paulo", "2018-11-04T12:00:00Z", "2018-11-04T03:00 2018-11-05T02:00"],
    ["a week from Monday", "1w", "UTC", "2026-11-15T23:59:00Z", "2026-11-09T00:00 2026-11-16T00:00"],
    ["a week with a change", "1w", "Europe/Berlin", "2026-10-25T12:00:00Z", "2026-10-18T22:00 2026-10-25T23:00"],
    ["February of a leap year", "1M", "UTC", "2028-02-10T00:00:00Z", "2028-02-01T00:00 2028-03-01T00:00"],
    ["a month with a change", "1M", "Europe/Berlin", "2026-03-10T00:00:00Z", "2026-02-28T23:00 2026-03-31T22:00"],
    ["December", "1M", "America/New_York", "2026-12-31T23:00:00Z", "2026-12-01T05:00 2027-01-01T05:00"],
    ["the first month", "1M", "UTC", "0000-01-31T00:00:00Z", "0000-01-01T00:00 0000-02-01T00:00"],
    ["six hours", "6h", "Europe/Berlin", "2026-06-10T05:00:00Z", "2026-06-10T04:00 2026-06-10T10:00"],
    ["six hours of which one is skipped", "6h", "Europe/Berlin", "2026-03-29T00:30:00Z", "2026-03-28T23:00 2026-03-29T04:00"],
    ["six hours of which one comes twice", "6h", "Europe/Berlin", "2026-10-25T00:30:00Z", "2026-10-24T22:00 2026-10-25T05:00"],
    ["an hour that comes twice, first", "1h", "Europe/Berlin", "2026-10-25T00:30:00Z", "2026-10-25T00:00 2026-10-25T01:00"],
    ["an hour that comes twice, again", "1h", "Europe/Berlin", "2026-10-25T01:30:00Z", "2026-10-25T01:00 2026-10-25T02:00"],
    ["an hour that ends early", "1h", "Australia/Lord_Howe", "2026-10-03T15:20:00Z", "2026-10-03T14:30 2026-10-03T15:30"],
    ["half an hour, after the change", "1h", "Australia/Lord_Howe", "2026-10-03T15:40:00Z", "2026-10-03T15:30 2026-10-03T16:00"],
    ["an hour at UTC+05:45", "1h", "Asia/Kathmandu", "2026-06-10T12:00:00Z", "2026-06-10T11:15 2026-06-10T12:15"],
    ["a quarter of an hour", "15m", "Asia/Kathmandu", "2026-06-10T12:14:59.999Z", "2026-06-10T12:00 2026-06-10T12:15"],
    // Clocks went back at 00:01, to 23:01 of the day before.
    [
      "the day before one that began twice",
      "1d",
      "America/St_Johns",
      "2010-11-07T02:00:00Z",
      "2010-11-06T02:30 2010-11-07T02:30",
    ],
    ["a day that began twice", "1d", "America/St_Johns", "2010-11-07T03:00:00Z", "2010-11-07T02:30 2010-11-08T03:30"],
  ] as const) {
    it(`${title}: ${step} in ${zone}`, () => assert.equal(bounds(step, zone, instant), expected));
  }

  it("do not overlap, leave nothing out, and do not depend on the instant", () => {
    const zones = ["Europe/Berlin", "Australia/Lord_Howe", "Pacific/Apia", "America/St_Johns", "Africa/Casablanca", "+13:45"];
    const instants = fc.integer({ min: at("1880-01-01T00:00:00Z"), max: at("2040-01-01T00:00:00Z") });
    fc.assert(
      fc.property(
        fc.constantFrom(...STEPS),
        fc.constantFrom(...zones),
        instants,
        fc.double({ min: 0, max: 1, noNaN: true }),
        (step, name, one, share) => {
          const boundsAt = boundsFor(step, zoneOf(name));
          const { start, end } = boundsAt(one);
          assert.ok(start <= one && one < end);
          assert.deepEqual(boundsAt(Math.floor(start + (end - start - 1) * share)), { start, end });
          assert.equal(boundsAt(end).start, end);
          assert.equal(boundsAt(start - 1).end, start);
        },
      ),
      { numRuns: 2000 },
    );
  });
});

/** Where the bucket begins, by what Temporal says about the one instant. */
function naiveStart(step: Step, zone: string, instant: number): number {
  const local = Temporal.Instant.fromEpochMilliseconds(instant).toZonedDateTimeISO(zone);
  const date = local.toPlainDate();
  const midnight = (day: Temporal.PlainDate): number => day.toZonedDateTime(zone).epochMilliseconds;
  switch (step) {
    case "1d":
      return midnight(date);
    case "1w":
      return midnight(date.subtract({ days: date.dayOfWeek - 1 }));
    case "1M":
      return midnight(date.with({ day: 1 }));
    case "6h": {
      const hour = Math.floor(local.hour / 6) * 6;
      return hour === 0 ? midnight(date) : date.toPlainDateTime({ hour }).toZonedDateTime(zone).epochMilliseconds;
    }
    default: {
      const minutes = step === "1h" ? 60 : 15;
      const { minute, second, millisecond } = local;
      const start = instant - ((minute % minutes) * 60_000 + second * 1000 + millisecond);
      const change = local.add({ milliseconds: 1 }).getTimeZoneTransition("previous")?.epochMilliseconds ?? EARLIEST;
      return Math.max(start, change);
    }
  }
}

function naiveBuckets(step: Step, zone: string, readings: readonly Reading[]): Bucket[] {
  return [...Map.groupBy(readings, ([instant]) => naiveStart(step, zone, instant))].map(([start, own]) => {
    const fills = own.map(([, fill]) => fill);
    const mean = Number((fills.reduce((sum, fill) => sum + fill, 0) / fills.length).toFixed(6));
    return {
      start: formatInstant(start),
      min: Math.min(...fills),
      max: Math.max(...fills),
      mean,
      last: fills.at(-1) as number,
      count: fills.length,
    };
  });
}

describe("buckets of readings", () => {
  it("are those of a naive version", () => {
    const zones = [
      "Europe/Berlin",
      "America/New_York",
      "Australia/Lord_Howe",
      "Asia/Kathmandu",
      "Pacific/Apia",
      "America/Sao_Paulo",
      "UTC",
    ];
    const series = fc.record({
      first: fc.integer({ min: at("2005-01-01T00:00:00Z"), max: at("2030-01-01T00:00:00Z") }),
      // From a minute to a month apart.
      gaps: fc.array(
        fc.tuple(fc.constantFrom(60_000, HOUR, 4 * HOUR, DAY, 31 * DAY), fc.double({ min: 0.1, max: 1, noNaN: true })),
      ),
      fills: fc.infiniteStream(fc.integer({ min: 0, max: 10_000 }).map((hundredths) => hundredths / 100)),
    });
    const around = fc.constantFrom(
      ...["2011-12-29T10:00:00Z", "2026-03-28T20:00:00Z", "2026-10-24T20:00:00Z", "2026-10-03T10:00:00Z"].map(at),
    );
    fc.assert(
      fc.property(
        fc.constantFrom(...STEPS),
        fc.constantFrom(...zones),
        // Several in the same periods: around one change, or anywhere.
        fc.array(series, { minLength: 1, maxLength: 3 }),
        fc.option(around, { nil: undefined }),
        fc.integer({ min: 1, max: 4 }),
        (step, zone, several, change, parts) => {
          const periods = new Periods(step, zoneOf(zone));
          for (const { first, gaps, fills } of several) {
            let instant = change ?? first;
            const readings = gaps.map(([longest, share]): Reading => {
              instant += Math.ceil(longest * share);
              return [instant, fills.next().value];
            });
            const rounded = collectedIn(periods, readings, parts).map((one) => ({ ...one, mean: Number(one.mean.toFixed(6)) }));
            assert.deepEqual(rounded, naiveBuckets(step, zone, readings));
          }
        },
      ),
      { numRuns: 750 },
    );
  });

  it("have a mean without noise, between minimum and maximum", () => {
    const mean = (...fills: number[]) =>
      collected(
        "1d",
        "UTC",
        fills.map((fill, i) => [i, fill]),
      )[0]?.mean;
    assert.equal(mean(0.1, 0.2), 0.15);
    assert.equal(mean(...Array.from({ length: 1000 }, () => 63.4)), 63.4);
    assert.equal(mean(10, 20, 30.5), 20.166666667);
    for (const fill of [100 / 3, 5e-324, 100, 99.99999999999999, 1e-12]) assert.equal(mean(fill, fill, fill), fill);
  });

  it("are none without readings; the earliest begins with the year 0", () => {
    assert.deepEqual(collected("1h", "UTC", []), []);
    const [first] = collected("1w", "Europe/Berlin", [[FIRST_INSTANT, 1]]);
    assert.equal(first?.start, formatInstant(FIRST_INSTANT));
    assert.equal(collected("1M", "Asia/Tokyo", [[LAST_INSTANT, 1]]).length, 1);
  });
});

describe("the number of buckets of a range", () => {
  it("is exact within one offset, aligned or not", () => {
    const [from, to] = [at("2026-11-01T00:00:00Z"), at("2026-11-05T04:00:00Z")];
    for (const name of ["UTC", "Asia/Kathmandu"]) {
      assert.equal(maxBuckets("15m", from, to, zoneOf(name)), 400);
      assert.equal(maxBuckets("15m", from + 1, to + 1, zoneOf(name)), 401);
      assert.equal(shortestStep(from, to, zoneOf(name), 400), "15m");
    }
  });

  it("is at most what is announced", () => {
    const zones = ["Europe/Berlin", "Australia/Lord_Howe", "Pacific/Apia", "UTC"];
    const range = fc.tuple(
      fc.integer({ min: at("2011-09-01T00:00:00Z"), max: at("2012-06-01T00:00:00Z") }),
      fc.integer({ min: 1, max: 60 * DAY }),
    );
    fc.assert(
      fc.property(fc.constantFrom(...STEPS), fc.constantFrom(...zones), range, (step, name, [from, length]) => {
        const [zone, to] = [zoneOf(name), from + length];
        const boundsAt = boundsFor(step, zone);
        let count = 0;
        for (let start = from; start < to; start = boundsAt(start).end) count++;
        const announced = maxBuckets(step, from, to, zone);
        assert.ok(count <= announced && announced <= count + 4, `${count} ${announced}`);
      }),
    );
  });

  it("decides the shortest step", () => {
    const from = at("2026-01-01T00:00:00Z");
    for (const [days, step] of [
      [1, "15m"],
      [4, "15m"],
      [5, "1h"],
      [16, "1h"],
      [30, "6h"],
      [99, "6h"],
      [365, "1d"],
      [399, "1d"],
      [400, "1w"],
      [7 * 398, "1w"],
      [12_000, "1M"],
      [12_200, undefined],
    ] as const) {
      assert.equal(shortestStep(from, from + days * DAY, zoneOf("Europe/Berlin"), 400), step, `${days} days`);
    }
  });
});

describe("a time zone", () => {
  it("is found by its name in any case, and by an offset", () => {
    assert.equal(timeZone("europe/BERLIN"), timeZone("Europe/Berlin"));
    assert.equal(timeZone("europe/BERLIN")?.id, "Europe/Berlin");
    assert.equal(timeZone("+05:45")?.periodAt(0).offset, 5.75 * HOUR);
    for (const name of ["", "Europe/Bonn", "2026-01-01T00:00[Europe/Berlin]", "__proto__", "\0", "x".repeat(10_000)]) {
      assert.equal(timeZone(name), undefined, name);
    }
  });

  it("has periods without gaps, in whatever order they are looked up", () => {
    const instants = fc.array(fc.integer({ min: at("1880-01-01T00:00:00Z"), max: at("2060-01-01T00:00:00Z") }), { minLength: 1 });
    fc.assert(
      fc.property(fc.constantFrom("Europe/Berlin", "America/New_York", "Africa/Casablanca"), instants, (name, all) => {
        for (const instant of all) {
          const { from, until, offset } = zoneOf(name).periodAt(instant);
          assert.ok(from <= instant && instant < until);
          const local = Temporal.Instant.fromEpochMilliseconds(instant).toZonedDateTimeISO(name);
          assert.equal(offset, local.offsetNanoseconds / 1e6);
          if (Number.isFinite(until)) assert.notEqual(zoneOf(name).periodAt(until).offset, offset);
        }
      }),
      { numRuns: 300 },
    );
  });
});
