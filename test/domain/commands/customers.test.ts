import assert from "node:assert/strict";
import test from "node:test";
import { formatInstant } from "../../../src/domain/instant.ts";
import { DAY, NEW_YEAR } from "../../store/conformance/objects.ts";
import { command } from "../../support/commands.ts";
import { device } from "../lookups.ts";
import { ANNA, assertErrors, errorOf, invalidFieldsOf, NOW, objectAfter, planned, STORED } from "./planned.ts";

const REQUIRED = { email: "a@b.example", name: "Anna" };
const create = (fields: object) => command.createCustomer("cus_new", { ...REQUIRED, ...fields });

test("a customer needs an e-mail address and a name; the rest is empty", async () => {
  const { resource, customers } = await planned(create({}));
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
    notifications: { language: null, unsubscribed_at: null },
    deleted: false,
  });
  assert.deepEqual(
    customers.map(({ id, before }) => [id, before]),
    [["cus_new", undefined]],
  );
  assert.equal((await objectAfter(create({ id: "mine" })))["id"], "mine");
});

test("all errors of a customer are reported at once", async () => {
  const fields = { id: "", email: "nobody", phone: 5, verified_at: "yesterday", is_verified: "yes", colour: "red" };
  assert.deepEqual(await invalidFieldsOf(command.createCustomer("cus_new", fields)), [...Object.keys(fields), "name"].toSorted());
});

test("an e-mail address is one plain address, as that of a channel", async () => {
  for (const email of ["a@ex.example,", "a@ex.example;", "a@ex.example.", "a,b@ex.example", "<a@ex.example>", "a@b@ex.example"]) {
    assert.deepEqual(await invalidFieldsOf(create({ email })), ["email"], email);
    assert.deepEqual(await invalidFieldsOf(command.changeCustomer("anna", { email })), ["email"], email);
  }
  for (const email of ["office@brenner-gas.example", "a.b+c@d-e.example", "o'neil@b.example", "root@localhost", "用户@例え.jp"]) {
    assert.equal((await objectAfter(create({ email })))["email"], email);
  }
});

test("fields that the service sets cannot be given", async () => {
  const [created_at, updated_at] = [formatInstant(0), formatInstant(0)];
  const fields = { object: "customer", created_at, updated_at, last_seen_at: null, tank_count: 3 };
  assert.deepEqual(await invalidFieldsOf(create(fields)), Object.keys(fields).toSorted());
  const changed = { id: "new", ...fields };
  assert.deepEqual(await invalidFieldsOf(command.changeCustomer("anna", changed)), Object.keys(changed).toSorted());
});

test("is_verified and verified_at must agree, and each alone is enough", async () => {
  const verified_at = "2025-12-31T23:59:59.000Z";
  for (const [fields, expected] of [
    [{ is_verified: true }, formatInstant(NOW)],
    [{ is_verified: false }, null],
    [{ verified_at }, verified_at],
    [{ verified_at, is_verified: true }, verified_at],
    [{ verified_at: null, is_verified: false }, null],
  ] as const) {
    const object = await objectAfter(create(fields));
    assert.deepEqual([object["is_verified"], object["verified_at"]], [expected !== null, expected]);
  }
  for (const fields of [
    { verified_at, is_verified: false },
    { verified_at: null, is_verified: true },
  ]) {
    assert.deepEqual(await invalidFieldsOf(create(fields)), ["is_verified"]);
    assert.deepEqual(await invalidFieldsOf(command.changeCustomer("anna", fields)), ["is_verified"]);
  }
  assert.equal((await objectAfter(command.changeCustomer("anna", { is_verified: false })))["verified_at"], null);
});

test("another address is not verified, unless the same change says so", async () => {
  const verifiedAt = async (fields: object) => (await objectAfter(command.changeCustomer("anna", fields)))["verified_at"];
  const email = "new@b.example";
  assert.equal(await verifiedAt({ email }), null);
  assert.equal(await verifiedAt({ email: "anna@b.example", name: "Other" }), formatInstant(NEW_YEAR));
  assert.equal(await verifiedAt({ email, is_verified: true }), formatInstant(NOW), "not the time of the former address");
  assert.equal(await verifiedAt({ email, verified_at: formatInstant(5) }), formatInstant(5));
  const provisioned = await planned({
    type: "provision",
    customers: [{ newId: "x", fields: { id: "anna", email } }],
    tanks: [],
    isDryRun: false,
  });
  assert.equal(provisioned.customers[0]?.after.customer.verified_at, null);
});

