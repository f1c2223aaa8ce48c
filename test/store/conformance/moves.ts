import assert from "node:assert/strict";
import test from "node:test";
import { UNRESTRICTED } from "../../../src/domain/key.ts";
import type { Store } from "../../../src/domain/store.ts";
import { at, command, executed } from "../../support/commands.ts";
import { ingest, ingestFills } from "../../support/readings.ts";
import type { Engine } from "../engines.ts";
import { checked, customer, fillsOf, pendingCounts, putCustomers, putTanks, tank, WHOLE } from "./objects.ts";

/** Tanks "one" with device d1, "two" with d2, "three" with d3. */
async function withTanks(store: Store): Promise<void> {
  await putCustomers(store, customer("a"));
  await putTanks(store, ...["one", "two", "three"].map((id, i) => tank(id, "a", { assigned_device_id: `d${i + 1}` })));
}

const instantsOf = async (store: Store, tankId: string) => (await fillsOf(store, tankId)).map(([instant]) => instant);
const give = (store: Store, id: string, device: string, now: number, swap = false) =>
  executed(store, command.changeTank(id, { assigned_device_id: device }, { swap }), at(now));
const send = (store: Store, device: string, ...instants: number[]) =>
  ingestFills(
    store,
    device,
    instants.map((instant) => [instant, 50]),
  );

