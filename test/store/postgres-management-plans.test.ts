// How PostgreSQL walks the statements behind the operator's questions, and behind the readings of devices: one a question,
// prepared, by the index that is made for it, whatever the statistics say.

import assert from "node:assert/strict";
import { after, before, suite, test } from "node:test";
import type { AuditQuery, CustomerSearch, FleetQuery, TankSearch } from "../../src/domain/management-reads.ts";
import type { IncomingBatch } from "../../src/domain/reading.ts";
import { openedOn, postgresDatabase } from "../support/postgres/database.ts";
import { below, isWork, type Node, planOf, poolOn, type Statement, statementsDuring } from "../support/postgres/statements.ts";
import { customer, putCustomers, putTanks, tank, WHOLE } from "./conformance/objects.ts";

const database = await postgresDatabase({ after });
const { store } = await openedOn({ after: database.closeFirst }, database.url);
const empty = await postgresDatabase({ after });
await openedOn({ after: empty.closeFirst }, empty.url);
const STATISTICS = { "of tables that were small": poolOn(database), none: poolOn(empty) };

const customers = (search: Partial<CustomerSearch>) => () =>
  store.customerSearch({ ...WHOLE, deleted: false, name: undefined, email: undefined, ...search });
const NO_TANK = { name: undefined, city: undefined, custom_id: undefined, owner_id: undefined, device_id: undefined };
const tanks = (search: Partial<TankSearch>) => () => store.tankSearch({ ...WHOLE, deleted: false, ...NO_TANK, ...search });
const NO_FLEET = { state: undefined, silentSince: undefined, owner_id: undefined, city: undefined };
const fleet = (question: Partial<FleetQuery>) => () => store.fleetPage({ page: 1, size: 10, ...NO_FLEET, ...question });
const devices = (waiting: boolean | undefined) => () => store.deviceSearch({ page: 1, size: 10, waiting });
const audit = (question: Partial<AuditQuery>) => () =>
  store.auditPage({ ...WHOLE, by: undefined, object: undefined, id: undefined, ...question });

/** Each question, and the indexes by which what it asks for is found, beside primary keys. */
const QUESTIONS: Readonly<Record<string, readonly [ask: () => Promise<unknown>, indexes: readonly string[]]>> = {
  managedCustomer: [() => store.managedCustomer("a"), []],
  managedTank: [() => store.managedTank("one"), []],
  managedDevice: [() => store.managedDevice("device"), []],
  newestWaiting: [() => store.newestPending("device"), []],
  "customers, all": [customers({}), ["customer_by_creation"]],
  "customers by name": [customers({ name: "A" }), ["customer_by_name"]],
  "customers by e-mail": [customers({ email: "A" }), ["customer_by_any_case_email"]],
  "customers by both, in a range": [customers({ email: "A", name: "B", from: 1, to: 2 }), ["customer_by_any_case_email"]],
  "customers that are deleted": [customers({ deleted: true, name: "B", from: 1 }), ["customer_deleted"]],
  "tanks, all": [tanks({}), ["tank_by_creation"]],
  "tanks by name": [tanks({ name: "A" }), ["tank_by_name"]],
  "tanks by city": [tanks({ city: "A" }), ["tank_by_city"]],
  "tanks by custom_id": [tanks({ custom_id: "A" }), ["tank_by_custom_id"]],
  "tanks of an owner": [tanks({ owner_id: "a" }), ["tank_by_owner"]],
  "tanks of an owner by name": [tanks({ owner_id: "a", name: "A" }), ["tank_by_owner"]],
  "tanks of a device": [tanks({ device_id: "d" }), []],
  "tanks by everything": [tanks({ name: "A", city: "A", custom_id: "A", owner_id: "a", from: 1, to: 2 }), ["tank_by_custom_id"]],
  "tanks that are deleted": [tanks({ deleted: true, device_id: "d", to: 1 }), ["tank_deleted"]],
  "devices, all": [devices(undefined), ["device_free", "tank_by_creation"]],
  "devices of which something waits": [devices(true), ["device_pending"]],
  "devices of which nothing waits": [devices(false), ["device_free", "device_pending", "tank_by_creation"]],
  "the fleet": [fleet({}), ["fleet_by_urgency", "tank_by_creation"]],
  "the fleet, low": [fleet({ state: "low" }), ["fleet_by_urgency"]],
  "the fleet, ok": [fleet({ state: "ok" }), ["fleet_by_urgency", "tank_by_creation"]],
  "the fleet, unknown": [fleet({ state: "unknown" }), ["fleet_by_urgency"]],
  "the fleet, silent": [fleet({ silentSince: 5 }), ["fleet_by_heard", "fleet_by_urgency"]],
  "the fleet, silent and low": [fleet({ silentSince: 5, state: "low" }), ["fleet_by_heard", "fleet_by_urgency"]],
  "the fleet of an owner": [fleet({ owner_id: "a" }), ["fleet_by_urgency", "tank_by_owner"]],
  "the fleet of a city": [fleet({ city: "A" }), ["fleet_by_urgency", "tank_by_city"]],
  "the fleet of both, low": [fleet({ owner_id: "a", city: "A", state: "low" }), ["fleet_by_urgency", "tank_by_owner"]],
  "the audit log": [audit({}), []],
  "the audit log in a range": [audit({ from: 1, to: 2 }), ["audit_by_time"]],
  "the audit log of somebody": [audit({ by: "a", object: "tank", from: 1 }), ["audit_by_who"]],
  "the audit log of a kind": [audit({ object: "tank" }), ["audit_by_object"]],
  "the audit log of an object": [audit({ id: "one", by: "a" }), ["audit_by_id"]],
};

