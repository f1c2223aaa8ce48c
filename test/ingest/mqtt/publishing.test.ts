// The endpoint broker, as those see it who publish readings.

import assert from "node:assert/strict";
import test from "node:test";
import { until } from "../../support/until.ts";
import { ANYONE, connectClient, eventsOf, publish, RawClient, range, reading, sleep, startEndpoint } from "./endpoint.ts";
import { fillOf, unavailable } from "./fake-ingest.ts";

test("a message is acknowledged after it was stored, and not before", async (t) => {
  const endpoint = await startEndpoint(t);
  const peer = await new RawClient(t, endpoint).connect();
  const release = endpoint.ingest.hold();
  peer.send(publish(7, reading(12.5)));
  await until("the store is asked", () => endpoint.ingest.calls.length > 0);
  await sleep(100);
  assert.deepEqual(peer.acknowledged, []);
  assert.deepEqual(endpoint.ingest.stored, []);
  release();
  await peer.received("puback");
  assert.deepEqual(peer.acknowledged, [7]);
  assert.deepEqual(endpoint.ingest.fills, [12.5]);
});

test("so is one of QoS 2, and saying it twice does no harm", async (t) => {
  const endpoint = await startEndpoint(t);
  const peer = await new RawClient(t, endpoint).connect();
  const release = endpoint.ingest.hold();
  peer.send(publish(7, reading(12.5), { qos: 2 }));
  await until("the store is asked", () => endpoint.ingest.calls.length > 0);
  await sleep(100);
  assert.equal(peer.packets.length, 1);
  release();
  await peer.received("pubrec");
  peer.send(publish(7, reading(12.5), { qos: 2, dup: true }));
  await peer.received("pubrec", 2);
  peer.send({ cmd: "pubrel", messageId: 7 });
  await peer.received("pubcomp");
  assert.deepEqual(new Set(endpoint.ingest.fills), new Set([12.5]));
});

test("one of QoS 0 is stored as well, even if its sender leaves at once", async (t) => {
  const endpoint = await startEndpoint(t);
  const peer = await new RawClient(t, endpoint).connect();
  peer.send(...range(250).map((fill) => publish(0, reading(fill / 10), { qos: 0 })), { cmd: "disconnect" });
  await until("all of them", () => endpoint.ingest.stored.length === 250);
  assert.deepEqual(
    endpoint.ingest.fills,
    range(250).map((fill) => fill / 10),
  );
});

test("so is what had to wait when its sender left", async (t) => {
  const endpoint = await startEndpoint(t, { inFlight: 10 });
  const release = endpoint.ingest.hold();
  const peer = await new RawClient(t, endpoint).connect();
  peer.send(...range(25).map((fill) => publish(0, reading(fill), { qos: 0 })));
  await until("the store is asked", () => endpoint.ingest.calls.length > 0);
  peer.socket.destroy();
  await sleep(100);
  release();
  await until("all of them", () => endpoint.ingest.stored.length === 25);
});

test("a list of readings is one message", async (t) => {
  const endpoint = await startEndpoint(t);
  const client = await connectClient(t, endpoint);
  const list = range(10_000).map((i) => ({ fill_percentage: i / 100, created_at: new Date(i * 60_000).toISOString() }));
  await client.publishAsync("tanks/d1/readings", JSON.stringify(list), { qos: 1 });
  assert.equal(endpoint.ingest.stored.length, 10_000);
  assert.deepEqual(endpoint.ingest.stored[1], {
    source: { deviceId: "d1" },
    createdAt: 120_000,
    measurement: { fill: 0.02 },
  });
});

test("while the store is away nothing is acknowledged; the sender is cut off, comes back, and nothing is lost", async (t) => {
  const endpoint = await startEndpoint(t);
  const client = await connectClient(t, endpoint, { reconnectPeriod: 50, clean: false, clientId: "sender" });
  endpoint.ingest.failWith = unavailable;
  let acknowledged = 0;
  const sent = range(20).map((fill) =>
    client.publishAsync("tanks/d1/readings", reading(fill), { qos: 1 }).then(() => acknowledged++),
  );
  await until("it was cut off twice", () => eventsOf(endpoint, "mqtt_client_dropped").length >= 2);
  assert.equal(acknowledged, 0);
  assert.deepEqual(eventsOf(endpoint, "mqtt_client_dropped")[0], {
    kind: "mqtt_client_dropped",
    reason: "store_unavailable",
    address: "127.0.0.1",
  });
  endpoint.ingest.failWith = () => undefined;
  await Promise.all(sent);
  assert.deepEqual(new Set(endpoint.ingest.fills), new Set(range(20)));
  assert.deepEqual(eventsOf(endpoint, "mqtt_failed"), []);
});

