import assert from "node:assert/strict";
import test from "node:test";
import { formatInstant } from "../../../src/domain/instant.ts";
import { DAY, key } from "../../store/conformance/objects.ts";
import { command } from "../../support/commands.ts";
import { assertErrors, invalidFieldsOf, NOW, planned } from "./planned.ts";

const create = (fields: object) =>
  ({ type: "create_key", newId: "new", fields: { name: "Key", ...fields }, hash: "hash" }) as const;

test("a key has everything but its secret", async () => {
  const fields = { customer_id: "anna", rate: 5, expires_at: formatInstant(NOW + DAY), role: "ingest" };
  const { resource, keys } = await planned(create(fields));
  const common = { id: "new", name: "Key", device_id: null, revoked_at: null, replaced_by: null };
  const created = { ...common, ...fields, object: "key", created_at: formatInstant(NOW), state: "active" };
  assert.deepEqual(resource.object, created);
  const after = { ...common, ...fields, created_at: NOW, expires_at: NOW + DAY };
  assert.deepEqual(keys, [{ before: undefined, after, hash: "hash" }]);
  assert.deepEqual((await planned(create({}))).keys[0]?.after, key("new", { name: "Key", created_at: NOW }));
});

test("all errors of a key are reported at once", async () => {
  for (const [fields, ...invalid] of [
    [{ customer_id: "nobody" }, "customer_id"],
    [{ customer_id: "gone" }, "customer_id"],
    [{ expires_at: formatInstant(NOW) }, "expires_at"],
    [{ role: "manage", customer_id: "anna" }, "customer_id"],
    [{ role: "metrics", customer_id: "anna" }, "customer_id"],
    [{ role: "metrics", device_id: "d" }, "device_id"],
    [{ role: "manage", device_id: "d" }, "device_id"],
    [{ role: "read", device_id: "d" }, "device_id"],
    [{ role: "ingest", device_id: "d", customer_id: "anna" }, "device_id"],
    [{ name: "", role: "boss", rate: 0, expires_at: "soon", colour: 1 }, "colour", "expires_at", "name", "rate", "role"],
  ] as const) {
    assert.deepEqual(await invalidFieldsOf(create(fields)), invalid);
  }
  for (const fields of [
    { role: "manage" },
    { role: "metrics" },
    { role: "ingest", device_id: "d" },
    { role: "read", customer_id: "anna" },
  ]) {
    await planned(create(fields));
  }
});

test("a change of a key is a merge", async () => {
  const expires_at = formatInstant(NOW + 5);
  const { resource, audit } = await planned(command.changeKey("plain", { name: "Other", expires_at }));
  assert.deepEqual([resource.object["name"], resource.object["expires_at"]], ["Other", expires_at]);
  const changes = { name: { from: "Key plain", to: "Other" }, expires_at: { from: null, to: expires_at } };
  assert.deepEqual(audit, [{ object: "key", id: "plain", action: "changed", changes }]);
});

test("all errors of a change are reported at once; role and customer cannot change", async () => {
  const fields = { customer_id: "anna", expires_at: "soon", name: "", rate: 0, role: "manage" };
  assert.deepEqual(await invalidFieldsOf(command.changeKey("plain", fields)), Object.keys(fields));
  assert.deepEqual(await invalidFieldsOf(command.changeKey("plain", { rate: 1e9, name: null })), ["name", "rate"]);
});

test("only an active key is rotated, and once", async () => {
  const rotations = ["revoked", "expired", "rotated", "orphan"].map((id) => command.rotateKey(id, 0, "next", "h"));
  await assertErrors("state_conflict", rotations);
  const { resource, keys, audit } = await planned(command.rotateKey("plain", DAY, "next", "h"));
  assert.equal(resource.object["id"], "next");
  assert.deepEqual(
    keys.map(({ after, hash }) => [after.id, after.expires_at, after.replaced_by, hash]),
    [
      ["next", null, null, "h"],
      ["plain", NOW + DAY, "next", undefined],
    ],
  );
  assert.deepEqual(
    audit.map(({ id, action }) => [id, action]),
    [
      ["plain", "rotated"],
      ["next", "created"],
    ],
  );
});
