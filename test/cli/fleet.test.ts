import assert from "node:assert/strict";
import test from "node:test";
import { csvRow, daysText, remainingText, roomText } from "../../src/cli/fleet.ts";

const [HOUR, DAY] = [3_600_000, 86_400_000];
const soon = (ms: number): string => new Date(Date.now() + ms + 30_000).toISOString();
type EmptyAt = { readonly p10: string | null; readonly p50: string | null; readonly p90: string | null };
const entry = (state: string, runs_empty_at: EmptyAt, fill_percentage = 12) => ({
  state,
  days_left: state === "low" ? { p10: 0, p50: 0, p90: 0 } : { p10: 3.4, p50: 5, p90: 8.2 },
  latest: { fill_percentage },
  forecast: { state: "ok", runs_empty_at },
});
const between = (from: number, left: number, to: number): EmptyAt => ({ p10: soon(from), p50: soon(left), p90: soon(to) });

test("a low tank shows between which times it is empty", () => {
  for (const [from, left, to, text] of [
    [24 * DAY, 30 * DAY, 41 * DAY, "empty in 24–41 d"],
    [2.7 * DAY, 3.6 * DAY, 4.2 * DAY, "empty in 3–4 d"],
    [30 * HOUR, 47 * HOUR, 60 * HOUR, "empty in 30–60 h"],
    [HOUR / 2, HOUR / 2, HOUR / 2, "empty in 30 min"],
    [0, HOUR / 3, 3 * HOUR, "empty in 0–180 min"],
    [-DAY, -DAY, -DAY, "empty"],
  ] as const) {
    assert.equal(daysText(entry("low", between(from, left, to))), text);
  }
  assert.equal(daysText(entry("low", between(DAY, DAY, DAY), 0)), "empty");
  assert.equal(daysText(entry("low", { ...between(3 * DAY, 9 * DAY, 0), p90: null })), "empty in > 3 d");
});

test("a low tank without a known empty date is low now, as in the dashboard", () => {
  assert.equal(daysText(entry("low", { p10: null, p50: null, p90: null })), "low now");
});

test("a tank that is not low shows the days until the threshold, rounded as in the dashboard", () => {
  const daysLeft = (p10: number | null, p90: number | null) =>
    daysText({ ...entry("ok", between(8 * DAY, 9 * DAY, 12 * DAY)), days_left: { p10, p50: p10, p90 } });
  assert.equal(daysLeft(3.4, 8.2), "3–8 d");
  assert.equal(daysLeft(3.5, 4.4), "4 d");
  assert.equal(daysLeft(0, 1.2), "0–1 d");
  assert.equal(daysLeft(0, 0.4), "< 1 d");
  assert.equal(daysLeft(3.6, null), "> 4 d");
  assert.equal(daysLeft(null, null), "> 3 years");
});

test("CSV for a route planner has no dates and no delivery from before a refill that is not certain yet", () => {
  const dates = between(DAY, 2 * DAY, 3 * DAY);
  const forecast = {
    state: "ok" as const,
    runs_low_at: dates,
    runs_empty_at: dates,
    suggested_delivery: { by: soon(DAY), volume: 100 },
  };
  const planned = (fields: object) => {
    const { runs_low_at_p50, runs_empty_at_p90, delivery_by, delivery_volume } = csvRow({ forecast, ...fields });
    return [runs_low_at_p50, runs_empty_at_p90, delivery_by, delivery_volume].map((cell) => (cell ?? null) !== null);
  };
  assert.deepEqual(planned({ days_left: { p50: 1 } }), [true, true, true, true]);
  assert.deepEqual(planned({ days_left: null }), [false, false, false, false]);
});

test("CSV from a service of an earlier version, which sends fewer fields, has empty cells", () => {
  const cells = csvRow({ tank: { id: "t1" } });
  assert.deepEqual(
    Object.values(cells).filter((cell) => (cell ?? null) !== null),
    ["t1"],
  );
});

test("remaining and free volume add up to the capacity", () => {
  const volume = (of: number) => ({ volume: of, unit: "liters" });
  for (const [remaining, room, shown] of [
    [426.6, 2273.4, ["427 liters", "2273 liters"]],
    [0, 2700, ["0 liters", "2700 liters"]],
    [2700, 0, ["2700 liters", "0 liters"]],
    [0.1 + 0.2, 999.7, ["1 liters", "999 liters"]],
    [810.81, 1889.19, ["811 liters", "1889 liters"]],
    [20.2, 80.5, ["20 liters", "80 liters"]],
  ] as const) {
    const entry = { remaining: volume(remaining), room: volume(room) };
    assert.deepEqual([remainingText(entry), roomText(entry)], shown);
  }
  assert.deepEqual([remainingText({ remaining: null, room: null }), roomText({ room: null })], [null, null]);
});