test("acknowledgements leave in the order of arrival, also those of messages that cannot be taken", async (t) => {
  const endpoint = await startEndpoint(t);
  const peer = await new RawClient(t, endpoint).connect();
  endpoint.ingest.delayMs = 20;
  for (const id of range(60)) {
    const message = id % 3 === 0 ? publish(id, "no JSON") : id % 5 === 0 ? publish(id, "{}", { topic: "elsewhere" }) : undefined;
    peer.send(message ?? publish(id, reading(id)));
    if (id % 7 === 0) await sleep(3);
  }
  await peer.received("puback", 60);
  assert.deepEqual(peer.acknowledged, range(60));
  assert.deepEqual(
    endpoint.ingest.fills,
    range(60).filter((id) => id % 3 !== 0 && id % 5 !== 0),
  );
});

test("what arrives at once is one call", async (t) => {
  const endpoint = await startEndpoint(t);
  const peer = await new RawClient(t, endpoint).connect();
  peer.send(...range(50).map((id) => publish(id, reading(id))));
  await peer.received("puback", 50);
  assert.equal(endpoint.ingest.calls.length, 1);
});

test("what has gathered is handed over in pieces of a size that the store can take", async (t) => {
  const endpoint = await startEndpoint(t);
  const peer = await new RawClient(t, endpoint).connect();
  const release = endpoint.ingest.hold();
  const list = JSON.stringify(range(6000).map(() => ({ fill_percentage: 1, created_at: "2026-11-01T00:00:00Z" })));
  peer.send(...range(6).map((id) => publish(id, list)));
  await until("the store is asked", () => endpoint.ingest.calls.length > 0);
  await sleep(200);
  release();
  await peer.received("puback", 6);
  assert.equal(endpoint.ingest.stored.length, 36_000);
  assert.ok(endpoint.ingest.calls.every(({ readings }) => readings.length <= 12_000));
});

test("many clients' messages share a few calls", async (t) => {
  const endpoint = await startEndpoint(t);
  const clients = await Promise.all(range(20).map(() => connectClient(t, endpoint)));
  endpoint.ingest.delayMs = 10;
  await Promise.all(
    clients.flatMap((client, i) => range(50).map((k) => client.publishAsync(`tanks/d${i}/readings`, reading(k), { qos: 1 }))),
  );
  assert.equal(endpoint.ingest.stored.length, 1000);
  assert.ok(endpoint.ingest.calls.length < 100, `${endpoint.ingest.calls.length} calls`);
  for (const i of clients.keys()) {
    const own = endpoint.ingest.stored.filter(({ source }) => "deviceId" in source && source.deviceId === `d${i}`);
    assert.deepEqual(own.map(fillOf), range(50), "each client's in their order");
  }
});

test("a message is handed over with who sends it; keys that send for different devices do not mix", async (t) => {
  const endpoint = await startEndpoint(t);
  endpoint.keys.set("of d1", { customerId: null, deviceId: "d1" });
  endpoint.keys.set("of d2", { customerId: null, deviceId: "d2" });
  const [one, two, anyone] = await Promise.all(["of d1", "of d2", "good"].map((key) => new RawClient(t, endpoint).connect(key)));
  assert.ok(one && two && anyone);
  one.send(publish(1, reading(1)), publish(2, reading(2), { topic: "tanks/d2/readings" }), publish(3, reading(3)));
  two.send(publish(1, reading(4), { topic: "tanks/d2/readings" }));
  anyone.send(publish(1, reading(5)), publish(2, reading(6), { topic: "tanks/d2/readings" }));
  await Promise.all([one.received("puback", 3), two.received("puback"), anyone.received("puback", 2)]);
  assert.deepEqual(new Set(endpoint.ingest.fills), new Set([1, 3, 4, 5, 6]));
  for (const { sender, readings } of endpoint.ingest.calls) {
    const fills = readings.map((arrival) => ("rejected" in arrival ? 0 : fillOf(arrival)));
    const expected = sender.deviceId === "d1" ? [1, 2, 3] : sender.deviceId === "d2" ? [4] : [5, 6];
    assert.ok(fills.every((fill) => expected.includes(fill)));
  }
  assert.deepEqual(eventsOf(endpoint, "readings_rejected"), [
    {
      kind: "readings_rejected",
      endpoint: "mqtt",
      keyId: "id of of d1",
      topic: "tanks/d2/readings",
      device: "d2",
      count: 1,
      reason: "device_id: this key sends for another device",
    },
  ]);
});

