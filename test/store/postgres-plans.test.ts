// How PostgreSQL executes the statements of the store: one prepared statement a read, by the indexes made for it, whatever the
// statistics say; everything about telemetry by its tank.

import assert from "node:assert/strict";
import { after, before, suite, test } from "node:test";
import { DEFAULT_ALERT_SETTINGS } from "../../src/domain/alerts/evaluate.ts";
import type { AlertQuery, NotificationQuery } from "../../src/domain/alerts/reads.ts";
import type { Command } from "../../src/domain/commands/command.ts";
import type { FleetQuery } from "../../src/domain/fleet.ts";
import { UNRESTRICTED } from "../../src/domain/key.ts";
import type { AuditQuery, CustomerSearch, TankSearch } from "../../src/domain/management-reads.ts";
import { Import } from "../../src/ingest/import.ts";
import { at, command, createKey, executed } from "../support/commands.ts";
import { openedOn, postgresDatabase } from "../support/postgres/database.ts";
import { below, isWork, type Node, planOf, poolOn, type Statement, statementsDuring } from "../support/postgres/statements.ts";
import { ingest, type SentReading } from "../support/readings.ts";
import { putReadings } from "../support/records.ts";
import {
  ALL_ALERTS,
  ALL_NOTIFICATIONS,
  customer,
  customersOf,
  key,
  NO_TANK_SEARCH,
  putCustomers,
  putTanks,
  readingsOf,
  scopeOf,
  tank,
  tanksOf,
  WHOLE,
  WHOLE_FLEET,
  WHOLE_LOG,
} from "./conformance/objects.ts";

const database = await postgresDatabase({ after });
const { store } = await openedOn({ after: database.closeFirst }, database.url);
const empty = await postgresDatabase({ after });
const { store: other } = await openedOn({ after: empty.closeFirst }, empty.url);
const STATISTICS = { "of tables that were small": poolOn(database), none: poolOn(empty) };

const EMAIL = "office@customers.example";
const FAR = { page: 4 };
const RANGE = { from: 5, to: 9_000_000 };
type Reads = Readonly<Record<string, () => Promise<unknown>>>;

const READS: Reads = {
  customerById: () => store.customerById("a", UNRESTRICTED),
  "customerPage, near": () => customersOf(store),
  "customerPage, far": () => customersOf(store, FAR),
  "customerPage of an e-mail, near": () => customersOf(store, { email: EMAIL, ...RANGE }),
  "customerPage of an e-mail, far": () => customersOf(store, { email: EMAIL, ...FAR }),
  "customerPage of a customer's key": () => customersOf(store, {}, scopeOf("a")),
  tankById: () => store.tankById("one", UNRESTRICTED),
  "tankPage, near": () => tanksOf(store, RANGE),
  "tankPage, far": () => tanksOf(store, FAR),
  "tankPage of an owner, near": () => tanksOf(store, {}, scopeOf("a")),
  "tankPage of an owner, far": () => tanksOf(store, FAR, scopeOf("a")),
  "telemetryPage, newest": () => readingsOf(store, "one", { size: 10 }),
  "telemetryPage, far": () => readingsOf(store, "one", FAR),
  "telemetryPage in a range": () => readingsOf(store, "one", RANGE),
  readingColumns: () => store.readingColumns("one", RANGE, UNRESTRICTED),
  historyColumns: () => store.historyColumns("one", RANGE),
  "telemetryPage of an unknown tank": () => store.telemetryPage("none", WHOLE, UNRESTRICTED),
  keyByHash: () => store.keyByHash("hash"),
};
/** They list all keys or channels, or read one row. */
const READS_WITHOUT_INDEX: Reads = {
  keyList: () => store.keyList(),
  channelList: () => store.channelList(),
  isEmpty: () => store.isEmpty(),
  ping: () => store.ping(),
};

const customers = (search: Partial<CustomerSearch>) => () =>
  store.customerSearch({ ...WHOLE, deleted: false, name: undefined, email: undefined, search: undefined, ...search });
