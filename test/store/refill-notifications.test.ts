// Who is notified of refills, when, and in how many messages, on both engines.

import assert from "node:assert/strict";
import { suite, test } from "node:test";
import type { Store } from "../../src/domain/store.ts";
import { at, command, executed } from "../support/commands.ts";
import { putForecast } from "./alert-support.ts";
import {
  compose,
  DAY,
  deferred,
  HOUR,
  MINUTE,
  mails,
  measure,
  NOON,
  putChannel,
  putMailChannel,
  putOwner,
  SECOND,
  subjects,
} from "./compose-support.ts";
import { ALL_NOTIFICATIONS, checked } from "./conformance/objects.ts";
import { type Engine, type Opened, postgresEngine, sqliteEngine } from "./engines.ts";
import { runSql } from "./raw-sql.ts";

/** The forecast finds that each of these tanks was refilled a day ago. */
async function refill(store: Store, now: number, ...tanks: string[]): Promise<void> {
  await measure(store, 92, now, ...tanks);
  const refills = [{ startedAt: now - DAY, endedAt: now - DAY + 2 * HOUR, from: 18, to: 92.5 }];
  for (const id of tanks) await putForecast(store, id, { refills, now });
}

const webhooks = ({ url }: Pick<Opened, "url">) =>
  runSql(url, "SELECT event, alert_ids, tank_id, payload FROM notification WHERE destination = 'chn_hook'");

