// Telemetry and lists around the lengths at which heads, blocks, segments and levels of the rank index begin.

import assert from "node:assert/strict";
import test from "node:test";
import type { Store } from "../../../src/domain/store.ts";
import { putReadings } from "../../support/records.ts";
import type { Engine } from "../engines.ts";
import { customer, customersOf, NEW_YEAR, putCustomers, putTanks, readingsOf, tank } from "./objects.ts";

/** Readings are at even instants from 0 on. */
const instants = (count: number): number[] => Array.from({ length: count }, (_, i) => 2 * i);
const put = (store: Store, at: readonly number[]) =>
  putReadings(
    store,
    "one",
    at.map((one) => [one, Math.abs(one) % 100]),
  );

async function withTank(store: Store): Promise<void> {
  await putCustomers(store, customer("a"));
  await putTanks(store, tank("one", "a"));
}

/** Pages at both ends and in the middle of a range. */
async function expectRange(store: Store, all: readonly number[], from: number, to: number): Promise<void> {
  const expected = all.filter((at) => at >= from && at <= to).toSorted((a, b) => b - a);
  const last = Math.max(1, Math.ceil(expected.length / 9));
  for (const page of new Set([1, Math.ceil(last / 2), last, last + 1])) {
    const { data, totalItems } = await readingsOf(store, "one", { from, to, page, size: 9 });
    assert.equal(totalItems, expected.length, `from ${from} to ${to}`);
    assert.deepEqual(
      data.map(({ created_at }) => created_at),
      expected.slice((page - 1) * 9, page * 9),
      `page ${page} from ${from} to ${to}`,
    );
  }
}

/** The head is split at 161 readings, a block at 257, a group of blocks at 129 of 128. */
const LENGTHS = [1, 159, 160, 161, 256, 257, 288, 289, 16_543, 16_544, 16_545, 16_672, 16_673];

const EMAIL = "office@customers.example";
const name = (i: number): string => `c${String(i).padStart(6, "0")}`;
const names = (count: number): string[] => Array.from({ length: count }, (_, i) => name(i));

/** These customers share one instant and one e-mail address: pages of all lists have these ids, in this order. */
async function expectCustomers(store: Store, ids: readonly string[], pages: readonly number[]): Promise<void> {
  const expected = ids.toSorted().reverse();
  for (const query of [{}, { email: EMAIL }, { from: NEW_YEAR }, { from: NEW_YEAR, to: NEW_YEAR, email: EMAIL }]) {
    for (const page of pages) {
      const { data, totalItems } = await customersOf(store, { ...query, page, size: 100 });
      assert.deepEqual([totalItems, data.map(({ id }) => id)], [ids.length, expected.slice((page - 1) * 100, page * 100)]);
    }
  }
  assert.equal((await customersOf(store, { from: NEW_YEAR + 1 })).totalItems, 0);
  assert.equal((await customersOf(store, { to: NEW_YEAR - 1 })).totalItems, 0);
}

export function lengthConformance(engine: Engine): void {
  test("telemetry of any length is complete, appended or with an older reading added", async (t) => {
    const { store } = await engine.open(t);
    await withTank(store);
    let known = 0;
    for (const count of LENGTHS) {
      await put(store, instants(count - 1).slice(known));
      await put(store, [2 * (count - 1)]);
      known = count;
      await expectRange(store, instants(count), 0, 2 * count);
    }
    for (const at of [-2, 257, 2 * 16_000 + 1]) await put(store, [at]);
    await expectRange(store, [-2, 257, 32_001, ...instants(known)], -2, 2 * known);
  });

  test("older readings are added to many groups of blocks at once", async (t) => {
    const { store } = await engine.open(t);
    await withTank(store);
    const count = 33_000;
    await put(store, instants(count));
    const late = [-2, 257, 20_001, 40_001, 60_001];
    await put(store, late);
    await expectRange(store, [...late, ...instants(count)], -2, 2 * count);
    await expectRange(store, [...late, ...instants(count)], 40_000, 60_002);
  });

  test("a range may begin and end on, before and after readings, in one block, in two, and in the head", async (t) => {
    const { store } = await engine.open(t);
    await withTank(store);
    await put(store, instants(700));
    // Blocks begin at every 128th reading; the newest are in the head.
    const places = [0, 1, 127, 128, 129, 255, 639, 640, 699];
    for (const a of places) {
      for (const b of places) {
        for (const shift of [0, -1, 1]) await expectRange(store, instants(700), 2 * a + shift, 2 * b - shift);
      }
    }
  });

  test("a list of entries of one instant is complete while it grows and shrinks", async (t) => {
    const { store } = await engine.open(t);
    let known = 0;
    for (const count of [255, 256, 257, 384, 385, 16_512, 16_513, 16_641]) {
      await putCustomers(
        store,
        ...names(count)
          .slice(known)
          .map((id) => customer(id)),
      );
      known = count;
      await expectCustomers(store, names(count), [
        1,
        2,
        Math.ceil(count / 200),
        Math.ceil(count / 100),
        Math.ceil(count / 100) + 1,
      ]);
    }
    const added = Array.from({ length: 700 }, (_, i) => `${name(9000)} ${String((i * 331) % 700).padStart(3, "0")}`);
    await putCustomers(store, ...[...added, "0", "d"].map((id) => customer(id)));
    const all = [...names(known), ...added, "0", "d"];
    await expectCustomers(store, all, [1, 70, 76, 80, 84, 90, 174]);
    await store.importCustomers(all.slice(100).map((id) => ({ remove: id })));
    await expectCustomers(store, all.slice(0, 100), [1, 2]);
    await putCustomers(store, ...names(700).map((id) => customer(id)));
    await expectCustomers(store, names(700), [1, 4, 7]);
  });
}
