import assert from "node:assert/strict";
import test from "node:test";
import { formatInstant } from "../../../src/domain/instant.ts";
import type { StoredKey } from "../../../src/domain/key.ts";
import { keyResource } from "../../../src/domain/resource.ts";
import { DAY, key, NEW_YEAR } from "../../store/conformance/objects.ts";
import { order } from "../../support/orders.ts";
import type { StoredObjects } from "../lookups.ts";
import { assertNoChanges, errorOf, invalidFieldsOf, managed, NOW, planned } from "./planned.ts";

const known = (id: string, more: Partial<StoredKey> = {}): StoredKey => ({ ...key(id), customer_deleted: false, ...more });
const PLAIN = known("plain");
const STORED: StoredObjects = {
  customers: [managed("anna"), managed("gone", {}, true)],
  keys: [
    PLAIN,
    known("revoked", { revoked_at: NEW_YEAR }),
    known("ended", { expires_at: NOW }),
    known("rotated", { replaced_by: "plain" }),
    known("orphan", { customer_id: "gone", customer_deleted: true }),
  ],
};

test("a key is resource with all but its secret", async () => {
  const made = key("new", { customer_id: "anna", rate: 5, expires_at: NOW + DAY, role: "ingest", created_at: NOW });
  const { resource, keys } = await planned(STORED, order.addKey(made, "the hash"));
  assert.deepEqual(resource.object, {
    id: "new",
    object: "key",
    name: "Key new",
    role: "ingest",
    customer_id: "anna",
    device_id: null,
    rate: 5,
    created_at: formatInstant(NOW),
    expires_at: formatInstant(NOW + DAY),
    revoked_at: null,
    replaced_by: null,
    state: "active",
  });
  assert.deepEqual(keys, [{ before: undefined, after: made, hash: "the hash" }]);
});

test("no order tells a hash to anybody", async () => {
  const orders = [
    order.addKey(key("new"), "the hash"),
    order.replaceKey("plain", 0, "next", "the hash"),
    order.changeKey("plain", { name: "Other" }),
    order.revokeKey("plain"),
  ];
  for (const command of orders) {
    const { resource, audit } = await planned(STORED, command);
    assert.doesNotMatch(JSON.stringify([resource, audit]), /hash|secret/);
  }
});

test("a customer's key needs a customer who is there", async () => {
  for (const customer_id of ["nobody", "gone"]) {
    assert.deepEqual(await invalidFieldsOf(STORED, order.addKey(key("new", { customer_id }), "h")), ["customer_id"]);
  }
});

test("a key is changed by a merge; what is no change does nothing", async () => {
  const { resource, audit } = await planned(
    STORED,
    order.changeKey("plain", { name: "Other", expires_at: formatInstant(NOW + 5) }),
  );
  assert.deepEqual([resource.object["name"], resource.object["expires_at"]], ["Other", formatInstant(NOW + 5)]);
  assert.deepEqual(audit, [
    {
      object: "key",
      id: "plain",
      action: "changed",
      changes: { name: { from: "Key plain", to: "Other" }, expires_at: { from: null, to: formatInstant(NOW + 5) } },
    },
  ]);
  for (const fields of [{}, { name: "Key plain" }, { rate: null, expires_at: null }]) {
    assertNoChanges(await planned(STORED, order.changeKey("plain", fields)));
  }
});

test("all that is wrong with the change of a key is told at once; its role and whom it belongs to stay", async () => {
  const wrong = { name: "", rate: 0, expires_at: "soon", role: "manage", customer_id: "anna" };
  assert.deepEqual(await invalidFieldsOf(STORED, order.changeKey("plain", wrong)), [
    "customer_id",
    "expires_at",
    "name",
    "rate",
    "role",
  ]);
  assert.deepEqual(await invalidFieldsOf(STORED, order.changeKey("plain", { rate: 1e9, name: null })), ["name", "rate"]);
});

test("what has ended by revocation stays so; what is not there is told", async () => {
  assert.equal((await errorOf(STORED, order.changeKey("revoked", { name: "Other" }))).error, "state_conflict");
  for (const command of [order.changeKey("none", {}), order.revokeKey("none"), order.replaceKey("none", 0, "n", "h")]) {
    assert.equal((await errorOf(STORED, command)).error, "key_unknown");
  }
  assertNoChanges(await planned(STORED, order.revokeKey("revoked")));
});

test("only a key that works is rotated, and once", async () => {
  for (const id of ["revoked", "ended", "rotated", "orphan"]) {
    assert.equal((await errorOf(STORED, order.replaceKey(id, 0, "next", "h"))).error, "state_conflict", id);
  }
  const { resource, keys, audit } = await planned(STORED, order.replaceKey("plain", DAY, "next", "h"));
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

test("If-Match holds for the change of a key", async () => {
  for (const ifMatch of [keyResource(PLAIN, NOW).etag, "*"])
    await planned(STORED, order.changeKey("plain", { name: "Other" }, ifMatch));
  const { etag } = keyResource({ ...PLAIN, rate: 5 }, NOW);
  assert.equal((await errorOf(STORED, order.changeKey("plain", { name: "Other" }, etag))).error, "precondition_failed");
});
