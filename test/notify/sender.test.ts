// Notifications are sent, retried and recorded, and channels that fail are disabled: on both engines, with real receivers.

import assert from "node:assert/strict";
import { suite, test } from "node:test";
import { Webhook } from "standardwebhooks";
import {
  type AttemptResult,
  notificationWarnings,
  type RecordedAttempts,
  recordOf,
} from "../../src/domain/alerts/notification-queue.ts";
import { newWebhookSecret } from "../../src/domain/alerts/webhook-signature.ts";
import type { Mail } from "../../src/domain/mail/mail.ts";
import { customer, putCustomers } from "../store/conformance/objects.ts";
import { manualClock } from "../support/clock.ts";
import { at, executed } from "../support/commands.ts";
import { until } from "../support/until.ts";
import { ENGINES, openQueue, type Queue, queuesOf, SECRET, type StoredNotification } from "./queue.ts";
import { httpReceiver, recordingReceiver } from "./receiver.ts";

const SECOND = 1000;
const MINUTE = 60 * SECOND;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

/** The notification, when it has that many attempts. */
const attempted = (queue: Queue, id: string, attempts: number): Promise<StoredNotification> =>
  until(`attempt ${attempts}`, async () => {
    const stored = await queue.stored(id);
    return stored.attempts.length >= attempts && stored.lease === null && stored;
  });

const inState = (queue: Queue, id: string, state: string): Promise<StoredNotification> =>
  until(state, async () => {
    const stored = await queue.stored(id);
    return stored.state === state && stored;
  });

/** Sends a notification of the channel, as far as the database is concerned. */
async function recordResult(queue: Queue, channel: string, result: AttemptResult): Promise<RecordedAttempts> {
  await queue.notify(channel);
  return recordDue(queue, channel, result);
}

/** Sends the first that is due. */
async function recordDue({ store }: Queue, destination: string, result: AttemptResult): Promise<RecordedAttempts> {
  const { notifications } = await store.claimNotifications([{ destination, limit: 1 }], Date.now());
  const claimed = notifications[0] ?? assert.fail("nothing is due");
  const { status, error } = result;
  return store.recordAttempts([recordOf(claimed, { at: Date.now(), status, duration_ms: 1, error }, result, 0.5)], Date.now());
}

/** SQL that makes updates of notifications fail, as a damaged page does, and SQL that ends this. */
function refusedUpdates(engine: string, condition: string): readonly [readonly string[], string] {
  const trigger = "CREATE TRIGGER damaged BEFORE UPDATE ON notification";
  if (engine === "sqlite") {
    return [[`${trigger} WHEN ${condition} BEGIN SELECT raise(FAIL, 'damaged'); END`], "DROP TRIGGER damaged"];
  }
  const body = "BEGIN RAISE 'damaged'; END";
  return [
    [
      `CREATE OR REPLACE FUNCTION refuse() RETURNS trigger LANGUAGE plpgsql AS '${body.replaceAll("'", "''")}'`,
      `${trigger} FOR EACH ROW WHEN (${condition}) EXECUTE FUNCTION refuse()`,
    ],
    "DROP TRIGGER damaged ON notification",
  ];
}

