import assert from "node:assert/strict";
import test from "node:test";
import type { Store } from "../../../src/domain/store.ts";
import { at, command, executed } from "../../support/commands.ts";
import { ingest, type SentReading } from "../../support/readings.ts";
import type { Engine } from "../engines.ts";
import { customer, fillsOf, pendingCounts, putCustomers, putTanks, tank } from "./objects.ts";

const UNKNOWN = { rejected: "device_id: there is no device with this id" };

/** Anna's tank "one" with d1, Ben's "two" with d2; d3 is nobody's. */
async function withTanks(store: Store): Promise<void> {
  await putCustomers(store, customer("anna"), customer("ben"));
  await putTanks(store, tank("one", "anna", { assigned_device_id: "d1" }), tank("two", "ben", { assigned_device_id: "d2" }));
  await ingest(store, { device: "d3", at: 1, fill: 1 });
}

const anna = (sent: { tank: string } | { device: string }, instant = 10): SentReading => ({
  ...sent,
  at: instant,
  fill: 5,
  customerId: "anna",
});

export function boundSenderConformance(engine: Engine): void {
  test("a sender that is bound to a customer reaches that customer's tanks, by tank and by device", async (t) => {
    const { store } = await engine.open(t);
    await withTanks(store);
    assert.deepEqual(await ingest(store, anna({ tank: "one" }), anna({ device: "d1" }), anna({ device: "d1" }, 11)), [
      "new",
      "unchanged",
      "new",
    ]);
    assert.deepEqual(await fillsOf(store, "one"), [
      [10, 5],
      [11, 5],
    ]);
  });

  test("of everybody else's tanks and devices it learns no more than of those that are not there, and leaves no trace", async (t) => {
    const { store } = await engine.open(t);
    await withTanks(store);
    assert.deepEqual(await ingest(store, anna({ tank: "two" }), anna({ tank: "nobody" })), ["tank_unknown", "tank_unknown"]);
    const devices = ["d2", "d3", "nobody's"].map((device) => anna({ device }));
    assert.deepEqual(await ingest(store, ...devices), [UNKNOWN, UNKNOWN, UNKNOWN]);
    const payloads = ["d2", "d3", "nobody's"].map((device): SentReading => {
      return { device, at: 10, payload: { fill_percentage: "no number" }, customerId: "anna" };
    });
    assert.deepEqual(await ingest(store, ...payloads), [UNKNOWN, UNKNOWN, UNKNOWN]);
    assert.deepEqual(await fillsOf(store, "two"), []);
    assert.deepEqual(
      [await pendingCounts(store, "d2"), await pendingCounts(store, "d3"), await pendingCounts(store, "nobody's")],
      [[0, 0], [1, 0], undefined],
    );
  });

  test("one batch may hold what one sender may send and another may not", async (t) => {
    const { store } = await engine.open(t);
    await withTanks(store);
    const told = await ingest(store, anna({ device: "d2" }), { device: "d2", at: 10, fill: 7 }, anna({ device: "d1" }));
    assert.deepEqual(told, [UNKNOWN, "new", "new"]);
    assert.deepEqual(await fillsOf(store, "two"), [[10, 7]]);
  });

  test("what counts is whose tank had the device at the reading's instant", async (t) => {
    const { store } = await engine.open(t);
    await withTanks(store);
    await executed(store, command.changeTank("one", { assigned_device_id: "d2" }, { swap: true }), at(100));
    const told = await ingest(
      store,
      anna({ device: "d1" }, 99),
      anna({ device: "d1" }, 100),
      anna({ device: "d2" }, 99),
      anna({ device: "d2" }, 100),
    );
    assert.deepEqual(told, ["new", UNKNOWN, UNKNOWN, "new"]);
    assert.deepEqual(await fillsOf(store, "one"), [
      [99, 5],
      [100, 5],
    ]);
    assert.deepEqual(await fillsOf(store, "two"), []);
  });

  test("a tank that changes hands takes its telemetry along", async (t) => {
    const { store } = await engine.open(t);
    await withTanks(store);
    await executed(store, command.changeTank("two", { owner_id: "anna" }), at(100));
    assert.deepEqual(await ingest(store, anna({ tank: "two" }), anna({ device: "d2" }, 11)), ["new", "new"]);
    await executed(store, command.changeTank("one", { owner_id: "ben" }), at(100));
    assert.deepEqual(await ingest(store, anna({ tank: "one" }), anna({ device: "d1" })), ["tank_unknown", UNKNOWN]);
  });

  test("a payload of one's own device that cannot be read yet waits", async (t) => {
    const { store } = await engine.open(t);
    await withTanks(store);
    const sent: SentReading = { device: "d1", at: 10, payload: { distance: 500 }, customerId: "anna" };
    assert.deepEqual(await ingest(store, sent), ["waiting"]);
    assert.deepEqual(await pendingCounts(store, "d1"), [1, 0]);
  });

  test("and goes to no tank of somebody else, where the device was moved meanwhile", async (t) => {
    const { store } = await engine.open(t);
    await withTanks(store);
    const ahead = [99, 101].map((instant): SentReading => {
      return { device: "d1", at: instant, payload: { percent: instant / 2 }, customerId: "anna" };
    });
    assert.deepEqual(await ingest(store, ...ahead, { device: "d1", at: 102, payload: { percent: 7 } }), [
      "waiting",
      "waiting",
      "waiting",
    ]);
    await executed(store, command.changeTank("two", { assigned_device_id: "d1" }, { swap: true }), at(100));
    await executed(store, command.putDevice("d1", { profile: { value: "percent", measures: "percent" } }), at(100));
    assert.deepEqual([await fillsOf(store, "one"), await fillsOf(store, "two")], [[[99, 49.5]], [[102, 7]]]);
    assert.deepEqual(await pendingCounts(store, "d1"), [0, 1]);
  });

  test("a deleted tank takes what was measured before from its owner, unseen, and nobody's device no more", async (t) => {
    const { store } = await engine.open(t);
    await withTanks(store);
    await executed(store, command.deleteTank("one"), at(100));
    assert.deepEqual(await ingest(store, anna({ device: "d1" }, 99), anna({ device: "d1" }, 100)), ["new", UNKNOWN]);
    await executed(store, command.restoreTank("one"), at(200));
    assert.deepEqual(await fillsOf(store, "one"), [[99, 5]]);
  });
}
