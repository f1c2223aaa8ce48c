// Simulated devices that send to the embedded MQTT endpoint.

import assert from "node:assert/strict";
import test, { type TestContext } from "node:test";
import { type Fleet, seededFleet } from "../../src/simulate/fleet.ts";
import { mqttTransport } from "../../src/simulate/mqtt.ts";
import type { Tally } from "../../src/simulate/results.ts";
import { MAKERS } from "../../src/simulate/sensors.ts";
import { ANYONE, eventsOf, startEndpoint, type TestEndpoint } from "../ingest/mqtt/endpoint.ts";
import { type FakeIngest, unavailable } from "../ingest/mqtt/fake-ingest.ts";
import { runSimulation } from "./support.ts";

const fleet = seededFleet("mqtt", 30, MAKERS);
const urlOf = ({ port }: TestEndpoint): string => `mqtt://127.0.0.1:${port}`;

async function connect(t: TestContext) {
  const endpoint = await startEndpoint(t);
  endpoint.keys.set("secret", ANYONE);
  const transport = await mqttTransport(urlOf(endpoint), "secret");
  t.after(() => transport.close());
  return { ...endpoint, transport };
}

function assertAllReceived({ stored }: FakeIngest, tally: Tally, fleet: Fleet): void {
  const received = Map.groupBy(stored, ({ source }) => ("deviceId" in source ? source.deviceId : ""));
  for (const [device, entries] of tally.byDevice()) {
    assert.ok(entries.every(({ isStored }) => isStored));
    const instants = new Set(received.get(fleet.device(device).id)?.map(({ createdAt }) => createdAt));
    assert.deepEqual(instants, new Set(entries.map(({ at }) => at)), `device ${device}`);
  }
}

test("readings of every maker are published on its topic, and can be decoded", async (t) => {
  const { transport, ingest, events } = await connect(t);
  const { summary, tally } = await runSimulation({ fleet, transport, count: 900 });
  assert.deepEqual(eventsOf({ events }, "readings_rejected"), []);
  assert.deepEqual([summary.measured, summary.acknowledged, summary.undelivered], [900, summary.sent, 0]);
  assert.deepEqual([summary.stored, summary.duplicate], [0, 0], "a broker reports no status");
  assertAllReceived(ingest, tally, fleet);
});

test("nothing is lost when a broker closes connections: unacknowledged messages are published again", async (t) => {
  const { transport, ingest, events } = await connect(t);
  let calls = 0;
  ingest.failWith = () => (++calls % 3 === 0 && calls <= 9 ? unavailable() : undefined);
  const { summary, tally } = await runSimulation({ fleet, transport, count: 2000, rate: 2000 });
  assert.ok(eventsOf({ events }, "mqtt_client_dropped").length >= 2);
  assert.ok(summary.resent >= 2, `${summary.resent} sent again`);
  assert.deepEqual([summary.acknowledged, summary.undelivered], [summary.sent, 0]);
  assertAllReceived(ingest, tally, fleet);
});

test("a wrong key or an unreachable broker is reported at once", async (t) => {
  const url = urlOf(await startEndpoint(t));
  await assert.rejects(mqttTransport(url, "wrong"), { message: /does not accept the key/ });
  await assert.rejects(mqttTransport(url, undefined), { message: /requires a key/ });
  await assert.rejects(mqttTransport("mqtt://127.0.0.1:1", "key"), { message: /cannot be reached/ });
});

test("a key that is revoked meanwhile ends the simulation", async (t) => {
  const { transport, keys } = await connect(t);
  const onMeasured = (number: number): void => {
    if (number === 5) keys.set("secret", "key_revoked");
  };
  await assert.rejects(runSimulation({ fleet, transport, count: 1e6, rate: 500, onMeasured }), {
    message: /does not accept the key/,
  });
});

test("messages that are never acknowledged are given up in the end, and counted", async (t) => {
  const { transport, ingest } = await connect(t);
  const resume = ingest.hold();
  const { summary } = await runSimulation({ fleet, transport, count: 50, abort: AbortSignal.timeout(300) });
  resume();
  assert.deepEqual([summary.measured, summary.acknowledged], [50, 0]);
  assert.ok(summary.undelivered >= 50, `${summary.undelivered}`);
});
