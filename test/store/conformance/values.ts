import assert from "node:assert/strict";
import test from "node:test";
import { UNRESTRICTED } from "../../../src/domain/key.ts";
import { createKey } from "../../support/commands.ts";
import { putReadings } from "../../support/records.ts";
import type { Engine } from "../engines.ts";
import { customer, customersOf, key, putCustomers, putTanks, reading, readingsOf, scopeOf, tank, tanksOf } from "./objects.ts";

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
  test("the first and the last instant of the calendar are kept, found and ordered", async (t) => {
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
    const newestFirst = instants.toReversed();
    const { data } = await customersOf(store);
    assert.deepEqual(
      data.map(({ created_at }) => created_at),
      newestFirst,
    );
    assert.deepEqual(
      data.map(({ last_seen_at }) => last_seen_at),
      newestFirst,
    );
    assert.deepEqual(
      data.map(({ verified_at }) => verified_at),
      newestFirst,
    );
    assert.deepEqual(
      (await tanksOf(store, {}, scopeOf("c0"))).data.map(({ created_at }) => created_at),
      newestFirst,
    );
    assert.deepEqual(
      (await readingsOf(store, "t0")).data,
      newestFirst.map((at) => reading(at, 50)),
    );
    assert.equal((await readingsOf(store, "t0", { from: FIRST, to: LAST })).totalItems, 7);
    assert.deepEqual((await readingsOf(store, "t0", { to: FIRST })).data, [reading(FIRST, 50)]);
    assert.deepEqual((await readingsOf(store, "t0", { from: LAST })).data, [reading(LAST, 50)]);
    assert.deepEqual(await readingsOf(store, "t0", { from: LAST, to: FIRST }), { data: [], totalItems: 0 });
  });

  test("every text comes back as it went in, and is found by it", async (t) => {
    const { store } = await engine.open(t);
    const customers = TEXTS.map((text, i) =>
      customer(text.slice(0, 128), { email: text, name: text, phone: text, created_at: i }),
    );
    assert.deepEqual(
      await putCustomers(store, ...customers),
      TEXTS.map(() => "new"),
    );
    const tanks = TEXTS.map((text, i) =>
      tank(text.slice(0, 128), text.slice(0, 128), {
        assigned_device_id: text.slice(0, 128),
        created_at: i,
        custom_id: text,
        location: {
          city: text,
          country: text,
          district: text,
          latitude: -90,
          longitude: 180,
          postal_code: text,
          region: text,
          street: text,
          street_number: text,
        },
        name: text,
      }),
    );
    assert.deepEqual(
      await putTanks(store, ...tanks),
      TEXTS.map(() => "new"),
    );
    for (const [i, text] of TEXTS.entries()) {
      const id = text.slice(0, 128);
      assert.deepEqual(await store.customerById(id, UNRESTRICTED), { ...customers[i], tank_count: 1 });
      assert.deepEqual((await customersOf(store, { email: text })).data, [{ ...customers[i], tank_count: 1 }]);
      assert.deepEqual((await tanksOf(store, {}, scopeOf(id))).data, [tanks[i]]);
      await putReadings(store, id, [[i, i]]);
      assert.deepEqual((await readingsOf(store, id)).data, [reading(i, i)]);
    }
  });

  test("numbers are kept to the last bit", async (t) => {
    const { store } = await engine.open(t);
    await putCustomers(store, customer("a"));
    const numbers = [5e-324, 0.1, 1 / 3, 1, 2 ** 53, 2 ** 53 + 2, 2 ** 63, 1e21, Number.MAX_VALUE];
    for (const [i, capacity] of numbers.entries()) {
      const latitude = 90 / (i + 1.1);
      const made = tank(`t${i}`, "a", { capacity });
      const placed = { ...made, location: { ...made.location, latitude, longitude: -latitude } };
      await putTanks(store, placed);
      assert.deepEqual(await store.tankById(`t${i}`, UNRESTRICTED), placed);
      assert.deepEqual(await putTanks(store, placed), ["unchanged"]);
    }
  });

  test("a key's name, rate and dates come back as they went in", async (t) => {
    const { store } = await engine.open(t);
    const extreme = key("k", { name: "😀".repeat(256), rate: 0.001, created_at: FIRST, expires_at: LAST });
    await createKey(store, extreme, "hash");
    assert.deepEqual(await store.keyByHash("hash"), { ...extreme, customer_deleted: false });
  });
}
