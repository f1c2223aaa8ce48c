// Channels and notifications from the command line, with a service that sends.

import assert from "node:assert/strict";
import { once } from "node:events";
import { createServer, type IncomingHttpHeaders } from "node:http";
import type { AddressInfo } from "node:net";
import { text } from "node:stream/consumers";
import { after, test } from "node:test";
import { Webhook } from "standardwebhooks";
import { sqlOn } from "../support/sql.ts";
import { until } from "../support/until.ts";
import { cliOnDatabase, SMALL_FLEET } from "./fixtures.ts";

type Received = { readonly body: string; readonly headers: IncomingHttpHeaders };

/** Responds with this status. */
let status = 204;
const received: Received[] = [];
const receiver = createServer(async (request, response) => {
  received.push({ body: await text(request), headers: request.headers });
  response.writeHead(status).end();
});
after(() => receiver.close());
await once(receiver.listen(0, "127.0.0.1"), "listening");
const url = `http://127.0.0.1:${(receiver.address() as AddressInfo).port}/hooks?token=hidden`;

const {
  workspace: here,
  run,
  output,
  items,
  expectFailure,
} = await cliOnDatabase({ after }, SMALL_FLEET, {
  WEBHOOK_ALLOW: "127.0.0.1",
});
const service = await here.start();

const idIn = (stderr: string): string => /chn_\w+/.exec(stderr)?.[0] ?? "";
const create = async (...words: string[]) => {
  const { stdout, stderr } = await run(["channel", "create", ...words]);
  return { secret: stdout.trim(), id: idIn(stderr), stderr };
};

const verified = (secret: string, { body, headers }: Received) =>
  new Webhook(secret).verify(body, headers as Record<string, string>) as { type: string };

test("a webhook is created with its secret alone on stdout, tested, and verified by the reference library", async () => {
  const { secret, id, stderr } = await create("--webhook", url, "--description", "night shift");
  assert.match(secret, /^whsec_[A-Za-z0-9+/]{43}=$/);
  assert.match(stderr, /shown only once/);
  assert.ok(!stderr.includes(secret));
  const tested = await run(["channel", "test", id]);
  assert.equal(tested.code, 0, tested.stderr);
  assert.match(tested.stderr, /notification msg_\w+ delivered in \d+ ms/);
  const last = received.at(-1);
  assert.ok(last !== undefined);
  assert.equal(verified(secret, last).type, "channel.test");
  const [listed] = await items("channel", "list");
  assert.deepEqual([listed?.["id"], listed?.["url"], listed?.["description"]], [id, url, "night shift"]);

  const { stdout: rotated, stderr: said } = await run(["channel", "rotate", id, "--overlap", "1h"]);
  assert.match(said, /^Webhooks are also signed with the old secret for another 1h\.$/m);
  assert.equal((await run(["channel", "test", id])).code, 0);
  for (const one of [secret, rotated.trim()]) assert.equal(verified(one, received.at(-1) as Received).type, "channel.test");
  assert.match(await output("channel", "show", id), /last_delivered_at +\d{4}-/);
  const seen = [await output("channel", "list", "--json"), await output("audit"), await output("channel", "show", id)].join();
  for (const hidden of [secret, rotated.trim()]) assert.ok(!`${seen}${service.stdout()}${service.stderr()}`.includes(hidden));
  assert.doesNotMatch(`${await output("audit")}${service.stdout()}${service.stderr()}`, /token=hidden/);
  const last24h = (await run(["channel", "rotate", id])).stderr;
  assert.match(last24h, /^Webhooks are also signed with the old secret for another 24h\.$/m);
  const none = (await run(["channel", "rotate", id, "--overlap", "0s"])).stderr;
  assert.match(none, /^The old secret is no longer used\.$/m);
});

test("a test that fails says why; the notification is shown with its attempts, ends with its channel, and is sent again", async () => {
  const { id } = await create("--webhook", url);
  status = 500;
  const { code, stderr } = await run(["channel", "test", id]);
  status = 204;
  assert.equal(code, 1);
  assert.match(stderr, /was not delivered: the receiver responded with 500\. Next attempt: \d{4}-\S+Z\.$/m);
  const [notification] = await items("notification", "list", "--channel", id);
  const shown = await output("notification", "show", String(notification?.["id"]));
  assert.match(shown, /event +channel\.test\n.*SENT +STATUS +MS +ERROR\n\S+ +500 +\d+ +.*500/s);
  const before = received.length;
  await output("notification", "retry", String(notification?.["id"]));
  await until("it is sent again", () => received.length > before);
  await output("channel", "update", id, "--state", "disabled");
  await expectFailure(["channel", "test", id], /disabled: set its state to active first/);
  await output("channel", "update", id, "--state", "active");
  assert.match((await run(["channel", "recover", id, "--since", "1h"])).stderr, /^\d notifications? of channel/);
  await output("channel", "delete", id);
  await expectFailure(["channel", "show", id], /no such channel: chn_\w+; see "npx tank-monitor channel list"/);
});

