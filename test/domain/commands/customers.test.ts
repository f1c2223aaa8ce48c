import assert from "node:assert/strict";
import test from "node:test";
import { formatInstant } from "../../../src/domain/instant.ts";
import { customerResource } from "../../../src/domain/resource.ts";
import { DAY, NEW_YEAR, tank } from "../../store/conformance/objects.ts";
import { order } from "../../support/orders.ts";
import type { StoredObjects } from "../lookups.ts";
import { assertNoChanges, errorOf, invalidFieldsOf, managed, NOW, planned } from "./planned.ts";

const LEAST = { email: "a@b.example", name: "Anna" };
const ANNA = managed("anna", { email: "anna@b.example", phone: "1", verified_at: NEW_YEAR });
const STORED: StoredObjects = { customers: [ANNA, managed("gone", {}, true)] };

test("a customer is made of an e-mail and a name, the rest is as it is of someone new", async () => {
  const { resource, customers } = await planned(STORED, order.createCustomer("cus_new", LEAST));
  assert.deepEqual(resource.object, {
    id: "cus_new",
    object: "customer",
    created_at: formatInstant(NOW),
    email: "a@b.example",
    is_verified: false,
    last_seen_at: null,
    name: "Anna",
    phone: null,
    tank_count: 0,
    updated_at: formatInstant(NOW),
    verified_at: null,
    deleted: false,
  });
  assert.deepEqual(
    customers.map(({ id, before }) => [id, before]),
    [["cus_new", undefined]],
  );
});

test("an id of one's own is kept, unless it is taken, by whoever is deleted too", async () => {
  assert.equal((await planned(STORED, order.createCustomer("cus_new", { ...LEAST, id: "mine" }))).resource.object["id"], "mine");
  for (const id of ["anna", "gone"]) {
    assert.equal((await errorOf(STORED, order.createCustomer("cus_new", { ...LEAST, id }))).error, "id_taken");
  }
});

test("all that is wrong with a new customer is told at once", async () => {
  const wrong = { id: "", email: "nobody", phone: 5, verified_at: "yesterday", is_verified: "yes", colour: "red" };
  assert.deepEqual(await invalidFieldsOf(STORED, order.createCustomer("cus_new", wrong)), [
    "colour",
    "email",
    "id",
    "is_verified",
    "name",
    "phone",
    "verified_at",
  ]);
});

test("what the service keeps itself cannot be given", async () => {
  const kept = {
    object: "customer",
    created_at: formatInstant(0),
    updated_at: formatInstant(0),
    last_seen_at: null,
    tank_count: 3,
  };
  assert.deepEqual(
    await invalidFieldsOf(STORED, order.createCustomer("cus_new", { ...LEAST, ...kept })),
    Object.keys(kept).toSorted(),
  );
  assert.deepEqual(
    await invalidFieldsOf(STORED, order.changeCustomer("anna", { id: "new", ...kept })),
    ["id", ...Object.keys(kept)].toSorted(),
  );
});

test("a body that is no object is told to be wrong as a whole", async () => {
  for (const fields of [null, undefined, [], "name", 5, true, [LEAST]]) {
    for (const command of [order.createCustomer("cus_new", fields), order.changeCustomer("anna", fields)]) {
      assert.equal((await errorOf(STORED, command)).error, "body_invalid", JSON.stringify(fields));
    }
  }
});

test("is_verified and verified_at say the same, and each alone is enough", async () => {
  const verified = async (fields: object) => {
    const { object } = (await planned(STORED, order.createCustomer("cus_new", { ...LEAST, ...fields }))).resource;
    return [object["is_verified"], object["verified_at"]];
  };
  const then = "2025-12-31T23:59:59.000Z";
  assert.deepEqual(await verified({ is_verified: true }), [true, formatInstant(NOW)]);
  assert.deepEqual(await verified({ is_verified: false }), [false, null]);
  assert.deepEqual(await verified({ verified_at: then }), [true, then]);
  assert.deepEqual(await verified({ verified_at: then, is_verified: true }), [true, then]);
  assert.deepEqual(await verified({ verified_at: null, is_verified: false }), [false, null]);
  for (const fields of [
    { verified_at: then, is_verified: false },
    { verified_at: null, is_verified: true },
  ]) {
    assert.deepEqual(await invalidFieldsOf(STORED, order.createCustomer("cus_new", { ...LEAST, ...fields })), ["is_verified"]);
    assert.deepEqual(await invalidFieldsOf(STORED, order.changeCustomer("anna", fields)), ["is_verified"]);
  }
});

test("a change is a merge: what is named changes, null empties, the rest stays", async () => {
  const { resource, customers } = await planned(STORED, order.changeCustomer("anna", { name: "Anna B.", phone: null }));
  const { name, phone, email, verified_at, updated_at } = resource.object;
  assert.deepEqual([name, phone, email, verified_at], ["Anna B.", null, "anna@b.example", formatInstant(NEW_YEAR)]);
  assert.equal(updated_at, formatInstant(NOW));
  assert.deepEqual(customers[0]?.before, ANNA);
});

