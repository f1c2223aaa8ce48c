// The database file goes away, comes back, or is held by someone else, while the store is in use.

import assert from "node:assert/strict";
import { copyFileSync, renameSync } from "node:fs";
import { DatabaseSync } from "node:sqlite";
import test from "node:test";
import { setTimeout } from "node:timers/promises";
import { RequestError } from "../../src/domain/errors.ts";
import { UNRESTRICTED } from "../../src/domain/key.ts";
import type { Store } from "../../src/domain/store.ts";
import { createKey, revokeKey, rotateKey } from "../support/commands.ts";
import { putReadings } from "../support/records.ts";
import { databaseFolder } from "../support/stores.ts";
import { until } from "../support/until.ts";
import {
  customer,
  customersOf,
  everything,
  key,
  managementQueries,
  NEW_YEAR,
  putCustomers,
  putTanks,
  readingsOf,
  tank,
  tanksOf,
  WHOLE,
} from "./conformance/objects.ts";

const isUnavailable = (error: unknown): boolean => error instanceof RequestError && error.code === "store_unavailable";

const answers = (store: Store) =>
  store.ping().then(
    () => true,
    () => false,
  );
const isLost = async (store: Store) => !(await answers(store));

async function filled(store: Store): Promise<void> {
  await putCustomers(store, customer("a"));
  await putTanks(store, tank("one", "a"));
  await putReadings(store, "one", [[1, 50]]);
}

test("while the file is away everything asked or written is store_unavailable, and all is well when it is back", async (t) => {
  const folder = databaseFolder(t);
  const store = await folder.open();
  await filled(store);
  const before = await everything(store);
  renameSync(folder.file, `${folder.file}.away`);
  await until("the loss", () => isLost(store));

  const asked: Record<string, () => Promise<unknown>> = {
    customerById: () => store.customerById("a", UNRESTRICTED),
    customerPage: () => customersOf(store),
    tankById: () => store.tankById("one", UNRESTRICTED),
    tankPage: () => tanksOf(store),
    telemetryPage: () => store.telemetryPage("one", WHOLE, UNRESTRICTED),
    keyByHash: () => store.keyByHash("hash"),
    ping: () => store.ping(),
    keyList: () => store.keyList(),
    isEmpty: () => store.isEmpty(),
    ...managementQueries(store),
    putCustomers: () => putCustomers(store, customer("lost")),
    putTanks: () => putTanks(store, tank("lost", "a")),
    acceptReadings: () => putReadings(store, "one", [[2, 50]]),
    createKey: () => createKey(store, key("lost"), "lost"),
    rotateKey: () => rotateKey(store, "k", { overlap: 0, newId: "lost", hash: "lost" }, NEW_YEAR),
    revokeKey: () => revokeKey(store, "k", NEW_YEAR),
    touchCustomers: () => store.updateLastSeen(new Map([["a", 1]])),
  };
  for (const [name, ask] of Object.entries(asked)) await assert.rejects(ask, isUnavailable, name);
  assert.deepEqual(
    folder.events.map(({ kind }) => kind),
    ["store_unavailable"],
  );

  renameSync(`${folder.file}.away`, folder.file);
  await until("the return", () => answers(store));
  assert.deepEqual(
    folder.events.map(({ kind }) => kind),
    ["store_unavailable", "store_recovered"],
  );
  assert.deepEqual(await everything(store), before);
  assert.deepEqual(await putCustomers(store, customer("b")), ["new"]);
  await store.close();
  assert.equal((await customersOf(await folder.open())).totalItems, 2);
});

test("backup, export and rehearsal of a file that is away are store_unavailable too", async (t) => {
  const folder = databaseFolder(t);
  const store = await folder.open();
  await filled(store);
  renameSync(folder.file, `${folder.file}.away`);
  await until("the loss", () => isLost(store));
  const noProgress = () => {};
  await assert.rejects(store.backup(`${folder.file}.copy`, noProgress), isUnavailable, "backup");
  await assert.rejects(everything(store), isUnavailable, "records");
  await assert.rejects(store.scratchCopy(noProgress), isUnavailable, "rehearsal");
});

test("a file put in the place of the one in use is not answered from", async (t) => {
  const folder = databaseFolder(t);
  const store = await folder.open();
  await filled(store);
  copyFileSync(folder.file, `${folder.file}.copy`);
  renameSync(`${folder.file}.copy`, folder.file);
  await until("the loss", () => isLost(store));
  await assert.rejects(putCustomers(store, customer("lost")), isUnavailable);
  assert.match(JSON.stringify(folder.events), /was replaced while in use; restart to serve the new file/);
});

test("while another program holds the database, reading goes on and a write waits its turn", async (t) => {
  const folder = databaseFolder(t);
  const store = await folder.open();
  await filled(store);
  const holder = new DatabaseSync(folder.file);
  t.after(() => holder.close());
  holder.exec("BEGIN IMMEDIATE; UPDATE customer SET name = 'Held'");
  let isWritten = false;
  const writing = putReadings(store, "one", [[2, 40]]).then(() => (isWritten = true));
  for (let i = 0; i < 20; i++) {
    const started = performance.now();
    assert.equal((await readingsOf(store, "one")).totalItems, 1);
    assert.equal((await customersOf(store)).data[0]?.name, "Customer a");
    assert.ok(performance.now() - started < 200, "an answer waited for the writer");
    await setTimeout(10);
  }
  assert.equal(isWritten, false);
  holder.exec("COMMIT");
  await writing;
  assert.equal((await readingsOf(store, "one")).totalItems, 2);
  assert.equal((await customersOf(store)).data[0]?.name, "Held");
});
