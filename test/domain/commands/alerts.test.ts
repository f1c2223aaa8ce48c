// Acknowledging and closing alerts.

import assert from "node:assert/strict";
import test from "node:test";
import { formatInstant } from "../../../src/domain/instant.ts";
import { alertResource } from "../../../src/domain/resource.ts";
import { command } from "../../support/commands.ts";
import { alert, assertErrors, invalidFieldsOf, NOW, OPEN, objectAfter, planned } from "./planned.ts";

test("an acknowledged alert names who did it, when, and the note", async () => {
  const { resource, alerts, audit } = await planned(command.acknowledgeAlert("open", { note: "On Thursday" }, { by: "key_1" }));
  const after = { ...OPEN, state: "acknowledged", acknowledged_at: NOW, acknowledged_by: "key_1", note: "On Thursday" } as const;
  assert.deepEqual(alerts, [
    { before: OPEN, after: { ...after, updated_at: NOW }, type: "alert.acknowledged", shouldNotify: true },
  ]);
  assert.deepEqual(resource, alertResource({ ...after, updated_at: NOW }));
  const changes = { state: { from: "open", to: "acknowledged" }, note: { from: null, to: "On Thursday" } };
  assert.deepEqual(audit, [{ object: "alert", id: "open", action: "acknowledged", changes }]);
});

test("an alert is closed manually, acknowledged or not, and keeps its note unless another one is given", async () => {
  for (const [id, fields, state, note] of [
    ["open", {}, "open", null],
    ["open", undefined, "open", null],
    ["taken", {}, "acknowledged", "Thursday"],
    ["taken", { note: "Done" }, "acknowledged", "Done"],
  ] as const) {
    const { alerts, audit } = await planned(command.closeAlert(id, fields));
    const [{ after, type } = {}] = alerts;
    assert.deepEqual([after?.state, after?.close_reason, after?.closed_at, after?.note], ["closed", "manual", NOW, note]);
    assert.equal(type, "alert.closed");
    assert.deepEqual(audit[0]?.changes["state"], { from: state, to: "closed" });
  }
});

test("what is done already stays as it is; a closed alert cannot be acknowledged", async () => {
  const taken = await objectAfter(command.acknowledgeAlert("taken", { note: "Friday" }, { by: "key_1" }));
  assert.deepEqual([taken["acknowledged_by"], taken["note"]], ["key_other", "Thursday"]);
  const closed = await objectAfter(command.closeAlert("closed"));
  assert.deepEqual([closed["close_reason"], closed["closed_at"]], ["recovered", formatInstant(OPEN.opened_at)]);
  await assertErrors("state_conflict", [command.acknowledgeAlert("closed")]);
});

test("a note is a text of 1 to 1,000 characters, and there are no other fields", async () => {
  for (const note of ["", "x".repeat(1001), "a\u0000b", 5, null, {}]) {
    assert.deepEqual(await invalidFieldsOf(command.closeAlert("open", { note })), ["note"]);
  }
  assert.deepEqual(await invalidFieldsOf(command.acknowledgeAlert("open", { notes: "x", state: "closed" })), ["notes", "state"]);
  for (const fields of [null, [], "x", 5]) {
    assert.deepEqual(await invalidFieldsOf(command.acknowledgeAlert("open", fields)), [""]);
  }
  assert.equal((await objectAfter(command.closeAlert("open", { note: "😀".repeat(1000) })))["note"], "😀".repeat(1000));
});

test("readings change the alert, but not its ETag", () => {
  const read = alert("open", { latest_fill_percentage: 5, latest_reading_at: NOW });
  assert.equal(alertResource(read).etag, alertResource(OPEN).etag);
  assert.notEqual(alertResource(alert("open", { note: "x" })).etag, alertResource(OPEN).etag);
});
