import assert from "node:assert/strict";
import test from "node:test";
import { NO_ACCESS, UNRESTRICTED } from "../../../src/domain/key.ts";
import type { Engine } from "../engines.ts";
import { customer, customersOf, DAY, NEW_YEAR, putCustomers, scopeOf } from "./objects.ts";

export function customerConformance(engine: Engine): void {
  test("a customer is answered whole, by id and in the list", async (t) => {
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
    assert.deepEqual(await store.customerById("bare", UNRESTRICTED), { ...bare, tank_count: 0 });
    assert.deepEqual(await store.customerById("full", UNRESTRICTED), { ...full, tank_count: 0 });
    assert.deepEqual(await customersOf(store), {
      data: [
        { ...full, tank_count: 0 },
        { ...bare, tank_count: 0 },
      ],
      totalItems: 2,
    });
  });

  test("a record sent again changes nothing, one that differs in any field replaces all", async (t) => {
    const { store } = await engine.open(t);
    const first = customer("a");
    assert.deepEqual(await putCustomers(store, first, first), ["new", "unchanged"]);
    const differences = [
      { created_at: NEW_YEAR - 1 },
      { email: "other@customers.example" },
      { name: "Other" },
      { phone: "112" },
      { updated_at: NEW_YEAR + 1 },
      { verified_at: NEW_YEAR },
      { last_seen_at: NEW_YEAR },
    ];
    for (const difference of differences) {
      const next = { ...first, last_seen_at: await lastSeen(), ...difference };
      assert.deepEqual(await putCustomers(store, next), ["changed"], JSON.stringify(difference));
      assert.deepEqual(await store.customerById("a", UNRESTRICTED), { ...next, tank_count: 0 });
      assert.deepEqual(await putCustomers(store, next), ["unchanged"]);
    }
    async function lastSeen() {
      const found = await store.customerById("a", UNRESTRICTED);
      return typeof found === "object" ? found.last_seen_at : null;
    }
  });

  test("a deleted customer is known by its id and in no list, until a full record restores it", async (t) => {
    const { store } = await engine.open(t);
    const [a, b] = [customer("a"), customer("b")];
    await putCustomers(store, a, b);
    assert.deepEqual(await store.importCustomers([{ remove: "a" }, { remove: "a" }]), ["changed", "unchanged"]);
    assert.equal(await store.customerById("a", UNRESTRICTED), "deleted");
    assert.equal(await store.customerById("a", scopeOf("a")), "deleted");
    assert.deepEqual(await customersOf(store), { data: [{ ...b, tank_count: 0 }], totalItems: 1 });
    assert.deepEqual(await customersOf(store, { email: a.email }), { data: [{ ...b, tank_count: 0 }], totalItems: 1 });
    assert.deepEqual(await customersOf(store, {}, scopeOf("a")), { data: [], totalItems: 0 });
    assert.deepEqual(await putCustomers(store, a), ["changed"]);
    assert.deepEqual(await store.customerById("a", UNRESTRICTED), { ...a, tank_count: 0 });
    assert.equal((await customersOf(store)).totalItems, 2);
  });

  test("a customer can arrive deleted, and be changed while deleted", async (t) => {
    const { store } = await engine.open(t);
    const gone = { customer: customer("gone"), deleted: true };
    const renamed = { customer: customer("gone", { name: "Renamed" }), deleted: true };
    assert.deepEqual(await store.importCustomers([gone, gone, renamed]), ["new", "unchanged", "changed"]);
    assert.equal(await store.customerById("gone", UNRESTRICTED), "deleted");
    assert.deepEqual(await customersOf(store), { data: [], totalItems: 0 });
  });

  test("deleting a customer that never was is rejected", async (t) => {
    const { store } = await engine.open(t);
    const [made, rejected] = await store.importCustomers([{ customer: customer("a"), deleted: false }, { remove: "b" }]);
    assert.equal(made, "new");
    assert.deepEqual(rejected, { rejected: "id: there is no customer with this id to delete" });
    assert.equal(await store.customerById("b", UNRESTRICTED), undefined);
  });

  test("a customer's key sees that customer and no other", async (t) => {
    const { store } = await engine.open(t);
    const [a, b] = [customer("a"), customer("b")];
    await putCustomers(store, a, b);
    assert.deepEqual(await store.customerById("a", scopeOf("a")), { ...a, tank_count: 0 });
    assert.equal(await store.customerById("b", scopeOf("a")), undefined);
    assert.equal(await store.customerById("a", NO_ACCESS), undefined);
    const own = { data: [{ ...a, tank_count: 0 }], totalItems: 1 };
    const none = { data: [], totalItems: 0 };
    assert.deepEqual(await customersOf(store, {}, scopeOf("a")), own);
    assert.deepEqual(await customersOf(store, { email: a.email }, scopeOf("a")), own);
    assert.deepEqual(await customersOf(store, { from: NEW_YEAR, to: NEW_YEAR }, scopeOf("a")), own);
    assert.deepEqual(await customersOf(store, { from: NEW_YEAR + 1 }, scopeOf("a")), none);
    assert.deepEqual(await customersOf(store, { email: "other@customers.example" }, scopeOf("a")), none);
    assert.deepEqual(await customersOf(store, { page: 2 }, scopeOf("a")), { data: [], totalItems: 1 });
    assert.deepEqual(await customersOf(store, {}, NO_ACCESS), none);
  });

  test("the e-mail filter is exact to the byte, and may find several", async (t) => {
    const { store } = await engine.open(t);
    const emails = [
      "ada@x.example",
      "Ada@x.example",
      "ada@x.example ",
      "jos\u00e9@x.example",
      "jose\u0301@x.example",
      "jose@x.example",
      "a%@x.example",
      "a_a@x.example",
    ];
    await putCustomers(
      store,
      ...emails.map((email, i) => customer(`c${i}`, { email })),
      customer("twin", { email: "ada@x.example" }),
    );
    for (const [i, email] of emails.entries()) {
      const { data, totalItems } = await customersOf(store, { email });
      const expected = email === "ada@x.example" ? ["twin", "c0"] : [`c${i}`];
      assert.deepEqual([data.map(({ id }) => id), totalItems], [expected, expected.length], JSON.stringify(email));
    }
    assert.equal((await customersOf(store, { email: "ADA@x.example" })).totalItems, 0);
    assert.equal((await customersOf(store, { email: "" })).totalItems, 0);
  });

  test("last_seen_at moves forward only, and is no change of updated_at", async (t) => {
    const { store } = await engine.open(t);
    await putCustomers(store, customer("a"), customer("b", { last_seen_at: NEW_YEAR + DAY }));
    const seen = async (id: string) => {
      const found = await store.customerById(id, UNRESTRICTED);
      assert.ok(typeof found === "object");
      assert.equal(found.updated_at, NEW_YEAR);
      return found.last_seen_at;
    };
    const touches = (at: number) =>
      new Map([
        ["a", at],
        ["b", at],
        ["nobody", at],
      ]);
    await store.updateLastSeen(touches(NEW_YEAR + 5));
    assert.deepEqual([await seen("a"), await seen("b")], [NEW_YEAR + 5, NEW_YEAR + DAY]);
    await store.updateLastSeen(touches(NEW_YEAR + 4));
    assert.equal(await seen("a"), NEW_YEAR + 5);
    await store.updateLastSeen(touches(NEW_YEAR + 2 * DAY));
    assert.deepEqual([await seen("a"), await seen("b")], [NEW_YEAR + 2 * DAY, NEW_YEAR + 2 * DAY]);
    assert.equal(await store.customerById("nobody", UNRESTRICTED), undefined);

    assert.deepEqual(await putCustomers(store, customer("a"), customer("a", { last_seen_at: NEW_YEAR })), [
      "unchanged",
      "unchanged",
    ]);
    assert.deepEqual(await putCustomers(store, customer("a", { name: "New", last_seen_at: NEW_YEAR })), ["changed"]);
    assert.equal(await seen("a"), NEW_YEAR + 2 * DAY);
    assert.deepEqual(await putCustomers(store, customer("a", { name: "New", last_seen_at: NEW_YEAR + 3 * DAY })), ["changed"]);
    assert.equal(await seen("a"), NEW_YEAR + 3 * DAY);
    await store.updateLastSeen(new Map());
  });

  test("a write is whole or not at all", async (t) => {
    const { store } = await engine.open(t);
    const impossible = customer("b", { created_at: 0.5 });
    await assert.rejects(putCustomers(store, customer("a"), impossible, customer("c")));
    assert.equal((await customersOf(store)).totalItems, 0);
    assert.deepEqual(await putCustomers(store, customer("a")), ["new"]);
  });
}
