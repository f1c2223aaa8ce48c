// How SQLite walks the questions of the interface: by the index named beside each, never over a whole table, never
// sorting. The statements are the store's own, heard while it prepares them.

import assert from "node:assert/strict";
import { DatabaseSync } from "node:sqlite";
import test from "node:test";
import type { Store } from "../../src/domain/store.ts";
import { appendWrites } from "../../src/store/sqlite/append.ts";
import { auditQuestions } from "../../src/store/sqlite/audit.ts";
import { customerQuestions } from "../../src/store/sqlite/customers.ts";
import { deviceQuestions } from "../../src/store/sqlite/devices.ts";
import { fleetQuestions } from "../../src/store/sqlite/fleet-page.ts";
import { keyQuestions } from "../../src/store/sqlite/keys.ts";
import { migrate } from "../../src/store/sqlite/migrations.ts";
import { searchQuestions } from "../../src/store/sqlite/search.ts";
import { tankQuestions } from "../../src/store/sqlite/tanks.ts";
import { telemetryQuestions } from "../../src/store/sqlite/telemetry.ts";
import { databaseFolder } from "../support/stores.ts";
import { overviewOf } from "./conformance/objects.ts";

class Overheard extends DatabaseSync {
  readonly statements: string[] = [];
  override prepare(sql: string) {
    this.statements.push(sql);
    return super.prepare(sql);
  }
}

async function plansOf(ask: (db: DatabaseSync) => unknown, file: string): Promise<{ sql: string; plan: string }[]> {
  const db = new Overheard(file);
  try {
    await migrate(db);
    db.statements.length = 0;
    ask(db);
    return [...db.statements].map((sql) => {
      const steps = db.prepare(`EXPLAIN QUERY PLAN ${sql}`).all();
      return { sql, plan: steps.map(({ detail }) => detail).join("; ") };
    });
  } finally {
    db.close();
  }
}

const QUESTIONS = {
  customers: {
    ask: customerQuestions,
    indexes: [
      "customer_by_creation (created_at>? AND created_at<?)",
      "customer_by_email (email=? AND created_at>? AND created_at<?)",
      "sqlite_autoindex_customer_1 (id=?)",
    ],
  },
  tanks: {
    ask: tankQuestions,
    indexes: [
      "tank_by_creation (created_at>? AND created_at<?)",
      "tank_by_owner (owner_id=? AND created_at>? AND created_at<?)",
      "sqlite_autoindex_tank_1 (id=?)",
    ],
  },
  telemetry: {
    ask: telemetryQuestions,
    indexes: [
      "sqlite_autoindex_tank_1 (id=?)",
      "INTEGER PRIMARY KEY (rowid=?)",
      "block_by_start (tank=? AND start=?)",
      "block_by_start (tank=? AND start>?)",
      "reading_milestone_by_start (tank=?)",
      "reading_milestone_by_start (tank=? AND level=? AND start=?)",
    ],
  },
};

for (const [name, { ask, indexes }] of Object.entries(QUESTIONS)) {
  test(`the questions about ${name} walk an index in its order`, async (t) => {
    const plans = await plansOf(ask, databaseFolder(t).file);
    for (const { sql, plan } of plans) {
      assert.match(plan, /^(SEARCH|SCAN) \w+ USING (COVERING INDEX|INDEX|PRIMARY KEY)/, `${sql}\n${plan}`);
      assert.doesNotMatch(plan, /TEMP B-TREE/, `${sql}\n${plan}`);
      // Only a list of everything, without a range, may walk an index from its end.
      if (/ = \?|BETWEEN/.test(sql)) assert.match(plan, /^SEARCH /, `${sql}\n${plan}`);
    }
    for (const index of indexes) {
      assert.ok(
        plans.some(({ plan }) => plan.includes(index)),
        `${index} is used by none:\n${plans.map(({ plan }) => plan).join("\n")}`,
      );
    }
  });
}

test("a key is looked up by the index on its hash", async (t) => {
  const plans = await plansOf(keyQuestions, databaseFolder(t).file);
  const byHash = plans.find(({ sql }) => sql.includes("k.hash"));
  assert.match(byHash?.plan ?? "", /^SEARCH k USING INDEX sqlite_autoindex_api_key_2 \(hash=\?\)/);
  assert.doesNotMatch(byHash?.plan ?? "", /SCAN/);
});

function overviewOn(db: DatabaseSync) {
  const tanks = tankQuestions(db);
  const others = { ...customerQuestions(db), ...searchQuestions(db), ...deviceQuestions(db), ...auditQuestions(db) };
  return { ...tanks, ...others, ...fleetQuestions(db, tanks.liveTank) };
}

test("what an operator asks is looked up by an index; what a filter leaves is sorted, and the fleet within a percent alone", async (t) => {
  const file = databaseFolder(t).file;
  const indexes = {
    customerSearch: "customer_by_name (<expr>>? AND <expr><?)",
    deletedCustomerSearch: "customer_deleted (created_at>? AND created_at<?)",
    deletedTankSearch: "tank_deleted (created_at>? AND created_at<?)",
    waitingDevices: "device_waiting",
    fleetPage: "fleet_by_urgency",
    lowFleet: "fleet_by_urgency (urgency>? AND urgency<?)",
    silentFleet: "fleet_by_heard (heard<?)",
    fleetOfOwner: "tank_by_owner (owner_id=?)",
    fleetOfCity: "tank_by_city (<expr>>? AND <expr><?)",
    auditOfObject: "audit_by_object (object=? AND id=?)",
    auditBy: "audit_by_who (who=?)",
  };
  for (const name of Object.keys(overviewOf({} as Store))) {
    // They answer at once, so that all is heard before the plans are asked for.
    const plans = await plansOf((db) => void overviewOf(overviewOn(db) as unknown as Store)[name]?.(), file);
    for (const { sql, plan } of plans) {
      // A list itself, in the order of its table, up to a limit.
      if (/FROM (device|audit) +ORDER BY (id|number DESC) LIMIT/.test(sql)) assert.match(plan, /^SCAN \w+$/);
      else assert.match(plan, /^(SEARCH|SCAN) \w+ USING (COVERING |INTEGER )?(INDEX|PRIMARY KEY)/, `${sql}\n${plan}`);
    }
    const told = plans.map(({ plan }) => plan).join("\n");
    assert.ok(told.includes(indexes[name as keyof typeof indexes] ?? ""), `${name}:\n${told}`);
    if (name === "fleetPage" || name === "lowFleet") assert.match(told, /USE TEMP B-TREE FOR LAST 2 TERMS OF ORDER BY/);
  }
});

test("readings are appended by keys alone, whatever the number of tanks", async (t) => {
  const plans = await plansOf((db) => appendWrites(db, () => {}), databaseFolder(t).file);
  assert.equal(plans.length, 6);
  for (const { sql, plan } of plans) {
    assert.match(
      plan,
      /^SEARCH (fleet USING PRIMARY KEY \(tank=\?\)|telemetry USING INTEGER PRIMARY KEY \(rowid=\?\))/,
      `${sql}\n${plan}`,
    );
    assert.doesNotMatch(plan, /SCAN (?!CONSTANT)/, `${sql}\n${plan}`);
  }
});
