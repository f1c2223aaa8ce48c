import assert from "node:assert/strict";
import test from "node:test";
import { daysText, remainingText, roomText } from "../../src/cli/fleet.ts";

const [HOUR, DAY] = [3_600_000, 86_400_000];
const soon = (ms: number): string => new Date(Date.now() + ms + 30_000).toISOString();
const entry = (state: string, p50: string | null, fill_percentage = 12) => ({
  state,
  days_left: state === "low" ? { p10: 0, p50: 0, p90: 0 } : { p10: 3.4, p50: 5, p90: 8.2 },
  latest: { fill_percentage },
  forecast: { state: "ok", runs_empty_at: { p10: null, p50, p90: null } },
});

test("a low tank shows when it is empty, as the dashboard does", () => {
  for (const [left, text] of [
    [30 * DAY, "empty in 30 d"],
    [3.6 * DAY, "empty in 4 d"],
    [47 * HOUR, "empty in 47 h"],
    [HOUR / 2, "empty in 30 min"],
    [-DAY, "empty"],
  ] as const) {
    assert.equal(daysText(entry("low", soon(left))), text);
  }
  assert.equal(daysText(entry("low", soon(DAY), 0)), "empty");
});

test("a low tank without a known empty date, and one that is not low, show the days until the threshold", () => {
  assert.equal(daysText(entry("low", null)), "0 d");
  assert.equal(daysText(entry("ok", soon(9 * DAY))), "3–9 d");
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
