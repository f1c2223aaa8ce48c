// The query plans of SQLite: by the index named beside each statement, without scans of whole tables, without sorting. The
// statements are those that the store prepares.

import assert from "node:assert/strict";
import { DatabaseSync } from "node:sqlite";
import test from "node:test";
import type { Store } from "../../src/domain/store.ts";
import { alertTables } from "../../src/store/core/alert-tables.ts";
import { notificationQueueTables, pendingDestinationsOn } from "../../src/store/core/notification-queue-tables.ts";
import { notificationTables } from "../../src/store/core/notification-tables.ts";
import { serviceStateTable } from "../../src/store/core/service-state.ts";
import { longReads } from "../../src/store/sqlite/long-reads.ts";
import { readsOn } from "../../src/store/sqlite/reads.ts";
import { createSchema, DIALECT } from "../../src/store/sqlite/schema.ts";
import { QueryCache, sqlRunnerOn } from "../../src/store/sqlite/statements.ts";
import { telemetryWrites } from "../../src/store/sqlite/telemetry-writes.ts";
import { databaseFolder } from "../support/stores.ts";
import { managementQueries } from "./conformance/objects.ts";

class RecordingDatabase extends DatabaseSync {
  readonly statements: string[] = [];
  override prepare(sql: string) {
    this.statements.push(sql);
    return super.prepare(sql);
  }
}

async function plansOf(run: (db: DatabaseSync) => unknown, file: string): Promise<{ sql: string; plan: string }[]> {
  const db = new RecordingDatabase(file);
  try {
    createSchema(db);
    db.statements.length = 0;
    await run(db);
    return [...db.statements].map((sql) => {
      const steps = db.prepare(`EXPLAIN QUERY PLAN ${sql}`).all();
      return { sql, plan: steps.map(({ detail }) => detail).join("; ") };
    });
  } finally {
    db.close();
  }
}

/**
 * The lists of all keys and channels, of which there are few; a page of the feed, which is sorted; the queue, which has a test
 * of its own; whether there is anything; the
 * transaction itself.
 */
const READS_WITHOUT_INDEX =
  /WITH RECURSIVE pending|ORDER BY k\.created_at|FROM channel ORDER BY|AS bounds|EXISTS \(SELECT 1 FROM customer\)|WHERE 1 = 0|^BEGIN$|^ROLLBACK$/;

const INDEXES = [
  "customer_by_creation (created_at>? AND created_at<?)",
  "customer_by_email (email=? AND created_at>? AND created_at<?)",
  "sqlite_autoindex_customer_1 (id=?)",
  "tank_by_creation (created_at>? AND created_at<?)",
  "tank_by_owner (owner_id=? AND created_at>? AND created_at<?)",
  "sqlite_autoindex_tank_1 (id=?)",
  "INTEGER PRIMARY KEY (rowid=?)",
  "block_by_start (tank=? AND start=?)",
  "block_by_start (tank=? AND start>?)",
  "reading_index_by_start (tank=?)",
  "reading_index_by_start (tank=? AND level=? AND start=?)",
  "sqlite_autoindex_api_key_2 (hash=?)",
];

test("reads of the serving thread use an index in its order", async (t) => {
  const plans = await plansOf(readsOn, databaseFolder(t).file);
  for (const { sql, plan } of plans) {
    if (READS_WITHOUT_INDEX.test(sql)) continue;
    assert.match(
      plan,
      /^((MATERIALIZE|CO-ROUTINE) \w+; )?(SEARCH|SCAN) \w+ USING (COVERING INDEX|INDEX|PRIMARY KEY)/,
      `${sql}\n${plan}`,
    );
    assert.doesNotMatch(plan, /TEMP B-TREE/, `${sql}\n${plan}`);
    // Only a list of everything, without a range, may read an index from its end.
    if (/ = \?|BETWEEN/.test(sql)) assert.match(plan, /^(MATERIALIZE \w+; )?SEARCH /, `${sql}\n${plan}`);
  }
  const all = plans.map(({ plan }) => plan).join("\n");
  for (const index of INDEXES) assert.ok(all.includes(index), `${index} is not used:\n${all}`);
});

