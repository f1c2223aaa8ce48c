import assert from "node:assert/strict";
import test from "node:test";
import type { CustomerSearch, TankSearch } from "../../../src/domain/management-reads.ts";
import type { Page, PageQuery } from "../../../src/domain/page.ts";
import type { Store } from "../../../src/domain/store.ts";
import { NO_LOCATION, type Tank } from "../../../src/domain/tank.ts";
import { type Random, seeded } from "../../../src/simulate/random.ts";
import { at, command, executed } from "../../support/commands.ts";
import type { Engine } from "../engines.ts";
import { customer, NEW_YEAR, putCustomers, putTanks, tank, WHOLE } from "./objects.ts";

const customers = (search: Partial<CustomerSearch> = {}): CustomerSearch => ({
  ...WHOLE,
  deleted: false,
  name: undefined,
  email: undefined,
  ...search,
});
const tanks = (search: Partial<TankSearch> = {}): TankSearch => ({
  ...WHOLE,
  deleted: false,
  name: undefined,
  city: undefined,
  custom_id: undefined,
  owner_id: undefined,
  device_id: undefined,
  ...search,
});

const foundCustomers = async (store: Store, search: Partial<CustomerSearch>) =>
  (await store.customerSearch(customers(search))).data.map((found) => found.customer.id);
const foundTanks = async (store: Store, search: Partial<TankSearch>) =>
  (await store.tankSearch(tanks(search))).data.map((found) => found.tank.id);

/** One of them, which may also be none. */
const any = <T>(random: Random, list: readonly T[]): T | undefined => list[random.whole(0, list.length - 1)];

/** In either case of A to Z; every other letter as it is. */
const plain = (text: string): string => text.replace(/[A-Z]/g, (letter) => letter.toLowerCase());
const begins = (text: string | null, beginning: string | undefined): boolean =>
  beginning === undefined || (text !== null && plain(text).startsWith(plain(beginning)));

/** Newest first, then by the bytes of the id, descending; cut to the page. */
function pageOf<T>(found: readonly T[], of: (one: T) => { id: string; created_at: number }, question: PageQuery): Page<T> {
  const { from = -1e15, to = 1e15, page, size } = question;
  const within = found.filter((one) => of(one).created_at >= from && of(one).created_at <= to);
  const sorted = within.toSorted(
    (a, b) => of(b).created_at - of(a).created_at || Buffer.compare(Buffer.from(of(b).id), Buffer.from(of(a).id)),
  );
  return { data: sorted.slice((page - 1) * size, page * size), totalItems: within.length };
}

const TEXTS = [
  "Ulm",
  "ULM",
  "ulm",
  "Ulmen",
  "Um",
  "Übach",
  "übach",
  "UBACH",
  "100%",
  "100 m",
  "a_b",
  "axb",
  "a\\b",
  "a",
  "A",
  "aß",
  "😀 x",
  "'; --",
  "*",
];

