// The sweep for silent tanks and ended pauses, with a clock of its own, on both engines.

import assert from "node:assert/strict";
import { suite, test } from "node:test";
import { type AlertSettings, DEFAULT_ALERT_SETTINGS } from "../../src/domain/alerts/evaluate.ts";
import type { Store } from "../../src/domain/store.ts";
import { openStore } from "../../src/store/open.ts";
import { at, command, executed } from "../support/commands.ts";
import { incomingBatch, type SentReading } from "../support/readings.ts";
import { alertsOf, putFleet, putForecast } from "./alert-support.ts";
import { checked, putTanks, tank, WHOLE } from "./conformance/objects.ts";
import { type Engine, postgresEngine, sqliteEngine } from "./engines.ts";

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;
const START = Date.parse("2026-06-01T00:00:00Z");

const receive = (store: Store, now: number, ...sent: SentReading[]) => store.ingest({ ...incomingBatch(sent), receivedAt: now });

/** All steps of one sweep; returns how many there were, 0 if another process had the claim. */
async function sweep(store: Store, now: number, settings?: AlertSettings): Promise<number> {
  let claimedAt: number | undefined;
  for (let steps = 0; ; steps++) {
    const result = await store.sweepAlerts({ claimedAt, at: now, settings });
    if (!result.hasMore) return result.claimedAt === undefined ? 0 : steps + 1;
    claimedAt = result.claimedAt;
  }
}

/** As a service that runs: every minute would be the same. */
async function sweepUntil(store: Store, from: number, to: number): Promise<void> {
  for (let now = from; now < to; now += 50 * MINUTE) await sweep(store, now);
  await sweep(store, to);
}

async function stateOf(store: Store): Promise<string[]> {
  const { data } = await alertsOf(store);
  return data.map(({ tank_id, kind, state, close_reason }) => `${tank_id} ${kind} ${close_reason ?? state}`).sort();
}