const tanks = (search: Partial<TankSearch>) => () => store.tankSearch({ ...NO_TANK_SEARCH, ...search });
const fleet = (query: Partial<FleetQuery>) => () => store.fleetPage({ ...WHOLE_FLEET, ...query });
const devices = (pending: boolean | undefined) => () => store.deviceSearch({ page: 1, size: 10, pending });
const alerts =
  (query: Partial<AlertQuery>, scope = UNRESTRICTED) =>
  () =>
    store.alertPage({ ...ALL_ALERTS, ...query }, scope);
const notifications = (query: Partial<NotificationQuery>) => () => store.notificationPage({ ...ALL_NOTIFICATIONS, ...query });
const audit = (query: Partial<AuditQuery>) => () => store.auditPage({ ...WHOLE_LOG, ...query });

/** Each read with the indexes it uses, beside primary keys. */
const MANAGEMENT_READS: Readonly<Record<string, readonly [run: () => Promise<unknown>, indexes: readonly string[]]>> = {
  managedCustomer: [() => store.managedCustomer("a"), []],
  managedTank: [() => store.managedTank("one"), []],
  managedDevice: [() => store.managedDevice("device"), []],
  newestPending: [() => store.newestPending("device"), []],
  "customers, all": [customers({}), ["customer_by_creation"]],
  "customers by name": [customers({ name: "A" }), ["customer_by_name"]],
  "customers by e-mail": [customers({ email: "A" }), ["customer_by_any_case_email"]],
  "customers by both, in a range": [customers({ email: "A", name: "B", from: 1, to: 2 }), ["customer_by_any_case_email"]],
  "deleted customers": [customers({ deleted: true, name: "B", from: 1 }), ["customer_deleted"]],
  "tanks, all": [tanks({}), ["tank_by_creation"]],
  "tanks by name": [tanks({ name: "A" }), ["tank_by_name"]],
  "tanks by city": [tanks({ city: "A" }), ["tank_by_city"]],
  "tanks by custom_id": [tanks({ custom_id: "A" }), ["tank_by_custom_id"]],
  "tanks of an owner": [tanks({ owner_id: "a" }), ["tank_by_owner"]],
  "tanks of an owner by name": [tanks({ owner_id: "a", name: "A" }), ["tank_by_owner"]],
  "tanks of a device": [tanks({ device_id: "d" }), []],
  "tanks by everything": [tanks({ name: "A", city: "A", custom_id: "A", owner_id: "a", from: 1, to: 2 }), ["tank_by_custom_id"]],
  "deleted tanks": [tanks({ deleted: true, device_id: "d", to: 1 }), ["tank_deleted"]],
  "devices, all": [devices(undefined), ["device_free", "tank_by_creation"]],
  "devices with pending readings": [devices(true), ["device_pending"]],
  "devices without pending readings": [devices(false), ["device_free", "device_pending", "tank_by_creation"]],
  fleetEntry: [() => store.fleetEntry("one", UNRESTRICTED), []],
  "the fleet": [fleet({}), ["forecast_by_urgency"]],
  "the fleet, far": [fleet(FAR), ["forecast_by_urgency"]],
  "the fleet, low": [fleet({ state: "low" }), ["forecast_by_urgency"]],
  "the fleet, ok, by margin": [fleet({ state: "ok", sort: "margin" }), ["forecast_by_margin"]],
  "the fleet, silent": [fleet({ silentSince: 5 }), ["forecast_by_silence"]],
  "the fleet, silent and low": [fleet({ silentSince: 5, state: "low" }), ["forecast_by_urgency"]],
  "the fleet by silence": [fleet({ sort: "silent", silentSince: 5 }), ["forecast_by_silence"]],
  "the fleet of an owner": [fleet({ owner_id: "a" }), ["forecast_of_owner_by_urgency"]],
  "the fleet of an owner by silence": [fleet({ owner_id: "a", sort: "silent" }), ["forecast_of_owner_by_silence"]],
  "the fleet of an owner by margin, far": [fleet({ owner_id: "a", sort: "margin", ...FAR }), ["forecast_of_owner_by_margin"]],
  "the fleet of a city": [fleet({ city: "A" }), ["tank_by_city"]],
  "the fleet of both, low": [fleet({ owner_id: "a", city: "A", state: "low" }), ["tank_by_owner"]],
  "the fleet with an alert": [fleet({ alert: "low" }), ["alert_counted"]],
  "the fleet of an owner with an alert": [fleet({ owner_id: "a", alert: "low" }), ["alert_of_owner_counted"]],
  alertCounts: [() => store.alertCounts(UNRESTRICTED), ["alert_counted"]],
  "alertCounts of an owner": [() => store.alertCounts({ customerId: "a" }), ["alert_of_owner_counted"]],
  "the fleet of an area": [fleet({ area: { west: 7, south: 47, east: 8, north: 48 } }), ["tank_by_latitude"]],
  "the fleet without coordinates": [fleet({ area: "none" }), ["tank_without_position"]],
  "a scan of the fleet": [() => store.scanFleet("one", 5), []],
  "forecasts that are due": [() => store.dueForecasts(5, 5), ["forecast_due"]],
  "the state of the fleet's order": [() => store.fleetOrderState(), []],
  "one alert": [() => store.alertById("alr", UNRESTRICTED), []],
  "alerts, all": [alerts({}), ["alert_by_creation"]],
  "alerts in a state": [alerts({ state: "closed" }), ["alert_by_state"]],
  "alerts in a state, of a kind": [alerts({ state: "open", kind: "low" }), ["alert_by_state"]],
  "alerts of a kind": [alerts({ kind: "low" }), ["alert_by_kind"]],
  "alerts of a tank": [alerts({ tank_id: "one", owner_id: "a", from: 1 }), ["alert_by_tank"]],
  "alerts of a customer": [alerts({ kind: "low" }, scopeOf("a")), ["alert_by_owner"]],
  "unclosed alerts of tanks": [() => store.alertsNotClosed(["one", "two"]), ["alert_not_closed"]],
  "the feed": [() => store.eventFeed({ after: 1, size: 10 }, UNRESTRICTED), []],
  "the feed of a customer": [() => store.eventFeed({ after: 1, size: 10 }, scopeOf("a")), ["event_by_owner"]],
  "the audit log": [audit({}), []],
  "the audit log in a range": [audit({ from: 1, to: 2 }), ["audit_by_time"]],
  "the audit log of a caller": [audit({ by: "a", object: "tank", from: 1 }), ["audit_by_who"]],
  "the audit log of a kind": [audit({ object: "tank" }), ["audit_by_object"]],
  "the audit log of an object": [audit({ id: "one", by: "a" }), ["audit_by_id"]],
  pendingDestinations: [() => store.pendingDestinations(5), ["notification_due"]],
  notificationCounts: [() => store.notificationCounts([]), ["notification_pending"]],
  "notificationCounts without mail": [() => store.notificationCounts(["low", "leak"]), ["alert_counted", "notification_pending"]],
  notificationById: [() => store.notificationById("msg"), []],
  channelStatus: [
    () => store.channelStatus({ id: "chn", type: "webhook" }),
    ["deferred_notification_by_recipient", "notification_by_channel", "notification_due"],
  ],
  "notifications, all": [notifications({ from: 1 }), ["notification_by_creation"]],
  "notifications of a channel": [notifications({ channel_id: "chn" }), ["notification_by_channel"]],
  "notifications of a channel in a state": [notifications({ channel_id: "chn", state: "failed" }), ["notification_by_channel"]],
  "notifications of a customer": [notifications({ customer_id: "a", from: 1, to: 2 }), ["notification_by_customer"]],
  "notifications in a state": [notifications({ state: "failed" }), ["notification_by_state"]],
  "notifications about an alert": [notifications({ alert_id: "alr", state: "failed" }), []],
};

