// Channels and notifications as commands store them, on both engines.

import assert from "node:assert/strict";
import { suite, test } from "node:test";
import { setTimeout as sleep } from "node:timers/promises";
import pg from "pg";
import type { Channel } from "../../src/domain/alerts/channel.ts";
import type { Notification } from "../../src/domain/alerts/notification.ts";
import type { NotificationQuery } from "../../src/domain/alerts/reads.ts";
import type { Command } from "../../src/domain/commands/command.ts";
import { formatInstant } from "../../src/domain/instant.ts";
import { channelResource } from "../../src/domain/resource.ts";
import type { Store } from "../../src/domain/store.ts";
import { ManagementService } from "../../src/http/management.ts";
import { at, errorOf, executed } from "../support/commands.ts";
import { exportedLines } from "../support/exports.ts";
import { openAlert, putFleet } from "./alert-support.ts";
import { ALL_NOTIFICATIONS, customer, NEW_YEAR, putCustomers, WHOLE_LOG } from "./conformance/objects.ts";
import { type Engine, postgresEngine, sqliteEngine } from "./engines.ts";
import { runSql } from "./raw-sql.ts";

const DAY = 86_400_000;
const URL = "https://hooks.example.com/tanks?token=hidden";
const create = (newId: string, fields: object = {}): Command => ({
  ...{
    type: "create_channel",
    newId,
    fields: { type: "webhook", url: URL, ...fields },
    secret: `whsec_${newId}`,
    webhookAllow: [],
  },
});
const createMail = (newId: string): Command => ({
  ...{ type: "create_channel", newId, fields: { type: "email", to: "d@x.example" }, secret: "unused", webhookAllow: [] },
});
const change = (id: string, fields: object): Command => ({ type: "change_channel", id, fields, webhookAllow: [] });
const testOf = (id: string, newId: string): Command => ({ type: "test_channel", id, newId });

const channelOf = async (store: Store, id: string): Promise<Channel | undefined> =>
  (await store.channelList()).find((channel) => channel.id === id);
const pageOf = async (store: Store, query: Partial<NotificationQuery> = {}) =>
  store.notificationPage({ ...ALL_NOTIFICATIONS, ...query });
const idsOf = async (store: Store, query: Partial<NotificationQuery> = {}) =>
  (await pageOf(store, query)).data.map(({ id }) => id);