export function searchConformance(engine: Engine): void {
  test("customers are found by how name and e-mail begin, in either case of A to Z, and every sign is plain", async (t) => {
    const { store } = await engine.open(t);
    await putCustomers(
      store,
      ...TEXTS.map((name, i) => customer(`c${i}`, { name, email: `${TEXTS[TEXTS.length - 1 - i]}@b.example`, created_at: i })),
    );
    const textOf = (id: string): string => TEXTS[Number(id.slice(1))] as string;
    for (const name of [...TEXTS, "u", "U", "Ü", "ü", "ul", "LM", "%", "_", "\\", "a_", "A\\", "1", "100%", "zzz", "ulmen!"]) {
      const found = await foundCustomers(store, { name });
      const expected = TEXTS.filter((text) => begins(text, name));
      assert.deepEqual(found.map(textOf), expected.toReversed(), `name ${name}`);
      const byEmail = (await foundCustomers(store, { email: name })).map((id) => TEXTS[TEXTS.length - 1 - Number(id.slice(1))]);
      assert.deepEqual(byEmail, expected, `email ${name}`);
    }
    assert.deepEqual(await foundCustomers(store, { name: "ulm", email: "zz" }), []);
    assert.deepEqual(await foundCustomers(store, { name: "*", email: "ulm" }), [`c${TEXTS.length - 1}`]);
  });

  test("the last letters of Unicode are letters like any other", async (t) => {
    const { store } = await engine.open(t);
    await putCustomers(store, customer("a", { name: "x\u{10ffff}y" }), customer("b", { name: "x\uffff" }));
    assert.deepEqual(await foundCustomers(store, { name: "X" }), ["b", "a"]);
    assert.deepEqual(await foundCustomers(store, { name: "x\u{10ffff}" }), ["a"]);
  });

  test("tanks are found by name, city, custom_id, owner and device, together too", async (t) => {
    const { store } = await engine.open(t);
    await putCustomers(store, customer("a"), customer("b"));
    const made = [
      tank("t1", "a", { name: "Hall 1", location: { ...NO_LOCATION, city: "Ulm" }, custom_id: "H-1", assigned_device_id: "d1" }),
      tank("t2", "b", { name: "hall 2", location: { ...NO_LOCATION, city: "ULM" }, assigned_device_id: "D1" }),
      tank("t3", "a", { name: "Yard", location: { ...NO_LOCATION, city: "Bonn" }, custom_id: "h-10", assigned_device_id: "d10" }),
    ];
    await putTanks(store, ...made);
    const searches: [Partial<TankSearch>, string[]][] = [
      [{}, ["t3", "t2", "t1"]],
      [{ name: "HALL" }, ["t2", "t1"]],
      [{ city: "ulm" }, ["t2", "t1"]],
      [{ custom_id: "H-1" }, ["t3", "t1"]],
      [{ custom_id: "h-10" }, ["t3"]],
      [{ owner_id: "a" }, ["t3", "t1"]],
      [{ owner_id: "A" }, []],
      [{ owner_id: "" }, []],
      [{ device_id: "d1" }, ["t1"]],
      [{ device_id: "D1" }, ["t2"]],
      [{ device_id: "d" }, []],
      [{ name: "hall", owner_id: "b" }, ["t2"]],
      [{ name: "hall", city: "bonn" }, []],
      [{ name: "hall", city: "u", custom_id: "h", owner_id: "a", device_id: "d1" }, ["t1"]],
    ];
    for (const [search, ids] of searches) {
      assert.deepEqual(await foundTanks(store, search), ids, JSON.stringify(search));
      assert.equal((await store.tankSearch(tanks({ ...search, size: 1 }))).totalItems, ids.length, JSON.stringify(search));
    }
    assert.deepEqual((await store.tankSearch(tanks({ device_id: "d10" }))).data, [
      { tank: made[2], deleted: false, shape: null },
    ]);
  });

  test("an EUI-64 is found in whatever case it is written, there or here", async (t) => {
    const { store } = await engine.open(t);
    await putCustomers(store, customer("a"));
    const mixed = "a84041C2f1827D3E";
    for (const written of [mixed, mixed.toLowerCase(), mixed.toUpperCase()]) {
      await putTanks(store, tank("one", "a", { assigned_device_id: written }));
      for (const device_id of [mixed, mixed.toLowerCase(), mixed.toUpperCase()]) {
        assert.deepEqual(await foundTanks(store, { device_id }), ["one"], `${device_id} of ${written}`);
      }
      await store.importTanks([{ remove: "one" }]);
      assert.deepEqual(await foundTanks(store, { device_id: mixed.toLowerCase(), deleted: true }), ["one"], `deleted ${written}`);
    }
  });

  test("the deleted are found among the deleted, with all that they were", async (t) => {
    const { store } = await engine.open(t);
    await putCustomers(store, customer("a", { name: "Anna" }), customer("b", { name: "Ben" }));
    await putTanks(store, tank("one", "a", { name: "Hall" }), tank("two", "b", { name: "Hall" }));
    await executed(store, command.deleteCustomer("a", true), at(NEW_YEAR));
    assert.deepEqual([await foundCustomers(store, {}), await foundCustomers(store, { deleted: true })], [["b"], ["a"]]);
    assert.deepEqual([await foundTanks(store, {}), await foundTanks(store, { deleted: true })], [["two"], ["one"]]);
    assert.deepEqual(await foundTanks(store, { deleted: true, name: "ha", owner_id: "a" }), ["one"]);
    assert.deepEqual(await foundTanks(store, { deleted: true, owner_id: "b" }), []);
    assert.deepEqual(await foundCustomers(store, { deleted: true, name: "b" }), []);
    const [gone] = (await store.customerSearch(customers({ deleted: true, name: "anna" }))).data;
    assert.deepEqual(gone, { customer: { ...customer("a", { name: "Anna" }), tank_count: 0 }, deleted: true });
    assert.deepEqual((await store.tankSearch(tanks({ deleted: true }))).data, [
      { tank: tank("one", "a", { name: "Hall" }), deleted: true, shape: null },
    ]);
    await executed(store, command.restoreCustomer("a"), at(NEW_YEAR + 1));
    assert.deepEqual([await foundCustomers(store, { deleted: true }), await foundTanks(store, { deleted: true })], [[], []]);
  });

  test("any page of any search is as it would be found by hand", async (t) => {
    const { store } = await engine.open(t);
    const seed = Date.now() % 1_000_000;
    const random = seeded(seed);
    const some = () => random.pick(TEXTS);
    const people = Array.from({ length: 150 }, (_, i) =>
      customer(`${random.pick(["c", "C", "é"])}${i}`, {
        name: some(),
        email: `${some()}@b.example`,
        created_at: NEW_YEAR + random.whole(0, 9),
      }),
    );
    const isGone = (i: number): boolean => i % 4 === 0;
    await store.importCustomers(people.map((one, i) => ({ customer: one, deleted: isGone(i) })));
    const owners = people.slice(0, 3).map(({ id }) => id);
    const made = Array.from(
      { length: 150 },
      (_, i): Tank =>
        tank(`t${i}`, random.pick(owners), {
          name: some(),
          custom_id: random.pick([null, some()]),
          location: { ...NO_LOCATION, city: random.pick([null, some()]) },
          created_at: NEW_YEAR + random.whole(0, 9),
        }),
    );
    await store.importTanks(made.map((one, i) => ({ tank: one, deleted: isGone(i) })));
    const counts = new Map(owners.map((id) => [id, made.filter((one, i) => one.owner_id === id && !isGone(i)).length]));
    const managed = people.map((one, i) => ({ customer: { ...one, tank_count: counts.get(one.id) ?? 0 }, deleted: isGone(i) }));
    const shaped = made.map((one, i) => ({ tank: one, deleted: isGone(i), shape: null }));
    for (let i = 0; i < 60; i++) {
      const bounds = { from: any(random, [undefined, NEW_YEAR + 3]), to: any(random, [undefined, NEW_YEAR + 6]) };
      const page = { page: random.pick([1, 1, 2, 3, 99]), size: random.pick([1, 10, 100]), deleted: random.chance(0.3) };
      const beginning = () => any(random, [undefined, undefined, "u", "UL", "a", "1", "", some()]);
      const search = customers({ ...bounds, ...page, name: beginning(), email: beginning() });
      const people = managed.filter(
        (one) =>
          one.deleted === search.deleted && begins(one.customer.name, search.name) && begins(one.customer.email, search.email),
      );
      const told = `seed ${seed}: ${JSON.stringify(search)}`;
      assert.deepEqual(
        await store.customerSearch(search),
        pageOf(people, (one) => one.customer, search),
        told,
      );
      const wanted = tanks({
        ...bounds,
        ...page,
        name: beginning(),
        city: beginning(),
        custom_id: beginning(),
        owner_id: any(random, [undefined, ...owners]),
      });
      const fitting = shaped.filter(
        ({ tank: one, deleted }) =>
          deleted === wanted.deleted &&
          begins(one.name, wanted.name) &&
          begins(one.location.city, wanted.city) &&
          begins(one.custom_id, wanted.custom_id) &&
          (wanted.owner_id === undefined || one.owner_id === wanted.owner_id),
      );
      assert.deepEqual(
        await store.tankSearch(wanted),
        pageOf(fitting, (one) => one.tank, wanted),
        `seed ${seed}: ${JSON.stringify(wanted)}`,
      );
    }
  });
}
