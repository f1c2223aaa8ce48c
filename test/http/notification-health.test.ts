// What operators and monitoring see: metrics of alerts and notifications, and warnings of /readyz.

import assert from "node:assert/strict";
import { once } from "node:events";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import test from "node:test";
import { ALERT_KINDS } from "../../src/domain/alerts/alert.ts";
import { recordingReceiver } from "../notify/receiver.ts";
import { postgresDatabase, TEMPLATE_LOCALE } from "../support/postgres/database.ts";
import { until } from "../support/until.ts";
import { expectStatus, type Item, request } from "./client.ts";
import { type Managed, startManaged } from "./services.ts";

const MINUTE = 60_000;

async function warningsOf(service: Managed): Promise<{ code: string; detail: string }[]> {
  const { status, text } = await request(service, "/readyz");
  assert.equal(status, 200, text);
  return (JSON.parse(text) as { warnings?: { code: string; detail: string }[] }).warnings ?? [];
}

async function samples(service: Managed): Promise<Map<string, number>> {
  const { text } = await request(service, "/metrics", { key: await service.key({ role: "metrics" }) });
  const lines = text.split("\n").filter((line) => line !== "" && !line.startsWith("#"));
  return new Map(lines.map((line) => [line.slice(0, line.lastIndexOf(" ")), Number(line.slice(line.lastIndexOf(" ") + 1))]));
}

test("alerts and notifications are in the metrics, and what is wrong in /readyz, which stays 200", async (t) => {
  const receiver = await recordingReceiver(t);
  const gone = await recordingReceiver(t, 410);
  const service = await startManaged(t, { WEBHOOK_ALLOW: "127.0.0.1" });
  assert.deepEqual(await warningsOf(service), []);
  const before = await samples(service);
  for (const kind of ALERT_KINDS) assert.equal(before.get(`tank_monitor_alerts_open{kind="${kind}"}`), 0);
  assert.equal(before.get('tank_monitor_notifications_total{channel="webhook",outcome="delivered"}'), 0);

  const create = (fields: object) => service.manage("POST", "/manage/v1/channels", fields);
  expectStatus(await create({ type: "webhook", url: receiver.url }), 201);
  expectStatus(await create({ type: "webhook", url: gone.url, events: ["alert.opened"] }), 201);
  expectStatus(await create({ type: "email", to: "office@example.com" }), 201);
  const { tank } = await service.create();
  const reading = { tank_id: tank, created_at: service.now(), fill_percentage: 10 };
  expectStatus(await service.manage("POST", "/ingest/v1/readings", [reading]), 200);
  await until("the webhook is delivered", () => service.events.some(({ kind }) => kind === "notification_delivered"));
  await until("the other channel is disabled", () => service.events.some(({ kind }) => kind === "channel_disabled"));
  service.forward(11 * MINUTE);

  const after = await samples(service);
  assert.equal(after.get('tank_monitor_alerts_open{kind="low"}'), 1);
  assert.equal(after.get('tank_monitor_notifications_total{channel="webhook",outcome="delivered"}'), 1);
  assert.equal(after.get('tank_monitor_notifications_total{channel="webhook",outcome="failed"}'), 1);
  assert.equal(after.get("tank_monitor_channels_disabled"), 1);
  // The mail about the disabled channel, at least.
  assert.ok((after.get("tank_monitor_notifications_pending") ?? 0) >= 1);
  assert.ok((after.get("tank_monitor_notification_oldest_pending_seconds") ?? 0) > 600);
  const warnings = await warningsOf(service);
  assert.deepEqual(
    warnings.map(({ code }) => code),
    ["mail_not_configured", "channels_disabled", "notifications_delayed"],
  );
  assert.match(warnings[0]?.detail ?? "", /SMTP_URL, MAIL_FROM, PUBLIC_URL/);
  assert.ok(!JSON.stringify(warnings).includes("office@"));
  for (const { code } of warnings) assert.equal(after.get(`tank_monitor_warnings{code="${code}"}`), 1);
});

