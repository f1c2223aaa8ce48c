import assert from "node:assert/strict";
import test from "node:test";
import type { Store } from "../../../src/domain/store.ts";
import { putReadings } from "../../support/records.ts";
import type { Engine } from "../engines.ts";
import { checked, customer, putCustomers, putTanks, readingsOf, tank } from "./objects.ts";

/** Readings lie at even instants from 0 on, so that odd ones are free. */
const instants = (count: number): number[] => Array.from({ length: count }, (_, i) => 2 * i);
const put = (store: Store, id: string, at: readonly number[]) =>
  putReadings(
    store,
    id,
    at.map((one) => [one, Math.abs(one) % 100]),
  );

async function withTank(store: Store, count: number): Promise<void> {
  await putCustomers(store, customer("a"));
  await putTanks(store, tank("one", "a"));
  await put(store, "one", instants(count));
}

/** The same readings, whatever way they are asked for. */
async function expectReadings(store: Store, expected: readonly number[]): Promise<void> {
  const newestFirst = expected.toSorted((a, b) => b - a);
  for (const size of [1, 7, 100].filter((one) => one === 100 || expected.length <= one * 100)) {
    const found: number[] = [];
    for (let page = 1; page <= Math.ceil(expected.length / size); page++) {
      const { data, totalItems } = await readingsOf(store, "one", { page, size });
      assert.equal(totalItems, expected.length);
      found.push(...data.map(({ created_at }) => created_at));
    }
    assert.deepEqual(found, newestFirst, `in pages of ${size}`);
  }
}

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

/** Where something begins: the head is cut at 161, a block at 257, a group of blocks at 129 of 128. */
const LENGTHS = [1, 159, 160, 161, 256, 257, 288, 289, 16_543, 16_544, 16_545, 16_672, 16_673];

export function longTelemetryConformance(engine: Engine): void {
  test("telemetry of any length is whole, sent at once, one by one, or oldest last", async (t) => {
    for (const count of LENGTHS) {
      const { store } = await engine.open(t);
      await withTank(store, count - 1);
      await put(store, "one", [2 * (count - 1)]);
      await expectReadings(store, instants(count));
      await put(store, "one", [-2]);
      await expectReadings(store, [-2, ...instants(count)]);
      await store.close();
    }
  });

  test("telemetry that grows bit by bit, at both ends and in the middle, is whole at every step", async (t) => {
    const { store } = await engine.open(t);
    await withTank(store, 0);
    const all: number[] = [];
    for (let step = 1; step <= 12; step++) {
      const newer = Array.from({ length: 1000 }, (_, i) => 2 * (step * 1000 + i));
      const older = Array.from({ length: 700 }, (_, i) => -2 * (step * 700 + i));
      const between = Array.from({ length: 150 }, (_, i) => 2 * (step * 500 + i) + 1);
      for (const part of [newer, older, between]) await put(store, "one", part);
      all.push(...newer, ...older, ...between);
      if (step % 3 === 0) await expectReadings(store, all);
    }
  });

  test("readings that come one by one, newest first, are all there", async (t) => {
    const { store } = await engine.open(t);
    await withTank(store, 0);
    const all = instants(600);
    for (const at of all.toReversed()) await put(store, "one", [at]);
    await expectReadings(store, all);
  });

  test("a range may begin and end anywhere: on, before and after readings, in one block, in two, in the head", async (t) => {
    const { store } = await engine.open(t);
    const count = 700;
    await withTank(store, count);
    const all = instants(count);
    // Blocks begin at every 128th reading; the newest are in the head.
    const places = [0, 1, 5, 127, 128, 129, 250, 255, 256, 257, 511, 512, 639, 640, 650, 698, 699];
    for (const a of places) {
      for (const b of places) {
        for (const [before, after] of [
          [0, 0],
          [-1, 1],
          [1, -1],
        ] as const)
          await expectRange(store, all, 2 * a + before, 2 * b + after);
      }
    }
  });

  test("one place that fills up, wherever it is, moves nothing else", async (t) => {
    for (const place of [-1000, 0, 2 * 128, 2 * 3000, 2 * 4099]) {
      const { store } = await engine.open(t);
      await withTank(store, 4100);
      const crowd = Array.from({ length: 500 }, (_, i) => place + 2 * i + 1);
      for (let i = 0; i < crowd.length; i += 50) await put(store, "one", crowd.slice(i, i + 50));
      await expectReadings(store, [...instants(4100), ...crowd]);
      await store.close();
    }
  });

  test("several places may fill up in one write", async (t) => {
    const { store } = await engine.open(t);
    await withTank(store, 4200);
    const crowds = [600, 5200, 8000].flatMap((place) => Array.from({ length: 200 }, (_, i) => place + 2 * i + 1));
    await put(store, "one", crowds);
    await expectReadings(store, [...instants(4200), ...crowds]);
  });

  test("a reading of every block that is corrected or sent again adds nothing", async (t) => {
    const { store } = await engine.open(t);
    await withTank(store, 2000);
    const some = instants(2000).filter((_, i) => i % 64 === 0);
    await put(store, "one", some);
    await putReadings(
      store,
      "one",
      some.map((at) => [at, 0.1 + 0.2]),
    );
    await expectReadings(store, instants(2000));
    for (const at of some) {
      const { data, totalItems } = await readingsOf(store, "one", { from: at, to: at });
      assert.deepEqual([totalItems, data[0]?.fill_percentage], [1, 0.1 + 0.2]);
    }
  });

  test("a million readings, with late ones among them, are found by page and by range", async (t) => {
    const { store } = await engine.open(t);
    const count = 1_100_000;
    await withTank(store, count);
    // Every hundredth gap between two readings of the middle is filled, in no order.
    const between = Array.from({ length: 2000 }, (_, i) => 500_001 + 200 * ((i * 769) % 2000));
    await put(store, "one", between);
    const total = count + between.length;
    const all = [...instants(count), ...between].sort((a, b) => b - a);
    for (const page of [1, 2, 7000, 8500, 8600, 9000, 9801, 10_000, 11_019, 11_020, 11_021]) {
      const { data, totalItems } = await readingsOf(store, "one", { page, size: 100 });
      assert.equal(totalItems, total);
      assert.deepEqual(
        data.map(({ created_at }) => created_at),
        all.slice((page - 1) * 100, page * 100),
        `page ${page}`,
      );
    }
    for (const [from, to] of [
      [0, 2 * count],
      [1, 500_000],
      [499_999, 900_000],
      [700_001, 700_001],
      [2_199_000, 9e9],
    ] as const) {
      await expectRange(store, all, from, to);
    }
    assert.deepEqual((await checked(store)).findings, []);
  });
}
