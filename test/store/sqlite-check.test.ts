// Damage done to a database by hand, one thing at a time: the check finds it, names it, repairs what can be derived, and
// says of the rest what to do.

import assert from "node:assert/strict";
import { closeSync, copyFileSync, mkdtempSync, openSync, rmSync, writeSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { after, before, suite, type TestContext, test } from "node:test";
import type { Store } from "../../src/domain/store.ts";
import { openStore } from "../../src/store/open.ts";
import { databaseFolder } from "../support/stores.ts";
import { checked, readingsOf } from "./conformance/objects.ts";
import { behindIndex, type Damage, OF_LONG_LISTS, REPAIRABLE, TWINS, UNREPAIRABLE } from "./damage/damage.ts";
import { expectRepair, expectTold } from "./damage/expected.ts";
import { answers, fill, READINGS, SMALL, TANKS } from "./damage/fleet.ts";
import { FLEET_DAMAGE, REPAIRABLE_SHARED, UNREPAIRABLE_SHARED } from "./damage/shared-damage.ts";

type Fleet = "small" | "narrow" | "wide";
const SIZES: Readonly<Record<Fleet, readonly [tanks: number, readings?: number]>> = {
  small: SMALL,
  narrow: [TANKS.narrow],
  wide: [TANKS.wide],
};

suite("a database that was damaged", () => {
  const folder = mkdtempSync(join(tmpdir(), "tank-monitor-"));
  const sound = (fleet: Fleet): string => join(folder, `${fleet}.db`);
  const expected = new Map<Fleet, unknown>();

  before(async () => {
    for (const fleet of ["small", "narrow", "wide"] as const) {
      const store = await openStore(`sqlite:${sound(fleet)}`, () => {});
      await fill(store, ...SIZES[fleet]);
      expected.set(fleet, await answers(store));
      assert.deepEqual((await checked(store)).findings, []);
      await store.close();
    }
  });
  after(() => rmSync(folder, { recursive: true, force: true }));

  /** A copy of a sound one, with the damage done to it. */
  async function damaged(t: TestContext, damage: Damage["do"], fleet: Fleet = "narrow"): Promise<Store> {
    const { file, open } = databaseFolder(t);
    copyFileSync(sound(fleet), file);
    const db = new DatabaseSync(file, { enableForeignKeyConstraints: false });
    if (typeof damage === "string") db.exec(damage);
    else damage(db);
    db.close();
    return open();
  }

  function testsRepair(damage: Damage, fleet: Fleet): void {
    test(`${damage.name}: found, named, repaired, and right again`, async (t) => {
      const store = await damaged(t, damage.do, fleet);
      await expectRepair(store, [damage.where], damage.what);
      assert.deepEqual(await answers(store), expected.get(fleet));
    });
  }
  for (const damage of REPAIRABLE) testsRepair(damage, "narrow");
  for (const damage of OF_LONG_LISTS) testsRepair(damage, "wide");

  for (const { name, sql, where, what } of [...FLEET_DAMAGE.sqlite, ...REPAIRABLE_SHARED]) {
    test(`${name}: found, named, repaired, and right again`, async (t) => {
      const store = await damaged(t, sql, "small");
      await expectRepair(store, where, what);
      assert.deepEqual(await answers(store), expected.get("small"));
    });
  }
  for (const { name, sql, where, what } of UNREPAIRABLE_SHARED) {
    test(`${name}: found and named, and left`, async (t) => expectTold(await damaged(t, sql, "small"), where, what));
  }

  for (const damage of UNREPAIRABLE) {
    test(`${damage.name}: found and named, with what to do`, async (t) => {
      await expectTold(await damaged(t, damage.do), [damage.where], damage.what);
    });
  }

  test("a head that is gone is made anew, and what was in it is told to be lost", async (t) => {
    const store = await damaged(t, "DELETE FROM head WHERE tank IN (SELECT pk FROM tank WHERE id IN ('long', 'short'))");
    const { findings } = await checked(store, true);
    const lost = /its head is missing; up to 192 of its newest readings may be lost/;
    const inFleet = /the fleet says/;
    assert.deepEqual(
      findings.map(({ where, what, repaired }) => [where, lost.test(what), inFleet.test(what), repaired]),
      ["long", "short"].flatMap((id) => [
        [`tank ${id}`, true, false, true],
        [`tank ${id}`, false, true, true],
      ]),
    );
    assert.deepEqual((await checked(store)).findings, []);
    assert.deepEqual(await readingsOf(store, "short"), { data: [], totalItems: 0 });
    const { totalItems, data } = await readingsOf(store, "long");
    assert.ok(totalItems < READINGS && totalItems >= READINGS - 160);
    assert.equal(data[0]?.created_at, (totalItems - 1) * 1000);
  });

  test("a missing block shows in the total and the rank index, and a repair keeps the rest", async (t) => {
    const gone = "SELECT pk FROM block ORDER BY start LIMIT 1 OFFSET 10";
    const store = await damaged(t, `DELETE FROM block WHERE pk = (${gone})`);
    const { findings } = await checked(store, true);
    assert.match(findings[0]?.what ?? "", /it has 69872 readings, the total says 70000/);
    assert.ok(findings.every(({ where, repaired }) => where === "tank long" && repaired));
    assert.deepEqual((await checked(store)).findings, []);
    assert.equal((await readingsOf(store, "long", { from: 1_281_000 })).totalItems, READINGS - 1281 - 127);
  });

  test("a mark of deletion that is none is told, and the counts are of what is not deleted", async (t) => {
    const store = await damaged(t, "UPDATE tank SET deleted = 2 WHERE id = 't7'");
    const { findings } = await checked(store, true);
    assert.deepEqual(
      findings.map(({ where, repaired }) => [where, repaired]),
      [
        ["customer c0", true],
        ["tank t7", false],
        ["device device of t7", true],
        ["list of all tanks", true],
        ["list of the tanks of customer c0", true],
      ],
    );
    const left = (await checked(store)).findings;
    assert.deepEqual(
      left.map(({ what }) => what),
      ["deleted: should be 0 or 1, it is 2; correct it and import it again"],
    );
  });

  test("an index that cannot be made anew is left, and what stands in its way is told", async (t) => {
    const store = await damaged(t, (db) => behindIndex(db, "tank_by_device", TWINS));
    const { findings } = await checked(store, true);
    assert.deepEqual(new Set(findings.map(({ where }) => where)), new Set(["the database", "device moved"]));
    assert.ok(findings.every(({ repaired }) => !repaired));
  });

  test("the rank index of a list that has shrunk is right", async (t) => {
    const store = await damaged(t, "", "wide");
    await store.importTanks(Array.from({ length: TANKS.wide }, (_, i) => ({ remove: `t${i}` })));
    assert.deepEqual((await checked(store)).findings, []);
  });

  test("a file with a page overwritten is told, and nothing is written to it", async (t) => {
    const store = await damaged(t, (db) => {
      const [page] = Object.values(db.prepare("SELECT rootpage FROM sqlite_schema WHERE name = 'tank_by_owner'").get() ?? {});
      const { file } = db.prepare("SELECT file FROM pragma_database_list").get() ?? {};
      const descriptor = openSync(String(file), "r+");
      writeSync(descriptor, Buffer.alloc(2000, 0x5a), 0, 2000, (Number(page) - 1) * 4096);
      closeSync(descriptor);
    });
    for (const repair of [false, true]) {
      const { findings } = await checked(store, repair);
      assert.ok(findings.length > 0);
      for (const { where, what, repaired } of findings) {
        assert.deepEqual([where, repaired], ["the database", false]);
        assert.match(what, /: restore a backup$/);
      }
    }
  });
});
