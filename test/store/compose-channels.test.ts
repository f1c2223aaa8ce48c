// What mail to operators says, and how changes of a channel apply to what is delayed or held for it, on both engines.

import assert from "node:assert/strict";
import { suite, test } from "node:test";
import { CHANNEL_DISABLED } from "../../src/domain/alerts/notification-queue.ts";
import { formatInstant } from "../../src/domain/instant.ts";
import type { Store } from "../../src/domain/store.ts";
import { createUser } from "../support/browser.ts";
import { at, command, executed } from "../support/commands.ts";
import { putForecast } from "./alert-support.ts";
import {
  AFTERNOON,
  changeChannel,
  compose,
  composeNext,
  DAY,
  deferred,
  HOUR,
  LOW_SUBJECT,
  MINUTE,
  mails,
  measure,
  NOON,
  openWithTank,
  putChannel,
  putMailChannel,
  putOwner,
  SECOND,
  subjects,
  webhooks,
} from "./compose-support.ts";
import { type Engine, type Opened, postgresEngine, sqliteEngine } from "./engines.ts";
import { runSql } from "./raw-sql.ts";

function operatorMail(engine: Engine): void {
  test("mail names the user who has acknowledged an alert, except to channels for one customer", async (t) => {
    const opened = await openWithTank(t, engine);
    const { store } = opened;
    await putMailChannel(store);
    await putChannel(store, "chn_one", { type: "email", to: "one@operator.example", customer_id: "a" });
    const by = await createUser({ store }, "admin", "lena@operator.example");
    await measure(store, 10, NOON, "t1");
    const [alert] = await store.alertsNotClosed(["t1"]);
    await executed(store, command.acknowledgeAlert(alert?.id ?? "", {}, { by }), at(NOON + SECOND));
    await compose(opened, NOON + MINUTE);
    const texts = new Map((await mails(opened)).map(({ to, text }) => [to, text]));
    assert.match(texts.get("dispatch@operator.example") ?? "", /Acknowledged: .* UTC, by The admin\n/);
    assert.ok(texts.get("one@operator.example")?.includes(`UTC, by ${by}\n`));
  });

  test("an alert that was acknowledged while its mail was held is counted once, however many there are", async (t) => {
    const opened = await openWithTank(t, engine);
    const { store } = opened;
    // More than the 500 notifications of a step.
    const tanks = Array.from({ length: 460 }, (_, i) => `n${i}`);
    await putOwner(store, "n", tanks, { settings: { unsubscribed_at: NOON } });
    await putMailChannel(store, { quiet_hours: AFTERNOON });
    await measure(store, 10, NOON, ...tanks);
    for (const { id } of await store.alertsNotClosed(tanks.slice(0, 60))) {
      await executed(store, command.acknowledgeAlert(id, {}), at(NOON + SECOND));
    }
    await changeChannel(store, "chn_mail", { quiet_hours: null }, NOON + HOUR);
    await compose(opened, NOON + HOUR + SECOND);
    assert.deepEqual(await subjects(opened), ["400 tanks are low, 60 low-fill alerts acknowledged"]);
  });

  test("mail has links to the tanks, of alerts and refills, unless there is no PUBLIC_URL or the tank is deleted", async (t) => {
    const opened = await engine.open(t);
    const { store } = opened;
    await putOwner(store, "a", ["t/1 ?&<b>", "t2"], { settings: { unsubscribed_at: NOON } });
    await putMailChannel(store);
    await measure(store, 80, NOON, "t2");
    const refill = { startedAt: NOON - 2 * DAY, endedAt: NOON - DAY, from: 20, to: 80 };
    await putForecast(store, "t2", { refills: [], now: NOON });
    await putForecast(store, "t2", { refills: [refill], now: NOON });
    await measure(store, 10, NOON, "t/1 ?&<b>");
    await compose(opened, NOON + MINUTE);
    await measure(store, 50, NOON + HOUR, "t/1 ?&<b>");
    await compose(opened, NOON + 2 * HOUR, { publicUrl: null });
    await measure(store, 10, NOON + 3 * HOUR, "t2");
    await executed(store, command.deleteTank("t2"), at(NOON + 3 * HOUR + SECOND));
    await compose(opened, NOON + 4 * HOUR);
    const links = (await mails(opened)).map(({ text, html }) => {
      const [inText, inHtml] = [text, html].map((part) => part.match(/https:[^\s"<]+/g) ?? []);
      assert.deepEqual(inHtml, inText);
      return inText;
    });
    const url = "https://tanks.example.com/monitor/tanks";
    assert.deepEqual(links, [[`${url}/t%2F1%20%3F%26%3Cb%3E`, `${url}/t2`], [], []]);
  });
}

function heldNotifications(engine: Engine): void {
  test("the status of a channel counts what is held for it, by quiet hours or a delay", async (t) => {
    const opened = await openWithTank(t, engine);
    const { store } = opened;
    await putOwner(store, "b", ["t2"], { settings: { unsubscribed_at: NOON } });
    await putMailChannel(store, { quiet_hours: AFTERNOON });
    await putChannel(store, "chn_hook", { type: "webhook", url: "https://hooks.example.com/", delay: "4h" });
    const held = async () => {
      const statuses = [{ id: "chn_mail", type: "email" } as const, { id: "chn_hook", type: "webhook" } as const];
      return (await Promise.all(statuses.map((channel) => store.channelStatus(channel)))).map(({ held, pending }) => [
        held,
        pending,
      ]);
    };
    await measure(store, 10, NOON, "t1", "t2");
    await compose(opened, NOON + HOUR);
    assert.deepEqual(await held(), [
      [2, 0],
      [2, 0],
    ]);
    await compose(opened, NOON + 4 * HOUR);
    assert.deepEqual(await held(), [
      [2, 0],
      [0, 2],
    ]);
    await compose(opened, NOON + 11 * HOUR);
    assert.deepEqual(await held(), [
      [0, 1],
      [0, 2],
    ]);
  });

  test("of very many held notifications 10,000 are counted", async (t) => {
    const { store, url } = await openWithTank(t, engine);
    await putMailChannel(store);
    const row = (i: number) => `('msg_${i}', 'chn_mail', 'chn_mail', 'alert.opened', 'alr', 't1', 5, 5)`;
    const rows = Array.from({ length: 10_001 }, (_, i) => row(i));
    const columns = "id, recipient, channel_id, event, alert_id, tank_id, due_at, created_at";
    await runSql(url, `INSERT INTO deferred_notification (${columns}) VALUES ${rows.join(", ")}`);
    assert.equal((await store.channelStatus({ id: "chn_mail", type: "email" })).held, 10_000);
  });
}

function changedChannels(engine: Engine): void {
  test("mail is sent at once when the quiet hours that hold it are removed, and held when there are new ones", async (t) => {
    const opened = await openWithTank(t, engine);
    const { store } = opened;
    await putMailChannel(store, { quiet_hours: AFTERNOON });
    await measure(store, 10, NOON, "t1");
    await compose(opened, NOON + MINUTE);
    await changeChannel(store, "chn_mail", { quiet_hours: { ...AFTERNOON, to: "22:00" } }, NOON + HOUR);
    await compose(opened, NOON + 2 * HOUR);
    assert.deepEqual(await subjects(opened), []);
    await changeChannel(store, "chn_mail", { quiet_hours: null }, NOON + 3 * HOUR);
    await compose(opened, NOON + 3 * HOUR + SECOND);
    assert.deepEqual(await subjects(opened), [LOW_SUBJECT]);
  });

  test("what is held stays as it is when something else than its times is changed", async (t) => {
    const opened = await openWithTank(t, engine);
    const { store, url } = opened;
    await putMailChannel(store, { quiet_hours: AFTERNOON });
    await measure(store, 10, NOON, "t1");
    await compose(opened, NOON + MINUTE);
    const sql = "SELECT due_at FROM deferred_notification WHERE recipient = 'chn_mail'";
    const dueAt = async () => (await runSql(url, sql)).map((row) => Number(row["due_at"]));
    const held = await dueAt();
    assert.deepEqual(held, [Date.parse("2026-06-01T23:00:00Z")]);
    for (const fields of [{ description: "Night shift" }, { to: "night@operator.example" }, { kinds: ["low"] }]) {
      await changeChannel(store, "chn_mail", fields, NOON + HOUR);
      assert.deepEqual(await dueAt(), held);
    }
    await compose(opened, NOON + 11 * HOUR);
    assert.deepEqual(await subjects(opened), [LOW_SUBJECT]);
  });

  test("a changed delay counts from the alert, for mail and webhooks", async (t) => {
    const opened = await openWithTank(t, engine);
    const { store } = opened;
    await putMailChannel(store, { delay: "4h" });
    await putChannel(store, "chn_hook", { type: "webhook", url: "https://hooks.example.com/", delay: "8h" });
    await measure(store, 10, NOON, "t1");
    await changeChannel(store, "chn_mail", { delay: "6h" }, NOON + HOUR);
    await changeChannel(store, "chn_hook", { delay: "2h" }, NOON + HOUR);
    await compose(opened, NOON + 2 * HOUR - 1);
    assert.deepEqual([await webhooks(opened), await subjects(opened)], [[], []]);
    await compose(opened, NOON + 2 * HOUR);
    await compose(opened, NOON + 6 * HOUR - 6 * SECOND);
    assert.deepEqual([await webhooks(opened), await subjects(opened)], [["alert.opened"], []]);
    await compose(opened, NOON + 6 * HOUR);
    assert.deepEqual(await subjects(opened), [LOW_SUBJECT]);
  });

  test("a delay that is changed again, after the clock was ahead, delays nothing until the time it showed", async (t) => {
    const opened = await openWithTank(t, engine);
    const { store } = opened;
    await putChannel(store, "chn_hook", { type: "webhook", url: "https://hooks.example.com/", delay: "8h" });
    await measure(store, 10, NOON, "t1");
    await changeChannel(store, "chn_hook", { delay: "6h" }, NOON + 30 * DAY);
    await changeChannel(store, "chn_hook", { delay: "2h" }, NOON + HOUR);
    await compose(opened, NOON + 2 * HOUR);
    assert.deepEqual(await webhooks(opened), ["alert.opened"]);
  });

  test("without its delay a webhook gets every event that was delayed", async (t) => {
    const opened = await openWithTank(t, engine);
    const { store } = opened;
    await putChannel(store, "chn_hook", { type: "webhook", url: "https://hooks.example.com/", delay: "8h" });
    await measure(store, 10, NOON, "t1");
    const [alert] = await store.alertsNotClosed(["t1"]);
    await executed(store, command.acknowledgeAlert(alert?.id ?? ""), at(NOON + MINUTE));
    await changeChannel(store, "chn_hook", { delay: null }, NOON + HOUR);
    await compose(opened, NOON + HOUR);
    assert.deepEqual((await webhooks(opened)).toSorted(), ["alert.acknowledged", "alert.opened"]);
  });

  test("what a channel does not want any more is not sent", async (t) => {
    for (const fields of [{ kinds: ["leak"] }, { events: ["tank.refilled"] }, { customer_id: "other" }]) {
      const opened = await openWithTank(t, engine);
      const { store } = opened;
      await putOwner(store, "other", []);
      await putMailChannel(store, { delay: "4h" });
      await putChannel(store, "chn_hook", { type: "webhook", url: "https://hooks.example.com/", delay: "4h" });
      await measure(store, 10, NOON, "t1");
      for (const id of ["chn_mail", "chn_hook"]) await changeChannel(store, id, fields, NOON + HOUR);
      await compose(opened, NOON + 5 * HOUR);
      assert.deepEqual([await webhooks(opened), await subjects(opened)], [[], []], JSON.stringify(fields));
      await compose(opened, NOON + 5 * DAY);
      assert.equal(await deferred(opened), 0);
    }
  });

  test("refills are not sent to a channel that is limited to kinds or to another customer by now", async (t) => {
    for (const fields of [{ kinds: ["low"] }, { customer_id: "other" }]) {
      const opened = await openWithTank(t, engine);
      const { store } = opened;
      await putOwner(store, "other", []);
      await putMailChannel(store, { delay: "4h" });
      await putChannel(store, "chn_hook", { type: "webhook", url: "https://hooks.example.com/", delay: "4h" });
      await measure(store, 80, NOON, "t1");
      const refill = { startedAt: NOON - 2 * DAY, endedAt: NOON - DAY, from: 20, to: 80 };
      await putForecast(store, "t1", { refills: [], now: NOON });
      await putForecast(store, "t1", { refills: [refill], now: NOON });
      assert.equal(await deferred(opened), 2);
      for (const id of ["chn_mail", "chn_hook"]) await changeChannel(store, id, fields, NOON + HOUR);
      await compose(opened, NOON + 5 * HOUR);
      assert.deepEqual([await webhooks(opened), await subjects(opened), await deferred(opened)], [[], [], 0]);
    }
  });
}

function disabledChannels(engine: Engine): void {
  const HOOK = { type: "webhook", url: "https://hooks.example.com/" };
  const recover = async (store: Store, id: string, now: number) => {
    const fields = { since: formatInstant(NOON) };
    return (await executed(store, { type: "recover_channel", id, fields, failedBy: now }, at(now))).object["recovered"];
  };
  const notifications = async ({ url }: Opened) =>
    (await runSql(url, "SELECT event, state, attempts, payload FROM notification ORDER BY id")).map((row) => ({
      event: row["event"],
      state: row["state"],
      error: JSON.parse(String(row["attempts"])).at(-1)?.error,
      payload: String(row["payload"]),
    }));

  test("mail that quiet hours hold fails as one mail when the channel is disabled, and is sent again", async (t) => {
    const opened = await openWithTank(t, engine);
    const { store } = opened;
    await putOwner(store, "b", ["t2"], { settings: { unsubscribed_at: NOON } });
    await putMailChannel(store, { quiet_hours: AFTERNOON });
    await measure(store, 10, NOON, "t1");
    await measure(store, 10, NOON + MINUTE, "t2");
    await compose(opened, NOON + HOUR);
    await changeChannel(store, "chn_mail", { state: "disabled" }, NOON + 2 * HOUR);
    await compose(opened, NOON + 2 * HOUR + SECOND);
    const [mail, ...others] = await notifications(opened);
    assert.deepEqual([mail?.state, mail?.error, others], ["failed", CHANNEL_DISABLED, []]);
    assert.deepEqual(await subjects(opened), ["2 tanks are low"]);
    await changeChannel(store, "chn_mail", { state: "active" }, NOON + 3 * HOUR);
    assert.equal(await recover(store, "chn_mail", NOON + 3 * HOUR), 1);
    assert.equal((await notifications(opened))[0]?.state, "pending");
  });

  test("what is delayed fails when it is due, if the channel is disabled then, and is sent again", async (t) => {
    const opened = await openWithTank(t, engine);
    const { store } = opened;
    await putOwner(store, "b", ["t2", "t3"], { settings: { unsubscribed_at: NOON } });
    await putChannel(store, "chn_hook", { ...HOOK, delay: "4h" });
    await measure(store, 10, NOON, "t1", "t2");
    await measure(store, 10, NOON + 3 * HOUR, "t3");
    await changeChannel(store, "chn_hook", { state: "disabled" }, NOON + 3 * HOUR + MINUTE);
    await measure(store, 50, NOON + 3 * HOUR + 2 * MINUTE, "t2");
    await compose(opened, NOON + 4 * HOUR);
    const [webhook, ...others] = await notifications(opened);
    assert.deepEqual([webhook?.event, webhook?.state, webhook?.error], ["alert.opened", "failed", CHANNEL_DISABLED]);
    assert.equal(JSON.parse(webhook?.payload ?? "").data.tank.id, "t1");
    assert.deepEqual(others, []);
    await changeChannel(store, "chn_hook", { state: "active" }, NOON + 5 * HOUR);
    assert.equal(await recover(store, "chn_hook", NOON + 5 * HOUR), 1);
    await compose(opened, NOON + 8 * HOUR);
    const states = (await notifications(opened)).map(({ state, payload }) => `${JSON.parse(payload).data.tank.id} ${state}`);
    assert.deepEqual(states, ["t1 pending", "t3 pending"]);
  });
}

function deletedChannels(engine: Engine): void {
  test("the mail that is being composed for a channel is dropped with it", async (t) => {
    const opened = await engine.open(t);
    const { store } = opened;
    const tanks = Array.from({ length: 501 }, (_, i) => `t${i}`);
    await putOwner(store, "a", tanks, { settings: { unsubscribed_at: NOON } });
    await putMailChannel(store);
    await measure(store, 10, NOON, ...tanks);
    const drafts = async () => (await runSql(opened.url, "SELECT recipient FROM digest_draft")).map(({ recipient }) => recipient);
    while ((await drafts()).length === 0) assert.ok(await composeNext(store, NOON + MINUTE));
    assert.deepEqual(await drafts(), ["chn_mail"]);
    await executed(store, { type: "delete_channel", id: "chn_mail" }, at(NOON + MINUTE));
    assert.deepEqual([await drafts(), await mails(opened)], [[], []]);
  });
}

for (const engine of [sqliteEngine, postgresEngine]) {
  suite(`${engine.name}: mail to operators`, () => operatorMail(engine));
  suite(`${engine.name}: held notifications`, () => heldNotifications(engine));
  suite(`${engine.name}: changed channels`, () => changedChannels(engine));
  suite(`${engine.name}: disabled channels`, () => disabledChannels(engine));
  suite(`${engine.name}: deleted channels`, () => deletedChannels(engine));
}
