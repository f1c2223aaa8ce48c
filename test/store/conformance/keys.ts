import assert from "node:assert/strict";
import test from "node:test";
import { at, command, createKey, errorOf, revokeKey, rotateKey } from "../../support/commands.ts";
import type { Engine } from "../engines.ts";
import { customer, DAY, key, NEW_YEAR, putCustomers } from "./objects.ts";

const known = <T extends object>(one: T) => ({ ...one, customer_deleted: false });

export function keyConformance(engine: Engine): void {
  test("a key is found by the hash of its secret, whole, and by nothing else", async (t) => {
    const { store } = await engine.open(t);
    await putCustomers(store, customer("a"));
    const bare = key("bare");
    const full = key("full", { customer_id: "a", rate: 2.5, role: "ingest", expires_at: NEW_YEAR + 1 });
    const sender = key("sender", { device_id: "device", role: "ingest" });
    for (const one of [bare, full, sender]) {
      await createKey(store, one, `hash of ${one.id}`);
      assert.deepEqual(await store.keyByHash(`hash of ${one.id}`), known(one));
    }
    for (const hash of ["", "bare", "HASH OF BARE", "hash of bare ", "hash of"]) {
      assert.equal(await store.keyByHash(hash), undefined);
    }
  });

  test("a key works in every store on the database from the moment it is made, and ends in all at once", async (t) => {
    const { store, reopen } = await engine.open(t);
    const other = await reopen();
    await createKey(store, key("k"), "hash");
    assert.deepEqual(await other.keyByHash("hash"), known(key("k")));
    await revokeKey(other, "k", NEW_YEAR + 5);
    assert.equal((await store.keyByHash("hash"))?.revoked_at, NEW_YEAR + 5);
  });

  test("the list of keys is newest first, then by id", async (t) => {
    const { store } = await engine.open(t);
    const keys = [key("b"), key("old", { created_at: 0 }), key("new", { created_at: NEW_YEAR + 1 }), key("a")];
    for (const one of keys) await createKey(store, one, `hash of ${one.id}`);
    assert.deepEqual(
      (await store.keyList()).map(({ id }) => id),
      ["new", "b", "a", "old"],
    );
    assert.deepEqual((await store.keyList())[3], known(key("old", { created_at: 0 })));
  });

  test("replacing a key adds a successor like it and ends the old one, in one step", async (t) => {
    const { store } = await engine.open(t);
    const old = key("old", { name: "the gateway's", role: "ingest", device_id: "d", rate: 5, expires_at: NEW_YEAR + 10 * DAY });
    await createKey(store, old, "old hash");
    const shown = await rotateKey(store, "old", { overlap: DAY, newId: "next", hash: "next hash" }, NEW_YEAR + 2 * DAY);
    assert.equal(shown.object["id"], "next");
    const next = { ...old, id: "next", created_at: NEW_YEAR + 2 * DAY, expires_at: NEW_YEAR + 12 * DAY };
    assert.deepEqual(await store.keyByHash("next hash"), known(next), "it lives as long as the old one did");
    const ended = { ...old, expires_at: NEW_YEAR + 3 * DAY, replaced_by: "next" };
    assert.deepEqual(await store.keyByHash("old hash"), known(ended));
    assert.equal((await store.keyList()).length, 2);
  });

  test("an overlap never makes the old key live longer", async (t) => {
    const { store } = await engine.open(t);
    await createKey(store, key("short", { expires_at: NEW_YEAR + 5 }), "short hash");
    await createKey(store, key("endless"), "endless hash");
    for (const id of ["short", "endless"]) {
      await rotateKey(store, id, { overlap: DAY, newId: `after ${id}`, hash: `after ${id}` }, NEW_YEAR + 1);
    }
    assert.equal((await store.keyByHash("short hash"))?.expires_at, NEW_YEAR + 5);
    assert.equal((await store.keyByHash("endless hash"))?.expires_at, NEW_YEAR + 1 + DAY);
    assert.equal((await store.keyByHash("after endless"))?.expires_at, null);
  });

  test("a successor that has an id or a secret of another key is none, and the old key stays as it was", async (t) => {
    const { store } = await engine.open(t);
    await createKey(store, key("old"), "old hash");
    await createKey(store, key("other"), "other hash");
    for (const successor of [
      { overlap: 0, newId: "other", hash: "next hash" },
      { overlap: 0, newId: "next", hash: "other hash" },
    ]) {
      await assert.rejects(rotateKey(store, "old", successor, NEW_YEAR + 1));
    }
    assert.deepEqual(await store.keyByHash("old hash"), known(key("old")));
    assert.equal((await store.keyList()).length, 2);
  });

  test("a key that was replaced or revoked, has ended, or never was, is not replaced", async (t) => {
    const { store } = await engine.open(t);
    await putCustomers(store, customer("a"));
    for (const id of ["replaced", "revoked"]) await createKey(store, key(id), `${id} hash`);
    await createKey(store, key("ended", { expires_at: NEW_YEAR + 1 }), "ended hash");
    await createKey(store, key("without a customer", { customer_id: "a" }), "without a customer hash");
    await store.importCustomers([{ remove: "a" }]);
    await rotateKey(store, "replaced", { overlap: 10, newId: "next", hash: "next hash" }, NEW_YEAR);
    await revokeKey(store, "revoked", NEW_YEAR);
    const refusals = {
      replaced: "state_conflict",
      revoked: "state_conflict",
      ended: "state_conflict",
      "without a customer": "state_conflict",
      nobody: "key_unknown",
    };
    for (const [id, code] of Object.entries(refusals)) {
      const given = command.rotateKey(id, 0, `after ${id}`, `after ${id}`);
      assert.equal((await errorOf(store, given, at(NEW_YEAR + 1))).error, code, id);
      assert.equal(await store.keyByHash(`after ${id}`), undefined, id);
    }
    assert.equal((await store.keyByHash("replaced hash"))?.expires_at, NEW_YEAR + 10);
  });

  test("a key is revoked once; revoking it again keeps the first instant", async (t) => {
    const { store } = await engine.open(t);
    await createKey(store, key("k"), "hash");
    await createKey(store, key("other"), "other hash");
    await revokeKey(store, "k", NEW_YEAR + 5);
    await revokeKey(store, "k", NEW_YEAR + 9);
    assert.equal((await errorOf(store, { type: "revoke_key", id: "nobody" }, at(NEW_YEAR))).error, "key_unknown");
    assert.equal((await store.keyByHash("hash"))?.revoked_at, NEW_YEAR + 5);
    assert.equal((await store.keyByHash("other hash"))?.revoked_at, null);
  });

  test("a key tells whether its customer is deleted, and again when it is restored", async (t) => {
    const { store } = await engine.open(t);
    await putCustomers(store, customer("a"), customer("b"));
    await createKey(store, key("a's", { customer_id: "a" }), "a");
    await createKey(store, key("b's", { customer_id: "b" }), "b");
    await createKey(store, key("operator's"), "all");
    const deleted = async () =>
      Promise.all(["a", "b", "all"].map(async (hash) => (await store.keyByHash(hash))?.customer_deleted));
    assert.deepEqual(await deleted(), [false, false, false]);
    await store.importCustomers([{ remove: "a" }]);
    assert.deepEqual(await deleted(), [true, false, false]);
    assert.deepEqual(
      (await store.keyList()).map((one) => one.customer_deleted),
      [false, false, true],
    );
    await putCustomers(store, customer("a"));
    assert.deepEqual(await deleted(), [false, false, false]);
  });

  test("two keys never share a secret or an id", async (t) => {
    const { store } = await engine.open(t);
    await createKey(store, key("k"), "hash");
    await assert.rejects(createKey(store, key("k2"), "hash"));
    await assert.rejects(createKey(store, key("k"), "hash 2"));
    assert.deepEqual(await store.keyList(), [known(key("k"))]);
  });

  test("no key belongs to a customer that is unknown or deleted", async (t) => {
    const { store } = await engine.open(t);
    await store.importCustomers([{ customer: customer("gone"), deleted: true }]);
    for (const customer_id of ["nobody", "gone"]) {
      const given = command.createKey(key("k", { customer_id }), "hash");
      const { error: refused, errors } = await errorOf(store, given, at(NEW_YEAR));
      assert.deepEqual([refused, errors?.map(({ field }) => field)], ["body_invalid", ["customer_id"]], customer_id);
    }
    assert.deepEqual(await store.keyList(), []);
  });
}