function alertSweep(engine: Engine): void {
  test("a tank is silent after the time set for all, its own, or three of its usual intervals", async (t) => {
    const { store } = await engine.open(t);
    await putFleet(store, { a: ["usual", "own", "daily", "none"], b: [] });
    await executed(store, command.changeTank("own", { alerts: { silent_after: "2h" } }), at(START));
    const days = [0, 1, 2, 3].map((day) => ({ tank: "daily", at: START + day * DAY, fill: 50 }));
    const last = START + 3 * DAY;
    await receive(store, last, ...days, { tank: "usual", at: last, fill: 50 }, { tank: "own", at: last, fill: 50 });
    await sweepUntil(store, last, last + 2 * HOUR - 1);
    assert.deepEqual(await stateOf(store), []);
    await sweep(store, last + 2 * HOUR + MINUTE);
    assert.deepEqual(await stateOf(store), ["own silent open"]);
    await sweepUntil(store, last + 2 * HOUR + 2 * MINUTE, last + 2 * DAY - 1);
    await sweep(store, last + 2 * DAY + MINUTE);
    assert.deepEqual(await stateOf(store), ["own silent open", "usual silent open"]);
    await sweepUntil(store, last + 2 * DAY + 2 * MINUTE, last + 3 * DAY - 1);
    await sweep(store, last + 3 * DAY + MINUTE);
    assert.deepEqual(await stateOf(store), ["daily silent open", "own silent open", "usual silent open"]);
    await receive(store, last + 4 * DAY, { tank: "daily", at: last + 4 * DAY, fill: 40 });
    // Late: no younger than before.
    await receive(store, last + 4 * DAY, { tank: "own", at: last + HOUR, fill: 40 });
    assert.deepEqual(await stateOf(store), ["daily silent recovered", "own silent open", "usual silent open"]);
    assert.deepEqual((await checked(store)).findings, []);
  });

  test("a pause ends on time, and what is true then opens an alert", async (t) => {
    const { store } = await engine.open(t);
    await putFleet(store, { a: ["a1"], b: [] });
    await sweep(store, START);
    const until = new Date(START + 6 * HOUR).toISOString();
    await executed(store, command.changeTank("a1", { alerts: { paused_until: until } }), at(START));
    await receive(store, START + HOUR, { tank: "a1", at: START + HOUR, fill: 10 });
    await sweepUntil(store, START + MINUTE, START + 6 * HOUR - 1);
    assert.deepEqual(await stateOf(store), []);
    await sweep(store, START + 6 * HOUR + MINUTE);
    assert.deepEqual(await stateOf(store), ["a1 low open"]);
    const [opened] = (await alertsOf(store)).data;
    assert.deepEqual([opened?.opened_at, opened?.latest_reading_at], [START + 6 * HOUR + MINUTE, START + HOUR]);
    // Pausing again closes nothing, but what closes stays closed.
    const later = new Date(START + 9 * HOUR).toISOString();
    await executed(store, command.changeTank("a1", { alerts: { paused_until: later } }), at(START + 7 * HOUR));
    assert.deepEqual(await stateOf(store), ["a1 low open"]);
    await receive(store, START + 7 * HOUR, { tank: "a1", at: START + 7 * HOUR, fill: 90 });
    await receive(store, START + 8 * HOUR, { tank: "a1", at: START + 8 * HOUR, fill: 10 });
    assert.deepEqual(await stateOf(store), ["a1 low recovered"]);
    await executed(store, command.changeTank("a1", { alerts: { paused_until: null } }), at(START + 8 * HOUR));
    assert.deepEqual(await stateOf(store), ["a1 low open", "a1 low recovered"]);
  });

  test("a shorter silent_after counts at once, a longer one closes the alert", async (t) => {
    const { store } = await engine.open(t);
    await putFleet(store, { a: ["a1"], b: [] });
    await sweep(store, START);
    await receive(store, START, { tank: "a1", at: START, fill: 50 });
    await sweepUntil(store, START + MINUTE, START + 3 * HOUR);
    const set = (silent_after: string | null, now: number) =>
      executed(store, command.changeTank("a1", { alerts: { silent_after } }), at(now));
    await set("1h", START + 3 * HOUR);
    await sweep(store, START + 3 * HOUR + MINUTE);
    assert.deepEqual(await stateOf(store), ["a1 silent open"]);
    await set("6h", START + 4 * HOUR);
    assert.deepEqual(await stateOf(store), ["a1 silent setting_changed"]);
    await sweepUntil(store, START + 4 * HOUR, START + 6 * HOUR + MINUTE);
    assert.deepEqual(await stateOf(store), ["a1 silent open", "a1 silent setting_changed"]);
  });

  test("a tank that begins to send more often is silent by its new interval", async (t) => {
    const { store } = await engine.open(t);
    await putFleet(store, { a: ["often"], b: [] });
    await sweep(store, START);
    await receive(store, START, { tank: "often", at: START - 10 * DAY, fill: 50 });
    await receive(store, START, { tank: "often", at: START, fill: 50 });
    await sweep(store, START + 50 * MINUTE);
    for (const hours of [1, 2]) {
      await receive(store, START + hours * HOUR, { tank: "often", at: START + hours * HOUR, fill: 50 });
    }
    const silentAt = START + 2 * HOUR + 2 * DAY;
    await sweepUntil(store, START + 2 * HOUR, silentAt - 1);
    assert.deepEqual(await stateOf(store), []);
    await sweep(store, silentAt + MINUTE);
    assert.deepEqual(await stateOf(store), ["often silent open"]);
  });

  test("people are notified of a silent tank whose pause somebody ends, and not of one whose old readings are imported", async (t) => {
    const { store } = await engine.open(t);
    await putFleet(store, { a: ["paused", "imported"], b: [] });
    const fields = { type: "webhook", url: "https://hooks.example.com/" };
    await executed(store, { type: "create_channel", newId: "chn_all", fields, secret: "whsec_", webhookAllow: [] }, at(START));
    await sweep(store, START);
    await receive(store, START, { tank: "paused", at: START, fill: 50 });
    const pause = (until: number | null) => {
      const paused_until = until === null ? null : new Date(until).toISOString();
      return command.changeTank("paused", { alerts: { paused_until } });
    };
    await executed(store, pause(START + 90 * DAY), at(START));
    const now = START + 6 * DAY;
    await sweepUntil(store, START + MINUTE, now);
    await executed(store, pause(null), at(now));
    await receive(store, now, { tank: "imported", at: START, fill: 50 });
    await sweep(store, now + MINUTE);
    assert.deepEqual(await stateOf(store), ["imported silent open", "paused silent open"]);
    const all = { channel_id: "chn_all", customer_id: undefined, alert_id: undefined, state: undefined };
    const { data } = await store.notificationPage({ ...WHOLE, ...all });
    assert.deepEqual(
      data.map(({ tank_id }) => tank_id),
      ["paused"],
    );
  });

  test("silence counts from the end of our own downtime, not from a short stop", async (t) => {
    const { store } = await engine.open(t);
    await putFleet(store, { a: ["a1"], b: [] });
    await sweep(store, START);
    await receive(store, START, { tank: "a1", at: START, fill: 50 });
    await sweepUntil(store, START + MINUTE, START + 47 * HOUR);
    await sweep(store, START + 47 * HOUR + 59 * MINUTE);
    const back = START + 50 * HOUR;
    await sweepUntil(store, back, back + 48 * HOUR - 1);
    assert.deepEqual(await stateOf(store), []);
    await sweep(store, back + 48 * HOUR + MINUTE);
    assert.deepEqual(await stateOf(store), ["a1 silent open"]);
  });

  test("a condition that is already true when the service starts for the first time is evaluated", async (t) => {
    const { store } = await engine.open(t);
    await putFleet(store, { a: ["a1"], b: [] });
    await receive(store, START + 9 * DAY, { tank: "a1", at: START, fill: 50 });
    await sweep(store, START + 9 * DAY);
    assert.deepEqual(await stateOf(store), ["a1 silent open"]);
  });

  test("a clock that jumps ahead opens no alert, and one that jumps back loses none", async (t) => {
    const { store } = await engine.open(t);
    await putFleet(store, { a: ["a1"], b: [] });
    await sweep(store, START);
    await receive(store, START, { tank: "a1", at: START, fill: 50 });
    await sweepUntil(store, START + MINUTE, START + HOUR);
    const ahead = START + 400 * DAY;
    await sweepUntil(store, ahead, ahead + HOUR);
    assert.deepEqual(await stateOf(store), []);
    const back = START + 2 * HOUR;
    await sweepUntil(store, back, back + 48 * HOUR - 1);
    assert.deepEqual(await stateOf(store), []);
    await sweep(store, back + 48 * HOUR + MINUTE);
    assert.deepEqual(await stateOf(store), ["a1 silent open"]);
  });

  test("after a downtime, or a jump of the clock, a forecast from before opens no alert until the tank had time to send", async (t) => {
    const { store } = await engine.open(t);
    await putFleet(store, { a: ["sends", "silent"], b: [] });
    const received = START + HOUR;
    const putForecasts = async (now: number, days: number) => {
      for (const tankId of ["sends", "silent"]) await putForecast(store, tankId, { now, days });
    };
    await sweepUntil(store, START, received);
    for (const tankId of ["sends", "silent"]) await receive(store, received, { tank: tankId, at: received, fill: 50 });
    const ahead = START + 20 * DAY;
    // The forecast may come before the first sweep.
    await putForecasts(ahead, 1);
    await sweep(store, ahead);
    await putForecasts(ahead + MINUTE, 1);
    const back = START + 2 * HOUR;
    await putForecasts(back, 1);
    await sweep(store, back);
    assert.deepEqual(await stateOf(store), []);
    const restarted = back + 4 * HOUR;
    await putForecasts(restarted, 1);
    await sweep(store, restarted);
    await putForecasts(restarted + MINUTE, 1);
    assert.deepEqual(await stateOf(store), []);
    await receive(store, restarted + 2 * MINUTE, { tank: "sends", at: back + HOUR, fill: 49 });
    await putForecast(store, "sends", { now: restarted + 2 * MINUTE, days: 1 });
    assert.deepEqual(await stateOf(store), [], "stored by the device meanwhile");
    await receive(store, restarted + 3 * MINUTE, { tank: "sends", at: restarted + 3 * MINUTE, fill: 49 });
    await putForecasts(restarted + 3 * MINUTE, 1);
    assert.deepEqual(await stateOf(store), ["sends runs_low_soon open"]);
    await sweepUntil(store, restarted + 50 * MINUTE, restarted + 2 * DAY - HOUR);
    await putForecasts(restarted + 2 * DAY, 1);
    assert.deepEqual(await stateOf(store), ["sends runs_low_soon open", "silent runs_low_soon open"]);
  });

  test("one process sweeps at a time, and one that has died holds nobody up", async (t) => {
    const { store, reopen } = await engine.open(t);
    const other = await reopen();
    await putFleet(store, { a: [], b: [] });
    await putTanks(store, ...Array.from({ length: 1100 }, (_, i) => tank(`t${i}`, "a")));
    const sent = Array.from({ length: 1100 }, (_, i) => ({ tank: `t${i}`, at: START, fill: 50 }));
    await receive(store, START, ...sent);
    const now = START + 3 * DAY;
    const first = await store.sweepAlerts({ at: now });
    assert.deepEqual(first, { claimedAt: now, hasMore: true });
    assert.equal(await sweep(other, now + 20_000), 0, "the first goes on");
    assert.equal((await store.sweepAlerts({ claimedAt: now, at: now + 1000 })).hasMore, true);
    assert.equal(await sweep(other, now + 40_000), 1, "the first has died");
    assert.deepEqual(await store.sweepAlerts({ claimedAt: now + 1000, at: now + 41_000 }), {
      claimedAt: undefined,
      hasMore: false,
    });
    assert.equal((await alertsOf(store, { kind: "silent", state: "open" })).totalItems, 1100);
    assert.equal((await alertsOf(store)).totalItems, 1100);
    // At once: one of them has the claim.
    const results = await Promise.all([store, other, store, other].map((one) => one.sweepAlerts({ at: now + HOUR })));
    assert.equal(results.filter(({ claimedAt }) => claimedAt !== undefined).length, 1);
    assert.deepEqual((await checked(store)).findings, []);
  });

  test("one transaction writes a bounded number of notifications, however many channels there are", async (t) => {
    const { store } = await engine.open(t);
    await putFleet(store, { a: Array.from({ length: 250 }, (_, i) => `t${i}`), b: [] });
    await receive(store, START, ...Array.from({ length: 250 }, (_, i) => ({ tank: `t${i}`, at: START, fill: 50 })));
    const fields = { type: "webhook", url: "https://hooks.example.com/" };
    for (let i = 0; i < 10; i++) {
      const create = { type: "create_channel", newId: `chn_${i}`, fields, secret: "whsec_x", webhookAllow: [] } as const;
      await executed(store, create, at(START));
    }
    const now = START + 2 * DAY + HOUR;
    const { claimedAt } = await store.sweepAlerts({ at: now });
    assert.equal((await store.notificationCounts([])).pending, 1000);
    assert.equal((await store.sweepAlerts({ at: now, claimedAt })).hasMore, true);
    assert.equal((await store.sweepAlerts({ at: now, claimedAt })).hasMore, false);
    assert.equal((await store.notificationCounts([])).pending, 2500);
  });

  test("changed settings count for all tanks, once", async (t) => {
    const { url } = await engine.open(t);
    const loose = { ...DEFAULT_ALERT_SETTINGS, closeMargin: 10, silentAfter: 90 * DAY };
    const restarted = (alerts: AlertSettings): Promise<Store> => {
      return openStore(url, () => {}, { connections: 2, replicaUrls: [], replicaLagMs: 2000, alerts });
    };
    const before = await restarted(loose);
    await putFleet(before, { a: ["low", "silent"], b: [] });
    await sweep(before, START, loose);
    await receive(before, START, { tank: "low", at: START, fill: 10 }, { tank: "silent", at: START, fill: 50 });
    await receive(before, START + 2 * DAY, { tank: "low", at: START + 2 * DAY, fill: 25 });
    await sweepUntil(before, START + MINUTE, START + 3 * DAY);
    assert.deepEqual(await stateOf(before), ["low low open"]);
    await before.close();
    const strict = await restarted(DEFAULT_ALERT_SETTINGS);
    assert.ok((await sweep(strict, START + 3 * DAY + MINUTE, DEFAULT_ALERT_SETTINGS)) > 1, "all tanks, then those that are due");
    assert.deepEqual(await stateOf(strict), ["low low setting_changed", "silent silent open"]);
    assert.equal(await sweep(strict, START + 3 * DAY + 2 * MINUTE, DEFAULT_ALERT_SETTINGS), 1, "not again");
    await strict.close();
    const after = await restarted(loose);
    await sweep(after, START + 3 * DAY + 3 * MINUTE, loose);
    assert.deepEqual(await stateOf(after), ["low low setting_changed", "silent silent setting_changed"]);
    await after.close();
  });
}

for (const engine of [sqliteEngine, postgresEngine]) suite(`${engine.name}: sweep`, () => alertSweep(engine));
