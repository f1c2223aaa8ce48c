import assert from "node:assert/strict";
import { join } from "node:path";
import test from "node:test";
import { UNRESTRICTED } from "../../../src/domain/key.ts";
import type { Store } from "../../../src/domain/store.ts";
import { emptySummary } from "../../../src/ingest/import.ts";
import { at, command, createKey, executed } from "../../support/commands.ts";
import { exportedLines, importLines } from "../../support/exports.ts";
import { ingest } from "../../support/readings.ts";
import { putReadings } from "../../support/records.ts";
import type { Engine } from "../engines.ts";
import {
  checked,
  customer,
  customersOf,
  everything,
  fillsOf,
  key,
  managementQueries,
  NEW_YEAR,
  putCustomers,
  putTanks,
  reading,
  readingsOf,
  tank,
  tanksOf,
  WHOLE_LOG,
} from "./objects.ts";

/** Customers, tanks and readings, with deleted ones among them, made in no tidy order. */
async function fill(store: Store): Promise<void> {
  await putCustomers(store, customer("b"), customer("a", { created_at: 1, last_seen_at: 9 }));
  await store.importCustomers([{ customer: customer("gone", { verified_at: 7 }), deleted: true }]);
  await putTanks(store, tank("two", "b"), tank("one", "a"), tank("empty", "a"));
  await store.importTanks([{ tank: tank("lost", "gone"), deleted: true }]);
  await putReadings(store, "one", [
    [30, 3],
    [10, 1],
    [20, 2],
  ]);
  await putReadings(store, "lost", [[5, 0.5]]);
  await createKey(store, key("k", { customer_id: "a" }), "hash");
}

/** Devices that moved and that wait, with profile and shape; and something that was done once. */
async function fillBeside(store: Store): Promise<void> {
  const shape = { kind: "upright", height: 2, unit: "m", sensor_height: 2 };
  await executed(store, command.putDevice("d1", { tank_id: "one", profile: "elsys", shape }), at(100));
  await executed(store, command.putDevice("d1", { tank_id: "two" }, { swap: true }), at(200));
  await ingest(store, { device: "d2", at: 1, fill: 5 }, { device: "d2", at: 2, payload: { distance: 5 } });
  await executed(store, command.createCustomer("once", { email: "a@b.example", name: "A" }), at(300), ONCE);
}

const ONCE = { key: "k", fingerprint: "this" };

/** What an operator sees, and what becomes of a backlog, of a device that is assigned, and of what arrives twice. */
async function expectBeside(store: Store, like: Store): Promise<void> {
  for (const [name, ask] of Object.entries(managementQueries(store))) {
    assert.deepEqual(await ask(), await managementQueries(like)[name]?.(), name);
  }
  const told = await ingest(store, { device: "d1", at: 199, payload: { distance: 500 } }, { device: "d1", at: 200, fill: 6 });
  assert.deepEqual(told, ["new", "new"]);
  assert.deepEqual((await readingsOf(store, "one", { from: 199 })).data, [reading(199, 75)]);
  await executed(store, command.putDevice("d2", { tank_id: "empty" }), at(400));
  assert.deepEqual(await fillsOf(store, "empty"), [[1, 5]]);
  const again = await store.execute(command.createCustomer("twice", { email: "a@b.example", name: "A" }), at(400), ONCE);
  assert.ok("replayed" in again && again.replayed);
  assert.deepEqual((await checked(store)).findings, []);
}

const noProgress = (): void => {};

