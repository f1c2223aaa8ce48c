// Damage of alerts, channels, events, notifications and of the state of the service is found, on both engines.

import assert from "node:assert/strict";
import { DatabaseSync } from "node:sqlite";
import { suite, test } from "node:test";
import { DEFAULT_ALERT_SETTINGS } from "../../src/domain/alerts/evaluate.ts";
import { EVENT_RETENTION_MS } from "../../src/domain/alerts/event.ts";
import type { Finding, Store } from "../../src/domain/store.ts";
import { at, command, executed } from "../support/commands.ts";
import { ingest } from "../support/readings.ts";
import { measure, openAlert, putFleet } from "./alert-support.ts";
import { composeNext, MINUTE, putChannel } from "./compose-support.ts";
import { checked, putTanks, tank } from "./conformance/objects.ts";
import { type Engine, postgresEngine, sqliteEngine } from "./engines.ts";
import { runSql } from "./raw-sql.ts";

/** A low tank, with an alert, events, a webhook, and mail to its owner and to a channel. */
async function fill(store: Store): Promise<void> {
  await putFleet(store, { a: ["low", "fine"], b: [] });
  const quiet_hours = { from: "01:00", to: "01:01", timezone: "Europe/Berlin" };
  await putChannel(store, "chn_hook", { type: "webhook", url: "https://hooks.example.com", customer_id: "a", kinds: ["low"] });
  await putChannel(store, "chn_mail", { type: "email", to: "d@x.example", events: ["alert.opened"], quiet_hours });
  await openAlert(store, "low");
  await measure(store, "fine", 60);
  while (await composeNext(store, Date.now() + MINUTE));
  await store.sweepAlerts({ settings: DEFAULT_ALERT_SETTINGS });
  await store.putFleetOrderState(undefined, { asOf: 1, holder: "x", at: 1 });
}

/** Writes what foreign keys would refuse. */
async function withoutForeignKey(url: string, table: string, column: string, sql: string): Promise<void> {
  if (!url.startsWith("sqlite:")) {
    await runSql(url, `ALTER TABLE ${table} DROP CONSTRAINT ${table}_${column}_fkey`);
    await runSql(url, sql);
    return;
  }
  using db = new DatabaseSync(url.slice("sqlite:".length), { enableForeignKeyConstraints: false, timeout: 5000 });
  db.exec(sql);
}

/** How the database is damaged, and what is found. */
type Damage = readonly [where: RegExp, what: RegExp, sql: string];

