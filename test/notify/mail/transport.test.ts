// Mail over real SMTP.

import assert from "node:assert/strict";
import { once } from "node:events";
import { type AddressInfo, createServer } from "node:net";
import { type TestContext, test } from "node:test";
import { getCACertificates, setDefaultCACertificates } from "node:tls";
import type { Mail, Mailbox } from "../../../src/domain/mail/mail.ts";
import { openMailTransport } from "../../../src/notify/mail/transport.ts";
import { TEST_CERTIFICATE } from "../../support/certificate.ts";
import { type MailServer, startMailServer } from "../../support/mail-server.ts";

const FROM: Mailbox = { name: "Tänks, Inc.", address: "tanks@example.com" };
const MAIL: Mail = {
  to: "anna@example.org",
  subject: "Tank low at 18%: Müller",
  text: "Grüße\n",
  html: "<p>Grüße</p>",
  headers: {
    "Auto-Submitted": "auto-generated",
    "List-Unsubscribe": `<https://tanks.example.com/unsubscribe?token=${"x".repeat(90)}>`,
  },
};
const SENT = { status: 250, error: null, isPermanent: false };

function transportTo(t: TestContext, url: string, timeouts = {}) {
  const transport = openMailTransport(url, FROM, timeouts);
  t.after(() => transport.close());
  return transport;
}

const withLogin = ({ url }: MailServer, login: string): string => url.replace("//", `//${login}@`);

test("a mail arrives with both parts, its headers and a Message-ID of the notification", async (t) => {
  const server = await startMailServer(t);
  assert.deepEqual(await transportTo(t, server.url).send("msg_1", MAIL), SENT);
  const [received] = server.received;
  assert.deepEqual([received?.from, received?.to], ["tanks@example.com", ["anna@example.org"]]);
  const { parsed } = received ?? assert.fail();
  assert.equal(parsed.subject, MAIL.subject);
  assert.equal(parsed.text, MAIL.text);
  assert.equal(parsed.html, MAIL.html);
  assert.equal(parsed.messageId, "<msg_1@example.com>");
  assert.deepEqual(parsed.from?.value, [{ name: "Tänks, Inc.", address: "tanks@example.com" }]);
  assert.equal(parsed.headers.get("auto-submitted"), "auto-generated");
  const [unsubscribe] = /^List-Unsubscribe:.*(\r\n[ \t].*)*/m.exec(received?.raw ?? "") ?? [];
  assert.equal(unsubscribe?.replace(/\r\n[ \t]+/g, " "), `List-Unsubscribe: ${MAIL.headers["List-Unsubscribe"]}`);
});

test("a mail sent twice has the same Message-ID, and connections are reused", async (t) => {
  const server = await startMailServer(t);
  const transport = transportTo(t, server.url);
  for (let i = 0; i < 3; i++) assert.deepEqual(await transport.send("msg_1", MAIL), SENT);
  assert.deepEqual(new Set(server.received.map(({ parsed }) => parsed.messageId)), new Set(["<msg_1@example.com>"]));
  assert.equal(server.connections(), 1);
});

test("a refused recipient or message is permanent, greylisting and a refused sender are not", async (t) => {
  const server = await startMailServer(t);
  const transport = transportTo(t, server.url);
  for (const [behaviour, status, isPermanent, error] of [
    ["refuse recipient", 550, true, /^the mail server refused the recipient: 550 5\.1\.1 no such user$/],
    ["refuse message", 554, true, /^the mail server refused the mail: 554 /],
    ["greylist", 451, false, /^the mail server refused the recipient: 451 .*try again later$/],
    ["refuse sender", 550, false, /^the mail server refused the sender, MAIL_FROM: 550 /],
    ["close", 421, false, /^the mail server is not available: 421 too busy$/],
  ] as const) {
    server.behaviour = behaviour;
    const result = await transport.send("msg_1", MAIL);
    assert.deepEqual([result.status, result.isPermanent], [status, isPermanent], `${behaviour}: ${result.error}`);
    assert.match(result.error ?? "", error);
  }
  server.behaviour = "accept";
  assert.deepEqual(await transport.send("msg_1", MAIL), SENT);
});

test("a wrong password is a temporary error that does not contain it", async (t) => {
  const server = await startMailServer(t, { login: { user: "tanks", password: "p@ss:1" } });
  const wrong = await transportTo(t, withLogin(server, "tanks:hush")).send("msg_1", MAIL);
  const error = "the mail server did not accept the user and password of SMTP_URL";
  assert.deepEqual(wrong, { status: 535, error, isPermanent: false });
  assert.deepEqual(await transportTo(t, withLogin(server, "tanks:p%40ss%3A1")).send("msg_1", MAIL), SENT);
  const without = await transportTo(t, server.url).send("msg_1", MAIL);
  assert.deepEqual([without.status, without.isPermanent], [530, false]);
  assert.match(without.error ?? "", /^the mail server demands TLS or a password: /);
});

