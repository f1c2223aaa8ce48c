import assert from "node:assert/strict";
import test from "node:test";
import fc from "fast-check";
import { formatInstant, formatInstantOrNull, parseInstant } from "../../src/domain/instant.ts";
import { dateTimes, expectedInstant } from "./datetimes.ts";

const FIRST = Date.parse("0000-01-01T00:00:00.000Z");
const LAST = Date.parse("9999-12-31T23:59:59.999Z");
const instants = fc.integer({ min: FIRST, max: LAST });

const at = (text: string) => {
  const parsed = parseInstant(text);
  return parsed === undefined ? undefined : [formatInstant(parsed.instant), parsed.wasRounded];
};

test("an instant is formatted in milliseconds and UTC", () => {
  assert.equal(formatInstant(Date.parse("2026-11-14T09:30:00Z")), "2026-11-14T09:30:00.000Z");
  assert.equal(formatInstant(-1), "1969-12-31T23:59:59.999Z");
  assert.equal(formatInstant(FIRST), "0000-01-01T00:00:00.000Z");
  assert.equal(formatInstant(LAST), "9999-12-31T23:59:59.999Z");
  assert.equal(formatInstantOrNull(null), null);
  assert.equal(formatInstantOrNull(0), "1970-01-01T00:00:00.000Z");
});

test("any instant of the calendar is formatted as Date and Temporal do, and read back", () => {
  fc.assert(
    fc.property(instants, (instant) => {
      const text = formatInstant(instant);
      assert.equal(text, new Date(instant).toISOString());
      assert.equal(Temporal.Instant.from(text).epochMilliseconds, instant);
      assert.deepEqual(parseInstant(text), { instant, wasRounded: false });
    }),
    { numRuns: 3000 },
  );
});

test("more days than are cached are still formatted correctly", () => {
  for (let day = 0; day < 45_000; day++) {
    const instant = FIRST + day * 81 * 86_400_000 + day;
    assert.equal(formatInstant(instant), new Date(instant).toISOString());
  }
});

test("accepted forms", () => {
  const forms: [string, string, boolean][] = [
    ["2026-11-14T09:30:00Z", "2026-11-14T09:30:00.000Z", false],
    ["2026-11-14t09:30:00z", "2026-11-14T09:30:00.000Z", false],
    ["2026-11-14T09:30:00", "2026-11-14T09:30:00.000Z", false],
    ["2026-11-14", "2026-11-14T00:00:00.000Z", false],
    ["2026-11-14T09:30:00.5Z", "2026-11-14T09:30:00.500Z", false],
    ["2026-11-14T09:30:00.123456789Z", "2026-11-14T09:30:00.123Z", true],
    ["2026-11-14T09:30:00.9999", "2026-11-14T09:30:00.999Z", true],
    ["2026-11-14T09:30:00.1230000000Z", "2026-11-14T09:30:00.123Z", false],
    [`2026-11-14T09:30:00.${"0".repeat(400)}1Z`, "2026-11-14T09:30:00.000Z", true],
    ["2026-11-14T09:30:00+02:00", "2026-11-14T07:30:00.000Z", false],
    ["2026-11-14T09:30:00 02:00", "2026-11-14T07:30:00.000Z", false],
    ["2026-11-14T09:30:00-23:59", "2026-11-15T09:29:00.000Z", false],
    ["2026-11-14T09:30:00-00:00", "2026-11-14T09:30:00.000Z", false],
    ["1969-12-31T23:59:59.9999Z", "1969-12-31T23:59:59.999Z", true],
    ["2024-02-29", "2024-02-29T00:00:00.000Z", false],
    ["2000-02-29", "2000-02-29T00:00:00.000Z", false],
    ["0000-02-29", "0000-02-29T00:00:00.000Z", false],
    ["0000-01-01T00:00:00Z", "0000-01-01T00:00:00.000Z", false],
    ["9999-12-31T23:59:59.999999Z", "9999-12-31T23:59:59.999Z", true],
  ];
  for (const [text, instant, wasRounded] of forms) assert.deepEqual(at(text), [instant, wasRounded], text);
});

test("everything else is rejected", () => {
  const others = [
    ...["", " ", "now", "2026", "2026-11", "2026-1-1", "26-11-14", "20261114", "2026-11-14T", "2026-11-14Z"],
    ...["2026-11-14+02:00", "2026-11-14T09", "2026-11-14T09:30", "2026-11-14T09:30Z", "2026-11-14T093000Z"],
    ...["2026-11-14 09:30:00Z", "2026-11-14T09:30:00.Z", "2026-11-14T09:30:00,5Z", "2026-11-14T09:30:00+02"],
    ...["2026-11-14T09:30:00+0200", "2026-11-14T09:30:00+24:00", "2026-11-14T09:30:00+02:60"],
    ...["2026-11-14T09:30:00  02:00", "2026-11-14T09:30:00\u221202:00", "2026-11-14T09:30:00[UTC]"],
    ...["2026-11-14T09:30:00Z[Europe/Berlin]", "2026-11-14T09:30:60Z", "2016-12-31T23:59:60Z"],
    ...["2026-11-14T24:00:00Z", "2026-11-14T09:60:00Z", "2026-00-10", "2026-13-10", "2026-11-00", "2026-11-31"],
    ...["2026-02-29", "1900-02-29", "+002026-11-14", "-0001-01-01", "10000-01-01", "0000-01-01T00:00:00+00:01"],
    ...["9999-12-31T23:59:59-00:01", " 2026-11-14", "2026-11-14 ", "2026-11-14\n", "2026-11-14T09:30:00Z\n"],
    ...["２０２６-11-14", "1763112600", "1763112600000"],
  ];
  for (const text of others) assert.equal(parseInstant(text), undefined, JSON.stringify(text));
});

test("any datetime, with any offset and fraction, is read as Temporal reads it", () => {
  let accepted = 0;
  fc.assert(
    fc.property(dateTimes, (text) => {
      assert.deepEqual(parseInstant(text), expectedInstant(text));
      if (expectedInstant(text) !== undefined) accepted++;
    }),
    { numRuns: 5000 },
  );
  assert.ok(accepted > 1500, `only ${accepted} of the texts were datetimes`);
});

test("so is a text with one character changed, added or lost, and any other text", () => {
  const mutated = fc
    .tuple(dateTimes, fc.nat(), fc.constantFrom("", ..."0123456789-+:.TZtz ,/\n\u0660é"), fc.constantFrom(0, 1))
    .map(([text, position, character, removed]) => {
      const index = position % (text.length + 1);
      return text.slice(0, index) + character + text.slice(index + removed);
    });
  const any = fc.string({ unit: fc.nat({ max: 0xffff }).map((unit) => String.fromCharCode(unit)), maxLength: 200 });
  fc.assert(
    fc.property(fc.oneof({ weight: 9, arbitrary: mutated }, { weight: 1, arbitrary: any }), (text) =>
      assert.deepEqual(parseInstant(text), expectedInstant(text)),
    ),
    { numRuns: 5000 },
  );
});