test("management reads use an index; filtered results are sorted, the fleet is not", async (t) => {
  const file = databaseFolder(t).file;
  const indexes = {
    customerSearch: "customer_by_name (<expr>>? AND <expr><?)",
    deletedCustomerSearch: "customer_deleted (created_at>? AND created_at<?)",
    deletedTankSearch: "tank_deleted (created_at>? AND created_at<?)",
    devicesWithPending: "device_pending",
    fleetPage: "forecast_by_urgency (urgency>? AND urgency<?)",
    lowFleet: "forecast_by_urgency (urgency>? AND urgency<?)",
    silentFleet: "forecast_by_silence (at>? AND at<?)",
    fleetBySilence: "forecast_by_silence (at>? AND at<?)",
    fleetCounts: "forecast_by_silence",
    fleetOfOwner: "forecast_of_owner_by_urgency (owner_id=? AND urgency>? AND urgency<?)",
    fleetOfArea: "tank_by_latitude (latitude>? AND latitude<?)",
    fleetWithoutPosition: "tank_without_position",
    ownFleetMap: "(owner_id=?)",
    scanFleet: "fleet USING PRIMARY KEY (tank>?)",
    dueForecasts: "forecast_due (due_at<?)",
    fleetOfCity: "tank_by_city (<expr>>? AND <expr><?)",
    fleetWithAlert: "alert_counted (kind=?)",
    ownFleetWithAlert: "alert_of_owner_counted (owner_id=? AND kind=?)",
    ownFleetOfArea: "tank_by_owner (owner_id=?)",
    ownFleetSearch: "tank_by_owner (owner_id=?)",
    alertCounts: "COVERING INDEX alert_counted",
    ownAlertCounts: "COVERING INDEX alert_of_owner_counted (owner_id=?)",
    alertById: "sqlite_autoindex_alert_1 (id=?)",
    alertsNotClosed: "alert_not_closed (tank_id=?)",
    alertPage: "alert_by_creation (created_at>? AND created_at<?)",
    alertsByState: "alert_by_state (state=? AND created_at>? AND created_at<?)",
    alertsOfKind: "alert_by_kind (kind=? AND created_at>? AND created_at<?)",
    alertsOfTank: "alert_by_tank (tank_id=? AND created_at>? AND created_at<?)",
    ownAlerts: "alert_by_owner (owner_id=? AND created_at>? AND created_at<?)",
    eventFeed: "SEARCH event USING INTEGER PRIMARY KEY (rowid>?)",
    ownEventFeed: "event_by_owner (owner_id=? AND sequence>?)",
    auditOfObject: "audit_by_object (object=? AND id=?)",
    auditBy: "audit_by_who (who=?)",
    notificationPage: "notification_by_creation (created_at>? AND created_at<?)",
    notificationsOfChannel: "notification_by_channel (channel_id=? AND created_at>? AND created_at<?)",
    notificationsOfCustomer: "notification_by_customer (customer_id=? AND created_at>? AND created_at<?)",
    notificationsInState: "notification_by_state (state=? AND created_at>? AND created_at<?)",
    channelStatus: "notification_due (destination=?)",
  };
  for (const name of Object.keys(managementQueries({} as Store))) {
    const plans = await plansOf(
      (db) => managementQueries({ ...readsOn(db), ...longReads(db) } as unknown as Store)[name]?.(),
      file,
    );
    for (const { sql, plan } of plans) {
      if (READS_WITHOUT_INDEX.test(sql)) continue;
      // A list itself, in the order of its table, up to a limit.
      if (/FROM (device|audit) +ORDER BY (id|number DESC) LIMIT/.test(sql)) continue;
      assert.doesNotMatch(
        plan,
        /SCAN (customer|tank|device|audit|pending_reading|alert|notification|notification_alert|deferred_notification|fleet)(;|$)/,
        `${sql}\n${plan}`,
      );
    }
    const all = plans.map(({ plan }) => plan).join("\n");
    assert.ok(all.includes(indexes[name as keyof typeof indexes] ?? ""), `${name}:\n${all}`);
    // The entries of a page come in the order of an index; only the page itself is sorted again.
    if (["fleetPage", "lowFleet", "fleetBySilence", "fleetOfOwner"].includes(name)) {
      assert.match(all, /CO-ROUTINE entry; SEARCH forecast USING COVERING INDEX [^;]+; SCAN entry;/);
    }
  }
});