test("mail to customers that was not sent is sent again", async (t) => {
  const sql = await sqlOn(t, `sqlite:${here.path("tanks.db")}`);
  await output("customer", "create", "--id", "ann", "--name", "Ann", "--email", "ann@customers.example", "--verified");
  const now = Date.now();
  const mail = { id: "msg_ann", customer_id: "ann", destination: "mail", event: "alert.opened", alert_ids: "[]" };
  const times = { created_at: now, pending_since: now, ended_at: now };
  const ended = { ...mail, ...times, state: "expired", attempts: "[]", payload: "{}" };
  const values = Object.keys(ended).map((_, i) => `$${i + 1}`);
  await sql(`INSERT INTO notification (${Object.keys(ended)}) VALUES (${values})`, ...Object.values(ended));
  const recover = async () => (await run(["notification", "recover", "--since", "1h", "--customer", "ann"])).stderr;
  assert.equal(await recover(), "1 notification to customers will be sent again\n");
  assert.equal(await recover(), "0 notifications to customers will be sent again\n");
  assert.match(await output("notification", "list", "--customer", "ann"), /msg_ann +alert\.opened +ann +pending/);
  assert.match(await output("audit", "--id", "ann"), /mail_recovered/);
});

test("an e-mail channel says what is missing to send mail", async () => {
  const words = ["--email", "dispatch@x.example", "--quiet-hours", "21:00-07:00", "--timezone", "Europe/Berlin"];
  const { stdout, stderr } = await run(["channel", "create", ...words]);
  assert.match(stdout, /^chn_\w+\n$/);
  const problem = "With the settings of this command (--url uses those of the service): No mail is sent: ";
  assert.ok(stderr.includes(`${problem}SMTP_URL, MAIL_FROM and PUBLIC_URL are not set.\n`), stderr);
  const list = await output("channel", "list");
  assert.match(list, /email +active +dispatch@x\.example /);
  assert.ok(list.includes(problem), list);
  assert.match(
    await output("channel", "show", stdout.trim()),
    /quiet_hours +\{"from":"21:00","to":"07:00","timezone":"Europe\/Berlin"\}/,
  );
  const failed = await run(["channel", "test", stdout.trim()]);
  assert.match(failed.stderr, /was not delivered\. With the settings of this command .*: No mail is sent/);
});

test("a command with another WEBHOOK_ALLOW than the service says by whose settings a URL is rejected", async () => {
  const { id } = await create("--webhook", url);
  const other = { env: { WEBHOOK_ALLOW: undefined } };
  const listed = await run(["channel", "list"], other);
  assert.match(listed.stdout, /With the settings of this command .*: Nothing is sent to this URL/);
  const refused = await run(["channel", "create", "--webhook", url], other);
  assert.equal(refused.code, 2);
  assert.match(refused.stderr, /--webhook: With the settings of this command .*: must not be at /);
  await output("channel", "delete", id);
});

test("wrong usage is reported by flag", async () => {
  await expectFailure(["channel", "create"], /either --webhook URL or --email ADDRESS/, 2);
  await expectFailure(["channel", "create", "--webhook", url, "--email", "a@b.example"], /either --webhook/, 2);
  for (const hours of ["night", "25:00-07:00", "21:00-07:60", "21:00"]) {
    const message = new RegExp(`--quiet-hours must be two times of day such as 21:00-07:00, not "${hours}"\n$`);
    await expectFailure(["channel", "create", "--email", "a@b.example", "--quiet-hours", hours], message, 2);
  }
  await expectFailure(
    ["channel", "create", "--email", "a@b.example", "--delay", "4"],
    /--delay: must be a duration such as 30m, 4h or 7d \(given: "4"\)\n$/,
    2,
  );
  await output("channel", "create", "--email", "a@b.example", "--delay", "7d");
  await expectFailure(["channel", "create", "--email", "a@b.example", "--delay", "16d"], /--delay: .*15d/, 2);
  const words = ["--webhook", "https://10.0.0.1/", "--event", "alert.opend", "--delay", "x", "--timezone", "Mars/Olympus"];
  await expectFailure(
    ["channel", "create", ...words],
    /5 errors\n.*--event: must be one of [^\n]*"alert\.opend".*--delay.*--webhook/s,
    2,
  );
  await expectFailure(
    ["channel", "create", "--email", "a@b.example", "--quiet-hours", "21:00-07:00"],
    /--timezone: is missing/,
    2,
  );
  await expectFailure(["channel", "recover", "chn_x"], /--since is missing/, 2);
  await expectFailure(["notification", "recover"], /--since is missing/, 2);
  await expectFailure(["notification", "recover", "--since", "1h", "--customer", "nobody"], /--customer: no such customer/);
  await expectFailure(["notification", "list", "--state", "lost"], /--state must be one of/, 2);
});
