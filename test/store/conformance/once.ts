import assert from "node:assert/strict";
import test from "node:test";
import { type Command, IDEMPOTENCY_MS } from "../../../src/domain/commands/command.ts";
import type { Store } from "../../../src/domain/store.ts";
import { at, command, createKey, tankFields } from "../../support/commands.ts";
import type { Engine } from "../engines.ts";
import { checked, customer, customersOf, key, NEW_YEAR, putCustomers, WHOLE_LOG } from "./objects.ts";

const FIELDS = { email: "a@b.example", name: "Anna" };
const make = (newId: string): Command => command.createCustomer(newId, FIELDS);

/** Which customer is resource, or why it is refused, and whether it had been done before. */
async function carried(store: Store, given: Command, context: ReturnType<typeof at>, keyOfSender: string, asked = "this") {
  const answer = await store.execute(given, context, { key: keyOfSender, fingerprint: asked });
  return "error" in answer ? answer.error : [answer.resource.object["id"], answer.replayed];
}

export function onceConformance(engine: Engine): void {
  test("a creation that arrives twice is done once, and answered as it was, whatever has become of it", async (t) => {
    const { store, reopen } = await engine.open(t);
    const first = await store.execute(make("one"), at(NEW_YEAR), { key: "k", fingerprint: "this" });
    assert.ok(!("error" in first));
    await store.execute(command.changeCustomer("one", { name: "Changed" }), at(NEW_YEAR + 1));
    const again = await (await reopen()).execute(make("two"), at(NEW_YEAR + 2), { key: "k", fingerprint: "this" });
    assert.deepEqual(again, { resource: first.resource, replayed: true });
    assert.equal(await store.managedCustomer("two"), undefined);
    const { totalItems } = await store.auditPage({ ...WHOLE_LOG, object: "customer" });
    assert.equal(totalItems, 2);
  });

  test("the same key for something else is refused, and does nothing", async (t) => {
    const { store } = await engine.open(t);
    assert.deepEqual(await carried(store, make("one"), at(NEW_YEAR), "k"), ["one", false]);
    assert.equal(await carried(store, make("two"), at(NEW_YEAR), "k", "that"), "idempotency_key_reused");
    assert.equal((await customersOf(store)).totalItems, 1);
    assert.deepEqual(await carried(store, make("three"), at(NEW_YEAR), "K"), ["three", false], "keys are as they are written");
  });

  test("another sender's key is another key", async (t) => {
    const { store } = await engine.open(t);
    assert.deepEqual(await carried(store, make("one"), at(NEW_YEAR, "key_a"), "k"), ["one", false]);
    assert.deepEqual(await carried(store, make("two"), at(NEW_YEAR, "key_b"), "k", "that"), ["two", false]);
    assert.deepEqual(await carried(store, make("three"), at(NEW_YEAR, "key_a"), "k"), ["one", true]);
    assert.deepEqual(await carried(store, make("three"), at(NEW_YEAR, "key_b"), "k", "that"), ["two", true]);
  });

  test("it is remembered for a day, and then forgotten", async (t) => {
    const { store } = await engine.open(t);
    await carried(store, make("one"), at(NEW_YEAR), "k");
    assert.deepEqual(await carried(store, make("two"), at(NEW_YEAR + IDEMPOTENCY_MS - 1), "k"), ["one", true]);
    assert.equal(await carried(store, make("two"), at(NEW_YEAR + IDEMPOTENCY_MS - 1), "k", "that"), "idempotency_key_reused");
    assert.deepEqual(await carried(store, make("two"), at(NEW_YEAR + IDEMPOTENCY_MS), "k", "that"), ["two", false]);
    assert.deepEqual(await carried(store, make("three"), at(NEW_YEAR + IDEMPOTENCY_MS + 1), "k", "that"), ["two", true]);
  });

  test("what was refused is not remembered: put right, it is done", async (t) => {
    const { store } = await engine.open(t);
    const tank = command.createTank("one", tankFields("a", "d1"));
    assert.equal(await carried(store, tank, at(NEW_YEAR), "k"), "body_invalid");
    await putCustomers(store, customer("a"));
    assert.deepEqual(await carried(store, tank, at(NEW_YEAR), "k"), ["one", false]);
  });

  test("of several that arrive at the same moment, through several stores, one is done", async (t) => {
    const { store, reopen } = await engine.open(t);
    const stores = [store, await reopen(), await reopen()];
    const answers = await Promise.all(
      Array.from({ length: 9 }, (_, i) => carried(stores[i % 3] as Store, make(`c${i}`), at(NEW_YEAR + i), "k")),
    );
    const ids = new Set(answers.map((answer) => answer[0]));
    assert.equal(ids.size, 1, JSON.stringify(answers));
    assert.equal(answers.filter((answer) => answer[1] === false).length, 1);
    assert.equal((await customersOf(store)).totalItems, 1);
    assert.deepEqual((await checked(store)).findings, []);
  });

  test("a key that was made is resource again, and its secret is not what is remembered", async (t) => {
    const { store } = await engine.open(t);
    await createKey(store, key("other"), "other");
    assert.deepEqual(await carried(store, command.createKey(key("k1"), "hash 1"), at(NEW_YEAR), "k"), ["k1", false]);
    assert.deepEqual(await carried(store, command.createKey(key("k2"), "hash 2"), at(NEW_YEAR), "k"), ["k1", true]);
    assert.equal(await store.keyByHash("hash 2"), undefined);
    assert.equal((await store.keyByHash("hash 1"))?.id, "k1");
  });
}
