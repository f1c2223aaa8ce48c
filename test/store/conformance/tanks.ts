import assert from "node:assert/strict";
import test from "node:test";
import { NO_ACCESS, UNRESTRICTED } from "../../../src/domain/key.ts";
import type { Engine } from "../engines.ts";
import { customer, NEW_YEAR, putCustomers, putTanks, scopeOf, tank, tanksOf } from "./objects.ts";

export function tankConformance(engine: Engine): void {
  test("a tank is answered whole, by id and in the list", async (t) => {
    const { store } = await engine.open(t);
    await putCustomers(store, customer("a"));
    const bare = tank("bare", "a");
    const full = tank("full", "a", {
      capacity: 0.1,
      capacity_unit: "gallons",
      created_at: NEW_YEAR + 1,
      custom_id: "HALL-3",
      location: {
        city: "Freiburg",
        country: "Germany",
        district: "Wiehre",
        latitude: 47.9883,
        longitude: -7.8567,
        postal_code: "79100",
        region: "Baden-Württemberg",
        street: "Lindenweg",
        street_number: "12a",
      },
      min_fill_alert_percentage: 0,
      updated_at: NEW_YEAR + 2,
      use_case: "industrial",
    });
    assert.deepEqual(await putTanks(store, bare, full), ["new", "new"]);
    for (const sight of [UNRESTRICTED, scopeOf("a")]) {
      assert.deepEqual(await store.tankById("bare", sight), bare);
      assert.deepEqual(await store.tankById("full", sight), full);
      assert.deepEqual(await tanksOf(store, {}, sight), { data: [full, bare], totalItems: 2 });
    }
  });

  test("a record sent again changes nothing, one that differs in any field replaces all", async (t) => {
    const { store } = await engine.open(t);
    await putCustomers(store, customer("a"), customer("b"));
    const first = tank("t", "a");
    assert.deepEqual(await putTanks(store, first, first), ["new", "unchanged"]);
    const differences = [
      { assigned_device_id: "other" },
      { capacity: 2700.5 },
      { capacity_unit: "gallons" },
      { created_at: NEW_YEAR - 1 },
      { custom_id: "" },
      { min_fill_alert_percentage: 21 },
      { name: "Other" },
      { owner_id: "b" },
      { updated_at: NEW_YEAR + 1 },
      { use_case: "residential" },
      ...["city", "country", "district", "postal_code", "region", "street", "street_number"].map((field) => ({
        location: { ...first.location, [field]: "x" },
      })),
      { location: { ...first.location, latitude: 0 } },
      { location: { ...first.location, longitude: -180 } },
    ] as const;
    for (const difference of differences) {
      const next = { ...first, ...difference };
      assert.deepEqual(await putTanks(store, next), ["changed"], JSON.stringify(difference));
      assert.deepEqual(await store.tankById("t", UNRESTRICTED), next);
      assert.deepEqual(await putTanks(store, next), ["unchanged"]);
    }
  });

  test("a deleted tank is known by its id and in no list, until a full record restores it", async (t) => {
    const { store } = await engine.open(t);
    await putCustomers(store, customer("a"), customer("b"));
    const [one, two] = [tank("one", "a"), tank("two", "a")];
    await putTanks(store, one, two);
    assert.deepEqual(await store.importTanks([{ remove: "one" }, { remove: "one" }]), ["changed", "unchanged"]);
    assert.equal(await store.tankById("one", UNRESTRICTED), "deleted");
    assert.equal(await store.tankById("one", scopeOf("a")), "deleted");
    assert.equal(await store.tankById("one", scopeOf("b")), undefined);
    for (const sight of [UNRESTRICTED, scopeOf("a")]) {
      assert.deepEqual(await tanksOf(store, {}, sight), { data: [two], totalItems: 1 });
    }
    assert.deepEqual(await putTanks(store, one), ["changed"]);
    assert.deepEqual(await store.tankById("one", scopeOf("a")), one);
    assert.equal((await tanksOf(store)).totalItems, 2);
  });

  test("a tank can arrive deleted", async (t) => {
    const { store } = await engine.open(t);
    await putCustomers(store, customer("a"));
    const gone = { tank: tank("gone", "a"), deleted: true };
    assert.deepEqual(await store.importTanks([gone, gone]), ["new", "unchanged"]);
    assert.equal(await store.tankById("gone", UNRESTRICTED), "deleted");
    assert.deepEqual(await tanksOf(store), { data: [], totalItems: 0 });
  });

  test("deleting a tank that never was is rejected", async (t) => {
    const { store } = await engine.open(t);
    assert.deepEqual(await store.importTanks([{ remove: "t" }]), [{ rejected: "id: there is no tank with this id to delete" }]);
    assert.equal(await store.tankById("t", UNRESTRICTED), undefined);
  });

  test("a customer's key sees that customer's tanks and no others", async (t) => {
    const { store } = await engine.open(t);
    await putCustomers(store, customer("a"), customer("b"), customer("none"));
    const [one, two] = [tank("one", "a"), tank("two", "b")];
    await putTanks(store, one, two);
    assert.deepEqual(await store.tankById("one", scopeOf("a")), one);
    assert.equal(await store.tankById("two", scopeOf("a")), undefined);
    assert.equal(await store.tankById("one", NO_ACCESS), undefined);
    assert.deepEqual(await tanksOf(store, {}, scopeOf("a")), { data: [one], totalItems: 1 });
    assert.deepEqual(await tanksOf(store, { from: NEW_YEAR, to: NEW_YEAR }, scopeOf("a")), { data: [one], totalItems: 1 });
    assert.deepEqual(await tanksOf(store, { to: NEW_YEAR - 1 }, scopeOf("a")), { data: [], totalItems: 0 });
    for (const id of ["none", "never", ""]) {
      assert.deepEqual(await tanksOf(store, {}, scopeOf(id)), { data: [], totalItems: 0 });
    }
  });
}
