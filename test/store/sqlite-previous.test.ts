// A database of version 3 becomes one of the newest: its devices and its fleet are made from its tanks.

import assert from "node:assert/strict";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import test from "node:test";
import type { ExportRecord } from "../../src/domain/store.ts";
import { BLOCKS_AND_MILESTONES, FIRST, WITHOUT_READINGS } from "../../src/store/sqlite/schema.ts";
import { startScript } from "../support/script.ts";
import type { Lifetime } from "../support/service.ts";
import { type DatabaseFolder, databaseFolder } from "../support/stores.ts";
import { EUI, expectBroughtOver, expectTwins, fillPrevious, OLD_TABLES } from "./previous-version.ts";

/** The tables as version 3 made them, and the rows as it wrote them. */
async function previous(life: Lifetime): Promise<{ folder: DatabaseFolder; db: DatabaseSync; before: ExportRecord[] }> {
  const folder = databaseFolder(life);
  const filled = join(folder.path, "filled.db");
  const store = await folder.open(filled);
  const before = await fillPrevious(store);
  await store.close();
  const db = new DatabaseSync(folder.file, { enableForeignKeyConstraints: false });
  db.exec("PRAGMA journal_mode = wal");
  for (const step of [FIRST, BLOCKS_AND_MILESTONES, WITHOUT_READINGS]) db.exec(step);
  db.exec(`PRAGMA application_id = ${0x544e4b4d}; PRAGMA user_version = 3`);
  db.prepare("ATTACH ? AS filled").run(filled);
  for (const table of OLD_TABLES) {
    const columns = db
      .prepare("SELECT name FROM pragma_table_info(?, 'main')")
      .all(table)
      .map(({ name }) => name);
    db.exec(`INSERT INTO main.${table} (${columns.join(", ")}) SELECT ${columns.join(", ")} FROM filled.${table}`);
  }
  db.exec("DETACH filled");
  return { folder, db, before };
}

test("a database of version 3 has devices and a fleet when it is opened, and all that it had", async (t) => {
  const { folder, db, before } = await previous(t);
  db.close();
  await expectBroughtOver(await folder.open(), before);
  const look = new DatabaseSync(folder.file, { readOnly: true });
  assert.equal(look.prepare("PRAGMA user_version").get()?.["user_version"], 5);
  look.close();
});

test("one where two tanks have one device, in another case each, is opened, and that is told", async (t) => {
  const { folder, db } = await previous(t);
  db.prepare("UPDATE tank SET assigned_device_id = ? WHERE id = 'twin'").run(EUI.toLowerCase());
  db.close();
  await expectTwins(await folder.open());
});

test("processes that open it at once all succeed, and it is brought over once", async (t) => {
  const { folder, db, before } = await previous(t);
  db.close();
  const processes = Array.from({ length: 3 }, () => startScript(t, "opens.ts"));
  for (const { next } of processes) assert.equal(await next(), "ready");
  for (const { tell } of processes) tell(folder.file);
  for (const { next } of processes) assert.equal(await next(), "not empty");
  await expectBroughtOver(await folder.open(), before);
});