test("mail settings are merged, and leave updated_at as it is", async () => {
  const settings = { language: "de", unsubscribed_at: formatInstant(NEW_YEAR) };
  const created = await planned(create({ notifications: settings }));
  assert.deepEqual(created.resource.object["notifications"], settings);
  const { after } = created.customers[0] ?? assert.fail();
  const known = { ...STORED, customers: [{ ...after, customer: { ...after.customer, tank_count: 0 } }] };
  const change = (notifications: object) => command.changeCustomer("cus_new", { notifications });
  const resubscribed = await objectAfter(change({ unsubscribed_at: null }), known, NOW + DAY);
  assert.deepEqual(resubscribed["notifications"], { language: "de", unsubscribed_at: null });
  assert.equal(resubscribed["updated_at"], formatInstant(NOW));
  assert.deepEqual((await planned(change(settings), known)).customers, []);
});

test("a customer who changes the address is subscribed again, unless the same change says otherwise", async () => {
  const unsubscribed_at = formatInstant(NEW_YEAR);
  const { after } = (await planned(create({ notifications: { language: "de", unsubscribed_at } }))).customers[0] ?? assert.fail();
  const known = { ...STORED, customers: [{ ...after, customer: { ...after.customer, tank_count: 0 } }] };
  const settingsAfter = async (fields: object) =>
    (await objectAfter(command.changeCustomer("cus_new", fields), known))["notifications"];
  assert.deepEqual(await settingsAfter({ email: "new@b.example" }), { language: "de", unsubscribed_at: null });
  assert.deepEqual(await settingsAfter({ email: after.customer.email, name: "Ann" }), { language: "de", unsubscribed_at });
  const notifications = { unsubscribed_at: formatInstant(NOW) };
  const kept = { language: "de", ...notifications };
  assert.deepEqual(await settingsAfter({ email: "new@b.example", notifications }), kept);
});

test("errors in mail settings are reported by field", async () => {
  const notifications = { language: "fr", unsubscribed_at: "yesterday", colour: "red" };
  const fields = Object.keys(notifications).map((name) => `notifications.${name}`);
  assert.deepEqual(await invalidFieldsOf(create({ notifications })), fields.toSorted());
  assert.deepEqual(await invalidFieldsOf(command.changeCustomer("anna", { notifications: null })), ["notifications"]);
});

test("a change is a merge: given fields change, null clears, the rest stays", async () => {
  const { resource, customers } = await planned(command.changeCustomer("anna", { name: "Anna B.", phone: null }));
  const { name, phone, email, verified_at, updated_at } = resource.object;
  assert.deepEqual([name, phone, email, verified_at], ["Anna B.", null, "anna@b.example", formatInstant(NEW_YEAR)]);
  assert.equal(updated_at, formatInstant(NOW));
  assert.deepEqual(customers[0]?.before, ANNA);
});

test("updated_at increases even if the clock goes back", async () => {
  for (const now of [NEW_YEAR, NEW_YEAR - DAY]) {
    const { updated_at } = await objectAfter(command.changeCustomer("anna", { name: "Other" }), STORED, now);
    assert.equal(updated_at, formatInstant(NEW_YEAR + 1));
  }
});

test("a customer with tanks is deleted only together with them", async () => {
  await assertErrors("customer_has_tanks", [command.deleteCustomer("anna")]);
  const { resource, customers, tanks } = await planned(command.deleteCustomer("anna", true));
  assert.deepEqual([resource.object["deleted"], resource.object["tank_count"]], [true, 0]);
  assert.deepEqual(
    [...customers, ...tanks].map(({ id, after }) => [id, after.deleted]),
    [
      ["anna", true],
      ["one", true],
      ["two", true],
    ],
  );
  for (const { before, after } of tanks) assert.deepEqual(after.tank, before?.tank, "updated_at stays");
});

test("tanks are deleted in parts only while there are fewer and fewer of them", async () => {
  const { id } = ANNA.customer;
  await planned({ type: "delete_customer", id, tanks: true, tanksBefore: 3 });
  await assertErrors("state_conflict", [{ type: "delete_customer", id, tanks: true, tanksBefore: 2 }]);
});

test("a customer is restored with the tanks that were deleted with it, or without them", async () => {
  const { resource, customers, tanks } = await planned(command.restoreCustomer("gone"));
  assert.deepEqual([resource.object["deleted"], resource.object["tank_count"]], [false, 1]);
  assert.deepEqual(
    [...customers, ...tanks].map(({ id, after }) => [id, after.deleted]),
    [
      ["gone", false],
      ["along", false],
    ],
  );
  const alone = await planned(command.restoreCustomer("gone", false));
  assert.deepEqual([alone.tanks.length, alone.resource.object["tank_count"]], [0, 0]);
});

test("a customer is not restored with a tank whose device is in use", async () => {
  const stored = { ...STORED, devices: [device("device of along", "one")] };
  const { error, detail } = await errorOf(command.restoreCustomer("gone"), stored);
  assert.equal(error, "device_in_use");
  assert.match(detail, /device of along.*\bone\b/);
  await planned(command.restoreCustomer("gone", false), stored);
});
