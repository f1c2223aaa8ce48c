// The suggested delivery depends on the latest reading: a tank may have fallen below its threshold within hours, while the level of the
// day, from which the forecast starts, is still above it.

import assert from "node:assert/strict";
import { test } from "node:test";
import { computeForecast } from "../../src/forecast/compute.ts";
import { tank } from "../store/conformance/objects.ts";

const HOUR = 3_600_000;
const DAY = 24 * HOUR;

test("no delivery is suggested where nothing fits", () => {
  const now = 1_700_000 * 1_000_000;
  const readings = Array.from({ length: 30 }, (_, i) => ({ at: now - (29 - i) * DAY, fill: 99 + (29 - i) * 0.03 }));
  const parts = [
    { instants: Float64Array.from(readings, ({ at }) => at), fills: Float64Array.from(readings, ({ fill }) => fill) },
  ];
  const full = tank("t", "a", { min_fill_alert_percentage: 100 });
  const { forecast } = computeForecast({ tank: full, latestAt: now, latestFill: 99, parts, now });
  assert.deepEqual([forecast.state, forecast.suggested_delivery], ["ok", null]);
});

test("after a sudden fall below the threshold a delivery is suggested now, and fills the tank from the latest reading", () => {
  const now = 1_700_000 * 1_000_000;
  const readings = Array.from({ length: 40 * 24 }, (_, i) => ({ at: now - (40 * 24 - 1 - i) * HOUR, fill: 90 - (i / 24) * 0.5 }));
  const forecastOf = (latestFill: number) => {
    const fills = Float64Array.from(readings, ({ fill }, i) => (i === readings.length - 1 ? latestFill : fill));
    const parts = [{ instants: Float64Array.from(readings, ({ at }) => at), fills }];
    const { forecast } = computeForecast({ tank: tank("t", "a", { capacity: 1000 }), latestAt: now, latestFill, parts, now });
    return forecast.suggested_delivery;
  };
  const usual = forecastOf(70);
  assert.ok(usual !== null && usual.by > now + 30 * DAY, JSON.stringify(usual));
  const fallen = forecastOf(5);
  assert.equal(fallen?.by, now);
  assert.ok(Math.abs((fallen?.volume ?? 0) - 900) < 1, JSON.stringify(fallen));
});
