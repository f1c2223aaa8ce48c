import assert from "node:assert/strict";
import test, { type TestContext } from "node:test";
import { type ErrorCode, RequestError } from "../../src/domain/errors.ts";
import { hashSecret, isWellFormedSecret, keyState } from "../../src/domain/key.ts";
import type { Store } from "../../src/domain/store.ts";
import { endKey, type KeyWish, makeKey, turnKey } from "../support/keys.ts";
import { customerRecord } from "../support/records.ts";
import { emptyStore } from "../support/stores.ts";

const NOW = Date.parse("2026-11-14T09:30:00Z");
const HOUR = 3_600_000;
const DAY = 24 * HOUR;
const at = (now: number) => () => now;
const wish = (fields: Partial<KeyWish> = {}): KeyWish => ({
  name: "Billing",
  role: "read",
  customerId: null,
  deviceId: null,
  rate: null,
  lifetime: null,
  ...fields,
});
const refusal = (code: ErrorCode, words: RegExp) => (error: unknown) => {
  assert.ok(error instanceof RequestError);
  assert.equal(error.code, code);
  assert.match([error.message, ...(error.errors ?? []).map(({ field, message }) => `${field} ${message}`)].join("\n"), words);
  return true;
};

async function storeWithCustomers(t: TestContext): Promise<Store> {
  const store = await emptyStore(t);
  await store.importCustomers([customerRecord("a"), customerRecord("gone", { deleted: true })]);
  return store;
}

const stateOf = async (store: Store, secret: string, now: number) => {
  const known = await store.keyByHash(hashSecret(secret));
  return known === undefined ? undefined : keyState(known, now);
};

test("a new key is found by its secret, and the secret itself is nowhere", async (t) => {
  const store = await storeWithCustomers(t);
  const { key, secret } = await makeKey(store, at(NOW), wish({ customerId: "a", rate: 5, lifetime: 90 * DAY }));
  assert.ok(isWellFormedSecret(secret));
  assert.match(key.id, /^key_/);
  assert.deepEqual(key, {
    id: key.id,
    name: "Billing",
    role: "read",
    customer_id: "a",
    device_id: null,
    rate: 5,
    created_at: NOW,
    expires_at: NOW + 90 * DAY,
    revoked_at: null,
    replaced_by: null,
  });
  assert.deepEqual(await store.keyByHash(hashSecret(secret)), { ...key, customer_deleted: false });
  assert.ok(!JSON.stringify(await store.keyList()).includes(secret));
});

test("a key without a lifetime never expires", async (t) => {
  const store = await storeWithCustomers(t);
  const { key, secret } = await makeKey(store, at(NOW), wish());
  assert.equal(key.expires_at, null);
  assert.equal(await stateOf(store, secret, NOW + 1000 * 365 * DAY), "active");
});

test("what a key may be bound to depends on its role", async (t) => {
  const store = await storeWithCustomers(t);
  const allowed: Partial<KeyWish>[] = [
    { role: "read" },
    { role: "read", customerId: "a" },
    { role: "ingest" },
    { role: "ingest", customerId: "a" },
    { role: "ingest", deviceId: "d" },
    { role: "manage" },
  ];
  for (const fields of allowed) assert.equal((await makeKey(store, at(NOW), wish(fields))).key.role, fields.role);
  const manage = /^customer_id is not allowed for a key with the role manage/m;
  const device = /^device_id is only for a key with the role ingest/m;
  const refused: [Partial<KeyWish>, RegExp][] = [
    [{ role: "manage", customerId: "a" }, manage],
    [{ role: "manage", deviceId: "d" }, device],
    [{ role: "read", deviceId: "d" }, device],
    [{ role: "ingest", deviceId: "d", customerId: "a" }, device],
  ];
  for (const [fields, message] of refused) {
    await assert.rejects(makeKey(store, at(NOW), wish(fields)), refusal("body_invalid", message), JSON.stringify(fields));
  }
  assert.equal((await store.keyList()).length, allowed.length);
});

test("a key needs a name on one line", async (t) => {
  const store = await storeWithCustomers(t);
  for (const name of ["", "x".repeat(513), "a\nb", "\u0000", "\ud800"]) {
    await assert.rejects(makeKey(store, at(NOW), wish({ name })), refusal("body_invalid", /^name must /m));
  }
  assert.equal((await makeKey(store, at(NOW), wish({ name: "x".repeat(512) }))).key.name.length, 512);
});

