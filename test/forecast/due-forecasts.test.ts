// When forecasts are computed, and which, on both engines.

import assert from "node:assert/strict";
import { suite, test } from "node:test";
import { UNRESTRICTED } from "../../src/domain/key.ts";
import type { LogEvent } from "../../src/domain/log-events.ts";
import { computeForecast } from "../../src/forecast/compute.ts";
import { FailedTanks } from "../../src/forecast/failed-tanks.ts";
import { updateFleetOrder } from "../../src/forecast/fleet-order.ts";
import { forecastMetrics } from "../../src/observe/fleet-metrics.ts";
import { putFleet, putForecast } from "../store/alert-support.ts";
import { customer, putCustomers, putTanks, tank } from "../store/conformance/objects.ts";
import { type Engine, postgresEngine, sqliteEngine } from "../store/engines.ts";
import { runSql } from "../store/raw-sql.ts";
import { at, command, executed } from "../support/commands.ts";
import { ingest } from "../support/readings.ts";
import { computeAll, DAY, falling, forecastOf, isComputed, NOW, orderOf, outdated, unexpected } from "./support.ts";

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;

function dueForecasts(engine: Engine): void {
  test("one forecast for each tank, however many readings; the one that waits longest comes first", async (t) => {
    const { store } = await engine.open(t);
    await putCustomers(store, customer("a"));
    await putTanks(store, ...["one", "two", "three"].map((id) => tank(id, "a")));
    await ingest(store, ...["one", "two", "three"].flatMap((id) => falling(id, 40, 0.1, 365)));
    await store.updateSortKeys(["two"], NOW - 90_000);
    await store.updateSortKeys(["one"], NOW - 60_000);
    await store.updateSortKeys(["three"], NOW - 30_000);
    const lag = async () => (await forecastMetrics(store, () => NOW)())[0]?.values[0]?.value;
    assert.equal(await lag(), 90);
    const computed: string[] = [];
    await computeAll(store, {
      compute(task) {
        computed.push(task.tank.id);
        return computeForecast(task);
      },
    });
    assert.deepEqual(computed, ["two", "one", "three"]);
    assert.equal(await lag(), 0);
  });

  test("a tank whose forecast cannot be computed has none for a while, keeps its refills, and delays no other", async (t) => {
    const { store } = await engine.open(t);
    await putFleet(store, { a: ["one", "broken", "two"], b: [] });
    await ingest(store, ...["one", "broken", "two"].flatMap((id) => falling(id, 40, 1, 30)));
    const refill = { startedAt: NOW - 20 * DAY, endedAt: NOW - 19 * DAY, from: 10, to: 60 };
    await putForecast(store, "broken", { now: NOW - 2 * DAY, refills: [refill] });
    await store.updateSortKeys(["one", "broken", "two"], NOW);
    const [events, error]: [LogEvent[], Error] = [[], new Error("never seen before")];
    await computeAll(store, {
      observe: (event) => events.push(event),
      compute(task) {
        if (task.tank.id === "broken") throw error;
        return computeForecast(task);
      },
    });
    assert.deepEqual(events, [{ kind: "forecast_failed", tankId: "broken", error }]);
    assert.ok(await isComputed(store));
    const states = ["one", "broken", "two"].map(async (id) => (await forecastOf(store, id)).state);
    assert.deepEqual(await Promise.all(states), ["ok", "insufficient_data", "ok"]);
    const refills = await store.refillPage("broken", { page: 1, size: 10 }, UNRESTRICTED);
    assert.deepEqual(refills, { data: [refill], totalItems: 1 });
  });

  test("a forecast that is damaged in any way, but still JSON, is computed again", async (t) => {
    const { store, url } = await engine.open(t);
    await putFleet(store, { a: ["one"], b: [] });
    await ingest(store, ...falling("one", 40, 1, 30));
    await store.updateSortKeys(["one"], NOW);
    const compute = () => computeAll(store);
    await compute();
    const forecast = await forecastOf(store, "one");
    const { runs_low_at, use_per_day, suggested_delivery } = forecast;
    const damages = [
      ...[{ state: "oj" }, { runs_low_at: undefined }, { runs_low_at: { ...runs_low_at, p50: "soon" } }, { leak: "nond" }],
      ...[{ runs_empty_at: { ...runs_low_at, p90: 1e300 } }, { level: "40" }, { interval: null }, { based_on_until: null }],
      ...[{ use_per_day: { ...use_per_day, unit: "litres" } }, { suggested_delivery: { ...suggested_delivery, by: null } }],
      { leak: { since: NOW, excess: null, isSudden: false } },
    ];
    for (const damage of damages) {
      const text = JSON.stringify({ ...forecast, computed_at: undefined, ...damage });
      await runSql(url, `UPDATE forecast SET forecast = '${text}'`);
      assert.equal(await store.tankForecast("one", UNRESTRICTED), null, text);
      assert.deepEqual(await orderOf(store), ["one"]);
      await store.updateSortKeys(["one"], NOW);
      assert.equal(await isComputed(store), false, text);
      await compute();
      assert.deepEqual(await forecastOf(store, "one"), forecast);
    }
  });

  test("what changes while a forecast is computed is left to the next one", async (t) => {
    const { store } = await engine.open(t);
    await putFleet(store, { a: ["one"], b: [] });
    await ingest(store, ...falling("one", 50, 1, 30));
    await store.updateSortKeys(["one"], NOW);
    const changes = [
      () => executed(store, command.changeTank("one", { min_fill_alert_percentage: 40 }), at(NOW + 1)),
      () => executed(store, command.changeTank("one", { capacity: 5400 }), at(NOW + 2)),
      () => ingest(store, { tank: "one", at: NOW, fill: 49 }),
      () => ingest(store, { tank: "one", at: NOW + HOUR, fill: 48.9 }),
    ];
    let now = NOW;
    const compute = (change: () => Promise<unknown>) =>
      computeAll(store, {
        clock: () => now,
        async compute(task) {
          const forecast = computeForecast(task);
          await change();
          return forecast;
        },
      });
    for (const change of changes) {
      await compute(change);
      now += MINUTE;
      assert.equal(await outdated(store), 1, String(change));
    }
    await compute(async () => {});
    assert.ok(await isComputed(store));
    const low = await forecastOf(store, "one");
    assert.ok(((low.runs_low_at.p50 ?? 0) - NOW) / DAY < 15, "the threshold counts");
  });

  test("after new readings a forecast is computed again a minute later; after a rise and after changes of the tank at once", async (t) => {
    const { store } = await engine.open(t);
    await putFleet(store, { a: ["one"], b: [] });
    await ingest(store, ...falling("one", 50, 1, 30));
    await store.updateSortKeys(["one"], NOW);
    await computeAll(store);
    const dueAt = async () => (await store.dueForecasts(NOW + DAY, 1)).map((one) => one.dueAt - NOW);
    assert.deepEqual(await dueAt(), []);
    for (const [i, seconds] of [10, 20, 30].entries()) {
      const now = NOW + seconds * 1000;
      await ingest(store, { tank: "one", at: now, fill: 49.9 - i });
      await updateFleetOrder(store, now, { failed: new FailedTanks(unexpected) });
      assert.deepEqual(await dueAt(), [MINUTE]);
    }
    const basedOn = async (now: number) => {
      await computeAll(store, { clock: () => now });
      return (await forecastOf(store, "one")).based_on_until - NOW;
    };
    assert.equal(await basedOn(NOW + MINUTE - 1), 0);
    await ingest(store, { tank: "one", at: NOW + 40_000, fill: 47 });
    assert.equal(await basedOn(NOW + MINUTE), 40_000, "a reading that the fleet order does not know yet counts");
    assert.deepEqual(await dueAt(), []);
    await ingest(store, { tank: "one", at: NOW + HOUR, fill: 46 });
    await updateFleetOrder(store, NOW + HOUR, { failed: new FailedTanks(unexpected) });
    assert.deepEqual(await dueAt(), [HOUR], "the last one is older than a minute");
    assert.equal(await basedOn(NOW + HOUR), HOUR);
    await ingest(store, { tank: "one", at: NOW + HOUR + 1000, fill: 45 });
    await updateFleetOrder(store, NOW + HOUR + 1000, { failed: new FailedTanks(unexpected) });
    assert.deepEqual(await dueAt(), [HOUR + MINUTE]);
    await executed(store, command.changeTank("one", { capacity: 5400 }), at(NOW + HOUR + 2000));
    assert.deepEqual(await dueAt(), [HOUR + 2000]);
    await computeAll(store, { clock: () => NOW + HOUR + 2000 });
    for (const [seconds, fill] of [
      [3, 80],
      [4, 45],
    ] as const) {
      const now = NOW + HOUR + seconds * 1000;
      await ingest(store, { tank: "one", at: now, fill });
      await updateFleetOrder(store, now, { failed: new FailedTanks(unexpected) });
      assert.deepEqual(await dueAt(), [now - NOW], "the rise may be a delivery, and ends");
      assert.equal(await basedOn(now), now - NOW);
    }
  });

  test("a clock that was ahead does not delay a forecast", async (t) => {
    const { store } = await engine.open(t);
    await putFleet(store, { a: ["one"], b: [] });
    await ingest(store, ...falling("one", 50, 1, 30));
    await store.updateSortKeys(["one"], NOW + 30 * DAY);
    const scan = () => updateFleetOrder(store, NOW, { failed: new FailedTanks(unexpected) });
    assert.equal((await scan()).outdated, 1);
    assert.equal((await scan()).outdated, 0);
    await computeAll(store, { clock: () => NOW + MINUTE });
    assert.equal((await forecastOf(store, "one")).state, "ok");
  });

  test("a damaged tank keeps its refills", async (t) => {
    const { store, url } = await engine.open(t);
    await putFleet(store, { a: ["one"], b: [] });
    await ingest(store, ...falling("one", 40, 0.1, 365));
    const refill = { startedAt: NOW - 20 * DAY, endedAt: NOW - 19 * DAY, from: 10, to: 60 };
    await putForecast(store, "one", { now: NOW - 2 * DAY, refills: [refill] });
    await store.updateSortKeys(["one"], NOW);
    await runSql(url, "UPDATE block SET checksum = checksum + 1");
    await computeAll(store);
    assert.equal((await forecastOf(store, "one")).state, "insufficient_data");
    const refills = await store.refillPage("one", { page: 1, size: 10 }, UNRESTRICTED);
    assert.deepEqual(refills, { data: [refill], totalItems: 1 });
  });
}

for (const engine of [sqliteEngine, postgresEngine])
  suite(`forecasts that are due, on ${engine.name}`, () => dueForecasts(engine));
