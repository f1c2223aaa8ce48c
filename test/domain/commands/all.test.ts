// Rules that hold for the commands on every kind of object.

import assert from "node:assert/strict";
import test from "node:test";
import type { Command } from "../../../src/domain/commands/command.ts";
import { alertResource, customerResource, deviceResource, keyResource, tankResource } from "../../../src/domain/resource.ts";
import { key } from "../../store/conformance/objects.ts";
import { command, tankFields } from "../../support/commands.ts";
import { ANNA, assertErrors, assertNoChanges, EUI, FREE, NOW, OLD, ONE, OPEN, PLAIN, planned, SHAPE } from "./planned.ts";

const CUSTOMER = { email: "a@b.example", name: "Anna" };

test("a body that is not an object is invalid", async () => {
  for (const fields of [null, undefined, [], "name", 5, true, [CUSTOMER]]) {
    await assertErrors("body_invalid", [
      command.createCustomer("cus_new", fields),
      command.changeCustomer("anna", fields),
      command.createTank("tank_new", fields),
      command.changeTank("one", fields),
      command.putDevice("free", fields),
      command.changeKey("plain", fields),
      { type: "create_key", newId: "key_new", fields, hash: "hash" },
    ]);
  }
});

test("an id that is in use, also by a deleted object, cannot be used again", async () => {
  await assertErrors("id_taken", [
    command.createCustomer("cus_new", { ...CUSTOMER, id: "anna" }),
    command.createCustomer("cus_new", { ...CUSTOMER, id: "gone" }),
    command.createTank("tank_new", tankFields("anna", "new", { id: "one" })),
    command.createTank("tank_new", tankFields("anna", "new", { id: "old" })),
  ]);
});

test("commands on an unknown object fail", async () => {
  const { changeCustomer, deleteCustomer, restoreCustomer, changeTank, deleteTank, restoreTank } = command;
  await assertErrors("customer_unknown", [changeCustomer("x", CUSTOMER), deleteCustomer("x"), restoreCustomer("x")]);
  await assertErrors("tank_unknown", [changeTank("x", {}), deleteTank("x"), restoreTank("x")]);
  await assertErrors("key_unknown", [
    command.changeKey("x", {}),
    command.revokeKey("x"),
    command.rotateKey("x", 0, "next", "hash"),
  ]);
  await assertErrors("device_unknown", [command.removeDevice("x")]);
  await assertErrors("alert_unknown", [command.acknowledgeAlert("x"), command.closeAlert("x")]);
  for (const id of ["", "a\u0000b", "x".repeat(129), "\ud800"]) {
    await assertErrors("device_unknown", [command.putDevice(id, {}), command.removeDevice(id)]);
  }
});

test("what is deleted or revoked cannot be changed", async () => {
  await assertErrors("state_conflict", [
    command.changeCustomer("gone", { name: "New" }),
    command.changeTank("old", { name: "New" }),
    command.changeKey("revoked", { name: "New" }),
  ]);
});

test("a command that changes nothing plans no changes", async () => {
  for (const given of [
    command.changeCustomer("anna", {}),
    command.changeCustomer("anna", { name: "Customer anna" }),
    command.changeCustomer("anna", { email: "anna@b.example", phone: "1", is_verified: true }),
    command.deleteCustomer("gone", true),
    command.restoreCustomer("anna"),
    command.changeTank("one", {}),
    command.changeTank("one", { name: "Tank one", location: { city: "Ulm" } }),
    command.changeTank("one", { location: {}, shape: null }),
    command.changeTank("two", { shape: SHAPE }),
    command.deleteTank("old"),
    command.restoreTank("one"),
    command.putDevice("free", {}),
    command.putDevice(EUI, { tank_id: "two" }),
    command.putDevice(EUI.toLowerCase(), { tank_id: "two" }),
    command.changeKey("plain", {}),
    command.changeKey("plain", { name: "Key plain" }),
    command.changeKey("plain", { rate: null, expires_at: null }),
    command.revokeKey("revoked"),
    command.acknowledgeAlert("taken"),
    command.acknowledgeAlert("taken", { note: "Friday" }),
    command.closeAlert("closed"),
    command.closeAlert("closed", { note: "Friday" }),
  ]) {
    await assertNoChanges(given);
  }
  assert.deepEqual((await planned(command.changeCustomer("anna", {}))).resource, customerResource(ANNA));
});

/** Commands with If-Match, and the ETag of the object that each is on. */
const CONDITIONAL: readonly (readonly [etag: string, make: (ifMatch: string) => Command])[] = [
  [customerResource(ANNA).etag, (ifMatch) => command.changeCustomer("anna", { name: "B" }, ifMatch)],
  [customerResource(ANNA).etag, (ifMatch) => command.deleteCustomer("anna", true, ifMatch)],
  [customerResource(ANNA).etag, (ifMatch) => command.restoreCustomer("anna", true, ifMatch)],
  [tankResource(ONE).etag, (ifMatch) => command.changeTank("one", { name: "B" }, { ifMatch })],
  [tankResource(ONE).etag, (ifMatch) => command.deleteTank("one", ifMatch)],
  [tankResource(OLD).etag, (ifMatch) => command.restoreTank("old", {}, ifMatch)],
  [deviceResource({ device: FREE, pending: 99, dropped: 3 }).etag, (ifMatch) => command.putDevice("free", {}, { ifMatch })],
  [deviceResource({ device: FREE, pending: 99, dropped: 3 }).etag, (ifMatch) => command.removeDevice("free", ifMatch)],
  [keyResource(PLAIN, NOW).etag, (ifMatch) => command.changeKey("plain", { name: "B" }, ifMatch)],
  [keyResource(PLAIN, NOW).etag, (ifMatch) => ({ type: "revoke_key", id: "plain", ifMatch })],
  [alertResource(OPEN).etag, (ifMatch) => command.acknowledgeAlert("open", {}, { ifMatch })],
  [alertResource(OPEN).etag, (ifMatch) => command.closeAlert("open", {}, ifMatch)],
];

test("If-Match: the ETag, one of a list, or any; with another one the object has changed meanwhile", async () => {
  for (const [etag, make] of CONDITIONAL) {
    for (const ifMatch of [etag, "*", `"other", ${etag}`, `${etag},"other"`]) await planned(make(ifMatch));
    const weak = `W/${etag}`;
    const others = ['"other"', "", weak, etag.slice(1, -1), etag.toUpperCase(), `"other", ${weak}`];
    await assertErrors("precondition_failed", others.map(make));
  }
  await assertErrors("precondition_failed", [
    command.changeCustomer("anna", { name: 5 }, '"other"'),
    command.putDevice("unknown", {}, { ifMatch: "*" }),
  ]);
});

test("no plan contains the hash of a secret, except where the key is stored", async () => {
  for (const given of [
    command.createKey(key("new"), "the hash"),
    command.rotateKey("plain", 0, "next", "the hash"),
    command.changeKey("plain", { name: "Other" }),
    command.revokeKey("plain"),
  ]) {
    const { resource, audit } = await planned(given);
    assert.doesNotMatch(JSON.stringify([resource, audit]), /hash|secret/);
  }
});
