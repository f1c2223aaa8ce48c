import assert from "node:assert/strict";
import test from "node:test";
import { NO_ACCESS, UNRESTRICTED } from "../../../src/domain/key.ts";
import { READING_OUTCOMES } from "../../../src/domain/reading.ts";
import type { Store } from "../../../src/domain/store.ts";
import { ingest, outcomeNames } from "../../support/readings.ts";
import { putReadings } from "../../support/records.ts";
import type { Engine } from "../engines.ts";
import { customer, NEW_YEAR, putCustomers, putTanks, reading, readingsOf, scopeOf, tank, WHOLE } from "./objects.ts";

const words = (outcomes: Uint8Array) => Array.from(outcomes, (code) => READING_OUTCOMES[code]);

async function withTanks(store: Store): Promise<Store> {
  await putCustomers(store, customer("a"), customer("b"));
  await putTanks(store, tank("one", "a"), tank("two", "b"));
  return store;
}

export function telemetryConformance(engine: Engine): void {
  test("each reading is told to be new, changed, unchanged, or of an unknown tank", async (t) => {
    const { store } = await engine.open(t);
    await withTanks(store);
    const told = await ingest(
      store,
      { tank: "one", at: 10, fill: 1 },
      { tank: "nobody", at: 10, fill: 1 },
      { tank: "two", at: 10, fill: 1 },
      { tank: "one", at: 20, fill: 2 },
      { tank: "one", at: 10, fill: 1 },
      { tank: "one", at: 10, fill: 3 },
      { tank: "two", at: 11, fill: 4 },
      { tank: "nobody", at: 12, fill: 5 },
    );
    assert.deepEqual(told, ["new", "tank_unknown", "new", "new", "unchanged", "changed", "new", "tank_unknown"]);
    assert.deepEqual(await readingsOf(store, "one"), { data: [reading(20, 2), reading(10, 3)], totalItems: 2 });
    assert.deepEqual(await readingsOf(store, "two"), { data: [reading(11, 4), reading(10, 1)], totalItems: 2 });
  });

  test("the number of readings is kept through new, repeated, changed and late ones", async (t) => {
    const { store } = await engine.open(t);
    await withTanks(store);
    const steps = [
      { send: [[100, 1]], words: ["new"], total: 1 },
      {
        send: [
          [100, 1],
          [100, 1],
        ],
        words: ["unchanged", "unchanged"],
        total: 1,
      },
      {
        send: [
          [100, 2],
          [100, 1],
          [100, 1],
        ],
        words: ["changed", "changed", "unchanged"],
        total: 1,
      },
      {
        send: [
          [50, 5],
          [150, 5],
          [50, 5],
        ],
        words: ["new", "new", "unchanged"],
        total: 3,
      },
      { send: [], words: [], total: 3 },
    ] as const;
    for (const step of steps) {
      assert.deepEqual(words(await putReadings(store, "one", step.send)), step.words);
      const page = await readingsOf(store, "one");
      assert.deepEqual([page.totalItems, page.data.length], [step.total, step.total]);
      assert.equal((await readingsOf(store, "one", { from: 0, to: 1000 })).totalItems, step.total);
    }
    assert.equal((await readingsOf(store, "two")).totalItems, 0);
  });

  test("one batch may name a tank twice", async (t) => {
    const { store } = await engine.open(t);
    await withTanks(store);
    const one = { kind: "tank", id: "one", customerId: null } as const;
    const accepted = await store.ingest({
      sources: [one, one],
      source: Uint32Array.of(0, 1, 1),
      createdAt: Float64Array.of(1, 1, 2),
      fill: Float64Array.of(5, 5, 5),
      payloads: new Map(),
    });
    assert.deepEqual(outcomeNames(accepted), ["new", "unchanged", "new"]);
    assert.equal((await readingsOf(store, "one")).totalItems, 2);
  });

  test("a fill is kept as the very double it came as", async (t) => {
    const { store } = await engine.open(t);
    await withTanks(store);
    const fills = [0, 100, 0.1, 1 / 3, 63.400000000000006, 99.99999999999999, 5e-324, 2 ** -1022, 1e-7, Math.PI, 7];
    await putReadings(
      store,
      "one",
      fills.map((fill, i) => [NEW_YEAR + i, fill]),
    );
    const { data } = await readingsOf(store, "one");
    const found = data.map(({ fill_percentage }) => fill_percentage).reverse();
    assert.deepEqual(found, fills);
    assert.ok(found.every((fill, i) => Object.is(fill, fills[i])));
    const near = 63.4;
    assert.deepEqual(words(await putReadings(store, "one", [[NEW_YEAR + 4, near]])), ["changed"]);
  });

  test("telemetry of an unknown tank, or one out of sight, is nothing at all", async (t) => {
    const { store } = await engine.open(t);
    await withTanks(store);
    await putReadings(store, "one", [[1, 50]]);
    assert.equal(await store.telemetryPage("nobody", WHOLE, UNRESTRICTED), undefined);
    assert.equal(await store.telemetryPage("one", WHOLE, scopeOf("b")), undefined);
    assert.equal(await store.telemetryPage("one", WHOLE, NO_ACCESS), undefined);
    assert.deepEqual(await readingsOf(store, "one", {}, scopeOf("a")), { data: [reading(1, 50)], totalItems: 1 });
    await putTanks(store, tank("one", "b"));
    assert.equal(await store.telemetryPage("one", WHOLE, scopeOf("a")), undefined);
    assert.equal((await readingsOf(store, "one", {}, scopeOf("b"))).totalItems, 1);
  });

  test("a deleted tank keeps and takes readings unseen, and shows them when restored", async (t) => {
    const { store } = await engine.open(t);
    await withTanks(store);
    await putReadings(store, "one", [[1, 50]]);
    await store.importTanks([{ remove: "one" }]);
    assert.equal(await store.telemetryPage("one", WHOLE, UNRESTRICTED), "deleted");
    assert.equal(await store.telemetryPage("one", WHOLE, scopeOf("a")), "deleted");
    assert.equal(await store.telemetryPage("one", WHOLE, scopeOf("b")), undefined);
    assert.deepEqual(
      words(
        await putReadings(store, "one", [
          [1, 50],
          [2, 40],
        ]),
      ),
      ["unchanged", "new"],
    );
    await putTanks(store, tank("one", "a"));
    assert.deepEqual(await readingsOf(store, "one"), { data: [reading(2, 40), reading(1, 50)], totalItems: 2 });
  });
}