export function upkeepConformance(engine: Engine): void {
  test("a store is empty until there is a customer or a key", async (t) => {
    const [{ store }, { store: keyed }] = [await engine.open(t), await engine.open(t)];
    assert.equal(await store.isEmpty(), true);
    await store.importCustomers([{ customer: customer("a"), deleted: true }]);
    assert.equal(await store.isEmpty(), false);
    await createKey(keyed, key("k"), "hash");
    assert.equal(await keyed.isEmpty(), false);
  });

  test("what was written is there when the database is opened again", async (t) => {
    const { store, reopen } = await engine.open(t);
    await fill(store);
    const before = await everything(store);
    await store.close();
    const again = await reopen();
    assert.deepEqual(await everything(again), before);
    assert.deepEqual(await again.keyByHash("hash"), { ...key("k", { customer_id: "a" }), customer_deleted: false });
    assert.equal(
      (await again.customerPage({ email: undefined, from: undefined, to: undefined, page: 1, size: 1 }, UNRESTRICTED)).totalItems,
      2,
    );
  });

  test("closing finishes what was handed over before", async (t) => {
    const { store, reopen } = await engine.open(t);
    await putCustomers(store, customer("a"));
    await putTanks(store, tank("one", "a"));
    const [batches, size] = [16, 15_000];
    const pending = Array.from({ length: batches }, (_, batch) =>
      putReadings(
        store,
        "one",
        Array.from({ length: size }, (_, i) => [batch * size + i, 50]),
      ),
    );
    await store.close();
    for (const outcomes of await Promise.all(pending)) assert.ok(outcomes.every((code) => code === 0));
    assert.equal((await readingsOf(await reopen(), "one")).totalItems, batches * size);
  });

  test("an export holds everything, deleted objects too, in the order an import needs", async (t) => {
    const { store } = await engine.open(t);
    await fill(store);
    await ingest(store, { device: "d2", at: 1, fill: 5 });
    const records = await everything(store);
    const kinds = records.map(({ kind }) => kind);
    assert.deepEqual(
      kinds,
      kinds.toSorted((a, b) => rank(a) - rank(b)),
      "customers, tanks, devices, readings, and what waits",
    );
    const customers = records.flatMap((one) => (one.kind === "customer" ? [one] : []));
    assert.deepEqual(
      new Map(customers.map((one) => [one.customer.id, one])),
      new Map([
        ["b", { kind: "customer", customer: { ...customer("b"), tank_count: 1 }, deleted: false }],
        [
          "a",
          { kind: "customer", customer: { ...customer("a", { created_at: 1, last_seen_at: 9 }), tank_count: 2 }, deleted: false },
        ],
        ["gone", { kind: "customer", customer: { ...customer("gone", { verified_at: 7 }), tank_count: 0 }, deleted: true }],
      ]),
    );
    const tanks = records.flatMap((one) => (one.kind === "tank" ? [`${one.tank.id} ${one.deleted}`] : []));
    assert.deepEqual(new Set(tanks), new Set(["two false", "one false", "empty false", "lost true"]));
    const readings = records.flatMap((one) => (one.kind === "readings" ? [[one.tankId, one.readings] as const] : []));
    assert.deepEqual(
      new Map(readings),
      new Map([
        ["one", [reading(10, 1), reading(20, 2), reading(30, 3)]],
        ["lost", [reading(5, 0.5)]],
      ]),
    );
  });

  test("an export put into an empty store gives the same export, and changes nothing the second time", async (t) => {
    const [{ store }, { store: copy }] = [await engine.open(t), await engine.open(t)];
    await fill(store);
    await fillBeside(store);
    const lines = await exportedLines(store);
    const { summary, reasons } = await importLines(copy, lines);
    assert.deepEqual([reasons, summary.read, summary.waiting], [[], lines.length, 2]);
    assert.deepEqual((await exportedLines(copy)).toSorted(), lines.toSorted());
    const log = await copy.auditPage(WHOLE_LOG);
    const again = await importLines(copy, lines);
    assert.deepEqual(again.summary, { ...emptySummary(), read: lines.length, unchanged: lines.length - 2, waiting: 2 });
    assert.deepEqual((await exportedLines(copy)).toSorted(), lines.toSorted());
    assert.deepEqual(await copy.auditPage(WHOLE_LOG), log);
    assert.deepEqual((await checked(copy)).findings, []);
  });

  test("an export is of one moment, whatever is written while it is read", async (t) => {
    const { store } = await engine.open(t);
    await fill(store);
    const before = await everything(store);
    const found = [];
    for await (const record of store.exportRecords()) {
      found.push(record);
      const i = found.length;
      await putCustomers(store, customer(`late ${i}`), customer("a", { name: `Changed ${i}` }));
      await store.importTanks([{ remove: "one" }, { tank: tank(`late ${i}`, `late ${i}`), deleted: false }]);
      await putReadings(store, "one", [
        [100 + i, 1],
        [10, i],
      ]);
    }
    assert.deepEqual(found, before);
    assert.notDeepEqual(await everything(store), before);
  });

  test("an export of a long series is whole and oldest first, and may be left half-way", async (t) => {
    const { store } = await engine.open(t);
    await putCustomers(store, customer("a"));
    await putTanks(store, tank("one", "a"));
    const total = 25_000;
    await putReadings(
      store,
      "one",
      Array.from({ length: total }, (_, i) => [total - i, i % 101]),
    );
    for await (const record of store.exportRecords()) if (record.kind === "readings") break;
    const readings = (await everything(store)).flatMap((one) => (one.kind === "readings" ? one.readings : []));
    assert.deepEqual(
      readings.map(({ created_at }) => created_at),
      Array.from({ length: total }, (_, i) => i + 1),
    );
  });

  test("a backup made while others write opens as a store, and is of one moment", async (t) => {
    const { store, reopen, restored, folder } = await engine.open(t);
    await fill(store);
    await putReadings(
      store,
      "two",
      Array.from({ length: 20_000 }, (_, i) => [i, i % 101]),
    );
    const other = await reopen();
    let isDone = false;
    const writing = (async () => {
      for (let i = 0; !isDone; i++) {
        await putReadings(
          other,
          "one",
          Array.from({ length: 10 }, (_, j) => [1000 + i * 10 + j, 1]),
        );
        await putTanks(other, tank(`more ${i}`, "b"));
      }
    })();
    const steps: [number, number][] = [];
    await store.backup(join(folder, "backup"), (done, total) => steps.push([done, total]));
    isDone = true;
    await writing;
    const copy = await restored(join(folder, "backup"));
    assert.ok(steps.every(([done, total]) => done >= 0 && done <= total));
    assert.deepEqual(await copy.keyByHash("hash"), { ...key("k", { customer_id: "a" }), customer_deleted: false });
    assert.equal((await readingsOf(copy, "two")).totalItems, 20_000);
    const found = await readingsOf(copy, "one", { from: 1000 });
    assert.equal(found.totalItems % 10, 0);
    assert.equal((await readingsOf(copy, "one")).totalItems, found.totalItems + 3);
    const b = await copy.customerById("b", UNRESTRICTED);
    assert.equal(typeof b === "object" && b.tank_count, (await tanksOf(copy, {}, { customerId: "b" })).totalItems);
    await putReadings(copy, "one", [[NEW_YEAR, 1]]);
    assert.equal((await readingsOf(store, "one", { from: NEW_YEAR })).totalItems, 0);
  });

  test("a backup and a rehearsal have devices, what waits, the fleet, the audit log and what was done once", async (t) => {
    const { store, restored, folder } = await engine.open(t);
    await fill(store);
    await fillBeside(store);
    await store.backup(join(folder, "backup"), noProgress);
    await expectBeside(await restored(join(folder, "backup")), store);
    const rehearsal = await store.scratchCopy(noProgress);
    try {
      await expectBeside(rehearsal, store);
    } finally {
      await rehearsal.close();
    }
    await expectBeside(store, store);
  });

  test("a rehearsal shows everything, takes changes, and leaves the original as it was", async (t) => {
    const { store } = await engine.open(t);
    await fill(store);
    const before = await everything(store);
    const rehearsal = await store.scratchCopy(noProgress);
    try {
      assert.deepEqual(await everything(rehearsal), before);
      assert.deepEqual(await putCustomers(rehearsal, customer("new"), customer("b")), ["new", "unchanged"]);
      assert.equal((await customersOf(rehearsal)).totalItems, 3);
      assert.deepEqual(await everything(store), before);
      await putCustomers(store, customer("meanwhile"));
      assert.equal(await rehearsal.customerById("meanwhile", UNRESTRICTED), undefined);
    } finally {
      await rehearsal.close();
    }
    assert.equal(await store.customerById("new", UNRESTRICTED), undefined);
    assert.equal((await customersOf(store)).totalItems, 3);
  });
}

function rank(kind: string): number {
  return ["customer", "tank", "device", "readings", "waiting"].indexOf(kind);
}
