// Commands: what they store. Their rules are tested in test/domain/commands.

import assert from "node:assert/strict";
import test from "node:test";
import { type Command, IDEMPOTENCY_MS, withReleasedField } from "../../../src/domain/commands/command.ts";
import { UNRESTRICTED } from "../../../src/domain/key.ts";
import { customerResource, deviceResource, keyResource, tankResource } from "../../../src/domain/resource.ts";
import type { Store } from "../../../src/domain/store.ts";
import { NO_LOCATION } from "../../../src/domain/tank.ts";
import { ManagementService } from "../../../src/http/management.ts";
import { at, command, createKey, errorOf, executed, revokeKey, tankFields } from "../../support/commands.ts";
import { putReadings } from "../../support/records.ts";
import type { Engine } from "../engines.ts";
import {
  checked,
  customer,
  customersOf,
  DAY,
  fillsOf,
  key,
  NEW_YEAR,
  putCustomers,
  putTanks,
  scopeOf,
  tank,
  tankCounts,
  tanksOf,
  WHOLE_LOG,
} from "./objects.ts";

const LATER = NEW_YEAR + DAY;
const SHAPE = { kind: "upright", height: 2, unit: "m" } as const;
const ANNA = { email: "anna@b.example", name: "Anna", phone: "1", is_verified: true };

const auditTotal = async (store: Store): Promise<number> => (await store.auditPage(WHOLE_LOG)).totalItems;
const resultNames = async (results: readonly ReturnType<Store["execute"]>[]) =>
  (await Promise.all(results)).map((result) => ("error" in result ? result.error : "executed"));

