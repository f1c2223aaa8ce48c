// What operators read in mail about refills.

import assert from "node:assert/strict";
import test from "node:test";
import { alertMail, groupAlerts } from "../../../src/domain/mail/alert-mail.ts";
import type { RefillItem } from "../../../src/domain/mail/refill-section.ts";
import { DIGEST_ABOVE } from "../../../src/domain/mail/section.ts";
import { itemOf, MEASURED, OPENED, refillOf, toOperator } from "./fixtures.ts";

const HOUR = 3_600_000;
const groupOf = (items: readonly RefillItem[]) => ({ total: items.length, items });

test("an operator reads which tank was refilled, where, whose, from what to what, the volume and when", () => {
  const mail = alertMail(toOperator(), [], MEASURED, groupOf([refillOf()]));
  assert.equal(
    mail.text,
    `Tank refilled, 92.4%: North depot

A delivery was found in the readings: the fill has risen and stayed up. Nothing needs to be done.

North depot
  Where: Lindenweg 12a, 79100 Freiburg, Germany
  Fill: from 17.9% to 92.4%
  Volume: 2,012 liters
  Refilled: between 12 November 2026 at 22:15 UTC and 13 November 2026 at 00:15 UTC
  Customer: Brenner Gas GmbH
  Phone: +49 30 5550 0142
  Tank ID: tank_1

-- 
You receive this e-mail because of the notification channel Dispatch (chn_1).
`,
  );
  assert.match(mail.html, /width:92%/);
});

test("refills follow alerts, the latest first", () => {
  const refills = ["Earlier", "Later"].map((name, i) => refillOf({ tank: { name }, refill: { endedAt: OPENED + i * HOUR } }));
  const mail = alertMail(toOperator(), groupAlerts([itemOf({ tank: { name: "Low" } })]), MEASURED, groupOf(refills));
  assert.equal(mail.subject, "1 tank is low, 2 refills");
  assert.match(mail.text, /\n1 tank is low\n-+\n[\s\S]*\nLow\n[\s\S]*\n2 refills\n-+\n[\s\S]*\nLater\n[\s\S]*\nEarlier\n/);
});

test(`above ${DIGEST_ABOVE} refills, a mail has their number and the ${DIGEST_ABOVE} latest, in short`, () => {
  const refills = Array.from({ length: 21 }, (_, i) =>
    refillOf({ tank: { name: `Tank ${i}.`, custom_id: "HALL-3" }, refill: { endedAt: OPENED + i * HOUR } }),
  );
  const mail = alertMail(toOperator(), [], MEASURED, groupOf(refills));
  assert.equal(mail.subject, "21 refills");
  assert.match(mail.text, /The 20 latest:\n\nTank 20\.\n[\s\S]*\nTank 1\.\n[\s\S]*\n1 more is not listed here\./);
  assert.doesNotMatch(mail.text, /HALL-3|^Tank 0\./m);
  assert.match(alertMail(toOperator(), [], MEASURED, groupOf(refills.slice(1))).text, /Reference: HALL-3\n/);
});