test("a channel whose notifications are late says so in the list", async (t) => {
  const hanging = createServer(() => {}).listen(0, "127.0.0.1");
  await once(hanging, "listening");
  t.after(() => hanging.closeAllConnections());
  t.after(() => hanging.close());
  const service = await startManaged(t, { WEBHOOK_ALLOW: "127.0.0.1" });
  const url = `http://127.0.0.1:${(hanging.address() as AddressInfo).port}/`;
  expectStatus(await service.manage("POST", "/manage/v1/channels", { type: "webhook", url }), 201);
  const problem = async () => ((await service.manage("GET", "/manage/v1/channels")).body["data"] as Item[])[0]?.["problem"];
  const { tank } = await service.create();
  const created_at = service.now();
  expectStatus(await service.manage("POST", "/ingest/v1/readings", [{ tank_id: tank, created_at, fill_percentage: 10 }]), 200);
  service.forward(9 * MINUTE);
  assert.equal(await problem(), null);
  service.forward(2 * MINUTE);
  assert.match(String(await problem()), /^Notifications are late: the oldest has been pending since 2\d{3}-/);
});

test("missing settings for mail are a warning once an e-mail channel or a customer is to get mail", async (t) => {
  const codes = async (service: Managed) => (await warningsOf(service)).map(({ code }) => code);
  const withChannel = await startManaged(t);
  expectStatus(await withChannel.manage("POST", "/manage/v1/channels", { type: "email", to: "office@example.com" }), 201);
  await until("the warning", async () => (await codes(withChannel)).join() === "mail_not_configured");

  const withCustomer = await startManaged(t, { SMTP_URL: "smtp://127.0.0.1:1", MAIL_FROM: "tanks@example.com" });
  const { customer, tank } = await withCustomer.create();
  const measure = async (fill_percentage: number) => {
    const reading = { tank_id: tank, created_at: withCustomer.now(), fill_percentage };
    expectStatus(await withCustomer.manage("POST", "/ingest/v1/readings", [reading]), 200);
    withCustomer.forward(MINUTE);
  };
  await measure(10);
  assert.deepEqual(await codes(withCustomer), [], "the customer's address is not verified");
  const change = { verified_at: withCustomer.now() };
  expectStatus(await withCustomer.manage("PATCH", `/manage/v1/customers/${customer}`, change), 200);
  await measure(90);
  await measure(9);
  await until("the warning", async () => (await codes(withCustomer)).join() === "mail_not_configured");
  const metrics = await samples(withCustomer);
  assert.equal(metrics.get('tank_monitor_warnings{code="mail_not_configured"}'), 1);
  assert.equal(metrics.get('tank_monitor_warnings{code="channels_disabled"}'), 0);
});

test("/readyz has the last known warnings while new ones wait behind long reads", async (t) => {
  const service = await startManaged(t);
  expectStatus(await service.manage("POST", "/manage/v1/channels", { type: "email", to: "office@example.com" }), 201);
  await until("the warning", async () => (await warningsOf(service)).length === 1);
  service.forward(MINUTE);
  const fields = { name: "Brenner Gas GmbH", email: "office@brenner-gas.example" };
  const customers = Array.from({ length: 50_000 }, (_, i) => ({ newId: `c-${i}`, fields }));
  const check = () => service.store.checkProvision({ customers, tanks: [] }, { by: "test", at: 0 });
  let areRunning = true;
  // Each takes the reader more than a second.
  const reads = Promise.all([check(), check(), check()]).finally(() => {
    areRunning = false;
  });
  assert.deepEqual([(await warningsOf(service)).length, areRunning], [1, true]);
  await reads;
});

test("while the disk of the database is full, writes are a warning", async (t) => {
  const { url, query } = await postgresDatabase(t, { locale: TEMPLATE_LOCALE, withSchema: true });
  const service = await startManaged(t, { DATABASE_URL: url });
  const { tank } = await service.create();
  const send = (fill_percentage: number) =>
    service.manage("POST", "/ingest/v1/readings", [{ tank_id: tank, created_at: service.now(), fill_percentage }]);
  await query(`
    CREATE FUNCTION fail() RETURNS trigger LANGUAGE plpgsql AS
      $$ BEGIN RAISE SQLSTATE '53100' USING MESSAGE = 'could not extend file: No space left on device'; END $$;
    CREATE TRIGGER fail BEFORE UPDATE ON head FOR EACH ROW EXECUTE FUNCTION fail()`);
  expectStatus(await send(50), 503);
  const [warning, ...others] = await warningsOf(service);
  assert.deepEqual([warning?.code, others], ["writes_unavailable", []]);
  await query("DROP TRIGGER fail ON head");
  expectStatus(await send(50), 200);
  assert.deepEqual(await warningsOf(service), []);
});
