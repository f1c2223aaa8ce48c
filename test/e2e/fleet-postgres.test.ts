// The fleet kept by the command line with DATABASE_URL=postgres://…

import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import test from "node:test";
import { postgresDatabase } from "../support/postgres/database.ts";
import { importLines, SMALL_FLEET } from "./fixtures.ts";
import { cliWith } from "./keeping.ts";
import { workspace } from "./program.ts";

test("on PostgreSQL: made, changed, swapped, deleted, restored, provisioned, and all of it in the audit log", async (t) => {
  const database = await postgresDatabase(t);
  const here = workspace({ after: database.closeFirst });
  const run: typeof here.run = (words, more) => here.run(words, { ...more, env: { DATABASE_URL: database.url } });
  await importLines({ ...here, run }, SMALL_FLEET);
  const way = cliWith(here, undefined, run);

  await way.output("customer", "create", "--id", "eve", "--name", "Eve", "--email", "eve@x.example");
  await way.output("tank", "update", "a1", "--owner", "eve", "--device", "device-b1", "--swap");
  await way.output("customer", "delete", "eve", "--tanks");
  await way.output("customer", "restore", "eve");
  writeFileSync(here.path("x.csv"), "id,min_fill_alert_percentage\na1,90\nb1,5\n");
  assert.match(await way.output("provision", "x.csv"), /tanks: 0 new, 2 changed, 0 unchanged\n$/);

  const fleet = await way.items("fleet");
  assert.deepEqual(
    fleet.map(({ id, margin }) => [id, margin]),
    [
      ["a1", -10.75],
      ["b1", 7],
      ["a2", null],
    ],
  );
  assert.deepEqual(
    (await way.items("tank", "list", "--device", "device-a1")).map(({ id }) => id),
    ["b1"],
  );
  assert.deepEqual((await way.items("audit", "--id", "a1", "--by", "command line")).map(({ action }) => action).slice(0, 4), [
    "changed",
    "restored",
    "deleted",
    "changed",
  ]);
  assert.match(await way.output("key", "create", "--name", "x", "--customer", "eve"), /^tm_\w{36}\n$/);
  assert.deepEqual(
    (await way.items("key", "list")).map(({ customer_id, state }) => [customer_id, state]),
    [["eve", "active"]],
  );
});
