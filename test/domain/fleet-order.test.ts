import assert from "node:assert/strict";
import test from "node:test";
import { sortKeyRange, sortKeysOf } from "../../src/domain/fleet-order.ts";
import type { ForecastValues } from "../../src/domain/forecast/stored.ts";
import { DAY } from "../../src/domain/instant.ts";

const NOW = Date.parse("2026-11-17T12:00:00Z");
const THRESHOLD = 20;

/** `low` and `empty`: days until then. */
function forecast(state: ForecastValues["state"], low: number | null = null, empty: number | null = null): ForecastValues {
  const range = (days: number | null) => {
    const instant = days === null ? null : NOW + days * DAY;
    return { p10: instant, p50: instant, p90: instant };
  };
  return { state, runs_low_at: range(low), runs_empty_at: range(empty) } as ForecastValues;
}

const fallen = (percentage: number): ForecastValues => ({
  ...forecast("ok"),
  use_per_day: { percentage, volume: 10 * percentage, unit: "liters" },
  isFallen: true,
});

const urgency = (fill: number | null, known: ForecastValues | null): number =>
  sortKeysOf(THRESHOLD, fill === null ? null : { created_at: NOW, fill_percentage: fill }, known).urgency;

test("low tanks come first, by when they are empty; then those with a stale forecast; then those that run low, by when; then the others", () => {
  const order = {
    "low, silent for long": urgency(2, forecast("stale")),
    "low, not used because it is empty": urgency(3, forecast("no_use")),
    "low, new": urgency(15, null),
    "low, empty in 3 days": urgency(9, forecast("ok", 0, 3)),
    "low, after a sudden fall, empty in 20 days with the usual use": urgency(10, fallen(0.5)),
    "low, after a rise, empty in 25 days without it": urgency(15, { ...forecast("ok", 0, 25), isRisen: true }),
    "low, empty in 30 days": urgency(4, forecast("ok", 0, 30)),
    "low, empty in years": urgency(1, forecast("ok", 0, null)),
    "low, not used": urgency(6, forecast("no_use")),
    "silent for long": urgency(21, forecast("stale")),
    "not low after a sudden fall": urgency(25, fallen(0.5)),
    "silent for long, nearly full then": urgency(99, forecast("stale")),
    "low in 2 days": urgency(60, forecast("ok", 2, 5)),
    "low in a year": urgency(21, forecast("ok", 365, 900)),
    "not used": urgency(21, forecast("no_use")),
    "not low for years": urgency(90, forecast("ok")),
    "not low after a rise": urgency(91, { ...forecast("ok", 0, 25), isRisen: true }),
    "without a reading": urgency(null, null),
  };
  const sorted = Object.entries(order).sort(([, a], [, b]) => a - b);
  assert.deepEqual(
    sorted.map(([name]) => name),
    Object.keys(order),
  );
  const { to: lastLow = 0 } = sortKeyRange("low", "urgency");
  for (const [name, key] of sorted) assert.equal(key <= lastLow, name.startsWith("low,"), name);
});
