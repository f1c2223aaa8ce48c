// A customer and the mail they get, from the program as it is installed and a real mail server: the address is verified, a tank
// becomes low, one click unsubscribes.

import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { after, suite, test } from "node:test";
import { freePort } from "../support/free-port.ts";
import { type ReceivedMail, startMailServer } from "../support/mail-server.ts";
import { sqlOn } from "../support/sql.ts";
import { until } from "../support/until.ts";
import { createKey, customer, ndjson, tank } from "./fixtures.ts";
import { type Workspace, workspace } from "./program.ts";

/** Not two recipients, and no header. */
const NAME = 'Ann "the tank", Bcc: spy@evil.example <spy@evil.example>';

async function itemOf({ run }: Workspace, ...words: readonly string[]): Promise<Record<string, unknown>> {
  const { code, stdout, stderr } = await run([...words, "--json"]);
  assert.equal(code, 0, stderr);
  return JSON.parse(stdout) as Record<string, unknown>;
}

function linkIn({ parsed }: ReceivedMail, page: string): URL {
  const [link] = new RegExp(`http://127\\.0\\.0\\.1:\\d+/${page}\\?token=\\S+`).exec(parsed.text ?? "") ?? [];
  return new URL(link ?? assert.fail(parsed.text));
}

/** On SQLite alone. On PostgreSQL, mail and links are tested in test/store/mail-links.test.ts and test/notify/cleanup.test.ts. */
suite("mail to a customer", async () => {
  const smtp = await startMailServer({ after });
  const port = String(await freePort());
  const mailSettings = { SMTP_URL: smtp.url, MAIL_FROM: "Brenner Gas <tanks@brenner-gas.example>" };
  const settings = { ...mailSettings, PORT: port, PUBLIC_URL: `http://127.0.0.1:${port}`, LOG_LEVEL: "trace" };
  const here = workspace({ after }, settings);
  const key = await createKey(here, "--role", "manage");
  const service = await here.start();
  const mail = (count: number) => until(`mail ${count}`, () => smtp.received[count - 1] ?? false, 30_000);
  /** Links that must not be logged. */
  const links: string[] = [];

  test("an address is verified, its owner is notified of a low tank, and unsubscribes with one click", async (t) => {
    await itemOf(here, "customer", "create", "--id", "ann", "--name", NAME, "--email", "ann@customers.example");
    const tank = "--id t1 --owner ann --name Cellar --capacity 3000 --unit liters --threshold 20 --device d1 --country DE";
    await itemOf(here, "tank", "create", ...tank.split(" "));

    await itemOf(here, "customer", "verify", "ann");
    const verification = await mail(1);
    assert.deepEqual(verification.to, ["ann@customers.example"]);
    assert.equal(verification.parsed.subject, "Bitte bestätigen Sie Ihre E-Mail-Adresse");
    const confirm = linkIn(verification, "verify");
    assert.match(await (await fetch(confirm)).text(), /<button/);
    assert.equal((await itemOf(here, "customer", "show", "ann"))["is_verified"], false, "looking at the page changes nothing");
    assert.equal((await fetch(confirm, { method: "POST" })).status, 200);
    assert.equal((await itemOf(here, "customer", "show", "ann"))["is_verified"], true);
    const again = await here.run(["customer", "verify", "ann"]);
    assert.deepEqual([again.code, /verified already/.test(again.stderr)], [1, true]);

    const sql = await sqlOn(t, `sqlite:${here.path("tanks.db")}`);
    const measure = async (fill_percentage: number): Promise<void> => {
      const body = JSON.stringify({ device_id: "d1", fill_percentage });
      const headers = { "x-api-key": key, "content-type": "application/json" };
      const { status } = await fetch(`${service.url}/ingest/v1/readings`, { method: "POST", body, headers });
      assert.equal(status, 200);
      // Mail is held back for a while, to tell of several alerts at once.
      await sql("UPDATE deferred_notification SET due_at = $1", Date.now());
    };
    await measure(12.5);
    const low = await mail(2);
    assert.match(low.parsed.subject ?? "", /^Füllstand niedrig, 12,5\s%: Cellar$/);
    assert.deepEqual([low.to, low.parsed.bcc, low.parsed.cc], [["ann@customers.example"], undefined, undefined]);
    assert.match(low.parsed.text ?? "", /375 Liter/);
    const headers = new Map(low.parsed.headerLines.map(({ key: name, line }) => [name, line.replaceAll(/\r?\n\s+/g, " ")]));
    assert.equal(headers.get("list-unsubscribe-post"), "List-Unsubscribe-Post: List-Unsubscribe=One-Click");
    const [, oneClick = ""] = /<(.+)>/.exec(headers.get("list-unsubscribe") ?? "") ?? [];
    assert.equal(oneClick.replaceAll(" ", ""), linkIn(low, "unsubscribe").href);
    const form = { method: "POST", body: new URLSearchParams("List-Unsubscribe=One-Click") };
    assert.equal((await fetch(oneClick, form)).status, 200);
    const { notifications } = await itemOf(here, "customer", "show", "ann");
    assert.match(String((notifications as Record<string, unknown>)["unsubscribed_at"]), /^\d{4}-/);

    await measure(80);
    // It would be held back for ten minutes: that it is not deferred any more shows that it will never come.
    const deferred = "SELECT id FROM deferred_notification WHERE event = 'alert.closed'";
    await until("the mail about the recovery is dropped", async () => (await sql(deferred)).length === 0, 30_000);
    assert.equal(smtp.received.length, 2, "nothing more is sent");
    links.push(confirm.href, oneClick);
  });

  test("a test of a channel is sent with the settings of the service, also by a command that has others", async () => {
    const other = { env: { SMTP_URL: undefined, MAIL_FROM: undefined, PUBLIC_URL: undefined } };
    const { stdout, stderr } = await here.run(["channel", "create", "--email", "dispatch@x.example"], other);
    assert.match(stderr, /^With the settings of this command \(--url uses those of the service\): No mail is sent: .*$/m);
    const tested = await here.run(["channel", "test", stdout.trim()], other);
    assert.equal(tested.code, 0, tested.stderr);
    assert.deepEqual(smtp.received.at(-1)?.to, ["dispatch@x.example"]);
  });

  test("the audit log says by which link something was changed; no link is in it, in the log or in the customer", async () => {
    const audit = await here.run(["audit", "--id", "ann"]);
    assert.match(audit.stdout, /unsubscribe link .*\n.*verification link/);
    await here.run(["export", "all.ndjson"]);
    const { stdout, stderr } = await service.stop();
    const written = stdout + stderr + audit.stdout + JSON.stringify(await itemOf(here, "customer", "show", "ann"));
    assert.equal(links.length, 2);
    for (const link of links) assert.ok(!written.includes(link.split("token=")[1] ?? ""), link);
    assert.match(stderr, /"path":"\/unsubscribe"/);
  });
});