test("certificates are verified, with STARTTLS and with TLS from the start", async (t) => {
  for (const tls of ["demanded", "implicit"] as const) {
    const server = await startMailServer(t, { tls });
    const { status, error, isPermanent } = await transportTo(t, `${server.url}?requireTLS=true`).send("msg_1", MAIL);
    assert.deepEqual([status, isPermanent], [null, false]);
    assert.match(error ?? "", /^no connection to the mail server: the certificate is not trusted$/);
  }
  const before = getCACertificates("default");
  setDefaultCACertificates([...before, TEST_CERTIFICATE.cert]);
  t.after(() => setDefaultCACertificates(before));
  for (const tls of ["demanded", "implicit"] as const) {
    const server = await startMailServer(t, { tls, login: { user: "a", password: "b" } });
    assert.deepEqual(await transportTo(t, `${withLogin(server, "a:b")}?requireTLS=true`).send("msg_1", MAIL), SENT);
    assert.equal(server.received[0]?.isSecure, true);
  }
});

test("a server that demands TLS, or does not offer it where it is required, is a temporary error", async (t) => {
  const demanding = await startMailServer(t, { tls: "demanded" });
  const plain = await transportTo(t, demanding.url).send("msg_1", MAIL);
  assert.deepEqual([plain.status, plain.isPermanent], [530, false]);
  assert.match(plain.error ?? "", /demands TLS/);
  const offeringNone = await startMailServer(t);
  const required = await transportTo(t, `${offeringNone.url}?requireTLS=true`).send("msg_1", MAIL);
  assert.equal(required.isPermanent, false);
  assert.match(required.error ?? "", /^the mail server did not start TLS: 500 /);
});

test("a password is sent over TLS only, except to loopback, unless the URL says otherwise", async (t) => {
  const server = await startMailServer(t, { login: { user: "a", password: "b" } });
  // Not recognised as loopback, though it leads there.
  const url = withLogin(server, "a:b").replace("127.0.0.1", "[::ffff:127.0.0.1]");
  const refused = await transportTo(t, url).send("msg_1", MAIL);
  assert.match(refused.error ?? "", /^the mail server did not start TLS: 500 /);
  assert.deepEqual(await transportTo(t, `${url}?requireTLS=false`).send("msg_1", MAIL), SENT);
  const offering = await startMailServer(t, { tls: "offered", login: { user: "a", password: "b" } });
  const ignoring = `${withLogin(offering, "a:b").replace("127.0.0.1", "[::ffff:127.0.0.1]")}?requireTLS=false&ignoreTLS=true`;
  assert.deepEqual(await transportTo(t, ignoring).send("msg_1", MAIL), SENT);
});

test("every delay of a server is bounded, and the next mail has a new connection", async (t) => {
  const server = await startMailServer(t);
  const transport = transportTo(t, server.url, { greeting: 200, inactivity: 200, total: 600 });
  for (const [behaviour, error] of [
    ["no greeting", /did not respond in time/],
    ["hang", /did not respond in time/],
    ["trickle", /did not finish within 0\.6 s/],
  ] as const) {
    server.behaviour = behaviour;
    const start = performance.now();
    const { isPermanent, error: reported } = await transport.send("msg_1", MAIL);
    assert.match(reported ?? "", error, behaviour);
    assert.ok(!isPermanent && performance.now() - start < 1500, behaviour);
  }
  server.behaviour = "accept";
  assert.deepEqual(await transport.send("msg_1", MAIL), SENT);
});

test("one mail that hangs does not delay others", async (t) => {
  const server = await startMailServer(t, { behaviour: "hang" });
  const transport = transportTo(t, server.url, { inactivity: 2000 });
  const hanging = transport.send("msg_1", MAIL);
  while (server.connections() === 0) await new Promise(setImmediate);
  await new Promise((resolve) => setTimeout(resolve, 200));
  server.behaviour = "accept";
  assert.deepEqual(await Promise.all(["msg_2", "msg_3"].map((id) => transport.send(id, MAIL))), [SENT, SENT]);
  transport.close();
  assert.notEqual((await hanging).error, null);
  assert.match((await transport.send("msg_4", MAIL)).error ?? "", /stopping/);
});

test("a server that cannot be reached is a temporary error", async (t) => {
  const server = createServer().listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  server.close();
  const { status, error, isPermanent } = await transportTo(t, `smtp://user:hush@127.0.0.1:${port}`).send("msg_1", MAIL);
  assert.deepEqual([status, isPermanent], [null, false]);
  assert.match(error ?? "", /^no connection to the mail server: connection refused$/);
  assert.doesNotMatch(error ?? "", /hush/);
});

test("an address that could be read as another, or as several, is not sent to", async (t) => {
  const server = await startMailServer(t);
  const transport = transportTo(t, server.url);
  for (const to of [
    "a,b@example.org",
    "x<b@example.org",
    'a"@b',
    "a@b>,c",
    "b@c;d",
    "a@b\r\nRCPT TO:<x",
    "a:b@c",
    "a\u202eb@c",
    "",
    "@",
  ]) {
    const result = await transport.send("msg_1", { ...MAIL, to });
    assert.deepEqual(result, { status: null, error: "mail cannot be sent to this address", isPermanent: true }, to);
  }
  assert.deepEqual(await transport.send("msg_1", { ...MAIL, to: "o'neil+x=y@müller.example" }), SENT);
  assert.deepEqual(server.received[0]?.to, ["o'neil+x=y@müller.example"]);
});
