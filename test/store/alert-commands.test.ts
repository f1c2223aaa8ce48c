// Alerts that people acknowledge and close, on both engines.

import assert from "node:assert/strict";
import { suite, test } from "node:test";
import { UNRESTRICTED } from "../../src/domain/key.ts";
import { at, command, errorOf, executed, OPERATOR } from "../support/commands.ts";
import { alertsOf, measure, openAlert, putFleet } from "./alert-support.ts";
import { DAY, putChannel } from "./compose-support.ts";
import { checked, WHOLE_LOG } from "./conformance/objects.ts";
import { type Engine, postgresEngine, sqliteEngine } from "./engines.ts";
import { runSql } from "./raw-sql.ts";

const SECOND = 1000;

function alertCommands(engine: Engine): void {
  test("what is acknowledged and closed is stored, listed by its state, and in the audit log", async (t) => {
    const { store } = await engine.open(t);
    await putFleet(store, { a: ["a1"], b: [] });
    const { id } = await openAlert(store, "a1");
    const now = Date.now();
    const acknowledged = await executed(store, command.acknowledgeAlert(id, { note: "Thursday" }), at(now));
    assert.equal(acknowledged.object["state"], "acknowledged");
    const counts = async () =>
      Promise.all(
        (["open", "acknowledged", "closed"] as const).map(async (state) => (await alertsOf(store, { state })).totalItems),
      );
    assert.deepEqual(await counts(), [0, 1, 0]);
    const stored = await store.alertById(id, UNRESTRICTED);
    assert.deepEqual([stored?.acknowledged_at, stored?.acknowledged_by, stored?.note], [now, OPERATOR, "Thursday"]);
    await executed(store, command.acknowledgeAlert(id, { note: "Friday" }), at(now + 1));
    assert.deepEqual(await store.alertById(id, UNRESTRICTED), stored);
    await executed(store, command.closeAlert(id), at(now + 2));
    await executed(store, command.closeAlert(id, { note: "again" }), at(now + 3));
    assert.deepEqual(await counts(), [0, 0, 1]);
    const closed = await store.alertById(id, UNRESTRICTED);
    assert.deepEqual([closed?.closed_at, closed?.close_reason, closed?.note], [now + 2, "manual", "Thursday"]);
    assert.equal((await errorOf(store, command.acknowledgeAlert(id), at(now + 4))).error, "state_conflict");
    assert.equal((await errorOf(store, command.closeAlert("alr_none"), at(now + 4))).error, "alert_unknown");
    const { data } = await store.auditPage({ ...WHOLE_LOG, object: "alert", id });
    assert.deepEqual(
      data.map(({ action, by }) => [action, by]),
      [
        ["closed", OPERATOR],
        ["acknowledged", OPERATOR],
      ],
    );
    const { payloads } = await store.eventFeed({ after: 0, size: 10 }, UNRESTRICTED);
    assert.equal(payloads.length, 3, "what changes nothing is no event");
    assert.deepEqual((await checked(store)).findings, []);
  });

  test("the note of an acknowledged alert is corrected and removed; nobody is notified", async (t) => {
    const { store } = await engine.open(t);
    await putFleet(store, { a: ["a1"], b: [] });
    const { id } = await openAlert(store, "a1");
    const now = Date.now();
    assert.equal((await errorOf(store, command.changeAlert(id, { note: "x" }), at(now))).error, "state_conflict");
    await executed(store, command.acknowledgeAlert(id, { note: "Thrusday" }), at(now));
    const { etag } = await executed(store, command.changeAlert(id, { note: "Thursday" }), at(now + 1));
    const stored = await store.alertById(id, UNRESTRICTED);
    assert.deepEqual([stored?.state, stored?.acknowledged_at, stored?.note], ["acknowledged", now, "Thursday"]);
    assert.equal((await errorOf(store, command.changeAlert(id, { note: "" }), at(now + 2))).error, "body_invalid");
    assert.equal(
      (await errorOf(store, command.changeAlert(id, { note: "x" }, '"other"'), at(now + 2))).error,
      "precondition_failed",
    );
    await executed(store, command.changeAlert(id, { note: null }, etag), at(now + 3));
    await executed(store, command.changeAlert(id, { note: null }), at(now + 4));
    assert.equal((await store.alertById(id, UNRESTRICTED))?.note, null);
    const { data } = await store.auditPage({ ...WHOLE_LOG, object: "alert", id });
    assert.deepEqual(
      data.map(({ action, changes }) => [action, changes["note"]]),
      [
        ["changed", { from: "Thursday", to: null }],
        ["changed", { from: "Thrusday", to: "Thursday" }],
        ["acknowledged", { from: null, to: "Thrusday" }],
      ],
    );
    const { payloads } = await store.eventFeed({ after: 0, size: 10 }, UNRESTRICTED);
    assert.equal(payloads.length, 4, "what changes nothing is no event");
    assert.deepEqual((await checked(store)).findings, []);
    await executed(store, command.closeAlert(id), at(now + 5));
    assert.equal((await errorOf(store, command.changeAlert(id, { note: "x" }), at(now + 6))).error, "state_conflict");
  });

  test("the new owner of a tank sees its alerts without the notes of the former one", async (t) => {
    const { store } = await engine.open(t);
    await putFleet(store, { a: ["a1"], b: [] });
    const { id } = await openAlert(store, "a1");
    await executed(store, command.acknowledgeAlert(id, { note: "owes us 300" }), at(Date.now()));
    await executed(store, command.changeTank("a1", { name: "Hall 3" }), at(Date.now()));
    assert.equal((await store.alertById(id, UNRESTRICTED))?.note, "owes us 300");
    await executed(store, command.changeTank("a1", { owner_id: "b" }), at(Date.now()));
    const moved = await store.alertById(id, UNRESTRICTED);
    assert.deepEqual([moved?.owner_id, moved?.state, moved?.note], ["b", "acknowledged", null]);
  });

  test("an alert that was closed manually is not opened again until its condition has cleared once", async (t) => {
    const { store } = await engine.open(t);
    await putFleet(store, { a: ["a1"], b: [] });
    const start = Date.now() - 60 * SECOND;
    const { id } = await openAlert(store, "a1", start);
    await executed(store, command.closeAlert(id), at(Date.now()));
    for (const [i, fill] of [9, 21, 15, 22.9, 20].entries()) await measure(store, "a1", fill, start + (i + 1) * SECOND);
    assert.deepEqual(await store.alertsNotClosed(["a1"]), []);
    await measure(store, "a1", 23, start + 10 * SECOND);
    assert.equal((await alertsOf(store)).totalItems, 1);
    assert.notEqual((await openAlert(store, "a1", start + 11 * SECOND)).id, id);
    assert.equal((await alertsOf(store)).totalItems, 2);
  });

  test("a recent reading that confirms an alert notifies nobody once the alert is acknowledged", async (t) => {
    const { store, url } = await engine.open(t);
    await putFleet(store, { a: ["acknowledged", "open"], b: [] });
    await putChannel(store, "chn_hook", { type: "webhook", url: "https://hooks.example.com/" });
    const now = Date.now();
    const { id } = await openAlert(store, "acknowledged", now - 2 * DAY);
    await openAlert(store, "open", now - 2 * DAY);
    await executed(store, command.acknowledgeAlert(id), at(now));
    for (const tankId of ["acknowledged", "open"]) await measure(store, tankId, 9, now);
    const sent = await runSql(url, "SELECT event, tank_id FROM notification ORDER BY event");
    assert.deepEqual(
      sent.map(({ event, tank_id }) => `${tank_id}: ${event}`),
      ["acknowledged: alert.acknowledged", "open: alert.opened"],
    );
  });

  test("a command is executed once per idempotency key, and only on the version it names", async (t) => {
    const { store } = await engine.open(t);
    await putFleet(store, { a: ["a1"], b: [] });
    const { id } = await openAlert(store, "a1");
    const key = { key: "k", fingerprint: "f" };
    const first = await store.execute(command.acknowledgeAlert(id), at(Date.now()), key);
    const second = await store.execute(command.acknowledgeAlert(id), at(Date.now()), key);
    assert.ok("resource" in first && "resource" in second);
    assert.deepEqual([second.resource, first.replayed, second.replayed], [first.resource, false, true]);
    assert.equal((await errorOf(store, command.closeAlert(id, {}, '"other"'), at(Date.now()))).error, "precondition_failed");
    await measure(store, "a1", 9);
    await executed(store, command.closeAlert(id, {}, first.resource.etag), at(Date.now()));
  });

  test("people and readings that close an alert at once close it once", { timeout: 60_000 }, async (t) => {
    const { store, reopen } = await engine.open(t);
    const tanks = Array.from({ length: 20 }, (_, i) => `t${i}`);
    await putFleet(store, { a: tanks, b: [] });
    const other = await reopen();
    const start = Date.now() - 600 * SECOND;
    for (let round = 0; round < 5; round++) {
      const alerts = await Promise.all(tanks.map((id) => openAlert(store, id, start + 2 * round * SECOND)));
      await Promise.all(
        alerts.flatMap(({ id, tank_id }, i) => [
          other.execute(i % 2 === 0 ? command.acknowledgeAlert(id) : command.closeAlert(id), at(Date.now())),
          measure(store, tank_id, 80, start + (2 * round + 1) * SECOND),
        ]),
      );
    }
    assert.deepEqual(await store.alertsNotClosed(tanks), []);
    const { payloads } = await store.eventFeed({ after: 0, size: 100_000 }, UNRESTRICTED);
    const types = payloads.map((payload) => (JSON.parse(payload) as { type: string }).type);
    const count = (type: string) => types.filter((one) => one === type).length;
    assert.deepEqual([count("alert.opened"), count("alert.closed")], [100, 100]);
    const { totalItems } = await alertsOf(store, { state: "closed" });
    assert.equal(totalItems, 100);
    assert.deepEqual((await checked(store)).findings, []);
  });
}

for (const engine of [sqliteEngine, postgresEngine]) suite(`${engine.name}: commands on alerts`, () => alertCommands(engine));
