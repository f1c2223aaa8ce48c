// A channel that is limited to another customer, or was disabled, is sent nothing that was created before, on both engines.

import assert from "node:assert/strict";
import { suite, test } from "node:test";
import { CHANNEL_DISABLED, CHANNEL_LIMITED } from "../../src/domain/alerts/notification-queue.ts";
import type { Command } from "../../src/domain/commands/command.ts";
import { formatInstant } from "../../src/domain/instant.ts";
import type { Store } from "../../src/domain/store.ts";
import { at, command, errorOf, executed } from "../support/commands.ts";
import { compose, DAY, HOUR, MINUTE, measure, NOON, putChannel, putMailChannel, putOwner, SECOND } from "./compose-support.ts";
import { type Engine, type Opened, postgresEngine, sqliteEngine } from "./engines.ts";
import { runSql } from "./raw-sql.ts";

const HOOK = { type: "webhook", url: "https://hooks.example.com/" };
const DESTINATIONS = ["chn_hook", "mail"];

const limitTo = (store: Store, id: string, customer_id: string | null, now: number) =>
  executed(store, { type: "change_channel", id, fields: { customer_id }, webhookAllow: [] }, at(now));
const recover = async (store: Store, id: string, now: number) => {
  const fields = { since: formatInstant(NOON - DAY) };
  const done: Command = { type: "recover_channel", id, fields, failedBy: now };
  return (await executed(store, done, at(now))).object["recovered"];
};
const claim = (store: Store) =>
  store.claimNotifications(
    DESTINATIONS.map((destination) => ({ destination, limit: 16 })),
    Date.now(),
  );

async function notificationsTo({ store }: Opened, channel_id: string) {
  const everything = { customer_id: undefined, alert_id: undefined, state: undefined, from: undefined, to: undefined };
  return (await store.notificationPage({ ...everything, channel_id, page: 1, size: 100 })).data;
}

/** Tanks of two customers who get no mail themselves. */
async function openWithTanks(t: Parameters<Engine["open"]>[0], engine: Engine): Promise<Opened> {
  const opened = await engine.open(t);
  for (const id of ["a", "b"]) await putOwner(opened.store, id, [`${id}1`], { settings: { unsubscribed_at: NOON } });
  return opened;
}

function channelCustomers(engine: Engine): void {
  test("an e-mail channel for one customer is sent mail about this customer's tanks, and about no others", async (t) => {
    const opened = await openWithTanks(t, engine);
    const { store, url } = opened;
    await putMailChannel(store, { customer_id: "a" });
    await measure(store, 10, NOON, "a1", "b1");
    await compose(opened, NOON + MINUTE);
    await runSql(url, `UPDATE notification SET due_at = 1, pending_since = ${Date.now()}`);
    const { notifications, reasonsNotToSend } = await claim(store);
    const sent = notifications.filter(({ id }) => !reasonsNotToSend.has(id)).map(({ payload }) => JSON.parse(payload).subject);
    assert.deepEqual(sent, ["Tank low, 10%: Tank a1"]);
  });

  test("what is pending about the customer before fails, and is not sent again", async (t) => {
    const opened = await openWithTanks(t, engine);
    const { store } = opened;
    await putChannel(store, "chn_hook", { ...HOOK, customer_id: "a" });
    await putMailChannel(store, { customer_id: "a" });
    await measure(store, 10, NOON, "a1", "b1");
    await compose(opened, NOON + MINUTE);
    for (const id of ["chn_hook", "chn_mail"]) {
      await limitTo(store, id, "b", NOON + 2 * MINUTE);
      const [notification, ...others] = await notificationsTo(opened, id);
      assert.deepEqual([notification?.state, notification?.attempts.at(-1)?.error, others], ["failed", CHANNEL_LIMITED, []]);
      assert.equal(await recover(store, id, NOON + HOUR), 0);
      const retry = { type: "retry_notification", id: notification?.id ?? "" } as const;
      assert.equal((await errorOf(store, retry, at(NOON + HOUR))).error, "state_conflict");
      await limitTo(store, id, null, NOON + HOUR);
      assert.equal(await recover(store, id, NOON + 2 * HOUR), 1, "a channel that is not limited gets it");
    }
  });

  test("what is pending fails when the channel is disabled manually, mail too, and is not sent once it is enabled again", async (t) => {
    const opened = await openWithTanks(t, engine);
    const { store } = opened;
    await putChannel(store, "chn_hook", HOOK);
    await putMailChannel(store);
    await measure(store, 10, NOON, "a1");
    await compose(opened, NOON + MINUTE);
    for (const id of ["chn_hook", "chn_mail"]) {
      for (const state of ["disabled", "active"]) {
        await executed(store, { type: "change_channel", id, fields: { state }, webhookAllow: [] }, at(NOON + 2 * MINUTE));
      }
      const [notification] = await notificationsTo(opened, id);
      assert.deepEqual([notification?.state, notification?.attempts.at(-1)?.error], ["failed", CHANNEL_DISABLED], id);
    }
  });

  test("what a change leaves pending is claimed with the reason not to send it, but for what is about the customer", async (t) => {
    const opened = await openWithTanks(t, engine);
    const { store, url } = opened;
    await putChannel(store, "chn_hook", HOOK);
    await putMailChannel(store);
    await measure(store, 10, NOON, "a1", "b1");
    await compose(opened, NOON + MINUTE);
    await limitTo(store, "chn_hook", "b", NOON + 2 * MINUTE);
    await limitTo(store, "chn_mail", "a", NOON + 2 * MINUTE);
    // As the five hundred and first of a channel.
    await runSql(url, `UPDATE notification SET state = 'pending', ended_at = NULL, due_at = 1, pending_since = ${Date.now()}`);
    const { notifications, reasonsNotToSend } = await claim(store);
    const isSent = notifications.map(({ id, channel_id, payload }) => {
      assert.ok([undefined, CHANNEL_LIMITED].includes(reasonsNotToSend.get(id)));
      return `${channel_id} ${/\ba1\b/.test(payload) ? "a" : "b"} ${!reasonsNotToSend.has(id)}`;
    });
    // The mail is about both.
    assert.deepEqual(isSent.toSorted(), ["chn_hook a false", "chn_hook b true", "chn_mail a false"]);
  });

  test("a delayed webhook about the owner before is not sent to a channel for the new owner of the tank", async (t) => {
    const opened = await openWithTanks(t, engine);
    const { store, url } = opened;
    await putChannel(store, "chn_hook", { ...HOOK, delay: "4h" });
    await measure(store, 10, NOON, "a1");
    await executed(store, command.changeTank("a1", { owner_id: "b" }), at(NOON + HOUR));
    await limitTo(store, "chn_hook", "b", NOON + HOUR + SECOND);
    await compose(opened, NOON + 4 * HOUR);
    await runSql(url, "UPDATE notification SET due_at = 1");
    const { notifications, reasonsNotToSend } = await claim(store);
    assert.deepEqual([notifications.length, ...reasonsNotToSend.values()], [1, CHANNEL_LIMITED]);
  });
}

for (const engine of [sqliteEngine, postgresEngine]) {
  suite(`${engine.name}: channels that are limited to another customer`, () => channelCustomers(engine));
}
