// What becomes of a notification, and of its channel, after an attempt that has failed.

import assert from "node:assert/strict";
import test from "node:test";
import { type AttemptResult, type ClaimedNotification, recordOf } from "../../../src/domain/alerts/notification-queue.ts";

const MINUTE = 60_000;
const NOW = Date.parse("2026-11-16T10:00:00Z");
const WEBHOOK: ClaimedNotification = {
  ...{ id: "msg", channel_id: "chn", customer_id: null, about_customer: "anna", event: "alert.opened", destination: "chn" },
  ...{ lease: "lease", pending_since: NOW, attempts: [], payload: "{}" },
};
const MAIL: ClaimedNotification = { ...WEBHOOK, destination: "mail" };

const failed = (claimed: ClaimedNotification, result: Partial<AttemptResult>) => {
  const attempt = { at: NOW, status: 503, duration_ms: 1, error: "busy" };
  return recordOf(claimed, attempt, { status: 503, error: "busy", ...result }, 0.5);
};

test("Retry-After postpones the next attempt, and never brings it forward", () => {
  const earlier = { at: NOW, status: 503, duration_ms: 1, error: "busy" };
  const delay = (retryAfterMs: number) => failed({ ...WEBHOOK, attempts: [earlier] }, { retryAfterMs }).delayMs;
  assert.deepEqual([delay(0), delay(MINUTE), delay(60 * MINUTE)], [5 * MINUTE, 5 * MINUTE, 60 * MINUTE]);
});

test("an e-mail channel fails if its recipient is rejected permanently, not if the mail server fails", () => {
  assert.deepEqual([failed(MAIL, { isPermanent: true }).health, failed(MAIL, {}).health], ["failing", null]);
  assert.equal(failed(WEBHOOK, {}).health, "failing");
});