/** They are not kept prepared: there are very many different ones. */
const SEARCHES: typeof MANAGEMENT_READS = {
  "a search in the fleet of an owner": [fleet({ owner_id: "a", search: "b 030" }), ["tank_by_owner"]],
};

const TELEMETRY_TABLES = ["head", "block", "reading_index"];

/** Every table is read by an index, or by the place of a row. */
function checkScans(plan: Node, description: string): void {
  for (const { "Node Type": type, "Relation Name": relation } of below(plan)) {
    if (relation !== undefined && type !== "ModifyTable") assert.match(type, /^(Index( Only)?|Tid) Scan$/, description);
  }
}

/** Telemetry is read by its tank; only what is bounded is sorted. */
function checkPlan(plan: Node, text: string): void {
  const description = `${text}\n${JSON.stringify(plan, null, 1)}`;
  checkScans(plan, description);
  for (const node of below(plan)) {
    const { "Node Type": type, "Relation Name": relation = "", "Index Cond": condition = "" } = node;
    if (type === "ModifyTable") {
      const arbiters = node["Conflict Arbiter Indexes"] ?? [`${relation}_pkey`];
      if (TELEMETRY_TABLES.includes(relation)) assert.deepEqual(arbiters, [`${relation}_pkey`], description);
    } else if (["block", "reading_index"].includes(relation)) assert.match(condition, /\btank (=|>=) /, description);
    if (type.endsWith("Sort")) assert.ok(below(node).some(isBounded), description);
  }
}

