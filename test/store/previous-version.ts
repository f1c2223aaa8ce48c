// A database of the version before devices, the fleet and the audit log were kept: what is in it, and what must have become
// of it when the newest program has opened it.

import assert from "node:assert/strict";
import { marginOf } from "../../src/domain/management-reads.ts";
import type { ExportRecord, Store } from "../../src/domain/store.ts";
import { deliver } from "../support/arrivals.ts";
import { addKey, at, carriedOut, order } from "../support/orders.ts";
import { putReadings } from "../support/records.ts";
import {
  checked,
  customer,
  everything,
  fillsOf,
  key,
  NEW_YEAR,
  putCustomers,
  putTanks,
  readingsOf,
  tank,
  tankCounts,
  WHOLE_FLEET,
  WHOLE_LOG,
  waitingOf,
} from "./conformance/objects.ts";

export const EUI = "A84041C2F1827D3E";
/** So many tanks that their lists have milestones. */
const MANY = 300;
/** What both engines have had since before. */
export const OLD_TABLES = ["customer", "tank", "telemetry", "block", "reading_milestone", "list_milestone", "api_key"];

export async function fillPrevious(store: Store): Promise<ExportRecord[]> {
  await putCustomers(store, customer("a"), customer("b", { name: "Benno" }));
  await store.importCustomers([{ customer: customer("left"), deleted: true }]);
  await putTanks(store, ...Array.from({ length: MANY }, (_, i) => tank(`t${i}`, "a", { created_at: NEW_YEAR + 10 + i })));
  await putTanks(store, tank("long", "b", { assigned_device_id: EUI }), tank("twin", "b", { created_at: NEW_YEAR + 1 }));
  await putTanks(store, tank("low", "b", { assigned_device_id: "d1", min_fill_alert_percentage: 90 }));
  await store.importTanks([{ tank: tank("gone", "b", { assigned_device_id: "d2" }), deleted: true }]);
  await putReadings(
    store,
    "long",
    Array.from({ length: 20_000 }, (_, i) => [i * 1000, i % 101] as const),
  );
  await putReadings(store, "low", [
    [5, 80],
    [7, 80.5],
  ]);
  await putReadings(store, "gone", [[1, 1]]);
  await addKey(store, key("k", { customer_id: "b" }), "hash");
  return everything(store);
}

/** As it was before, but for what is new, and in use from then on. */
export async function expectBroughtOver(store: Store, before: readonly ExportRecord[]): Promise<void> {
  assert.deepEqual(await everything(store), before);
  assert.deepEqual((await checked(store)).findings, []);
  assert.equal((await store.keyByHash("hash"))?.id, "k");
  const fleet = await store.fleetPage({ ...WHOLE_FLEET, size: 3 });
  assert.equal(fleet.totalItems, MANY + 3);
  assert.deepEqual(
    fleet.data.map((entry) => [entry.tank.id, marginOf(entry), entry.latest?.created_at]),
    [
      ["long", 1 - 20, 19_999_000],
      ["low", 80.5 - 90, 7],
      ["t0", null, undefined],
    ],
  );
  const devices = await store.deviceSearch({ page: 1, size: 2, waiting: undefined });
  assert.equal(devices.totalItems, MANY + 3);
  assert.deepEqual(await store.managedDevice(EUI.toLowerCase()), {
    device: { id: EUI.toLowerCase(), tank_id: "long", since: Number.MIN_SAFE_INTEGER, profile: null },
    waiting: 0,
    dropped: 0,
  });
  assert.equal(await store.managedDevice("d2"), undefined, "a deleted tank has no device");
  assert.equal((await store.auditPage(WHOLE_LOG)).totalItems, 0);
  await useIt(store);
}

async function useIt(store: Store): Promise<void> {
  const told = await deliver(
    store,
    { device: EUI.toLowerCase(), at: 1, fill: 5 },
    { device: "d1", at: 8, fill: 95 },
    { device: "d2", at: 8, fill: 5 },
  );
  assert.deepEqual(told, ["new", "new", "waiting"]);
  await carriedOut(store, order.restoreTank("gone"), at(NEW_YEAR));
  assert.deepEqual(await fillsOf(store, "gone"), [
    [1, 1],
    [8, 5],
  ]);
  await carriedOut(store, order.restoreCustomer("left"), at(NEW_YEAR));
  await carriedOut(store, order.deleteCustomer("b", true), at(NEW_YEAR + 1));
  await carriedOut(store, order.restoreCustomer("b"), at(NEW_YEAR + 2));
  assert.deepEqual(await tankCounts(store, "a", "b", "left"), [MANY, 4, 0]);
  assert.equal((await readingsOf(store, "long", { from: 0, to: 1500 })).totalItems, 3);
  assert.deepEqual(await waitingOf(store, "d2"), [0, 0]);
  const search = { from: undefined, to: undefined, page: 1, size: 10, deleted: false, name: "BEN", email: undefined };
  assert.equal((await store.customerSearch(search)).totalItems, 1);
  assert.deepEqual((await checked(store)).findings, []);
}

/** Two tanks had one device, in another case each: it is the older one's, the check tells, and the operator mends it. */
export async function expectTwins(store: Store): Promise<void> {
  assert.equal((await store.managedDevice(EUI.toLowerCase()))?.device.tank_id, "long");
  for (const repair of [false, true]) {
    const { findings } = await checked(store, repair);
    assert.deepEqual(
      findings.map(({ where, repaired }) => [where, repaired]),
      [[`device ${EUI.toLowerCase()}`, false]],
    );
    assert.match(findings[0]?.what ?? "", /should serve one tank, and long and twin have it/);
  }
  assert.deepEqual(await deliver(store, { device: EUI.toLowerCase(), at: 1, fill: 5 }), ["new"]);
  assert.equal((await readingsOf(store, "twin")).totalItems, 0);
  await carriedOut(store, order.changeTank("twin", { assigned_device_id: "its own" }), at(NEW_YEAR));
  assert.deepEqual((await checked(store)).findings, []);
  assert.equal((await store.managedDevice(EUI.toLowerCase()))?.device.tank_id, "long");
  assert.equal((await store.managedDevice("its own"))?.device.tank_id, "twin");
}
