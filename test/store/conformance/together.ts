import assert from "node:assert/strict";
import test from "node:test";
import { setImmediate } from "node:timers/promises";
import { UNRESTRICTED } from "../../../src/domain/key.ts";
import type { Store } from "../../../src/domain/store.ts";
import { addKey } from "../../support/orders.ts";
import { putReadings } from "../../support/records.ts";
import type { Engine } from "./engine.ts";
import {
  customer,
  customersOf,
  key,
  NEW_YEAR,
  putCustomers,
  putTanks,
  readingsOf,
  sightOf,
  tank,
  tankCounts,
  tanksOf,
} from "./objects.ts";

const WATCHED_MS = 1200;
const SIZE = 3;
const EMAIL = "many@customers.example";
const times = <T>(count: number, make: (i: number) => T): T[] => Array.from({ length: count }, (_, i) => make(i));

/** Writes in tens until told to stop: whatever a reader counts is a multiple of ten. */
async function writeInTens(store: Store, isDone: () => boolean): Promise<void> {
  for (let round = 0; !isDone(); round++) {
    const name = (i: number) => `${round} ${i}`;
    const isRemoving = round % 4 === 3;
    const gone = (i: number) => ({ remove: `${round - 1} ${i}` });
    await Promise.all([
      putReadings(
        store,
        "tank",
        times(10, (i) => [round * 10 + i, 50]),
      ),
      store.importCustomers(
        times(10, (i) => (isRemoving ? gone(i) : { customer: customer(name(i), { email: EMAIL }), deleted: false })),
      ),
      store.importTanks(times(10, (i) => (isRemoving ? gone(i) : { tank: tank(name(i), "owner"), deleted: false }))),
    ]);
  }
}

export function togetherConformance(engine: Engine): void {
  test("rows and total of one answer agree while another store writes", async (t) => {
    const { store, reopen } = await engine.open(t);
    await putCustomers(store, customer("owner"));
    await putTanks(store, tank("tank", "owner", { created_at: 0 }));
    const other = await reopen();
    await putCustomers(other, customer("owner"));
    const lists = {
      customers: { others: 1, ask: (page: number) => customersOf(store, { page, size: SIZE }) },
      email: { others: 0, ask: (page: number) => customersOf(store, { page, size: SIZE, email: EMAIL }) },
      tanks: { others: 1, ask: (page: number) => tanksOf(store, { page, size: SIZE }) },
      own: { others: 1, ask: (page: number) => tanksOf(store, { page, size: SIZE }, sightOf("owner")) },
      range: { others: 0, ask: (page: number) => tanksOf(store, { page, size: SIZE, from: NEW_YEAR }, sightOf("owner")) },
      telemetry: { others: 0, ask: (page: number) => readingsOf(store, "tank", { page, size: SIZE }) },
      "range of telemetry": { others: 0, ask: (page: number) => readingsOf(store, "tank", { page, size: SIZE, from: 0 }) },
    };
    let isDone = false;
    const writing = writeInTens(other, () => isDone);
    const lastPage = new Map<string, number>();
    const totals = new Set<number>();
    try {
      for (const end = performance.now() + WATCHED_MS; performance.now() < end; await setImmediate()) {
        for (const [name, { others, ask }] of Object.entries(lists)) {
          const page = lastPage.get(name) ?? 1;
          const { data, totalItems } = await ask(page);
          const expected = Math.min(SIZE, Math.max(0, totalItems - (page - 1) * SIZE));
          assert.equal(data.length, expected, `page ${page} of ${name}, ${totalItems} in all`);
          assert.equal((totalItems - others) % 10, 0, `${totalItems} ${name}: half a write was seen`);
          lastPage.set(name, Math.max(1, Math.ceil(totalItems / SIZE)));
          totals.add(totalItems);
        }
      }
    } finally {
      isDone = true;
      await writing;
    }
    assert.ok(totals.size > 5, "something was written meanwhile");
  });

  test("two stores that write to one database at once lose nothing and count exactly", async (t) => {
    const { store, reopen } = await engine.open(t);
    const other = await reopen();
    await putCustomers(store, customer("a"), customer("b"));
    await putTanks(store, tank("one", "a"), tank("shared", "a"));
    const rounds = 60;
    await Promise.all(
      [store, other].map(async (mine, side) => {
        for (let i = 0; i < rounds; i++) {
          await Promise.all([
            putReadings(mine, "one", [
              [i * 2 + side, 50],
              [-i - 1, 50],
            ]),
            putTanks(mine, tank(`${side} ${i}`, "a"), tank("shared", side === 0 ? "a" : "b")),
            mine.updateLastSeen(new Map([["a", NEW_YEAR + i * 2 + side]])),
          ]);
        }
      }),
    );
    for (const one of [store, other]) {
      assert.equal((await readingsOf(one, "one")).totalItems, rounds * 3);
      assert.equal((await readingsOf(one, "one", { from: -rounds, to: rounds * 2 })).totalItems, rounds * 3);
      const [a, b] = [await tanksOf(one, { from: 0 }, sightOf("a")), await tanksOf(one, { from: 0 }, sightOf("b"))];
      assert.equal(a.totalItems + b.totalItems, rounds * 2 + 2);
      assert.deepEqual(await tankCounts(one, "a", "b"), [a.totalItems, b.totalItems]);
      const found = await one.customerById("a", UNRESTRICTED);
      assert.equal(typeof found === "object" && found.last_seen_at, NEW_YEAR + rounds * 2 - 1);
    }
  });

  test("a write that fails takes none of those handed over with it down", async (t) => {
    const { store } = await engine.open(t);
    await addKey(store, key("k"), "hash");
    const outcomes = await Promise.allSettled([
      putCustomers(store, customer("a")),
      addKey(store, key("twin"), "hash"),
      putTanks(store, tank("one", "a")),
      putCustomers(store, customer("b"), customer("impossible", { created_at: 0.5 })),
      putReadings(store, "one", [[1, 50]]),
    ]);
    assert.deepEqual(
      outcomes.map(({ status }) => status),
      ["fulfilled", "rejected", "fulfilled", "rejected", "fulfilled"],
    );
    assert.deepEqual(
      (await customersOf(store)).data.map(({ id }) => id),
      ["a"],
    );
    assert.deepEqual(await tankCounts(store, "a"), [1]);
    assert.equal((await readingsOf(store, "one")).totalItems, 1);
    assert.equal((await store.keyList()).length, 1);
  });

  test("writes of one store happen in the order they were handed over", async (t) => {
    const { store } = await engine.open(t);
    const outcomes = await Promise.all([
      putTanks(store, tank("one", "a")),
      putCustomers(store, customer("a")),
      putTanks(store, tank("one", "a")),
      store.importTanks([{ remove: "one" }]),
      putReadings(store, "one", [[1, 1]]),
      putReadings(store, "one", [[1, 2]]),
      putTanks(store, tank("one", "a")),
    ]);
    const unknown = { rejected: "owner_id: there is no customer with this id" };
    assert.deepEqual(
      outcomes.map(([first]) => first),
      [unknown, "new", "new", "changed", 0, 1, "changed"],
    );
    assert.equal((await readingsOf(store, "one")).data[0]?.fill_percentage, 2);
  });
}
