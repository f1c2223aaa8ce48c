// Alerts on the command line: on the database itself, or on a running service with --url.

import assert from "node:assert/strict";
import { after, suite, test } from "node:test";
import { type Cli, cliOnDatabase, cliOnService, createKey, SMALL_FLEET } from "./fixtures.ts";

/** Of SMALL_FLEET, tank b1 is low. A service also finds tanks that are silent. */
async function acknowledgesAndCloses(cli: Cli, by: RegExp): Promise<void> {
  const [alert, ...others] = await cli.items("alert", "list", "--kind", "low");
  const id = String(alert?.["id"]);
  assert.deepEqual([alert?.["tank_id"], alert?.["owner_id"], alert?.["state"], others], ["b1", "bob", "open", []]);
  const acknowledged = await cli.run(["alert", "acknowledge", id, "--note", "Delivery on Thursday"]);
  assert.deepEqual([acknowledged.code, acknowledged.stderr], [0, `alert ${id} (low, tank b1) acknowledged\n`]);
  const again = await cli.run(["alert", "acknowledge", id, "--note", "second"]);
  const unchanged = `alert ${id} (low, tank b1) is already acknowledged; its note is unchanged\n`;
  assert.deepEqual([again.code, again.stderr], [0, unchanged]);
  const withoutNote = await cli.run(["alert", "acknowledge", id]);
  assert.equal(withoutNote.stderr, `alert ${id} (low, tank b1) is already acknowledged\n`);
  const [shown] = await cli.items("alert", "show", id);
  assert.deepEqual([shown?.["state"], shown?.["note"]], ["acknowledged", "Delivery on Thursday"]);
  assert.match(String(shown?.["acknowledged_by"]), by);
  assert.match(await cli.output("alert", "show", id), /^kind +low$[\s\S]*^closed_at +-$/m);
  const table = await cli.output("alert", "list", "--state", "acknowledged", "--kind", "low", "--tank", "b1", "--owner", "bob");
  const row = new RegExp(`^OPENED .*\\n\\S+Z +low +acknowledged +12\\.0 % +b1 +bob +${id} +Delivery on Thursday\\n$`);
  assert.match(table, row);
  const changed = await cli.run(["alert", "update", id, "--note", "Delivery on Friday"]);
  assert.deepEqual([changed.code, changed.stderr], [0, `alert ${id} (low, tank b1) updated\n`]);
  assert.equal((await cli.items("alert", "update", id, "--note", ""))[0]?.["note"], null);
  await cli.expectFailure(["alert", "update", id], /nothing to change: give --note TEXT/, 2);
  assert.equal((await cli.run(["alert", "close", id])).stderr, `alert ${id} (low, tank b1) closed\n`);
  assert.equal((await cli.run(["alert", "close", id])).stderr, `alert ${id} (low, tank b1) is already closed\n`);
  const [closed] = await cli.items("alert", "close", id);
  assert.deepEqual([closed?.["state"], closed?.["close_reason"]], ["closed", "manual"]);
  assert.deepEqual(await cli.items("alert", "list", "--state", "open", "--kind", "low"), []);
  await cli.expectFailure(["alert", "acknowledge", id], /is closed and cannot be acknowledged/);
  const log = await cli.output("audit", "--type", "alert");
  assert.match(
    log,
    / closed +alert .*\n.* changed +alert .*\n.* changed +alert .*\n.* acknowledged +alert .*"open" → "acknowledged", note "Delivery on Thursday"/,
  );
}

const LIST = ["alert", "list", "--kind", "low", "--json"];

suite("alert on a running service", async () => {
  const cli = await cliOnService({ after }, SMALL_FLEET);

  test("list works with a read key, which sees the alerts of its customer only", async () => {
    for (const [customer, count] of [
      ["bob", 1],
      ["ada", 0],
    ] as const) {
      const env = { TANK_MONITOR_KEY: await createKey(cli.workspace, "--customer", customer), DATABASE_URL: "sqlite:never.db" };
      const { code, stdout, stderr } = await cli.workspace.run([...LIST, "--url", cli.service.url], { env });
      assert.deepEqual([code, stdout.split("\n").length - 1], [0, count], stderr);
    }
  });

  test("acknowledges and closes", () => acknowledgesAndCloses(cli, /^key_/));
});

suite("alert on the database", async () => {
  const cli = await cliOnDatabase({ after }, SMALL_FLEET);

  test("acknowledges and closes", () => acknowledgesAndCloses(cli, /^command line$/));

  test("says what is wrong with a call", async () => {
    await cli.expectFailure(["alert", "show"], /ALERT is missing: an id from "npx tank-monitor alert list"/, 2);
    await cli.expectFailure(["alert", "close", "alr_none"], /no such alert: alr_none; see "npx tank-monitor alert list"/);
    await cli.expectFailure(["alert", "list", "--state", "new"], /--state must be one of open, acknowledged, closed/, 2);
    const known = await cli.run(["alert", "list", "--tank", "a1", "--owner", "ada", "--kind", "leak"]);
    assert.deepEqual([known.code, known.stderr], [0, "No alerts found.\n"]);
    await cli.expectFailure(["alert", "list", "--tank", "nope"], /no such tank: nope; see "npx tank-monitor tank list"/);
    await cli.expectFailure(["alert", "list", "--owner", "nope"], /no such customer: nope; see "npx tank-monitor customer list"/);
    const [alert] = await cli.items("alert", "list");
    const id = String(alert?.["id"]);
    assert.ok((await cli.items("alert", "list", "--since", "24h")).some((found) => found["id"] === id));
    assert.deepEqual(await cli.items("alert", "list", "--until", "24h"), []);
    await cli.expectFailure(["alert", "close", id, "--note", ""], /--note: must not be empty/, 2);
  });
});
