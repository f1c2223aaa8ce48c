// The forecast of a tank with more readings than are read for one: whoever sends them must not use up the memory of the service.

import assert from "node:assert/strict";
import { test } from "node:test";
import { computeForecast } from "../../src/forecast/compute.ts";
import { computeDueForecasts } from "../../src/forecast/due-forecasts.ts";
import { putFleet } from "../store/alert-support.ts";
import { postgresEngine, sqliteEngine } from "../store/engines.ts";
import { putReadings } from "../support/records.ts";

const NOW = Date.parse("2026-11-16T12:00:00Z");
const MINUTE = 60_000;
const SENT = 30_000;

/** By tank: how many readings may be read for its forecast. */
const LIMITS = { all: SENT, tooMany: SENT - 1, farTooMany: 10_000 };

for (const engine of [sqliteEngine, postgresEngine]) {
  test(`${engine.name}: a forecast is computed from the newest readings, up to a limit`, async (t) => {
    const { store } = await engine.open(t);
    await putFleet(store, { a: Object.keys(LIMITS), b: [] });
    const readings = Array.from({ length: SENT }, (_, i) => [NOW - (SENT - 1 - i) * MINUTE, 40 + (i % 3)] as const);
    for (const [id, maxReadings] of Object.entries(LIMITS)) {
      await putReadings(store, id, readings);
      await store.updateSortKeys([id], NOW);
      let instants: number[] = [];
      await computeDueForecasts({
        store,
        clock: () => NOW,
        observe: (event) => assert.fail(JSON.stringify(event)),
        compute(task) {
          instants = task.parts.flatMap((part) => [...part.instants]);
          return computeForecast(task);
        },
        everyMs: 0,
        isStopping: () => false,
        maxReadings,
      });
      assert.equal(instants.at(-1), NOW, id);
      assert.equal(instants[0], NOW - (instants.length - 1) * MINUTE, id);
      assert.ok(instants.length <= maxReadings && instants.length > maxReadings / 2, `${id}: ${instants.length}`);
    }
  });
}
