import assert from "node:assert/strict";
import test from "node:test";
import type { Engine } from "./engine.ts";
import { customer, key, NEW_YEAR, putCustomers } from "./objects.ts";

const known = <T extends object>(one: T) => ({ ...one, customer_deleted: false });

export function keyConformance(engine: Engine): void {
  test("a key is found by the hash of its secret, whole, and by nothing else", async (t) => {
    const { store } = await engine.open(t);
    await putCustomers(store, customer("a"));
    const bare = key("bare");
    const full = key("full", {
      customer_id: "a",
      device_id: "device",
      rate: 2.5,
      role: "ingest",
      expires_at: NEW_YEAR + 1,
      revoked_at: NEW_YEAR + 2,
    });
    await store.addKey(bare, "hash of bare");
    await store.addKey(full, "hash of full");
    assert.deepEqual(await store.keyByHash("hash of bare"), known(bare));
    assert.deepEqual(await store.keyByHash("hash of full"), known(full));
    for (const hash of ["", "bare", "HASH OF BARE", "hash of bare ", "hash of"]) {
      assert.equal(await store.keyByHash(hash), undefined);
    }
  });

  test("a key works in every store on the database from the moment it is made, and ends in all at once", async (t) => {
    const { store, reopen } = await engine.open(t);
    const other = await reopen();
    await store.addKey(key("k"), "hash");
    assert.deepEqual(await other.keyByHash("hash"), known(key("k")));
    await other.revokeKey("k", NEW_YEAR + 5);
    assert.equal((await store.keyByHash("hash"))?.revoked_at, NEW_YEAR + 5);
  });

  test("the list of keys is newest first, then by id", async (t) => {
    const { store } = await engine.open(t);
    const keys = [key("b"), key("old", { created_at: 0 }), key("new", { created_at: NEW_YEAR + 1 }), key("a")];
    for (const one of keys) await store.addKey(one, `hash of ${one.id}`);
    assert.deepEqual(
      (await store.keyList()).map(({ id }) => id),
      ["new", "b", "a", "old"],
    );
    assert.deepEqual((await store.keyList())[3], known(key("old", { created_at: 0 })));
  });

  test("replacing a key adds the successor and ends the old one, in one step", async (t) => {
    const { store } = await engine.open(t);
    await store.addKey(key("old"), "old hash");
    assert.equal(await store.replaceKey("old", NEW_YEAR + 10, key("next", { created_at: NEW_YEAR + 1 }), "next hash"), true);
    assert.deepEqual(await store.keyByHash("old hash"), known(key("old", { expires_at: NEW_YEAR + 10, replaced_by: "next" })));
    assert.deepEqual(await store.keyByHash("next hash"), known(key("next", { created_at: NEW_YEAR + 1 })));
    await assert.rejects(store.replaceKey("next", NEW_YEAR + 20, key("third"), "old hash"));
    assert.deepEqual(await store.keyByHash("next hash"), known(key("next", { created_at: NEW_YEAR + 1 })));
    assert.equal((await store.keyList()).length, 2);
  });

  test("a key that was replaced or revoked, or never was, is not replaced", async (t) => {
    const { store } = await engine.open(t);
    for (const id of ["replaced", "revoked"]) await store.addKey(key(id), `${id} hash`);
    await store.replaceKey("replaced", NEW_YEAR + 10, key("next"), "next hash");
    await store.revokeKey("revoked", NEW_YEAR);
    for (const id of ["replaced", "revoked", "nobody"]) {
      assert.equal(await store.replaceKey(id, NEW_YEAR + 1, key(`after ${id}`), `after ${id}`), false, id);
      assert.equal(await store.keyByHash(`after ${id}`), undefined, id);
    }
    assert.equal((await store.keyByHash("replaced hash"))?.expires_at, NEW_YEAR + 10);
  });

  test("a key is revoked once; revoking it again keeps the first instant", async (t) => {
    const { store } = await engine.open(t);
    await store.addKey(key("k"), "hash");
    await store.addKey(key("other"), "other hash");
    await store.revokeKey("k", NEW_YEAR + 5);
    await store.revokeKey("k", NEW_YEAR + 9);
    await store.revokeKey("nobody", NEW_YEAR);
    assert.equal((await store.keyByHash("hash"))?.revoked_at, NEW_YEAR + 5);
    assert.equal((await store.keyByHash("other hash"))?.revoked_at, null);
  });

  test("a key tells whether its customer is deleted, and again when it is restored", async (t) => {
    const { store } = await engine.open(t);
    await putCustomers(store, customer("a"), customer("b"));
    await store.addKey(key("a's", { customer_id: "a" }), "a");
    await store.addKey(key("b's", { customer_id: "b" }), "b");
    await store.addKey(key("operator's"), "all");
    const deleted = async () =>
      Promise.all(["a", "b", "all"].map(async (hash) => (await store.keyByHash(hash))?.customer_deleted));
    assert.deepEqual(await deleted(), [false, false, false]);
    await store.putCustomers([{ remove: "a" }]);
    assert.deepEqual(await deleted(), [true, false, false]);
    assert.deepEqual(
      (await store.keyList()).map((one) => one.customer_deleted),
      [false, false, true],
    );
    await putCustomers(store, customer("a"));
    assert.deepEqual(await deleted(), [false, false, false]);
  });

  test("two keys never share a secret or an id, and no key belongs to an unknown customer", async (t) => {
    const { store } = await engine.open(t);
    await store.addKey(key("k"), "hash");
    await assert.rejects(store.addKey(key("k2"), "hash"));
    await assert.rejects(store.addKey(key("k"), "hash 2"));
    await assert.rejects(store.addKey(key("k3", { customer_id: "nobody" }), "hash 3"));
    assert.deepEqual(await store.keyList(), [known(key("k"))]);
  });
}
