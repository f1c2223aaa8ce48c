// A scratch copy is in temporary tables of one connection: neither the URL nor a long pause may lead it to others.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import test, { mock } from "node:test";
import { openPool } from "../../src/store/postgres/connection.ts";
import { openedOn, postgresDatabase } from "../support/postgres/database.ts";
import type { Lifetime } from "../support/service.ts";
import { temporaryFolder } from "../support/temporary-folder.ts";
import { customer, customersOf, everything, putCustomers } from "./conformance/objects.ts";

const noProgress = () => {};

/** A store whose timers run only when the test advances them. */
async function withMockTimers(t: Lifetime) {
  const database = await postgresDatabase(t);
  const life = { after: database.closeFirst };
  mock.timers.enable({ apis: ["setTimeout"] });
  life.after(() => mock.timers.reset());
  const { store } = await openedOn(life, database.url);
  await putCustomers(store, customer("a"));
  return { store, life };
}

test("options in the URL neither lead a scratch copy to the real tables nor change how statements are planned", async (t) => {
  const database = await postgresDatabase(t);
  const life = { after: database.closeFirst };
  const url = `${database.url}?options=-c%20search_path%3Dpublic%20-c%20enable_seqscan%3Don%20-c%20geqo%3Doff`;
  const { store } = await openedOn(life, url);
  const copy = await store.scratchCopy(noProgress);
  life.after(() => copy.close());
  assert.deepEqual(await putCustomers(copy, customer("tried")), ["new"]);
  assert.equal((await customersOf(copy)).totalItems, 1);
  assert.deepEqual(await everything(store), []);

  const pool = openPool(url, 1, { schema: "public" });
  life.after(() => pool.end());
  const shown = async (setting: string) => (await pool.query({ text: `SHOW ${setting}`, rowMode: "array" })).rows[0];
  assert.deepEqual(await shown("enable_seqscan"), ["off"]);
  assert.deepEqual(await shown("geqo"), ["off"], "other settings are the operator's");
});

test("a scratch copy is still there after a long pause", async (t) => {
  const { store, life } = await withMockTimers(t);
  const copy = await store.scratchCopy(noProgress);
  life.after(() => copy.close());
  await putCustomers(copy, customer("tried"));
  mock.timers.tick(3_600_000);
  assert.equal((await customersOf(copy)).totalItems, 2);
});

test("a backup and a scratch copy may take longer than any statement", async (t) => {
  const { store, life } = await withMockTimers(t);
  /** Once it reports progress, a minute passes in every turn of the event loop. */
  async function slowly<T>(work: (progress: () => void) => Promise<T>): Promise<T> {
    let isRunning: boolean | undefined;
    const pass = () => {
      if (isRunning !== true) return;
      mock.timers.tick(60_000);
      setImmediate(pass);
    };
    const result = await work(() => {
      if (isRunning === undefined) setImmediate(pass);
      isRunning = true;
    });
    assert.equal(isRunning, true);
    isRunning = false;
    return result;
  }
  const file = join(temporaryFolder(life), "copy");
  await slowly((progress) => store.backup(file, progress));
  assert.match(readFileSync(file, "utf8"), /^a\t/m);
  const copy = await slowly((progress) => store.scratchCopy(progress));
  life.after(() => copy.close());
  assert.equal((await customersOf(copy)).totalItems, 1);
});
