// What becomes of deferred notifications, on both engines: who is notified of what, when, and in how many mails.

import assert from "node:assert/strict";
import { suite, test } from "node:test";
import { DEFAULT_ALERT_SETTINGS } from "../../src/domain/alerts/evaluate.ts";
import type { Store } from "../../src/domain/store.ts";
import { startComposer } from "../../src/notify/compose.ts";
import { openStore } from "../../src/store/open.ts";
import { at, command, executed } from "../support/commands.ts";
import { until } from "../support/until.ts";
import { requestLink } from "../support/verification.ts";
import { putForecast } from "./alert-support.ts";
import {
  compose,
  composeNext,
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
  SETTINGS,
  subjects,
} from "./compose-support.ts";
import { NEW_YEAR } from "./conformance/objects.ts";
import { type Engine, postgresEngine, sqliteEngine } from "./engines.ts";
import { runSql } from "./raw-sql.ts";

const alertOf = async (store: Store, tankId: string) =>
  (await store.alertsNotClosed([tankId]))[0] ?? assert.fail(`${tankId} has no alert`);

function composing(engine: Engine): void {
  test("ten tanks that become low within ten minutes are two mails, the first within ten seconds", async (t) => {
    const opened = await engine.open(t);
    const { store } = opened;
    const tanks = Array.from({ length: 10 }, (_, i) => `t${i}`);
    await putOwner(store, "a", tanks);
    for (const [i, id] of tanks.entries()) {
      const now = NOON + i * 50 * SECOND;
      await measure(store, 10, now, id);
      await compose(opened, now + 4 * SECOND);
      await compose(opened, now + 6 * SECOND);
      assert.equal((await mails(opened)).length, 1, "after the first");
    }
    await compose(opened, NOON + 10 * MINUTE);
    assert.equal((await mails(opened)).length, 1, "ten minutes after the first mail");
    await compose(opened, NOON + 10 * MINUTE + 6 * SECOND);
    assert.deepEqual(await subjects(opened), ["Tank low, 10%: Tank t0", "9 tanks are low"]);
    const [first, second] = await mails(opened);
    assert.deepEqual([first?.event, first?.tankId, first?.alertIds.length], ["alert.opened", "t0", 1]);
    assert.deepEqual([second?.event, second?.tankId, second?.alertIds.length], ["alert.opened", null, 9]);
    assert.equal(await composeNext(store, NOON + HOUR), false);
  });

  test("tanks that are low at the same time are one mail", async (t) => {
    const opened = await engine.open(t);
    await putOwner(opened.store, "a", ["t1", "t2", "t3"]);
    await measure(opened.store, 10, NOON, "t1");
    await measure(opened.store, 5, NOON + 4 * SECOND, "t2", "t3");
    await compose(opened, NOON + 5 * SECOND);
    assert.deepEqual(await subjects(opened), ["3 tanks are low"]);
  });

  test("mail with a verification link, and a test of a channel, do not hold up the mail that follows", async (t) => {
    const opened = await engine.open(t);
    const { store } = opened;
    await putOwner(store, "a", ["t1"], { verified_at: null });
    await putMailChannel(store);
    await requestLink(store, "a", NOON);
    await executed(store, { type: "test_channel", id: "chn_mail", newId: "msg_test" }, at(NOON));
    await executed(store, command.changeCustomer("a", { is_verified: true }), at(NOON + SECOND));
    await measure(store, 10, NOON + 2 * SECOND, "t1");
    await compose(opened, NOON + 10 * SECOND);
    const sent = (await mails(opened)).filter(({ event }) => event === "alert.opened").map(({ to }) => to);
    assert.deepEqual(sent.toSorted(), ["a@customers.example", "dispatch@operator.example"]);
  });

  test("customers whose address is not verified, who have unsubscribed or are deleted get nothing", async (t) => {
    const opened = await engine.open(t);
    const { store } = opened;
    await putOwner(store, "unverified", ["t1"], { verified_at: null });
    await putOwner(store, "unsubscribed", ["t2"], { settings: { unsubscribed_at: NEW_YEAR } });
    await putOwner(store, "deleted", ["t3"]);
    await measure(store, 10, NOON, "t1", "t2", "t3");
    await executed(store, command.deleteCustomer("deleted", true), at(NOON + SECOND));
    await compose(opened, NOON + 6 * SECOND);
    assert.deepEqual(await mails(opened), []);
    assert.equal(await deferred(opened), 3, "reminders remain");
    await compose(opened, NOON + 4 * DAY);
    assert.deepEqual([await mails(opened), await deferred(opened)], [[], 0]);
  });

  test("a channel without alert.closed gets no mail about an alert that was closed while its mail was held", async (t) => {
    const opened = await engine.open(t);
    const { store } = opened;
    await putOwner(store, "a", ["t1", "t2"], { verified_at: null });
    await putMailChannel(store, { events: ["alert.opened"], quiet_hours: { from: "10:00", to: "14:00", timezone: "UTC" } });
    await measure(store, 10, NOON, "t1", "t2");
    await compose(opened, NOON + 6 * SECOND);
    await measure(store, 92, NOON + HOUR, "t1");
    await compose(opened, NOON + 2 * HOUR);
    assert.deepEqual(await subjects(opened), ["Tank low, 10%: Tank t2"]);
  });

  test("without PUBLIC_URL customers get no mail, and channels do", async (t) => {
    const opened = await engine.open(t);
    await putOwner(opened.store, "a", ["t1"]);
    await putMailChannel(opened.store);
    await measure(opened.store, 10, NOON, "t1");
    const step = () => composeNext(opened.store, NOON + 6 * SECOND, { publicUrl: null });
    assert.deepEqual([await step(), await step(), await step()], [true, true, false]);
    assert.deepEqual(
      (await mails(opened)).map(({ to }) => to),
      ["dispatch@operator.example"],
    );
    assert.equal(await deferred(opened), 1, "the reminder");
  });

  test("an owner is notified of a recovery only after being notified of the alert", async (t) => {
    const opened = await engine.open(t);
    const { store } = opened;
    await putOwner(store, "notified", ["t1"]);
    await putOwner(store, "at once", ["t2"]);
    await putOwner(store, "later", ["t3"], { verified_at: null });
    await measure(store, 10, NOON, "t1", "t3");
    await compose(opened, NOON + 6 * SECOND);
    await executed(store, command.changeCustomer("later", { is_verified: true }), at(NOON + 7 * SECOND));
    await measure(store, 10, NOON + HOUR, "t2");
    await measure(store, 50, NOON + HOUR + SECOND, "t1", "t2", "t3");
    await compose(opened, NOON + HOUR + 10 * SECOND);
    const sent = (await mails(opened)).map(({ to, subject, event }) => [to.split("@")[0], subject, event]);
    assert.deepEqual(sent.toSorted(), [
      ["notified", "Tank low, 10%: Tank t1", "alert.opened"],
      ["notified", "Tank no longer low, 50%: Tank t1", "alert.closed"],
    ]);
  });

  test("a reminder is sent while the alert is open, nobody has acknowledged it, and the tank is not paused", async (t) => {
    const opened = await engine.open(t);
    const { store } = opened;
    for (const id of ["open", "acknowledged", "paused", "recovered"]) await putOwner(store, id, [id]);
    await measure(store, 10, NOON, "open", "acknowledged", "paused", "recovered");
    await compose(opened, NOON + 6 * SECOND);
    const { id } = await alertOf(store, "acknowledged");
    await executed(store, command.acknowledgeAlert(id), at(NOON + HOUR));
    const paused_until = "2026-07-01T00:00:00Z";
    await executed(store, command.changeTank("paused", { alerts: { paused_until } }), at(NOON + HOUR));
    await measure(store, 50, NOON + HOUR, "recovered");
    await compose(opened, NOON + DAY);
    const before = await mails(opened);
    assert.equal(before.length, 5);
    await compose(opened, NOON + 3 * DAY + SECOND);
    const [reminder, ...others] = (await mails(opened)).slice(before.length);
    assert.deepEqual([reminder?.to, reminder?.subject], ["open@customers.example", "Reminder: tank still low, 10%: Tank open"]);
    assert.deepEqual([others, reminder?.event], [[], "alert.reminder"]);
  });

  test("owners get mail about the kinds that are configured; that a tank became low is said once", async (t) => {
    const opened = await engine.open(t);
    await opened.store.close();
    const alerts = { ...DEFAULT_ALERT_SETTINGS, ownerKinds: ["low", "runs_low_soon"] as const };
    const store = await openStore(opened.url, () => {}, { connections: 2, replicaUrls: [], replicaLagMs: 2000, alerts });
    await putOwner(store, "a", ["t1"]);
    await putMailChannel(store);
    await measure(store, 30, NOON, "t1");
    await putForecast(store, "t1", { days: 3, leak: { since: NOON, excess: 1, isSudden: false }, now: NOON });
    await compose({ ...opened, store }, NOON + 6 * SECOND);
    await measure(store, 19, NOON + HOUR, "t1");
    await compose({ ...opened, store }, NOON + HOUR + 6 * SECOND);
    await store.close();
    const sent = (await mails(opened)).map(({ to, subject }) => `${to.split("@")[0]}: ${subject}`);
    assert.deepEqual(sent.toSorted(), [
      "a: Tank expected to run low soon, 30%: Tank t1",
      "a: Tank low, 19%: Tank t1",
      "dispatch: 1 tank runs low soon, 1 possible leak",
      "dispatch: Tank low, 19%: Tank t1",
    ]);
  });

  test("nobody is notified of a tank that belongs to somebody else", async (t) => {
    const opened = await engine.open(t);
    const { store } = opened;
    await putOwner(store, "former", ["t1"]);
    await putOwner(store, "new", []);
    await putMailChannel(store, { customer_id: "former" });
    await measure(store, 10, NOON, "t1");
    await executed(store, command.changeTank("t1", { owner_id: "new" }), at(NOON + SECOND));
    await compose(opened, NOON + MINUTE);
    await measure(store, 50, NOON + HOUR, "t1");
    await compose(opened, NOON + DAY);
    const recipients = (await mails(opened)).map(({ to }) => to);
    assert.deepEqual(recipients, ["new@customers.example", "new@customers.example"]);
  });

  test("mail that was sent while the clock was ahead holds up nothing after the clock was set back", async (t) => {
    const opened = await engine.open(t);
    await putOwner(opened.store, "a", ["t1", "t2", "t3"]);
    await measure(opened.store, 10, NOON + DAY, "t1");
    await compose(opened, NOON + DAY + 6 * SECOND);
    await measure(opened.store, 10, NOON, "t2");
    await compose(opened, NOON + 6 * SECOND);
    await measure(opened.store, 10, NOON + MINUTE, "t3");
    for (const minutes of [2, 11]) await compose(opened, NOON + minutes * MINUTE);
    const expected = ["t2", "t3", "t1"].map((id) => `Tank low, 10%: Tank ${id}`);
    assert.deepEqual(await subjects(opened), expected);
  });

  test("mail that was deferred while the clock was ahead is sent when the clock was set back", async (t) => {
    const opened = await engine.open(t);
    const { store } = opened;
    await putOwner(store, "a", ["t1"]);
    const ahead = NOON + 400 * DAY;
    await store.sweepAlerts({ at: ahead });
    await measure(store, 10, ahead, "t1");
    await store.sweepAlerts({ at: NOON });
    await compose(opened, NOON + 6 * SECOND);
    assert.deepEqual(await subjects(opened), ["Tank low, 10%: Tank t1"]);
    await compose(opened, NOON + 3 * DAY);
    assert.equal((await mails(opened)).at(-1)?.event, "alert.reminder");
  });

  test("mail that was postponed while the clock was ahead is due as if it had not been when the clock was set back", async (t) => {
    const opened = await engine.open(t);
    const { store } = opened;
    await putOwner(store, "a", ["t1"]);
    await putMailChannel(store, { quiet_hours: { from: "11:00", to: "23:00", timezone: "UTC" } });
    await store.sweepAlerts({ at: NOON - MINUTE });
    await measure(store, 10, NOON, "t1");
    await executed(store, command.changeTank("t1", { alerts: { paused_until: "2099-01-01T00:00:00Z" } }), at(NOON + SECOND));
    await compose(opened, NOON + MINUTE);
    const ahead = NOON + 400 * DAY;
    await store.sweepAlerts({ at: ahead });
    await compose(opened, ahead);
    await store.sweepAlerts({ at: NOON + HOUR });
    await compose(opened, NOON + HOUR);
    const low = "Tank low, 10%: Tank t1";
    assert.deepEqual(await subjects(opened), [low]);
    await compose(opened, NOON + 11 * HOUR);
    assert.deepEqual(await subjects(opened), [low, low]);
    await executed(store, command.changeTank("t1", { alerts: { paused_until: null } }), at(NOON + 2 * DAY));
    await compose(opened, NOON + 3 * DAY - MINUTE);
    assert.equal((await mails(opened)).length, 2);
    await compose(opened, NOON + 3 * DAY);
    assert.equal((await mails(opened)).at(-1)?.event, "alert.reminder");
  });

  test("quiet hours of a channel hold its mail, and nothing of it is lost", async (t) => {
    const opened = await engine.open(t);
    const { store } = opened;
    await putOwner(store, "a", ["t1", "t2"], { verified_at: null });
    await putMailChannel(store, { quiet_hours: { from: "21:00", to: "07:00", timezone: "Europe/Berlin" } });
    const evening = Date.parse("2026-06-01T22:30:00+02:00");
    const morning = Date.parse("2026-06-02T07:00:00+02:00");
    await measure(store, 10, evening, "t1");
    await measure(store, 10, evening + HOUR, "t2");
    await measure(store, 50, evening + 2 * HOUR, "t2");
    for (const now of [evening + 6 * SECOND, evening + 3 * HOUR, morning - 1]) await compose(opened, now);
    assert.deepEqual(await mails(opened), []);
    await compose(opened, morning);
    const [mail, ...others] = await mails(opened);
    assert.deepEqual(
      [mail?.to, mail?.subject, others],
      ["dispatch@operator.example", "1 tank is low, 1 tank is no longer low", []],
    );
    assert.deepEqual([mail?.event, mail?.alertIds.length], ["alert.digest", 2]);
  });

  test("a channel with a delay gets what is still open and unacknowledged then: webhooks the event of the feed", async (t) => {
    const opened = await engine.open(t);
    const { store } = opened;
    await putOwner(store, "a", ["open", "acknowledged", "closed"], { verified_at: null });
    await putMailChannel(store, { delay: "4h" });
    await putChannel(store, "chn_hook", { type: "webhook", url: "https://hooks.example.com/", delay: "4h" });
    await measure(store, 10, NOON, "open", "acknowledged", "closed");
    const { id } = await alertOf(store, "acknowledged");
    await executed(store, command.acknowledgeAlert(id), at(NOON + HOUR));
    await measure(store, 50, NOON + 2 * HOUR, "closed");
    await compose(opened, NOON + 4 * HOUR - 6 * SECOND);
    const sent = () => runSql(opened.url, "SELECT event, payload FROM notification WHERE destination = 'chn_hook'");
    assert.deepEqual([await mails(opened), await sent()], [[], []]);
    await compose(opened, NOON + 8 * HOUR);
    assert.deepEqual(await subjects(opened), ["Tank low, 10%: Tank open"]);
    const [webhook, ...others] = await sent();
    const { payloads } = await store.eventFeed({ after: 0, size: 10 }, { customerId: null });
    const feed = payloads.find((payload) => payload.includes('"alert.opened"') && payload.includes('"tank_id":"open"'));
    assert.deepEqual([webhook?.["event"], webhook?.["payload"], others], ["alert.opened", feed, []]);
  });

  test("where data of a recipient is damaged, others get their mail, and this one later", async (t) => {
    const opened = await engine.open(t);
    const { store, url } = opened;
    await putMailChannel(store);
    await putOwner(store, "a", ["t1"]);
    await measure(store, 10, NOON, "t1");
    await runSql(url, "UPDATE channel SET quiet_hours = '{'");
    const failed: string[] = [];
    const observe = ({ kind }: { readonly kind: string }) => void failed.push(kind);
    const composer = startComposer({ store, settings: SETTINGS, clock: () => NOON + 6 * SECOND, observe });
    t.after(() => composer.stop());
    await until("both are tried", async () => failed.length > 0 && (await mails(opened)).length > 0);
    await composer.stop();
    assert.deepEqual(failed, ["composing_failed"]);
    const recipients = async () => (await mails(opened)).map(({ to }) => to);
    assert.deepEqual(await recipients(), ["a@customers.example"]);
    await runSql(url, "UPDATE channel SET quiet_hours = NULL");
    await compose(opened, NOON + 5 * MINUTE);
    assert.deepEqual(await recipients(), ["a@customers.example"]);
    await compose(opened, NOON + 11 * MINUTE);
    assert.deepEqual(await recipients(), ["a@customers.example", "dispatch@operator.example"]);
  });

  test("more than 1,000 tanks that are low at once are one mail with their number and the most urgent, also after a crash", async (t) => {
    const opened = await engine.open(t);
    const { store, reopen } = opened;
    const tanks = Array.from({ length: 1205 }, (_, i) => `t${i}`);
    await putOwner(store, "a", tanks);
    await putMailChannel(store);
    await measure(store, 10, NOON, ...tanks.slice(5));
    await measure(store, 3, NOON, ...tanks.slice(0, 5));
    assert.equal(await composeNext(store, NOON + 6 * SECOND), true);
    await store.close();
    const other = await reopen();
    assert.equal(await compose({ ...opened, store: other }, NOON + 7 * SECOND), 5, "500 of a recipient in a step");
    assert.deepEqual(await subjects(opened), ["1,205 tanks are low", "1,205 tanks are low"]);
    for (const { text, alertIds, event } of await mails(opened)) {
      assert.deepEqual([alertIds.length, event], [20, "alert.digest"]);
      const listed = Array.from(text.matchAll(/^Tank (t\d+)$/gm), ([, id = ""]) => id);
      assert.deepEqual([listed.length, listed.slice(0, 5).toSorted()], [20, tanks.slice(0, 5)]);
      assert.match(text, /1,185 more/);
      assert.ok(text.length < 10_000);
    }
    await measure(other, 50, NOON + HOUR, ...tanks);
    await compose({ ...opened, store: other }, NOON + HOUR + 6 * SECOND);
    const recovered = (await subjects(opened)).slice(2);
    assert.deepEqual(recovered, ["1,205 tanks are no longer low", "1,205 tanks are no longer low"]);
    assert.deepEqual(await runSql(opened.url, "SELECT * FROM digest_draft"), []);
  });

  test("a mail about more than 20 alerts of a kind lists 20 of them, also if some have opened and others have closed", async (t) => {
    const opened = await engine.open(t);
    const { store } = opened;
    const tanks = Array.from({ length: 24 }, (_, i) => `t${i}`);
    await putOwner(store, "a", tanks, { verified_at: null });
    await putMailChannel(store, { quiet_hours: { from: "10:00", to: "14:00", timezone: "UTC" } });
    await measure(store, 10, NOON, ...tanks);
    await measure(store, 50, NOON + HOUR, ...tanks.slice(12));
    await compose(opened, NOON + 2 * HOUR);
    const [mail] = await mails(opened);
    assert.deepEqual([mail?.subject, mail?.event], ["12 tanks are low, 12 tanks are no longer low", "alert.digest"]);
    assert.equal(mail?.alertIds.length, 20);
    assert.match(mail?.text ?? "", /The 8 most urgent:[\s\S]*4 more are not listed here/);
  });

  test("mail about more than 20 alerts of a kind is a digest, however they were closed", async (t) => {
    const opened = await engine.open(t);
    const { store } = opened;
    const tanks = Array.from({ length: 24 }, (_, i) => `t${i}`);
    await putOwner(store, "a", tanks, { verified_at: null });
    await putMailChannel(store, { events: ["alert.closed"] });
    await measure(store, 10, NOON, ...tanks);
    await measure(store, 50, NOON + HOUR, ...tanks.slice(12));
    for (const id of tanks.slice(0, 12)) {
      await executed(store, command.changeTank(id, { min_fill_alert_percentage: 5 }), at(NOON + HOUR + SECOND));
    }
    await compose(opened, NOON + HOUR + 10 * SECOND);
    const sent = (await mails(opened)).map(({ subject, event }) => [subject, event]);
    assert.deepEqual(sent, [["12 tanks are no longer low, 12 low-fill alerts closed", "alert.digest"]]);
  });

  test("several processes compose every mail once", async (t) => {
    const opened = await engine.open(t);
    const owners = Array.from({ length: 30 }, (_, i) => `o${i}`);
    for (const id of owners) await putOwner(opened.store, id, [id]);
    await putMailChannel(opened.store);
    await measure(opened.store, 10, NOON, ...owners);
    const stores = [opened.store, await opened.reopen(), await opened.reopen()];
    await Promise.all(stores.map((store) => compose({ ...opened, store }, NOON + 6 * SECOND)));
    const recipients = (await mails(opened)).map(({ to }) => to);
    assert.deepEqual(
      recipients.toSorted(),
      ["dispatch@operator.example", ...owners.map((id) => `${id}@customers.example`)].toSorted(),
    );
    assert.equal(await opened.deadlocks(), 0);
  });
}

for (const engine of [sqliteEngine, postgresEngine]) suite(`${engine.name}: composing`, () => composing(engine));
