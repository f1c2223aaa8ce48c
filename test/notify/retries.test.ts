// When failed notifications are sent again, and when no more are sent.

import assert from "node:assert/strict";
import { suite, test } from "node:test";
import { MAIL_EXPIRES_MS, recordOf, WEBHOOK_CONCURRENCY } from "../../src/domain/alerts/notification-queue.ts";
import { until } from "../support/until.ts";

import { ENGINES, type Queue, queuesOf } from "./queue.ts";
import { httpReceiver } from "./receiver.ts";

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;

/** An attempt to send the first mail that is due fails. Returns how long it waits now. */
async function failMail({ store, stored }: Queue, id: string): Promise<number> {
  const { notifications } = await store.claimNotifications([{ destination: "mail", limit: 1 }], Date.now());
  const claimed = notifications[0] ?? assert.fail("no mail is due");
  const failure = { status: 421, error: "too busy" };
  await store.recordAttempts([recordOf(claimed, { at: Date.now(), duration_ms: 1, ...failure }, failure, 1)], Date.now());
  return ((await stored(id)).due_at ?? 0) - Date.now();
}

for (const engine of ENGINES) {
  suite(`${engine.name}: retries`, () => {
    const emptyQueue = queuesOf(engine);

    test("mail is tried again every half an hour, until it expires", async (t) => {
      const queue = await emptyQueue(t);
      const id = await queue.mail("office@example.com", {
        channel_id: await queue.channel(null, { type: "email", to: "office@example.com" }),
      });
      let waited = 0;
      while (waited < MAIL_EXPIRES_MS - HOUR) {
        const delay = await failMail(queue, id);
        // PostgreSQL rounds its time to milliseconds, and JavaScript cuts it off.
        assert.ok(delay > 0 && delay <= 36 * MINUTE + 1, `${delay / MINUTE} minutes after ${waited / HOUR} hours`);
        await queue.age(delay);
        waited += delay;
      }
      assert.equal((await queue.stored(id)).state, "pending");
    });

    test("what is pending for a channel is not ended once the channel is enabled again", async (t) => {
      const queue = await emptyQueue(t);
      const channel = await queue.channel("https://hooks.example.com/", { state: "disabled" });
      await queue.notify(channel, 2);
      await queue.sql("UPDATE channel SET state = 'active'");
      assert.equal(await queue.store.endPending(channel, Date.now()), 0);
      await queue.sql("UPDATE channel SET state = 'disabled'");
      assert.equal(await queue.store.endPending(channel, Date.now()), 2);
    });

    test("after 410, what was claimed is not sent", async (t) => {
      const queue = await emptyQueue(t);
      let [sent, gone] = [0, 0];
      const receiver = await httpReceiver(t, (_, response) => {
        const isGone = ++sent > 500;
        if (isGone) gone++;
        response.writeHead(isGone ? 410 : 200).end();
      });
      await queue.notify(await queue.channel(receiver.url), 2000);
      queue.start();
      await until("nothing is pending", async () => (await queue.states())["pending"] === undefined);
      // Those in progress, and, until the result is recorded, the few that are claimed after a failure; 512 may have been claimed.
      assert.ok(gone > 0 && gone <= 6 * WEBHOOK_CONCURRENCY, `${gone} requests`);
    });
  });
}