const UNREPAIRABLE: Readonly<Record<string, Damage>> = {
  "a webhook without a secret": [
    /^channel chn_hook$/,
    /^secret: is missing; rotate it/,
    "UPDATE channel SET secret = NULL WHERE type = 'webhook'",
  ],
  "an alert of a kind that does not exist": [/^alert alr_/, /^kind: must be one of/, "UPDATE alert SET kind = 'zzz'"],
  "an alert in a state that does not exist": [/^alert alr_/, /^state: must be one of/, "UPDATE alert SET state = 'wrong'"],
  "an alert with an impossible fill": [/^alert alr_/, /^fill_percentage: must be from 0 to 100/, "UPDATE alert SET fill = 999"],
  "an alert from before 1970": [/^alert alr_/, /^opened_at: must not be before 1970/, "UPDATE alert SET created_at = -5"],
  "an alert with an impossible time": [
    /^alert alr_/,
    /^latest_reading_at: .* is not an instant/,
    "UPDATE alert SET latest_at = 1e18",
  ],
  "an open alert that was closed": [/^alert alr_/, /^closed_at: must be null, it is open/, "UPDATE alert SET closed_at = 5"],
  "events of a channel": [
    /^channel chn_hook$/,
    /^events: cannot be read/,
    "UPDATE channel SET events = '{bad' WHERE type = 'webhook'",
  ],
  "kinds of a channel": [
    /^channel chn_hook$/,
    /^kinds\[0\]: must be one of/,
    `UPDATE channel SET kinds = '["x"]' WHERE type = 'webhook'`,
  ],
  "quiet hours of a channel": [
    /^channel chn_mail$/,
    /^quiet_hours: cannot be read/,
    "UPDATE channel SET quiet_hours = '{' WHERE type = 'email'",
  ],
  "the time zone of a channel": [
    /^channel chn_mail$/,
    /^quiet_hours.timezone: must be a time zone/,
    "UPDATE channel SET quiet_hours = replace(quiet_hours, 'Berlin', 'Nowhere') WHERE type = 'email'",
  ],
  "the type of a channel": [
    /^channel chn_hook$/,
    /^url: must be null/,
    "UPDATE channel SET type = 'email' WHERE url IS NOT NULL",
  ],
  "the state of a channel": [
    /^channel chn_hook$/,
    /^state: must be one of/,
    "UPDATE channel SET state = 'on' WHERE type = 'webhook'",
  ],
  "the payload of an event": [/^event 1$/, /^payload: cannot be read/, "UPDATE event SET payload = '{bad'"],
  "the number of an event": [/^event 0$/, /^payload: has the sequence number 1/, "UPDATE event SET sequence = 0"],
  "the owner of an event": [/^event 1$/, /^owner_id: there is no customer x/, "UPDATE event SET owner_id = 'x'"],
  "attempts of a notification": [/^notification msg_/, /^attempts: cannot be read/, "UPDATE notification SET attempts = '{bad'"],
  "entries of attempts": [/^notification msg_/, /^attempts: cannot be read/, "UPDATE notification SET attempts = '[null]'"],
  "alerts of a notification": [/^notification msg_/, /^alert_ids: must be a list/, "UPDATE notification SET alert_ids = '5'"],
  "an alert of a notification": [
    /^notification msg_/,
    /^alert_ids: there is no alert x/,
    `UPDATE notification SET alert_ids = '["x"]'`,
  ],
  "the payload of a notification": [/^notification msg_/, /^payload: cannot be read/, "UPDATE notification SET payload = ''"],
  "the state of a notification": [
    /^notification msg_/,
    /^state: must be one of/,
    "UPDATE notification SET state = 'sent', ended_at = 5",
  ],
  "a pending notification that is never due": [
    /^notification msg_/,
    /^next_attempt_at: must not be null/,
    "UPDATE notification SET due_at = NULL",
  ],
  "a notification that has not ended": [
    /^notification msg_/,
    /^ended_at: must be set, because the state is failed/,
    "UPDATE notification SET state = 'failed'",
  ],
  "the customer of a notification": [
    /^notification msg_/,
    /^customer_id: there is no customer x/,
    "UPDATE notification SET customer_id = 'x' WHERE customer_id = 'a'",
  ],
  "the tank of a notification": [/^notification msg_/, /^tank_id: there is no tank x/, "UPDATE notification SET tank_id = 'x'"],
  "a draft of a mail": [
    /^draft of a mail to a$/,
    /^it cannot be read/,
    "INSERT INTO digest_draft (recipient, content) VALUES ('a', '{')",
  ],
  "the secret of unsubscribe links": [
    /^secret of unsubscribe links$/,
    /^it cannot be read/,
    "UPDATE service_state SET value = 'x' WHERE name = 'unsubscribe_secret'",
  ],
};

const REPAIRABLE: Readonly<Record<string, Damage>> = {
  "the state of the sweep": [
    /^state of the sweep/,
    /^it cannot be read/,
    "UPDATE service_state SET value = '{bad' WHERE name = 'sweep'",
  ],
  "the state of the fleet order": [
    /^state of the fleet order$/,
    /^it cannot be read/,
    "UPDATE service_state SET value = '{}' WHERE name = 'fleet_order'",
  ],
  "the lists of notifications of alerts": [
    /^notification msg_/,
    /^it is not in the list of notifications of alert alr_/,
    "DELETE FROM notification_alert",
  ],
  "a missing sequence number": [
    /^sequence numbers of events$/,
    /^the last one should be at least 1, it is missing/,
    "DELETE FROM service_state WHERE name = 'event_sequence'",
  ],
  "a sequence number that is too low": [
    /^sequence numbers of events$/,
    /^the last one should be at least 1, it is 0/,
    "UPDATE service_state SET value = '0' WHERE name = 'event_sequence'",
  ],
};

const tableOf = (sql: string): string => /(?:UPDATE|INTO) (\w+)/.exec(sql)?.[1] ?? "";

/** Damages that are checked together: those of a round are of different things. */
function roundsOf(damages: Readonly<Record<string, Damage>>, thingOf: (damage: Damage) => string): [string, Damage][][] {
  const byThing = [...Map.groupBy(Object.entries(damages), ([, damage]) => thingOf(damage)).values()];
  const rounds = Math.max(...byThing.map((ofThing) => ofThing.length));
  return Array.from({ length: rounds }, (_, i) => byThing.flatMap((ofThing) => ofThing.slice(i, i + 1)));
}

