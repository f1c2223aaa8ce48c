// A PostgreSQL database is corrupted, one thing at a time: the check reports it, repairs what can be derived, and says what to do
// about the rest.

import assert from "node:assert/strict";
import test from "node:test";
import { openStore } from "../../src/store/open.ts";
import { postgresDatabase, TEMPLATE_LOCALE } from "../support/postgres/database.ts";
import { checked, readingsOf } from "./conformance/objects.ts";
import { type Corruption, DAMAGED_ROWS, expectDamageKept, expectRepair, fill, sampleReads } from "./corruption/sample.ts";
import { FLEET_CORRUPTIONS, REPAIRABLE as SHARED_REPAIRABLE, UNREPAIRABLE as SHARED_UNREPAIRABLE } from "./corruption/shared.ts";

const LAST = "SELECT max(start) FROM reading_index WHERE tank = 'long' AND level =";
const NINTH = "(SELECT start FROM block WHERE tank = 'long' ORDER BY start LIMIT 1 OFFSET 9)";
const IN_LAST_GROUP = `WHERE tank = 'long' AND level = 0 AND start = (${LAST} 0)`;

const REPAIRABLE: readonly [sql: string, where: string, what: RegExp][] = [
  ["UPDATE head SET total = total + 1 WHERE tank = 'long'", "tank long", /it has 17000 readings, the total says 17001/],
  ["UPDATE head SET in_blocks = 5 WHERE tank = 'short'", "tank short", /it has 0 readings in blocks, the head says 5/],
  ...[0, 1].map((level): [string, string, RegExp] => [
    `UPDATE reading_index SET offsets[3] = offsets[3] + 1 WHERE tank = 'long' AND level = ${level} AND start = (${LAST} ${level})`,
    "tank long",
    new RegExp(`level ${level} of its rank index is wrong`),
  ]),
  ["DELETE FROM reading_index WHERE tank = 'long'", "tank long", /level 0 of its rank index is wrong/],
  [
    `UPDATE block SET start = start + 1500 WHERE tank = 'long' AND start = ${NINTH}`,
    "tank long",
    /its readings are not in the order, or not in the blocks/,
  ],
  [
    "UPDATE head SET start = start - 5000 WHERE tank = 'long'",
    "tank long",
    /its readings are not in the order, or not in the blocks/,
  ],
  [
    "INSERT INTO reading_index VALUES ('nobody', 0, 1, '{1}', '{0}')",
    "table reading_index",
    /rows of 1 tanks belong to no tank \(nobody\)/,
  ],
  ["INSERT INTO refill VALUES ('nobody', 1, 2, 3, 4)", "table refill", /rows of 1 tanks belong to no tank \(nobody\)/],
  ["UPDATE forecast SET forecast = '{' WHERE id = 'short'", "tank short", /^its forecast cannot be read$/],
  ["UPDATE customer SET tank_count = 0 WHERE id = 'c0'", "customer c0", /it has 300 tanks, tank_count says 0/],
  [`UPDATE reading_index SET start = start + 1 ${IN_LAST_GROUP}`, "tank long", /level 0 of its rank index is wrong/],
  [`UPDATE reading_index SET offsets = offsets[2:] ${IN_LAST_GROUP}`, "tank long", /level 0 of its rank index is wrong/],
  [
    "UPDATE list_index SET offsets[2] = 9 WHERE series = 'customer'",
    "list of all customers",
    /level 0 of its rank index is wrong/,
  ],
  ...["ids[2] = NULL", "positions[2] = NULL", "offsets[2] = NULL", "ids = ids[2:]", "offsets = ARRAY[offsets]"].map(
    (change): [string, string, RegExp] => [
      `UPDATE list_index SET ${change} WHERE series = 'customer'`,
      "list of all customers",
      /level 0 of its rank index is wrong/,
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

test("a corrupted PostgreSQL database", async (t) => {
  const { url, query, closeFirst } = await postgresDatabase(t, { locale: TEMPLATE_LOCALE, withSchema: true });
  const store = await openStore(url, () => {});
  closeFirst(() => store.close());
  await fill(store);
  const reads = await sampleReads(store);
  const own = REPAIRABLE.map(([sql, where, what]): Corruption => ({ name: sql, sql, where: [where], what }));
  for (const corruption of [...own, ...FLEET_CORRUPTIONS.postgres, ...SHARED_REPAIRABLE]) {
    await t.test(`is repaired: ${corruption.name}`, async () => {
      await query(corruption.sql);
      await expectRepair(store, corruption, reads);
    });
  }

  await t.test("without a rank index, reads of pages that need it fail", async () => {
    await query("DELETE FROM reading_index WHERE tank = 'long'");
    for (const range of [{ page: 85 }, { from: 500 }, { to: 500 }]) {
      const isDamaged = ({ cause }: Error) => /rank index is damaged .* check --repair/.test((cause as Error).message);
      await assert.rejects(readingsOf(store, "long", range), isDamaged);
    }
    await checked(store, true);
    assert.deepEqual(await sampleReads(store), reads);
  });

  await t.test("damaged rows are reported until the whole of them is replaced", async () => {
    await query(DAMAGED_ROWS.sql);
    await expectDamageKept(store);
  });

  // Each is reported together with those before it.
  const reported: Corruption[] = [
    { name: "a block of no tank", sql: "INSERT INTO block VALUES ('nobody', 1, '', 0)", where: ["table block"], what: /nobody/ },
    {
      name: "an unreadable block",
      sql: `UPDATE block SET data = '\\x0707' WHERE tank = 'short' OR start = ${NINTH}`,
      where: ["tank long"],
      what: /is damaged: restore a backup/,
    },
  ];
  let known = (await checked(store)).findings;
  for (const { name, sql, where, what } of [...reported, ...SHARED_UNREPAIRABLE]) {
    await t.test(`is reported: ${name}`, async () => {
      await query(sql);
      const found = (await checked(store, true)).findings;
      const findings = found.filter((finding) => !known.some((one) => one.what === finding.what));
      known = found;
      assert.deepEqual(new Set(findings.map((finding) => finding.where)), new Set(where), JSON.stringify(findings));
      assert.match(findings.map((finding) => finding.what).join("\n"), what);
      assert.ok(findings.every(({ repaired }) => !repaired));
    });
  }
});
