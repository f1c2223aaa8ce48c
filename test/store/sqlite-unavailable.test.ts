// The database file is moved away or replaced, or locked by another program, while a store is in use.

import assert from "node:assert/strict";
import { copyFileSync, renameSync, statSync, truncateSync } from "node:fs";
import { DatabaseSync } from "node:sqlite";
import test from "node:test";
import { setTimeout } from "node:timers/promises";
import type { Store } from "../../src/domain/store.ts";
import { isUnavailable, succeeds } from "../support/postgres/database.ts";
import { putReadings } from "../support/records.ts";
import { type DatabaseFolder, databaseFolder } from "../support/stores.ts";
import { until } from "../support/until.ts";
import { checked, customer, customersOf, everything, putCustomers, readingsOf } from "./conformance/objects.ts";
import { fillForCalls, maintenanceCalls, readCalls, writeCalls } from "./store-calls.ts";

test("while the file is moved away every call fails with store_unavailable, and everything works when it is back", async (t) => {
  const folder = databaseFolder(t);
  const store = await folder.open();
  await fillForCalls(store);
  const before = await everything(store);
  renameSync(folder.file, `${folder.file}.moved`);
  await until("the loss", async () => !(await succeeds(store.ping())));
  const { check: _, ...maintenance } = maintenanceCalls(store, folder.path);
  const calls = { ...readCalls(store), ...writeCalls(store, "lost"), ...maintenance };
  for (const [name, call] of Object.entries(calls)) await assert.rejects(call, isUnavailable, name);
  const eventKinds = () => folder.events.map(({ kind }) => kind);
  assert.deepEqual(eventKinds(), ["store_unavailable"]);

  renameSync(`${folder.file}.moved`, folder.file);
  await until("the recovery", () => succeeds(store.ping()));
  assert.deepEqual(eventKinds(), ["store_unavailable", "store_recovered"]);
  assert.deepEqual(await everything(store), before);
  assert.deepEqual(await putCustomers(store, customer("b")), ["new"]);
  await store.close();
  assert.equal((await customersOf(await folder.open())).totalItems, 2);
});

test("a file that replaced the one in use is not read", async (t) => {
  const folder = databaseFolder(t);
  const store = await folder.open();
  await fillForCalls(store);
  copyFileSync(folder.file, `${folder.file}.copy`);
  renameSync(`${folder.file}.copy`, folder.file);
  await until("the loss", async () => !(await succeeds(store.ping())));
  await assert.rejects(putCustomers(store, customer("lost")), isUnavailable);
  assert.match(JSON.stringify(folder.events), /was replaced while in use; restart to serve the new file/);
});

test("while another program holds the write lock, reads go on and a write waits", async (t) => {
  const folder = databaseFolder(t);
  const store = await folder.open();
  await fillForCalls(store);
  const holder = new DatabaseSync(folder.file, { timeout: 5000 });
  t.after(() => holder.close());
  holder.exec("BEGIN IMMEDIATE; UPDATE customer SET name = 'Held'");
  let isWritten = false;
  const writing = putReadings(store, "one", [[2, 40]]).then(() => (isWritten = true));
  // A read that waited for the writer would wait for as long as the lock is held.
  for (let i = 0; i < 20; i++) {
    assert.equal((await readingsOf(store, "one")).totalItems, 1);
    assert.equal((await customersOf(store)).data[0]?.name, "Customer a");
    await setTimeout(10);
  }
  assert.equal(isWritten, false);
  holder.exec("COMMIT");
  await writing;
  assert.equal((await readingsOf(store, "one")).totalItems, 2);
  assert.equal((await customersOf(store)).data[0]?.name, "Held");
});

for (const suffix of ["-wal", "-shm", ""]) {
  test(`nothing is acknowledged once tank-monitor.db${suffix} is gone, and what was acknowledged before is kept`, async (t) => {
    const folder = databaseFolder(t);
    const store = await folder.open();
    await fillForCalls(store);
    await putReadings(store, "one", [[2, 40]]);
    const lost = `${folder.file}${suffix}`;
    const moved = `${folder.path}/moved`;
    renameSync(lost, moved);
    await assert.rejects(putReadings(store, "one", [[3, 30]]), isUnavailable);
    const logSize = () => statSync(suffix === "-wal" ? moved : `${folder.file}-wal`).size;
    const logged = logSize();
    await assert.rejects(putReadings(store, "one", [[4, 20]]), isUnavailable);
    assert.equal(logSize(), logged, "nothing more is written");
    const reasons = () => folder.events.map((event) => ("reason" in event ? event.reason : ""));
    assert.match(
      reasons()[0] ?? "",
      suffix === "" ? /cannot be found/ : /was removed or replaced while in use; stop the service/,
    );
    await until("reads are refused", async () => !(await succeeds(store.ping())));
    if (suffix === "") renameSync(moved, lost);
    await store.close();
    const { data } = await readingsOf(await folder.open(), "one");
    assert.ok(data.some((one) => one.created_at === 2 && one.fill_percentage === 40));
  });
}

/** What a process that is killed leaves: one that stops writes the log into the database. */
async function openCopy({ file, open, path }: DatabaseFolder): Promise<Store> {
  const copy = `${path}/copy.db`;
  for (const suffix of ["", "-wal"]) copyFileSync(file + suffix, copy + suffix);
  return open(copy);
}

for (const [name, sizeOf, appended] of [
  ["emptied", () => 0, ""],
  ["emptied, and another program has written behind its end", () => 0, "UPDATE customer SET name = 'Other'"],
  ["truncated within its last frame", (size: number) => size - 1, ""],
] as const) {
  test(`nothing is acknowledged once tank-monitor.db-wal is ${name}`, async (t) => {
    const folder = databaseFolder(t);
    const before = await folder.open();
    await fillForCalls(before);
    // When it closes, the log is written into the database.
    await before.close();
    const store = await folder.open();
    await putReadings(store, "one", [[2, 40]]);
    using program = new DatabaseSync(folder.file, { timeout: 5000 });
    program.exec("SELECT count(*) FROM customer");
    const log = `${folder.file}-wal`;
    truncateSync(log, sizeOf(statSync(log).size));
    program.exec(appended);
    await assert.rejects(putReadings(store, "one", [[3, 30]]), isUnavailable);
    await until("reads are refused", async () => !(await succeeds(store.ping())));
    assert.match(JSON.stringify(folder.events), /db-wal was truncated while in use; end the service with SIGKILL/);
    const restarted = await openCopy(folder);
    assert.deepEqual((await checked(restarted)).findings, []);
    assert.deepEqual(
      (await readingsOf(restarted, "one")).data.map(({ created_at }) => created_at),
      [1],
    );
  });
}
