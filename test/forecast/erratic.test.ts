// A sensor whose readings contradict each other: neither its forecast nor its refills are known.

import assert from "node:assert/strict";
import { test } from "node:test";
import { thinned } from "../../src/domain/forecast/daily.ts";
import { historyOf } from "../../src/domain/forecast/forecast.ts";
import { computeForecast } from "../../src/forecast/compute.ts";
import { seeded } from "../../src/simulate/random.ts";
import { tank } from "../store/conformance/objects.ts";

const HOUR = 3_600_000;

test("no refill is reported for an erratic sensor; those that are stored stay", () => {
  const now = Date.UTC(2026, 10, 16);
  const computed = (errorShare: number) => {
    const random = seeded("erratic");
    const readings = Array.from({ length: 120 * 24 }, (_, i) => {
      const level = 70 - 1.5 * ((i / 24) % 20);
      return { at: now - (120 * 24 - 1 - i) * HOUR, fill: level + random.normal(0, 0.3) - (random.chance(errorShare) ? 12 : 0) };
    });
    assert.ok(historyOf(thinned(readings)).refills.length >= 3);
    const parts = [
      { instants: Float64Array.from(readings, ({ at }) => at), fills: Float64Array.from(readings, ({ fill }) => fill) },
    ];
    const latestFill = readings.at(-1)?.fill ?? 0;
    return computeForecast({ tank: tank("t", "a"), latestAt: now, latestFill, parts, now });
  };
  const healthy = computed(0);
  assert.equal(healthy.forecast.state, "ok");
  assert.ok((healthy.refills?.length ?? 0) >= 3);
  const erratic = computed(0.35);
  assert.equal(erratic.forecast.state, "insufficient_data");
  assert.equal(erratic.refills, null);
});