/** It returns at most a page, or a few rows for each parameter. */
function isBounded({ "Node Type": type, "Index Cond": condition = "" }: Node): boolean {
  return type === "Limit" || type === "Function Scan" || / = ANY /.test(condition);
}

const indexesIn = (plan: Node): string[] => [
  ...new Set(below(plan).flatMap(({ "Index Name": name = "" }) => (/^$|_pkey$/.test(name) ? [] : [name]))),
];

/** Readings that are appended, late, both together, and so many that blocks and groups are split. */
async function ingestByTank(): Promise<void> {
  const readings = (count: number, step: number, shift: number) =>
    Array.from({ length: count }, (_, i) => [i * step + shift, 1 + (i % 99)] as const);
  await putReadings(store, "one", readings(15_000, 1000, 0));
  await putReadings(store, "one", [[20_000_000, 5]]);
  await putReadings(store, "one", readings(5000, 100, 1));
  await ingest(store, { tank: "one", at: 30_000_000, fill: 5 }, { tank: "two", at: 0, fill: 1 });
}

/** Readings of a known device, of an unknown one, too many of them, and of a tank by its owner's key. */
async function ingestByDevice(): Promise<void> {
  const unknown = Array.from({ length: 1200 }, (_, i): SentReading => ({ device: "unknown", at: i * 1000, fill: 50 }));
  const bound: SentReading = { tank: "two", at: 2000, payload: { fill_percentage: 7 }, customerId: "a" };
  await ingest(store, { device: "device of one", at: 0, fill: 50 }, bound, ...unknown);
}

/** Alerts that open, move to another owner and close, and sweeps of all kinds. */
async function openAndClose(): Promise<void> {
  const day = 86_400_000;
  await putCustomers(other, customer("a"), customer("b"));
  await putTanks(other, tank("one", "a"), tank("two", "a"));
  const fields = { type: "webhook", url: "https://hooks.example.com/", delay: "4h" };
  await executed(other, { type: "create_channel", newId: "chn", fields, secret: "whsec_", webhookAllow: [] }, at(5));
  await ingest(other, { tank: "one", at: 40_000_000, fill: 0 }, { tank: "two", at: 40_000_000, fill: 0 });
  await executed(other, command.changeTank("one", { owner_id: "b" }), at(40_000_000));
  await executed(other, command.changeTank("one", { alerts: { silent_after: "1h" } }), at(40_000_000));
  await other.sweepAlerts({ at: 9 * day, settings: DEFAULT_ALERT_SETTINGS });
  await other.sweepAlerts({ at: 20 * day, settings: { ...DEFAULT_ALERT_SETTINGS, closeMargin: 5 } });
  await other.sweepAlerts({ at: 9 * day });
  await ingest(other, { tank: "one", at: 50_000_000, fill: 90 });
  await executed(other, command.deleteTank("two"), at(60_000_000));
}

