// Mail that verifies addresses, and about channels.

import assert from "node:assert/strict";
import test from "node:test";
import { channelDisabledMail, channelTestMail, verificationMail } from "../../../src/domain/mail/service-mail.ts";
import { channelOf, MEASURED } from "./fixtures.ts";

const LINK = "https://tanks.example.com/verify#token=abc";

test("the mail that verifies an address says what for, and how long its link is valid", () => {
  const english = verificationMail({ to: "anna@example.org", language: "en" }, "Anna", LINK);
  assert.equal(english.subject, "Confirm your e-mail address");
  assert.match(
    english.text,
    /confirm that anna@example\.org is your address\. Then e-mails about your tanks can be sent to it\./,
  );
  assert.match(english.text, new RegExp(`Confirm address: ${LINK}\n`));
  assert.match(english.text, /valid for 7 days/);
  assert.match(english.text, /did not expect this e-mail/);
  assert.equal(english.html.split(`href="${LINK}"`).length, 3);
  assert.equal(english.headers["List-Unsubscribe"], undefined);
  const german = verificationMail({ to: "anna@example.org", language: "de" }, "Anna", LINK);
  assert.match(german.text, /7 Tage gültig/);
  // Which alerts customers get mail about, and whether they get any, is a setting.
  for (const { text } of [english, german]) assert.doesNotMatch(text, /low|niedrig/);
});

test("a test mail names its channel", () => {
  const { to, subject, text } = channelTestMail(channelOf({ description: "Dispatch" }));
  assert.equal(to, "dispatch@example.com");
  assert.equal(subject, "Test of a notification channel");
  assert.match(text, /This is a test\.[\s\S]*channel Dispatch \(chn_1\)/);
});

test("the mail about a disabled channel says which, why and how to enable it, without the secret parts of its URL", () => {
  const disabled = channelOf({ id: "chn_2", type: "webhook", to: null, url: "https://hooks.example.net/secret/path?token=hush" });
  const receiver = channelOf({ quiet_hours: { from: "21:00", to: "07:00", timezone: "Europe/Berlin" } });
  const mail = channelDisabledMail(receiver, disabled, "it failed for five days", MEASURED);
  assert.equal(mail.to, "dispatch@example.com");
  assert.equal(mail.subject, "Notification channel disabled: chn_2");
  assert.match(
    mail.text,
    /Destination: https:\/\/hooks\.example\.net\n {2}Reason: it failed for five days\n {2}Disabled: 14 November 2026 at 10:30 CET\n/,
  );
  assert.match(
    mail.text,
    /enable it again: under Channels in the dashboard, or with npx tank-monitor channel update chn_2 --state active\./,
  );
  assert.doesNotMatch(mail.text + mail.html, /secret|hush/);
});
