// Alerts that do not agree with their tanks are found and repaired, on both engines.

import assert from "node:assert/strict";
import { suite, test } from "node:test";
import { DEFAULT_ALERT_SETTINGS } from "../../src/domain/alerts/evaluate.ts";
import { at, command, executed } from "../support/commands.ts";
import { ingest } from "../support/readings.ts";
import { alertsOf, measure, openAlert, putFleet } from "./alert-support.ts";
import { checked, putTanks, tank } from "./conformance/objects.ts";
import { type Engine, postgresEngine, sqliteEngine } from "./engines.ts";
import { runSql } from "./raw-sql.ts";

/** `fleet` is a view on PostgreSQL. */
const fleetOf = ({ name }: Engine): string => (name === "postgres" ? "head" : "fleet");

function alertCheckTests(engine: Engine): void {
  const change = (tankId: string, set: string): string => `UPDATE ${fleetOf(engine)} SET ${set} WHERE tank = '${tankId}'`;
  /** By tank: how its rows are damaged, and what is found. */
  const DAMAGE: Readonly<Record<string, readonly [finding: RegExp, ...sql: string[]]>> = {
    low1: [/a low alert.*its condition low is not active/, change("low1", "active_conditions = 0")],
    fine1: [/its condition low is active, but its fill is 60/, change("fine1", "active_conditions = 1")],
    fine2: [/its active conditions are 64/, change("fine2", "active_conditions = 64")],
    fine3: [/no time at which/, change("fine3", "evaluate_at = NULL")],
    low2: [/1 of its alerts belong to another owner/, "UPDATE alert SET owner_id = 'b' WHERE tank_id = 'low2'"],
    low3: [
      /its fill is 10, but its condition low is not active/,
      "DELETE FROM alert WHERE tank_id = 'low3'",
      change("low3", "active_conditions = 0"),
    ],
  };

  test("wrong conditions, alerts that are missing or of another owner, and no time of the next evaluation are found and repaired", async (t) => {
    const { store, url } = await engine.open(t);
    const low = Object.keys(DAMAGE).filter((id) => id.startsWith("low"));
    const fine = Object.keys(DAMAGE).filter((id) => id.startsWith("fine"));
    await putFleet(store, { a: [...low, ...fine], b: [] });
    for (const id of low) await openAlert(store, id);
    for (const id of fine) await measure(store, id, 60);
    await store.sweepAlerts({ settings: DEFAULT_ALERT_SETTINGS });
    assert.deepEqual((await checked(store)).findings, []);
    for (const [, ...sql] of Object.values(DAMAGE)) for (const one of sql) await runSql(url, one);
    const { findings } = await checked(store);
    assert.equal(findings.length, Object.keys(DAMAGE).length, JSON.stringify(findings));
    for (const [id, [what]] of Object.entries(DAMAGE)) {
      assert.match(findings.find(({ where }) => where === `tank ${id}`)?.what ?? "", what, id);
    }
    assert.ok((await checked(store, true)).findings.every(({ repaired }) => repaired));
    assert.deepEqual((await checked(store)).findings, []);
    const { data } = await alertsOf(store);
    assert.deepEqual(
      data.map(({ tank_id, owner_id, state }) => [tank_id, owner_id, state]).toSorted(),
      low.map((id) => [id, "a", "open"]).toSorted(),
    );
  });

  test("an alert of a deleted tank that is not closed is closed", async (t) => {
    const { store, url } = await engine.open(t);
    await putFleet(store, { a: ["a1"], b: [] });
    const { id } = await openAlert(store, "a1");
    await executed(store, command.deleteTank("a1"), at(Date.now()));
    await runSql(url, `UPDATE alert SET state = 'open', closed_at = NULL, close_reason = NULL WHERE id = '${id}'`);
    assert.match((await checked(store)).findings[0]?.what ?? "", /deleted, but has alerts/);
    await checked(store, true);
    assert.deepEqual((await checked(store)).findings, []);
    const [closed] = (await alertsOf(store)).data;
    assert.deepEqual([closed?.state, closed?.close_reason], ["closed", "tank_deleted"]);
  });

  test("rank indexes of the lists of alerts are rebuilt", async (t) => {
    const { store, url } = await engine.open(t);
    await putFleet(store, { a: [], b: [] });
    const ids = Array.from({ length: 300 }, (_, i) => `t${i}`);
    await putTanks(store, ...ids.map((id) => tank(id, "a")));
    await ingest(store, ...ids.map((id) => ({ tank: id, at: Date.now(), fill: 5 })));
    assert.equal((await alertsOf(store, { state: "open" })).totalItems, 300);
    assert.deepEqual((await checked(store)).findings, []);
    await runSql(url, "DELETE FROM list_index WHERE list LIKE 'alert%'");
    const where = (await checked(store)).findings.map((finding) => finding.where).sort();
    assert.deepEqual(where, ["list of all alerts", "list of open alerts"]);
    await checked(store, true);
    assert.deepEqual((await checked(store)).findings, []);
    assert.equal((await alertsOf(store, { state: "open" })).totalItems, 300);
  });
}

for (const engine of [sqliteEngine, postgresEngine]) suite(`${engine.name}: check of alerts`, () => alertCheckTests(engine));
