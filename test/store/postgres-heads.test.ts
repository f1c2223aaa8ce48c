// Heads that grow too long are split: many of them together, a single one when it is full.

import assert from "node:assert/strict";
import { test } from "node:test";
import { HEAD_HARD_MAX } from "../../src/store/packed/merge.ts";
import { openedOn, postgresDatabase, TEMPLATE_LOCALE } from "../support/postgres/database.ts";
import { ingest } from "../support/readings.ts";
import { checked, customer, putCustomers, putTanks, readingsOf, tank } from "./conformance/objects.ts";

const ROUNDS = 180;

for (const { many, of } of [
  { many: 80, of: "many tanks" },
  { many: 1, of: "one tank" },
]) {
  test(`heads of ${of} are split while readings are appended, and nothing is lost`, async (t) => {
    const { url, query, closeFirst } = await postgresDatabase(t, { locale: TEMPLATE_LOCALE, withSchema: true });
    const { store, eventKinds } = await openedOn({ after: closeFirst }, url);
    await putCustomers(store, customer("a"));
    const ids = Array.from({ length: many }, (_, i) => `t${i}`);
    await putTanks(store, ...ids.map((id) => tank(id, "a", { assigned_device_id: `d${id}` })));
    const rounds = many === 1 ? HEAD_HARD_MAX + 1 : ROUNDS;
    for (let at = 1; at <= rounds; at++) {
      // By device, by tank, and with fills that are not hundredths.
      const fill = at > 100 ? at / 3 : at / 2;
      const sent = ids.map((id) => (at % 2 === 0 ? { device: `d${id}`, at, fill } : { tank: id, at, fill }));
      assert.deepEqual(new Set(await ingest(store, ...sent)), new Set(["stored"]));
    }
    const heads = await query<{ total: string; in_blocks: string }>("SELECT total, in_blocks FROM head");
    for (const { total, in_blocks } of heads) {
      assert.equal(Number(total), rounds);
      assert.ok(Number(total) - Number(in_blocks) <= HEAD_HARD_MAX);
    }
    assert.ok(heads.filter(({ in_blocks }) => Number(in_blocks) > 0).length > many / 2, "most were split");
    assert.equal((await readingsOf(store, "t0")).totalItems, rounds);
    assert.deepEqual([eventKinds(), (await checked(store)).findings], [[], []]);
  });
}
