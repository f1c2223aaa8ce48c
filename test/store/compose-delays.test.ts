// What channels with a delay are notified of, and when, on both engines.

import assert from "node:assert/strict";
import { suite, test } from "node:test";
import { formatInstant } from "../../src/domain/instant.ts";
import { at, command, executed } from "../support/commands.ts";
import { putForecast } from "./alert-support.ts";
import {
  AFTERNOON,
  changeChannel,
  compose,
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
import { type Engine, postgresEngine, sqliteEngine } from "./engines.ts";

function endsAfterDelay(engine: Engine): void {
  const HOOK = { type: "webhook", url: "https://hooks.example.com/", delay: "4h" };

  test("a channel with a delay is sent what follows an alert that it was notified of, at once, and of no other", async (t) => {
    const opened = await openWithTank(t, engine);
    const { store } = opened;
    await putOwner(store, "b", ["t2", "t3"], { settings: { unsubscribed_at: NOON } });
    await putMailChannel(store, { delay: "4h" });
    await putChannel(store, "chn_hook", HOOK);
    await measure(store, 10, NOON, "t1", "t2", "t3");
    const acknowledge = async (tankId: string, now: number) => {
      const [alert] = await store.alertsNotClosed([tankId]);
      await executed(store, command.acknowledgeAlert(alert?.id ?? ""), at(now));
    };
    await acknowledge("t2", NOON + HOUR);
    await measure(store, 50, NOON + HOUR, "t3");
    await compose(opened, NOON + 4 * HOUR);
    assert.deepEqual([await webhooks(opened), await subjects(opened)], [["alert.opened"], [LOW_SUBJECT]]);
    await acknowledge("t1", NOON + 5 * HOUR);
    assert.deepEqual(await webhooks(opened), ["alert.opened", "alert.acknowledged"]);
    await compose(opened, NOON + 5 * HOUR + 5 * SECOND);
    assert.deepEqual(await subjects(opened), [LOW_SUBJECT, "Acknowledged: tank low, 10%: Tank t1"]);
    await measure(store, 50, NOON + 6 * HOUR, "t1", "t2");
    assert.deepEqual(await webhooks(opened), ["alert.opened", "alert.acknowledged", "alert.closed"]);
    await compose(opened, NOON + 6 * HOUR + 5 * SECOND);
    assert.deepEqual((await subjects(opened)).slice(2), ["Tank no longer low, 50%: Tank t1"]);
    await compose(opened, NOON + 5 * DAY);
    assert.deepEqual([(await webhooks(opened)).length, (await mails(opened)).length, await deferred(opened)], [3, 3, 0]);
  });

  test("mail after a delay says that an alert has ended which another one replaces, as that one may not be sent", async (t) => {
    const opened = await openWithTank(t, engine);
    const { store } = opened;
    await putMailChannel(store, { delay: "4h" });
    await measure(store, 30, NOON, "t1");
    await putForecast(store, "t1", { days: 3, now: NOON });
    await compose(opened, NOON + 4 * HOUR);
    await measure(store, 19, NOON + 5 * HOUR, "t1");
    await measure(store, 50, NOON + 6 * HOUR, "t1");
    await compose(opened, NOON + DAY);
    assert.deepEqual(await subjects(opened), [
      "Tank expected to run low soon, 30%: Tank t1",
      "Closed: runs-low alert of Tank t1",
    ]);
  });

  test("a channel with a delay is sent only the events that it wants of what follows", async (t) => {
    const opened = await openWithTank(t, engine);
    const { store } = opened;
    await putChannel(store, "chn_hook", { ...HOOK, events: ["alert.opened"] });
    await measure(store, 10, NOON, "t1");
    await compose(opened, NOON + 4 * HOUR);
    await measure(store, 50, NOON + 5 * HOUR, "t1");
    await compose(opened, NOON + DAY);
    assert.deepEqual(await webhooks(opened), ["alert.opened"]);
  });

  test("mail about what follows is held by quiet hours, and left out if the channel does not want it any more", async (t) => {
    for (const [fields, expected] of [
      [{}, [LOW_SUBJECT, "Tank no longer low, 50%: Tank t1"]],
      [{ events: ["alert.opened"] }, [LOW_SUBJECT]],
    ] as const) {
      const opened = await openWithTank(t, engine);
      const { store } = opened;
      await putMailChannel(store, { delay: "4h", quiet_hours: { ...AFTERNOON, from: "17:00" } });
      await measure(store, 10, NOON, "t1");
      await compose(opened, NOON + 4 * HOUR);
      await measure(store, 50, NOON + 6 * HOUR, "t1");
      await compose(opened, NOON + 10 * HOUR);
      assert.deepEqual(await subjects(opened), [LOW_SUBJECT]);
      await changeChannel(store, "chn_mail", fields, NOON + 10 * HOUR);
      await compose(opened, NOON + 11 * HOUR);
      assert.deepEqual(await subjects(opened), expected);
    }
  });
}

function pausedTanks(engine: Engine): void {
  test("a channel with a delay is notified of an alert of a paused tank when the pause ends, if it is still open", async (t) => {
    const opened = await openWithTank(t, engine);
    const { store } = opened;
    await putOwner(store, "b", ["t2"], { settings: { unsubscribed_at: NOON } });
    await putMailChannel(store, { delay: "4h" });
    await putChannel(store, "chn_hook", { type: "webhook", url: "https://hooks.example.com/", delay: "4h" });
    await measure(store, 10, NOON, "t1", "t2");
    const pause = (id: string, until: number) =>
      executed(store, command.changeTank(id, { alerts: { paused_until: formatInstant(until) } }), at(NOON + HOUR));
    for (const id of ["t1", "t2"]) await pause(id, NOON + DAY);
    await compose(opened, NOON + 5 * HOUR);
    await measure(store, 50, NOON + 6 * HOUR, "t2");
    await compose(opened, NOON + DAY - 1);
    assert.deepEqual([await webhooks(opened), await subjects(opened)], [[], []]);
    await compose(opened, NOON + DAY);
    assert.deepEqual([await webhooks(opened), await subjects(opened)], [["alert.opened"], [LOW_SUBJECT]]);
    await compose(opened, NOON + 4 * DAY);
    assert.equal(await deferred(opened), 0);
  });

  test("a pause that is ended earlier holds a delayed notification for at most ten minutes longer", async (t) => {
    const opened = await openWithTank(t, engine);
    const { store } = opened;
    await putChannel(store, "chn_hook", { type: "webhook", url: "https://hooks.example.com/", delay: "4h" });
    await measure(store, 10, NOON, "t1");
    const pause = (paused_until: string | null, now: number) =>
      executed(store, command.changeTank("t1", { alerts: { paused_until } }), at(now));
    await pause("2099-01-01T00:00:00Z", NOON + HOUR);
    await compose(opened, NOON + 4 * HOUR);
    await pause(null, NOON + 4 * HOUR + SECOND);
    await compose(opened, NOON + 4 * HOUR + 10 * MINUTE);
    assert.deepEqual(await webhooks(opened), ["alert.opened"]);
  });
}

for (const engine of [sqliteEngine, postgresEngine]) {
  suite(`${engine.name}: channels with a delay, and what follows`, () => endsAfterDelay(engine));
  suite(`${engine.name}: channels with a delay, and paused tanks`, () => pausedTanks(engine));
}
