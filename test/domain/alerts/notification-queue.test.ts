// What becomes of a notification, and of its channel, after an attempt that has failed.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import test from "node:test";
import { retryDelay } from "../../../src/domain/alerts/notification.ts";
import {
  type AttemptResult,
  type ClaimedNotification,
  MAIL_EXPIRES_MS,
  recordOf,
} from "../../../src/domain/alerts/notification-queue.ts";
import { parseDuration } from "../../../src/domain/instant.ts";

const MINUTE = 60_000;
const NOW = Date.parse("2026-11-16T10:00:00Z");
const WEBHOOK: ClaimedNotification = {
  ...{ id: "msg", channel_id: "chn", customer_id: null, about_customer: "anna", event: "alert.opened", destination: "chn" },
  ...{ lease: "lease", pending_since: NOW, sent_again_at: null, attempts: [], payload: "{}" },
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

test("lists in the documentation and the help look back for longer than it takes until a notification has failed or expired", () => {
  const attempts = Array.from({ length: 20 }, (_, i) => retryDelay(i, false, 1)).filter((delay) => delay !== undefined);
  const longest = Math.max(
    MAIL_EXPIRES_MS,
    attempts.reduce((sum, delay) => sum + delay, 0),
  );
  const files = ["docs/alerts.md", "docs/operations.md", "docs/webhooks.md", "src/cli/notification.ts"];
  const examples = files.flatMap((file) =>
    Array.from(readFileSync(file, "utf8").matchAll(/notification list .*--since (\d+[hd])/g), ([, since = ""]) => since),
  );
  assert.equal(examples.length, 2);
  for (const since of examples) assert.ok((parseDuration(since) ?? 0) > longest, `--since ${since}`);
});
