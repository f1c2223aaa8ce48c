// What people read in mail about alerts.

import assert from "node:assert/strict";
import test from "node:test";
import { ALERT_KINDS } from "../../../src/domain/alerts/alert.ts";
import { type AlertItem, alertMail, groupAlerts, type Recipient } from "../../../src/domain/mail/alert-mail.ts";
import { LANGUAGES } from "../../../src/domain/mail/language.ts";
import { DIGEST_ABOVE } from "../../../src/domain/mail/section.ts";
import { NO_LOCATION } from "../../../src/domain/tank.ts";
import { itemOf, MEASURED, OPENED, toCustomer, toOperator, UNSUBSCRIBE } from "./fixtures.ts";

const HOUR = 3_600_000;
const mailOf = (recipient: Recipient, items: readonly AlertItem[], now = MEASURED) =>
  alertMail(recipient, groupAlerts(items), now);
const RECOVERED = { state: "closed", closed_at: MEASURED, close_reason: "recovered", latest_fill_percentage: 82 } as const;

test("a customer reads which tank is low, where, how full, since when and below what", () => {
  const mail = mailOf(toCustomer(), [itemOf()]);
  assert.equal(mail.to, "office@brenner-gas.example");
  assert.equal(mail.subject, "Tank low, 18%: North depot");
  assert.equal(
    mail.text,
    `Tank low, 18%: North depot

Hello Brenner Gas GmbH,

This tank has reached or fallen below the threshold. A delivery may be needed soon.

North depot
  Where: Lindenweg 12a, 79100 Freiburg, Germany
  Fill: 18% (486 liters of 2,700 liters)
  Threshold: 20%
  Low since: 12 November 2026 at 23:15 CET
  Measured: 14 November 2026 at 10:30 CET

-- 
You receive this e-mail because alerts about your tanks are sent to this address.
Unsubscribe from these e-mails: ${UNSUBSCRIBE}
`,
  );
});

test("in German, with its numbers and units, and UTC where no time zone is known", () => {
  const tank = { name: "Lager Nord", capacity: 2713.5, capacity_unit: "gallons" } as const;
  const recipient = toCustomer({ language: "de", timezone: null });
  const mail = mailOf(recipient, [itemOf({ tank, alert: { latest_fill_percentage: 17.46 } })]);
  assert.equal(mail.subject, "Füllstand niedrig, 17,5 %: Lager Nord");
  const lines = mail.text.split("\n").map((line) => line.trim());
  for (const line of [
    "Guten Tag Brenner Gas GmbH,",
    "Standort: Lindenweg 12a, 79100 Freiburg, Germany",
    "Füllstand: 17,5 % (474 Gallonen, Fassungsvermögen 2.714 Gallonen)",
    "Warnschwelle: 20 %",
    "Niedrig seit: 12. November 2026 um 22:15 UTC",
    "Gemessen: 14. November 2026 um 09:30 UTC",
    `Diese E-Mails abbestellen: ${UNSUBSCRIBE}`,
  ]) {
    assert.ok(lines.includes(line), `${line} in\n${mail.text}`);
  }
  assert.match(mail.html, /<html lang="de">/);
  assert.equal(mail.headers["Content-Language"], "de");
});

test("local times are right across daylight saving, and an unknown time zone is UTC", () => {
  const alert = { opened_at: Date.UTC(2026, 6, 1, 22, 30), latest_reading_at: Date.UTC(2026, 11, 1, 22, 30) };
  const { text } = mailOf(toCustomer(), [itemOf({ alert })]);
  assert.match(text, /Low since: 2 July 2026 at 00:30 CEST/);
  assert.match(text, /Measured: 1 December 2026 at 23:30 CET/);
  const unknown = mailOf(toCustomer({ timezone: "Mars/Olympus" }), [itemOf({ alert })]);
  assert.match(unknown.text, /Low since: 1 July 2026 at 22:30 UTC/);
});

