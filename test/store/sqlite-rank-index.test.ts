// Groups of a rank index stay small however it grows, so that a page is found in a few steps.

import assert from "node:assert/strict";
import { DatabaseSync } from "node:sqlite";
import test from "node:test";
import { GROUP_MAX } from "../../src/store/packed/rank-index.ts";
import { putReadings } from "../support/records.ts";
import { databaseFolder } from "../support/stores.ts";
import { customer, putCustomers, putTanks, tank } from "./conformance/objects.ts";

/** How many nodes each group of each level has, lowest level first. */
function groupsIn(db: DatabaseSync, table: string, where = "true"): number[][] {
  const rows = db.prepare(`SELECT level, length(offsets) / 8 AS nodes FROM ${table} WHERE ${where} ORDER BY level`).all();
  const levels: number[][] = [];
  for (const { level, nodes } of rows as { level: number; nodes: number }[]) levels[level] = [...(levels[level] ?? []), nodes];
  return levels;
}

function expectSmallGroups(levels: readonly (readonly number[])[], least: number): void {
  assert.ok(levels.length >= least, `${levels.length} levels`);
  levels.forEach((groups, level) => {
    assert.ok(
      groups.every((nodes) => nodes > 0 && nodes <= GROUP_MAX),
      `${groups} nodes in the groups of level ${level}`,
    );
    const above = (levels[level + 1] ?? [1]).reduce((sum, nodes) => sum + nodes, 0);
    assert.equal(groups.length, above, `groups of level ${level}, and nodes above them`);
  });
}

const ORDERS: Record<string, (step: number) => number> = {
  "in order": (step) => step,
  backwards: (step) => -step,
  "in one place": (step) => (step % 2 === 0 ? 1 : -1) / (step + 1),
};

for (const [name, place] of Object.entries(ORDERS)) {
  test(`groups stay small in an index that grows ${name}`, async (t) => {
    const folder = databaseFolder(t);
    const store = await folder.open();
    await putCustomers(store, customer("owner", { created_at: 0 }));
    await putTanks(store, tank("one", "owner"));
    const steps = 40;
    for (let step = 0; step < steps; step++) {
      const at = (i: number): number => Math.floor(place(step) * 1e9) + i;
      const hundred = Array.from({ length: 100 }, (_, i) => customer(`c${step} ${i}`, { created_at: 1e12 + at(i) }));
      await putCustomers(store, ...hundred);
      const readings = Array.from({ length: 1000 }, (_, i) => [at(i), 50] as const);
      await putReadings(store, "one", readings);
    }
    const db = new DatabaseSync(folder.file, { readOnly: true });
    t.after(() => db.close());
    expectSmallGroups(groupsIn(db, "reading_index"), 2);
    expectSmallGroups(groupsIn(db, "list_index", "list = 'customer'"), 1);
  });
}
