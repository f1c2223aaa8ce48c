import assert from "node:assert/strict";
import test from "node:test";
import type { Store } from "../../../src/domain/store.ts";
import type { Engine } from "../engines.ts";
import { customer, customersOf, NEW_YEAR, putCustomers } from "./objects.ts";

const EMAIL = "office@customers.example";
const name = (i: number): string => `c${String(i).padStart(6, "0")}`;

/** All lists of these customers, which share one instant and one e-mail, are these ids, in this order. */
async function expectCustomers(store: Store, ids: readonly string[]): Promise<void> {
  const expected = ids.toSorted().reverse();
  for (const question of [{}, { email: EMAIL }, { from: NEW_YEAR }, { from: NEW_YEAR, to: NEW_YEAR, email: EMAIL }]) {
    const found: string[] = [];
    for (let page = 1; page <= Math.ceil(ids.length / 100) + 1; page++) {
      const { data, totalItems } = await customersOf(store, { ...question, page, size: 100 });
      assert.equal(totalItems, ids.length);
      found.push(...data.map(({ id }) => id));
    }
    assert.deepEqual(found, expected, JSON.stringify(question));
  }
  assert.equal((await customersOf(store, { from: NEW_YEAR + 1 })).totalItems, 0);
  assert.equal((await customersOf(store, { to: NEW_YEAR - 1 })).totalItems, 0);
}

const names = (count: number): string[] => Array.from({ length: count }, (_, i) => name(i));
const put = (store: Store, ids: readonly string[]) => putCustomers(store, ...ids.map((id) => customer(id)));
const remove = (store: Store, ids: readonly string[]) => store.importCustomers(ids.map((id) => ({ remove: id })));

export function longListConformance(engine: Engine): void {
  test("a list of any length is whole, though all its entries share one instant", async (t) => {
    const { store } = await engine.open(t);
    let known = 0;
    for (const count of [255, 256, 257, 384, 385, 16_511, 16_512, 16_513, 16_641, 19_000]) {
      await put(store, names(count).slice(known));
      known = count;
      await expectCustomers(store, names(count));
    }
  });

  test("a list shrinks to nothing and grows again", async (t) => {
    const { store } = await engine.open(t);
    const all = names(4300);
    await put(store, all.toReversed());
    await remove(store, all.slice(100, 4200));
    await expectCustomers(store, [...all.slice(0, 100), ...all.slice(4200)]);
    await remove(store, all);
    await expectCustomers(store, []);
    await put(store, all.slice(2000, 2300));
    await expectCustomers(store, all.slice(2000, 2300));
    await put(store, all);
    await expectCustomers(store, all);
  });

  test("one place of a list that fills up moves nothing else", async (t) => {
    for (const place of [0, 129, 9000, 16_599]) {
      const { store } = await engine.open(t);
      const crowd = Array.from({ length: 700 }, (_, i) => `${name(place)} ${String((i * 331) % 700).padStart(3, "0")}`);
      await put(store, names(16_600));
      await put(store, crowd);
      await expectCustomers(store, [...names(16_600), ...crowd]);
      await store.close();
    }
  });

  test("several places of a list may fill up in one write", async (t) => {
    const { store } = await engine.open(t);
    await put(store, names(16_400));
    const crowds = [300, 2600, 16_000].flatMap((place) => Array.from({ length: 200 }, (_, i) => `${name(place)} ${i}`));
    await put(store, crowds);
    await expectCustomers(store, [...names(16_400), ...crowds]);
  });
}