test("the queue of notifications uses indexes", async (t) => {
  const { file } = databaseFolder(t);
  const plans = await plansOf(async (db) => {
    const sql = sqlRunnerOn(new QueryCache(db));
    const tables = notificationQueueTables(sql, DIALECT);
    await tables.claimDue([{ destination: "mail", limit: 16 }], 5);
    const record = { id: "msg", lease: "lease", channel_id: "chn", attempts: [], delayMs: null, quietMs: 0, health: null };
    await tables.putAttempts([{ ...record, state: "failed", isHeldInQuietHours: false }], 5);
    await tables.endPending("chn", 5);
    await tables.expireMail(5);
    await tables.advanceDue(["chn"], 5);
    await tables.removeOldEvents(5);
    await tables.removeEndedNotifications(5);
    await pendingDestinationsOn(sql.prepare, DIALECT)(5);
    const { failedNotifications, failedMail } = notificationTables(sql, DIALECT);
    await failedNotifications({ id: "chn", customer_id: null }, 1, 5, 500);
    await failedMail(null, 1, 5, 500);
    await longReads(db).notificationCounts(["low", "leak"]);
  }, file);
  for (const { sql, plan } of plans) {
    // The oldest of all, up to a limit, except those from while the clock was ahead.
    if (/^SELECT sequence.* FROM event WHERE at <=/.test(sql)) continue;
    assert.doesNotMatch(plan, /SCAN (notification|event|n)\b(?! USING COVERING INDEX)|AUTOMATIC|B-TREE/, `${sql}\n${plan}`);
  }
  const all = plans.map(({ plan }) => plan).join("\n");
  for (const index of [
    "notification_due (destination=? AND due_at<?)",
    "notification_due_to_channels (due_at<?)",
    "notification_due (destination=? AND due_at>?)",
    "notification_due (destination>?)",
    "notification_pending (destination=? AND pending_since<?)",
    "notification_ended (ended_at<?)",
    "notification_unsent (channel_id=? AND ended_at>? AND ended_at<?)",
    "SEARCH mail USING INDEX notification_unsent_mail (ended_at>? AND ended_at<?); SEARCH customer EXISTS USING INDEX sqlite_autoindex_customer_1 (id=?)",
    "alert_counted (kind=?)",
  ]) {
    assert.ok(all.includes(index), `${index} is not used:\n${all}`);
  }
});

test("the sweep, and what it evaluates, use indexes", async (t) => {
  const { file } = databaseFolder(t);
  const plans = await plansOf(async (db) => {
    const sql = sqlRunnerOn(new QueryCache(db));
    const tables = alertTables(sql);
    await tables.tanksToEvaluate(5, 500);
    await tables.fleetAfter({ after: "", scope: "all" }, 500);
    await tables.fleetAfter({ after: "", scope: "scheduled" }, 500);
    await tables.evaluationInputs(["one"]);
    await telemetryWrites(db, () => {}, 3, new Set()).setEvaluations(
      new Map([["one", { activeConditions: 0, evaluateAt: null }]]),
    );
    await tables.alertsNotClosed(["one"]);
    await tables.tanksWithOwners(["one"]);
    await tables.moveAlerts(new Map([["one", "a"]]));
    await serviceStateTable(sql.prepare).serviceState("sweep");
  }, file);
  for (const { sql, plan } of plans) {
    assert.doesNotMatch(plan, /SCAN (fleet|tank|alert|customer|service_state)\b|AUTOMATIC|B-TREE/, `${sql}\n${plan}`);
  }
  const all = plans.map(({ plan }) => plan).join("\n");
  for (const index of [
    "fleet_by_evaluate_at (evaluate_at<?)",
    "fleet USING PRIMARY KEY (tank>?)",
    "alert_not_closed (tank_id=?)",
  ]) {
    assert.ok(all.includes(index), `${index} is not used:\n${all}`);
  }
});

test("readings are appended by primary keys only", async (t) => {
  const plans = (await plansOf((db) => telemetryWrites(db, () => {}, 3, new Set()), databaseFolder(t).file)).filter(({ sql }) =>
    /UPDATE (fleet|head)/.test(sql),
  );
  assert.ok(plans.length >= 4);
  for (const { sql, plan } of plans) {
    assert.match(
      plan,
      /^SEARCH (fleet USING PRIMARY KEY \(tank=\?\)|head USING INTEGER PRIMARY KEY \(rowid=\?\))/,
      `${sql}\n${plan}`,
    );
    assert.doesNotMatch(plan, /SCAN (?!CONSTANT)/, `${sql}\n${plan}`);
  }
});
