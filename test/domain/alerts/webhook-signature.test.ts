import assert from "node:assert/strict";
import test from "node:test";
import { Webhook, WebhookVerificationError } from "standardwebhooks";
import { newWebhookSecret, signatureHeaders } from "../../../src/domain/alerts/webhook-signature.ts";

const now = Date.now();
const secret = newWebhookSecret();
const previous = newWebhookSecret();
const only = { secret, previous_secret: null, previous_until: null };
const rotating = { secret, previous_secret: previous, previous_until: now + 1 };
const ID = "msg_01kxa8w5s0d2f4g6h8j0k2m4n6";
const PAYLOAD = JSON.stringify({ type: "alert.opened", data: { name: "Öltank ⛽ – naïve" } });

const verify = (key: string, payload: string, headers: Record<string, string>): unknown =>
  new Webhook(key).verify(payload, headers);
const isRefused = (key: string, payload: string, headers: Record<string, string>): void =>
  assert.throws(() => verify(key, payload, headers), WebhookVerificationError);

test("a secret is whsec_ and 32 random bytes as padded standard base64", () => {
  assert.match(secret, /^whsec_[A-Za-z0-9+/]{43}=$/);
  assert.notEqual(secret, previous);
});

test("the reference library verifies a signature, and refuses another secret, payload, id or time", () => {
  const headers = signatureHeaders(ID, PAYLOAD, only, now);
  assert.deepEqual(Object.keys(headers).sort(), ["webhook-id", "webhook-signature", "webhook-timestamp"]);
  assert.deepEqual(verify(secret, PAYLOAD, headers), JSON.parse(PAYLOAD));
  isRefused(previous, PAYLOAD, headers);
  isRefused(secret, `${PAYLOAD} `, headers);
  isRefused(secret, PAYLOAD.replace("opened", "closed"), headers);
  isRefused(secret, PAYLOAD, { ...headers, "webhook-id": "msg_other" });
  isRefused(secret, PAYLOAD, { ...headers, "webhook-timestamp": String(Math.floor(now / 1000) - 1) });
  isRefused(secret, PAYLOAD, signatureHeaders(ID, PAYLOAD, only, now - 600_000));
});

test("during a rotation both secrets verify; afterwards the new one only", () => {
  const during = signatureHeaders(ID, PAYLOAD, rotating, now);
  assert.equal(during["webhook-signature"]?.split(" ").length, 2);
  for (const key of [secret, previous]) {
    verify(key, PAYLOAD, during);
    isRefused(key, `${PAYLOAD}x`, during);
  }
  isRefused(newWebhookSecret(), PAYLOAD, during);
  const after = signatureHeaders(ID, PAYLOAD, { ...rotating, previous_until: now }, now);
  verify(secret, PAYLOAD, after);
  isRefused(previous, PAYLOAD, after);
});

test("a channel without a secret sends nothing unsigned", () => {
  assert.throws(() => signatureHeaders(ID, PAYLOAD, { secret: null, previous_secret: null, previous_until: null }, now));
});
