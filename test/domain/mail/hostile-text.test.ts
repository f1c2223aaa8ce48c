// Names and notes are written by strangers: whatever they contain, a mail keeps its structure.

import assert from "node:assert/strict";
import test from "node:test";
import fc from "fast-check";
import { alertMail, groupAlerts, type Recipient } from "../../../src/domain/mail/alert-mail.ts";
import { LANGUAGES } from "../../../src/domain/mail/language.ts";
import { plain } from "../../../src/domain/mail/layout.ts";
import type { Mail } from "../../../src/domain/mail/mail.ts";
import { NO_LOCATION } from "../../../src/domain/tank.ts";
import { openMailTransport } from "../../../src/notify/mail/transport.ts";
import { startMailServer } from "../../support/mail-server.ts";
import { itemOf, MEASURED, refillOf, toCustomer, toOperator } from "./fixtures.ts";

const ATTACKS = [
  "A\r\nBcc: victim@example.org",
  "A\nContent-Type: text/html\n\n<b>",
  "=?utf-8?Q?A=0D=0ABcc=3A_victim=40example=2Eorg?=",
  "<script>alert(1)</script>",
  '"><img src=x onerror=alert(1)>',
  "'--></style></title><a href=javascript:alert(1)>",
  "&lt;b&gt; &amp;",
  "\u202egnp.exe",
  "\u2066a\u2069\u200f\u061c",
  "a\u2028b\u2029c\u0085d\u0000e\u007f",
  "\ud800",
  "🛢️".repeat(300),
  "x".repeat(10_000),
  "{{name}} %s \\0",
  "../../etc/passwd",
  "",
  " ",
];
const hostile = fc.oneof(
  fc.constantFrom(...ATTACKS),
  fc.string({ unit: "binary", maxLength: 100 }),
  fc.string({ maxLength: 600 }),
);

/** Every text from outside is `text`. */
function mailWith(text: string, recipient: Recipient): Mail {
  const location = { ...NO_LOCATION, street: text, city: text };
  const about = { tank: { name: text, custom_id: text, location, id: text }, customer: { name: text, phone: text } };
  const item = itemOf({
    ...about,
    alert: { note: text, acknowledged_at: 0, acknowledged_by: text },
  });
  const groups = groupAlerts([item, { ...item, update: "reminder" }, { ...item, update: "closed" }]);
  return alertMail(
    recipient,
    groups,
    MEASURED,
    recipient.type === "operator" ? { total: 1, items: [refillOf(about)] } : undefined,
  );
}

const tagsOf = (html: string): string[] => html.match(/<[^>]*>/g) ?? [];
const BIDI_AND_CONTROL = /(?![\n\u200c\u200d])[\p{Cc}\p{Cf}\u2028\u2029]/u;

const RECIPIENTS = [toOperator(), ...LANGUAGES.map((language) => toCustomer({ language }))];

test("text from outside adds no tag to the HTML, no line to the text and no line to the subject", () => {
  for (const recipient of RECIPIENTS) {
    const harmless = mailWith("x", recipient);
    fc.assert(
      fc.property(hostile, (text) => {
        const mail = mailWith(`x${text}`, recipient);
        assert.deepEqual(tagsOf(mail.html), tagsOf(harmless.html));
        assert.equal(mail.text.split("\n").length, harmless.text.split("\n").length);
        assert.doesNotMatch(mail.subject, /[\r\n]|=\?/);
        for (const part of [mail.subject, mail.text, mail.html]) {
          assert.doesNotMatch(part, BIDI_AND_CONTROL);
          assert.ok(part.isWellFormed());
        }
        assert.ok(mail.html.length < 60_000);
      }),
    );
  }
});

/** Tags and their attributes, without the values. */
const structureOf = (html: string): string[] => tagsOf(html).map((tag) => tag.replace(/="[^"]*"/g, ""));

test("a single tank's name in the subject keeps it one short line, and adds no tag or attribute to the HTML", () => {
  const mailAbout = (name: string): Mail => alertMail(toCustomer(), groupAlerts([itemOf({ tank: { name } })]), MEASURED);
  const harmless = structureOf(mailAbout("x").html);
  fc.assert(
    fc.property(hostile, (name) => {
      const { subject, html } = mailAbout(name);
      assert.doesNotMatch(subject, /[\r\n]|=\?/);
      assert.doesNotMatch(subject, BIDI_AND_CONTROL);
      assert.ok(Array.from(subject).length <= 150);
      assert.deepEqual(structureOf(html), harmless);
    }),
  );
});

test("a long text is shortened between characters", () => {
  assert.equal(plain("a".repeat(81)), `${"a".repeat(79)}…`);
  assert.equal(plain("a".repeat(80)), "a".repeat(80));
  assert.equal(plain("🛢".repeat(81)), `${"🛢".repeat(79)}…`);
  assert.equal(plain(" a \t\r\n b "), "a b");
});

test("the HTML says what the text says", () => {
  for (const recipient of RECIPIENTS) {
    const mail = mailWith("O'Neil & <Sons>", recipient);
    const [, body = ""] = mail.html.split("<body");
    const entities: Record<string, string> = { "&amp;": "&", "&lt;": "<", "&gt;": ">", "&quot;": '"', "&#39;": "'" };
    const shown = body.replace(/<[^>]*>/g, "\n").replace(/&[#\w]+;/g, (entity) => entities[entity] ?? "?");
    for (const line of mail.text.split("\n")) {
      const trimmed = line.trim().replace(/^(-+|.*: https:.*)$/, "");
      const parts = shown.includes(trimmed) ? [trimmed] : trimmed.split(/: (.*)/);
      for (const part of parts) assert.ok(shown.includes(part), `${part} in ${shown}`);
    }
  }
});

test("after transport, a mail with a hostile name has its own headers and recipient, and no other", async (t) => {
  const server = await startMailServer(t);
  const transport = openMailTransport(server.url, { name: null, address: "tanks@example.com" });
  t.after(() => transport.close());
  const names = [
    ...["auto-submitted", "content-language", "content-type", "date", "from", "list", "message-id", "mime-version"],
    ...["precedence", "subject", "to", "x-auto-response-suppress"],
  ];
  for (const attack of ATTACKS) {
    const mail = alertMail(toCustomer(), groupAlerts([itemOf({ tank: { name: attack } })]), MEASURED);
    const result = await transport.send("msg_1", mail);
    assert.equal(result.error, null, attack);
    const { parsed, to, raw } = server.received.at(-1) ?? assert.fail();
    assert.deepEqual([...parsed.headers.keys()].toSorted(), names, raw);
    assert.deepEqual(to, ["office@brenner-gas.example"]);
    assert.deepEqual([parsed.subject, parsed.text, parsed.html], [mail.subject, mail.text, mail.html]);
    assert.match(raw, /^List-Unsubscribe-Post: List-Unsubscribe=One-Click\r$/m);
    assert.doesNotMatch(raw, /^Bcc:/im);
  }
});
