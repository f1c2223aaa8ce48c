// Several processes share the work: nothing is sent twice at a time, and what one leaves behind is taken over.

import assert from "node:assert/strict";
import { suite, test } from "node:test";
import { setTimeout as pause } from "node:timers/promises";
import type { AttemptRecord } from "../../src/domain/alerts/notification-queue.ts";
import type { Store } from "../../src/domain/store.ts";
import { postgresEngine } from "../store/engines.ts";
import { openedOn } from "../support/postgres/database.ts";
import { tcpProxy } from "../support/tcp-proxy.ts";
import { until } from "../support/until.ts";
import { ENGINES, openQueue, queuesOf } from "./queue.ts";
import { httpReceiver } from "./receiver.ts";

for (const engine of ENGINES) {
  suite(`${engine.name}: several senders`, () => {
    const emptyQueue = queuesOf(engine);

    test("three senders on one database send everything once", async (t) => {
      const queue = await emptyQueue(t);
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
      const queue = await emptyQueue(t);
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
      const service = queue.start();
      await until("the others are delivered", async () => (await queue.states())["delivered"] === 2);
      assert.deepEqual(received.length, 2);
      await queue.age(20_000);
      service.wake();
      await until("all are delivered", async () => (await queue.states())["delivered"] === 5);
      assert.deepEqual(received.sort(), ids.sort());
      const late = notifications.map(({ id, lease, channel_id }) => ({
        ...{
          id,
          lease,
          channel_id,
          attempts: [],
          state: "failed" as const,
          delayMs: null,
          isHeldInQuietHours: false,
          health: null,
        },
      }));
      assert.equal((await other.recordAttempts(late, Date.now())).recorded.size, 0);
      assert.deepEqual(await queue.states(), { delivered: 5 });
    });
  });
}

test("postgres: senders that record results of the same channels at the same time do not deadlock", async (t) => {
  const queue = await openQueue(t, postgresEngine);
  const channels = [await queue.channel("https://hooks.example.com/"), await queue.channel("https://hooks.example.com/")];
  const record = (channel_id: string, health: "working" | "failing"): AttemptRecord => ({
    ...{ id: "msg_none", lease: "none", channel_id, attempts: [], state: "pending", delayMs: 1000, isHeldInQuietHours: false },
    health,
  });
  async function sender(store: Store, [working = "", failing = ""]: readonly string[]): Promise<void> {
    for (let i = 0; i < 100; i++) {
      await store.recordAttempts([record(working, "working"), record(failing, "failing")], Date.now());
    }
  }
  const other = await queue.reopen();
  await Promise.all([sender(queue.store, channels), sender(other, channels.toReversed())]);
  await Promise.all([queue.store.close(), other.close()]);
  assert.equal(await queue.deadlocks(), 0);
});

test("postgres: an outage of the database while notifications are sent loses none, and sends none twice at a time", async (t) => {
  const queue = await openQueue(t, postgresEngine);
  const open = new Set<string>();
  const doubled: string[] = [];
  const received = new Set<string>();
  const receiver = await httpReceiver(t, (request, response) => {
    const id = String(request.headers["webhook-id"]);
    if (open.has(id)) doubled.push(id);
    open.add(id);
    received.add(id);
    setTimeout(() => {
      open.delete(id);
      response.end();
    }, 20);
  });
  const ids: string[] = [];
  for (let i = 0; i < 3; i++) ids.push(...(await queue.notify(await queue.channel(receiver.url), 300)));
  const proxy = await tcpProxy(t, queue.url);
  const { store } = await openedOn(t, proxy.url);
  const service = queue.start({}, store);
  for (let outage = 1; outage <= 4; outage++) {
    await until("some more are sent", () => received.size >= outage * 60, 20_000);
    proxy.redirect("postgres://127.0.0.1:1");
    proxy.disconnect();
    await pause(outage * 200);
    proxy.redirect(queue.url);
  }
  await until("all are delivered", async () => (await queue.states())["delivered"] === ids.length, 60_000);
  assert.deepEqual([...received].sort(), ids.sort());
  assert.deepEqual(doubled, []);
  await service.stop(0);
});