test("a tank has been low since its reading, if the device sent it later", () => {
  const sentLater = itemOf({ alert: { opened_at: MEASURED, latest_reading_at: MEASURED - 12 * HOUR } });
  const { text } = mailOf(toCustomer(), [sentLater]);
  assert.match(text, /Low since: 13 November 2026 at 22:30 CET\n {2}Measured: 13 November 2026 at 22:30 CET/);
});

test("an alert that is not closed is shown with the current threshold, and no expected date that has passed", () => {
  const between = { alert: { latest_fill_percentage: 26.4 }, tank: { min_fill_alert_percentage: 25 } };
  const reminder = mailOf(toCustomer(), [itemOf({ update: "reminder", ...between })]);
  assert.match(reminder.text, /not recovered yet.*Fill: 26\.4% .*Threshold: 25%/s);
  const german = mailOf(toCustomer({ language: "de" }), [itemOf({ update: "reminder", ...between })]);
  assert.match(german.text, /noch nicht wieder deutlich darüber.*Füllstand: 26,4\s% .*Warnschwelle: 25\s%/s);
  assert.doesNotMatch(reminder.text + german.text, /at or below|an oder unter/);
  const closed = mailOf(toCustomer(), [itemOf({ update: "closed", tank: between.tank, alert: RECOVERED })]);
  assert.match(closed.text, /Threshold: 20%/);
  const soon = itemOf({ update: "reminder", tank: between.tank, alert: { kind: "runs_low_soon", runs_low_at: MEASURED } });
  assert.match(mailOf(toCustomer(), [soon], MEASURED - 1).text, /Threshold: 25%\n {2}Expected to be low: about 14 November/);
  assert.doesNotMatch(mailOf(toCustomer(), [soon], MEASURED).text, /Expected to be low/);
});

test("a reminder and a recovery say so", () => {
  const reminder = mailOf(toCustomer(), [itemOf({ update: "reminder", alert: { latest_fill_percentage: 12.04 } })]);
  assert.equal(reminder.subject, "Reminder: tank still low, 12%: North depot");
  assert.match(reminder.text, /This tank has reached or fallen below the threshold, and has not recovered yet\./);
  const recovered = mailOf(toCustomer(), [itemOf({ update: "closed", alert: RECOVERED })]);
  assert.equal(recovered.subject, "Tank no longer low, 82%: North depot");
  assert.match(recovered.text, /Fill: 82% \(2,214 liters of 2,700 liters\)/);
  assert.match(recovered.text, /Was low: 12 November 2026 at 23:15 CET to 14 November 2026 at 10:30 CET/);
});

test("one mail covers several tanks, new alerts first, the most urgent first", () => {
  const items = [
    itemOf({ update: "closed", alert: { ...RECOVERED, id: "alr_9" }, tank: { name: "Full" } }),
    itemOf({ alert: { id: "alr_1", latest_fill_percentage: 18 }, tank: { name: "Second" } }),
    itemOf({ alert: { id: "alr_2", latest_fill_percentage: 30, threshold: 40 }, tank: { name: "First" } }),
    itemOf({ alert: { id: "alr_3", latest_fill_percentage: 20 }, tank: { name: "Third" } }),
  ];
  const mail = mailOf(toCustomer(), items);
  assert.equal(mail.subject, "3 tanks are low, 1 tank is no longer low");
  const order = ["3 tanks are low\n---", "First", "Second", "Third", "1 tank is no longer low\n---", "Full"];
  const positions = order.map((part) => mail.text.indexOf(`\n${part}`));
  assert.deepEqual(
    positions,
    positions.toSorted((a, b) => a - b),
  );
  assert.ok(!positions.includes(-1), mail.text);
  assert.equal(mailOf(toCustomer(), items.slice(1)).subject, "3 tanks are low");
});

