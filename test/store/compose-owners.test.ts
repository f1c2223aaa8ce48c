// Mail to owners whose address or tanks change while alerts are open, on both engines.

import assert from "node:assert/strict";
import { suite, test } from "node:test";
import { type AlertSettings, DEFAULT_ALERT_SETTINGS } from "../../src/domain/alerts/evaluate.ts";
import type { Store } from "../../src/domain/store.ts";
import { openStore } from "../../src/store/open.ts";
import { at, command, executed } from "../support/commands.ts";
import { incomingBatch } from "../support/readings.ts";
import {
  compose,
  composeNext,
  DAY,
  deferred,
  ENDED,
  HOUR,
  MINUTE,
  mails,
  measure,
  NOON,
  putMailChannel,
  putOwner,
  SECOND,
} from "./compose-support.ts";
import { type Engine, type Opened, postgresEngine, sqliteEngine } from "./engines.ts";
import { runSql } from "./raw-sql.ts";

const sent = async (opened: Opened) => (await mails(opened)).map(({ to, subject }) => `${to.split("@")[0]}: ${subject}`);
const move = (store: Store, tankId: string, owner_id: string, now: number) =>
  executed(store, command.changeTank(tankId, { owner_id }), at(now));

async function sweep(store: Store, now: number, settings?: AlertSettings): Promise<void> {
  let claimedAt: number | undefined;
  for (let hasMore = true; hasMore; ) {
    ({ hasMore, claimedAt } = await store.sweepAlerts({ at: now, claimedAt, settings }));
  }
}

