// The writer thread: when it ends, writes fail and are possible again as soon as it can start.

import assert from "node:assert/strict";
import { mkdirSync, renameSync, rmdirSync } from "node:fs";
import { DatabaseSync } from "node:sqlite";
import test from "node:test";
import { DEFAULT_ALERT_SETTINGS } from "../../src/domain/alerts/evaluate.ts";
import { RequestError } from "../../src/domain/errors.ts";
import type { IngestResult } from "../../src/domain/reading.ts";
import { StoreThread } from "../../src/store/sqlite/thread.ts";
import { incomingBatch, outcomeNames } from "../support/readings.ts";
import { customerRecord, putReadings, tankRecord } from "../support/records.ts";
import { databaseFolder } from "../support/stores.ts";
import { until } from "../support/until.ts";
import { checked, readingsOf } from "./conformance/objects.ts";

const WRITER_THREAD = new URL("../../src/store/sqlite/writer-thread.ts", import.meta.url);

function openWriter(file: string, lost: (reason: string) => void = () => {}): StoreThread {
  return new StoreThread(WRITER_THREAD, { file, alerts: DEFAULT_ALERT_SETTINGS }, lost, () => {});
}

test("a thread that cannot open its database fails writes, reports it, and starts again until it can", async (t) => {
  const folder = databaseFolder(t);
  await (await folder.open()).close();
  renameSync(folder.file, `${folder.file}.away`);
  mkdirSync(folder.file);
  const reasons: string[] = [];
  const writer = openWriter(folder.file, (reason) => reasons.push(reason));
  t.after(() => writer.close());
  await assert.rejects(
    writer.call("importCustomers", [[customerRecord("a")], { by: "test", at: 0 }]),
    (error) => error instanceof RequestError && error.code === "store_unavailable",
  );
  assert.match(reasons[0] ?? "", /unable to open/);
  rmdirSync(folder.file);
  renameSync(`${folder.file}.away`, folder.file);
  await until("a write that succeeds", async () => {
    const written = (await writer
      .call("importCustomers", [[customerRecord("a")], { by: "test", at: 0 }])
      .catch(() => [])) as readonly unknown[];
    return written[0] === "new" || written[0] === "unchanged";
  });
});

test("what cannot be passed to the thread fails at once, and nothing is pending when the thread ends", async (t) => {
  const folder = databaseFolder(t);
  await (await folder.open()).close();
  const unhandled: unknown[] = [];
  const record = (error: unknown) => unhandled.push(error);
  process.on("unhandledRejection", record);
  t.after(() => process.off("unhandledRejection", record));
  const writer = openWriter(folder.file);
  const deep: unknown = JSON.parse("[".repeat(100_000) + "]".repeat(100_000));
  const customer = { ...customerRecord("a"), phone: deep } as unknown as ReturnType<typeof customerRecord>;
  await assert.rejects(writer.call("importCustomers", [[customer], { by: "test", at: 0 }]), RangeError);
  await writer.close();
  await new Promise((turn) => setImmediate(turn));
  assert.deepEqual(unhandled, []);
});

test("a batch that fails is rolled back, and those written with it are stored", async (t) => {
  const folder = databaseFolder(t);
  const store = await folder.open();
  await store.importCustomers([customerRecord("a")], { by: "test", at: 0 });
  const ids = ["one", "two", "three"];
  const tanks = ids.map((id) => tankRecord(id, "a", { assigned_device_id: `d-${id}` }));
  await store.importTanks(tanks, { by: "test", at: 0 });
  for (const id of ids) await putReadings(store, id, [[1, 50]]);
  const writer = openWriter(folder.file);
  t.after(() => writer.close());
  // The second reading fails after the first is stored.
  const db = new DatabaseSync(folder.file);
  t.after(() => db.close());
  db.exec("CREATE TRIGGER fails BEFORE UPDATE ON fleet WHEN new.tank = 'two' BEGIN SELECT RAISE(ABORT, 'fails'); END");
  const failing = incomingBatch(["one", "two"].map((tank) => ({ tank, at: 2, fill: 50 })));
  const ends = await Promise.allSettled([
    writer.call("ingest", [incomingBatch([{ tank: "three", at: 2, fill: 51 }])]),
    writer.call("ingest", [failing]),
    writer.call("ingest", [incomingBatch([{ device: "d-three", at: 3, fill: 52 }])]),
  ]);
  assert.deepEqual(
    ends.map((end) => (end.status === "fulfilled" ? outcomeNames(end.value as IngestResult) : "failed")),
    [["stored"], "failed", ["stored"]],
  );
  db.exec("DROP TRIGGER fails");
  assert.deepEqual(
    await Promise.all(ids.map(async (id) => (await readingsOf(store, id)).data.map((one) => one.fill_percentage))),
    [[50], [50], [52, 51, 50]],
  );
  assert.deepEqual((await checked(store)).findings, []);
});

test("shapes of many tanks, new or not, do not hold up the writer while many devices have pending readings", async (t) => {
  const folder = databaseFolder(t);
  const store = await folder.open();
  t.after(() => store.close());
  await store.importCustomers([customerRecord("c")]);
  const numbers = "WITH RECURSIVE number (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM number WHERE n < 10000)";
  using db = new DatabaseSync(folder.file);
  db.exec(`${numbers} INSERT INTO device (id, pending, checksum) SELECT 'pending ' || n, 1, 0 FROM number`);
  for (const height of [1, 2]) {
    const tanks = Array.from({ length: 500 }, (_, i) =>
      tankRecord(`t${i}`, "c", { shape: { kind: "upright", unit: "m", height } }),
    );
    const startedAt = performance.now();
    await store.importTanks(tanks);
    const seconds = (performance.now() - startedAt) / 1000;
    assert.ok(seconds < 3, `${seconds} seconds`);
  }
});