test("an operator also reads whose tank it is, the phone number, the tank's id and a link", () => {
  const mail = mailOf(toOperator(), [itemOf({ link: "https://tanks.example.com/tanks/tank_1" })]);
  assert.doesNotMatch(mail.text, /Hello|Unsubscribe/);
  assert.match(mail.text, /Customer: Brenner Gas GmbH\n {2}Phone: \+49 30 5550 0142\n {2}Tank ID: tank_1\n/);
  assert.match(mail.text, /Open tank: https:\/\/tanks\.example\.com\/tanks\/tank_1\n/);
  assert.match(mail.text, /because of the notification channel Dispatch \(chn_1\)\./);
  assert.match(mail.html, /<a [^>]*href="https:\/\/tanks\.example\.com\/tanks\/tank_1"/);
  assert.equal(mail.headers["List-Unsubscribe"], undefined);
});

test("an operator reads of silent tanks, of who acknowledged an alert and why one was closed", () => {
  const silent = { kind: "silent", opened_at: MEASURED + 48 * HOUR } as const;
  const opened = mailOf(toOperator(), [itemOf({ alert: silent })]);
  assert.equal(opened.subject, "No readings from tank: North depot");
  assert.match(
    opened.text,
    /Last reading: 14 November 2026 at 09:30 UTC\n {2}Last fill: 18% .*\n {2}Detected: 16 November 2026 at 09:30 UTC/,
  );

  const handled = { acknowledged_at: OPENED + HOUR, acknowledged_by: "key_7", note: "ordered" };
  const acknowledged = mailOf(toOperator(), [itemOf({ update: "acknowledged", alert: { state: "acknowledged", ...handled } })]);
  assert.equal(acknowledged.subject, "Acknowledged: tank low, 18%: North depot");
  assert.match(acknowledged.text, /Acknowledged: 12 November 2026 at 23:15 UTC, by key_7\n {2}Note: ordered\n/);

  const closed = { state: "closed", closed_at: MEASURED, ...handled } as const;
  const manual = mailOf(toOperator(), [itemOf({ update: "closed", alert: { ...closed, close_reason: "manual" } })]);
  assert.equal(manual.subject, "Closed: low-fill alert of North depot");
  assert.match(manual.text, /Low since: 12 .*\n[\s\S]*Closed: 14 November 2026 at 09:30 UTC: closed manually\n/);

  const recovered = mailOf(toOperator(), [
    itemOf({ update: "closed", alert: { ...silent, ...RECOVERED } }),
    itemOf({ update: "closed", alert: { ...silent, ...RECOVERED, id: "alr_2" } }),
  ]);
  assert.equal(recovered.subject, "2 tanks send readings again");
});

test("the owner does not read who acknowledged an alert, nor the note about it", () => {
  const handled = { ...RECOVERED, acknowledged_at: OPENED + HOUR, acknowledged_by: "key_7", note: "pays late" };
  const { text, html } = mailOf(toCustomer(), [itemOf({ update: "closed", alert: handled })]);
  for (const part of [text, html]) assert.doesNotMatch(part, /Acknowledged|key_7|pays late/);
});

test("mail about a tank that runs low soon has the day, mail about a leak how much is lost", () => {
  const soon = { kind: "runs_low_soon", latest_fill_percentage: 24, runs_low_at: Date.UTC(2026, 10, 19, 23, 30) } as const;
  const mail = mailOf(toCustomer(), [itemOf({ alert: soon })]);
  assert.equal(mail.subject, "Tank expected to run low soon, 24%: North depot");
  assert.match(mail.text, /expected to reach the threshold within days/);
  assert.match(mail.text, /Threshold: 20%\n {2}Expected to be low: about 20 November 2026\n {2}Measured: 14/);
  const german = mailOf(toCustomer({ language: "de" }), [itemOf({ alert: soon })]);
  assert.match(german.text, /Voraussichtlich niedrig: etwa am 20\. November 2026\n/);
  const filled = mailOf(toCustomer(), [itemOf({ update: "closed", alert: { ...soon, ...RECOVERED } })]);
  assert.equal(filled.subject, "Tank no longer expected to run low soon, 82%: North depot");
  assert.doesNotMatch(filled.text, /Expected to be low/);

  const leak = { kind: "leak", leak: { since: OPENED, excess: 1.26, isSudden: false }, latest_fill_percentage: 61 } as const;
  const leaking = mailOf(toOperator(), [itemOf({ alert: leak })]);
  assert.equal(leaking.subject, "Possible leak: North depot");
  assert.match(leaking.text, /Above normal use: 1\.3% \(34 liters\) a day since 12 November 2026\n {2}Detected: 12/);
  const theft = { ...leak, leak: { since: OPENED, excess: 30, isSudden: true } };
  const reminder = mailOf(toCustomer(), [itemOf({ update: "reminder", alert: theft })]);
  assert.match(
    reminder.text,
    /This tank has lost far more than is normal for the season, and nobody has acknowledged the alert\./,
  );
  assert.match(
    mailOf(toOperator(), [itemOf({ alert: theft })]).text,
    /Sudden loss: 30% \(810 liters\), 12 November 2026 at 22:15 UTC\n {2}Detected: 12/,
  );
  assert.match(
    mailOf(toCustomer({ language: "de" }), [itemOf({ alert: leak })]).text,
    /Mehrverbrauch: 1,3 % \(34 Liter\) am Tag seit 12\. November 2026\n/,
  );
});