test("someone who is verified stays so since when they were; is_verified false takes it back", async () => {
  assertNoChanges(await planned(STORED, order.changeCustomer("anna", { is_verified: true })));
  assert.equal(
    (await planned(STORED, order.changeCustomer("anna", { is_verified: false }))).resource.object["verified_at"],
    null,
  );
});

test("a change that changes nothing does nothing, whatever it names", async () => {
  for (const fields of [{}, { name: "Customer anna" }, { email: "anna@b.example", phone: "1", is_verified: true }]) {
    const plan = await planned(STORED, order.changeCustomer("anna", fields));
    assertNoChanges(plan);
    assert.deepEqual(plan.resource, customerResource(ANNA));
  }
});

test("updated_at moves on, whatever the clock says", async () => {
  for (const now of [NEW_YEAR, NEW_YEAR - DAY]) {
    const { object } = (await planned(STORED, order.changeCustomer("anna", { name: "Other" }), now)).resource;
    assert.equal(object["updated_at"], formatInstant(NEW_YEAR + 1));
  }
});

test("who is not there cannot be changed, deleted or restored, and who is deleted not changed", async () => {
  for (const command of [
    order.changeCustomer("nobody", LEAST),
    order.deleteCustomer("nobody"),
    order.restoreCustomer("nobody"),
  ]) {
    assert.equal((await errorOf(STORED, command)).error, "customer_unknown");
  }
  assert.equal((await errorOf(STORED, order.changeCustomer("gone", { name: "Back" }))).error, "state_conflict");
});

test("If-Match: the etag it was read with, one of a list, or any; everything else has changed meanwhile", async () => {
  const { etag } = customerResource(ANNA);
  for (const ifMatch of [etag, "*", `"other", ${etag}`, `${etag},"other"`, undefined]) {
    for (const command of [order.changeCustomer("anna", { name: "B" }, ifMatch), order.deleteCustomer("anna", false, ifMatch)]) {
      await planned(STORED, command);
    }
  }
  const weak = `W/${etag}`;
  for (const ifMatch of ['"other"', "", weak, etag.slice(1, -1), etag.toUpperCase(), `"other", ${weak}`]) {
    for (const command of [
      order.changeCustomer("anna", { name: "B" }, ifMatch),
      order.deleteCustomer("anna", false, ifMatch),
      order.restoreCustomer("anna", true, ifMatch),
    ]) {
      assert.equal((await errorOf(STORED, command)).error, "precondition_failed", ifMatch);
    }
  }
});

test("a etag that does not fit is told before what is wrong with the fields", async () => {
  assert.equal((await errorOf(STORED, order.changeCustomer("anna", { name: 5 }, '"other"'))).error, "precondition_failed");
});

const FLEET: StoredObjects = {
  customers: [managed("anna", { tank_count: 2 }), managed("gone", {}, true)],
  tanks: [
    { tank: tank("one", "anna"), deleted: false, shape: null },
    { tank: tank("two", "anna"), deleted: false, shape: null },
    { tank: tank("three", "anna"), deleted: true, shape: null },
    { tank: tank("along", "gone"), deleted: true, shape: null },
    { tank: tank("before", "gone"), deleted: true, shape: null },
  ],
  deletedWithOwner: ["along"],
};

test("a customer who owns tanks is not deleted, unless they are to go along", async () => {
  assert.equal((await errorOf(FLEET, order.deleteCustomer("anna"))).error, "customer_has_tanks");
  const { resource, customers, tanks } = await planned(FLEET, order.deleteCustomer("anna", true));
  assert.deepEqual([resource.object["deleted"], resource.object["tank_count"]], [true, 0]);
  assert.deepEqual(
    [...customers, ...tanks].map(({ id, after }) => [id, after.deleted]),
    [
      ["anna", true],
      ["one", true],
      ["two", true],
    ],
  );
  assert.deepEqual(
    tanks.map(({ before, after }) => [before?.tank, after.tank]),
    tanks.map(({ after }) => [after.tank, after.tank]),
    "updated_at stays",
  );
});

test("deleting again, and restoring what is there, does nothing", async () => {
  assertNoChanges(await planned(FLEET, order.deleteCustomer("gone", true)));
  assertNoChanges(await planned(FLEET, order.restoreCustomer("anna")));
});

test("a restored customer has the tanks again that went along, and no others; or none where that is asked", async () => {
  const { resource, customers, tanks } = await planned(FLEET, order.restoreCustomer("gone"));
  assert.deepEqual([resource.object["deleted"], resource.object["tank_count"]], [false, 1]);
  assert.deepEqual(
    [...customers, ...tanks].map(({ id, after }) => [id, after.deleted]),
    [
      ["gone", false],
      ["along", false],
    ],
  );
  const alone = await planned(FLEET, order.restoreCustomer("gone", false));
  assert.deepEqual([alone.tanks.length, alone.resource.object["tank_count"]], [0, 0]);
});

test("a customer is not restored with a tank whose device has gone elsewhere", async () => {
  const serving = { id: "device of along", tank_id: "one", since: 0, profile: null };
  const known = { ...FLEET, devices: [serving] };
  const { error, detail } = await errorOf(known, order.restoreCustomer("gone"));
  assert.equal(error, "device_in_use");
  assert.match(detail, /device of along.*\bone\b/);
  await planned(known, order.restoreCustomer("gone", false));
});
