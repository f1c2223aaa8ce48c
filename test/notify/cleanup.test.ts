// Mail is sent, expires, or is not configured; what has ended is removed; what is wrong is reported once.

import assert from "node:assert/strict";
import { suite, test } from "node:test";
import { hashSecret } from "../../src/domain/key.ts";
import type { Store } from "../../src/domain/store.ts";
import { customer, NEW_YEAR, putCustomers } from "../store/conformance/objects.ts";
import { isStored } from "../store/raw-sql.ts";
import { at, command, errorOf, executed } from "../support/commands.ts";
import { startMailServer } from "../support/mail-server.ts";
import { until } from "../support/until.ts";
import { claimedToken, requestLink, tokenIn } from "../support/verification.ts";
import { ENGINES, queuesOf } from "./queue.ts";
import { recordingReceiver } from "./receiver.ts";

const HOUR = 3_600_000;
const DAY = 24 * HOUR;

const mailTo = (smtpUrl: string) => ({
  mail: { smtpUrl, mailFrom: { name: null, address: "tanks@example.com" } },
});

for (const engine of ENGINES) {
  suite(`${engine.name}: mail`, () => {
    const emptyQueue = queuesOf(engine);

    test("mail is sent to channels and customers; a refused recipient fails at once", async (t) => {
      const queue = await emptyQueue(t);
      const server = await startMailServer(t);
      const channel = await queue.channel(null, { type: "email", to: "office@example.com" });
      await queue.mail("office@example.com", { channel_id: channel });
      await queue.mail("owner@example.com", { customer_id: "cus_1" });
      const service = queue.start(mailTo(server.url));
      await until("both are delivered", async () => (await queue.states())["delivered"] === 2, 15_000);
      assert.deepEqual(server.received.map(({ to }) => to[0]).sort(), ["office@example.com", "owner@example.com"]);
      server.behaviour = "refuse recipient";
      const refused = await queue.mail("nobody@example.com", { customer_id: "cus_1" });
      service.wake();
      const failures = await until("it has failed", () => {
        const found = queue.events.filter(({ kind }) => kind === "notification_failed");
        return found.length > 0 && found;
      });
      const { attempts, state } = await queue.stored(refused);
      assert.deepEqual([state, attempts.length, attempts[0]?.status], ["failed", 1, 550]);
      assert.ok(!JSON.stringify(failures).includes("@"), "no event has an address");
    });

    test("mail of a channel goes to the address that it has now", async (t) => {
      const queue = await emptyQueue(t);
      const server = await startMailServer(t);
      const channel = await queue.channel(null, { type: "email", to: "new@example.com" });
      await queue.mail("former@example.com", { channel_id: channel });
      queue.start(mailTo(server.url));
      await until("it is delivered", async () => (await queue.states())["delivered"] === 1, 15_000);
      const [mail] = server.received;
      assert.deepEqual(mail?.to, ["new@example.com"]);
      assert.ok(!mail?.raw.includes("former@"));
    });

    test("a mail server that fails disables no channel; its mail expires after 24 hours", async (t) => {
      const queue = await emptyQueue(t);
      const server = await startMailServer(t, { behaviour: "greylist" });
      const channel = await queue.channel(null, { type: "email", to: "office@example.com" });
      const id = await queue.mail("office@example.com", { channel_id: channel });
      queue.start(mailTo(server.url));
      await until("an attempt", async () => (await queue.stored(id)).attempts.length === 1);
      await queue.age(DAY - 60_000);
      await queue.sql("UPDATE notification SET due_at = $1", Date.now() + HOUR);
      assert.deepEqual(await queue.states(), { pending: 1 });
      assert.equal((await queue.channelRow(channel))["failing_since"], null);
      await queue.age(61_000);
      await until("it has expired", async () => (await queue.states())["expired"] === 1);
    });

    test("mail that is over 24 hours old is not sent, even before it has expired", async (t) => {
      const queue = await emptyQueue(t);
      const server = await startMailServer(t);
      const channel = await queue.channel(null, { type: "email", to: "office@example.com" });
      const { wake } = queue.start({ ...mailTo(server.url), cleanupMs: HOUR });
      const first = await queue.mail("first@example.com", { channel_id: channel });
      await until("it is delivered", async () => (await queue.stored(first)).state === "delivered");
      const old = await queue.mail("old@example.com", { channel_id: channel });
      await queue.age(DAY + 1000);
      const last = await queue.mail("last@example.com", { channel_id: channel });
      wake();
      await until("the last one is delivered", async () => (await queue.stored(last)).state === "delivered");
      assert.deepEqual([(await queue.stored(old)).state, server.received.length], ["pending", 2]);
    });

    test("mail of a disabled channel fails", async (t) => {
      const queue = await emptyQueue(t);
      const server = await startMailServer(t);
      const channel = await queue.channel(null, { type: "email", to: "office@example.com", state: "disabled" });
      await queue.mail("office@example.com", { channel_id: channel });
      queue.start(mailTo(server.url));
      await until("it has failed", async () => (await queue.states())["failed"] === 1);
      assert.equal(server.received.length, 0);
    });

    test("the link that a customer is sent verifies the address, once", async (t) => {
      const { store, start } = await emptyQueue(t);
      const server = await startMailServer(t);
      await putCustomers(store, customer("ann", { email: "ann@example.com", verified_at: null }));
      await requestLink(store, "ann");
      start(mailTo(server.url));
      const mail = await until("the mail", () => server.received[0]);
      assert.deepEqual(mail.to, ["ann@example.com"]);
      const token = tokenIn(mail.parsed.text ?? "");
      assert.ok(String(mail.parsed.html).includes(`href="https://tanks.example.com/verify?token=${token}"`));
      const use = { type: "verify_customer", hash: hashSecret(token) } as const;
      await executed(store, use, at(Date.now()));
      assert.notEqual((await store.managedCustomer("ann"))?.customer.verified_at, null);
      assert.equal((await errorOf(store, use, at(Date.now()))).error, "customer_unknown");
    });

    test("a link is not sent once another was requested, or the address is verified", async (t) => {
      const queue = await emptyQueue(t);
      const server = await startMailServer(t);
      await putCustomers(queue.store, customer("noah", { email: "noah@example.com", verified_at: null }));
      const replaced = await requestLink(queue.store, "noah");
      const waiting = await requestLink(queue.store, "noah");
      await queue.sql("UPDATE customer SET verified_at = $1 WHERE id = 'noah'", NEW_YEAR);
      queue.start(mailTo(server.url));
      await until("both have ended", async () => (await queue.states())["failed"] === 2);
      const errors = await Promise.all([replaced, waiting].map(async (id) => (await queue.stored(id)).attempts[0]?.error));
      assert.deepEqual(errors, ["another link was requested", "the address is verified already"]);
      assert.equal(server.received.length, 0);
    });

    for (const [by, change] of [
      ["a command", (store: Store, email: string) => executed(store, command.changeCustomer("ann", { email }), at(Date.now()))],
      ["an import", (store: Store, email: string) => putCustomers(store, customer("ann", { email, verified_at: null }))],
    ] as const) {
      test(`the link is invalid after ${by} changes the address, also when it is changed back`, async (t) => {
        const { store } = await emptyQueue(t);
        await putCustomers(store, customer("ann", { email: "ann@example.com", verified_at: null }));
        const token = await claimedToken(store, await requestLink(store, "ann"));
        assert.notEqual(await store.verification(hashSecret(token)), undefined);
        await change(store, "other@example.com");
        await change(store, "ann@example.com");
        const use = { type: "verify_customer", hash: hashSecret(token) } as const;
        assert.equal((await errorOf(store, use, at(Date.now()))).error, "customer_unknown");
        assert.equal(await store.verification(use.hash), undefined);
      });
    }

    test("the link of a verification is never stored, also while its mail waits for the next attempt", async (t) => {
      const { store, sql, url } = await emptyQueue(t);
      await putCustomers(store, customer("eve", { email: "eve@example.com", verified_at: null }));
      const id = await requestLink(store, "eve");
      const tokens: string[] = [];
      for (let attempt = 0; attempt < 2; attempt++) {
        tokens.push(await claimedToken(store, id));
        await sql("UPDATE notification SET lease = NULL, due_at = 1 WHERE id = $1", id);
        assert.equal(await isStored("eve@example.com", url), true);
        for (const token of tokens) assert.equal(await isStored(token, url), false);
      }
      const [first = "", second = ""] = tokens.map(hashSecret);
      assert.notEqual(first, second);
      // The mail of the first attempt may have arrived.
      await executed(store, { type: "verify_customer", hash: first }, at(Date.now()));
      assert.equal(await store.verification(second), undefined);
    });

    test("without settings mail stays pending and expires; that is reported once", async (t) => {
      const queue = await emptyQueue(t);
      await queue.mail("owner@example.com", { customer_id: "cus_1" });
      queue.start({ missingForMail: ["MAIL_FROM", "PUBLIC_URL"] });
      await until("it is reported", () => queue.events.some(({ kind }) => kind === "mail_not_configured"));
      await queue.mail("other@example.com", { customer_id: "cus_2" });
      await queue.age(DAY + 1000);
      const reports = () => queue.events.filter(({ kind }) => /mail|ended/.test(kind));
      await until("both have expired", () => reports().length === 2);
      assert.deepEqual(await queue.states(), { expired: 2 });
      assert.deepEqual(reports(), [
        { kind: "mail_not_configured", missing: "MAIL_FROM, PUBLIC_URL" },
        { kind: "notifications_ended", recipient: "customer", outcome: "expired", count: 2 },
      ]);
    });
  });

  suite(`${engine.name}: mail to people who do not want it any more`, () => {
    const emptyQueue = queuesOf(engine);

    const DELETED = engine.name === "sqlite" ? 1 : true;
    for (const [what, change, error] of [
      ["have unsubscribed", "unsubscribed_at = 1", "the customer has unsubscribed"],
      ["have another address", "email = 'new@example.com'", "the customer has another address"],
      ["have an address that is not verified", "verified_at = NULL", "the address is not verified"],
      ["are deleted", `deleted = ${DELETED}`, "the customer is deleted"],
    ] as const) {
      test(`mail that has waited is not sent to customers who ${what}`, async (t) => {
        const queue = await emptyQueue(t);
        const server = await startMailServer(t);
        const id = what.replaceAll(" ", "-");
        await putCustomers(queue.store, customer(id, { email: "owner@example.com", verified_at: NEW_YEAR }));
        const waiting = await queue.mail("owner@example.com", { customer_id: id });
        await queue.sql(`UPDATE customer SET ${change} WHERE id = $1`, id);
        queue.start(mailTo(server.url));
        await until("it has failed", async () => (await queue.states())["failed"] === 1);
        assert.equal((await queue.stored(waiting)).attempts[0]?.error, error);
        assert.equal(server.received.length, 0);
      });
    }
  });

  suite(`${engine.name}: cleanup`, () => {
    const emptyQueue = queuesOf(engine);

    test("events and ended notifications are removed after 30 days, with their alerts; pending ones are kept", async (t) => {
      const queue = await emptyQueue(t);
      const receiver = await recordingReceiver(t);
      const channel = await queue.channel(receiver.url);
      const [old = "", young = "", damaged = ""] = await queue.notify(channel, 3);
      for (const id of [old, young]) {
        await queue.sql("INSERT INTO notification_alert (alert_id, notification_id) VALUES ('alr_1', $1)", id);
      }
      await queue.sql("UPDATE notification SET alert_ids = $1", '["alr_1"]');
      await queue.sql("UPDATE notification SET alert_ids = '[' WHERE id = $1", damaged);
      const events = Array.from({ length: 700 }, (_, i) => `(${i + 1}, ${Date.now()}, 'cus_1', '{}')`);
      await queue.sql(`INSERT INTO event (sequence, at, owner_id, payload) VALUES ${events}`);
      queue.start();
      await until("all are delivered", async () => (await queue.states())["delivered"] === 3);
      await queue.sql("UPDATE notification SET ended_at = ended_at - $1 WHERE id <> $2", 30 * DAY, young);
      await queue.sql("UPDATE event SET at = at - $1 WHERE sequence < 700", 30 * DAY);
      await until("the old ones are removed", async () => (await queue.states())["delivered"] === 1);
      await until("old events are removed", async () => (await queue.sql("SELECT sequence FROM event")).length === 1);
      const links = await queue.sql("SELECT notification_id FROM notification_alert");
      assert.deepEqual(
        links.map(({ notification_id }) => notification_id),
        [young],
      );
    });

    if (engine.name === "postgres") {
      test("a process whose clock is ahead removes nothing: the clock of the database counts", async (t) => {
        const queue = await emptyQueue(t);
        const [id = ""] = await queue.notify(await queue.channel("https://example.com/"));
        await queue.sql("UPDATE notification SET state = 'delivered', due_at = NULL, ended_at = created_at WHERE id = $1", id);
        await queue.sql("INSERT INTO event (sequence, at, owner_id, payload) VALUES (1, $1, 'cus_1', '{}')", Date.now());
        assert.equal(await queue.store.removeOldNotifications(Date.now() + 31 * DAY), 0);
        await queue.age(31 * DAY);
        assert.equal(await queue.store.removeOldNotifications(Date.now()), 2);
      });
    }

    test("what was created by a clock that was ahead is sent, and what is to wait still waits", async (t) => {
      const queue = await emptyQueue(t);
      const channel = await queue.channel("https://example.com/");
      const [early = "", retried = "", held = ""] = await queue.notify(channel, 3);
      const later = Date.now() + 10 * 60_000;
      await queue.sql("UPDATE notification SET due_at = $1, created_at = $1, pending_since = $1 WHERE id = $2", later, early);
      await queue.sql("UPDATE notification SET due_at = $1 WHERE id = $2", later, retried);
      await queue.sql("UPDATE notification SET due_at = $1, pending_since = $1 WHERE id = $2", later, held);
      await queue.store.expireAndReschedule([channel], Date.now());
      const due = await queue.store.claimNotifications([{ destination: channel, limit: 16 }], Date.now());
      assert.deepEqual(
        due.notifications.map(({ id }) => id),
        [early],
      );
      for (const id of [retried, held]) assert.equal((await queue.stored(id)).due_at, later);
    });

    test("a notification that is pending for over ten minutes is reported once, and when it is over", async (t) => {
      const queue = await emptyQueue(t);
      const channel = await queue.channel("https://example.com/");
      await queue.notify(channel);
      await queue.sql("UPDATE notification SET due_at = due_at + 3600000, pending_since = pending_since - 660000");
      queue.start();
      const kinds = () => queue.events.map(({ kind }) => kind).filter((kind) => /delayed|caught/.test(kind));
      await until("it is reported", () => kinds().length === 1);
      assert.deepEqual(await queue.store.notificationCounts([]).then(({ pending }) => pending), 1);
      await queue.sql("DELETE FROM notification");
      await until("its end is reported", () => kinds().length === 2);
      assert.deepEqual(kinds(), ["notifications_delayed", "notifications_caught_up"]);
    });
  });
}
