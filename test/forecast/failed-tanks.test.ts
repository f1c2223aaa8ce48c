// Tanks that cannot be written, on both engines.

import assert from "node:assert/strict";
import { suite, test } from "node:test";
import { storeUnavailable } from "../../src/domain/errors.ts";
import { UNRESTRICTED } from "../../src/domain/key.ts";
import type { LogEvent } from "../../src/domain/log-events.ts";
import type { Store } from "../../src/domain/store.ts";
import { computeForecast } from "../../src/forecast/compute.ts";
import { computeDueForecasts } from "../../src/forecast/due-forecasts.ts";
import { FailedTanks } from "../../src/forecast/failed-tanks.ts";
import { updateFleetOrder } from "../../src/forecast/fleet-order.ts";
import { ForecastJob } from "../../src/forecast/job.ts";
import { putFleet } from "../store/alert-support.ts";
import { type Engine, postgresEngine, sqliteEngine } from "../store/engines.ts";
import { ingest } from "../support/readings.ts";
import { until } from "../support/until.ts";

const HOUR = 3_600_000;
const NOW = Date.parse("2026-11-16T12:00:00Z");

function failedTanks(engine: Engine): void {
  test("a tank that cannot be written is reported once and left out for an hour, and stops no other", async (t) => {
    const { store } = await engine.open(t);
    const others = Array.from({ length: 25 }, (_, i) => `t${i}`);
    await putFleet(store, { a: ["broken", ...others], b: [] });
    await ingest(store, ...["broken", ...others].map((id) => ({ tank: id, at: NOW, fill: 50 })));
    const [events, error]: [LogEvent[], Error] = [[], new Error("never seen before")];
    let isBroken = false;
    const failing: Store = {
      ...store,
      async storeForecasts(computed, now) {
        if (isBroken && computed.some(({ tankId }) => tankId === "broken")) throw error;
        await store.storeForecasts(computed, now);
      },
      async updateSortKeys(tankIds, now) {
        if (isBroken && tankIds.includes("broken")) throw error;
        await store.updateSortKeys(tankIds, now);
      },
    };
    const failed = new FailedTanks((event) => events.push(event));
    const outdated = async () => (await store.dueForecasts(NOW + 2 * HOUR, 100)).map((one) => one.tank.id);
    const compute = (now: number) =>
      computeDueForecasts({
        ...{
          store: failing,
          clock: () => now,
          observe: (event) => assert.fail(JSON.stringify(event)),
          everyMs: 0,
          isStopping: () => false,
        },
        ...{ compute: computeForecast, failed },
      });
    await store.updateSortKeys(["broken"], NOW - 1);
    await store.updateSortKeys(others, NOW);
    isBroken = true;
    for (const now of [NOW, NOW + HOUR - 1]) {
      await compute(now);
      assert.deepEqual(await outdated(), ["broken"]);
      await ingest(store, ...["broken", ...others].map((id) => ({ tank: id, at: now + 1, fill: 10 })));
      await updateFleetOrder(failing, now, { failed });
      assert.equal((await outdated()).length, 26);
      assert.deepEqual(events, [{ kind: "forecast_failed", tankId: "broken", error }]);
    }
    isBroken = false;
    await updateFleetOrder(failing, NOW + HOUR, { failed });
    await compute(NOW + 2 * HOUR);
    assert.deepEqual(await outdated(), []);
  });

  test("the fleet order goes on after a tank that cannot be written", async (t) => {
    const { store } = await engine.open(t);
    await putFleet(store, { a: ["one", "two", "three"], b: [] });
    await ingest(store, ...["one", "two", "three"].map((id) => ({ tank: id, at: NOW, fill: 50 })));
    const [events, error]: [LogEvent[], Error] = [[], new Error("never seen before")];
    const updateSortKeys: Store["updateSortKeys"] = async (tankIds, now) => {
      if (tankIds.includes("two")) throw error;
      await store.updateSortKeys(tankIds, now);
    };
    const failed = new FailedTanks((event) => events.push(event));
    for (const outdated of [3, 0]) {
      const update = await updateFleetOrder({ ...store, updateSortKeys }, NOW, { failed });
      assert.deepEqual(update, { isComplete: true, scanned: 3, outdated });
    }
    assert.deepEqual(events, [{ kind: "forecast_failed", tankId: "two", error }]);
    assert.deepEqual((await store.dueForecasts(NOW, 10)).map((one) => one.tank.id).sort(), ["one", "three"]);
    const unavailable = { ...store, updateSortKeys: () => Promise.reject(storeUnavailable("gone")) };
    await assert.rejects(updateFleetOrder(unavailable, NOW + HOUR, { failed }), { code: "store_unavailable" });
    assert.equal(events.length, 1);
  });

  test("the job goes on with the others", async (t) => {
    const { store } = await engine.open(t);
    await putFleet(store, { a: ["broken", "fine"], b: [] });
    await ingest(store, ...["broken", "fine"].map((id) => ({ tank: id, at: NOW, fill: 50 })));
    const [events, error]: [LogEvent[], Error] = [[], new Error("never seen before")];
    const updateSortKeys: Store["updateSortKeys"] = async (tankIds, now) => {
      if (tankIds.includes("broken")) throw error;
      await store.updateSortKeys(tankIds, now);
    };
    const options = { clock: () => NOW, observe: (event: LogEvent) => events.push(event) };
    const job = new ForecastJob({ ...options, store: { ...store, updateSortKeys } });
    try {
      await until("one is computed", async () => (await store.tankForecast("fine", UNRESTRICTED)) !== null, 30_000);
    } finally {
      await job.stop();
    }
    assert.deepEqual(events, [{ kind: "forecast_failed", tankId: "broken", error }]);
  });
}

for (const engine of [sqliteEngine, postgresEngine]) suite(`failed tanks on ${engine.name}`, () => failedTanks(engine));
