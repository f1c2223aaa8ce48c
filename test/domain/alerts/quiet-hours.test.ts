import assert from "node:assert/strict";
import test from "node:test";
import { quietUntil } from "../../../src/domain/alerts/quiet-hours.ts";

const BERLIN = "Europe/Berlin";
const until = (from: string, to: string, now: string, timezone = BERLIN): string | undefined => {
  const end = quietUntil({ from, to, timezone }, Date.parse(now));
  return end === undefined ? undefined : new Date(end).toISOString();
};

test("quiet hours within a day hold from their first moment until their end", () => {
  assert.equal(until("12:00", "13:30", "2026-07-01T11:59:59+02:00"), undefined);
  assert.equal(until("12:00", "13:30", "2026-07-01T12:00:00+02:00"), "2026-07-01T11:30:00.000Z");
  assert.equal(until("12:00", "13:30", "2026-07-01T13:29:59+02:00"), "2026-07-01T11:30:00.000Z");
  assert.equal(until("12:00", "13:30", "2026-07-01T13:30:00+02:00"), undefined);
});

test("quiet hours across midnight end on the next day, or on the same one after midnight", () => {
  assert.equal(until("21:00", "07:00", "2026-01-31T22:00:00+01:00"), "2026-02-01T06:00:00.000Z");
  assert.equal(until("21:00", "07:00", "2026-02-01T00:30:00+01:00"), "2026-02-01T06:00:00.000Z");
  assert.equal(until("21:00", "07:00", "2026-02-01T12:00:00+01:00"), undefined);
  assert.equal(until("21:00", "00:00", "2026-02-01T22:00:00+01:00"), "2026-02-01T23:00:00.000Z");
});

test("the night of the change to and from daylight saving time ends at the local time", () => {
  assert.equal(until("21:00", "07:00", "2026-03-28T22:00:00+01:00"), "2026-03-29T05:00:00.000Z");
  assert.equal(until("21:00", "07:00", "2026-10-24T22:00:00+02:00"), "2026-10-25T06:00:00.000Z");
});

test("an end that the clocks skip is the moment at which they do; one that comes twice is the next to come", () => {
  assert.equal(until("21:00", "02:30", "2026-03-29T01:00:00+01:00"), "2026-03-29T01:00:00.000Z");
  assert.equal(until("21:00", "02:30", "2026-10-25T02:15:00+02:00"), "2026-10-25T00:30:00.000Z");
  assert.equal(until("21:00", "02:30", "2026-10-25T02:15:00+01:00"), "2026-10-25T01:30:00.000Z");
});

test("hours in another time zone are those of that zone; equal times hold nothing", () => {
  assert.equal(until("21:00", "07:00", "2026-06-01T02:00:00Z", "America/New_York"), "2026-06-01T11:00:00.000Z");
  assert.equal(until("08:00", "08:00", "2026-06-01T06:00:00Z"), undefined);
});