export function moveConformance(engine: Engine): void {
  test("a backlog sent after a move goes where it was measured: before the move to the old tank, from it on to the new", async (t) => {
    const { store } = await engine.open(t);
    await withTanks(store);
    await send(store, "d1", 10);
    await give(store, "one", "spare", 100);
    await give(store, "two", "d1", 100);
    await send(store, "d1", 101, 100, 99, -5);
    assert.deepEqual(
      [await instantsOf(store, "one"), await instantsOf(store, "two")],
      [
        [-5, 10, 99],
        [100, 101],
      ],
    );
    assert.deepEqual((await store.managedDevice("d1"))?.device, { id: "d1", tank_id: "two", since: 100, profile: null });
    assert.deepEqual((await checked(store)).findings, []);
  });

  test("what is stored stays where it is when its device moves on", async (t) => {
    const { store } = await engine.open(t);
    await withTanks(store);
    await send(store, "d1", 10, 200);
    await give(store, "one", "spare", 100);
    await give(store, "two", "d1", 100);
    assert.deepEqual([await instantsOf(store, "one"), await instantsOf(store, "two")], [[10, 200], []]);
  });

  test("a swap sends each backlog to its own tank", async (t) => {
    const { store } = await engine.open(t);
    await withTanks(store);
    await give(store, "one", "d2", 100, true);
    await send(store, "d1", 98, 100);
    await send(store, "d2", 99, 101);
    assert.deepEqual(
      [await instantsOf(store, "one"), await instantsOf(store, "two")],
      [
        [98, 101],
        [99, 100],
      ],
    );
    await executed(store, command.putDevice("d2", { tank_id: "two" }, { swap: true }), at(200));
    await send(store, "d1", 97, 102, 200);
    await send(store, "d2", 96, 103, 201);
    assert.deepEqual(
      [await instantsOf(store, "one"), await instantsOf(store, "two")],
      [
        [97, 98, 101, 103, 200],
        [96, 99, 100, 102, 201],
      ],
    );
    assert.deepEqual((await checked(store)).findings, []);
  });

  test("a device that goes from tank to tank and comes back leaves each with its own", async (t) => {
    const { store } = await engine.open(t);
    await withTanks(store);
    await give(store, "two", "d1", 100, true);
    await give(store, "three", "d1", 200, true);
    await give(store, "one", "d1", 300, true);
    await give(store, "two", "d1", 400, true);
    await send(store, "d1", 450, 350, 250, 150, 50, 400, 300, 200, 100, 399, 299, 199, 99);
    assert.deepEqual(await instantsOf(store, "one"), [50, 99, 300, 350, 399]);
    assert.deepEqual(await instantsOf(store, "two"), [100, 150, 199, 400, 450]);
    assert.deepEqual(await instantsOf(store, "three"), [200, 250, 299]);
  });

  test("what a device measured while it served none is of the tank it serves next, however late that is told", async (t) => {
    const { store } = await engine.open(t);
    await withTanks(store);
    await give(store, "one", "spare", 100);
    assert.deepEqual(await send(store, "d1", 150, 99), ["waiting", "new"]);
    await give(store, "three", "d1", 200);
    await send(store, "d1", 100, 199, 200);
    assert.deepEqual([await instantsOf(store, "one"), await instantsOf(store, "three")], [[99], [100, 150, 199, 200]]);
    assert.equal((await store.managedDevice("d1"))?.device.since, 100);
  });

  test("of two devices that served one tank, and tell of one instant at once, the last to arrive has the last word", async (t) => {
    const { store } = await engine.open(t);
    await withTanks(store);
    await send(store, "d1", 50);
    await give(store, "one", "spare", 100);
    const told = [];
    for (const [instant, ...devices] of [
      [60, "d1", "spare", "d2"],
      [70, "spare", "d1", "d2"],
      [80, "d2", "d1", "spare", "d1"],
    ] as const) {
      const sent = devices.map((device, i) => ({ device, at: instant, fill: 50 + i }));
      told.push(await ingest(store, ...sent));
    }
    assert.deepEqual(told, [
      ["new", "changed", "new"],
      ["new", "changed", "new"],
      ["new", "new", "changed", "changed"],
    ]);
    assert.deepEqual(await fillsOf(store, "one"), [
      [50, 50],
      [60, 51],
      [70, 51],
      [80, 53],
    ]);
    assert.deepEqual(await instantsOf(store, "two"), [60, 70, 80]);
    assert.deepEqual((await checked(store)).findings, []);
  });

  test("a device of a new tank has always been there, whatever is sent of before", async (t) => {
    const { store } = await engine.open(t);
    await withTanks(store);
    await send(store, "d1", Date.parse("1999-12-31"), 0);
    assert.equal((await instantsOf(store, "one")).length, 2);
  });

  test("a deleted tank gives up its device, keeps what was measured before, and has the rest when it is restored", async (t) => {
    const { store } = await engine.open(t);
    await withTanks(store);
    await send(store, "d1", 10);
    await executed(store, command.deleteTank("one"), at(100));
    assert.deepEqual(await send(store, "d1", 20, 100, 150), ["new", "waiting", "waiting"]);
    assert.equal(await store.telemetryPage("one", WHOLE, UNRESTRICTED), "deleted");
    assert.deepEqual(await pendingCounts(store, "d1"), [2, 0]);
    await executed(store, command.restoreTank("one"), at(200));
    assert.deepEqual(await instantsOf(store, "one"), [10, 20, 100, 150]);
    assert.deepEqual(
      [await send(store, "d1", 30, 160, 210), await pendingCounts(store, "d1")],
      [
        ["new", "new", "new"],
        [0, 0],
      ],
    );
    assert.deepEqual((await checked(store)).findings, []);
  });

  test("a device of a deleted tank goes to another, and the tank comes back with a new one", async (t) => {
    const { store } = await engine.open(t);
    await withTanks(store);
    await executed(store, command.deleteTank("one"), at(100));
    await give(store, "two", "d1", 200);
    await executed(store, command.restoreTank("one", { assigned_device_id: "new" }), at(300));
    await send(store, "d1", 50, 150, 250, 350);
    await send(store, "new", 51, 351);
    await send(store, "d2", 199, 200);
    assert.deepEqual(
      [await instantsOf(store, "one"), await instantsOf(store, "two")],
      [
        [50, 51, 351],
        [150, 199, 250, 350],
      ],
    );
    assert.deepEqual(await pendingCounts(store, "d2"), [1, 0]);
  });

  test("tanks that go along with their owner, and come back with it, have all that was sent meanwhile", async (t) => {
    const { store } = await engine.open(t);
    await withTanks(store);
    await executed(store, command.deleteCustomer("a", true), at(100));
    for (const device of ["d1", "d2", "d3"]) assert.deepEqual(await send(store, device, 99, 150), ["new", "waiting"]);
    await executed(store, command.restoreCustomer("a"), at(200));
    for (const id of ["one", "two", "three"]) assert.deepEqual(await instantsOf(store, id), [99, 150]);
    assert.deepEqual((await checked(store)).findings, []);
  });

  test("an import moves devices too, from the moment it is made", async (t) => {
    const { store } = await engine.open(t);
    await withTanks(store);
    const now = { by: "import", at: 100 };
    const [one, two] = ["one", "two"].map((id) => tank(id, "a"));
    const records = [
      { tank: { ...(one as NonNullable<typeof one>), assigned_device_id: "spare" }, deleted: false },
      { tank: { ...(two as NonNullable<typeof two>), assigned_device_id: "d1" }, deleted: false },
    ];
    assert.deepEqual(await store.importTanks(records, now), ["changed", "changed"]);
    await send(store, "d1", 99, 100);
    assert.deepEqual([await instantsOf(store, "one"), await instantsOf(store, "two")], [[99], [100]]);
    await store.importTanks([{ remove: "two" }], { by: "import", at: 200 });
    assert.deepEqual(await send(store, "d1", 199, 200), ["new", "waiting"]);
    assert.deepEqual(await store.importTanks(records.slice(1), { by: "import", at: 300 }), ["changed"]);
    assert.deepEqual(await instantsOf(store, "two"), [100, 199, 200]);
    assert.deepEqual((await checked(store)).findings, []);
  });

  test("moves within one instant, and a clock that goes back, lose nothing: the last word counts", async (t) => {
    const { store } = await engine.open(t);
    await withTanks(store);
    for (const id of ["two", "three", "one", "three"]) await give(store, id, "d1", 100, true);
    await send(store, "d1", 99, 100);
    assert.deepEqual([await instantsOf(store, "one"), await instantsOf(store, "three")], [[99], [100]]);
    await give(store, "two", "d1", 90, true);
    await send(store, "d1", 101);
    assert.deepEqual([await instantsOf(store, "two"), await instantsOf(store, "three")], [[101], [100]]);
    assert.deepEqual((await checked(store)).findings, []);
  });

  test("a tank that is written with its device in another case keeps it without a move", async (t) => {
    const { store } = await engine.open(t);
    await putCustomers(store, customer("a"));
    const eui = "A84041C2F1827D3E";
    await putTanks(store, tank("one", "a", { assigned_device_id: eui }));
    await give(store, "one", eui.toLowerCase(), 100);
    assert.equal((await store.managedTank("one"))?.tank.assigned_device_id, eui.toLowerCase());
    assert.deepEqual(await send(store, eui.toLowerCase(), 99, 100), ["new", "new"]);
    assert.deepEqual(await instantsOf(store, "one"), [99, 100]);
    assert.deepEqual((await checked(store)).findings, []);
  });
}
