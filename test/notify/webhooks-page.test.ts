// docs/webhooks.md: the receiver on it works, and its examples are what is sent.

import assert from "node:assert/strict";
import { spawn } from "node:child_process";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { connect } from "node:net";
import { createInterface } from "node:readline";
import test from "node:test";
import { AlertObject } from "../../src/domain/alerts/alert.ts";
import { ChannelObject } from "../../src/domain/alerts/channel.ts";
import { EVENT_TYPES } from "../../src/domain/alerts/event.ts";
import { newWebhookSecret } from "../../src/domain/alerts/webhook-signature.ts";
import { RefillObject } from "../../src/domain/forecast/objects.ts";
import { errorsInObject, isObject } from "../../src/domain/validate.ts";
import { WebhookSender } from "../../src/notify/webhook.ts";
import { freePort } from "../support/free-port.ts";
import { until } from "../support/until.ts";

const OPENAPI = JSON.parse(readFileSync(new URL("../../openapi.json", import.meta.url), "utf8"));
const page = readFileSync(new URL("../../docs/webhooks.md", import.meta.url), "utf8");
const blocks = (language: string): string[] =>
  Array.from(page.matchAll(new RegExp(`^\`\`\`${language}\n(.*?)^\`\`\``, "gms")), ([, code = ""]) => code);

test("the receiver on the page verifies and prints an event, and refuses one with another signature", async (t) => {
  const [code = ""] = blocks("js");
  const [payload = ""] = blocks("json");
  const port = await freePort();
  const secret = newWebhookSecret();
  const environment = { ...process.env, WEBHOOK_SECRET: secret, PORT: String(port) };
  const receiver = spawn(process.execPath, ["--input-type=module", "-e", code], { env: environment });
  t.after(() => receiver.kill());
  const lines = createInterface({ input: receiver.stdout });
  const printed = once(lines, "line");
  await until("the receiver listens", () => isListening(port));
  const sender = new WebhookSender({ allow: [{ network: "127.0.0.1", length: 32 }], version: "1", clock: Date.now });
  t.after(() => sender.close());
  const send = (signedBy: string) =>
    sender.send({
      channelId: "chn_1",
      url: `http://127.0.0.1:${port}/`,
      id: "msg_1",
      payload,
      secrets: { secret: signedBy, previous_secret: null, previous_until: null },
    });
  assert.equal((await send(newWebhookSecret())).status, 400);
  assert.equal((await send(secret)).status, 204);
  assert.deepEqual(await printed, ["alert.opened Hall 3 19.5"]);
});

test("every event has an example, with the fields that the OpenAPI document describes", () => {
  const examples = blocks("json").map((text) => JSON.parse(text));
  assert.deepEqual(
    examples.map(({ type }) => type),
    EVENT_TYPES,
  );
  for (const example of examples) {
    const { post } = OPENAPI.webhooks[example.type];
    const documented = post.requestBody.content["application/json"].examples.example.value;
    assert.deepEqual(fieldsOf(example), fieldsOf(documented), example.type);
    const { alert, refill, channel } = example.data;
    if (alert !== undefined) assert.deepEqual(errorsInObject(AlertObject, alert), []);
    else if (refill !== undefined) assert.deepEqual(errorsInObject(RefillObject, refill), []);
    else assert.deepEqual(errorsInObject(ChannelObject, channel), []);
  }
  const [opened] = examples;
  for (const text of blocks("json alert")) {
    const different = JSON.parse(text);
    assert.deepEqual(
      Object.keys(different).filter((name) => !(name in opened.data.alert)),
      [],
      different.kind,
    );
    assert.deepEqual(errorsInObject(AlertObject, { ...opened.data.alert, ...different }), [], different.kind);
  }
});

/** Names of all fields, also of objects within. */
function fieldsOf(value: object, path = ""): string[] {
  return Object.entries(value)
    .flatMap(([name, inner]) => [`${path}${name}`, ...(isObject(inner) ? fieldsOf(inner, `${path}${name}.`) : [])])
    .sort();
}

async function isListening(port: number): Promise<boolean> {
  const socket = connect(port, "127.0.0.1");
  const isConnected = await once(socket, "connect").then(
    () => true,
    () => false,
  );
  socket.destroy();
  return isConnected;
}
