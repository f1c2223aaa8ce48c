// Several processes' stores on one database, all at it at once: what is decided stays decided, and nothing is left behind.

import assert from "node:assert/strict";
import { suite, test } from "node:test";
import type { IncomingBatch } from "../../src/domain/reading.ts";
import type { Store } from "../../src/domain/store.ts";
import { seeded } from "../../src/simulate/random.ts";
import { type Database, openedOn, postgresDatabase } from "../support/postgres/database.ts";
import type { Lifetime } from "../support/service.ts";
import { checked, customer, NEW_YEAR, putCustomers, putTanks, readingsOf, tank } from "./conformance/objects.ts";
import { CUSTOMERS } from "./twins/orders.ts";
import { someStep } from "./twins/steps.ts";

async function several(life: Lifetime, count: number): Promise<{ stores: [Store, ...Store[]]; database: Database }> {
  const database = await postgresDatabase(life);
  const opened = await Promise.all(
    Array.from({ length: count }, () => openedOn({ after: database.closeFirst }, database.url, { connections: 4 })),
  );
  return { stores: opened.map(({ store }) => store) as [Store, ...Store[]], database };
}

const ofDevice = (id: string, createdAt: number, fill: number): IncomingBatch => ({
  sources: [{ kind: "device", id, customerId: null }],
  source: new Uint32Array(1),
  createdAt: Float64Array.of(createdAt),
  fill: Float64Array.of(fill),
  payloads: new Map(),
});

suite("stores at once", () => {
  test("a reading that arrives while its device is assigned waits for nothing", async (t) => {
    const { stores } = await several(t, 3);
    const [sender, other, operator] = stores as [Store, Store, Store];
    await putCustomers(operator, customer("a"));
    await putTanks(operator, ...Array.from({ length: 40 }, (_, i) => tank(`t${i}`, "a")));
    for (let i = 0; i < 40; i++) {
      const assign = { type: "put_device", id: `d${i}`, fields: { tank_id: `t${i}` }, ifMatch: undefined, swap: false } as const;
      await Promise.all([
        sender.ingest(ofDevice(`d${i}`, NEW_YEAR, 5)),
        operator.execute(assign, { by: "test", at: NEW_YEAR + i }),
        other.ingest(ofDevice(`d${i}`, NEW_YEAR + 1, 6)),
      ]);
      assert.deepEqual(await operator.managedDevice(`d${i}`).then((found) => [found?.device.tank_id, found?.waiting]), [
        `t${i}`,
        0,
      ]);
      assert.equal((await readingsOf(operator, `t${i}`)).totalItems, 2);
    }
    assert.deepEqual((await checked(operator)).findings, []);
  });

  test("orders, records and readings of four processes: none waits for another in a circle, and all is right in the end", async (t) => {
    const { stores, database } = await several(t, 4);
    await putCustomers(stores[0], ...CUSTOMERS.map((id) => customer(id)));
    await Promise.all(
      stores.map(async (store, process) => {
        const random = seeded(`process ${process}`);
        for (let i = 0; i < 60; i++) await someStep(random, process * 1000 + i, Date.now(), []).take(store);
      }),
    );
    const [row] = await database.query<{ deadlocks: string }>(
      "SELECT deadlocks FROM pg_stat_database WHERE datname = current_database()",
    );
    assert.equal(Number(row?.deadlocks), 0);
    assert.deepEqual((await checked(stores[0])).findings, []);
    const audit = { from: undefined, to: undefined, page: 1, size: 100, by: undefined, object: undefined, id: undefined };
    const { data, totalItems } = await stores[0].auditPage(audit);
    assert.ok(totalItems > 50, `${totalItems} entries`);
    assert.deepEqual(
      data.map(({ number }) => number),
      data.map((_, i) => totalItems - i),
    );
  });
});
