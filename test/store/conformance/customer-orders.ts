import assert from "node:assert/strict";
import test from "node:test";
import { formatInstant } from "../../../src/domain/instant.ts";
import { UNRESTRICTED } from "../../../src/domain/key.ts";
import { customerResource } from "../../../src/domain/resource.ts";
import type { Store } from "../../../src/domain/store.ts";
import { at, command, createKey, errorOf, executed } from "../../support/commands.ts";
import { putReadings } from "../../support/records.ts";
import type { Engine } from "../engines.ts";
import {
  checked,
  customer,
  DAY,
  fillsOf,
  key,
  NEW_YEAR,
  putCustomers,
  putTanks,
  tank,
  tankCounts,
  tanksOf,
  WHOLE_LOG,
} from "./objects.ts";

const LATER = NEW_YEAR + DAY;

async function auditTotal(store: Store): Promise<number> {
  return (await store.auditPage(WHOLE_LOG)).totalItems;
}

const stateOf = async (store: Store, ids: readonly string[]) =>
  Promise.all(ids.map(async (id) => ((await store.managedTank(id))?.deleted === true ? "deleted" : "live")));

export function customerOrderConformance(engine: Engine): void {
  test("a customer that is made is in every list, as it was shown", async (t) => {
    const { store } = await engine.open(t);
    const fields = { email: "anna@b.example", name: "Anna", phone: "1", is_verified: true };
    const shown = await executed(store, command.createCustomer("cus_new", fields), at(NEW_YEAR));
    const made = customer("cus_new", { email: "anna@b.example", name: "Anna", phone: "1", verified_at: NEW_YEAR });
    assert.deepEqual(await store.customerById("cus_new", UNRESTRICTED), { ...made, tank_count: 0 });
    const managed = await store.managedCustomer("cus_new");
    assert.deepEqual(managed && customerResource(managed), shown, "and has the same tag when it is read");
    assert.equal(
      (await store.customerPage({ from: NEW_YEAR, to: NEW_YEAR, page: 1, size: 1, email: "anna@b.example" }, UNRESTRICTED))
        .totalItems,
      1,
    );
    assert.equal(
      (await errorOf(store, command.createCustomer("x", { ...fields, id: "cus_new" }), at(NEW_YEAR))).error,
      "id_taken",
    );
    assert.equal(await store.managedCustomer("nobody"), undefined);
  });

  test("a change is there for whoever asks next, moves the e-mail's list, and updated_at", async (t) => {
    const { store, reopen } = await engine.open(t);
    const other = await reopen();
    await putCustomers(store, customer("a", { last_seen_at: 5 }));
    const shown = await executed(store, command.changeCustomer("a", { email: "new@b.example", phone: "7" }), at(LATER));
    const found = await other.customerById("a", UNRESTRICTED);
    assert.deepEqual(found, {
      ...customer("a", { email: "new@b.example", phone: "7", updated_at: LATER, last_seen_at: 5 }),
      tank_count: 0,
    });
    const managed = await other.managedCustomer("a");
    assert.deepEqual(managed && customerResource(managed), shown);
    for (const [email, total] of [
      ["new@b.example", 1],
      ["office@customers.example", 0],
    ] as const) {
      const page = await other.customerPage({ from: undefined, to: undefined, page: 1, size: 1, email }, UNRESTRICTED);
      assert.equal(page.totalItems, total);
    }
  });

  test("a change that changes nothing leaves updated_at and the audit log alone", async (t) => {
    const { store } = await engine.open(t);
    await putCustomers(store, customer("a"));
    const [before, entries] = [await store.managedCustomer("a"), await auditTotal(store)];
    for (const fields of [{}, { name: "Customer a" }, { phone: null, is_verified: false }]) {
      await executed(store, command.changeCustomer("a", fields), at(LATER));
    }
    assert.deepEqual([await store.managedCustomer("a"), await auditTotal(store)], [before, entries]);
  });

  test("updated_at moves with every real change, though the clock stands still or goes back", async (t) => {
    const { store } = await engine.open(t);
    await putCustomers(store, customer("a"));
    let last = NEW_YEAR;
    for (const [i, now] of [NEW_YEAR, NEW_YEAR, NEW_YEAR - DAY, LATER, LATER].entries()) {
      await executed(store, command.changeCustomer("a", { name: `Name ${i}` }), at(now));
      const updated_at = (await store.managedCustomer("a"))?.customer.updated_at ?? 0;
      assert.equal(updated_at, Math.max(now, last + 1));
      last = updated_at;
    }
  });

  test("two operators do not overwrite each other: the second has to look again", async (t) => {
    const { store, reopen } = await engine.open(t);
    const other = await reopen();
    const { etag: tag } = await executed(store, command.createCustomer("a", { email: "a@b.example", name: "A" }), at(NEW_YEAR));
    const changes = [store, other].map((mine, i) =>
      mine.execute(command.changeCustomer("a", { name: `by ${i}` }, tag), at(LATER)),
    );
    const words = (await Promise.all(changes)).map((one) => ("error" in one ? one.error : "done"));
    assert.deepEqual(words.toSorted(), ["done", "precondition_failed"]);
    const name = (await store.managedCustomer("a"))?.customer.name;
    assert.equal(name, `by ${words.indexOf("done")}`);
    const managed = await store.managedCustomer("a");
    assert.ok(managed);
    await executed(other, command.changeCustomer("a", { name: "again" }, customerResource(managed).etag), at(LATER));
    for (const given of [command.deleteCustomer("a", false, tag), command.restoreCustomer("a", true, tag)]) {
      assert.equal((await errorOf(store, given, at(LATER))).error, "precondition_failed");
    }
    await executed(store, command.deleteCustomer("a", false, "*"), at(LATER));
  });

  test("what is refused has changed nothing", async (t) => {
    const { store } = await engine.open(t);
    await putCustomers(store, customer("a"));
    await store.importCustomers([{ customer: customer("gone"), deleted: true }]);
    await putTanks(store, tank("one", "a"));
    const entries = await auditTotal(store);
    const refusals = [
      [command.createCustomer("x", { email: "nobody", phone: 5 }), "body_invalid"],
      [command.createCustomer("x", { id: "gone", email: "a@b.example", name: "A" }), "id_taken"],
      [command.changeCustomer("nobody", {}), "customer_unknown"],
      [command.changeCustomer("gone", {}), "state_conflict"],
      [command.changeCustomer("a", { tank_count: 7 }), "body_invalid"],
      [command.deleteCustomer("nobody"), "customer_unknown"],
      [command.deleteCustomer("a"), "customer_has_tanks"],
      [command.restoreCustomer("nobody"), "customer_unknown"],
    ] as const;
    for (const [given, code] of refusals) assert.equal((await errorOf(store, given, at(LATER))).error, code);
    const { errors } = await errorOf(store, command.createCustomer("x", { email: "nobody", phone: 5 }), at(LATER));
    assert.deepEqual(errors?.map(({ field }) => field).toSorted(), ["email", "name", "phone"]);
    assert.equal(await auditTotal(store), entries);
    assert.deepEqual(await store.customerById("a", UNRESTRICTED), { ...customer("a"), tank_count: 1 });
    assert.equal(await store.managedCustomer("x"), undefined);
  });

  test("deleted, a customer is known and in no list; restored, it is as it was", async (t) => {
    const { store } = await engine.open(t);
    await putCustomers(store, customer("a"), customer("b"));
    await createKey(store, key("k", { customer_id: "a" }), "hash");
    const before = await store.managedCustomer("a");
    const shown = await executed(store, command.deleteCustomer("a"), at(LATER));
    assert.deepEqual([shown.object["deleted"], shown.object["updated_at"]], [true, formatInstant(NEW_YEAR)]);
    assert.equal(await store.customerById("a", UNRESTRICTED), "deleted");
    assert.equal((await store.managedCustomer("a"))?.deleted, true);
    assert.equal((await store.keyByHash("hash"))?.customer_deleted, true);
    const entries = await auditTotal(store);
    await executed(store, command.deleteCustomer("a"), at(LATER));
    assert.equal(await auditTotal(store), entries, "deleting again does nothing");
    await executed(store, command.restoreCustomer("a"), at(LATER + 1));
    assert.deepEqual(await store.managedCustomer("a"), before);
    assert.equal((await store.keyByHash("hash"))?.customer_deleted, false);
    assert.deepEqual((await checked(store)).findings, []);
  });

  test("a customer takes its tanks along and brings them back, readings included, and only those that went along", async (t) => {
    const { store } = await engine.open(t);
    await putCustomers(store, customer("a"), customer("b"));
    const ids = ["one", "two", "before", "imported"];
    await putTanks(store, ...ids.map((id) => tank(id, "a")), tank("other", "b"));
    for (const id of ids) await putReadings(store, id, [[1, 50]]);
    await executed(store, command.deleteTank("before"), at(NEW_YEAR + 1));
    await store.importTanks([{ remove: "imported" }], at(NEW_YEAR + 2));
    assert.deepEqual(await tankCounts(store, "a", "b"), [2, 1]);
    assert.equal((await errorOf(store, command.deleteCustomer("a"), at(LATER))).error, "customer_has_tanks");
    const gone = await executed(store, command.deleteCustomer("a", true), at(LATER));
    assert.equal(gone.object["tank_count"], 0);
    assert.deepEqual(await stateOf(store, ids), ["deleted", "deleted", "deleted", "deleted"]);
    assert.deepEqual(
      (await tanksOf(store)).data.map(({ id }) => id),
      ["other"],
    );
    assert.deepEqual((await checked(store)).findings, []);

    const back = await executed(store, command.restoreCustomer("a"), at(LATER + DAY));
    assert.equal(back.object["tank_count"], 2);
    assert.deepEqual(await stateOf(store, ids), ["live", "live", "deleted", "deleted"]);
    assert.deepEqual(await tankCounts(store, "a", "b"), [2, 1]);
    for (const id of ["one", "two"]) {
      assert.deepEqual(await fillsOf(store, id), [[1, 50]]);
      assert.deepEqual((await store.managedTank(id))?.tank, tank(id, "a"), "updated_at is what it was");
    }
    assert.deepEqual((await checked(store)).findings, []);
  });

  test("a customer may come back without its tanks, and each tank later by itself", async (t) => {
    const { store } = await engine.open(t);
    await putCustomers(store, customer("a"));
    await putTanks(store, tank("one", "a"), tank("two", "a"));
    await executed(store, command.deleteCustomer("a", true), at(NEW_YEAR + 1));
    assert.equal((await errorOf(store, command.restoreTank("one"), at(LATER))).error, "state_conflict");
    const shown = await executed(store, command.restoreCustomer("a", false), at(LATER));
    assert.equal(shown.object["tank_count"], 0);
    assert.deepEqual([await tankCounts(store, "a"), await stateOf(store, ["one", "two"])], [[0], ["deleted", "deleted"]]);
    await executed(store, command.restoreTank("one"), at(LATER + 1));
    await executed(store, command.deleteCustomer("a", true), at(LATER + 2));
    await executed(store, command.restoreCustomer("a"), at(LATER + 3));
    assert.deepEqual([await tankCounts(store, "a"), await stateOf(store, ["one", "two"])], [[1], ["live", "deleted"]]);
  });

  test("a customer is not restored with a tank whose device serves another by now", async (t) => {
    const { store } = await engine.open(t);
    await putCustomers(store, customer("a"), customer("b"));
    await putTanks(store, tank("one", "a", { assigned_device_id: "d1" }), tank("two", "a", { assigned_device_id: "d2" }));
    await executed(store, command.deleteCustomer("a", true), at(NEW_YEAR + 1));
    await putTanks(store, tank("other", "b", { assigned_device_id: "d1" }));
    const { error: refused, detail } = await errorOf(store, command.restoreCustomer("a"), at(LATER));
    assert.equal(refused, "device_in_use");
    assert.match(detail, /d1.*other/);
    assert.deepEqual(await tankCounts(store, "a"), ["deleted"]);
    await executed(store, command.changeTank("other", { assigned_device_id: "d3" }), at(LATER));
    await executed(store, command.restoreCustomer("a"), at(LATER));
    assert.deepEqual(await tankCounts(store, "a", "b"), [2, 1]);
    assert.deepEqual((await checked(store)).findings, []);
  });

  test("texts that no engine can hold are refused, not tried", async (t) => {
    const { store } = await engine.open(t);
    await putCustomers(store, customer("a"));
    const impossible = ["a\u0000b", "\ud800", "x".repeat(600)];
    for (const text of impossible) {
      const { error: refused, errors } = await errorOf(
        store,
        command.createCustomer("x", { id: text, email: "a@b.example", name: text }),
        at(LATER),
      );
      assert.deepEqual([refused, errors?.map(({ field }) => field)], ["body_invalid", ["id", "name"]]);
    }
  });
}
