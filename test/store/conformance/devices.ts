import assert from "node:assert/strict";
import test from "node:test";
import { formatInstant } from "../../../src/domain/instant.ts";
import type { Store } from "../../../src/domain/store.ts";
import { at, command, executed, tankFields } from "../../support/commands.ts";
import { ingest, ingestFills } from "../../support/readings.ts";
import type { Engine } from "../engines.ts";
import { checked, customer, fillsOf, NEW_YEAR, pendingCounts, putCustomers, putTanks, tank, WHOLE_FLEET } from "./objects.ts";

const EUI = "A84041C2F1827D3E";
const KEY = EUI.toLowerCase();

/** Each way in which a device comes to a tank: before it, there is a tank "other" with another device, and one that is gone. */
const WAYS: Readonly<Record<string, (store: Store, device: string) => Promise<unknown>>> = {
  "an import": (store, device) => putTanks(store, tank("one", "a", { assigned_device_id: device })),
  "a new tank": (store, device) => executed(store, command.createTank("one", tankFields("a", device)), at(NEW_YEAR)),
  "a change of a tank": async (store, device) => {
    await putTanks(store, tank("one", "a"));
    return executed(store, command.changeTank("one", { assigned_device_id: device }), at(NEW_YEAR));
  },
  "an assignment": async (store, device) => {
    await putTanks(store, tank("one", "a"));
    return executed(store, command.putDevice(device, { tank_id: "one" }), at(NEW_YEAR));
  },
  "a return": async (store, device) => {
    await store.importTanks([{ tank: tank("one", "a", { assigned_device_id: device }), deleted: true }]);
    return executed(store, command.restoreTank("one"), at(NEW_YEAR));
  },
  "a return with another device": async (store, device) => {
    await store.importTanks([{ tank: tank("one", "a"), deleted: true }]);
    return executed(store, command.restoreTank("one", { assigned_device_id: device }), at(NEW_YEAR));
  },
  "the return of its owner": async (store, device) => {
    await putTanks(store, tank("one", "a", { assigned_device_id: `not ${device}` }));
    await executed(store, command.deleteCustomer("a", true), at(NEW_YEAR));
    await store.importTanks([{ tank: tank("one", "a", { assigned_device_id: device }), deleted: true }]);
    return executed(store, command.restoreCustomer("a"), at(NEW_YEAR + 1));
  },
};

