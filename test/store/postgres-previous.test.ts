// A database of version 2 becomes one of the newest: its devices and its fleet are made from its tanks.

import assert from "node:assert/strict";
import test from "node:test";
import type { ExportRecord, Store } from "../../src/domain/store.ts";
import { FIRST } from "../../src/store/postgres/schema.ts";
import { type Database, openedOn, postgresDatabase } from "../support/postgres/database.ts";
import type { Lifetime } from "../support/service.ts";
import { EUI, expectBroughtOver, expectTwins, fillPrevious, OLD_TABLES } from "./previous-version.ts";

const COLUMNS = `SELECT column_name::text AS name FROM information_schema.columns
  WHERE table_schema = current_schema() AND table_name = $1 ORDER BY ordinal_position`;

/** The tables as version 2 made them, and the rows as it wrote them. */
async function previous(life: Lifetime): Promise<{ database: Database; before: ExportRecord[] }> {
  const filled = await postgresDatabase(life, { locale: "en-US" });
  const { store } = await openedOn({ after: filled.closeFirst }, filled.url);
  const before = await fillPrevious(store);
  const database = await postgresDatabase(life, { locale: "en-US" });
  await database.query("CREATE TABLE tank_monitor (version integer NOT NULL)");
  await database.query("INSERT INTO tank_monitor VALUES (2)");
  await database.query(FIRST);
  for (const table of OLD_TABLES) await copy(filled, database, table);
  return { database, before };
}

async function copy(from: Database, to: Database, table: string): Promise<void> {
  const columns = (await to.query<{ name: string }>(COLUMNS, [table])).map(({ name }) => name);
  const places = columns.map((_, i) => `$${i + 1}`).join(", ");
  for (const row of await from.query(`SELECT ${columns.join(", ")} FROM ${table}`)) {
    const values = columns.map((column) => row[column]);
    await to.query(`INSERT INTO ${table} (${columns.join(", ")}) VALUES (${places})`, values);
  }
}

const opened = async ({ url, closeFirst }: Database): Promise<Store> => (await openedOn({ after: closeFirst }, url)).store;

test("a database of version 2 has devices and a fleet when it is opened, and all that it had", async (t) => {
  const { database, before } = await previous(t);
  await expectBroughtOver(await opened(database), before);
  assert.deepEqual(await database.query("SELECT version FROM tank_monitor"), [{ version: 4 }]);
});

test("one where two tanks have one device, in another case each, is opened, and that is told", async (t) => {
  const { database } = await previous(t);
  await database.query("UPDATE tank SET assigned_device_id = $1 WHERE id = 'twin'", [EUI.toLowerCase()]);
  await expectTwins(await opened(database));
});
