// Mail to e-mail channels: it does not wait behind that to customers, and is not sent in quiet hours, on both engines.

import assert from "node:assert/strict";
import { suite, test } from "node:test";
import { MAIL_EXPIRES_MS } from "../../src/domain/alerts/notification-queue.ts";
import { at, executed } from "../support/commands.ts";
import { ENGINES, type Queue, queuesOf } from "./queue.ts";

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;

const office = (queue: Queue) => queue.channel(null, { type: "email", to: "office@example.com" });

/** The ids of mail that is claimed, in the order in which it is sent. */
async function claim({ store }: Queue, limit = 9): Promise<string[]> {
  const { notifications } = await store.claimNotifications([{ destination: "mail", limit }], Date.now());
  return notifications.map(({ id }) => id);
}

const time = (instant: number) => new Date(instant).toISOString().slice(11, 16);

/** They have begun one minute ago, or less, and end after some hours. */
async function beginQuietHours(queue: Queue, hours: number): Promise<void> {
  const quiet = { from: time(Date.now()), to: time(Date.now() + hours * HOUR), timezone: "UTC" };
  await queue.sql("UPDATE channel SET quiet_hours = $1", JSON.stringify(quiet));
}

for (const engine of ENGINES) {
  suite(`${engine.name}: mail to channels`, () => {
    const emptyQueue = queuesOf(engine);

    test("is claimed before that to customers, the oldest of each first", async (t) => {
      const queue = await emptyQueue(t);
      const channel_id = await office(queue);
      const recipients = [{ customer_id: "anna" }, { customer_id: "ben" }, { customer_id: "cleo" }, { channel_id }];
      const ids: string[] = [];
      for (const recipient of [...recipients, ...recipients]) ids.push(await queue.mail("anyone@example.com", recipient));
      await Promise.all(ids.map((id, i) => queue.sql("UPDATE notification SET due_at = due_at - $1 WHERE id = $2", 100 - i, id)));
      const claimed = async (limit: number) => (await claim(queue, limit)).map((id) => ids.indexOf(id));
      assert.deepEqual(await claimed(1), [3]);
      const [first, ...more] = await claimed(3);
      assert.deepEqual([first, more.toSorted()], [7, [0, 1]]);
      assert.deepEqual((await claimed(9)).toSorted(), [2, 4, 5, 6]);
      assert.deepEqual(await claimed(9), []);
    });

    test("that was not sent before quiet hours began is held until they end, and does not expire because of them", async (t) => {
      const queue = await emptyQueue(t);
      const held = await queue.mail("office@example.com", { channel_id: await office(queue) });
      const other = await queue.mail("anna@example.com", { customer_id: "anna" });
      await queue.age(10 * MINUTE);
      await beginQuietHours(queue, 22);
      assert.deepEqual(await claim(queue), [other]);
      await queue.sql("DELETE FROM notification WHERE id = $1", other);
      const { state, lease, attempts, due_at } = await queue.stored(held);
      assert.deepEqual([state, lease, attempts], ["pending", null, []]);
      assert.ok(Math.abs((due_at ?? 0) - Date.now() - 22 * HOUR) < 2 * MINUTE);
      await queue.age(22 * HOUR);
      await queue.sql("UPDATE channel SET quiet_hours = NULL");
      await queue.store.expireAndReschedule(["mail"], Date.now());
      assert.deepEqual(await claim(queue), [held]);
      await queue.age(MAIL_EXPIRES_MS);
      assert.deepEqual(await queue.store.expireAndReschedule(["mail"], Date.now()), ["email"]);
    });

    test("is sent in quiet hours if a person sends it again, also if it was due before, or if it is a test", async (t) => {
      const queue = await emptyQueue(t);
      const channel_id = await office(queue);
      const [test = "", ...others] = await Promise.all(
        Array.from({ length: 4 }, () => queue.mail("office@example.com", { channel_id })),
      );
      const [failed = "", due = "", held = ""] = others;
      await queue.sql("UPDATE notification SET event = 'channel.test' WHERE id = $1", test);
      await queue.sql("UPDATE notification SET state = 'failed', due_at = NULL, ended_at = 1 WHERE id = $1", failed);
      await queue.age(10 * MINUTE);
      await beginQuietHours(queue, 8);
      const sendAgain = (id: string) => executed(queue.store, { type: "retry_notification", id }, at(Date.now()));
      for (const id of [failed, due]) await sendAgain(id);
      assert.deepEqual((await claim(queue)).toSorted(), [test, failed, due].toSorted());
      await sendAgain(held);
      assert.deepEqual(await claim(queue), [held]);
    });

    test("is sent if the quiet hours of its channel are damaged", async (t) => {
      const queue = await emptyQueue(t);
      const mail = await queue.mail("office@example.com", { channel_id: await office(queue) });
      for (const damaged of ["{", '{"from":"00:00","to":"23:59","timezone":"Mars"}']) {
        await queue.sql("UPDATE channel SET quiet_hours = $1", damaged);
        await queue.sql("UPDATE notification SET due_at = 1, lease = NULL");
        assert.deepEqual(await claim(queue), [mail]);
      }
    });
  });
}