for (const engine of ENGINES) {
  suite(`${engine.name}: sending notifications`, () => {
    const emptyQueue = queuesOf(engine);

    test("a due webhook is received with a valid signature, and its attempt is kept", async (t) => {
      const queue = await emptyQueue(t);
      const receiver = await recordingReceiver(t);
      const [id = ""] = await queue.notify(await queue.channel(receiver.url));
      queue.start();
      const { request, body } = await until("a webhook", () => receiver.received[0], 15_000);
      assert.equal(request.headers["webhook-id"], id);
      new Webhook(SECRET).verify(body, request.headers as Record<string, string>);
      const { attempts, ...stored } = await inState(queue, id, "delivered");
      assert.deepEqual([stored.due_at, stored.lease, stored.payload], [null, null, body]);
      assert.ok(Math.abs(Date.now() - (stored.ended_at ?? 0)) < 10 * SECOND);
      assert.deepEqual(
        attempts.map(({ status, error }) => ({ status, error })),
        [{ status: 200, error: null }],
      );
      await until("an event", () =>
        queue.events.some((event) => event.kind === "notification_delivered" && event.recipient === "webhook"),
      );
    });

    test("during a rotation a webhook has signatures of both secrets", async (t) => {
      const queue = await emptyQueue(t);
      const receiver = await recordingReceiver(t);
      const previousSecret = newWebhookSecret();
      await queue.notify(await queue.channel(receiver.url, { previousSecret }));
      queue.start();
      const { request, body } = await until("a webhook", () => receiver.received[0], 15_000);
      for (const secret of [SECRET, previousSecret]) new Webhook(secret).verify(body, request.headers as Record<string, string>);
    });

    test("a failed webhook is sent ten times over about three days, with the same id, and then fails", async (t) => {
      const queue = await emptyQueue(t);
      const receiver = await recordingReceiver(t, 500);
      const [id = ""] = await queue.notify(await queue.channel(receiver.url));
      const service = queue.start();
      const delays: number[] = [];
      for (let attempt = 1; attempt < 10; attempt++) {
        const { due_at, attempts, state } = await attempted(queue, id, attempt);
        assert.equal(state, "pending");
        const delay = (due_at ?? 0) - (attempts.at(-1)?.at ?? 0);
        delays.push(delay);
        await queue.sql("UPDATE notification SET due_at = $1", Date.now());
        service.wake();
      }
      const { state, attempts, due_at } = await inState(queue, id, "failed");
      assert.deepEqual([state, attempts.length, due_at], ["failed", 10, null]);
      const planned = [5 * SECOND, 300 * SECOND, 0.5 * HOUR, 2 * HOUR, 5 * HOUR, 10 * HOUR, 14 * HOUR, 20 * HOUR, 24 * HOUR];
      for (const [i, delay] of delays.entries()) {
        const usual = planned[i] ?? 0;
        assert.ok(delay >= usual * 0.79 && delay <= usual * 1.21 + 5 * SECOND, `attempt ${i + 2} comes after ${delay} ms`);
      }
      assert.deepEqual(new Set(receiver.received.map(({ request }) => request.headers["webhook-id"])), new Set([id]));
      const outcomes = () => queue.events.flatMap((event) => (event.kind === "notification_failed" ? event.outcome : []));
      await until("the last event", () => outcomes().length === 10);
      assert.deepEqual(outcomes(), [...Array.from({ length: 9 }, () => "retried"), "failed"]);
    });

    test("Retry-After is respected", async (t) => {
      const queue = await emptyQueue(t);
      const receiver = await recordingReceiver(t, 503, { "retry-after": "3600" });
      const [id = ""] = await queue.notify(await queue.channel(receiver.url));
      queue.start();
      const { due_at, attempts } = await attempted(queue, id, 1);
      const delay = (due_at ?? 0) - (attempts[0]?.at ?? 0);
      assert.ok(delay >= HOUR && delay < HOUR + 20 * SECOND, `${delay}`);
    });

    test("attempts count from the time somebody sends it again, even if the clock was set back since", async (t) => {
      const queue = await emptyQueue(t);
      const receiver = await recordingReceiver(t, 500);
      const [id = ""] = await queue.notify(await queue.channel(receiver.url));
      const earlier = Array.from({ length: 10 }, () => ({ at: 1, status: 500, duration_ms: 1, error: "before" }));
      await queue.sql("UPDATE notification SET attempts = $1, pending_since = $2", JSON.stringify(earlier), Date.now() + HOUR);
      queue.start();
      const { state, attempts, due_at } = await attempted(queue, id, 11);
      assert.equal(state, "pending");
      const [last] = attempts.slice(-1);
      assert.ok((last?.at ?? 0) > Date.now() + HOUR / 2 && (due_at ?? 0) < Date.now() + 10 * SECOND);
    });

    test("410 disables the channel: what is pending fails, and e-mail channels that are not for one customer are notified", async (t) => {
      const queue = await emptyQueue(t);
      const receiver = await recordingReceiver(t, 410);
      const gone = await queue.channel(receiver.url);
      await queue.channel(null, { id: "chn_office", type: "email", to: "office@example.com" });
      await putCustomers(queue.store, customer("one"));
      await queue.channel(null, { id: "chn_one", type: "email", to: "one@example.com", customerId: "one" });
      await queue.channel(null, { id: "chn_off", type: "email", to: "off@example.com", state: "disabled" });
      await queue.notify(gone, 3);
      await queue.sql("UPDATE notification SET due_at = due_at + 3600000 WHERE id <> (SELECT min(id) FROM notification)");
      queue.start();
      await until("all have failed", async () => (await queue.states())["failed"] === 3);
      const { state, disabled_reason } = await queue.channelRow(gone);
      assert.deepEqual([state, disabled_reason], ["disabled", "the receiver responded with 410 (gone)"]);
      assert.equal(receiver.received.length, 1);
      const mails = await queue.sql(
        "SELECT channel_id, destination, event, payload, state FROM notification WHERE destination = 'mail'",
      );
      assert.deepEqual(
        mails.map(({ channel_id, event, state: pending }) => [channel_id, event, pending]),
        [["chn_office", "channel.disabled", "pending"]],
      );
      const mail = JSON.parse(String(mails[0]?.["payload"])) as Mail;
      assert.equal(mail.to, "office@example.com");
      assert.match(mail.text, /410/);
      assert.ok(!mail.text.includes("SECRETPATH"), "the path of the webhook is not in the mail");
      await until("an event", () => queue.events.some(({ kind }) => kind === "channel_disabled"));
      assert.ok(!JSON.stringify(queue.events).includes("SECRET"), "events have the host only");
    });

    test("mail about a disabled channel that quiet hours hold is not late until they end", async (t) => {
      const queue = await emptyQueue(t);
      const channel = await queue.channel("https://hooks.example.com/");
      const office = await queue.channel(null, { type: "email", to: "office@example.com" });
      const time = (at: number) => new Date(at).toISOString().slice(11, 16);
      const quiet = { from: time(Date.now() - HOUR), to: time(Date.now() + HOUR), timezone: "UTC" };
      await queue.sql("UPDATE channel SET quiet_hours = $1 WHERE id = $2", JSON.stringify(quiet), office);
      await recordResult(queue, channel, { status: 410, error: "gone", isGone: true });
      const counts = await queue.store.notificationCounts([]);
      assert.equal(counts.pending, 1);
      const warnings = (now: number) => notificationWarnings(counts, [], now).map(({ code }) => code);
      assert.deepEqual(warnings(Date.now() + HOUR), ["channels_disabled"]);
      assert.deepEqual(warnings(Date.now() + 1.5 * HOUR), ["channels_disabled", "notifications_delayed"]);
    });

    for (const [event, held] of [
      ["alert.opened", "is sent again after quiet hours, and does not expire because of them"],
      ["channel.disabled", "is sent again after quiet hours, and does not expire because of them"],
      ["channel.test", "is sent again in quiet hours, too"],
    ] as const) {
      test(`mail that has failed (${event}) ${held}`, async (t) => {
        const queue = await emptyQueue(t);
        const office = await queue.channel(null, { type: "email", to: "office@example.com" });
        const time = (at: number) => new Date(at).toISOString().slice(11, 16);
        const quiet = { from: time(Date.now() - HOUR), to: time(Date.now() + 21 * HOUR), timezone: "UTC" };
        await queue.sql("UPDATE channel SET quiet_hours = $1", JSON.stringify(quiet));
        const id = await queue.mail("office@example.com", { channel_id: office });
        await queue.sql("UPDATE notification SET event = $1", event);
        await queue.age(4 * HOUR);
        await executed(queue.store, { type: "retry_notification", id }, at(Date.now()));
        await recordDue(queue, "mail", { status: 421, error: "too busy" });
        const seconds = ((await queue.stored(id)).due_at ?? 0) / SECOND - Date.now() / SECOND;
        if (event === "channel.test") {
          assert.ok(seconds < 10, `${seconds}`);
          return;
        }
        assert.ok(Math.abs(seconds - (21 * HOUR) / SECOND) < 70, `${seconds}`);
        await queue.age(21 * HOUR);
        await queue.sql("UPDATE channel SET quiet_hours = NULL");
        assert.deepEqual(await queue.store.expireAndReschedule(["mail"], Date.now()), []);
        await recordDue(queue, "mail", { status: 250, error: null });
        assert.equal((await queue.stored(id)).state, "delivered");
      });
    }

    test("an operator sends mail that quiet hours hold at once; while it fails, it expires", async (t) => {
      const queue = await emptyQueue(t);
      const office = await queue.channel(null, { type: "email", to: "office@example.com" });
      const time = (at: number) => new Date(at).toISOString().slice(11, 16);
      const quiet = { from: time(Date.now() - HOUR), to: time(Date.now() + HOUR), timezone: "UTC" };
      await queue.sql("UPDATE channel SET quiet_hours = $1", JSON.stringify(quiet));
      const id = await queue.mail("office@example.com", { channel_id: office });
      const claim = { destination: "mail", limit: 1 };
      for (const attempt of [0, 1]) {
        assert.deepEqual((await queue.store.claimNotifications([claim], Date.now())).notifications, []);
        await executed(queue.store, { type: "retry_notification", id }, at(Date.now()));
        await recordDue(queue, "mail", { status: 421, error: "too busy" });
        const { attempts } = await queue.stored(id);
        assert.ok((attempts[attempt]?.at ?? Number.NaN) <= Date.now(), "not at the end of the quiet hours");
      }
      await queue.age(2 * DAY);
      assert.deepEqual(await queue.store.expireAndReschedule(["mail"], Date.now()), ["email"]);
    });

    test("an operator may send a pending webhook again often: its attempts are not used up", async (t) => {
      const queue = await emptyQueue(t);
      const channel = await queue.channel("https://hooks.example.com/");
      const [id = ""] = await queue.notify(channel);
      for (let i = 0; i < 12; i++) {
        await recordDue(queue, channel, { status: 500, error: "broken" });
        assert.equal((await queue.stored(id)).state, "pending", `after attempt ${i + 1}`);
        await executed(queue.store, { type: "retry_notification", id }, at(Date.now() + 1));
      }
      assert.equal((await queue.stored(id)).attempts.length, 12);
    });

    test("410 from the URL that a channel had before does not disable it", async (t) => {
      const queue = await emptyQueue(t);
      const sent = Promise.withResolvers<void>();
      const changed = Promise.withResolvers<void>();
      const former = await httpReceiver(t, async (_, response) => {
        sent.resolve();
        await changed.promise;
        response.writeHead(410).end();
      });
      const channel = await queue.channel(former.url);
      const [id = ""] = await queue.notify(channel);
      queue.start();
      await sent.promise;
      await queue.sql("UPDATE channel SET url = $1, updated_at = $2", (await recordingReceiver(t, 200)).url, Date.now() + 1);
      changed.resolve();
      await inState(queue, id, "failed");
      assert.equal((await queue.channelRow(channel)).state, "active");
    });

    test("a channel is disabled with the next notification that fails permanently after five days without a delivery", async (t) => {
      const queue = await emptyQueue(t);
      const channel = await queue.channel("https://hooks.example.com/");
      const attempt = async (outcome: "delivered" | "retried" | "failed") => {
        const error = outcome === "delivered" ? null : "x";
        const { disabled } = await recordResult(queue, channel, { status: 500, error, isPermanent: outcome === "failed" });
        const { state, failing_since } = await queue.channelRow(channel);
        const days = failing_since === null ? null : Math.round((Date.now() - Number(failing_since)) / DAY);
        return [state, days, ...disabled.map(({ reason }) => reason)];
      };
      assert.deepEqual(await attempt("failed"), ["active", 0]);
      await queue.age(4 * DAY);
      assert.deepEqual(await attempt("failed"), ["active", 4]);
      await queue.age(40 * DAY);
      // A short failure after a long time without events.
      assert.deepEqual(await attempt("retried"), ["active", 44]);
      assert.deepEqual(await attempt("delivered"), ["active", null]);
      await queue.age(40 * DAY);
      assert.deepEqual(await attempt("failed"), ["active", 0]);
      await queue.age(40 * DAY);
      assert.deepEqual(await attempt("retried"), ["active", 40]);
      assert.deepEqual(await attempt("failed"), ["disabled", null, "it has failed for five days"]);
    });

    test("a notification that cannot be claimed does not stop those of other channels", async (t) => {
      const queue = await emptyQueue(t);
      const receiver = await recordingReceiver(t);
      const [damaged, sound] = [await queue.channel(receiver.url), await queue.channel(receiver.url)];
      const [late = "", sent = ""] = [...(await queue.notify(damaged)), ...(await queue.notify(sound))];
      const [create, drop] = refusedUpdates(engine.name, `old.id = '${late}'`);
      for (const statement of create) await queue.sql(statement);
      queue.start();
      await inState(queue, sent, "delivered");
      assert.ok(queue.events.some(({ kind }) => kind === "sending_failed"));
      await queue.sql(drop);
      await inState(queue, late, "delivered");
    });

    test("a delivery that cannot be recorded is recorded later, and not sent again", async (t) => {
      const queue = await emptyQueue(t);
      const receiver = await recordingReceiver(t);
      const [id = ""] = await queue.notify(await queue.channel(receiver.url));
      const [create, drop] = refusedUpdates(engine.name, "new.state = 'delivered'");
      for (const statement of create) await queue.sql(statement);
      queue.start();
      const failed = (times: number) =>
        until(
          `recording has failed ${times} times`,
          () => queue.events.filter(({ kind }) => kind === "sending_failed").length >= times,
        );
      await failed(1);
      await queue.age(MINUTE);
      await failed(2);
      await queue.sql(drop);
      await queue.age(MINUTE);
      const { attempts } = await inState(queue, id, "delivered");
      assert.deepEqual([attempts.length, receiver.received.length], [1, 1]);
    });

    test("a notification whose earlier attempts are damaged is sent", async (t) => {
      const queue = await emptyQueue(t);
      const receiver = await recordingReceiver(t);
      const [damaged = ""] = await queue.notify(await queue.channel(receiver.url), 2);
      await queue.sql("UPDATE notification SET attempts = '{' WHERE id = $1", damaged);
      queue.start();
      await until("both are delivered", async () => (await queue.states())["delivered"] === 2);
      assert.equal((await queue.stored(damaged)).attempts.length, 1);
    });

    test("a damaged channel is named, and data_damaged", async (t) => {
      const queue = await emptyQueue(t);
      const id = await queue.channel("https://example.com/");
      await queue.sql("UPDATE channel SET kinds = '[low]'");
      await assert.rejects(queue.store.channelList(), ({ code, cause }: { code?: string; cause?: Error }) => {
        assert.deepEqual([code, cause?.message], ["data_damaged", `channel ${id} cannot be read`]);
        return true;
      });
    });

    test("notifications of a deleted channel fail", async (t) => {
      const queue = await emptyQueue(t);
      const channel = await queue.channel("https://example.com/");
      await queue.notify(channel, 2);
      await queue.sql("DELETE FROM channel");
      queue.start();
      await until("both have failed", async () => (await queue.states())["failed"] === 2);
    });

    test("a stop finishes what is in progress, interrupts what takes too long, and releases the rest", async (t) => {
      const queue = await emptyQueue(t);
      const slow = await httpReceiver(t, (_, response) => void setTimeout(() => response.end(), 300));
      const hanging = await httpReceiver(t, () => {});
      await queue.notify(await queue.channel(slow.url), 40);
      await queue.notify(await queue.channel(hanging.url), 3);
      const service = queue.start();
      await until("requests", () => slow.connections() >= 16 && hanging.connections() === 3);
      await service.stop(1000);
      assert.deepEqual(await queue.states(), { delivered: 16, pending: 27 });
      const leased = await queue.sql(
        "SELECT id, attempts FROM notification WHERE lease IS NOT NULL OR (state = 'pending' AND attempts <> '[]')",
      );
      assert.deepEqual(leased, [], "nothing is leased, and what was interrupted is no failed attempt");
    });
  });
}

test("sqlite: a clock that jumps sends nothing twice at a time, and delays nothing for long", async (t) => {
  const queue = await openQueue(t, ENGINES[0] as (typeof ENGINES)[number]);
  const { clock, forward } = manualClock(Date.now() + SECOND);
  const open: (() => void)[] = [];
  const receiver = await httpReceiver(t, (_, response) => void open.push(() => response.end()));
  const [id = ""] = await queue.notify(await queue.channel(receiver.url));
  const service = queue.start({ clock });
  await until("the first attempt", () => open.length === 1);
  const { lease } = await queue.stored(id);
  forward(HOUR);
  service.wake();
  await until("the second claim", async () => (await queue.stored(id)).lease !== lease);
  assert.equal(open.length, 1, "it is not sent while it is being sent");
  open[0]?.();
  await inState(queue, id, "delivered");
  // The clock that planned the next attempt was a year ahead.
  const [late = ""] = await queue.notify("chn_1");
  await queue.sql("UPDATE notification SET due_at = due_at + $2 WHERE id = $1", late, 365 * DAY);
  await until("the other attempt", () => open.length === 2);
  open[1]?.();
  await inState(queue, late, "delivered");
});
