import assert from "node:assert/strict";
import test from "node:test";
import { NEVER } from "../../../src/domain/forecast/forecast.ts";
import { forecastObject } from "../../../src/domain/forecast/objects.ts";
import type { StoredForecast } from "../../../src/domain/forecast/stored.ts";

test("volumes have no noise of floating-point arithmetic", () => {
  const forecast: StoredForecast = {
    state: "ok",
    use_per_day: { percentage: 0.7, volume: 18.900000000000002, unit: "liters" },
    runs_low_at: NEVER,
    runs_empty_at: NEVER,
    suggested_delivery: { by: 0, volume: 9146.399999999963, unit: "liters" },
    computed_at: 0,
    based_on_until: 0,
    level: 50,
    leak: "none",
  };
  const { use_per_day, suggested_delivery } = forecastObject("t", forecast, 0);
  assert.deepEqual([use_per_day?.volume, suggested_delivery?.volume], [18.9, 9146.4]);
});