function owners(engine: Engine): void {
  for (const outcome of ["delivered", "failed", "expired"] as const) {
    test(`mail waits for the one before, which is sent again later, until that is ${outcome}`, async (t) => {
      const opened = await engine.open(t);
      const { store, url } = opened;
      await putOwner(store, "a", ["t1"]);
      await putMailChannel(store);
      const composeAll = async (now: number) => {
        let steps = 0;
        while (await composeNext(store, now)) steps++;
        return steps;
      };
      await measure(store, 10, NOON, "t1");
      await composeAll(NOON + 6 * SECOND);
      await runSql(url, `UPDATE notification SET due_at = ${NOON + 40 * MINUTE}`);
      await measure(store, 50, NOON + 15 * MINUTE, "t1");
      assert.equal(await composeAll(NOON + 16 * MINUTE), 2, "one for each recipient");
      assert.equal(await composeAll(NOON + 40 * MINUTE), 0, "not before the next attempt has ended");
      await runSql(url, `UPDATE notification SET lease = 'other', due_at = ${NOON + 41 * MINUTE + 20 * SECOND}`);
      assert.equal(await composeAll(NOON + 41 * MINUTE), 2, "once, while it is being sent");
      await runSql(url, `UPDATE notification SET lease = NULL, due_at = ${NOON + 42 * MINUTE}`);
      assert.equal(await composeAll(NOON + 50 * MINUTE), 2, "once, while it is overdue");
      assert.equal((await mails(opened)).length, 2);
      await runSql(url, `UPDATE notification SET lease = NULL, ${ENDED(outcome)}`);
      await composeAll(NOON + 60 * MINUTE);
      const recovered = (await sent(opened)).slice(2).toSorted();
      const owner = outcome === "delivered" ? ["a: Tank no longer low, 50%: Tank t1"] : [];
      assert.deepEqual(recovered, [...owner, "dispatch: Tank no longer low, 50%: Tank t1"]);
    });
  }

  test("a customer who should get mail is found behind more than 1,000 tanks whose owners get none", async (t) => {
    const opened = await engine.open(t);
    const { store } = opened;
    const others = Array.from({ length: 1100 }, (_, i) => `other-${i}`);
    await putOwner(store, "unverified", others, { verified_at: null });
    await putOwner(store, "unsubscribed", ["t1"], { settings: { unsubscribed_at: NOON } });
    const isMailWanted = async () => (await store.notificationCounts(["low"])).isMailWanted;
    await measure(store, 10, NOON, "t1", ...others);
    assert.equal(await isMailWanted(), false);
    await putOwner(store, "verified", ["t2"]);
    await measure(store, 10, NOON, "t2");
    assert.deepEqual([await isMailWanted(), (await store.notificationCounts(["leak"])).isMailWanted], [true, false]);
    await measure(store, 50, NOON + HOUR, "t2");
    assert.equal(await isMailWanted(), false);
  });

  test("an owner who verifies the address after an alert was opened gets the reminder, and mail when it has recovered", async (t) => {
    const opened = await engine.open(t);
    const { store } = opened;
    await putOwner(store, "a", ["t1"], { verified_at: null });
    await measure(store, 10, NOON, "t1");
    await compose(opened, NOON + 6 * SECOND);
    await executed(store, command.changeCustomer("a", { is_verified: true }), at(NOON + HOUR));
    await compose(opened, NOON + 3 * DAY + MINUTE);
    await measure(store, 50, NOON + 4 * DAY, "t1");
    await compose(opened, NOON + 4 * DAY + MINUTE);
    assert.deepEqual(await sent(opened), ["a: Reminder: tank still low, 10%: Tank t1", "a: Tank no longer low, 50%: Tank t1"]);
    assert.equal(await deferred(opened), 0);
  });

  test("an alert that was confirmed during a pause is reported at its end, also without another reading", async (t) => {
    const opened = await engine.open(t);
    const { store } = opened;
    await putOwner(store, "a", ["t1"]);
    await store.ingest({ ...incomingBatch([{ tank: "t1", fill: 10, at: NOON - 30 * HOUR }]), receivedAt: NOON });
    await executed(
      store,
      command.changeTank("t1", { alerts: { paused_until: new Date(NOON + 2 * HOUR).toISOString() } }),
      at(NOON),
    );
    await measure(store, 9, NOON + HOUR, "t1");
    await compose(opened, NOON + HOUR + MINUTE);
    assert.deepEqual(await sent(opened), []);
    await sweep(store, NOON + 2 * HOUR + MINUTE);
    await compose(opened, NOON + 2 * HOUR + 2 * MINUTE);
    assert.deepEqual(await sent(opened), ["a: Tank low, 9%: Tank t1"]);
  });

  test("the new owner of a paused tank gets mail about its alert when the pause has ended", async (t) => {
    const opened = await engine.open(t);
    const { store } = opened;
    await putOwner(store, "a", ["t1"]);
    await putOwner(store, "b", []);
    await measure(store, 10, NOON, "t1");
    await compose(opened, NOON + MINUTE);
    await executed(
      store,
      command.changeTank("t1", { alerts: { paused_until: new Date(NOON + 3 * HOUR).toISOString() } }),
      at(NOON + HOUR),
    );
    await move(store, "t1", "b", NOON + HOUR);
    await compose(opened, NOON + 2 * HOUR);
    assert.deepEqual(await sent(opened), ["a: Tank low, 10%: Tank t1"]);
    await compose(opened, NOON + 3 * HOUR + MINUTE);
    assert.deepEqual(await sent(opened), ["a: Tank low, 10%: Tank t1", "b: Tank low, 10%: Tank t1"]);
  });

  test("owners get no reminder of a kind that was turned off for owners meanwhile", async (t) => {
    const opened = await engine.open(t);
    const { store, url } = opened;
    await putOwner(store, "a", ["t1"]);
    await measure(store, 10, NOON, "t1");
    await compose(opened, NOON + MINUTE);
    const alerts = { ...DEFAULT_ALERT_SETTINGS, ownerKinds: [] };
    const restarted = await openStore(url, () => {}, { connections: 2, replicaUrls: [], replicaLagMs: 2000, alerts });
    t.after(() => restarted.close());
    await compose({ store: restarted, url }, NOON + 4 * DAY);
    assert.deepEqual(await sent(opened), ["a: Tank low, 10%: Tank t1"]);
    assert.equal(await deferred(opened), 0);
  });

  test("owners get no mail about an alert that a changed setting has closed; channels get the reason", async (t) => {
    const opened = await engine.open(t);
    const { store, url } = opened;
    await putOwner(store, "a", ["t1"]);
    await putMailChannel(store);
    await sweep(store, NOON, DEFAULT_ALERT_SETTINGS);
    await measure(store, 10, NOON, "t1");
    await measure(store, 21.5, NOON + HOUR, "t1");
    await compose(opened, NOON + 2 * HOUR);
    const alerts = { ...DEFAULT_ALERT_SETTINGS, closeMargin: 1 };
    const restarted = await openStore(url, () => {}, { connections: 2, replicaUrls: [], replicaLagMs: 2000, alerts });
    t.after(() => restarted.close());
    await sweep(restarted, NOON + 3 * HOUR, alerts);
    await compose({ store: restarted, url }, NOON + 4 * HOUR);
    const all = (await sent(opened)).toSorted();
    assert.deepEqual(all.slice(0, 1), ["a: Tank low, 21.5%: Tank t1"]);
    assert.deepEqual(all.slice(1), ["dispatch: Closed: low-fill alert of Tank t1", "dispatch: Tank low, 21.5%: Tank t1"]);
  });

  test("the new owner of a tank gets mail about its alerts, and the reminder, unless somebody handles them", async (t) => {
    const opened = await engine.open(t);
    const { store } = opened;
    await putOwner(store, "a", ["t1", "t2", "t3"]);
    await putOwner(store, "b", []);
    await measure(store, 10, NOON, "t1", "t2");
    await measure(store, 60, NOON, "t3");
    await compose(opened, NOON + 6 * SECOND);
    const [alert] = await store.alertsNotClosed(["t2"]);
    await executed(store, command.acknowledgeAlert(alert?.id ?? ""), at(NOON + MINUTE));
    for (const id of ["t1", "t2", "t3"]) await move(store, id, "b", NOON + HOUR);
    for (const days of [1, 3, 4, 5]) await compose(opened, NOON + days * DAY);
    assert.deepEqual(await sent(opened), [
      "a: 2 tanks are low",
      "b: 2 tanks are low",
      "b: Reminder: tank still low, 10%: Tank t1",
    ]);
    assert.equal(await deferred(opened), 0);
  });

  test("a reminder of the former owner, which is not sent, does not keep the new one from mail about the recovery", async (t) => {
    const opened = await engine.open(t);
    const { store } = opened;
    await putOwner(store, "a", ["t1"]);
    await putOwner(store, "b", []);
    await measure(store, 10, NOON, "t1");
    await compose(opened, NOON + 6 * SECOND);
    await move(store, "t1", "b", NOON + HOUR);
    await compose(opened, NOON + 2 * HOUR);
    await compose(opened, NOON + 3 * DAY);
    await measure(store, 50, NOON + 3 * DAY + MINUTE, "t1");
    await compose(opened, NOON + 3 * DAY + HOUR);
    assert.deepEqual(await sent(opened), [
      "a: Tank low, 10%: Tank t1",
      "b: Tank low, 10%: Tank t1",
      "b: Tank no longer low, 50%: Tank t1",
    ]);
  });

  test("an owner gets no mail about an alert that somebody has closed meanwhile", async (t) => {
    const opened = await engine.open(t);
    const { store } = opened;
    await putOwner(store, "a", ["t1"]);
    await measure(store, 10, NOON, "t1");
    const [alert] = await store.alertsNotClosed(["t1"]);
    await executed(store, command.closeAlert(alert?.id ?? ""), at(NOON + SECOND));
    for (const days of [1, 4]) await compose(opened, NOON + days * DAY);
    assert.deepEqual([await sent(opened), await deferred(opened)], [[], 0]);
  });

  test("a reminder that is due while the tank is paused is sent when the pause ends, also if it ends earlier", async (t) => {
    const opened = await engine.open(t);
    const { store } = opened;
    await putOwner(store, "a", ["t1", "t2", "t3"]);
    await measure(store, 10, NOON, "t1", "t2", "t3");
    await compose(opened, NOON + MINUTE);
    const pause = (id: string, until: number | null, now: number) =>
      executed(store, command.changeTank(id, { alerts: { paused_until: until && new Date(until).toISOString() } }), at(now));
    await pause("t1", NOON + 3 * DAY + 6 * HOUR, NOON + 2 * DAY);
    await pause("t2", NOON + 300 * DAY, NOON + 2 * DAY);
    await compose(opened, NOON + 3 * DAY + HOUR);
    await compose(opened, NOON + 3 * DAY + 6 * HOUR - 1);
    const soFar = ["a: 3 tanks are low", "a: Reminder: tank still low, 10%: Tank t3"];
    assert.deepEqual(await sent(opened), soFar);
    await compose(opened, NOON + 3 * DAY + 6 * HOUR);
    soFar.push("a: Reminder: tank still low, 10%: Tank t1");
    assert.deepEqual(await sent(opened), soFar);
    await compose(opened, NOON + 10 * DAY);
    await pause("t2", null, NOON + 10 * DAY);
    await compose(opened, NOON + 11 * DAY);
    assert.deepEqual(await sent(opened), [...soFar, "a: Reminder: tank still low, 10%: Tank t2"]);
    assert.equal(await deferred(opened), 0);
  });

  test("an owner who gets a tank back gets no second mail about the same alert", async (t) => {
    const opened = await engine.open(t);
    const { store } = opened;
    await putOwner(store, "a", ["t1"]);
    await putOwner(store, "b", []);
    await measure(store, 10, NOON, "t1");
    await compose(opened, NOON + 6 * SECOND);
    await move(store, "t1", "b", NOON + HOUR);
    await move(store, "t1", "a", NOON + HOUR + SECOND);
    for (const days of [1, 3, 4]) await compose(opened, NOON + days * DAY + MINUTE);
    assert.deepEqual(await sent(opened), ["a: Tank low, 10%: Tank t1", "a: Reminder: tank still low, 10%: Tank t1"]);
  });

  test("a tank that recovered and fell again while mail was held is in the mail once, as it is now", async (t) => {
    const opened = await engine.open(t);
    const { store } = opened;
    await putOwner(store, "a", ["t1", "t2"]);
    await putMailChannel(store);
    await measure(store, 10, NOON, "t1", "t2");
    await compose(opened, NOON + 6 * SECOND);
    for (const [minute, fill] of [50, 9, 60, 8].entries()) await measure(store, fill, NOON + (minute + 1) * MINUTE, "t1");
    for (const [minute, fill] of [50, 9, 70].entries()) await measure(store, fill, NOON + (minute + 1) * MINUTE, "t2");
    await compose(opened, NOON + 11 * MINUTE);
    const once = "1 tank is low, 1 tank is no longer low";
    assert.deepEqual(
      (await sent(opened)).sort(),
      [`a: ${once}`, "a: 2 tanks are low", `dispatch: ${once}`, "dispatch: 2 tanks are low"].sort(),
    );
    for (const { text, alertIds } of (await mails(opened)).filter(({ subject }) => subject === once)) {
      assert.match(text, /8%.*70%/s);
      assert.doesNotMatch(text, / (?:50|9|60)%/);
      assert.equal(alertIds.length, 2);
    }
  });

  test("an owner whose mail about an alert failed permanently gets none about its recovery, unless a reminder arrived", async (t) => {
    const opened = await engine.open(t);
    const { store } = opened;
    await putOwner(store, "a", ["t1"]);
    await putOwner(store, "b", ["t2"]);
    await measure(store, 10, NOON, "t1", "t2");
    await compose(opened, NOON + 6 * SECOND);
    for (const [id, state] of [
      ["a", "failed"],
      ["b", "expired"],
    ]) {
      await runSql(
        opened.url,
        `UPDATE notification SET state = '${state}', ended_at = ${NOON + DAY} WHERE customer_id = '${id}'`,
      );
    }
    await measure(store, 50, NOON + 2 * DAY, "t1");
    await compose(opened, NOON + 3 * DAY + MINUTE);
    await measure(store, 50, NOON + 4 * DAY, "t2");
    await compose(opened, NOON + 4 * DAY + MINUTE);
    assert.deepEqual((await sent(opened)).slice(2), [
      "b: Reminder: tank still low, 10%: Tank t2",
      "b: Tank no longer low, 50%: Tank t2",
    ]);
  });

  test("a new owner gets mail about a low tank once it is at or below its threshold, and none if it has recovered before", async (t) => {
    const opened = await engine.open(t);
    const { store } = opened;
    await putOwner(store, "a", ["t1", "t2"]);
    await putOwner(store, "b", []);
    await measure(store, 10, NOON, "t1", "t2");
    await compose(opened, NOON + 6 * SECOND);
    await measure(store, 22, NOON + HOUR, "t1", "t2");
    for (const id of ["t1", "t2"]) await move(store, id, "b", NOON + 2 * HOUR);
    await compose(opened, NOON + 3 * HOUR);
    await compose(opened, NOON + 5 * DAY);
    assert.deepEqual(await sent(opened), ["a: 2 tanks are low"]);
    await measure(store, 19, NOON + 6 * DAY, "t1");
    await measure(store, 50, NOON + 6 * DAY, "t2");
    await compose(opened, NOON + 6 * DAY + 11 * MINUTE);
    assert.deepEqual(await sent(opened), ["a: 2 tanks are low", "b: Tank low, 19%: Tank t1"]);
    assert.equal(await deferred(opened), 0);
  });

  test("a new owner gets no mail about a tank that is low by an old reading, until a recent one confirms it", async (t) => {
    const opened = await engine.open(t);
    const { store } = opened;
    await putOwner(store, "a", ["t1"]);
    await putOwner(store, "b", []);
    await store.ingest({ ...incomingBatch([{ tank: "t1", fill: 10, at: NOON - 2 * DAY }]), receivedAt: NOON });
    await move(store, "t1", "b", NOON + HOUR);
    await compose(opened, NOON + 2 * HOUR);
    assert.deepEqual([await sent(opened), await deferred(opened)], [[], 0]);
    await measure(store, 9, NOON + 3 * HOUR, "t1");
    await compose(opened, NOON + 4 * HOUR);
    assert.deepEqual(await sent(opened), ["b: Tank low, 9%: Tank t1"]);
  });
}

for (const engine of [sqliteEngine, postgresEngine]) suite(`${engine.name}: owners`, () => owners(engine));
