import assert from "node:assert/strict";
import test from "node:test";
import { PAGE_NUMBER } from "../../../src/domain/page.ts";
import { putReadings } from "../../support/records.ts";
import type { Engine } from "../engines.ts";
import { customer, customersOf, NEW_YEAR, putCustomers, putTanks, readingsOf, scopeOf, tank, tanksOf } from "./objects.ts";

/** In UTF-16 the astral ones sort before U+E000 and U+FFFD; in bytes, after. */
const IDS = ["0", "A", "Z", "a", "a ", "a0", "aa", "z", "~", "\u00e9", "e\u0301", "\ue000", "\ufffd", "\u{10000}", "😀"];
const byBytesDescending = (a: string, b: string) => Buffer.compare(Buffer.from(b), Buffer.from(a));

export function pagingConformance(engine: Engine): void {
  test("objects of one instant are ordered by the bytes of their ids, descending, on every page", async (t) => {
    const { store } = await engine.open(t);
    await putCustomers(store, ...IDS.map((id) => customer(id)));
    await putTanks(store, ...IDS.toReversed().map((id) => tank(id, "a")));
    const expected = IDS.toSorted(byBytesDescending);
    const lists = {
      customers: (page: number, size: number) => customersOf(store, { page, size }),
      "customers of one e-mail": (page: number, size: number) =>
        customersOf(store, { page, size, email: "office@customers.example" }),
      tanks: (page: number, size: number) => tanksOf(store, { page, size }),
      "tanks of one owner": (page: number, size: number) => tanksOf(store, { page, size }, scopeOf("a")),
    };
    for (const [name, list] of Object.entries(lists)) {
      for (const size of [1, 4, 100]) {
        const found: string[] = [];
        for (let page = 1; page <= Math.ceil(IDS.length / size) + 1; page++) {
          const { data, totalItems } = await list(page, size);
          assert.equal(totalItems, IDS.length);
          found.push(...data.map(({ id }) => id));
        }
        assert.deepEqual(found, expected, `${name} in pages of ${size}`);
      }
    }
  });

  test("lists are newest first, and a range includes both its ends", async (t) => {
    const { store } = await engine.open(t);
    const at = (i: number) => NEW_YEAR + i * 10;
    const numbers = [3, 0, 4, 1, 2];
    await putCustomers(store, ...numbers.map((i) => customer(`c${i}`, { created_at: at(i) })));
    await putTanks(store, ...numbers.map((i) => tank(`t${i}`, "c0", { created_at: at(i) })));
    await putReadings(
      store,
      "t0",
      numbers.map((i) => [at(i), i]),
    );
    const bounds = [undefined, at(0) - 1, at(0), at(0) + 1, at(2) - 1, at(2), at(2) + 1, at(4), at(4) + 1];
    for (const from of bounds) {
      for (const to of bounds) {
        const within = (i: number) => (from === undefined || at(i) >= from) && (to === undefined || at(i) <= to);
        const expected = [4, 3, 2, 1, 0].filter(within);
        const range = { from, to };
        const email = "office@customers.example";
        const answers = [
          await customersOf(store, range),
          await customersOf(store, { ...range, email }),
          await tanksOf(store, range),
          await tanksOf(store, range, scopeOf("c0")),
          await readingsOf(store, "t0", range),
        ];
        for (const { data, totalItems } of answers) {
          assert.deepEqual(
            data.map(({ created_at }) => created_at),
            expected.map(at),
          );
          assert.equal(totalItems, expected.length);
        }
      }
    }
  });

  test("a page past the end is empty and tells the true total", async (t) => {
    const { store } = await engine.open(t);
    await putCustomers(store, customer("a"), customer("b"), customer("c"));
    await putTanks(store, tank("one", "a"), tank("two", "a"), tank("three", "a"));
    await putReadings(store, "one", [
      [1, 1],
      [2, 2],
      [3, 3],
    ]);
    for (const page of [3, 4, 1000, PAGE_NUMBER.maximum]) {
      for (const range of [{}, { from: 0 }]) {
        const question = { ...range, page, size: 2 };
        assert.deepEqual(await customersOf(store, question), { data: [], totalItems: 3 });
        assert.deepEqual(await tanksOf(store, question), { data: [], totalItems: 3 });
        assert.deepEqual(await tanksOf(store, question, scopeOf("a")), { data: [], totalItems: 3 });
        assert.deepEqual(await readingsOf(store, "one", question), { data: [], totalItems: 3 });
      }
    }
  });

  test("an empty database answers empty lists", async (t) => {
    const { store } = await engine.open(t);
    await store.ping();
    const none = { data: [], totalItems: 0 };
    assert.deepEqual(await customersOf(store), none);
    assert.deepEqual(await customersOf(store, { email: "a@b" }), none);
    assert.deepEqual(await tanksOf(store, { from: 0, to: 1 }), none);
  });

  test("a long series is paged without a gap or a repetition", async (t) => {
    const { store } = await engine.open(t);
    await putCustomers(store, customer("a"));
    await putTanks(store, tank("one", "a"));
    const total = 2345;
    const shuffled = Array.from({ length: total }, (_, i) => ((i * 1009) % total) + 1);
    await putReadings(
      store,
      "one",
      shuffled.map((i) => [i, i % 101]),
    );
    const found: number[] = [];
    for (let page = 1; page <= 24; page++) {
      const answer = await readingsOf(store, "one", { page, size: 100 });
      assert.equal(answer.totalItems, total);
      found.push(...answer.data.map(({ created_at }) => created_at));
    }
    assert.deepEqual(
      found,
      Array.from({ length: total }, (_, i) => total - i),
    );
    const middle = await readingsOf(store, "one", { from: 1000, to: 1999, page: 4, size: 7 });
    assert.deepEqual([middle.totalItems, middle.data[0]?.created_at, middle.data.length], [1000, 1978, 7]);
  });
}
