// Milestones stay small wherever a series grows: a page is found in a few steps. That they are right, the histories show.

import assert from "node:assert/strict";
import { DatabaseSync } from "node:sqlite";
import test from "node:test";
import { GROUP_MOST } from "../../src/store/series/levels.ts";
import { putReadings } from "../support/records.ts";
import { databaseFolder } from "../support/stores.ts";
import { customer, putCustomers, putTanks, tank } from "./conformance/objects.ts";

const LEVELS = {
  reading_milestone: "SELECT level, start AS at FROM reading_milestone ORDER BY level, start",
  list_milestone:
    "SELECT level, format('%020d', created_at) || id AS at FROM list_milestone WHERE series = 'customer' ORDER BY 1, 2",
};

/** Where the nodes of each level begin, lowest level first. */
function levelsIn(db: DatabaseSync, table: keyof typeof LEVELS): (number | string)[][] {
  const rows = db.prepare(LEVELS[table]).all() as { level: number; at: number | string }[];
  const levels: (number | string)[][] = [];
  for (const { level, at } of rows) levels[level] = [...(levels[level] ?? []), at];
  return levels;
}

function expectSmallGroups(levels: readonly (readonly (number | string)[])[], least: number): void {
  assert.ok(levels.length >= least, `${levels.length} levels`);
  levels.forEach((nodes, level) => {
    const groups = levels[level + 1] ?? [nodes[0] as number];
    assert.equal(groups[0], nodes[0], "a level begins where the one below does");
    groups.forEach((from, i) => {
      const to = groups[i + 1];
      const members = nodes.filter((at) => at >= from && (to === undefined || at < to)).length;
      assert.ok(members > 0 && members <= GROUP_MOST, `${members} nodes in a group of level ${level}`);
    });
  });
}

const ORDERS: Record<string, (step: number) => number> = {
  "in order": (step) => step,
  backwards: (step) => -step,
  "in one place": (step) => (step % 2 === 0 ? 1 : -1) / (step + 1),
};

for (const [words, place] of Object.entries(ORDERS)) {
  test(`groups stay small in series that grow ${words}`, async (t) => {
    const folder = databaseFolder(t);
    const store = await folder.open();
    await putCustomers(store, customer("owner", { created_at: 0 }));
    await putTanks(store, tank("one", "owner"));
    const steps = 80;
    for (let step = 0; step < steps; step++) {
      const at = (i: number): number => Math.floor(place(step) * 1e9) + i;
      const hundred = Array.from({ length: 100 }, (_, i) => customer(`c${step} ${i}`, { created_at: 1e12 + at(i) }));
      await putCustomers(store, ...hundred);
      const readings = Array.from({ length: 1000 }, (_, i) => [at(i), 50] as const);
      await putReadings(store, "one", readings);
    }
    const db = new DatabaseSync(folder.file, { readOnly: true });
    t.after(() => db.close());
    expectSmallGroups(levelsIn(db, "reading_milestone"), 2);
    expectSmallGroups(levelsIn(db, "list_milestone"), 2);
  });
}