function channels(engine: Engine): void {
  test("a channel is stored with all its fields, changed, and deleted", async (t) => {
    const { store, reopen } = await engine.open(t);
    await putCustomers(store, customer("a"));
    const fields = { events: ["alert.opened"], kinds: ["low"], customer_id: "a", delay: "4h", description: "Night" };
    const created = await executed(store, create("chn_a", fields), at(NEW_YEAR));
    await executed(store, createMail("chn_b"), at(NEW_YEAR + 1));
    const other = await reopen();
    const list = await other.channelList();
    assert.deepEqual(
      list.map(({ id }) => id),
      ["chn_b", "chn_a"],
    );
    const [mail, hook] = list;
    assert.ok(mail !== undefined && hook !== undefined);
    assert.deepEqual([channelResource(hook), mail.to, mail.url], [created, "d@x.example", null]);
    const quiet_hours = { from: "21:00", to: "07:00", timezone: "Europe/Berlin" };
    const changed = await executed(store, change("chn_b", { quiet_hours, events: ["alert.closed"] }), at(NEW_YEAR + 2));
    const after = await channelOf(other, "chn_b");
    assert.deepEqual([after?.quiet_hours, after && channelResource(after)], [quiet_hours, changed]);
    await executed(store, { type: "delete_channel", id: "chn_a" }, at(NEW_YEAR + 3));
    assert.equal(await channelOf(other, "chn_a"), undefined);
    assert.equal((await errorOf(store, { type: "delete_channel", id: "chn_a" }, at(NEW_YEAR + 4))).error, "channel_unknown");
    const actions = (await store.auditPage({ ...WHOLE_LOG, object: "channel" })).data.map(({ action, id }) => `${action} ${id}`);
    assert.deepEqual(actions, ["deleted chn_a", "changed chn_b", "created chn_b", "created chn_a"]);
  });

  test("the secret of a webhook is stored, rotated with an overlap, and found nowhere else", async (t) => {
    const { store, url } = await engine.open(t);
    await executed(store, create("chn_a"), at(NEW_YEAR));
    const secrets = async () => (await runSql(url, "SELECT secret, previous_secret, previous_until FROM channel"))[0];
    assert.deepEqual({ ...(await secrets()) }, { secret: "whsec_chn_a", previous_secret: null, previous_until: null });
    const rotate = (overlap: number, secret: string): Command => ({ type: "rotate_channel", id: "chn_a", overlap, secret });
    await executed(store, rotate(DAY, "whsec_second"), at(NEW_YEAR + 1));
    const { previous_until, ...both } = { ...(await secrets()) };
    assert.deepEqual(both, { secret: "whsec_second", previous_secret: "whsec_chn_a" });
    assert.equal(Number(previous_until), NEW_YEAR + 1 + DAY);
    await executed(store, rotate(0, "whsec_third"), at(NEW_YEAR + 2));
    assert.deepEqual({ ...(await secrets()) }, { secret: "whsec_third", previous_secret: null, previous_until: null });
    await executed(store, testOf("chn_a", "msg_a"), at(NEW_YEAR + 3));
    const shown = [await store.channelList(), await store.auditPage(WHOLE_LOG), await pageOf(store), await exportedLines(store)];
    assert.doesNotMatch(JSON.stringify(shown), /whsec_/);
    assert.doesNotMatch(JSON.stringify([shown[1], shown[3]]), /hidden/);
  });

  test("an enabled channel has no reason and does not fail any more; nor does one with another address", async (t) => {
    const { store, url } = await engine.open(t);
    await executed(store, create("chn_a"), at(NEW_YEAR));
    const fail = (state: string) =>
      runSql(url, `UPDATE channel SET state = '${state}', disabled_reason = 'gone', failing_since = 5`);
    const failingSince = async () => (await store.channelList())[0]?.failing_since;
    await fail("disabled");
    assert.equal(await failingSince(), 5);
    await executed(store, change("chn_a", { description: "b" }), at(NEW_YEAR));
    assert.equal(await failingSince(), 5);
    await executed(store, change("chn_a", { state: "active" }), at(NEW_YEAR));
    const enabled = await channelOf(store, "chn_a");
    assert.deepEqual([enabled?.state, enabled?.disabled_reason, await failingSince()], ["active", null, null]);
    await fail("active");
    await executed(store, change("chn_a", { url: "https://other.example.com/" }), at(NEW_YEAR));
    assert.equal(await failingSince(), null);
  });

  test("a test is a pending notification; what deleting a channel leaves has failed, with a reason", async (t) => {
    const { store, url } = await engine.open(t);
    await putFleet(store, { a: ["a1"], b: [] });
    for (const id of ["chn_a", "chn_b"]) await executed(store, create(id), at(Date.now()));
    await executed(store, create("chn_late", { delay: "4h" }), at(Date.now()));
    await executed(store, createMail("chn_mail"), at(Date.now()));
    const alert = await openAlert(store, "a1");
    const tested = await executed(store, testOf("chn_a", "msg_a"), at(NEW_YEAR));
    await executed(store, testOf("chn_mail", "msg_mail"), at(NEW_YEAR));
    const { about_customer, ...stored } = (await store.notificationById("msg_a")) as Notification;
    assert.equal(about_customer, null);
    assert.deepEqual(
      { ...stored, created_at: formatInstant(NEW_YEAR), next_attempt_at: formatInstant(NEW_YEAR), object: "notification" },
      tested.object,
    );
    const deferred = async () =>
      (await runSql(url, "SELECT recipient FROM deferred_notification ORDER BY recipient")).map(({ recipient }) => recipient);
    assert.deepEqual(await deferred(), ["a", "a", "chn_late", "chn_mail"]);
    for (const id of ["chn_a", "chn_late", "chn_mail"]) {
      await executed(store, { type: "delete_channel", id }, at(NEW_YEAR + 5));
    }
    assert.deepEqual(await deferred(), ["a", "a"]);
    const { data } = await pageOf(store);
    const failed = data.filter(({ state }) => state === "failed");
    assert.deepEqual(failed.map(({ channel_id, event }) => `${channel_id} ${event}`).sort(), [
      "chn_a alert.opened",
      "chn_a channel.test",
      "chn_mail channel.test",
    ]);
    for (const { attempts, next_attempt_at } of failed) {
      assert.deepEqual(attempts, [{ at: NEW_YEAR + 5, status: null, duration_ms: 0, error: "the channel was deleted" }]);
      assert.equal(next_attempt_at, null);
    }
    assert.deepEqual(
      await idsOf(store, { state: "pending", alert_id: alert.id, channel_id: "chn_b" }),
      await idsOf(store, { state: "pending" }),
    );
  });

  /** Ends a notification as the sender does. */
  const end = (url: string, id: string, state: string, endedAt: number) =>
    runSql(
      url,
      `UPDATE notification SET state = '${state}', due_at = NULL, ended_at = ${endedAt},
         attempts = '[{"at":1,"status":500,"duration_ms":3,"error":"the receiver responded with 500"}]' WHERE id = '${id}'`,
    );

  test("what has failed or expired since a time is pending again, with the same id, attempts and payload", async (t) => {
    const { store, url } = await engine.open(t);
    await executed(store, create("chn_a"), at(NEW_YEAR));
    await executed(store, create("chn_b"), at(NEW_YEAR));
    const ended: readonly (readonly [id: string, state: string, endedAt: number])[] = [
      ["msg_old", "failed", 9],
      ["msg_1", "failed", 10],
      ["msg_2", "expired", 20],
      ["msg_delivered", "delivered", 20],
      ["msg_late", "failed", 21],
    ];
    for (const [i, [id, state, endedAt]] of ended.entries()) {
      await executed(store, testOf("chn_a", id), at(NEW_YEAR + i));
      await end(url, id, state, NEW_YEAR + endedAt);
    }
    await executed(store, testOf("chn_a", "msg_pending"), at(NEW_YEAR + 5));
    await executed(store, testOf("chn_b", "msg_other"), at(NEW_YEAR));
    await end(url, "msg_other", "failed", NEW_YEAR + 10);
    const recover: Command = {
      type: "recover_channel",
      id: "chn_a",
      fields: { since: formatInstant(NEW_YEAR + 10) },
      failedBy: NEW_YEAR + 20,
    };
    assert.deepEqual((await executed(store, recover, at(NEW_YEAR + 30))).object, { recovered: 2, until: NEW_YEAR + 20 });
    assert.deepEqual((await executed(store, recover, at(NEW_YEAR + 31))).object, { recovered: 0, until: null });
    assert.deepEqual(await idsOf(store, { state: "pending" }), ["msg_pending", "msg_2", "msg_1"]);
    const { state, next_attempt_at, attempts } = (await store.notificationById("msg_1")) as Notification;
    assert.deepEqual([state, next_attempt_at, attempts.length], ["pending", NEW_YEAR + 30, 1]);
    const [row] = await runSql(url, "SELECT pending_since, ended_at, lease FROM notification WHERE id = 'msg_1'");
    assert.deepEqual([Number(row?.["pending_since"]), row?.["ended_at"], row?.["lease"]], [NEW_YEAR + 30, null, null]);
    await executed(store, { type: "retry_notification", id: "msg_delivered" }, at(NEW_YEAR + 40));
    assert.equal((await store.notificationById("msg_delivered"))?.next_attempt_at, NEW_YEAR + 40);
  });

  test("one that waits for its next attempt is sent at once; one that is being sent is left alone", async (t) => {
    const { store, url } = await engine.open(t);
    await executed(store, create("chn_a"), at(NEW_YEAR));
    for (const id of ["msg_waiting", "msg_sent"]) await executed(store, testOf("chn_a", id), at(NEW_YEAR));
    await runSql(url, `UPDATE notification SET due_at = ${NEW_YEAR + 9000}`);
    await runSql(url, "UPDATE notification SET lease = 'other' WHERE id = 'msg_sent'");
    for (const id of ["msg_waiting", "msg_sent"]) {
      await executed(store, { type: "retry_notification", id }, at(NEW_YEAR + 50));
    }
    const rows = await runSql(url, "SELECT due_at, pending_since, lease FROM notification ORDER BY id DESC");
    assert.deepEqual(
      rows.map(({ due_at, pending_since, lease }) => [Number(due_at), Number(pending_since), lease]),
      [
        [NEW_YEAR + 50, NEW_YEAR + 50, null],
        [NEW_YEAR + 9000, NEW_YEAR, "other"],
      ],
    );
  });

  test("many failed notifications are sent again in parts, all of them, also those of one millisecond", async (t) => {
    const { store, url } = await engine.open(t);
    await executed(store, create("chn_a"), at(NEW_YEAR));
    const values = Array.from({ length: 1203 }, (_, i) => {
      const id = `msg_${String(i).padStart(5, "0")}`;
      const created = NEW_YEAR - 5000;
      const ended = NEW_YEAR + (i < 700 ? 0 : i);
      return `('${id}', 'chn_a', 'chn_a', 'alert.opened', '[]', 'failed', ${created}, ${created}, ${ended}, '{}', '[]')`;
    });
    const columns =
      "id, channel_id, destination, event, alert_ids, state, created_at, pending_since, ended_at, payload, attempts";
    await runSql(url, `INSERT INTO notification (${columns}) VALUES ${values.join(", ")}`);
    const service = new ManagementService(store, () => NEW_YEAR + 6000);
    assert.equal(await service.recoverChannel("chn_a", { since: formatInstant(NEW_YEAR) }, "test"), 1203);
    assert.equal((await pageOf(store, { state: "pending" })).totalItems, 1203);
    assert.equal((await store.channelStatus({ id: "chn_a", type: "webhook" })).pending, 1203);
    await executed(store, { type: "delete_channel", id: "chn_a" }, at(NEW_YEAR + 7000));
    assert.equal((await pageOf(store, { state: "failed" })).totalItems, 500);
  });

  test("notifications are listed newest first, with every filter, range and page, and exact totals", async (t) => {
    const { store, url } = await engine.open(t);
    const states = ["pending", "delivered", "failed", "expired"] as const;
    const all = Array.from({ length: 120 }, (_, i) => ({
      id: `msg_${String((i * 37) % 120).padStart(3, "0")}`,
      channel_id: i % 3 === 0 ? null : `chn_${i % 3}`,
      customer_id: i % 3 === 0 ? `cus_${i % 2}` : null,
      alert_id: `alr_${i % 7}`,
      state: states[i % 4] as Notification["state"],
      created_at: NEW_YEAR + Math.floor(i / 3),
    }));
    const text = (value: string | null) => (value === null ? "NULL" : `'${value}'`);
    const rows = all.map(
      ({ id, channel_id, customer_id, alert_id, state, created_at }) =>
        `('${id}', ${text(channel_id)}, ${text(customer_id)}, '${channel_id ?? "mail"}', 'alert.opened', '["${alert_id}"]', '${state}',
          ${created_at}, ${created_at}, 9, '{}', '[]')`,
    );
    const columns =
      "id, channel_id, customer_id, destination, event, alert_ids, state, created_at, pending_since, due_at, payload, attempts";
    await runSql(url, `INSERT INTO notification (${columns}) VALUES ${rows.join(", ")}`);
    const links = all.map(({ id, alert_id }) => `('${alert_id}', '${id}')`);
    await runSql(url, `INSERT INTO notification_alert (alert_id, notification_id) VALUES ${links.join(", ")}`);
    const sorted = all.toSorted((x, y) => y.created_at - x.created_at || (x.id < y.id ? 1 : -1));
    const choices = {
      channel_id: [undefined, "chn_1", "chn_2", "chn_none"],
      customer_id: [undefined, "cus_0", "cus_none"],
      alert_id: [undefined, "alr_3", "alr_none"],
      state: [undefined, ...states],
    };
    for (const channel_id of choices.channel_id) {
      for (const customer_id of choices.customer_id) {
        for (const alert_id of choices.alert_id) {
          for (const state of choices.state) {
            for (const { from, to } of [
              { from: undefined, to: undefined },
              { from: NEW_YEAR + 3, to: NEW_YEAR + 30 },
            ]) {
              const filters = Object.entries({ channel_id, customer_id, alert_id, state }).filter(
                ([, value]) => value !== undefined,
              );
              const expected = sorted.filter(
                (one) =>
                  filters.every(([name, value]) => one[name as "state"] === value) &&
                  one.created_at >= (from ?? 0) &&
                  one.created_at <= (to ?? Number.POSITIVE_INFINITY),
              );
              for (const page of [1, 2, 9]) {
                const query = { channel_id, customer_id, alert_id, state, from, to, page, size: 7 };
                const { data, totalItems } = await pageOf(store, query);
                const shown = expected.slice((page - 1) * 7, page * 7).map(({ id }) => id);
                assert.deepEqual([data.map(({ id }) => id), totalItems], [shown, expected.length], JSON.stringify(query));
              }
            }
          }
        }
      }
    }
  });

  test("how the deliveries of a channel go", async (t) => {
    const { store, url } = await engine.open(t);
    await executed(store, create("chn_a"), at(NEW_YEAR));
    const none = { pending: 0, held: 0, last_delivered_at: null, last_error: null };
    assert.deepEqual(await store.channelStatus({ id: "chn_a", type: "webhook" }), none);
    for (const [i, id] of ["msg_1", "msg_2", "msg_3"].entries()) await executed(store, testOf("chn_a", id), at(NEW_YEAR + i));
    await end(url, "msg_2", "failed", NEW_YEAR + 9);
    const attempts =
      '[{"at":4,"status":null,"duration_ms":1,"error":"no route"},{"at":7,"status":200,"duration_ms":1,"error":null}]';
    await runSql(url, `UPDATE notification SET state = 'delivered', attempts = '${attempts}' WHERE id = 'msg_1'`);
    assert.deepEqual(await store.channelStatus({ id: "chn_a", type: "webhook" }), {
      pending: 1,
      held: 0,
      last_delivered_at: 7,
      last_error: "no route",
    });
  });
}

for (const engine of [sqliteEngine, postgresEngine]) suite(`${engine.name}: channels`, () => channels(engine));

/** As all transactions that write alerts. */
const LOCK_ALERTS = "SELECT pg_advisory_xact_lock(5522219045)";

test("postgres: no notification stays pending that is created while its channel is deleted", async (t) => {
  const { store, url } = await postgresEngine.open(t);
  await executed(store, create("chn_a"), at(NEW_YEAR));
  await executed(store, testOf("chn_a", "msg_a"), at(NEW_YEAR));
  const client = new pg.Client(url);
  await client.connect();
  try {
    const columns = "channel_id, destination, event, alert_ids, state, due_at, created_at, pending_since, payload, attempts";
    await client.query(`BEGIN; ${LOCK_ALERTS};
      INSERT INTO notification (id, ${columns}) SELECT 'msg_b', ${columns} FROM notification WHERE id = 'msg_a'`);
    const deleted = executed(store, { type: "delete_channel", id: "chn_a" }, at(NEW_YEAR));
    await sleep(300);
    await client.query("COMMIT");
    await deleted;
  } finally {
    await client.end();
  }
  assert.deepEqual(await idsOf(store, { state: "failed" }), ["msg_b", "msg_a"]);
});
