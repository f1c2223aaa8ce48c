// A tank may fall within hours. Until the fall is certain, the forecast starts from the level before it.

import assert from "node:assert/strict";
import { suite, test } from "node:test";
import { daysLeft } from "../../src/domain/fleet.ts";
import { UNRESTRICTED } from "../../src/domain/key.ts";
import type { Store } from "../../src/domain/store.ts";
import { computeForecast } from "../../src/forecast/compute.ts";
import { putFleet } from "../store/alert-support.ts";
import { checked, tank } from "../store/conformance/objects.ts";
import { postgresEngine, sqliteEngine } from "../store/engines.ts";
import { updateWholeOrder } from "../support/fleet-order.ts";
import { ingest } from "../support/readings.ts";
import { computeAll, DAY, falling, forecastOf, NOW, orderOf } from "./support.ts";

const HOUR = 3_600_000;

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

for (const engine of [sqliteEngine, postgresEngine]) {
  suite(`${engine.name}: a sudden fall`, () => {
    /** Three tanks whose levels fall slowly; the latest reading of one is `latest`. */
    async function openAfterFall(t: Parameters<typeof engine.open>[0], latest: number): Promise<Store> {
      const { store } = await engine.open(t);
      await putFleet(store, { a: ["low", "soon", "fallen"], b: [] });
      await ingest(store, ...falling("low", 17, 0.4, 90), ...falling("soon", 21, 0.4, 90));
      await ingest(store, ...falling("fallen", 59, 0.4, 90).slice(0, -1), { tank: "fallen", at: NOW, fill: latest });
      await compute(store, NOW);
      return store;
    }

    async function compute(store: Store, now: number): Promise<void> {
      await updateWholeOrder(store, now);
      await computeAll(store, { clock: () => now });
    }

    async function observed(store: Store, now: number) {
      const entry = await store.fleetEntry("fallen", UNRESTRICTED);
      assert.ok(typeof entry === "object");
      const { runs_low_at, runs_empty_at, suggested_delivery } = await forecastOf(store, "fallen");
      const dates = [runs_low_at, runs_empty_at].map(({ p50 }) => p50 && Math.round((p50 - now) / DAY));
      return { dates, left: daysLeft(entry, now)?.p50, delivery: suggested_delivery };
    }

    for (const latest of [10, 2]) {
      test(`to ${latest} %: the tank is the first of the low ones, has no dates from before the fall, and is to be filled now`, async (t) => {
        const store = await openAfterFall(t, latest);
        assert.deepEqual(await orderOf(store), ["fallen", "low", "soon"]);
        const { dates, left, delivery } = await observed(store, NOW);
        assert.deepEqual([dates, left, delivery?.by], [[null, null], 0, NOW]);
        assert.deepEqual((await checked(store)).findings, []);
      });
    }

    test("to a level above the threshold: the tank comes directly after the low ones, without dates and suggested delivery", async (t) => {
      const store = await openAfterFall(t, 25);
      assert.deepEqual(await orderOf(store), ["low", "fallen", "soon"]);
      assert.deepEqual(await observed(store, NOW), { dates: [null, null], left: undefined, delivery: null });
    });

    test("a single false reading hides the dates until the next reading, which brings back the same ones at once", async (t) => {
      const store = await openAfterFall(t, 10);
      const next = NOW + 10_000;
      await ingest(store, { tank: "fallen", at: next, fill: 58.9 });
      await compute(store, next);
      assert.deepEqual(await orderOf(store), ["low", "soon", "fallen"]);
      const { dates, left = 0 } = await observed(store, next);
      const [low = 0, empty = 0] = dates.map(Number);
      assert.ok(Math.abs(low - 97) < 5 && Math.abs(empty - 147) < 8 && Math.abs((left ?? 0) - low) < 1, `${dates}, ${left}`);
    });

    test("once it is certain, the dates are those from the new level", async (t) => {
      const store = await openAfterFall(t, 10);
      const later = NOW + 24 * HOUR;
      await ingest(store, ...[6, 12, 18, 24].map((hours) => ({ tank: "fallen", at: NOW + hours * HOUR, fill: 10 - hours / 60 })));
      await compute(store, later);
      const { dates } = await observed(store, later);
      assert.ok(dates[0] === 0 && Math.abs(Number(dates[1]) - 24) < 6, `${dates}`);
      assert.deepEqual(await orderOf(store), ["fallen", "low", "soon"]);
    });
  });
}