export function deviceConformance(engine: Engine): void {
  test("readings by device go to the tank that has it, and are told as those by tank are", async (t) => {
    const { store } = await engine.open(t);
    await putCustomers(store, customer("a"));
    await putTanks(store, tank("one", "a"), tank("two", "a"));
    const device = "device of one";
    const told = await ingest(
      store,
      { device, at: 10, fill: 1 },
      { tank: "one", at: 10, fill: 1 },
      { device, at: 10, fill: 2 },
      { device: "device of two", at: 10, fill: 3 },
      { device, at: 5, fill: 4 },
      { tank: "one", at: 10, fill: 2 },
      { device: "nobody's", at: 10, fill: 5 },
      { tank: "nobody", at: 10, fill: 5 },
    );
    assert.deepEqual(told, ["new", "unchanged", "changed", "new", "new", "unchanged", "waiting", "tank_unknown"]);
    assert.deepEqual(await fillsOf(store, "one"), [
      [5, 4],
      [10, 2],
    ]);
    assert.deepEqual(await fillsOf(store, "two"), [[10, 3]]);
    assert.deepEqual(await ingestFills(store, device, []), []);
  });

  test("an EUI-64 is one device, in whatever case the tank has it; any other id is as it is written", async (t) => {
    const { store } = await engine.open(t);
    await putCustomers(store, customer("a"));
    const mixed = "a84041C2f1827D3E";
    for (const written of [EUI, KEY, mixed]) {
      await putTanks(store, tank("one", "a", { assigned_device_id: written }));
      assert.deepEqual(await ingestFills(store, KEY, [[1, 50]]), written === EUI ? ["new"] : ["unchanged"]);
    }
    assert.equal((await store.managedDevice(KEY))?.device.tank_id, "one");
    const taken = { rejected: "assigned_device_id: this device is already assigned to tank one" };
    assert.deepEqual(await putTanks(store, tank("two", "a", { assigned_device_id: EUI })), [taken]);
    await putTanks(store, tank("upper", "a", { assigned_device_id: "D1" }), tank("lower", "a", { assigned_device_id: "d1" }));
    await ingest(store, { device: "D1", at: 1, fill: 1 }, { device: "d1", at: 1, fill: 2 });
    assert.deepEqual([await fillsOf(store, "upper"), await fillsOf(store, "lower")], [[[1, 1]], [[1, 2]]]);
    assert.deepEqual((await checked(store)).findings, []);
  });

  for (const [way, assign] of Object.entries(WAYS)) {
    test(`what a device sent before waits, and is taken in with ${way}`, async (t) => {
      const { store, reopen } = await engine.open(t);
      await putCustomers(store, customer("a"));
      await putTanks(store, tank("other", "a"));
      const sent = [
        [30, 3],
        [10, 1],
        [20, 2],
      ] as const;
      assert.deepEqual(await ingestFills(store, KEY, sent), ["waiting", "waiting", "waiting"]);
      await ingest(store, { device: KEY, at: 40, payload: { fill_percentage: 4 } }, { device: "stays", at: 1, fill: 1 });
      assert.deepEqual(await pendingCounts(store, KEY), [4, 0]);
      await assign(await reopen(), EUI);
      assert.deepEqual(await fillsOf(store, "one"), [
        [10, 1],
        [20, 2],
        [30, 3],
        [40, 4],
      ]);
      assert.deepEqual(
        [await pendingCounts(store, KEY), await pendingCounts(store, "stays")],
        [
          [0, 0],
          [1, 0],
        ],
      );
      assert.deepEqual(await ingestFills(store, KEY, [[50, 5]]), ["new"]);
      const { data } = await store.fleetPage({ ...WHOLE_FLEET, state: "low" });
      assert.deepEqual(
        data.map(({ tank: { id }, latest }) => [id, latest]),
        [["one", { created_at: 50, fill_percentage: 5 }]],
      );
      assert.deepEqual((await checked(store)).findings, []);
    });
  }

  test("what waited may say again, or correct, what the tank has", async (t) => {
    const { store } = await engine.open(t);
    await putCustomers(store, customer("a"));
    await putTanks(store, tank("one", "a"));
    await ingest(store, { tank: "one", at: 10, fill: 1 }, { tank: "one", at: 20, fill: 2 });
    await ingestFills(store, "d", [
      [10, 1],
      [20, 7],
      [30, 3],
    ]);
    await executed(store, command.putDevice("d", { tank_id: "one" }), at(NEW_YEAR));
    assert.deepEqual(await fillsOf(store, "one"), [
      [10, 1],
      [20, 7],
      [30, 3],
    ]);
    assert.deepEqual(await pendingCounts(store, "d"), [0, 0]);
  });

  test("the devices there are: those that serve, those that wait, those with a profile; by id, with exact totals", async (t) => {
    const { store } = await engine.open(t);
    await putCustomers(store, customer("a"));
    const served = ["\u{10000}", "b", "\ue000"];
    await putTanks(store, ...served.map((device, i) => tank(`t${i}`, "a", { assigned_device_id: device })));
    await store.importTanks([{ tank: tank("gone", "a", { assigned_device_id: "of a deleted tank" }), deleted: true }]);
    await ingest(store, { device: "a", at: 1, fill: 1 }, { device: "B", at: 1, fill: 1 }, { device: "b", at: 1, payload: {} });
    await executed(store, command.putDevice("c", { profile: "elsys" }), at(NEW_YEAR));
    const list = async (waiting: boolean | undefined, page = 1, size = 100) => {
      const { data, totalItems } = await store.deviceSearch({ page, size, waiting });
      return [data.map(({ device }) => device.id), totalItems];
    };
    assert.deepEqual(await list(undefined), [["B", "a", "b", "c", "\ue000", "\u{10000}"], 6]);
    assert.deepEqual(await list(true), [["B", "a", "b"], 3]);
    assert.deepEqual(await list(false), [["c", "\ue000", "\u{10000}"], 3]);
    assert.deepEqual(await list(undefined, 2, 4), [["\ue000", "\u{10000}"], 6]);
    assert.deepEqual(await list(true, 2, 2), [["b"], 3]);
    assert.deepEqual(await list(true, 9, 2), [[], 3]);
    const [found] = (await store.deviceSearch({ page: 3, size: 1, waiting: undefined })).data;
    assert.deepEqual(found, await store.managedDevice("b"));
    assert.deepEqual([found?.device.tank_id, found?.waiting, found?.dropped], ["t1", 1, 0]);
    assert.equal(await store.managedDevice("of a deleted tank"), undefined);
  });

  test("a device that is forgotten loses what waits and its profile, and is as one that nobody has heard of", async (t) => {
    const { store } = await engine.open(t);
    await putCustomers(store, customer("a"));
    await ingestFills(store, KEY, [[1, 1]]);
    await executed(store, command.putDevice(EUI, { profile: "elsys" }), at(NEW_YEAR));
    await executed(store, command.removeDevice(EUI), at(NEW_YEAR));
    assert.equal(await store.managedDevice(KEY), undefined);
    assert.deepEqual(await store.deviceSearch({ page: 1, size: 10, waiting: undefined }), { data: [], totalItems: 0 });
    await putTanks(store, tank("one", "a", { assigned_device_id: EUI }));
    assert.deepEqual(await fillsOf(store, "one"), []);
    assert.equal((await store.managedDevice(KEY))?.device.profile, null);
    assert.deepEqual((await checked(store)).findings, []);
  });

  test("a device that has served a tank is still known for it when it is forgotten: what it measured then finds its tank", async (t) => {
    const { store } = await engine.open(t);
    await putCustomers(store, customer("a"));
    await putTanks(store, tank("one", "a", { assigned_device_id: "d" }), tank("two", "a"));
    await executed(store, command.changeTank("one", { assigned_device_id: "another" }), at(NEW_YEAR));
    await executed(store, command.putDevice("d", { profile: "elsys" }), at(NEW_YEAR));
    assert.deepEqual(await ingestFills(store, "d", [[NEW_YEAR, 1]]), ["waiting"]);
    const { object } = await executed(store, command.removeDevice("d"), at(NEW_YEAR + 1));
    assert.deepEqual([object["removed"], object["served"]], [1, { tank_id: "one", until: formatInstant(NEW_YEAR) }]);
    const known = await store.managedDevice("d");
    assert.deepEqual([known?.device.profile, known?.waiting, known?.dropped], [null, 0, 0]);
    assert.deepEqual(
      await ingestFills(store, "d", [
        [NEW_YEAR - 1, 7],
        [NEW_YEAR + 2, 8],
      ]),
      ["new", "waiting"],
    );
    assert.deepEqual(await fillsOf(store, "one"), [[NEW_YEAR - 1, 7]]);
    await executed(store, command.putDevice("d", { tank_id: "two" }), at(NEW_YEAR + 3));
    assert.deepEqual(await fillsOf(store, "two"), [[NEW_YEAR + 2, 8]]);
    assert.deepEqual((await checked(store)).findings, []);
  });

  test("an order tells which readings that waited it took in, and tells it again where it is replayed", async (t) => {
    const { store } = await engine.open(t);
    await putCustomers(store, customer("a"));
    await ingestFills(store, "d", [
      [5, 1],
      [9, 2],
      [7, 3],
    ]);
    const taken = { readings: 3, rejected: 0, from: formatInstant(5), to: formatInstant(9) };
    const making = command.createTank("new", tankFields("a", "d"));
    for (const _ of ["made", "replayed"]) {
      const { object } = await executed(store, making, at(NEW_YEAR), { key: "k", fingerprint: "x" });
      assert.deepEqual(object["taken_in"], taken);
    }
    await ingest(store, { device: "e", at: 1, payload: { distance: 500 } }, { device: "e", at: 2, payload: { distance: 9000 } });
    const assigned = await executed(store, command.putDevice("e", { tank_id: "new" }), at(NEW_YEAR));
    assert.deepEqual([assigned.object["taken_in"], assigned.object["replaced_device_id"]], [null, "d"]);
    await executed(store, command.putDevice("e", { profile: "milesight-em500-udl" }), at(NEW_YEAR));
    const shape = { kind: "upright", height: 2, unit: "m", sensor_height: 2 };
    const { object } = await executed(store, command.changeTank("new", { shape }), at(NEW_YEAR));
    assert.deepEqual(object["taken_in"], { readings: 1, rejected: 1, from: formatInstant(1), to: formatInstant(2) });
  });

  test("of what waits the reading measured last is shown", async (t) => {
    const { store } = await engine.open(t);
    await ingest(store, { device: "d", at: 9, payload: { distance: 5 } }, { device: "d", at: 7, fill: 1 });
    assert.deepEqual(await store.newestPending("d"), {
      device: "d",
      created_at: 9,
      fill: null,
      payload: '{"distance":5}',
      customer_id: null,
    });
    assert.equal(await store.newestPending("e"), undefined);
  });

  test("a device that was forgotten and comes again moves on, even within the same instant", async (t) => {
    const { store } = await engine.open(t);
    await putCustomers(store, customer("a"));
    await putTanks(store, tank("one", "a"), tank("two", "a"));
    const now = at(NEW_YEAR);
    for (let round = 0; round < 2; round++) {
      await executed(store, command.putDevice("d", { tank_id: "one" }), now);
      await executed(store, command.changeTank("one", { assigned_device_id: "another" }), now);
      await executed(store, command.removeDevice("d"), now);
    }
    await executed(store, command.putDevice("d", { tank_id: "two" }), now);
    assert.deepEqual(await ingestFills(store, "d", [[NEW_YEAR, 5]]), ["new"]);
    assert.deepEqual(await fillsOf(store, "two"), [[NEW_YEAR, 5]]);
    assert.deepEqual((await checked(store)).findings, []);
  });
}
