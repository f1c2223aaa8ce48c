// Processes that ingest at once, and one that is killed: whatever they were doing, alerts, events and notifications agree with the
// readings that are stored.

import assert from "node:assert/strict";
import { setTimeout as pause } from "node:timers/promises";
import { alertObject } from "../../../src/domain/alerts/alert.ts";
import { DEFAULT_ALERT_SETTINGS } from "../../../src/domain/alerts/evaluate.ts";
import type { TankState } from "../../../src/domain/changes.ts";
import type { Command } from "../../../src/domain/commands/command.ts";
import { UNRESTRICTED } from "../../../src/domain/key.ts";
import type { Reading } from "../../../src/domain/reading.ts";
import type { Store } from "../../../src/domain/store.ts";
import { type Random, seeded } from "../../../src/simulate/random.ts";
import { at, command, executed } from "../../support/commands.ts";
import { startScript } from "../../support/script.ts";
import type { Lifetime } from "../../support/service.ts";
import { times } from "../../support/times.ts";
import { alertsOf, putFleet, putForecast } from "../alert-support.ts";
import { checked, readingsOf, WHOLE } from "../conformance/objects.ts";
import type { Engine } from "../engines.ts";
import { runSql } from "../raw-sql.ts";
import { type Facts, NaiveAlerts } from "./naive.ts";

/** Batches that are sent before the first of them is stored: only these can share a commit. */
const IN_FLIGHT = 3;
const TANKS = Array.from({ length: 6 }, (_, i) => `t${i}`);

async function prepare(store: Store): Promise<void> {
  await putFleet(store, { a: TANKS, b: [] });
  const fields = { type: "webhook", url: "https://hooks.example.com/" };
  const channel: Command = { type: "create_channel", newId: "chn_all", fields, secret: "whsec_", webhookAllow: [] };
  await executed(store, channel, at(Date.now()));
}

type Measured = { readonly tank: string; readonly at: number; readonly fill: number };

/** Each batch is newer than the one before; fills are low, in between and high. */
function randomBatches(random: Random, count: number): Measured[][] {
  const start = Date.now() - count * 1000;
  return times(count, (batch) =>
    times(random.whole(1, 4), () => {
      return {
        tank: random.pick(TANKS),
        at: start + batch * 1000 + random.whole(0, 900),
        fill: random.pick([5, 20, 21, 22.9, 23, 60]),
      };
    }),
  );
}

export async function killWhileIngesting(engine: Engine, life: Lifetime, seed: string): Promise<void> {
  const random = seeded(seed);
  const { store, reopen, url, settled } = await engine.open(life);
  await prepare(store);
  await store.close();
  const script = await startScript(life, "ingests.ts", url);
  const batches = randomBatches(random, 80);
  const sent = batches.slice(0, random.whole(IN_FLIGHT, batches.length));
  for (const [i, batch] of sent.entries()) {
    if (i >= IN_FLIGHT) await script.lines(1);
    script.send(JSON.stringify(batch));
  }
  await pause(random.whole(0, 10));
  script.child.kill("SIGKILL");
  const confirmed = sent.length - IN_FLIGHT + (await script.lines(Number.POSITIVE_INFINITY)).length;
  await settled();
  const reopened = await reopen();
  await requireAgreement(reopened, url);
  await requireTransitions(reopened, sent, confirmed);
}

export async function ingestInProcesses(engine: Engine, life: Lifetime, seed: string): Promise<void> {
  const random = seeded(seed);
  const { store, url, deadlocks } = await engine.open(life);
  await prepare(store);
  const scripts = await Promise.all([1, 2].map(() => startScript(life, "ingests.ts", url)));
  const sent = scripts.map((script) => {
    const batches = randomBatches(random, 60);
    for (const batch of batches) script.send(JSON.stringify(batch));
    return script.lines(batches.length);
  });
  let isDone = false;
  const others = (async () => {
    for (let now = Date.now(); !isDone; now += 60_000) {
      await store.sweepAlerts({ at: now, settings: DEFAULT_ALERT_SETTINGS });
      const tankId = random.pick(TANKS);
      const hasReading = (await readingsOf(store, tankId, { size: 1 })).totalItems > 0;
      const leak = random.pick([{ since: now, excess: 1, isSudden: false }, "none"] as const);
      if (hasReading) await putForecast(store, tankId, { days: random.pick([3, 30]), leak });
      const [alert] = await store.alertsNotClosed(TANKS);
      if (alert !== undefined) await store.execute(command.acknowledgeAlert(alert.id), at(Date.now()));
      const threshold = { min_fill_alert_percentage: random.pick([10, 20, 30]) };
      await executed(store, command.changeTank(random.pick(TANKS), threshold), at(Date.now()));
    }
  })();
  await Promise.all(sent);
  isDone = true;
  await others;
  await requireAgreement(store, url);
  assert.equal(await deadlocks(), 0);
}

