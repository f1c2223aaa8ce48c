// The demo's webhook receiver.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { request } from "node:http";
import test from "node:test";
import { setTimeout as pause } from "node:timers/promises";
import { isReceiving, startReceiver } from "../../src/demo/receiver.ts";
import { newWebhookSecret } from "../../src/domain/alerts/webhook-signature.ts";
import { WebhookSender } from "../../src/notify/webhook.ts";
import { until } from "../support/until.ts";

const page = readFileSync(new URL("../../docs/webhooks.md", import.meta.url), "utf8");
const [, alert = ""] = /```json\n(\{"type":"alert\.opened".*?)```/s.exec(page) ?? [];

test("describes an event in a line, many at a time by their number, and rejects one with another signature", async (t) => {
  const lines: string[] = [];
  const receiver = await startReceiver((line) => lines.push(line));
  t.after(receiver.close);
  receiver.secret = newWebhookSecret();
  const sender = new WebhookSender({ allow: [{ network: "127.0.0.1", length: 32 }], version: "1", clock: Date.now });
  t.after(() => sender.close());
  const send = (secret: string, payload = alert) => {
    const secrets = { secret, previous_secret: null, previous_until: null };
    return sender.send({ channelId: "chn_1", url: receiver.url, id: "msg_1", payload, secrets });
  };
  assert.equal((await send(newWebhookSecret())).status, 401);
  assert.equal((await send(receiver.secret)).status, 204);
  await until("it is printed", () => lines.length > 0);
  assert.deepEqual(lines, ["10:23:30  alert opened        low             19.5 % (threshold 20 %)  Hall 3, Kempten (t-204)"]);
  await Promise.all(Array.from({ length: 6 }, () => send(receiver.secret)));
  await until("the number is printed", () => lines.length > 1);
  assert.deepEqual(lines.slice(1), ["10:23:30  6 alerts opened"]);
  const event = (type: string) => JSON.stringify({ type, timestamp: "2026-11-14T08:00:01.000Z", sequence: null, data: {} });
  for (const type of ["truck.arrived", "channel.test"]) assert.equal((await send(receiver.secret, event(type))).status, 204);
  await until("the test is printed", () => lines.length > 2);
  assert.deepEqual(lines.slice(2), ["08:00:01  channel test"]);
});

test("a request that is aborted does not end the demo", async (t) => {
  const receiver = await startReceiver(() => {});
  t.after(receiver.close);
  const aborted = request(receiver.url, { method: "POST", headers: { "content-length": 100 } });
  aborted.on("error", () => {});
  await new Promise((resolve) => aborted.write("{", resolve));
  assert.equal(await isReceiving(receiver.url), true);
  aborted.destroy();
  await pause(50);
  assert.equal(await isReceiving(receiver.url), true);
});
