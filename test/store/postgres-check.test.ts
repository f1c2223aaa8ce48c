// Damage done to a PostgreSQL database by hand: found, named, repaired, and every answer as it was before.

import assert from "node:assert/strict";
import test from "node:test";
import { openStore } from "../../src/store/open.ts";
import { postgresDatabase } from "../support/postgres/database.ts";
import { checked, readingsOf } from "./conformance/objects.ts";
import { expectRepair, expectTold } from "./damage/expected.ts";
import { answers, fill, SMALL, TANKS } from "./damage/fleet.ts";
import { FLEET_DAMAGE, REPAIRABLE_SHARED, UNREPAIRABLE_SHARED } from "./damage/shared-damage.ts";

const LAST = "SELECT max(start) FROM reading_index WHERE tank = 'long' AND level =";
const NINTH = "(SELECT start FROM block WHERE tank = 'long' ORDER BY start LIMIT 1 OFFSET 9)";

/** What is done, where it is found, and in which words. */
const DAMAGE: readonly [sql: string, where: string, what: RegExp][] = [
  ["UPDATE head SET total = total + 1 WHERE tank = 'long'", "tank long", /it has 70000 readings, the total says 70001/],
  ["UPDATE head SET in_blocks = 5 WHERE tank = 'short'", "tank short", /it has 0 readings in blocks, the head says 5/],
  ...[0, 1].map((level): [string, string, RegExp] => [
    `UPDATE reading_index SET offsets[3] = offsets[3] + 1 WHERE tank = 'long' AND level = ${level} AND start = (${LAST} ${level})`,
    "tank long",
    new RegExp(`the node of level ${level} at .* should have offset \\d+, it has \\d+`),
  ]),
  ["DELETE FROM reading_index WHERE tank = 'long'", "tank long", /level 0 of its rank index should have 546 nodes, it has 0/],
  [`UPDATE block SET start = start + 1500 WHERE tank = 'long' AND start = ${NINTH}`, "tank long", /should end before/],
  ["UPDATE head SET start = start - 5000 WHERE tank = 'long'", "tank long", /should end before/],
  [
    "INSERT INTO reading_index VALUES ('nobody', 0, 1, '{1}', '{0}')",
    "table reading_index",
    /rows of 1 tanks belong to no tank \(nobody\)/,
  ],
  ["UPDATE customer SET tank_count = 0 WHERE id = 'c0'", "customer c0", /it has 300 tanks, tank_count says 0/],
  [
    `UPDATE reading_index SET start = start + 1 WHERE tank = 'long' AND level = 0 AND start = (${LAST} 0)`,
    "tank long",
    /a group of level 0 of its rank index is stored under .*, but begins at/,
  ],
  [
    `UPDATE reading_index SET offsets = offsets[2:] WHERE tank = 'long' AND level = 0 AND start = (${LAST} 0)`,
    "tank long",
    /should have 546 nodes, it has/,
  ],
  ["UPDATE list_index SET offsets[2] = 9 WHERE series = 'customer'", "list of all customers", /should have offset 128, it has 9/],
  ...["ids[2] = NULL", "created_ats[2] = NULL", "offsets[2] = NULL", "ids = ids[2:]", "offsets = ARRAY[offsets]"].map(
    (damage): [string, string, RegExp] => [
      `UPDATE list_index SET ${damage} WHERE series = 'customer'`,
      "list of all customers",
      /its rank index should not have level 0/,
    ],
  ),
  [
    "DELETE FROM list_index WHERE series = 'tank owner_id c0'",
    "list of the tanks of customer c0",
    /its 300 entries should have a rank index/,
  ],
  [
    "INSERT INTO list_index VALUES ('tank colour red', 0, 1, '', '{1}', '{\"\"}', '{0}')",
    'list "tank colour red"',
    /no such list/,
  ],
];

test("each kind of damage is found, named, repaired, and right again", async (t) => {
  const { url, query, closeFirst } = await postgresDatabase(t, { locale: "en-US" });
  const store = await openStore(url, () => {});
  closeFirst(() => store.close());
  await fill(store, TANKS.narrow);
  const expected = await answers(store);
  for (const [sql, where, what] of DAMAGE) {
    await t.test(sql, async () => {
      await query(sql);
      await expectRepair(store, [where], what);
      assert.deepEqual(await answers(store), expected);
    });
  }

  for (const { name, sql, where, what } of [...FLEET_DAMAGE.postgres, ...REPAIRABLE_SHARED]) {
    await t.test(name, async () => {
      await query(sql);
      await expectRepair(store, where, what);
      assert.deepEqual(await answers(store), expected);
    });
  }

  await t.test("without a rank index, pages that need it fail instead of being wrong", async () => {
    await query("DELETE FROM reading_index WHERE tank = 'long'");
    for (const question of [{ page: 350 }, { from: 500 }, { to: 500 }]) {
      await assert.rejects(readingsOf(store, "long", question), /rank index is damaged .* check --repair/);
    }
    await checked(store, true);
    assert.deepEqual(await answers(store), expected);
  });

  await t.test("what cannot be derived is told with what to do, and left", async () => {
    await query("INSERT INTO block VALUES ('nobody', 1, '')");
    await query(`UPDATE block SET data = '\\x0707' WHERE tank = 'long' AND start = ${NINTH}`);
    await query("UPDATE api_key SET role = 'boss' WHERE id = 'k'");
    for (const repair of [false, true]) {
      const { findings } = await checked(store, repair);
      assert.deepEqual(
        findings.map(({ where, repaired }) => [where, repaired]),
        ["table block", "tank long", "key k"].map((where) => [where, false]),
      );
      assert.match(findings[1]?.what ?? "", /cannot be read: restore a backup/);
    }
  });
});

test("what is kept beside the tanks and cannot be derived is told, and left", async (t) => {
  for (const { name, sql, where, what } of UNREPAIRABLE_SHARED) {
    await t.test(name, async (life) => {
      const { url, query, closeFirst } = await postgresDatabase(life, { locale: "en-US" });
      const store = await openStore(url, () => {});
      closeFirst(() => store.close());
      await fill(store, ...SMALL);
      await query(sql);
      await expectTold(store, where, what);
    });
  }
});