function notificationCheckTests(engine: Engine): void {
  test("damage of each kind of row is found", async (t) => {
    const { store, url } = await engine.open(t);
    await fill(store);
    assert.deepEqual((await checked(store)).findings, []);
    const tables = ["alert", "channel", "event", "notification", "digest_draft", "service_state"];
    for (const table of tables) await runSql(url, `CREATE TABLE before_${table} AS SELECT * FROM ${table}`);
    for (const round of roundsOf(UNREPAIRABLE, ([, , sql]) => tableOf(sql))) {
      await t.test(round.map(([name]) => name).join("; "), async () => {
        for (const [, [, , sql]] of round) await runSql(url, sql);
        const { findings } = await checked(store, true);
        for (const [name, [where, what, sql]] of round) {
          const found = findings.find((finding) => where.test(finding.where) && what.test(finding.what));
          assert.equal(found?.repaired, false, `${name}: ${JSON.stringify(findings)}`);
          await runSql(url, `DELETE FROM ${tableOf(sql)}`);
          await runSql(url, `INSERT INTO ${tableOf(sql)} SELECT * FROM before_${tableOf(sql)}`);
        }
        assert.deepEqual((await checked(store)).findings, []);
      });
    }
  });

  for (const round of roundsOf(REPAIRABLE, ([where]) => where.source)) {
    test(`${round.map(([name]) => name).join("; ")}: found and repaired`, async (t) => {
      const { store, url } = await engine.open(t);
      await fill(store);
      for (const [, [, , sql]] of round) await runSql(url, sql);
      const { findings } = await checked(store);
      const isFound = ([where, what]: Damage) => findings.some((one) => where.test(one.where) && what.test(one.what));
      for (const [name, damage] of round) assert.ok(isFound(damage), `${name}: ${JSON.stringify(findings)}`);
      const isExpected = (one: Finding) => round.some(([, [where, what]]) => where.test(one.where) && what.test(one.what));
      assert.ok(findings.every(isExpected), JSON.stringify(findings));
      assert.ok((await checked(store, true)).findings.every(({ repaired }) => repaired));
      assert.deepEqual((await checked(store)).findings, []);
      await openAlert(store, "fine");
      assert.deepEqual((await checked(store)).findings, []);
    });
  }

  test("an alert of no tank, and a channel of no customer", async (t) => {
    const { store, url } = await engine.open(t);
    await fill(store);
    await withoutForeignKey(
      url,
      "alert",
      "tank_id",
      "UPDATE alert SET tank_id = 'x', state = 'closed', closed_at = 5, close_reason = 'manual'",
    );
    await withoutForeignKey(url, "channel", "customer_id", "UPDATE channel SET customer_id = 'x' WHERE customer_id = 'a'");
    const found = (await checked(store)).findings.map(({ what }) => what);
    assert.ok(found.includes("tank_id: there is no tank x: restore a backup"), found.join("\n"));
    assert.ok(found.includes("customer_id: there is no customer x: restore a backup"), found.join("\n"));
  });

  test("what deletions and retention leave has no errors", async (t) => {
    const { store, url } = await engine.open(t);
    await fill(store);
    await executed(store, command.deleteTank("low"), at(Date.now()));
    await executed(store, { type: "delete_channel", id: "chn_hook" }, at(Date.now()));
    assert.deepEqual((await checked(store)).findings, []);
    await runSql(url, `UPDATE event SET at = at - ${EVENT_RETENTION_MS}`);
    await store.removeOldNotifications(Date.now() + 1000);
    assert.deepEqual(await runSql(url, "SELECT sequence FROM event"), []);
    assert.deepEqual((await checked(store)).findings, []);
  });

  test("a check beside writes has no findings, over several parts of each table", async (t) => {
    const { store } = await engine.open(t);
    await fill(store);
    const ids = Array.from({ length: 2100 }, (_, i) => `t${i}`);
    await putTanks(store, ...ids.map((id) => tank(id, "a")));
    // A part has 2,000 alerts, and 500 rows of the other tables.
    const [few, most] = [ids.slice(0, 20), ids.slice(20)];
    await ingest(store, ...most.map((id) => ({ tank: id, fill: 5, at: Date.now() })));
    let isChecking = true;
    const checking = checked(store, true).finally(() => (isChecking = false));
    let rounds = 0;
    // Alerts are opened in one round and closed in the next, for as long as the check runs.
    for (; isChecking; rounds++) await Promise.all(few.map((id) => measure(store, id, rounds % 2 === 0 ? 5 : 80)));
    assert.deepEqual((await checking).findings, []);
    assert.ok(rounds > 0);
    assert.deepEqual((await checked(store)).findings, []);
  });
}

for (const engine of [sqliteEngine, postgresEngine]) {
  suite(`${engine.name}: check of alerts, channels, events and notifications`, () => notificationCheckTests(engine));
}
