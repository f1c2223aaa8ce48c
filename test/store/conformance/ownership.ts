import assert from "node:assert/strict";
import test from "node:test";
import { UNRESTRICTED } from "../../../src/domain/key.ts";
import type { Engine } from "../engines.ts";
import { customer, putCustomers, putTanks, scopeOf, tank, tankCounts, tanksOf } from "./objects.ts";

export function ownershipConformance(engine: Engine): void {
  test("tank_count follows every creation, move, deletion and restoration", async (t) => {
    const { store } = await engine.open(t);
    await putCustomers(store, customer("a"), customer("b"));
    const [one, two] = [tank("one", "a"), tank("two", "a")];
    const counts = () => tankCounts(store, "a", "b");

    await putTanks(store, one, two, tank("three", "b"));
    assert.deepEqual(await counts(), [2, 1]);
    await putTanks(store, one, { ...two, name: "Renamed" });
    assert.deepEqual(await counts(), [2, 1]);
    await putTanks(store, { ...one, owner_id: "b" });
    assert.deepEqual(await counts(), [1, 2]);
    await store.importTanks([{ remove: "one" }, { remove: "one" }]);
    assert.deepEqual(await counts(), [1, 1]);
    await store.importTanks([{ tank: one, deleted: true }]);
    assert.deepEqual(await counts(), [1, 1]);
    await putTanks(store, one);
    assert.deepEqual(await counts(), [2, 1]);
    await store.importTanks([{ tank: { ...one, owner_id: "b" }, deleted: true }]);
    assert.deepEqual(await counts(), [1, 1]);
    await store.importTanks([{ tank: tank("gone", "a"), deleted: true }]);
    assert.deepEqual(await counts(), [1, 1]);
    for (const [owner, count] of [
      ["a", 1],
      ["b", 1],
    ] as const) {
      assert.equal((await tanksOf(store, {}, scopeOf(owner))).totalItems, count);
    }
  });

  test("a customer that is deleted and restored still has its tanks", async (t) => {
    const { store } = await engine.open(t);
    await putCustomers(store, customer("a"));
    await putTanks(store, tank("one", "a"), tank("two", "a"));
    await store.importCustomers([{ remove: "a" }]);
    await store.importTanks([{ remove: "two" }]);
    assert.deepEqual(await tankCounts(store, "a"), ["deleted"]);
    await putCustomers(store, customer("a"));
    assert.deepEqual(await tankCounts(store, "a"), [1]);
  });

  test("a tank needs an owner that is known, though it may be deleted", async (t) => {
    const { store } = await engine.open(t);
    await store.importCustomers([{ customer: customer("gone"), deleted: true }]);
    const unknown = { rejected: "owner_id: there is no customer with this id" };
    assert.deepEqual(await putTanks(store, tank("one", "nobody"), tank("two", "gone")), [unknown, "new"]);
    assert.equal(await store.tankById("one", UNRESTRICTED), undefined);
    assert.deepEqual(await putTanks(store, tank("two", "nobody")), [unknown]);
    assert.deepEqual(await store.importTanks([{ tank: tank("three", "nobody"), deleted: true }]), [unknown]);
    assert.deepEqual((await tanksOf(store)).data, [tank("two", "gone")]);
  });

  test("a device serves one live tank at a time", async (t) => {
    const { store } = await engine.open(t);
    await putCustomers(store, customer("a"), customer("b"));
    const one = tank("one", "a", { assigned_device_id: "device" });
    const two = tank("two", "b", { assigned_device_id: "device" });
    const taken = (by: string) => ({ rejected: `assigned_device_id: this device is already assigned to tank ${by}` });

    assert.deepEqual(await putTanks(store, one, two), ["new", taken("one")]);
    assert.deepEqual(await tankCounts(store, "a", "b"), [1, 0]);
    assert.deepEqual(await store.importTanks([{ tank: two, deleted: true }]), ["new"]);
    assert.deepEqual(await putTanks(store, two), [taken("one")]);
    assert.equal(await store.tankById("two", UNRESTRICTED), "deleted");
    assert.deepEqual(await store.importTanks([{ remove: "one" }, { tank: two, deleted: false }]), ["changed", "changed"]);
    assert.deepEqual(await putTanks(store, one), [taken("two")]);
    assert.deepEqual(await tankCounts(store, "a", "b"), [0, 1]);
    const moved = { ...two, assigned_device_id: "another" };
    assert.deepEqual(await putTanks(store, moved, one), ["changed", "changed"]);
    assert.deepEqual(await putTanks(store, { ...moved, assigned_device_id: "device" }), [taken("one")]);
    assert.deepEqual(await store.tankById("two", UNRESTRICTED), moved);
    assert.deepEqual(await tankCounts(store, "a", "b"), [1, 1]);
  });

  test("devices that differ in case or accents are different devices", async (t) => {
    const { store } = await engine.open(t);
    await putCustomers(store, customer("a"));
    const devices = ["ab", "AB", "ab ", "\u00e9", "e\u0301"];
    const outcomes = await putTanks(store, ...devices.map((device, i) => tank(`t${i}`, "a", { assigned_device_id: device })));
    assert.deepEqual(
      outcomes,
      devices.map(() => "new"),
    );
  });
}
