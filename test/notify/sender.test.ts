// Notifications are sent, retried and recorded: on both engines, to real receivers.

import assert from "node:assert/strict";
import { suite, test } from "node:test";
import { Webhook } from "standardwebhooks";
import { until } from "../support/until.ts";
import { ENGINES, openQueue, SECRET } from "./queue.ts";
import { recordingReceiver } from "./receiver.ts";

for (const engine of ENGINES) {
  suite(`${engine.name}: sending notifications`, () => {
    test("a due webhook is received with a valid signature, and its attempt is kept", async (t) => {
      const queue = await openQueue(t, engine);
      const receiver = await recordingReceiver(t);
      const [id = ""] = await queue.notify(await queue.channel(receiver.url));
      queue.start();
      const { request, body } = await until("a webhook", () => receiver.received[0]);
      assert.equal(request.headers["webhook-id"], id);
      new Webhook(SECRET).verify(body, request.headers as Record<string, string>);
      const { attempts, ...stored } = await until("a record", async () => {
        const stored = await queue.stored(id);
        return stored.state !== "pending" && stored;
      });
      assert.deepEqual([stored.state, stored.due_at, stored.lease, stored.payload], ["delivered", null, null, body]);
      assert.ok(Math.abs(Date.now() - (stored.ended_at ?? 0)) < 10_000);
      assert.deepEqual(
        attempts.map(({ status, error }) => ({ status, error })),
        [{ status: 200, error: null }],
      );
    });
  });
}
