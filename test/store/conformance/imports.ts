import assert from "node:assert/strict";
import test from "node:test";
import { NO_ACCESS, UNRESTRICTED } from "../../../src/domain/key.ts";
import { putReadings } from "../../support/records.ts";
import type { Engine } from "../engines.ts";
import {
  customer,
  customersOf,
  DAY,
  NEW_YEAR,
  putCustomers,
  putTanks,
  readingsOf,
  scopeOf,
  tank,
  tankCounts,
  tanksOf,
} from "./objects.ts";

export function importConformance(engine: Engine): void {
  test("a customer with the id of a user or key, or a name of the audit log, is rejected", async (t) => {
    const { store } = await engine.open(t);
    assert.deepEqual(await putCustomers(store, customer("usr_1"), customer("key_1"), customer("import"), customer("usr")), [
      { rejected: 'id: must not begin with "usr_", which is for ids of users' },
      { rejected: 'id: must not begin with "key_", which is for ids of keys' },
      { rejected: 'id: must not be "import", which is a name in the audit log' },
      "new",
    ]);
  });

  test("an imported object is returned with all its fields, by id and in the list", async (t) => {
    const { store } = await engine.open(t);
    const bare = customer("bare");
    const full = customer("full", {
      created_at: NEW_YEAR + 1,
      last_seen_at: NEW_YEAR + 3,
      phone: "+49 30 5550 0142",
      updated_at: NEW_YEAR + 2,
      verified_at: NEW_YEAR + 4,
    });
    assert.deepEqual(await putCustomers(store, bare, full), ["new", "new"]);
    const bareTank = tank("bare", "full");
    const fullTank = tank("full", "full", {
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
    assert.deepEqual(await putTanks(store, bareTank, fullTank), ["new", "new"]);
    const counted = [
      { ...full, tank_count: 2 },
      { ...bare, tank_count: 0 },
    ];
    for (const one of counted) assert.deepEqual(await store.customerById(one.id, UNRESTRICTED), one);
    assert.deepEqual(await customersOf(store), { data: counted, totalItems: 2 });
    for (const scope of [UNRESTRICTED, scopeOf("full")]) {
      for (const one of [bareTank, fullTank]) assert.deepEqual(await store.tankById(one.id, scope), one);
      assert.deepEqual(await tanksOf(store, {}, scope), { data: [fullTank, bareTank], totalItems: 2 });
    }
  });

  test("a record without mail settings keeps them, and one with them replaces them", async (t) => {
    const { store } = await engine.open(t);
    const unsubscribed = { language: "de", unsubscribed_at: NEW_YEAR } as const;
    const put = (more: object) => store.importCustomers([{ customer: customer("a"), deleted: false, ...more }]);
    assert.deepEqual(await put({ notifications: unsubscribed }), ["new"]);
    assert.deepEqual(await put({}), ["unchanged"]);
    assert.deepEqual((await store.managedCustomer("a"))?.notifications, unsubscribed);
    for await (const record of store.exportRecords()) {
      assert.deepEqual(record.kind === "customer" && record.notifications, unsubscribed);
    }
    const wanted = { language: null, unsubscribed_at: null };
    assert.deepEqual(await put({ notifications: wanted }), ["changed"]);
    assert.deepEqual((await store.managedCustomer("a"))?.notifications, wanted);
    assert.equal("notifications" in ((await store.customerById("a", UNRESTRICTED)) as object), false);
  });

  test("a record sent again changes nothing, one that differs in any field replaces the object", async (t) => {
    const { store } = await engine.open(t);
    const first = customer("a");
    assert.deepEqual(await putCustomers(store, first, first, customer("b")), ["new", "unchanged", "new"]);
    for (const change of [
      { created_at: NEW_YEAR - 1 },
      { email: "other@customers.example" },
      { name: "Other" },
      { phone: "112" },
      { updated_at: NEW_YEAR + 1 },
      { verified_at: NEW_YEAR },
      { last_seen_at: NEW_YEAR },
    ]) {
      const next = { ...first, ...change };
      assert.deepEqual(await putCustomers(store, next, next), ["changed", "unchanged"], JSON.stringify(change));
      assert.deepEqual(await store.customerById("a", UNRESTRICTED), { ...next, tank_count: 0 });
    }
    const one = tank("t", "a");
    const { location } = one;
    assert.deepEqual(await putTanks(store, one, one), ["new", "unchanged"]);
    for (const change of [
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
      { location: { ...location, latitude: 0 } },
      { location: { ...location, longitude: -180 } },
      ...["city", "country", "district", "postal_code", "region", "street", "street_number"].map((field) => {
        return { location: { ...location, [field]: "x" } };
      }),
    ] as const) {
      const next = { ...one, ...change };
      assert.deepEqual(await putTanks(store, next, next), ["changed", "unchanged"], JSON.stringify(change));
      assert.deepEqual(await store.tankById("t", UNRESTRICTED), next);
    }
  });

  test("last_seen_at never goes back, and does not change updated_at", async (t) => {
    const { store } = await engine.open(t);
    await putCustomers(store, customer("a"));
    const seen = async () => {
      const found = await store.customerById("a", UNRESTRICTED);
      assert.ok(typeof found === "object" && found.updated_at === NEW_YEAR);
      return found.last_seen_at;
    };
    for (const [at, expected] of [
      [5, 5],
      [4, 5],
      [6, 6],
    ] as const) {
      await store.updateLastSeen(
        new Map([
          ["a", NEW_YEAR + at],
          ["nobody", NEW_YEAR],
        ]),
      );
      assert.equal(await seen(), NEW_YEAR + expected);
    }
    assert.deepEqual(await putCustomers(store, customer("a"), customer("a", { last_seen_at: NEW_YEAR })), [
      "unchanged",
      "unchanged",
    ]);
    assert.deepEqual(await putCustomers(store, customer("a", { last_seen_at: NEW_YEAR + DAY })), ["changed"]);
    assert.equal(await seen(), NEW_YEAR + DAY);
  });

  test("a deleted object is known by its id and in no list, until a record restores it", async (t) => {
    const { store } = await engine.open(t);
    await putCustomers(store, customer("a"), customer("b"));
    await putTanks(store, tank("one", "a"), tank("two", "a"));
    await putReadings(store, "one", [[1, 50]]);
    assert.deepEqual(await store.importTanks([{ remove: "one" }, { remove: "one" }]), ["changed", "unchanged"]);
    assert.deepEqual(await Promise.all([UNRESTRICTED, scopeOf("a"), scopeOf("b")].map((scope) => store.tankById("one", scope))), [
      "deleted",
      "deleted",
      undefined,
    ]);
    assert.deepEqual([(await tanksOf(store)).totalItems, await tankCounts(store, "a")], [1, [1]]);
    assert.deepEqual(await store.importCustomers([{ remove: "a" }, { remove: "a" }]), ["changed", "unchanged"]);
    assert.deepEqual([(await customersOf(store)).totalItems, await tankCounts(store, "a")], [1, ["deleted"]]);
    await putCustomers(store, customer("a"));
    await putTanks(store, tank("one", "a"));
    assert.deepEqual([await tankCounts(store, "a"), (await readingsOf(store, "one")).totalItems], [[2], 1]);
  });

  test("records that cannot be stored are rejected with the reason", async (t) => {
    const { store } = await engine.open(t);
    await putCustomers(store, customer("a"));
    const shared = { assigned_device_id: "device" };
    const taken = (by: string) => ({ rejected: `assigned_device_id: this device is already assigned to tank ${by}` });
    assert.deepEqual(await store.importCustomers([{ remove: "b" }]), [
      { rejected: "id: there is no customer with this id to delete" },
    ]);
    assert.deepEqual(await store.importTanks([{ remove: "t" }]), [{ rejected: "id: there is no tank with this id to delete" }]);
    assert.deepEqual(await putTanks(store, tank("t", "nobody")), [{ rejected: "owner_id: there is no customer with this id" }]);
    assert.deepEqual(await putTanks(store, tank("one", "a", shared), tank("two", "a", shared)), ["new", taken("one")]);
    const two = tank("two", "a", shared);
    assert.deepEqual(await store.importTanks([{ remove: "one" }, { tank: two, deleted: false }]), ["changed", "new"]);
    assert.deepEqual(await putTanks(store, tank("one", "a", shared)), [taken("two")]);
    assert.deepEqual(await tankCounts(store, "a"), [1]);
  });

  test("a scope covers the objects of one customer, and none without access", async (t) => {
    const { store } = await engine.open(t);
    await putCustomers(store, customer("a"), customer("b"));
    await putTanks(store, tank("one", "a"), tank("two", "b"));
    await putReadings(store, "two", [[1, 50]]);
    const visible = async (scope: typeof NO_ACCESS) => [
      (await customersOf(store, {}, scope)).data.map(({ id }) => id),
      (await customersOf(store, { email: customer("a").email }, scope)).totalItems,
      (await tanksOf(store, {}, scope)).data.map(({ id }) => id),
      typeof (await store.customerById("b", scope)),
      typeof (await store.tankById("two", scope)),
      typeof (await store.telemetryPage("two", { from: undefined, to: undefined, page: 1, size: 1 }, scope)),
    ];
    assert.deepEqual(await visible(UNRESTRICTED), [["b", "a"], 2, ["two", "one"], "object", "object", "object"]);
    assert.deepEqual(await visible(scopeOf("a")), [["a"], 1, ["one"], "undefined", "undefined", "undefined"]);
    assert.deepEqual(await visible(scopeOf("b")), [["b"], 1, ["two"], "object", "object", "object"]);
    assert.deepEqual(await visible(NO_ACCESS), [[], 0, [], "undefined", "undefined", "undefined"]);
  });
}