export function commandConformance(engine: Engine): void {
  test("a created object is in every list, and has the etag that the command returned, for other stores too", async (t) => {
    const { store, reopen } = await engine.open(t);
    const other = await reopen();
    const createdCustomer = await executed(store, command.createCustomer("cus_new", ANNA), at(NEW_YEAR));
    const anna = customer("cus_new", { email: "anna@b.example", name: "Anna", phone: "1", verified_at: NEW_YEAR });
    assert.deepEqual((await customersOf(other, { from: NEW_YEAR, email: anna.email })).data, [{ ...anna, tank_count: 0 }]);
    const managedCustomer = await other.managedCustomer("cus_new");
    assert.deepEqual(managedCustomer && customerResource(managedCustomer), createdCustomer);

    const more = { location: { city: "Ulm", latitude: 48.4 }, custom_id: "H3", use_case: "residential", shape: SHAPE };
    const createdTank = await executed(store, command.createTank("tank_new", tankFields("cus_new", "d1", more)), at(NEW_YEAR));
    const one = tank("tank_new", "cus_new", {
      assigned_device_id: "d1",
      custom_id: "H3",
      location: { ...NO_LOCATION, city: "Ulm", latitude: 48.4 },
      name: "A tank",
      use_case: "residential",
    });
    const managedTank = await other.managedTank("tank_new");
    assert.deepEqual(managedTank, {
      tank: one,
      deleted: false,
      deletedAt: null,
      shape: SHAPE,
      alerts: { silent_after: null, paused_until: null, runs_low_soon: true, leak: true },
    });
    assert.deepEqual(managedTank && withReleasedField(tankResource(managedTank)), createdTank);
    assert.deepEqual((await tanksOf(other, { from: NEW_YEAR, to: NEW_YEAR }, scopeOf("cus_new"))).data, [one]);
    assert.deepEqual(await tankCounts(other, "cus_new"), [1]);
    assert.deepEqual([...(await putReadings(other, "tank_new", [[1, 50]]))], [0]);

    const putDevice = await executed(store, command.putDevice("d2", { tank_id: "tank_new", profile: "elsys" }), at(LATER));
    const managedDevice = await other.managedDevice("d2");
    assert.deepEqual(managedDevice && deviceResource(managedDevice).etag, putDevice.etag);
    assert.deepEqual(managedDevice?.device, {
      id: "d2",
      tank_id: "tank_new",
      since: managedDevice?.device.since,
      profile: "elsys",
    });
    assert.equal((await other.managedDevice("d1"))?.device.tank_id, null);
    assert.equal((await other.managedTank("tank_new"))?.tank.assigned_device_id, "d2");
    assert.deepEqual((await checked(store)).findings, []);
  });

  test("a change moves an object between lists; one that changes nothing leaves it and the audit log alone", async (t) => {
    const { store } = await engine.open(t);
    await putCustomers(store, customer("a", { last_seen_at: 5 }), customer("b"));
    await putTanks(store, tank("one", "a", { assigned_device_id: "d1" }), tank("two", "b", { assigned_device_id: "d2" }));
    await executed(store, command.changeCustomer("a", { email: "new@b.example" }), at(LATER));
    const changed = customer("a", { email: "new@b.example", updated_at: LATER, last_seen_at: 5 });
    assert.deepEqual(await store.customerById("a", UNRESTRICTED), { ...changed, tank_count: 1 });
    const byEmail = await Promise.all(["new@b.example", customer("a").email].map((email) => customersOf(store, { email })));
    assert.deepEqual(
      byEmail.map(({ data }) => data.map(({ id }) => id)),
      [["a"], ["b"]],
    );
    await executed(
      store,
      command.changeTank("one", { owner_id: "b", assigned_device_id: "d2", shape: SHAPE }, { swap: true }),
      at(LATER),
    );
    assert.deepEqual((await tanksOf(store, {}, scopeOf("b"))).data, [
      tank("two", "b", { assigned_device_id: "d1", updated_at: LATER }),
      tank("one", "b", { assigned_device_id: "d2", updated_at: LATER }),
    ]);
    assert.deepEqual([await tankCounts(store, "a", "b"), (await tanksOf(store, {}, scopeOf("a"))).totalItems], [[0, 2], 0]);
    const before = [await store.managedTank("one"), await store.managedCustomer("a"), await auditTotal(store)];
    await executed(store, command.changeTank("one", { name: "Tank one", shape: SHAPE, location: {} }), at(LATER + 1));
    await executed(store, command.changeCustomer("a", { email: "new@b.example", phone: null }), at(LATER + 1));
    await executed(store, command.putDevice("d2", { tank_id: "one" }), at(LATER + 1));
    assert.deepEqual([await store.managedTank("one"), await store.managedCustomer("a"), await auditTotal(store)], before);
    assert.deepEqual((await checked(store)).findings, []);
  });

  test("a deleted customer who unsubscribes is still deleted, and restored with the tanks", async (t) => {
    const { store } = await engine.open(t);
    await putCustomers(store, customer("a"));
    await putTanks(store, tank("one", "a"));
    await executed(store, command.deleteCustomer("a", true), at(LATER));
    const fields = { notifications: { unsubscribed_at: new Date(LATER).toISOString() } };
    await executed(store, { type: "change_customer", id: "a", fields, includeDeleted: true }, at(LATER + 1));
    assert.equal((await store.managedCustomer("a"))?.deleted, true);
    assert.equal((await customersOf(store)).totalItems, 0);
    assert.deepEqual((await checked(store)).findings, []);
    await executed(store, command.restoreCustomer("a", true), at(LATER + 2));
    assert.equal((await store.managedCustomer("a"))?.notifications.unsubscribed_at, LATER);
    assert.deepEqual(await tankCounts(store, "a"), [1]);
    assert.deepEqual((await checked(store)).findings, []);
  });

  test("of two commands at once that exclude each other one fails", async (t) => {
    const { store, reopen } = await engine.open(t);
    const stores = [store, await reopen()];
    const { etag } = await executed(store, command.createCustomer("a", ANNA), at(NEW_YEAR));
    const renamed = await resultNames(
      stores.map((mine, i) => mine.execute(command.changeCustomer("a", { name: `by ${i}` }, etag), at(LATER))),
    );
    assert.deepEqual(renamed.toSorted(), ["executed", "precondition_failed"]);
    assert.equal((await store.managedCustomer("a"))?.customer.name, `by ${renamed.indexOf("executed")}`);
    await putTanks(store, tank("one", "a"), tank("two", "a"));
    const assigned = ["one", "two"].map((id, i) =>
      (stores[i] as Store).execute(command.changeTank(id, { assigned_device_id: "new" }), at(LATER)),
    );
    assert.deepEqual((await resultNames(assigned)).toSorted(), ["device_in_use", "executed"]);
    assert.deepEqual((await checked(store)).findings, []);
  });

  test("a customer is deleted and restored with its tanks, except for those that were deleted before", async (t) => {
    const { store } = await engine.open(t);
    await putCustomers(store, customer("a"), customer("b"));
    await createKey(store, key("k", { customer_id: "a" }), "hash");
    const ids = ["one", "two", "before", "imported"];
    await putTanks(store, ...ids.map((id) => tank(id, "a")), tank("other", "b"));
    for (const id of ids) await putReadings(store, id, [[1, 50]]);
    await executed(store, command.deleteTank("before"), at(NEW_YEAR + 1));
    await store.importTanks([{ remove: "imported" }], at(NEW_YEAR + 2));
    const before = [await store.managedCustomer("a"), await store.managedTank("one"), await store.managedTank("two")];
    assert.equal((await errorOf(store, command.deleteCustomer("a"), at(LATER))).error, "customer_has_tanks");
    const deleted = await executed(store, command.deleteCustomer("a", true), at(LATER));
    assert.deepEqual([deleted.object["tank_count"], deleted.object["deleted"]], [0, true]);
    assert.deepEqual([await store.tankById("one", UNRESTRICTED), (await tanksOf(store)).data], ["deleted", [tank("other", "b")]]);
    assert.equal((await store.keyByHash("hash"))?.customer_deleted, true);
    assert.deepEqual((await checked(store)).findings, []);

    await executed(store, command.restoreCustomer("a"), at(LATER + DAY));
    assert.deepEqual([await store.managedCustomer("a"), await store.managedTank("one"), await store.managedTank("two")], before);
    assert.deepEqual(await Promise.all(ids.map(async (id) => (await store.managedTank(id))?.deleted)), [
      false,
      false,
      true,
      true,
    ]);
    assert.deepEqual([await tankCounts(store, "a", "b"), await fillsOf(store, "one")], [[2, 1], [[1, 50]]]);
    assert.equal((await store.keyByHash("hash"))?.customer_deleted, false);

    await executed(store, command.deleteCustomer("a", true), at(LATER + 2 * DAY));
    await executed(store, command.restoreCustomer("a", false), at(LATER + 3 * DAY));
    await executed(store, command.restoreTank("one"), at(LATER + 3 * DAY));
    assert.deepEqual(await tankCounts(store, "a"), [1]);
    assert.deepEqual((await checked(store)).findings, []);
  });

  test("texts that an engine cannot store are validation errors", async (t) => {
    const { store } = await engine.open(t);
    await putCustomers(store, customer("a"));
    await putTanks(store, tank("one", "a"));
    for (const text of ["a\u0000b", "\ud800", "x".repeat(600)]) {
      const fields = { owner_id: text, assigned_device_id: text, location: { city: text } };
      for (const given of [command.createCustomer("x", { ...ANNA, id: text }), command.changeTank("one", fields)]) {
        assert.equal((await errorOf(store, given, at(LATER))).error, "body_invalid");
      }
      assert.equal((await errorOf(store, command.deleteTank(text), at(LATER))).error, "tank_unknown");
    }
  });

  test("a key is found by the hash of its secret only, and revoked for all stores at once", async (t) => {
    const { store, reopen } = await engine.open(t);
    const other = await reopen();
    await putCustomers(store, customer("a"));
    const full = key("full", { customer_id: "a", rate: 2.5, role: "ingest", expires_at: NEW_YEAR + 10 * DAY });
    for (const one of [key("bare"), full, key("sender", { device_id: "device", role: "ingest" })]) {
      await createKey(store, one, `hash of ${one.id}`);
      assert.deepEqual(await other.keyByHash(`hash of ${one.id}`), { ...one, customer_deleted: false });
    }
    for (const hash of ["", "bare", "HASH OF BARE", "hash of bare ", "hash of"])
      assert.equal(await store.keyByHash(hash), undefined);
    const changed = await executed(store, command.changeKey("bare", { name: "New", rate: 7 }), at(LATER));
    const found = await other.keyByHash("hash of bare");
    assert.deepEqual(found && keyResource(found, LATER), changed);
    await executed(store, command.rotateKey("full", DAY, "next", "next hash"), at(NEW_YEAR + 2 * DAY));
    const next = {
      ...full,
      id: "next",
      created_at: NEW_YEAR + 2 * DAY,
      expires_at: NEW_YEAR + 12 * DAY,
      customer_deleted: false,
    };
    assert.deepEqual(await other.keyByHash("next hash"), next);
    const { expires_at, replaced_by } = (await other.keyByHash("hash of full")) ?? {};
    assert.deepEqual([expires_at, replaced_by], [NEW_YEAR + 3 * DAY, "next"]);
    await revokeKey(other, "next", NEW_YEAR + 5);
    assert.equal((await store.keyByHash("next hash"))?.revoked_at, NEW_YEAR + 5);
    const before = await store.keyList();
    await assert.rejects(createKey(store, key("k2"), "hash of bare"));
    await assert.rejects(createKey(store, key("bare"), "hash 2"));
    await assert.rejects(executed(store, command.rotateKey("bare", 0, "k3", "hash of sender"), at(LATER)));
    assert.deepEqual(await store.keyList(), before);
  });
}

