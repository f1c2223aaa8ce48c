// Alerts that follow from forecasts, on both engines.

import assert from "node:assert/strict";
import { suite, test } from "node:test";
import { type AlertSettings, DEFAULT_ALERT_SETTINGS } from "../../src/domain/alerts/evaluate.ts";
import type { Command } from "../../src/domain/commands/command.ts";
import { UNRESTRICTED } from "../../src/domain/key.ts";
import type { Store } from "../../src/domain/store.ts";
import { openStore } from "../../src/store/open.ts";
import { at, command, executed } from "../support/commands.ts";
import { alertsOf, type GivenForecast, measure, putFleet, putForecast } from "./alert-support.ts";
import { checked, WHOLE } from "./conformance/objects.ts";
import { type Engine, postgresEngine, sqliteEngine } from "./engines.ts";
import { runSql } from "./raw-sql.ts";

const HOUR = 3_600_000;
const DAY = 24 * HOUR;
/** Readings are received now. */
const START = Date.now();
const LEAK = { since: START - 6 * DAY, excess: 1.234, isSudden: false };

const forecast = (store: Store, tankId: string, given: GivenForecast) => putForecast(store, tankId, { now: START, ...given });

const stateOf = async (store: Store): Promise<string[]> =>
  (await alertsOf(store)).data
    .map(({ tank_id, kind, state, close_reason }) => `${tank_id} ${kind} ${close_reason ?? state}`)
    .sort();

async function eventsOf(store: Store): Promise<{ type: string; data: { alert: Record<string, unknown> } }[]> {
  const { payloads } = await store.eventFeed({ after: 0, size: 100 }, UNRESTRICTED);
  return payloads.map((payload) => JSON.parse(payload));
}

/** What the channel is notified of, oldest first. */
async function notified(store: Store): Promise<string[]> {
  const all = { channel_id: "chn_all", customer_id: undefined, alert_id: undefined, state: undefined };
  const { data } = await store.notificationPage({ ...WHOLE, ...all });
  const alerts = new Map((await alertsOf(store)).data.map(({ id, kind }) => [id, kind]));
  return data
    .toSorted((a, b) => a.created_at - b.created_at)
    .map(({ event, alert_ids }) => `${alerts.get(alert_ids[0] ?? "")} ${event}`);
}

const putHook = (store: Store) => {
  const fields = { type: "webhook", url: "https://hooks.example.com/" };
  return executed(store, { type: "create_channel", newId: "chn_all", fields, secret: "whsec_", webhookAllow: [] }, at(START));
};

