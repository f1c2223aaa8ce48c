// Rules that hold for the commands on every kind of object.

import assert from "node:assert/strict";
import test from "node:test";
import type { Command } from "../../../src/domain/commands/command.ts";
import { customerResource, deviceResource, keyResource, tankResource } from "../../../src/domain/resource.ts";
import { key } from "../../store/conformance/objects.ts";
import { order, tankFields } from "../../support/orders.ts";
import { ANNA, assertErrors, assertNoChanges, EUI, FREE, NOW, OLD, ONE, PLAIN, planned, SHAPE } from "./planned.ts";

const CUSTOMER = { email: "a@b.example", name: "Anna" };

test("a body that is not an object is invalid", async () => {
  for (const fields of [null, undefined, [], "name", 5, true, [CUSTOMER]]) {
    await assertErrors("body_invalid", [
      order.createCustomer("cus_new", fields),
      order.changeCustomer("anna", fields),
      order.createTank("tank_new", fields),
      order.changeTank("one", fields),
      order.putDevice("free", fields),
      order.changeKey("plain", fields),
      { type: "create_key", newId: "key_new", fields, hash: "hash" },
    ]);
  }
});

test("an id that is in use, also by a deleted object, cannot be used again", async () => {
  await assertErrors("id_taken", [
    order.createCustomer("cus_new", { ...CUSTOMER, id: "anna" }),
    order.createCustomer("cus_new", { ...CUSTOMER, id: "gone" }),
    order.createTank("tank_new", tankFields("anna", "new", { id: "one" })),
    order.createTank("tank_new", tankFields("anna", "new", { id: "old" })),
  ]);
});

test("commands on an unknown object fail", async () => {
  const { changeCustomer, deleteCustomer, restoreCustomer, changeTank, deleteTank, restoreTank } = order;
  await assertErrors("customer_unknown", [changeCustomer("x", CUSTOMER), deleteCustomer("x"), restoreCustomer("x")]);
  await assertErrors("tank_unknown", [changeTank("x", {}), deleteTank("x"), restoreTank("x")]);
  await assertErrors("key_unknown", [order.changeKey("x", {}), order.revokeKey("x"), order.replaceKey("x", 0, "next", "hash")]);
  await assertErrors("device_unknown", [order.forgetDevice("x")]);
  for (const id of ["", "a\u0000b", "x".repeat(129), "\ud800"]) {
    await assertErrors("device_unknown", [order.putDevice(id, {}), order.forgetDevice(id)]);
  }
});

test("what is deleted or revoked cannot be changed", async () => {
  await assertErrors("state_conflict", [
    order.changeCustomer("gone", { name: "New" }),
    order.changeTank("old", { name: "New" }),
    order.changeKey("revoked", { name: "New" }),
  ]);
});

test("a command that changes nothing plans no changes", async () => {
  for (const command of [
    order.changeCustomer("anna", {}),
    order.changeCustomer("anna", { name: "Customer anna" }),
    order.changeCustomer("anna", { email: "anna@b.example", phone: "1", is_verified: true }),
    order.deleteCustomer("gone", true),
    order.restoreCustomer("anna"),
    order.changeTank("one", {}),
    order.changeTank("one", { name: "Tank one", location: { city: "Ulm" } }),
    order.changeTank("one", { location: {}, shape: null }),
    order.changeTank("two", { shape: SHAPE }),
    order.deleteTank("old"),
    order.restoreTank("one"),
    order.putDevice("free", {}),
    order.putDevice(EUI, { tank_id: "two" }),
    order.putDevice(EUI.toLowerCase(), { tank_id: "two" }),
    order.changeKey("plain", {}),
    order.changeKey("plain", { name: "Key plain" }),
    order.changeKey("plain", { rate: null, expires_at: null }),
    order.revokeKey("revoked"),
  ]) {
    await assertNoChanges(command);
  }
  assert.deepEqual((await planned(order.changeCustomer("anna", {}))).resource, customerResource(ANNA));
});

/** Commands with If-Match, and the ETag of the object that each is on. */
const CONDITIONAL: readonly (readonly [etag: string, command: (ifMatch: string) => Command])[] = [
  [customerResource(ANNA).etag, (ifMatch) => order.changeCustomer("anna", { name: "B" }, ifMatch)],
  [customerResource(ANNA).etag, (ifMatch) => order.deleteCustomer("anna", true, ifMatch)],
  [customerResource(ANNA).etag, (ifMatch) => order.restoreCustomer("anna", true, ifMatch)],
  [tankResource(ONE).etag, (ifMatch) => order.changeTank("one", { name: "B" }, { ifMatch })],
  [tankResource(ONE).etag, (ifMatch) => order.deleteTank("one", ifMatch)],
  [tankResource(OLD).etag, (ifMatch) => order.restoreTank("old", {}, ifMatch)],
  [deviceResource({ device: FREE, waiting: 99, dropped: 3 }).etag, (ifMatch) => order.putDevice("free", {}, { ifMatch })],
  [deviceResource({ device: FREE, waiting: 99, dropped: 3 }).etag, (ifMatch) => order.forgetDevice("free", ifMatch)],
  [keyResource(PLAIN, NOW).etag, (ifMatch) => order.changeKey("plain", { name: "B" }, ifMatch)],
  [keyResource(PLAIN, NOW).etag, (ifMatch) => ({ type: "revoke_key", id: "plain", ifMatch })],
];

test("If-Match: the ETag, one of a list, or any; with another one the object has changed meanwhile", async () => {
  for (const [etag, command] of CONDITIONAL) {
    for (const ifMatch of [etag, "*", `"other", ${etag}`, `${etag},"other"`]) await planned(command(ifMatch));
    const weak = `W/${etag}`;
    const others = ['"other"', "", weak, etag.slice(1, -1), etag.toUpperCase(), `"other", ${weak}`];
    await assertErrors("precondition_failed", others.map(command));
  }
  await assertErrors("precondition_failed", [
    order.changeCustomer("anna", { name: 5 }, '"other"'),
    order.putDevice("unknown", {}, { ifMatch: tankResource(ONE).etag }),
  ]);
});

test("no plan contains the hash of a secret, except where the key is stored", async () => {
  for (const command of [
    order.addKey(key("new"), "the hash"),
    order.replaceKey("plain", 0, "next", "the hash"),
    order.changeKey("plain", { name: "Other" }),
    order.revokeKey("plain"),
  ]) {
    const { resource, audit } = await planned(command);
    assert.doesNotMatch(JSON.stringify([resource, audit]), /hash|secret/);
  }
});