const create = (newId: string): Command => command.createCustomer(newId, ANNA);

/** The id of the returned customer and whether it is a replay, or the error. */
async function executeOnce(store: Store, given: Command, context: ReturnType<typeof at>, key: string, fingerprint = "this") {
  const result = await store.execute(given, context, { key, fingerprint });
  return "error" in result ? result.error : [result.resource.object["id"], result.replayed];
}

export function idempotencyConformance(engine: Engine): void {
  test("a command with a known idempotency key is not executed again: it returns its first result", async (t) => {
    const { store, reopen } = await engine.open(t);
    const first = await store.execute(create("one"), at(NEW_YEAR), { key: "k", fingerprint: "this" });
    assert.ok(!("error" in first));
    await executed(store, command.changeCustomer("one", { name: "Changed" }), at(NEW_YEAR + 1));
    const again = await (await reopen()).execute(create("two"), at(NEW_YEAR + 2), { key: "k", fingerprint: "this" });
    assert.deepEqual(again, { resource: first.resource, replayed: true });
    assert.deepEqual([await store.managedCustomer("two"), await auditTotal(store)], [undefined, 2]);
  });

  test("idempotency keys are per caller, exact, and for one request", async (t) => {
    const { store } = await engine.open(t);
    assert.deepEqual(await executeOnce(store, create("one"), at(NEW_YEAR, "key_a"), "k"), ["one", false]);
    assert.equal(await executeOnce(store, create("two"), at(NEW_YEAR, "key_a"), "k", "that"), "idempotency_key_reused");
    assert.deepEqual(await executeOnce(store, create("three"), at(NEW_YEAR, "key_a"), "K"), ["three", false]);
    assert.deepEqual(await executeOnce(store, create("four"), at(NEW_YEAR, "key_b"), "k", "that"), ["four", false]);
    assert.deepEqual(await executeOnce(store, create("five"), at(NEW_YEAR, "key_a"), "k"), ["one", true]);
    assert.equal((await customersOf(store)).totalItems, 3);
  });

  test("a result is kept for a day; an error is not kept", async (t) => {
    const { store } = await engine.open(t);
    const invalid = command.createTank("tank", tankFields("one", "d1"));
    assert.equal(await executeOnce(store, invalid, at(NEW_YEAR), "tank"), "body_invalid");
    await executeOnce(store, create("one"), at(NEW_YEAR), "k");
    assert.deepEqual(await executeOnce(store, invalid, at(NEW_YEAR), "tank"), ["tank", false]);
    assert.deepEqual(await executeOnce(store, create("two"), at(NEW_YEAR + IDEMPOTENCY_MS - 1), "k"), ["one", true]);
    assert.deepEqual(await executeOnce(store, create("two"), at(NEW_YEAR + IDEMPOTENCY_MS), "k", "that"), ["two", false]);
    assert.deepEqual(await executeOnce(store, create("three"), at(NEW_YEAR + IDEMPOTENCY_MS + 1), "k", "that"), ["two", true]);
  });

  test("of concurrent commands with one idempotency key, one is executed, also across stores", async (t) => {
    const { store, reopen } = await engine.open(t);
    const stores = [store, await reopen(), await reopen()];
    const results = await Promise.all(
      Array.from({ length: 9 }, (_, i) => executeOnce(stores[i % 3] as Store, create(`c${i}`), at(NEW_YEAR + i), "k")),
    );
    assert.equal(new Set(results.map(([id]) => id)).size, 1, JSON.stringify(results));
    assert.equal(results.filter(([, isReplay]) => isReplay === false).length, 1);
    assert.equal((await customersOf(store)).totalItems, 1);
    assert.deepEqual((await checked(store)).findings, []);
  });

  const manyRows = (prefix: string) => {
    const fields = { name: "N", email: "n@x.example" };
    return { customers: Array.from({ length: 1100 }, (_, i) => ({ newId: `${prefix}${i}`, fields })), tanks: [] };
  };

  test("of two provisionings in parts with one idempotency key, the refused one writes no row", async (t) => {
    const { store, reopen } = await engine.open(t);
    const services = [store, await reopen()].map((one) => new ManagementService(one, () => NEW_YEAR));
    const results = await Promise.allSettled(
      services.map((service, i) => service.provision(manyRows(`r${i}-`), false, "test", { key: "k", fingerprint: `r${i}` })),
    );
    const refused = results.flatMap((result) => (result.status === "rejected" ? [result.reason.code] : []));
    assert.deepEqual(refused, ["idempotency_key_reused"]);
    assert.equal((await customersOf(store)).totalItems, 1100);
  });

  test("a provisioning that was interrupted keeps its idempotency key, and is completed by its repetition only", async (t) => {
    const { store } = await engine.open(t);
    let parts = 0;
    const execute: Store["execute"] = (...args) =>
      ++parts === 3 ? Promise.reject(new Error("stopped")) : store.execute(...args);
    const interrupted = new ManagementService({ ...store, execute }, () => NEW_YEAR);
    const key = { key: "k", fingerprint: "this" };
    await assert.rejects(interrupted.provision(manyRows("r"), false, "test", key), /stopped/);
    assert.equal(await executeOnce(store, create("other"), at(NEW_YEAR, "test"), "k", "that"), "idempotency_key_reused");
    const service = new ManagementService(store, () => NEW_YEAR);
    const completed = await service.provision(manyRows("r"), false, "test", key);
    assert.deepEqual(completed.resource.object["customers"], { new: 600, changed: 0, unchanged: 500 });
    assert.equal(completed.replayed, false);
    assert.deepEqual(await service.provision(manyRows("r"), false, "test", key), { ...completed, replayed: true });
    assert.equal((await customersOf(store)).totalItems, 1100);
  });
}