function forecastAlerts(engine: Engine): void {
  test("runs_low_soon stays open while nobody was notified that the tank is low, because its readings are late", async (t) => {
    const { store } = await engine.open(t);
    await putFleet(store, { a: ["one"], b: [] });
    await putHook(store);
    await measure(store, "one", 30, START - 3 * DAY);
    await forecast(store, "one", { days: 5 });
    await measure(store, "one", 19, START - 2 * DAY);
    assert.deepEqual(await stateOf(store), ["one low open", "one runs_low_soon open"]);
    assert.deepEqual(await notified(store), ["runs_low_soon alert.opened"]);
    await measure(store, "one", 18, START);
    assert.deepEqual(await stateOf(store), ["one low open", "one runs_low_soon became_low"]);
    assert.deepEqual((await notified(store)).slice(1).sort(), ["low alert.opened", "runs_low_soon alert.closed"]);
    assert.deepEqual((await checked(store)).findings, []);
  });

  test("whoever was notified of an alert is notified when a setting closes it, long after the last reading", async (t) => {
    const { store } = await engine.open(t);
    await putFleet(store, { a: ["one"], b: [] });
    await putHook(store);
    await measure(store, "one", 30, START);
    await forecast(store, "one", { days: 5, leak: LEAK });
    const off = command.changeTank("one", { alerts: { runs_low_soon: false, leak: false } });
    await executed(store, off, at(START + 9 * DAY));
    assert.deepEqual(await stateOf(store), ["one leak turned_off", "one runs_low_soon turned_off"]);
    assert.deepEqual((await notified(store)).sort(), [
      ...["leak alert.closed", "leak alert.opened", "runs_low_soon alert.closed", "runs_low_soon alert.opened"],
    ]);
  });

  test("the end of an alert that was acknowledged is sent, also if its opening was not", async (t) => {
    const { store } = await engine.open(t);
    await putFleet(store, { a: ["one"], b: [] });
    await putHook(store);
    await measure(store, "one", 10, START - 3 * DAY);
    const [alert] = (await alertsOf(store)).data;
    await executed(store, command.acknowledgeAlert(alert?.id ?? ""), at(START));
    await measure(store, "one", 90, START - 2 * DAY);
    assert.deepEqual(await notified(store), ["low alert.acknowledged", "low alert.closed"]);
  });

  test("a tank that runs low soon has an alert with the day, which the low alert takes over", async (t) => {
    const { store } = await engine.open(t);
    await putFleet(store, { a: ["one", "two"], b: [] });
    const fields = { type: "webhook", url: "https://hooks.example.com/" };
    const channel: Command = { type: "create_channel", newId: "chn_all", fields, secret: "whsec_", webhookAllow: [] };
    await executed(store, channel, at(START));
    for (const tankId of ["one", "two"]) await measure(store, tankId, 30, START);
    await forecast(store, "one", { days: 5 });
    await forecast(store, "two", { days: 8 });
    assert.deepEqual(await stateOf(store), ["one runs_low_soon open"]);
    const later = START + HOUR;
    await measure(store, "one", 19, later);
    assert.deepEqual(await stateOf(store), ["one low open", "one runs_low_soon became_low"]);
    const events = await eventsOf(store);
    assert.deepEqual(events.map(({ type, data: { alert } }) => `${alert["kind"]} ${type}`).sort(), [
      "low alert.opened",
      "runs_low_soon alert.closed",
      "runs_low_soon alert.opened",
    ]);
    const opened = events[0]?.data.alert;
    assert.equal(opened?.["runs_low_at"], new Date(START + 5 * DAY).toISOString());
    assert.deepEqual([opened?.["fill_percentage"], opened?.["threshold"], opened?.["leak"]], [30, 20, null]);
    const all = { channel_id: "chn_all", customer_id: undefined, alert_id: undefined, state: undefined };
    assert.equal((await store.notificationPage({ ...WHOLE, ...all })).totalItems, 3);
    assert.deepEqual((await checked(store)).findings, []);
  });

  test("a leak has an alert with its size, which closes when use is normal again", async (t) => {
    const { store } = await engine.open(t);
    await putFleet(store, { a: ["one"], b: [] });
    await measure(store, "one", 70, START);
    await forecast(store, "one", { leak: LEAK });
    const [alert] = (await alertsOf(store, { kind: "leak" })).data;
    assert.deepEqual(alert?.leak, LEAK);
    assert.deepEqual((await eventsOf(store))[0]?.data.alert["leak"], {
      since: new Date(LEAK.since).toISOString(),
      percentage_per_day: 1.23,
      percentage_lost: null,
    });
    await forecast(store, "one", { leak: "ending" });
    assert.deepEqual(await stateOf(store), ["one leak open"]);
    await forecast(store, "one", { leak: "none" });
    assert.deepEqual(await stateOf(store), ["one leak recovered"]);
    const theft = { since: START - DAY, excess: 35, isSudden: true };
    await forecast(store, "one", { leak: theft });
    const [sudden] = await store.alertsNotClosed(["one"]);
    assert.deepEqual(sudden?.leak, theft);
    const { data } = (await eventsOf(store)).at(-1) ?? assert.fail();
    const since = new Date(theft.since).toISOString();
    assert.deepEqual(data.alert["leak"], { since, percentage_per_day: null, percentage_lost: 35 });
  });

  test("a theft after a leak has an alert of its own, also if one was opened while the clock was ahead", async (t) => {
    const { store } = await engine.open(t);
    await putFleet(store, { a: ["one"], b: [] });
    await measure(store, "one", 50, START);
    await forecast(store, "one", { leak: LEAK, now: START + 5 * DAY });
    await forecast(store, "one", { leak: "none", now: START });
    await forecast(store, "one", { leak: LEAK });
    assert.deepEqual(await stateOf(store), ["one leak open", "one leak recovered"]);
    const theft = { since: START + HOUR, excess: 39, isSudden: true };
    await forecast(store, "one", { leak: theft, now: START + 2 * HOUR });
    assert.deepEqual(await stateOf(store), ["one leak open", "one leak recovered", "one leak replaced"]);
  });

  for (const isClosedManually of [false, true]) {
    test(`a theft after a steady leak has an alert of its own${isClosedManually ? ", also if the first was closed manually" : ""}`, async (t) => {
      const { store } = await engine.open(t);
      await putFleet(store, { a: ["one"], b: [] });
      await putHook(store);
      await measure(store, "one", 80, START);
      await forecast(store, "one", { leak: LEAK });
      const [alert] = await store.alertsNotClosed(["one"]);
      if (isClosedManually) await executed(store, command.closeAlert(alert?.id ?? ""), at(START + 1));
      const theft = { since: START + HOUR, excess: 39, isSudden: true };
      for (const hours of [12, 20]) await forecast(store, "one", { leak: theft, now: START + hours * HOUR });
      assert.deepEqual(
        await stateOf(store),
        isClosedManually ? ["one leak manual", "one leak open"] : ["one leak open", "one leak replaced"],
      );
      assert.deepEqual(
        (await store.alertsNotClosed(["one"])).map(({ leak }) => leak),
        [theft],
      );
      const opened = ["leak alert.opened", "leak alert.closed", "leak alert.opened"];
      assert.deepEqual((await notified(store)).sort(), opened.sort());
      assert.deepEqual((await checked(store)).findings, []);
    });
  }

  test("after a refill or with another threshold, an older forecast opens nothing, and the next one decides", async (t) => {
    const { store } = await engine.open(t);
    await putFleet(store, { a: ["filled", "changed"], b: [] });
    for (const tankId of ["filled", "changed"]) {
      await measure(store, tankId, 19, START);
      await forecast(store, tankId, { days: 0 });
    }
    await measure(store, "filled", 90, START + HOUR);
    const change = (threshold: number) => command.changeTank("changed", { min_fill_alert_percentage: threshold });
    await executed(store, change(5), at(START + HOUR));
    assert.deepEqual(await stateOf(store), ["changed low threshold_changed", "filled low recovered"]);
    await forecast(store, "filled", { days: 60 });
    await forecast(store, "changed", { days: 6 });
    const closed = ["changed low threshold_changed", "filled low recovered"];
    assert.deepEqual(await stateOf(store), [closed[0], "changed runs_low_soon open", closed[1]]);
    await executed(store, change(2), at(START + HOUR));
    await forecast(store, "changed", { days: 12 });
    assert.deepEqual(await stateOf(store), [closed[0], "changed runs_low_soon threshold_changed", closed[1]]);
  });

  test("both kinds can be off for a tank: open alerts close, and open again when they are on", async (t) => {
    const { store } = await engine.open(t);
    await putFleet(store, { a: ["one"], b: [] });
    await measure(store, "one", 30, START);
    await forecast(store, "one", { days: 3, leak: LEAK });
    const set = (alerts: object) => executed(store, command.changeTank("one", { alerts }), at(START + HOUR));
    await set({ runs_low_soon: false, leak: false });
    assert.deepEqual(await stateOf(store), ["one leak turned_off", "one runs_low_soon turned_off"]);
    await forecast(store, "one", { days: 2, leak: LEAK });
    assert.deepEqual((await store.alertsNotClosed(["one"])).length, 0);
    await set({ leak: true });
    assert.deepEqual(
      (await store.alertsNotClosed(["one"])).map(({ kind }) => kind),
      ["leak"],
    );
  });

  test("a paused tank gets its alerts when the pause ends; closed manually, they stay closed", async (t) => {
    const { store } = await engine.open(t);
    await putFleet(store, { a: ["one"], b: [] });
    await measure(store, "one", 30, START);
    const paused_until = new Date(START + HOUR).toISOString();
    await executed(store, command.changeTank("one", { alerts: { paused_until } }), at(START));
    await forecast(store, "one", { days: 3 });
    assert.deepEqual(await stateOf(store), []);
    await store.sweepAlerts({ at: START + HOUR });
    const [alert] = await store.alertsNotClosed(["one"]);
    assert.equal(alert?.kind, "runs_low_soon");
    await executed(store, command.closeAlert(alert?.id ?? ""), at(START + HOUR));
    const now = START + HOUR;
    await forecast(store, "one", { days: 2, now });
    assert.deepEqual(await stateOf(store), ["one runs_low_soon manual"]);
    await forecast(store, "one", { days: 40, now });
    await forecast(store, "one", { days: 2, now });
    assert.deepEqual(await stateOf(store), ["one runs_low_soon manual", "one runs_low_soon open"]);
  });

  test("runs_low_soon of a paused tank that becomes low stays open until the pause ends", async (t) => {
    const { store } = await engine.open(t);
    await putFleet(store, { a: ["one"], b: [] });
    await measure(store, "one", 24, START);
    await forecast(store, "one", { days: 4 });
    const paused_until = new Date(START + HOUR).toISOString();
    await executed(store, command.changeTank("one", { alerts: { paused_until } }), at(START));
    await measure(store, "one", 19, START + 1);
    await store.sweepAlerts({ at: START + 1, settings: DEFAULT_ALERT_SETTINGS });
    assert.deepEqual(await stateOf(store), ["one runs_low_soon open"]);
    assert.deepEqual((await checked(store)).findings, []);
    await store.sweepAlerts({ at: START + HOUR });
    assert.deepEqual(await stateOf(store), ["one low open", "one runs_low_soon became_low"]);
  });

  test("a deleted tank has no alerts; restored, it waits for its next forecast; alerts follow the owner", async (t) => {
    const { store } = await engine.open(t);
    await putFleet(store, { a: ["one"], b: [] });
    await measure(store, "one", 30, START);
    await forecast(store, "one", { days: 3, leak: LEAK });
    await executed(store, command.deleteTank("one"), at(START));
    const deleted = ["one leak tank_deleted", "one runs_low_soon tank_deleted"];
    assert.deepEqual(await stateOf(store), deleted);
    await executed(store, command.restoreTank("one"), at(START));
    assert.deepEqual(await stateOf(store), deleted);
    await forecast(store, "one", { days: 3 });
    await executed(store, command.changeTank("one", { owner_id: "b" }), at(START));
    const [alert] = await store.alertsNotClosed(["one"]);
    assert.deepEqual([alert?.kind, alert?.owner_id], ["runs_low_soon", "b"]);
    assert.deepEqual((await checked(store)).findings, []);
  });

  test("another setting of the service counts after a start: all tanks are evaluated again", async (t) => {
    const { url } = await engine.open(t);
    const restarted = (alerts: AlertSettings): Promise<Store> =>
      openStore(url, () => {}, { connections: 2, replicaUrls: [], replicaLagMs: 2000, alerts });
    const before = await restarted(DEFAULT_ALERT_SETTINGS);
    await putFleet(before, { a: ["one", "two"], b: [] });
    const run = async (store: Store, settings: AlertSettings, now: number): Promise<string[]> => {
      for (let hasMore = true, claimedAt: number | undefined; hasMore; ) {
        ({ claimedAt, hasMore } = await store.sweepAlerts({ claimedAt, at: now, settings }));
      }
      return stateOf(store);
    };
    for (const tankId of ["one", "two"]) await measure(before, tankId, 30, START);
    await forecast(before, "one", { days: 3, leak: LEAK });
    await forecast(before, "two", { days: 12 });
    const open = ["one leak open", "one runs_low_soon open"];
    assert.deepEqual(await run(before, DEFAULT_ALERT_SETTINGS, START), open);
    await before.close();
    const off = { ...DEFAULT_ALERT_SETTINGS, runsLowDays: 0, leakAlerts: false };
    const without = await restarted(off);
    assert.deepEqual(await run(without, off, START + 60_000), ["one leak turned_off", "one runs_low_soon turned_off"]);
    await without.close();
    const long = { ...DEFAULT_ALERT_SETTINGS, runsLowDays: 14 };
    const last = await restarted(long);
    const after = await run(last, long, START + 120_000);
    await last.close();
    assert.deepEqual(after, [open[0], "one leak turned_off", open[1], "one runs_low_soon turned_off", "two runs_low_soon open"]);
  });

  const fleet = engine.name === "postgres" ? "head" : "fleet";
  test("active conditions that do not follow from the forecast are found and repaired", async (t) => {
    const { store, url } = await engine.open(t);
    await putFleet(store, { a: ["soon", "fine"], b: [] });
    for (const tankId of ["soon", "fine"]) await measure(store, tankId, 30, START);
    await forecast(store, "soon", { days: 3, leak: LEAK });
    await forecast(store, "fine", { days: 90 });
    await store.sweepAlerts({ at: START, settings: DEFAULT_ALERT_SETTINGS });
    assert.deepEqual((await checked(store)).findings, []);
    await runSql(url, "DELETE FROM alert WHERE kind = 'runs_low_soon'");
    await runSql(url, `UPDATE ${fleet} SET active_conditions = 8 WHERE tank = 'soon'`);
    await runSql(url, `UPDATE ${fleet} SET active_conditions = 4 WHERE tank = 'fine'`);
    const found = (await checked(store)).findings.map(({ where, what }) => `${where}: ${what}`);
    assert.match(
      found.join("\n"),
      /tank fine: its condition runs_low_soon is active.*\n.*tank soon: its condition runs_low_soon is not active/,
    );
    await checked(store, true);
    assert.deepEqual((await checked(store)).findings, []);
    assert.deepEqual((await store.alertsNotClosed(["soon", "fine"])).map(({ tank_id, kind }) => `${tank_id} ${kind}`).sort(), [
      "soon leak",
      "soon runs_low_soon",
    ]);
  });
}

for (const engine of [sqliteEngine, postgresEngine]) suite(`${engine.name}: alerts of forecasts`, () => forecastAlerts(engine));