test("every kind has words for every update, which owners get in their language", () => {
  const recovered = { update: "closed", alert: RECOVERED } as const;
  const ofOwners = [{ update: "opened" }, { update: "reminder" }, recovered] as const;
  const turnedOff = { update: "closed", alert: { ...RECOVERED, close_reason: "turned_off" } } as const;
  const ofOperators = [...ofOwners, { update: "acknowledged" }, turnedOff] as const;
  const subjectsOf = (recipient: Recipient, changes: readonly Parameters<typeof itemOf>[0][]) =>
    ALERT_KINDS.flatMap((kind) =>
      changes.map((change) => mailOf(recipient, [itemOf({ ...change, alert: { ...change?.alert, kind } })]).subject),
    );
  const said = LANGUAGES.flatMap((language) => subjectsOf(toCustomer({ language }), ofOwners));
  assert.equal(new Set(said).size, LANGUAGES.length * ALERT_KINDS.length * ofOwners.length);
  assert.equal(new Set(subjectsOf(toOperator(), ofOperators)).size, ALERT_KINDS.length * ofOperators.length);
});

test("in a digest the first to run low, and the largest leak, come first", () => {
  const soon = Array.from({ length: 21 }, (_, i) =>
    itemOf({ alert: { id: `a${i}`, kind: "runs_low_soon", runs_low_at: MEASURED - i * HOUR }, tank: { name: `Soon ${i}.` } }),
  );
  const leaks = Array.from({ length: 21 }, (_, i) =>
    itemOf({
      alert: { id: `l${i}`, kind: "leak", leak: { since: 0, excess: 1 + i, isSudden: false } },
      tank: { name: `Leak ${i}.` },
    }),
  );
  const mail = mailOf(toOperator(), [...leaks, ...soon]);
  assert.equal(mail.subject, "21 tanks run low soon, 21 possible leaks");
  assert.match(mail.text, /The 20 most urgent:\n\nSoon 20\.\n[\s\S]*The 20 most urgent:\n\nLeak 20\.\n/);
});

