// A database of the first version becomes one of the newest: whole, with progress, and whatever comes in between.

import assert from "node:assert/strict";
import { DatabaseSync } from "node:sqlite";
import test from "node:test";
import { setTimeout } from "node:timers/promises";
import { seeded } from "../../src/simulate/random.ts";
import { startScript } from "../support/script.ts";
import { databaseFolder } from "../support/stores.ts";
import { NaiveStore } from "./conformance/model.ts";
import { FirstVersion } from "./first-version.ts";
import { expectNewest, expectWhole, firstVersion, seed } from "./migrated.ts";

test("a database of the first version is moved whole, and progress is told up to the end", async (t) => {
  const { folder, model, old, all } = firstVersion(t, 72_000);
  old.db.close();
  const store = await folder.open();
  expectNewest(folder);
  await expectWhole(store, model);
  const told = folder.events.flatMap((event) => (event.kind === "migrating" ? [event] : []));
  assert.ok(told.length > 2, "several steps are told");
  assert.ok(told.every(({ total }) => total === all));
  assert.deepEqual(told.at(-1), { kind: "migrating", done: all, total: all });
  assert.ok(told.every(({ done }, i) => done > (told[i - 1]?.done ?? 0)));
  await store.close();
  await folder.open();
  assert.equal(folder.events.filter(({ kind }) => kind === "migrating").length, told.length, "there is nothing to move again");
});

test("a database of the first version without readings, and one without anything, are moved too", async (t) => {
  const { folder, model, old } = firstVersion(t, 0);
  old.db.close();
  await expectWhole(await folder.open(), model);
  const empty = databaseFolder(t);
  new FirstVersion(empty.file, new NaiveStore()).db.close();
  assert.equal(await (await empty.open()).isEmpty(), true);
  expectNewest(empty, false);
});

test("a migration that is killed at any moment goes on where it was", async (t) => {
  const { folder, model, old, all } = firstVersion(t, 100_000);
  old.db.close();
  const random = seeded(seed);
  let kills = 0;
  for (let isDone = false; !isDone; ) {
    const { child, next, tell, ended } = startScript(t, "opens.ts");
    assert.equal(await next(), "ready");
    tell(folder.file);
    // At first in the middle of opening, later in the middle of moving.
    const said = kills < 2 ? "" : await next();
    isDone = said === "not empty";
    assert.match(said ?? "it ended", /^(migrating \d+ of \d+|not empty|)$/);
    await setTimeout(random.between(0, 60));
    child.kill("SIGKILL");
    await ended;
    kills++;
    assert.equal(readingsIn(folder.file), all, `seed ${seed}, kill ${kills}: readings that were moved, and that were not`);
  }
  t.diagnostic(`killed ${kills} times`);
  const store = await folder.open();
  expectNewest(folder);
  await expectWhole(store, model);
});

/** In the old table and the new ones. */
function readingsIn(file: string): number {
  const db = new DatabaseSync(file);
  const has = (name: string): boolean => db.prepare("SELECT 1 FROM sqlite_schema WHERE name = ?").get(name) !== undefined;
  const count = (sql: string): number => Number(db.prepare(sql).get()?.["count"]);
  const moved = has("telemetry") ? count("SELECT sum(total) AS count FROM telemetry") : 0;
  const left = has("reading") ? count("SELECT count(*) AS count FROM reading") : 0;
  db.close();
  return moved + left;
}

test("processes that migrate one database at once all succeed, and nothing is moved twice", async (t) => {
  const { folder, model, old } = firstVersion(t, 72_000);
  old.db.close();
  const processes = Array.from({ length: 3 }, () => startScript(t, "opens.ts"));
  for (const { next } of processes) assert.equal(await next(), "ready");
  for (const { tell } of processes) tell(folder.file);
  for (const { next } of processes) {
    let said = await next();
    while (said?.startsWith("migrating") === true) said = await next();
    assert.equal(said, "not empty");
  }
  expectNewest(folder);
  await expectWhole(await folder.open(), model);
});

test("a database of the version that was never released is refused, with what to do", async (t) => {
  const folder = databaseFolder(t);
  await (await folder.open()).close();
  const db = new DatabaseSync(folder.file);
  db.exec("PRAGMA user_version = 2");
  await assert.rejects(folder.open(), /never released \(database version 2\)\. Export it with the program that made it/);
  // One that such a program has moved half-way.
  db.exec("PRAGMA user_version = 1; ALTER TABLE reading_milestone RENAME COLUMN aheads TO ahead");
  db.close();
  await assert.rejects(folder.open(), /never released/);
});
