// Copies of everything. A rehearsal lives in temporary tables of one connection: neither the URL nor a long pause may lead
// it anywhere else.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import test, { mock } from "node:test";
import { openPool } from "../../src/store/postgres/connection.ts";
import { openedOn, postgresDatabase } from "../support/postgres/database.ts";
import { temporaryFolder } from "../support/service.ts";
import { customer, customersOf, everything, putCustomers } from "./conformance/objects.ts";

const noProgress = () => {};

test("options in the URL neither lead a rehearsal to the real tables, nor undo how statements are planned", async (t) => {
  const database = await postgresDatabase(t);
  const life = { after: database.closeFirst };
  const url = `${database.url}?options=-c%20search_path%3Dpublic%20-c%20enable_seqscan%3Don%20-c%20geqo%3Doff`;
  const { store } = await openedOn(life, url);
  const copy = await store.scratchCopy(noProgress);
  life.after(() => copy.close());
  assert.deepEqual(await putCustomers(copy, customer("tried")), ["new"]);
  assert.equal((await customersOf(copy)).totalItems, 1);
  assert.deepEqual(await everything(store), []);

  const pool = openPool(url, 1);
  life.after(() => pool.end());
  const shown = async (setting: string) => (await pool.query({ text: `SHOW ${setting}`, rowMode: "array" })).rows[0];
  assert.deepEqual(await shown("enable_seqscan"), ["off"]);
  assert.deepEqual(await shown("geqo"), ["off"], "what we have no need for is the operator's");
});

test("a rehearsal whose file comes in slowly is still there after a pause", async (t) => {
  const database = await postgresDatabase(t);
  const life = { after: database.closeFirst };
  const { store } = await openedOn(life, database.url);
  mock.timers.enable({ apis: ["setTimeout"] });
  life.after(() => mock.timers.reset());
  const copy = await store.scratchCopy(noProgress);
  life.after(() => copy.close());
  await putCustomers(copy, customer("tried"));
  mock.timers.tick(3_600_000);
  assert.equal((await customersOf(copy)).totalItems, 1);
});

test("a copy of everything may take longer than any statement", async (t) => {
  const database = await postgresDatabase(t);
  const life = { after: database.closeFirst };
  const { store } = await openedOn(life, database.url);
  await putCustomers(store, customer("a"));
  mock.timers.enable({ apis: ["setTimeout"] });
  life.after(() => mock.timers.reset());
  /** Once it is under way, a minute passes whenever there is time for it. */
  async function slowly<T>(work: (progress: () => void) => Promise<T>): Promise<T> {
    let isUnderWay: boolean | undefined;
    const pass = () => {
      if (isUnderWay !== true) return;
      mock.timers.tick(60_000);
      setImmediate(pass);
    };
    const made = await work(() => {
      if (isUnderWay === undefined) setImmediate(pass);
      isUnderWay = true;
    });
    assert.equal(isUnderWay, true);
    isUnderWay = false;
    return made;
  }
  const file = join(temporaryFolder(life), "copy");
  await slowly((progress) => store.backup(file, progress));
  assert.match(readFileSync(file, "utf8"), /^a\t/m);
  const copy = await slowly((progress) => store.scratchCopy(progress));
  life.after(() => copy.close());
  assert.equal((await customersOf(copy)).totalItems, 1);
});