test("what can never be taken is acknowledged, or it would come again for ever, and told to the operator", async (t) => {
  const endpoint = await startEndpoint(t);
  const client = await connectClient(t, endpoint);
  for (const [topic, payload, reason, count] of [
    ["tanks/d1/readings", '{"fill_percentage": 12', "the message is not valid JSON", 1],
    ["tanks/d1/readings", '[{"fill_percentage":101},{"fill_percentage":1},7]', "fill_percentage: must be from 0 to 100", 2],
    ["temperature/d1", "{}", "topic not recognised", 1],
    ["$SYS/x/new/clients", "sender", "topic not recognised", 1],
  ] as const) {
    await client.publishAsync(topic, payload, { qos: 1 });
    const device = topic === "tanks/d1/readings" ? "d1" : null;
    assert.deepEqual(eventsOf(endpoint, "readings_rejected").at(-1), {
      kind: "readings_rejected",
      endpoint: "mqtt",
      keyId: "id of good",
      topic,
      device,
      count,
      reason,
    });
  }
  assert.deepEqual(endpoint.ingest.fills, [1]);
});

test("a topic is told without a key that stands in it, cut short, and with what is not seen made visible", async (t) => {
  const endpoint = await startEndpoint(t);
  const client = await connectClient(t, endpoint);
  const secret = `tm_${"0aZ".repeat(12)}`;
  for (const [topic, shownTopic, device] of [
    [`tanks/${secret}/readings`, "tanks/tm_…/readings", "tm_…"],
    [`${secret}/x`, "tm_…/x", null],
    ["tanks/\u009b31m\u202eno\u2028/readings", "tanks/\\u{9b}31m\\u{202e}no\\u{2028}/readings", "\\u{9b}31m\\u{202e}no\\u{2028}"],
    ["x".repeat(1000), `${"x".repeat(256)}…`, null],
    [`${"x".repeat(250)}${secret}`, `${"x".repeat(250)}tm_…`, null],
  ] as const) {
    await client.publishAsync(topic, "no JSON", { qos: 1 });
    const refused = eventsOf(endpoint, "readings_rejected").at(-1);
    assert.deepEqual([refused?.topic, refused?.device, refused?.keyId], [shownTopic, device, "id of good"]);
  }
});

test("what a network server says of other things is acknowledged quietly", async (t) => {
  const endpoint = await startEndpoint(t);
  const client = await connectClient(t, endpoint);
  await client.publishAsync("application/1/device/24e124713b493604/event/join", "{}", { qos: 1 });
  await client.publishAsync("v3/app@ttn/devices/d/join", "{}", { qos: 1 });
  assert.deepEqual([eventsOf(endpoint, "readings_rejected"), endpoint.ingest.calls], [[], []]);
});

test("a message that makes us fail is not acknowledged, and takes no other with it", async (t) => {
  const endpoint = await startEndpoint(t);
  const [bad, good] = await Promise.all([new RawClient(t, endpoint).connect(), new RawClient(t, endpoint).connect()]);
  endpoint.ingest.failWith = ({ readings }) =>
    readings.some((arrival) => "measurement" in arrival && fillOf(arrival) === 66) ? new Error("a fault of ours") : undefined;
  const release = endpoint.ingest.hold();
  good.send(publish(1, reading(1)));
  await until("the store is asked", () => endpoint.ingest.calls.length > 0);
  bad.send(publish(1, reading(2)), publish(2, reading(66)), publish(3, reading(3)));
  good.send(publish(2, reading(4)));
  await sleep(50);
  release();
  await good.received("puback", 2);
  await bad.closed();
  assert.ok(!bad.acknowledged.includes(2));
  assert.deepEqual(new Set(endpoint.ingest.fills), new Set([1, 2, 3, 4]));
  assert.deepEqual(
    eventsOf(endpoint, "mqtt_client_dropped").map(({ reason }) => reason),
    ["failed"],
  );
  assert.ok(eventsOf(endpoint, "mqtt_failed").length > 0);
});

test("a stop acknowledges what it has, then disconnects", async (t) => {
  const endpoint = await startEndpoint(t);
  const peer = await new RawClient(t, endpoint).connect();
  const release = endpoint.ingest.hold();
  peer.send(...range(10).map((id) => publish(id, reading(id))));
  await until("the store is asked", () => endpoint.ingest.calls.length > 0);
  const stopped = endpoint.stop();
  await sleep(50);
  assert.equal(peer.isClosed, false);
  release();
  await stopped;
  await peer.closed();
  assert.deepEqual(peer.acknowledged, range(10));
  assert.deepEqual(endpoint.ingest.calls[0]?.sender, ANYONE);
});
