import assert from "node:assert/strict";
import test from "node:test";
import { FLEET_STATES, type FleetEntry, type FleetQuery, marginOf } from "../../../src/domain/management-reads.ts";
import type { Store } from "../../../src/domain/store.ts";
import { NO_LOCATION } from "../../../src/domain/tank.ts";
import { type Random, seeded } from "../../../src/simulate/random.ts";
import { at, command, executed, tankFields } from "../../support/commands.ts";
import { ingest, ingestFills } from "../../support/readings.ts";
import { putReadings } from "../../support/records.ts";
import type { Engine } from "../engines.ts";
import { checked, customer, DAY, NEW_YEAR, putCustomers, putTanks, tank, WHOLE_FLEET } from "./objects.ts";

const asked = (question: Partial<FleetQuery> = {}): FleetQuery => ({ ...WHOLE_FLEET, ...question });

/** The tanks in their order, each with its margin. */
async function fleetOf(store: Store, question: Partial<FleetQuery> = {}): Promise<[id: string, margin: number | null][]> {
  const { data, totalItems } = await store.fleetPage(asked(question));
  if (data.length < 100) assert.equal(data.length, totalItems);
  return data.map((entry) => [entry.tank.id, marginOf(entry)]);
}

const idsOf = async (store: Store, question: Partial<FleetQuery> = {}) => (await fleetOf(store, question)).map(([id]) => id);
const read = (store: Store, id: string, ...readings: (readonly [number, number])[]) => putReadings(store, id, readings);

async function withTanks(store: Store, ...ids: string[]): Promise<void> {
  await putCustomers(store, customer("a"), customer("b"));
  await putTanks(store, ...ids.map((id) => tank(id, "a")));
}

/** One of them, which may also be none. */
const any = <T>(random: Random, list: readonly T[]): T | undefined => list[random.whole(0, list.length - 1)];

/** Bytes, as every engine compares ids. */
const byBytes = (a: string, b: string): number => Buffer.compare(Buffer.from(a), Buffer.from(b));

/** The fleet as it must be: filtered, sorted and cut by what everybody can see. */
function expected(entries: readonly FleetEntry[], { state, silentSince, owner_id, city, page, size }: FleetQuery) {
  const stateOf = (margin: number | null) => (margin === null ? "unknown" : margin <= 0 ? "low" : "ok");
  const chosen = entries
    .filter((entry) => state === undefined || stateOf(marginOf(entry)) === state)
    .filter(({ latest }) => silentSince === undefined || latest === null || latest.created_at < silentSince)
    .filter(({ tank: one }) => owner_id === undefined || one.owner_id === owner_id)
    .filter(({ tank: one }) => city === undefined || one.location.city?.startsWith(city) === true)
    .toSorted(
      (a, b) =>
        (marginOf(a) ?? Number.POSITIVE_INFINITY) - (marginOf(b) ?? Number.POSITIVE_INFINITY) ||
        byBytes(a.tank.id, b.tank.id) ||
        0,
    );
  return { data: chosen.slice((page - 1) * size, page * size), totalItems: chosen.length };
}

