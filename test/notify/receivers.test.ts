// Receivers that are slow, hang, redirect, never end or lie do not affect others.

import assert from "node:assert/strict";
import { suite, test } from "node:test";
import { until } from "../support/until.ts";
import { ENGINES, queuesOf } from "./queue.ts";
import { httpReceiver, rawReceiver, recordingReceiver } from "./receiver.ts";

for (const engine of ENGINES) {
  suite(`${engine.name}: bad receivers`, () => {
    const emptyQueue = queuesOf(engine);

    test("a good receiver gets everything while others hang, are slow, redirect, never end, or do not speak HTTP", async (t) => {
      const queue = await emptyQueue(t);
      let atATime = 0;
      let most = 0;
      const hanging = await httpReceiver(t, (request) => {
        most = Math.max(most, ++atATime);
        request.on("close", () => atATime--);
      });
      const slow = await rawReceiver(t, (socket) => void setInterval(() => socket.write("H"), 100).unref());
      const redirecting = await recordingReceiver(t, 302, { location: "http://127.0.0.1:1/" });
      const endless = await httpReceiver(t, (_, response) => {
        const write = (): void => void (response.write("x".repeat(10_000)) ? setImmediate(write) : response.once("drain", write));
        response.on("error", () => {});
        write();
      });
      const lying = await rawReceiver(t, (socket) => void socket.end("SSH-2.0-OpenSSH_9.9\r\n"));
      const good = await recordingReceiver(t);
      for (const receiver of [hanging, slow, redirecting, endless, lying])
        await queue.notify(await queue.channel(receiver.url), 40);
      await queue.notify(await queue.channel(good.url), 200);
      queue.start();
      await until("the good receiver has everything", () => good.received.length === 200, 14_000);
      assert.equal(new Set(good.received.map(({ request }) => request.headers["webhook-id"])).size, 200);
      assert.ok(atATime > 0, "the attempts that hang have not ended yet");
      assert.ok(most <= 16, `${most} at a time`);
      await until("failed attempts of the others are recorded", async () => {
        const [row] = await queue.sql("SELECT count(*) AS count FROM channel WHERE failing_since IS NOT NULL");
        return Number(row?.["count"]) >= 2;
      });
    });

    test("very many channels get everything once, though one hangs: each claim is small, and they take turns", async (t) => {
      const queue = await emptyQueue(t);
      const good = await recordingReceiver(t);
      const hanging = await httpReceiver(t, () => {});
      await queue.notify(await queue.channel(hanging.url), 3);
      const each = 5;
      const ids: string[] = [];
      for (let i = 0; i < 150; i++) ids.push(...(await queue.notify(await queue.channel(good.url), each)));
      let largest = 0;
      queue.start(
        {},
        {
          ...queue.store,
          claimNotifications(requests, now) {
            largest = Math.max(
              largest,
              requests.reduce((sum, { limit }) => sum + limit, 0),
            );
            return queue.store.claimNotifications(requests, now);
          },
        },
      );
      await until("all are delivered", async () => (await queue.states())["delivered"] === ids.length, 30_000);
      assert.deepEqual(good.received.map(({ request }) => request.headers["webhook-id"]).sort(), ids.sort());
      assert.ok(largest <= 1024 + 16, `${largest} in one claim`);
    });

    test("forty receivers that hang, with many notifications each, do not delay those of others", async (t) => {
      const queue = await emptyQueue(t);
      const good = await recordingReceiver(t);
      const hanging = await httpReceiver(t, () => {});
      for (let i = 0; i < 40; i++) await queue.notify(await queue.channel(hanging.url), 40);
      const channel = await queue.channel(good.url, { id: "chn_good" });
      const service = queue.start();
      await until("requests that hang", () => hanging.connections() >= 200, 15_000);
      for (let sent = 1; sent <= 20; sent++) {
        await queue.notify(channel);
        service.wake();
        await until("it is received", () => good.received.length === sent, 3000);
      }
    });
  });
}
