import assert from "node:assert/strict";
import test from "node:test";
import { UNRESTRICTED } from "../../../src/domain/key.ts";
import { createKey } from "../../support/commands.ts";
import { ingest } from "../../support/readings.ts";
import { putReadings } from "../../support/records.ts";
import type { Engine } from "../engines.ts";
import {
  customer,
  customersOf,
  fillsOf,
  key,
  NEW_YEAR,
  pendingCounts,
  putCustomers,
  putTanks,
  readingsOf,
  scopeOf,
  tank,
  tanksOf,
} from "./objects.ts";

const FIRST = Date.parse("0000-01-01T00:00:00.000Z");
const LAST = Date.parse("9999-12-31T23:59:59.999Z");

const TEXTS = [
  "x".repeat(512),
  "é".repeat(512),
  "😀".repeat(256),
  "👩‍👩‍👧‍👦 family",
  "'; DROP TABLE customer; --",
  'quotes " and \\ backslashes',
  "100% _like_ $1 ? :name",
  " leading and trailing ",
  "\u00a0\u2028\u2029\ufeff",
  "null",
  "שלום עולם",
];

export function valueConformance(engine: Engine): void {
  test("the first and the last instant of the calendar are stored, found and ordered", async (t) => {
    const { store } = await engine.open(t);
    const instants = [FIRST, FIRST + 1, -1, 0, 1, LAST - 1, LAST];
    await putCustomers(
      store,
      ...instants.map((at, i) => customer(`c${i}`, { created_at: at, updated_at: LAST, last_seen_at: at, verified_at: at })),
    );
    await putTanks(store, ...instants.map((at, i) => tank(`t${i}`, "c0", { created_at: at, updated_at: LAST })));
    await putReadings(
      store,
      "t0",
      instants.map((at) => [at, 50]),
    );
    const { data } = await customersOf(store);
    const lists = [
      data.map(({ created_at }) => created_at),
      data.map(({ last_seen_at }) => last_seen_at),
      data.map(({ verified_at }) => verified_at),
      (await tanksOf(store, {}, scopeOf("c0"))).data.map(({ created_at }) => created_at),
      (await readingsOf(store, "t0", { from: FIRST, to: LAST })).data.map(({ created_at }) => created_at),
    ];
    for (const list of lists) assert.deepEqual(list, instants.toReversed());
    assert.equal((await readingsOf(store, "t0", { to: FIRST })).totalItems, 1);
    assert.equal((await readingsOf(store, "t0", { from: LAST })).totalItems, 1);
    assert.deepEqual(await readingsOf(store, "t0", { from: LAST, to: FIRST }), { data: [], totalItems: 0 });
  });

  test("every text is returned as it was stored, and found by it", async (t) => {
    const { store } = await engine.open(t);
    const idOf = (text: string): string => text.slice(0, 128);
    const customers = TEXTS.map((text, i) => customer(idOf(text), { email: text, name: text, phone: text, created_at: i }));
    const tanks = TEXTS.map((text, i) => {
      const place = { city: text, country: text, district: text, region: text, street: text, street_number: text };
      const location = { ...place, postal_code: text, latitude: -90, longitude: 180 };
      return tank(idOf(text), idOf(text), {
        assigned_device_id: idOf(text),
        created_at: i,
        custom_id: text,
        location,
        name: text,
      });
    });
    await putCustomers(store, ...customers);
    await putTanks(store, ...tanks);
    for (const [i, text] of TEXTS.entries()) {
      const counted = { ...customers[i], tank_count: 1 };
      assert.deepEqual(await store.customerById(idOf(text), UNRESTRICTED), counted);
      assert.deepEqual((await customersOf(store, { email: text })).data, [counted]);
      assert.deepEqual((await tanksOf(store, {}, scopeOf(idOf(text)))).data, [tanks[i]]);
      await putReadings(store, idOf(text), [[i, i]]);
      assert.deepEqual(await fillsOf(store, idOf(text)), [[i, i]]);
    }
  });

  test("numbers are stored to the last bit", async (t) => {
    const { store } = await engine.open(t);
    await putCustomers(store, customer("a"));
    for (const [i, capacity] of [5e-324, 0.1, 1 / 3, 1, 2 ** 53, 2 ** 53 + 2, 2 ** 63, 1e21, Number.MAX_VALUE].entries()) {
      const latitude = 90 / (i + 1.1);
      const plain = tank(`t${i}`, "a", { capacity });
      const placed = { ...plain, location: { ...plain.location, latitude, longitude: -latitude } };
      await putTanks(store, placed);
      assert.deepEqual(await store.tankById(`t${i}`, UNRESTRICTED), placed);
      assert.deepEqual(await putTanks(store, placed), ["unchanged"]);
    }
    const fills = [0, 100, 0.1, 1 / 3, 63.400000000000006, 99.99999999999999, 5e-324, 2 ** -1022, 1e-7, Math.PI, 7];
    await putReadings(
      store,
      "t0",
      fills.map((fill, i) => [NEW_YEAR + i, fill]),
    );
    assert.deepEqual(
      (await fillsOf(store, "t0")).map(([, fill]) => fill),
      fills,
    );
    assert.deepEqual(await ingest(store, { tank: "t0", at: NEW_YEAR + 4, fill: 63.4 }), ["replaced"]);
    const extreme = key("k", { name: "😀".repeat(256), rate: 0.001, expires_at: LAST });
    await createKey(store, extreme, "hash");
    assert.deepEqual(await store.keyByHash("hash"), { ...extreme, customer_deleted: false });
  });

  test("every instant, fill and payload of a pending reading is stored as it was sent", async (t) => {
    const { store, reopen } = await engine.open(t);
    const device = "'; DROP TABLE device; -- \u00e9 😀";
    const pairs: [number, number][] = [
      [FIRST, 0],
      [-1, 5e-324],
      [0, 0.1 + 0.2],
      [1, 100],
      [LAST, 1 / 3],
    ];
    const payload = {
      "a\u0000b": 'quote " and \\ and \u2028',
      fill_percentage: 1e-7,
      deep: [{ x: null }],
      long: "é".repeat(9000),
    };
    await ingest(store, ...pairs.map(([at, fill]) => ({ device, at, fill })), { device, at: 7, payload });
    await store.close();
    const again = await reopen();
    assert.deepEqual(await pendingCounts(again, device), [6, 0]);
    await putCustomers(again, customer("a"));
    await putTanks(again, tank("one", "a", { assigned_device_id: device }));
    assert.deepEqual(
      await fillsOf(again, "one"),
      [...pairs, [7, 1e-7] as const].toSorted(([a], [b]) => a - b),
    );
  });
}
