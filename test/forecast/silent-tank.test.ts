// Whether people are notified that a tank runs low soon when its newest reading is old: because it is silent, or imported.

import assert from "node:assert/strict";
import { suite, test } from "node:test";
import { UNRESTRICTED } from "../../src/domain/key.ts";
import type { Store } from "../../src/domain/store.ts";
import { computeForecast } from "../../src/forecast/compute.ts";
import { computeDueForecasts } from "../../src/forecast/due-forecasts.ts";
import { putFleet } from "../store/alert-support.ts";
import { WHOLE } from "../store/conformance/objects.ts";
import { postgresEngine, sqliteEngine } from "../store/engines.ts";
import { at, executed } from "../support/commands.ts";
import { updateWholeOrder } from "../support/fleet-order.ts";
import { incomingBatch } from "../support/readings.ts";
import { forecastOf } from "./support.ts";

const DAY = 24 * 3_600_000;
const MINUTE = 60_000;
const START = Date.parse("2025-10-01T00:00Z");

/** A tank that uses a point a day, and is filled to 95 % every 70 days; a reading every 6 hours of the days `from` to `to`. */
async function send(store: Store, from: number, to: number, now: number): Promise<void> {
  const readings = Array.from({ length: (to - from) * 4 }, (_, i) => {
    const hour = from * 24 + i * 6;
    const days = (hour / 24) % 70;
    return { tank: "one", at: START + hour * 3_600_000, fill: Math.round(10 * (95 - days + 0.1 * Math.sin(hour))) / 10 };
  });
  await store.ingest({ ...incomingBatch(readings), receivedAt: now });
}

async function computeForecasts(store: Store, now: number): Promise<void> {
  await updateWholeOrder(store, now);
  const options = { clock: () => now, observe: () => {}, compute: computeForecast, everyMs: 0, isStopping: () => false };
  await computeDueForecasts({ store, ...options });
}

/** The events of the feed, and how many notifications there are. */
async function changesOf(store: Store): Promise<[string[], number]> {
  const { payloads } = await store.eventFeed({ after: 0, size: 100 }, UNRESTRICTED);
  const events = payloads.map((payload) => JSON.parse(payload));
  const all = { channel_id: "chn_all", customer_id: undefined, alert_id: undefined, state: undefined };
  const { totalItems } = await store.notificationPage({ ...WHOLE, ...all });
  return [events.filter(({ data }) => data.alert).map(({ type, data }) => `${data.alert.kind} ${type}`), totalItems];
}

for (const engine of [sqliteEngine, postgresEngine]) {
  suite(`${engine.name}: runs_low_soon by an old reading`, () => {
    const open = async (t: Parameters<typeof engine.open>[0]): Promise<Store> => {
      const { store } = await engine.open(t);
      await putFleet(store, { a: ["one"], b: [] });
      const fields = { type: "webhook", url: "https://hooks.example.com/", events: ["alert.opened", "alert.closed"] };
      await executed(store, { type: "create_channel", newId: "chn_all", fields, secret: "whsec_", webhookAllow: [] }, at(START));
      return store;
    };

    test("a tank that is silent, and runs empty as expected, has an alert; people are notified of it and of its end", async (t) => {
      const store = await open(t);
      const last = START + 110 * DAY;
      await send(store, 0, 110, last);
      for (let day = 0; day <= 50; day++) await computeForecasts(store, last + day * DAY + MINUTE);
      assert.deepEqual(await changesOf(store), [["runs_low_soon alert.opened"], 1]);
      await send(store, 140, 160, last + 50 * DAY + 2 * MINUTE);
      await computeForecasts(store, last + 50 * DAY + 3 * MINUTE);
      assert.deepEqual(await changesOf(store), [["runs_low_soon alert.opened", "runs_low_soon alert.closed"], 2]);
    });

    test("a tank that has been silent for years is stale, as one that has been silent for months", async (t) => {
      const store = await open(t);
      await send(store, 0, 40, START + 40 * DAY);
      for (const days of [200, 1000]) {
        await computeForecasts(store, START + days * DAY);
        assert.equal((await forecastOf(store, "one")).state, "stale", `after ${days} days`);
      }
    });

    test("an import opens none while newer readings may follow; if there are none, the next forecast opens it, once", async (t) => {
      const store = await open(t);
      const now = START + 148 * DAY;
      // Stale, then expected to be low, and then by a reading of 48 days ago.
      for (const [from, to] of [
        [0, 30],
        [30, 65],
        [65, 100],
      ] as const) {
        await send(store, from, to, now);
        await computeForecasts(store, now + MINUTE);
      }
      assert.deepEqual(await changesOf(store), [[], 0]);
      for (let day = 1; day <= 3; day++) await computeForecasts(store, now + day * DAY + 2 * MINUTE);
      assert.deepEqual(await changesOf(store), [["runs_low_soon alert.opened"], 1]);
    });

    test("a history that ended months ago opens none", async (t) => {
      const store = await open(t);
      await send(store, 0, 65, START + 200 * DAY);
      for (let day = 0; day <= 3; day++) await computeForecasts(store, START + (200 + day) * DAY);
      assert.deepEqual(await changesOf(store), [[], 0]);
    });

    test("a history that ends now opens one if the tank runs low soon, once", async (t) => {
      const store = await open(t);
      const now = START + 139 * DAY;
      await send(store, 0, 139, now);
      for (let day = 0; day <= 3; day++) await computeForecasts(store, now + day * DAY + MINUTE);
      assert.deepEqual(await changesOf(store), [["runs_low_soon alert.opened"], 1]);
    });
  });
}
