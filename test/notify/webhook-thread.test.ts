import assert from "node:assert/strict";
import test, { type TestContext } from "node:test";
import { parseWebhookAllow } from "../../src/domain/alerts/webhook-url.ts";
import { WebhookThread } from "../../src/notify/webhook-thread.ts";
import { until } from "../support/until.ts";
import { httpReceiver, recordingReceiver, SECRETS, webhook } from "./receiver.ts";

const INTERRUPTED = { status: null, error: "interrupted" };

function openThread(t: TestContext): WebhookThread {
  const thread = new WebhookThread({ allow: parseWebhookAllow("127.0.0.1"), version: "1.2.3" });
  t.after(() => thread.close());
  return thread;
}

test("webhooks that are sent together get their own results", async (t) => {
  const receiver = await recordingReceiver(t);
  const refused = webhook("http://10.0.0.1/");
  const unsigned = webhook(receiver.url, { secrets: { ...SECRETS, secret: null } });
  const thread = openThread(t);
  const [delivered, failed, rejected] = await Promise.allSettled([
    thread.send(webhook(receiver.url)),
    thread.send(refused),
    thread.send(unsigned),
  ]);
  assert.deepEqual(delivered, { status: "fulfilled", value: { status: 200, error: null } });
  assert.match(failed.status === "fulfilled" ? String(failed.value.error) : "", /10\.0\.0\.1, which is not a public address/);
  assert.match(rejected.status === "rejected" ? String(rejected.reason) : "", /no secret/);
  assert.equal(receiver.received.length, 1);
});

test("close interrupts what is in progress, and nothing is sent afterwards", async (t) => {
  const receiver = await httpReceiver(t, () => undefined);
  const thread = openThread(t);
  const attempts = [thread.send(webhook(receiver.url)), thread.send(webhook(receiver.url))];
  await until("connected", () => receiver.sockets.size === 2, 15_000);
  const waiting = thread.send(webhook(receiver.url));
  await thread.close();
  for (const result of await Promise.all([...attempts, waiting])) assert.deepEqual(result, INTERRUPTED);
  assert.equal((await thread.send(webhook(receiver.url))).error, "interrupted");
  await until("the connections are closed", () => receiver.sockets.size === 0);
});