/** Every table is reached by an index, or by where a row lies. */
function checkScans(plan: Node, told: string): void {
  for (const { "Node Type": type, "Relation Name": relation } of below(plan)) {
    if (relation !== undefined && type !== "ModifyTable") assert.match(type, /^(Index( Only)?|Tid) Scan$/, told);
  }
}

const indexesIn = (plan: Node): string[] => [
  ...new Set(below(plan).flatMap(({ "Index Name": name = "" }) => (/^$|_pkey$/.test(name) ? [] : [name]))),
];

/** Readings of devices: known, strange, too many; and of a tank by its owner's key. */
async function arrive(): Promise<void> {
  const sources = [
    { kind: "device", id: "device of one", customerId: null },
    { kind: "device", id: "nobody's", customerId: null },
    { kind: "tank", id: "two", customerId: "a" },
  ] as const;
  const length = 1200;
  const batch: IncomingBatch = {
    sources,
    source: Uint32Array.from({ length }, (_, i) => (i < 3 ? i : 1)),
    createdAt: Float64Array.from({ length }, (_, i) => i * 1000),
    fill: new Float64Array(length).fill(50),
    payloads: new Map([[2, '{"fill_percentage":7}']]),
  };
  await store.ingest(batch);
}

const ASSIGN = { type: "put_device", id: "nobody's", fields: { tank_id: "two" }, ifMatch: undefined, swap: false } as const;

suite("the statements behind the operator's questions", () => {
  let arrived: Statement[] = [];
  let drained: Statement[] = [];

  before(async () => {
    await putCustomers(store, customer("a"));
    await putTanks(store, tank("one", "a"), tank("two", "a"));
    // Statistics that were true once: of tables with next to nothing in them.
    await database.query("ANALYZE");
    arrived = await statementsDuring(arrive);
    drained = await statementsDuring(() => store.execute(ASSIGN, { by: "test", at: 5 }));
  });

  for (const [name, [ask]] of Object.entries(QUESTIONS)) {
    test(`${name}: one statement, prepared`, async () => {
      const statements = await statementsDuring(ask);
      assert.equal(statements.length, 1, statements.map(({ text }) => text).join("\n"));
      assert.ok(statements[0]?.name, "it has a name");
    });
  }

  for (const [statistics, pool] of Object.entries(STATISTICS)) {
    for (const [name, [ask, indexes]] of Object.entries(QUESTIONS)) {
      test(`${name}: by its indexes; statistics: ${statistics}`, async () => {
        for (const statement of await statementsDuring(ask)) {
          const plan = await planOf(pool, statement);
          const told = `${statement.text}\n${JSON.stringify(plan, null, 1)}`;
          checkScans(plan, told);
          assert.deepEqual(indexesIn(plan).toSorted(), indexes, told);
        }
      });
    }

    test(`readings of devices go by indexes, and so does what waited; statistics: ${statistics}`, async () => {
      for (const statement of [...arrived, ...drained].filter(isWork)) {
        assert.ok(statement.name, statement.text);
        checkScans(await planOf(pool, statement), statement.text);
      }
    });
  }

  test("what waits costs three statements more, and a batch of tanks alone none", async () => {
    const texts = arrived.filter(isWork).map(({ text }) => text);
    assert.equal(
      texts.filter((text) => /\bpending(_reading)?\b/.test(text) && /INSERT|DELETE/.test(text)).length,
      3,
      texts.join("\n"),
    );
    const plain = { sources: [{ kind: "tank", id: "one", customerId: null }], source: new Uint32Array(1) } as const;
    const batch = { ...plain, createdAt: Float64Array.of(9e6), fill: Float64Array.of(5), payloads: new Map<number, string>() };
    const statements = (await statementsDuring(() => store.ingest(batch))).filter(isWork);
    assert.equal(statements.length, 1, statements.map(({ text }) => text).join("\n"));
  });
});