test("a key's customer must be there", async (t) => {
  const store = await storeWithCustomers(t);
  await assert.rejects(
    makeKey(store, at(NOW), wish({ customerId: "b" })),
    refusal("body_invalid", /^customer_id no such customer/m),
  );
  await assert.rejects(
    makeKey(store, at(NOW), wish({ customerId: "gone" })),
    refusal("body_invalid", /^customer_id this customer is deleted/m),
  );
  assert.deepEqual(await store.keyList(), []);
});

test("a rotated key has a successor that may do the same, and works on for the overlap", async (t) => {
  const store = await storeWithCustomers(t);
  const old = await makeKey(store, at(NOW), wish({ customerId: "a", rate: 2, lifetime: 90 * DAY }));
  const later = NOW + 80 * DAY;
  const next = await turnKey(store, at(later), old.key.id, DAY);
  assert.notEqual(next.key.id, old.key.id);
  assert.notEqual(next.secret, old.secret);
  assert.deepEqual(next.key, { ...old.key, id: next.key.id, created_at: later, expires_at: later + 90 * DAY });
  assert.equal(await stateOf(store, old.secret, later + DAY - 1), "active");
  assert.equal(await stateOf(store, old.secret, later + DAY), "expired");
  assert.equal(await stateOf(store, next.secret, later + DAY), "active");
});

test("an overlap never lengthens a key's life, and none ends it at once", async (t) => {
  const store = await storeWithCustomers(t);
  const short = await makeKey(store, at(NOW), wish({ lifetime: HOUR }));
  await turnKey(store, at(NOW), short.key.id, DAY);
  assert.equal((await store.keyByHash(hashSecret(short.secret)))?.expires_at, NOW + HOUR);
  const other = await makeKey(store, at(NOW), wish());
  const next = await turnKey(store, at(NOW), other.key.id, 0);
  assert.equal(await stateOf(store, other.secret, NOW), "expired");
  assert.equal(next.key.expires_at, null);
});

test("a key that never expires has no successor that does, even if it is rotated twice within its overlap", async (t) => {
  const store = await storeWithCustomers(t);
  const old = await makeKey(store, at(NOW), wish());
  await turnKey(store, at(NOW + DAY), old.key.id, DAY);
  // To refuse the second rotation would be as good.
  const second = await turnKey(store, at(NOW + DAY + HOUR), old.key.id, DAY).catch((error: unknown) => error);
  if (!(second instanceof RequestError))
    assert.deepEqual((await store.keyList()).map(({ expires_at }) => expires_at).slice(0, 2), [null, null]);
});

test("a key that works no more cannot be rotated", async (t) => {
  const store = await storeWithCustomers(t);
  const [expired, revoked, orphan] = [
    await makeKey(store, at(NOW), wish({ lifetime: 1 })),
    await makeKey(store, at(NOW), wish()),
    await makeKey(store, at(NOW), wish({ customerId: "a" })),
  ];
  await endKey(store, at(NOW), revoked.key.id);
  await store.importCustomers([{ remove: "a" }]);
  for (const [{ key }, state] of [
    [expired, "expired"],
    [revoked, "revoked"],
    [orphan, "customer deleted"],
  ] as const) {
    await assert.rejects(
      turnKey(store, at(NOW + 1), key.id, DAY),
      refusal("state_conflict", new RegExp(`^Key ${key.id} cannot be rotated: it is ${state}`)),
    );
  }
  assert.equal((await store.keyList()).length, 3);
});

test("a revoked key ends at once, once", async (t) => {
  const store = await storeWithCustomers(t);
  const { key, secret } = await makeKey(store, at(NOW), wish());
  await endKey(store, at(NOW + 5), key.id);
  assert.equal(await stateOf(store, secret, NOW), "revoked");
  await endKey(store, at(NOW + 9), key.id);
  assert.equal((await store.keyByHash(hashSecret(secret)))?.revoked_at, NOW + 5);
});

test("a key that is not there is named", async (t) => {
  const store = await storeWithCustomers(t);
  await assert.rejects(turnKey(store, at(NOW), "key_x", DAY), refusal("key_unknown", /^There is no key key_x/));
  await assert.rejects(endKey(store, at(NOW), "key_x"), refusal("key_unknown", /^There is no key key_x/));
});
