// A program of the first version goes on writing while its database is migrated.

import assert from "node:assert/strict";
import { DatabaseSync } from "node:sqlite";
import test, { type TestContext } from "node:test";
import { migrate } from "../../src/store/sqlite/migrations.ts";
import { moveReadings } from "../../src/store/sqlite/move-readings.ts";
import { BLOCKS_AND_MILESTONES } from "../../src/store/sqlite/schema.ts";
import { databaseFolder } from "../support/stores.ts";
import { NaiveStore } from "./conformance/model.ts";
import { customer, NEW_YEAR, reading, tank } from "./conformance/objects.ts";
import { FirstVersion, OWNER } from "./first-version.ts";
import { compareEveryPage, compareExport, telemetryOf } from "./histories/compare.ts";
import { note } from "./histories/write.ts";
import { expectWhole, firstVersion } from "./migrated.ts";

/** The new tables are there, and some of the readings in them. */
async function halfWay(t: TestContext) {
  const made = firstVersion(t, 72_000);
  const { db } = made.old;
  db.exec(BLOCKS_AND_MILESTONES);
  let steps = 0;
  const change = <T>(work: () => T): T => {
    if (++steps > 3) throw new Error("half-way");
    return work();
  };
  await assert.rejects(
    moveReadings(change, db, () => {}),
    /half-way/,
  );
  assert.deepEqual([isFree(made.old, "long", NEW_YEAR), isFree(made.old, "gone", NEW_YEAR)], [true, false]);
  return made;
}

test("what a program of the first version still writes while the readings are moved is moved too", async (t) => {
  const { folder, model, old } = await halfWay(t);
  const late = [NEW_YEAR + 450_000, NEW_YEAR - 1, NEW_YEAR + 900_000 * 80_000].map((at) => reading(at, 12.5));
  // One that was moved already comes again, corrected.
  const sent = { long: [...late, reading(NEW_YEAR, 99.9)], middling: late, gone: late };
  for (const [id, readings] of Object.entries(sent)) {
    old.putReadings(
      id,
      readings.filter(({ created_at }) => isFree(old, id, created_at)),
    );
    note(model, { kind: "readings", readings: readings.map((one) => [id, one.created_at, one.fill_percentage] as const) });
  }
  old.db.close();
  await expectWhole(await folder.open(), model);
});

test("a program of the first version may write between any two steps", async (t) => {
  for (let moment = 1; moment <= 8; moment++) {
    const model = new NaiveStore();
    note(model, { kind: "customers", records: [{ customer: customer(OWNER), deleted: false }] });
    note(model, { kind: "tanks", records: [{ tank: tank("one", OWNER), deleted: false }] });
    note(model, { kind: "readings", readings: [["one", NEW_YEAR, 50]] });
    const folder = databaseFolder(t);
    const old = new FirstVersion(folder.file, model);
    let steps = 0;
    let isWritten = false;
    class Interrupted extends DatabaseSync {
      override exec(sql: string): void {
        if (sql === "BEGIN IMMEDIATE" && ++steps === moment && hasReadings(old)) {
          old.putReadings("one", [reading(NEW_YEAR + 1, 40)]);
          isWritten = true;
        }
        super.exec(sql);
      }
    }
    const db = new Interrupted(folder.file);
    await migrate(db);
    db.close();
    old.db.close();
    if (isWritten) note(model, { kind: "readings", readings: [["one", NEW_YEAR + 1, 40]] });
    await compareExport(await folder.open(), model);
  }
});

test("a tank that a program of the first version makes meanwhile keeps its readings", async (t) => {
  const { folder, model, old } = await halfWay(t);
  const made = tank("made meanwhile", OWNER);
  const readings = Array.from({ length: 400 }, (_, i) => reading(NEW_YEAR + i, i % 100));
  old.putTank(made, false);
  old.putReadings(made.id, readings);
  old.db.close();
  note(model, { kind: "tanks", records: [{ tank: made, deleted: false }] });
  note(model, { kind: "readings", readings: readings.map((one) => [made.id, one.created_at, one.fill_percentage] as const) });
  const store = await folder.open();
  await compareEveryPage(telemetryOf(made.id), store, model);
  await expectWhole(store, model);
});

/** Whether the old table has no reading of that instant. */
function isFree({ db }: FirstVersion, tankId: string, at: number): boolean {
  const sql = "SELECT 1 FROM reading r JOIN tank t ON t.pk = r.tank WHERE t.id = ? AND r.created_at = ?";
  return db.prepare(sql).get(tankId, at) === undefined;
}

/** Whether it can write yet: it ends with the table that it writes to. */
function hasReadings({ db }: FirstVersion): boolean {
  return db.prepare("SELECT 1 FROM sqlite_schema WHERE name = 'reading'").get() !== undefined;
}
