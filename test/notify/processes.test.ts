// Several processes share the work: nothing is sent twice at a time, and what one leaves behind is taken over.

import assert from "node:assert/strict";
import { suite, test } from "node:test";
import { until } from "../support/until.ts";
import { ENGINES, openQueue } from "./queue.ts";
import { httpReceiver } from "./receiver.ts";

for (const engine of ENGINES) {
  suite(`${engine.name}: several senders`, () => {
    test("three senders on one database send everything once", async (t) => {
      const queue = await openQueue(t, engine);
      const received: string[] = [];
      const receiver = await httpReceiver(t, (request, response) => {
        received.push(String(request.headers["webhook-id"]));
        setTimeout(() => response.end(), 2);
      });
      const ids: string[] = [];
      for (let i = 0; i < 4; i++) ids.push(...(await queue.notify(await queue.channel(receiver.url), 60)));
      for (const store of [queue.store, await queue.reopen(), await queue.reopen()]) queue.start({}, store);
      await until("all are delivered", async () => (await queue.states())["delivered"] === ids.length, 15_000);
      assert.deepEqual(received.sort(), ids.sort());
    });

    test("what a process has claimed is sent by another one when its lease ends, and a late result changes nothing", async (t) => {
      const queue = await openQueue(t, engine);
      const received: string[] = [];
      const receiver = await httpReceiver(t, (request, response) => {
        received.push(String(request.headers["webhook-id"]));
        response.end();
      });
      const channel = await queue.channel(receiver.url);
      const ids = await queue.notify(channel, 5);
      const other = await queue.reopen();
      const { notifications } = await other.claimNotifications([{ destination: channel, limit: 3 }], Date.now());
      assert.equal(notifications.length, 3);
      const delivery = queue.start();
      await until("the others are delivered", async () => (await queue.states())["delivered"] === 2);
      assert.deepEqual(received.length, 2);
      await queue.age(20_000);
      delivery.wake();
      await until("all are delivered", async () => (await queue.states())["delivered"] === 5);
      assert.deepEqual(received.sort(), ids.sort());
      const late = notifications.map(({ id, lease, channel_id }) => ({
        ...{ id, lease, channel_id, attempts: [], state: "failed" as const, delayMs: null, health: null },
      }));
      assert.equal((await other.recordDeliveries(late, Date.now())).recorded.size, 0);
      assert.deepEqual(await queue.states(), { delivered: 5 });
    });
  });
}