suite("the statements of the store on PostgreSQL", () => {
  let byTank: Statement[] = [];
  let byDevice: Statement[] = [];
  let release: Statement[] = [];
  let alerting: Statement[] = [];

  before(async () => {
    await putCustomers(store, customer("a"));
    // Never low.
    const threshold = { min_fill_alert_percentage: 0 };
    await putTanks(store, tank("one", "a", threshold), tank("two", "a", threshold));
    await createKey(store, key("k"), "hash");
    // Statistics that were true once: of tables with next to nothing in them.
    await database.query("ANALYZE");
    byTank = await statementsDuring(ingestByTank);
    byDevice = await statementsDuring(ingestByDevice);
    release = await statementsDuring(() => executed(store, command.putDevice("unknown", { tank_id: "two" }), at(5)));
    alerting = await statementsDuring(openAndClose);
  });

  test("every read is one prepared statement", async () => {
    const management = Object.entries(MANAGEMENT_READS).map(([name, [run]]) => [name, run] as const);
    for (const [name, run] of [...Object.entries(READS), ...Object.entries(READS_WITHOUT_INDEX), ...management]) {
      const statements = await statementsDuring(run);
      assert.equal(statements.length, 1, `${name}: ${statements.map(({ text }) => text).join("\n")}`);
      assert.ok(statements[0]?.name, name);
    }
  });

  test("searches are not kept prepared: there are very many different ones", async () => {
    const search = (text: string) => () => store.fleetPage({ ...WHOLE_FLEET, search: text });
    for (const text of ["hall", "hall 3", "Öl 030/55"]) {
      const [statement, ...more] = await statementsDuring(search(text));
      assert.deepEqual([statement?.name, more], ["", []], text);
    }
  });

  test("the statements of a write are prepared, except for those of the transaction and COPY", () => {
    for (const { name, text } of [...byTank, ...byDevice, ...release].filter(isWork)) assert.ok(name, text);
  });

  for (const [statistics, pool] of Object.entries(STATISTICS)) {
    test(`every read uses its indexes; statistics: ${statistics}`, async () => {
      for (const [name, run] of Object.entries(READS)) {
        for (const statement of await statementsDuring(run)) {
          const plan = await planOf(pool, statement);
          checkPlan(plan, statement.text);
          if (name.startsWith("telemetry")) assert.ok(!below(plan).some((node) => node["Node Type"].endsWith("Sort")), name);
        }
      }
      for (const [name, [run, indexes]] of Object.entries({ ...MANAGEMENT_READS, ...SEARCHES })) {
        for (const statement of await statementsDuring(run)) {
          const plan = await planOf(pool, statement);
          const description = `${name}: ${statement.text}\n${JSON.stringify(plan, null, 1)}`;
          checkScans(plan, description);
          assert.deepEqual(indexesIn(plan).toSorted(), indexes, description);
        }
      }
    });

    test(`the fleet is counted by indexes; statistics: ${statistics}`, async () => {
      const used = new Set<string>();
      for (const statement of await statementsDuring(() => store.fleetCounts(5))) {
        const plan = await planOf(pool, statement);
        checkScans(plan, statement.text);
        for (const index of indexesIn(plan)) used.add(index);
      }
      assert.deepEqual([...used].toSorted(), ["device_pending", "forecast_by_silence", "forecast_by_urgency"]);
    });

    test(`alerts are written by indexes; statistics: ${statistics}`, async () => {
      const texts = new Map(alerting.filter(isWork).map((statement) => [statement.text, statement]));
      const used = new Set<string>();
      for (const [text, statement] of texts) {
        const plan = await planOf(pool, statement);
        // Channels are few, and all are read.
        if (!/FROM channel/.test(text)) checkScans(plan, text);
        for (const index of indexesIn(plan)) used.add(index);
      }
      for (const index of ["fleet_by_evaluate_at", "alert_not_closed", "alert_by_tank"]) assert.ok(used.has(index), index);
    });

    test(`readings are written by indexes; statistics: ${statistics}`, async () => {
      const texts = new Map(byTank.filter(isWork).map((statement) => [statement.text, statement]));
      for (const [text, statement] of texts) {
        checkPlan(await planOf(pool, statement), text);
        assert.match(text, /\btank\b/);
      }
      // Two of them are about alerts: what they depend on, and when they are evaluated next.
      assert.equal(texts.size, 9, [...texts.keys()].join("\n"));
      for (const statement of [...byDevice, ...release].filter(isWork)) checkScans(await planOf(pool, statement), statement.text);
    });
  }

  test("pending readings take three statements; readings of tanks that are appended take one in all", async () => {
    const texts = byDevice.filter(isWork).map(({ text }) => text);
    const pending = texts.filter((text) => /\bpending(_reading)?\b/.test(text) && /INSERT|DELETE/.test(text));
    assert.equal(pending.length, 3, texts.join("\n"));
    const statements = await statementsDuring(() => putReadings(store, "one", [[9e7, 5]]));
    assert.equal(statements.filter(isWork).length, 1, statements.map(({ text }) => text).join("\n"));
  });

  test("commands on channels and notifications use indexes", async () => {
    const webhook = { type: "webhook", url: "https://hooks.example.com/" };
    const created = await statementsDuring(() =>
      executed(store, { type: "create_channel", newId: "chn", fields: webhook, secret: "whsec_", webhookAllow: [] }, at(5)),
    );
    const fields = { since: "2026-01-01T00:00:00Z" };
    const commands: Command[] = [
      { type: "test_channel", id: "chn", newId: "msg" },
      { type: "change_channel", id: "chn", fields: { delay: "1h", url: "https://other.example.com/" }, webhookAllow: [] },
      { type: "rotate_channel", id: "chn", overlap: 5, secret: "whsec_" },
      { type: "recover_channel", id: "chn", fields, failedBy: 5 },
      { type: "recover_mail", fields, failedBy: 5 },
      { type: "delete_channel", id: "chn" },
    ];
    const changed: Statement[] = [];
    for (const one of commands) changed.push(...(await statementsDuring(() => executed(store, one, at(5)))));
    const isOfChannels = ({ text }: Statement): boolean => /\b(channel|notification|deferred_notification)\b/.test(text);
    const texts = new Map([...created, ...changed].filter(isOfChannels).map((statement) => [statement.text, statement]));
    assert.ok(texts.size >= 10);
    for (const pool of Object.values(STATISTICS)) {
      const used = new Set<string>();
      for (const [text, statement] of texts) {
        const plan = await planOf(pool, statement);
        checkScans(plan, text);
        for (const index of indexesIn(plan)) used.add(index);
      }
      for (const index of ["notification_unsent", "notification_unsent_mail"]) assert.ok(used.has(index), index);
    }
  });

  test("the queue of notifications uses indexes", async () => {
    const record = { id: "msg", lease: "lease", channel_id: "chn", attempts: [], delayMs: null, isHeldInQuietHours: false };
    const writes: readonly (readonly [write: () => Promise<unknown>, indexes: readonly string[]])[] = [
      [() => store.claimNotifications([{ destination: "chn", limit: 16 }], 5), ["notification_due"]],
      [
        () => store.claimNotifications([{ destination: "mail", limit: 16 }], 5),
        ["notification_due", "notification_due_to_channels"],
      ],
      [() => store.recordAttempts([{ ...record, state: "failed", health: "failing" }], 5), []],
      [() => store.recordAttempts([{ ...record, state: "delivered", health: "working" }], 5), []],
      [() => store.endPending("chn", 5), ["notification_due"]],
      [() => store.expireAndReschedule(["chn"], 5), ["notification_due", "notification_pending"]],
      [() => store.removeOldNotifications(5), ["notification_ended"]],
    ];
    for (const [write, indexes] of writes) {
      const statements = (await statementsDuring(write)).filter(isWork);
      for (const [statistics, pool] of Object.entries(STATISTICS)) {
        const plans: Node[] = [];
        for (const statement of statements) {
          const plan = await planOf(pool, statement);
          checkScans(plan, `${statistics}: ${statement.text}`);
          plans.push(plan);
        }
        assert.deepEqual([...new Set(plans.flatMap(indexesIn))].sort(), indexes, statements.map(({ text }) => text).join("\n"));
      }
    }
  });

  test("the blocks of a transaction are written by one statement", async () => {
    const csv = Array.from({ length: 3000 }, (_, i) => `two,${new Date(i * 60_000).toISOString()},${i % 100}\n`);
    async function* file() {
      yield Buffer.from(`tank_id,created_at,fill_percentage\n${csv.join("")}`);
    }
    const imported = await statementsDuring(() => new Import(store, ({ reason }) => assert.fail(reason)).run(file(), "csv"));
    const count = (pattern: RegExp): number => imported.filter(({ text }) => pattern.test(text)).length;
    assert.deepEqual([count(/INSERT INTO block/), count(/^COMMIT/)], [1, 1]);
  });
});