test("a link is not sent where mail is not configured, and the message says what to set", async (t) => {
  const here = workspace(t, { PUBLIC_URL: "https://tanks.example.com" });
  writeFileSync(
    here.path("a.ndjson"),
    '{"object":"customer","id":"a","created_at":"2026-01-01","email":"a@x.example","name":"A"}\n',
  );
  await here.run(["import", "a.ndjson"]);
  const { code, stderr } = await here.run(["customer", "verify", "a"]);
  const problem =
    "With the settings of this command (--url uses those of the service): No mail is sent: SMTP_URL and MAIL_FROM are not set.";
  assert.deepEqual([code, stderr], [1, `tank-monitor: ${problem}\n`]);
});

test("an import plans mail to the owners of low tanks, and none with OWNER_ALERTS=none, also when the service has the default", async (t) => {
  for (const [settings, deferred] of [
    [{}, true],
    [{ OWNER_ALERTS: "none" }, false],
  ] as const) {
    const here = workspace(t);
    const lines = [
      customer("ann", { verified_at: "2026-01-05T08:00:00.000Z" }),
      tank("t1", "ann", { min_fill_alert_percentage: 20 }),
      { object: "telemetry", tank_id: "t1", created_at: new Date().toISOString(), fill_percentage: 12 },
    ];
    writeFileSync(here.path("fleet.ndjson"), ndjson(lines));
    assert.equal((await here.run(["import", "fleet.ndjson"], { env: settings })).code, 0);
    const service = deferred ? undefined : await here.start();
    assert.match((await here.run(["alert", "list"])).stdout, /low +open/);
    const sql = await sqlOn(t, `sqlite:${here.path("tanks.db")}`);
    assert.equal((await sql("SELECT count(*) AS n FROM deferred_notification"))[0]?.["n"] !== 0, deferred);
    await service?.stop();
  }
});