/** The transitions are those of the naive rules, applied to the batches that are stored: at least those that were confirmed. */
async function requireTransitions(store: Store, batches: readonly Measured[][], confirmed: number): Promise<void> {
  const states = new Map<string, TankState>();
  const stored: string[] = [];
  for (const id of TANKS) {
    states.set(id, (await store.managedTank(id)) ?? assert.fail(id));
    stored.push(...(await readingsOf(store, id, { size: 1000 })).data.map((reading) => nameOf(id, reading)));
  }
  const isStored = ({ tank, at, fill }: Measured) => stored.includes(nameOf(tank, { created_at: at, fill_percentage: fill }));
  const count = batches.findLastIndex((batch) => batch.some(isStored)) + 1;
  assert.ok(count >= confirmed, `${count} of ${confirmed} batches are stored`);
  const facts = times(count + 1, (i) => factsOf(states, batches.slice(0, i).flat()));
  const expected = [...(facts.at(-1) ?? [])].flatMap(([id, { readings }]) => readings.map((reading) => nameOf(id, reading)));
  assert.deepEqual(stored.sort(), expected.sort(), "whole batches are stored, in their order");
  const events = (await feedOf(store)).map(({ type, data: { alert } }) => {
    return `${alert.tank_id} ${alert.kind} ${type} ${Date.parse(alert.latest_reading_at)}`;
  });
  assert.ok(isExplained(events, facts), `the naive rules give other events than\n${events.join("\n")}`);
}

const nameOf = (tank: string, { created_at, fill_percentage }: Reading): string => `${tank} ${created_at} ${fill_percentage}`;

/** Whether the naive rules give these events for some grouping of the batches into commits. `facts`: before and after each batch. */
function isExplained(events: readonly string[], facts: readonly Facts[]): boolean {
  // After each batch: the alerts if a commit ended there, by the number of events until then.
  const ends = facts.map(() => new Map<number, NaiveAlerts>());
  ends[0]?.set(0, new NaiveAlerts());
  for (const [from, before] of facts.entries()) {
    for (const [seen, naive] of ends[from] ?? []) {
      for (const [i, after] of facts.slice(from + 1, from + 1 + IN_FLIGHT).entries()) {
        const next = naive.copy();
        next.commit(before, after, Date.now());
        const latestOf = (tank: string) => after.get(tank)?.readings.at(-1)?.created_at;
        const added = next.events.slice(seen).map(({ tank, kind, type }) => `${tank} ${kind} ${type} ${latestOf(tank)}`);
        const actual = events.slice(seen, next.events.length);
        if (added.sort().join() === actual.sort().join()) ends[from + 1 + i]?.set(next.events.length, next);
      }
    }
  }
  return ends.at(-1)?.has(events.length) ?? false;
}

/** Of two readings of a tank for one instant, the later one counts. */
function factsOf(states: ReadonlyMap<string, TankState>, sent: readonly Measured[]): Facts {
  const byTank = Map.groupBy(sent, ({ tank }) => tank);
  return new Map(
    Array.from(states, ([id, state]) => {
      const fills = new Map(byTank.get(id)?.map(({ at, fill }) => [at, fill]));
      const readings = Array.from(fills, ([created_at, fill_percentage]) => ({ created_at, fill_percentage }));
      return [id, { state, readings: readings.sort((a, b) => a.created_at - b.created_at) }];
    }),
  );
}

type FeedEvent = { readonly type: string; readonly sequence: number; readonly data: { readonly alert: AlertObject } };
type AlertObject = ReturnType<typeof alertObject>;

async function feedOf(store: Store): Promise<FeedEvent[]> {
  const { payloads } = await store.eventFeed({ after: 0, size: 100_000 }, UNRESTRICTED);
  return payloads.map((payload) => JSON.parse(payload) as FeedEvent);
}

async function requireAgreement(store: Store, url: string): Promise<void> {
  assert.deepEqual((await checked(store)).findings, []);
  const { data: alerts } = await alertsOf(store, { size: 10_000 });
  const events = await feedOf(store);
  assert.deepEqual(
    events.map(({ sequence }) => sequence),
    events.map((_, i) => i + 1),
  );
  const notifications = { channel_id: "chn_all", customer_id: undefined, alert_id: undefined, state: undefined };
  const { data: sent } = await store.notificationPage({ ...WHOLE, size: 10_000, ...notifications });
  const ofAlert = Map.groupBy(events, ({ data }) => data.alert.id);
  for (const alert of alerts) {
    const types = ofAlert.get(alert.id)?.map(({ type }) => type);
    const expected = [
      "alert.opened",
      ...(alert.acknowledged_at === null ? [] : ["alert.acknowledged"]),
      ...(alert.state === "closed" ? ["alert.closed"] : []),
    ];
    assert.deepEqual(types, expected, JSON.stringify(alertObject(alert)));
  }
  assert.deepEqual(
    sent.map(({ event, alert_ids }) => `${event} ${alert_ids}`).sort(),
    events.map(({ type, data }) => `${type} ${data.alert.id}`).sort(),
    "each event is one notification",
  );
  const deferred = await runSql(url, "SELECT event, alert_id FROM deferred_notification");
  const opened = alerts.filter(({ kind }) => kind === "low");
  const recovered = opened.filter(({ close_reason }) => close_reason === "recovered");
  assert.deepEqual(
    deferred.map(({ event, alert_id }) => `${event} ${alert_id}`).sort(),
    [
      ...opened.flatMap(({ id }) => [`alert.opened ${id}`, `alert.reminder ${id}`]),
      ...recovered.map(({ id }) => `alert.closed ${id}`),
    ].sort(),
    "the owner is notified of each",
  );
  for (const tank of TANKS) {
    const [newest] = (await readingsOf(store, tank, { size: 1 })).data;
    const threshold = (await store.managedTank(tank))?.tank.min_fill_alert_percentage ?? 0;
    const isOpen = alerts.some((alert) => alert.tank_id === tank && alert.kind === "low" && alert.state !== "closed");
    if (newest === undefined || newest.fill_percentage >= threshold + 3) assert.equal(isOpen, false, `${tank} is not low`);
    else if (newest.fill_percentage <= threshold) assert.equal(isOpen, true, `${tank} is low`);
  }
}
