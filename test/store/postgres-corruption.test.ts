// A PostgreSQL database is corrupted, in one or more places at a time: the check reports each, repairs what can be derived, and
// says what to do about the rest.

import assert from "node:assert/strict";
import test from "node:test";
import { openStore } from "../../src/store/open.ts";
import { postgresDatabase, TEMPLATE_LOCALE } from "../support/postgres/database.ts";
import { checked, readingsOf } from "./conformance/objects.ts";
import {
  type Corruption,
  DAMAGED_ROWS,
  expectDamageKept,
  expectFindings,
  expectRepair,
  fill,
  roundsOf,
  sampleReads,
} from "./corruption/sample.ts";
import { FLEET_CORRUPTIONS, REPAIRABLE as SHARED_REPAIRABLE, UNREPAIRABLE as SHARED_UNREPAIRABLE } from "./corruption/shared.ts";

const LAST = "SELECT max(start) FROM reading_index WHERE tank = 'long' AND level =";
const ninthOf = (tank: string): string => `(SELECT start FROM block WHERE tank = '${tank}' ORDER BY start LIMIT 1 OFFSET 9)`;
const IN_LAST_GROUP = `WHERE tank = 'long' AND level = 0 AND start = (${LAST} 0)`;

const REPAIRABLE: readonly [sql: string, where: string, what: RegExp][] = [
  ["UPDATE head SET total = total + 1 WHERE tank = 'medium'", "tank medium", /it has 2000 readings, the total says 2001/],
  ["UPDATE head SET in_blocks = 5 WHERE tank = 'short'", "tank short", /it has 0 readings in blocks, the head says 5/],
  ...[0, 1].map((level): [string, string, RegExp] => [
    `UPDATE reading_index SET offsets[3] = offsets[3] + 1 WHERE tank = 'long' AND level = ${level} AND start = (${LAST} ${level})`,
    "tank long",
    new RegExp(`level ${level} of its rank index is wrong`),
  ]),
  ["DELETE FROM reading_index WHERE tank = 'medium'", "tank medium", /level 0 of its rank index is wrong/],
  [
    `UPDATE block SET start = start + 1500 WHERE tank = 'medium' AND start = ${ninthOf("medium")}`,
    "tank medium",
    /its readings are not in the order, or not in the blocks/,
  ],
  [
    "UPDATE head SET start = start - 5000 WHERE tank = 'medium'",
    "tank medium",
    /its readings are not in the order, or not in the blocks/,
  ],
  [
    "INSERT INTO reading_index VALUES ('nobody', 0, 1, '{1}', '{0}')",
    "table reading_index",
    /rows refer to 1 missing tank \(first: nobody\)/,
  ],
  ["INSERT INTO refill VALUES ('nobody', 1, 2, 3, 4)", "table refill", /rows refer to 1 missing tank \(first: nobody\)/],
  ["UPDATE forecast SET forecast = '{' WHERE id = 'short'", "tank short", /^its forecast cannot be read$/],
  ["UPDATE customer SET tank_count = 0 WHERE id = 'c0'", "customer c0", /it has 300 tanks, tank_count says 0/],
  [`UPDATE reading_index SET start = start + 1 ${IN_LAST_GROUP}`, "tank long", /level 0 of its rank index is wrong/],
  [`UPDATE reading_index SET offsets = offsets[2:] ${IN_LAST_GROUP}`, "tank long", /level 0 of its rank index is wrong/],
  ["UPDATE list_index SET offsets[2] = 9 WHERE list = 'customer'", "list of all customers", /level 0 of its rank index is wrong/],
  ...["ids[2] = NULL", "positions[2] = NULL", "offsets[2] = NULL", "ids = ids[2:]", "offsets = ARRAY[offsets]"].map(
    (change, i): [string, string, RegExp] => [
      `UPDATE list_index SET ${change} WHERE list = '${i % 2 === 0 ? "customer" : "tank"}'`,
      `list of all ${i % 2 === 0 ? "customers" : "tanks"}`,
      /level 0 of its rank index is wrong/,
    ],
  ),
  [
    "DELETE FROM list_index WHERE list = 'tank owner_id c0'",
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
  for (const { names, round } of roundsOf([...own, ...FLEET_CORRUPTIONS.postgres, ...SHARED_REPAIRABLE])) {
    await t.test(`is repaired: ${names}`, async () => {
      for (const { sql } of round) await query(sql);
      await expectRepair(store, round, reads);
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

  // Those of a round are reported together with those before it.
  const reported: Corruption[] = [
    { name: "a block of no tank", sql: "INSERT INTO block VALUES ('nobody', 1, '', 0)", where: ["table block"], what: /nobody/ },
    {
      name: "an unreadable block",
      sql: `UPDATE block SET data = '\\x0707' WHERE tank = 'long' AND start = ${ninthOf("long")}`,
      where: ["tank long"],
      what: /is damaged: restore a backup/,
    },
  ];
  let known = (await checked(store)).findings;
  for (const { names, round } of roundsOf([...reported, ...SHARED_UNREPAIRABLE])) {
    await t.test(`is reported: ${names}`, async () => {
      for (const { sql } of round) await query(sql);
      const found = (await checked(store, true)).findings;
      const findings = found.filter((finding) => !known.some((one) => one.what === finding.what));
      known = found;
      expectFindings(findings, round);
      assert.ok(findings.every(({ repaired }) => !repaired));
    });
  }
});
