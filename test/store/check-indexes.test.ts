// A check finds indexes of the schema that were dropped, and a repair creates them again, on both engines.

import assert from "node:assert/strict";
import { suite, test } from "node:test";
import { checked, customer, putCustomers, putTanks, tank } from "./conformance/objects.ts";
import { type Engine, postgresEngine, sqliteEngine } from "./engines.ts";
import { runSql } from "./raw-sql.ts";

const missing = (name: string, repaired: boolean) => ({
  where: `index ${name}`,
  what: "it does not exist",
  isRepairable: true,
  repaired,
});

function checkIndexes(engine: Engine): void {
  test("dropped indexes are found and created again", async (t) => {
    const { store, url } = await engine.open(t);
    await putCustomers(store, customer("a"));
    await putTanks(store, tank("one", "a"));
    for (const name of ["tank_by_device", "alert_not_closed"]) await runSql(url, `DROP INDEX ${name}`);
    const names = ["tank_by_device", "alert_not_closed"];
    assert.deepEqual(
      (await checked(store)).findings,
      names.map((name) => missing(name, false)),
    );
    assert.deepEqual(
      (await checked(store, true)).findings,
      names.map((name) => missing(name, true)),
    );
    assert.deepEqual((await checked(store)).findings, []);
    // Its database is not used by another test: the order of its indexes is another one.
    await store.close();
  });

  test("a unique index is not created while rows break it", async (t) => {
    const { store, url } = await engine.open(t);
    await putCustomers(store, customer("a"));
    await putTanks(store, tank("one", "a"), tank("two", "a"));
    await runSql(url, "DROP INDEX tank_by_device");
    await runSql(url, "UPDATE tank SET assigned_device_id = 'same'");
    const { findings } = await checked(store, true);
    assert.deepEqual(findings[0], missing("tank_by_device", false));
    assert.ok(
      findings.some(({ where }) => where === "tank two"),
      "the rows are found, too",
    );
    await store.close();
  });
}

for (const engine of [sqliteEngine, postgresEngine]) {
  suite(`${engine.name}: check of indexes`, () => checkIndexes(engine));
}
