// Readings of several senders, in turn.

import assert from "node:assert/strict";
import { it } from "node:test";
import { StepScheduler } from "../../src/domain/fair-queue.ts";
import type { IncomingReading, ReadingSender } from "../../src/ingest/ingest.ts";
import { ingestInSlices } from "../../src/ingest/slices.ts";
import { until } from "../support/until.ts";
import { FakeIngest, unavailable } from "./mqtt/fake-ingest.ts";

const sender = (keyId: string | null): ReadingSender => ({ keyId, customerId: null, deviceId: null });

const reading = (deviceId: string, createdAt: number): IncomingReading => ({
  source: { deviceId },
  createdAt,
  measurement: { fill: 50 },
});

/** In turn of ten devices. */
const readings = (count: number): IncomingReading[] => Array.from({ length: count }, (_, i) => reading(`d${i % 10}`, i));

it("a reading is stored before the rest of many of another key", async () => {
  const fake = new FakeIngest();
  const release = fake.hold();
  const ingest = ingestInSlices(fake.handle, new StepScheduler());
  const many = ingest(readings(10_000), sender("many"));
  await until("the first are being stored", () => Promise.resolve(fake.calls.length === 4));
  const others = ["a", "b", null].map((keyId) => ingest([reading("other", 1)], sender(keyId)));
  release();
  assert.deepEqual(await Promise.all(others), [["stored"], ["stored"], ["stored"]]);
  assert.equal((await many).length, 10_000);
  const order = fake.calls.map((call) => call.sender.keyId);
  assert.deepEqual(order.slice(0, 4), ["many", "many", "many", "many"]);
  assert.ok(order.lastIndexOf("b") < 8 && order.lastIndexOf(null) < 9, order.join(" "));
});

it("while other keys send requests, few readings of a key are being stored at a time", async () => {
  const fake = new FakeIngest();
  const release = fake.hold(({ sender: { keyId } }) => keyId === "many");
  const scheduler = new StepScheduler();
  const ingest = ingestInSlices(fake.handle, scheduler);
  for (const key of ["many", "other"]) scheduler.recordRequest(key);
  const many = ingest(readings(1000), sender("many"));
  await until("the first are being stored", () => Promise.resolve(fake.calls.length > 0));
  assert.deepEqual(await ingest([reading("other", 1)], sender("other")), ["stored"]);
  assert.deepEqual(
    fake.calls.map((call) => call.readings.length),
    [250, 1],
  );
  release();
  assert.equal((await many).length, 1000);
});

it("of many bodies that arrive together, one is decoded in each turn of the event loop, and a reading of another key at once", async () => {
  const fake = new FakeIngest();
  const ingest = ingestInSlices(fake.handle, new StepScheduler());
  let turn = 0;
  const scheduler: number[] = [];
  let counting = setImmediate(function count() {
    turn++;
    counting = setImmediate(count);
  });
  function* decode(): Generator<IncomingReading> {
    scheduler.push(turn);
    yield* readings(1000);
  }
  const body = { length: 1000, [Symbol.iterator]: decode };
  const many = Array.from({ length: 25 }, () => ingest(body, sender("many")));
  assert.deepEqual(await ingest([reading("other", 1)], sender("a")), ["stored"]);
  assert.ok(scheduler.length < 3, `${scheduler.length} bodies came before`);
  await Promise.all(many);
  clearImmediate(counting);
  assert.equal(new Set(scheduler).size, 25, scheduler.join(" "));
});

it("readings that take long to decode are decoded in several turns of the event loop, also few of them", async () => {
  const fake = new FakeIngest();
  const ingest = ingestInSlices(fake.handle, new StepScheduler());
  let turn = 0;
  let counting = setImmediate(function count() {
    turn++;
    counting = setImmediate(count);
  });
  const turns = new Set<number>();
  function* decode(): Generator<IncomingReading> {
    for (const one of readings(50)) {
      turns.add(turn);
      for (const end = performance.now() + 1; performance.now() < end; );
      yield one;
    }
  }
  assert.equal((await ingest({ length: 50, [Symbol.iterator]: decode }, sender("a"))).length, 50);
  clearImmediate(counting);
  assert.ok(turns.size >= 25, `${turns.size} turns`);
});

it("there is one result per reading in the order given, and readings of a device are stored in the order given", async () => {
  const fake = new FakeIngest();
  const given = readings(5000).map((one, i) => (i % 7 === 0 ? { rejected: `number ${i}` } : one));
  const results = await ingestInSlices(fake.handle, new StepScheduler())(given, sender("a"));
  assert.deepEqual(
    results,
    given.map((one) => ("rejected" in one ? one : "stored")),
  );
  const instants = fake.stored
    .filter(({ source }) => "deviceId" in source && source.deviceId === "d3")
    .map((one) => one.createdAt);
  assert.deepEqual(
    instants,
    instants.toSorted((a, b) => a - b),
  );
  assert.equal(fake.stored.length, given.filter((one) => !("rejected" in one)).length);
  // All of a device with the first of them.
  assert.ok(
    fake.calls.every((call) => new Set(call.readings.map((one) => "source" in one && JSON.stringify(one.source))).size < 5),
  );
});

it("keeps the order where tanks and devices are mixed, since both may mean the same tank", async () => {
  const fake = new FakeIngest();
  const given = Array.from({ length: 3000 }, (_, i) => ({
    ...reading("d1", i),
    source: i % 2 === 0 ? { tankId: "t1" } : { deviceId: "d1" },
  }));
  await ingestInSlices(fake.handle, new StepScheduler())(given, sender("a"));
  assert.deepEqual(
    fake.stored.map(({ createdAt }) => createdAt),
    given.map(({ createdAt }) => createdAt),
  );
});

it("stops after a slice that failed", async () => {
  const fake = new FakeIngest();
  fake.failWith = unavailable;
  const ingest = ingestInSlices(fake.handle, new StepScheduler());
  await assert.rejects(ingest(readings(10_000), sender("a")), { code: "store_unavailable" });
  assert.ok(fake.calls.length <= 5, `${fake.calls.length} slices`);
  fake.failWith = () => undefined;
  assert.deepEqual(await ingest(readings(2), sender("a")), ["stored", "stored"]);
});