test(`above ${DIGEST_ABOVE} alerts of a kind, a mail has the counts and the ${DIGEST_ABOVE} most urgent`, () => {
  const low = Array.from({ length: 25 }, (_, i) =>
    itemOf({ alert: { id: `alr_${i}`, latest_fill_percentage: 24.5 - i, threshold: 30 }, tank: { name: `Tank ${i}.` } }),
  );
  const silent = Array.from({ length: 21 }, (_, i) =>
    itemOf({ alert: { id: `als_${i}`, kind: "silent", latest_reading_at: MEASURED - i * HOUR }, tank: { name: `Quiet ${i}.` } }),
  );
  const mail = mailOf(toOperator(), [...low, ...silent]);
  assert.equal(mail.subject, "25 tanks are low, 21 tanks are silent");
  assert.match(
    mail.text,
    /\n25 tanks are low\n-+\n[\s\S]*The 20 most urgent:\n\nTank 24\.\n[\s\S]*\nTank 5\.\n[\s\S]*\n5 more are not listed here\./,
  );
  assert.match(
    mail.text,
    /\n21 tanks are silent\n-+\n[\s\S]*The 20 most urgent:\n\nQuiet 20\.\n[\s\S]*\n1 more is not listed here\./,
  );
  assert.doesNotMatch(mail.text, /^Tank [0-4]\.|^Quiet 0\./m);

  const [group] = groupAlerts(low);
  const huge = alertMail(toOperator(), group === undefined ? [] : [{ ...group, total: 100_000 }], MEASURED);
  assert.equal(huge.subject, "100,000 tanks are low");
  assert.match(huge.text, /99,980 more are not listed here\./);
  assert.ok(huge.html.length < 60_000, `${huge.html.length}`);

  const exact = mailOf(toCustomer(), low.slice(0, DIGEST_ABOVE));
  assert.doesNotMatch(exact.text, /most urgent|not listed/);
});

test(`the ${DIGEST_ABOVE} that are listed of a kind are shared by its updates, new alerts first`, () => {
  const all = (["closed", "acknowledged", "opened"] as const).flatMap((update) =>
    Array.from({ length: update === "opened" ? 19 : 10 }, (_, i) =>
      itemOf({ update, alert: { id: `${update} ${i}`, latest_fill_percentage: 19 - i }, tank: { name: `${update} ${i}.` } }),
    ),
  );
  const listed = (text: string) => Array.from(text.matchAll(/^(closed|acknowledged|opened) \d+\.$/gm), ([name]) => name);
  const { subject, text } = mailOf(toOperator(), [...all, itemOf({ alert: { kind: "silent" }, tank: { name: "Quiet." } })]);
  assert.equal(subject, "19 tanks are low, 1 tank is silent, 10 low-fill alerts acknowledged, 10 low-fill alerts closed");
  const newest = Array.from({ length: 19 }, (_, i) => `opened ${18 - i}.`);
  assert.deepEqual(listed(text), [...newest, "acknowledged 9."]);
  assert.match(text, /\n10 low-fill alerts acknowledged\n-+\n\nThe most urgent:\n[\s\S]*\n9 more are not listed here\.\n/);
  assert.match(text, /\n10 low-fill alerts closed\n-+\n\nNot listed here\.\n/);
  assert.doesNotMatch(mailOf(toOperator(), all.slice(0, DIGEST_ABOVE)).text, /urgent|not listed/i);
});

test("what is not known is left out; coordinates stand for a missing address", () => {
  const bare = mailOf(toOperator(), [itemOf({ tank: { location: NO_LOCATION, custom_id: "" }, customer: { phone: null } })]);
  assert.doesNotMatch(bare.text, /Where|Phone|Reference|null/);
  const location = { ...NO_LOCATION, latitude: 47.9883, longitude: 7.8567 };
  assert.match(
    mailOf(toCustomer(), [itemOf({ tank: { location, custom_id: "HALL-3" } })]).text,
    /Where: 47\.9883, 7\.8567\n {2}Reference: HALL-3\n/,
  );
});

test("a customer can unsubscribe with one click, and no vacation notice replies", () => {
  const { headers } = mailOf(toCustomer(), [itemOf()]);
  assert.deepEqual(headers, {
    "Auto-Submitted": "auto-generated",
    Precedence: "list",
    "X-Auto-Response-Suppress": "DR, RN, NRN, OOF, AutoReply",
    "Content-Language": "en",
    "List-Unsubscribe": `<${UNSUBSCRIBE}>`,
    "List-Unsubscribe-Post": "List-Unsubscribe=One-Click",
  });
});

test("a mail is plain JSON", () => {
  const mail = mailOf(toCustomer(), [itemOf()]);
  assert.deepEqual(JSON.parse(JSON.stringify(mail)), mail);
});