export function fleetConformance(engine: Engine): void {
  test("the tank that is furthest below its threshold comes first, then by id; without a reading last", async (t) => {
    const { store } = await engine.open(t);
    const thresholds = { z: 20, a: 20, "\ue000": 20, "\u{10000}": 20, high: 0, fifty: 50, low: 100, silent: 20, mute: 100 };
    await putCustomers(store, customer("a"));
    await putTanks(
      store,
      ...Object.entries(thresholds).map(([id, min_fill_alert_percentage]) => tank(id, "a", { min_fill_alert_percentage })),
    );
    const fills = { z: 20, a: 20, "\ue000": 20, "\u{10000}": 20, high: 0.1, fifty: 49.9, low: 0 };
    for (const [id, fill] of Object.entries(fills)) await read(store, id, [1, fill]);
    assert.deepEqual(await fleetOf(store), [
      ["low", -100],
      ["fifty", 49.9 - 50],
      ["a", 0],
      ["z", 0],
      ["\ue000", 0],
      ["\u{10000}", 0],
      ["high", 0.1],
      ["mute", null],
      ["silent", null],
    ]);
    assert.deepEqual((await store.fleetPage(asked({ size: 1 }))).data[0], {
      tank: tank("low", "a", { min_fill_alert_percentage: 100 }),
      latest: { created_at: 1, fill_percentage: 0 },
    });
  });

  test("every page of a long list follows the one before", async (t) => {
    const { store } = await engine.open(t);
    const ids = Array.from({ length: 1800 }, (_, i) => `t${i}`);
    await withTanks(store, ...ids);
    const fills = ids.flatMap((id, i) => (i % 9 === 0 ? [] : [{ tank: id, at: i, fill: ((i * 7919) % 1000) / 10 }]));
    await ingest(store, ...fills);
    const entries = ids.map((id): FleetEntry => {
      const own = fills.find(({ tank: of }) => of === id);
      return { tank: tank(id, "a"), latest: own === undefined ? null : { created_at: own.at, fill_percentage: own.fill } };
    });
    for (const state of [undefined, ...FLEET_STATES]) {
      for (const page of Array.from({ length: 19 }, (_, i) => i + 1)) {
        const question = asked({ state, page, size: 100 });
        assert.deepEqual(await store.fleetPage(question), expected(entries, question), `page ${page} of ${state}`);
      }
    }
  });

  test("margins are compared to the last bit", async (t) => {
    const { store } = await engine.open(t);
    const fills = [20.000000000000004, 20, 19.999999999999996, 20.1, 20.3, 20.2, 19.1, 19.2, 19.9, 20 + 1 / 3, 5e-324, 0];
    await withTanks(store, ...fills.map((_, i) => `t${i}`));
    for (const [i, fill] of fills.entries()) await read(store, `t${i}`, [1, fill]);
    const margins = (await fleetOf(store)).map(([, margin]) => margin);
    assert.deepEqual(
      margins,
      fills.map((fill) => fill - 20).toSorted((a, b) => a - b),
    );
    assert.deepEqual(await idsOf(store, { state: "low" }).then((ids) => ids.length), 7);
    assert.deepEqual(await idsOf(store, { state: "ok" }).then((ids) => ids.length), 5);
  });

  test("the fleet follows the latest reading: new ones, a correction of it, and no late ones", async (t) => {
    const { store } = await engine.open(t);
    await withTanks(store, "one", "two");
    await read(store, "two", [100, 50]);
    const latest = async () =>
      (await store.fleetPage(asked())).data.map((entry) => [
        entry.tank.id,
        entry.latest?.created_at,
        entry.latest?.fill_percentage,
      ]);
    assert.deepEqual(await latest(), [
      ["two", 100, 50],
      ["one", undefined, undefined],
    ]);
    await read(store, "one", [100, 40], [50, 10], [200, 60]);
    assert.deepEqual(await latest(), [
      ["two", 100, 50],
      ["one", 200, 60],
    ]);
    await read(store, "one", [199, 1], [-5, 1]);
    assert.deepEqual((await latest())[1], ["one", 200, 60], "late ones are not the latest");
    await read(store, "one", [200, 30]);
    assert.deepEqual((await latest())[0], ["one", 200, 30], "corrected");
    await read(store, "one", [200, 30]);
    await read(store, "one", ...Array.from({ length: 500 }, (_, i) => [300 + i, 70 + (i % 10)] as const));
    assert.deepEqual((await latest())[1], ["one", 799, 79], "many at once");
    await ingestFills(store, "device of two", [[900, 90]]);
    assert.deepEqual(await latest(), [
      ["one", 799, 79],
      ["two", 900, 90],
    ]);
    assert.deepEqual((await checked(store)).findings, []);
  });

  test("the fleet follows thresholds, deletions, returns, owners and places, by order and by import", async (t) => {
    const { store } = await engine.open(t);
    await withTanks(store, "one", "two");
    await read(store, "one", [100, 50]);
    await read(store, "two", [100, 40]);
    const step = async (work: Promise<unknown>, ...ids: string[]) => {
      await work;
      assert.deepEqual(await idsOf(store), ids);
      assert.deepEqual((await checked(store)).findings, []);
    };
    const carry = (given: Parameters<typeof executed>[1]) => executed(store, given, at(NEW_YEAR));
    await step(carry(command.changeTank("one", { min_fill_alert_percentage: 60 })), "one", "two");
    await step(putTanks(store, tank("one", "a", { min_fill_alert_percentage: 10 })), "two", "one");
    await step(carry(command.deleteTank("two")), "one");
    await step(read(store, "two", [200, 5]), "one");
    await step(carry(command.restoreTank("two")), "two", "one");
    await step(store.importTanks([{ remove: "one" }]), "two");
    await step(putTanks(store, tank("one", "a", { min_fill_alert_percentage: 90 })), "one", "two");
    await step(carry(command.deleteCustomer("a", true)));
    await step(carry(command.restoreCustomer("a")), "one", "two");
    await step(carry(command.changeTank("two", { owner_id: "b", location: { city: "Ulm" } })), "one", "two");
    assert.deepEqual([await idsOf(store, { owner_id: "a" }), await idsOf(store, { owner_id: "b" })], [["one"], ["two"]]);
    assert.deepEqual(await idsOf(store, { city: "Ulm" }), ["two"]);
    await step(carry(command.createTank("three", tankFields("b", "new"))), "one", "two", "three");
    assert.deepEqual((await store.fleetPage(asked({ owner_id: "b", city: "Ulm" }))).data[0]?.tank.location.city, "Ulm");
  });

  test("silent is what has sent nothing since then, or nothing at all", async (t) => {
    const { store } = await engine.open(t);
    await withTanks(store, "old", "new", "never");
    await read(store, "old", [NEW_YEAR, 50]);
    await read(store, "new", [NEW_YEAR + 1, 50]);
    const silent = (silentSince: number) => idsOf(store, { silentSince });
    assert.deepEqual(await silent(NEW_YEAR), ["never"]);
    assert.deepEqual(await silent(NEW_YEAR + 1), ["old", "never"]);
    assert.deepEqual(await silent(NEW_YEAR + 2), ["new", "old", "never"]);
    assert.deepEqual(await silent(NEW_YEAR - 365 * DAY), ["never"]);
    assert.deepEqual(await idsOf(store, { silentSince: NEW_YEAR + 1, state: "ok" }), ["old"]);
  });

  test("cities are found by how they begin, in either case of A to Z, and every sign is plain", async (t) => {
    const { store } = await engine.open(t);
    await putCustomers(store, customer("a"));
    const cities = ["Ulm", "ULMEN", "Übach", "übach", "100%", "100 m", "a_b", "axb", null];
    await putTanks(store, ...cities.map((city, i) => tank(`t${i}`, "a", { location: { ...NO_LOCATION, city } })));
    const found = async (city: string) => (await store.fleetPage(asked({ city }))).data.map((entry) => entry.tank.location.city);
    assert.deepEqual(await found("ul"), ["Ulm", "ULMEN"]);
    assert.deepEqual(await found("Ü"), ["Übach"]);
    assert.deepEqual(await found("100%"), ["100%"]);
    assert.deepEqual(await found("A_"), ["a_b"]);
    assert.deepEqual(await found("lm"), []);
  });

  test("any page of any question is as it would be counted by hand, and pages neither repeat nor skip", async (t) => {
    const { store } = await engine.open(t);
    const seed = Date.now() % 1_000_000;
    const random = seeded(seed);
    const owners = ["a", "b", "c"];
    await putCustomers(store, ...owners.map((id) => customer(id)));
    const tanks = Array.from({ length: 230 }, (_, i) =>
      tank(`${random.pick(["t", "T", "é", "😀"])}${i}`, random.pick(owners), {
        assigned_device_id: `d${i}`,
        min_fill_alert_percentage: random.pick([0, 20, 20, 30, 100]),
        location: { ...NO_LOCATION, city: random.pick([null, "Ulm", "Ulmen", "Bonn"]) },
      }),
    );
    await putTanks(store, ...tanks);
    const latest = new Map<string, readonly [number, number]>();
    for (const one of tanks) {
      if (random.chance(0.15)) continue;
      const reading = [NEW_YEAR + random.whole(0, 3 * DAY), random.pick([0, 20, 20.5, 50, random.between(0, 100)])] as const;
      latest.set(one.id, reading);
      await read(store, one.id, reading, [reading[0] - 5, 1]);
    }
    const gone = tanks.slice(0, 20);
    await store.importTanks(gone.map(({ id }) => ({ remove: id })));
    const entries = tanks.slice(20).map((one): FleetEntry => {
      const found = latest.get(one.id);
      return { tank: one, latest: found === undefined ? null : { created_at: found[0], fill_percentage: found[1] } };
    });
    for (let i = 0; i < 60; i++) {
      const question = asked({
        state: any(random, [undefined, ...FLEET_STATES]),
        silentSince: any(random, [undefined, undefined, NEW_YEAR + random.whole(0, 3 * DAY)]),
        owner_id: any(random, [undefined, ...owners, "nobody"]),
        city: any(random, [undefined, undefined, "Ulm", "B"]),
        page: random.pick([1, 1, 2, 3, 50]),
        size: random.pick([1, 7, 100]),
      });
      assert.deepEqual(await store.fleetPage(question), expected(entries, question), `seed ${seed}: ${JSON.stringify(question)}`);
    }
    const seen: string[] = [];
    for (let page = 1; page <= 30; page++) {
      seen.push(...(await store.fleetPage(asked({ page, size: 7 }))).data.map((entry) => entry.tank.id));
    }
    assert.deepEqual(
      seen,
      expected(entries, asked({ size: 1000 })).data.map((entry) => entry.tank.id),
      `seed ${seed}`,
    );
  });

  test("rows and total of the fleet are of one moment while another store makes and deletes tanks", async (t) => {
    const { store, reopen } = await engine.open(t);
    await withTanks(store);
    const other = await reopen();
    let isDone = false;
    const writing = (async () => {
      for (let round = 0; !isDone; round++) {
        const ids = Array.from({ length: 10 }, (_, i) => `${round} ${i}`);
        await putTanks(other, ...ids.map((id) => tank(id, "a")));
        await Promise.all(ids.map((id) => read(other, id, [round, 50])));
        if (round % 3 === 2) await other.importTanks(ids.map((id) => ({ remove: id })));
      }
    })();
    try {
      for (const end = performance.now() + 600; performance.now() < end; ) {
        for (const question of [{}, { owner_id: "a" }]) {
          const { data, totalItems } = await store.fleetPage(asked({ ...question, size: 3, page: 2 }));
          assert.equal(totalItems % 10, 0);
          assert.equal(data.length, totalItems === 0 ? 0 : 3);
        }
      }
    } finally {
      isDone = true;
      await writing;
    }
  });
}