function refillNotifications(engine: Engine): void {
  test("an e-mail channel reads which tank was refilled, whose, from what to what, the volume and when; its owner gets no mail", async (t) => {
    const opened = await engine.open(t);
    const { store } = opened;
    await putOwner(store, "a", ["t1"], { name: "Brenner Gas GmbH", phone: "+49 30 5550 0142" });
    await putMailChannel(store, { events: ["tank.refilled"] });
    await refill(store, NOON, "t1");
    await compose(opened, NOON + 4 * SECOND);
    assert.deepEqual(await mails(opened), [], "it is collected for five seconds");
    await compose(opened, NOON + 6 * SECOND);
    const [mail, ...others] = await mails(opened);
    assert.deepEqual(
      [mail?.to, mail?.subject, mail?.event, mail?.alertIds, mail?.tankId, others],
      ["dispatch@operator.example", "Tank refilled, 92.5%: Tank t1", "tank.refilled", [], "t1", []],
    );
    for (const line of [
      "Fill: from 18% to 92.5%",
      "Volume: 2,012 liters",
      "Refilled: between 31 May 2026 at 12:00 UTC and 31 May 2026 at 14:00 UTC",
      "Customer: Brenner Gas GmbH",
      "Phone: +49 30 5550 0142",
      "Tank ID: t1",
    ]) {
      assert.ok(mail?.text.includes(`\n  ${line}\n`), `${line} in\n${mail?.text}`);
    }
    const { data } = await store.notificationPage({ ...ALL_NOTIFICATIONS, channel_id: "chn_mail" });
    assert.deepEqual(
      data.map(({ event, alert_ids, tank_id, state }) => [event, alert_ids, tank_id, state]),
      [["tank.refilled", [], "t1", "pending"]],
    );
    assert.deepEqual([await deferred(opened), (await checked(store)).findings], [0, []]);
  });

  test("channels that do not want refills get none: other events, kinds of alerts, another customer; for a disabled one they have failed", async (t) => {
    const opened = await engine.open(t);
    const { store } = opened;
    await putOwner(store, "a", ["t1"]);
    await putOwner(store, "b", []);
    const unwanted = [{ events: ["alert.closed"] }, { kinds: ["low"] }, { customer_id: "b" }];
    for (const [i, fields] of unwanted.entries()) {
      await putChannel(store, `chn_m${i}`, { type: "email", to: `m${i}@operator.example`, ...fields });
      await putChannel(store, `chn_w${i}`, { type: "webhook", url: "https://hooks.example.com/", delay: null, ...fields });
    }
    await putMailChannel(store, { customer_id: "a" });
    await refill(store, NOON, "t1");
    assert.equal(await deferred(opened), 1);
    await runSql(opened.url, "UPDATE channel SET state = 'disabled' WHERE id = 'chn_mail'");
    await compose(opened, NOON + 6 * SECOND);
    const notifications = await runSql(opened.url, "SELECT channel_id, state FROM notification");
    assert.deepEqual(
      [notifications.map(({ channel_id, state }) => `${channel_id} ${state}`), await deferred(opened)],
      [["chn_mail failed"], 0],
    );
  });

  test("refills and alerts of the same time are one mail, and what follows within ten minutes is one more", async (t) => {
    const opened = await engine.open(t);
    const { store } = opened;
    await putOwner(store, "a", ["t1", "t2", "t3", "t4", "low"], { verified_at: null });
    await putMailChannel(store);
    await refill(store, NOON, "t1", "t2");
    await measure(store, 10, NOON + SECOND, "low");
    await compose(opened, NOON + 6 * SECOND);
    await refill(store, NOON + MINUTE, "t3");
    await compose(opened, NOON + 5 * MINUTE);
    await refill(store, NOON + 9 * MINUTE, "t4");
    await compose(opened, NOON + 10 * MINUTE);
    assert.deepEqual(await subjects(opened), ["1 tank is low, 2 refills"]);
    await compose(opened, NOON + 10 * MINUTE + 6 * SECOND);
    const [first, second] = await mails(opened);
    assert.deepEqual([first?.event, first?.alertIds.length, first?.tankId], ["alert.digest", 1, null]);
    assert.deepEqual([second?.subject, second?.event, second?.tankId], ["2 refills", "tank.refilled", null]);
    await measure(store, 10, NOON + 11 * MINUTE, "t1");
    await compose(opened, NOON + 19 * MINUTE);
    assert.equal((await mails(opened)).length, 2, "mail about refills also holds back mail about alerts");
    await compose(opened, NOON + 21 * MINUTE);
    assert.equal((await subjects(opened)).at(-1), "Tank low, 10%: Tank t1");
  });

  test("more than 1,000 refills are one mail with their number and the 20 latest", async (t) => {
    const opened = await engine.open(t);
    const { store } = opened;
    const tanks = Array.from({ length: 1005 }, (_, i) => `t${1000 + i}`);
    await putOwner(store, "a", tanks);
    await putMailChannel(store, { events: ["tank.refilled"] });
    await measure(store, 92, NOON, ...tanks);
    const forecast = { state: "no_use", based_on_until: NOON, level: 92, leak: "none" } as const;
    const when = { p10: null, p50: null, p90: null };
    const values = { use_per_day: null, runs_low_at: when, runs_empty_at: when, suggested_delivery: null };
    const settings = { latitude: null, use_case: null, threshold: 20, capacity: 2700, capacity_unit: "liters" } as const;
    const computed = tanks.map((tankId, i) => ({
      ...{ tankId, settings, latestAt: NOON, latestFill: 92, forecast: { ...forecast, ...values } },
      refills: [{ startedAt: NOON - DAY, endedAt: NOON - DAY + HOUR + i, from: 10, to: 92 }],
    }));
    await store.storeForecasts(computed, NOON);
    await compose(opened, NOON + 6 * SECOND);
    const [mail, ...others] = await mails(opened);
    assert.deepEqual([mail?.subject, mail?.event, mail?.tankId, others], ["1,005 refills", "alert.digest", null, []]);
    const listed = Array.from(mail?.text.matchAll(/^Tank (t\d+)$/gm) ?? [], ([, id = ""]) => id);
    assert.deepEqual(listed, tanks.slice(-20).reverse());
    assert.match(mail?.text ?? "", /The 20 latest:\n[\s\S]*985 more are not listed here/);
    assert.deepEqual([await deferred(opened), await runSql(opened.url, "SELECT * FROM digest_draft")], [0, []]);
  });

  test("quiet hours hold mail about refills", async (t) => {
    const opened = await engine.open(t);
    const { store } = opened;
    await putOwner(store, "a", ["t1", "t2"]);
    const quiet_hours = { from: "21:00", to: "07:00", timezone: "Europe/Berlin" };
    await putMailChannel(store, { events: ["tank.refilled"], quiet_hours });
    const morning = Date.parse("2026-06-02T07:00:00+02:00");
    await refill(store, morning - 9 * HOUR, "t1");
    await refill(store, morning - 2 * HOUR, "t2");
    for (const now of [morning - 8 * HOUR, morning - 1]) await compose(opened, now);
    assert.deepEqual(await mails(opened), []);
    await compose(opened, morning);
    assert.deepEqual(await subjects(opened), ["2 refills"]);
  });

  test("a channel with a delay is notified of refills after it, also of a tank that was deleted: webhooks the event of the feed", async (t) => {
    const opened = await engine.open(t);
    const { store } = opened;
    await putOwner(store, "a", ["t1"], { verified_at: null });
    await putMailChannel(store, { events: ["tank.refilled"], delay: "4h" });
    await putChannel(store, "chn_hook", { type: "webhook", url: "https://hooks.example.com/", delay: "4h" });
    await refill(store, NOON, "t1");
    await executed(store, command.deleteTank("t1"), at(NOON + HOUR));
    await compose(opened, NOON + 4 * HOUR - 6 * SECOND);
    assert.deepEqual([await mails(opened), await webhooks(opened)], [[], []]);
    await compose(opened, NOON + 4 * HOUR);
    assert.deepEqual(await subjects(opened), ["Tank refilled, 92.5%: Tank t1"]);
    const { payloads } = await store.eventFeed({ after: 0, size: 10 }, { customerId: null });
    const payload = payloads.find((text) => text.includes('"tank.refilled"'));
    assert.deepEqual(
      (await webhooks(opened)).map((row) => ({ ...row })),
      [{ event: "tank.refilled", alert_ids: "[]", tank_id: "t1", payload }],
    );
    assert.equal(await deferred(opened), 0);
  });

  test("a refill is announced once, also if a forecast between has not found it; those of an imported history are not", async (t) => {
    const opened = await engine.open(t);
    const { store } = opened;
    await putOwner(store, "a", ["t1"]);
    await putChannel(store, "chn_hook", { type: "webhook", url: "https://hooks.example.com/", events: ["tank.refilled"] });
    const refillAgo = (days: number) => ({ startedAt: NOON - days * DAY, endedAt: NOON - days * DAY + HOUR, from: 20, to: 90 });
    await measure(store, 92, NOON, "t1");
    await putForecast(store, "t1", { now: NOON });
    const forecasts = [[refillAgo(2)], [], [refillAgo(2)], [refillAgo(20), refillAgo(10), refillAgo(2)]];
    for (const [i, refills] of forecasts.entries()) {
      await putForecast(store, "t1", { refills, now: NOON + i * MINUTE });
      assert.equal((await webhooks(opened)).length, 1, `after forecast ${i}`);
    }
    await putOwner(store, "b", ["t2"]);
    await measure(store, 92, NOON, "t2");
    await putForecast(store, "t2", { now: NOON });
    await putForecast(store, "t2", { refills: [refillAgo(20), refillAgo(10), refillAgo(4)], now: NOON + DAY });
    assert.equal((await webhooks(opened)).length, 1, "an imported history");
  });

  test("a webhook without a delay gets a refill at once", async (t) => {
    const opened = await engine.open(t);
    await putOwner(opened.store, "a", ["t1"]);
    await putChannel(opened.store, "chn_hook", { type: "webhook", url: "https://hooks.example.com/" });
    await refill(opened.store, NOON, "t1");
    assert.deepEqual([(await webhooks(opened)).length, await deferred(opened)], [1, 0]);
  });
}

for (const engine of [sqliteEngine, postgresEngine]) suite(`${engine.name}: refills`, () => refillNotifications(engine));
