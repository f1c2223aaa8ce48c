// The embedded endpoint with clients of MQTT 5: what it announces, reason codes of messages, and back-pressure.

import assert from "node:assert/strict";
import test from "node:test";
import { until } from "../../support/until.ts";
import { ANYONE, connectClient, connectPacket, eventsOf, publish, RawClient, range, reading, startEndpoint } from "./endpoint.ts";
import { unavailable } from "./fake-ingest.ts";

const TOPIC = "tanks/d1/readings";
const V5 = { protocolVersion: 5 } as const;

test("CONNACK announces the limits and what is not available", async (t) => {
  const endpoint = await startEndpoint(t);
  const client = new RawClient(t, endpoint, 5);
  client.send(connectPacket("good", { ...V5, clientId: "", properties: { sessionExpiryInterval: 3600 } }));
  const [connack] = await client.received("connack");
  const { assignedClientIdentifier, ...properties } = connack?.properties ?? {};
  assert.match(assignedClientIdentifier ?? "", /^auto-/);
  assert.deepEqual([connack?.reasonCode, connack?.sessionPresent], [0, false]);
  assert.deepEqual(properties, {
    sessionExpiryInterval: 0,
    receiveMaximum: 100,
    maximumPacketSize: 1_048_576,
    retainAvailable: false,
    topicAliasMaximum: 0,
    wildcardSubscriptionAvailable: false,
    subscriptionIdentifiersAvailable: false,
    sharedSubscriptionAvailable: false,
  });
});

test("mqtt.js publishes with QoS 0, 1 and 2", async (t) => {
  const endpoint = await startEndpoint(t);
  const client = await connectClient(t, endpoint, V5);
  const properties = { payloadFormatIndicator: true, contentType: "application/json", userProperties: { a: "b" } };
  for (const qos of [0, 1, 2] as const) await client.publishAsync(TOPIC, reading(qos), { qos, properties });
  await until("all are stored", () => endpoint.ingest.stored.length === 3);
  assert.deepEqual(endpoint.ingest.fills, [0, 1, 2]);
  await client.endAsync();
});

test("a message that cannot be stored is acknowledged with the reason", async (t) => {
  const endpoint = await startEndpoint(t);
  endpoint.keys.set("of d1", { ...ANYONE, deviceId: "d1" });
  const [any, bound] = await Promise.all([
    connectClient(t, endpoint, V5),
    connectClient(t, endpoint, { ...V5, password: "of d1" }),
  ]);
  for (const qos of [1, 2] as const) {
    await assert.rejects(any.publishAsync("temperature/d1", "{}", { qos }), { code: 0x90 });
    await assert.rejects(any.publishAsync(TOPIC, "no JSON", { qos }), { code: 0x99 });
    await assert.rejects(bound.publishAsync("tanks/d2/readings", reading(1), { qos }), { code: 0x87 });
  }
  await any.publishAsync(TOPIC, '[{"fill_percentage":101},{"fill_percentage":1}]', { qos: 1 });
  assert.deepEqual(endpoint.ingest.fills, [1]);
  const raw = await new RawClient(t, endpoint, 5).connect();
  raw.send(publish(1, "no JSON"));
  assert.equal(
    (await raw.received("puback"))[0]?.properties?.reasonString,
    eventsOf(endpoint, "readings_rejected").at(-1)?.reason,
  );
});

test("a client that wants no reason strings gets none", async (t) => {
  const endpoint = await startEndpoint(t);
  for (const properties of [{ requestProblemInformation: false }, { maximumPacketSize: 20 }]) {
    const client = new RawClient(t, endpoint, 5);
    client.send(connectPacket("good", { ...V5, properties }), publish(1, "no JSON"));
    const [puback] = await client.received("puback");
    assert.deepEqual([puback?.reasonCode, puback?.properties], [0x99, undefined]);
  }
});

test("ChirpStack may subscribe to its commands and publish what we do not store; it sees no failure code", async (t) => {
  const endpoint = await startEndpoint(t);
  const client = await connectClient(t, endpoint, V5);
  await client.subscribeAsync("application/+/device/+/command/+", { qos: 1 });
  await client.publishAsync("application/1/device/24e124713b493604/event/up", "{}", { qos: 1 });
  await client.publishAsync("application/1/device/24e124713b493604/event/join", "{}", { qos: 1, retain: true });
  assert.equal(eventsOf(endpoint, "readings_rejected").length, 1);
  const raw = await new RawClient(t, endpoint, 5).connect();
  raw.send({ cmd: "subscribe", messageId: 1, subscriptions: [{ topic: "#", qos: 0 }] });
  assert.deepEqual((await raw.received("suback"))[0]?.granted, [0x87]);
  raw.send({ cmd: "unsubscribe", messageId: 2, unsubscriptions: ["#"] });
  await raw.received("unsuback");
});

test("a client that exceeds the receive maximum or the maximum packet size is disconnected", async (t) => {
  const endpoint = await startEndpoint(t, { inFlight: 10, publishBytes: 1000 });
  const resume = endpoint.ingest.hold();
  for (const [packets, code] of [
    [range(11).map((id) => publish(id, reading(id))), 0x93],
    [[publish(1, " ".repeat(1000))], 0x95],
  ] as const) {
    const client = await new RawClient(t, endpoint, 5).connect();
    client.send(...packets);
    assert.equal((await client.received("disconnect"))[0]?.reasonCode, code);
  }
  resume();
});

test("while a client's messages are held, its pings get responses; at its byte limit it is not read", async (t) => {
  const endpoint = await startEndpoint(t, { inFlight: 10, heldBytes: 10_000 });
  const resume = endpoint.ingest.hold();
  const client = await new RawClient(t, endpoint, 5).connect();
  const message = (id: number) => publish(0, `${reading(id / 20)}${" ".repeat(1000)}`, { qos: 0 });
  client.send(...range(15).map(message), { cmd: "pingreq" });
  await client.received("pingresp");
  client.send(...range(1000).map(message), { cmd: "pingreq" });
  await until("it is not read", () => endpoint.ingest.calls.length > 0);
  const other = await new RawClient(t, endpoint, 5).connect();
  other.send({ cmd: "pingreq" });
  await other.received("pingresp");
  assert.equal((await client.received("pingresp")).length, 1);
  resume();
  await client.received("pingresp", 2);
  await until("all are stored", () => endpoint.ingest.stored.length === 1015, 20_000);
});

test("a client that is not read because of what it sent still gets PINGRESP", async (t) => {
  const endpoint = await startEndpoint(t, { heldBytes: 1000 });
  const resume = endpoint.ingest.hold();
  const [client, idle] = await Promise.all([1, 1].map((keepalive) => new RawClient(t, endpoint, 5).connect("good", keepalive)));
  assert.ok(client && idle);
  client.send(...range(3000).map((id) => publish(0, reading(id / 30), { qos: 0 })), { cmd: "pingreq" });
  await client.received("pingresp", 2);
  const others = idle.packets.filter(({ cmd }) => cmd === "pingresp");
  assert.deepEqual([client.isClosed, others], [false, []]);
  resume();
  await until("all are stored", () => endpoint.ingest.stored.length === 3000);
});

test("while the store is unavailable nothing is acknowledged, and the client gets the reason: the server is busy", async (t) => {
  const endpoint = await startEndpoint(t);
  endpoint.ingest.failWith = unavailable;
  const client = await new RawClient(t, endpoint, 5).connect();
  client.send(publish(1, reading(1)));
  assert.equal((await client.received("disconnect"))[0]?.reasonCode, 0x89);
  assert.deepEqual(client.acknowledged, []);
});

test("a released QoS 2 id may be used again, and an unknown one is reported", async (t) => {
  const endpoint = await startEndpoint(t);
  const client = await new RawClient(t, endpoint, 5).connect();
  for (const fill of [1, 2]) {
    client.send(publish(7, reading(fill), { qos: 2 }));
    await client.received("pubrec", fill);
    client.send({ cmd: "pubrel", messageId: 7 });
    await client.received("pubcomp", fill);
  }
  assert.deepEqual(endpoint.ingest.fills, [1, 2]);
  client.send({ cmd: "pubrel", messageId: 7 });
  const pubcomps = await client.received("pubcomp", 3);
  assert.deepEqual(
    pubcomps.map(({ reasonCode }) => reasonCode),
    [0, 0, 0x92],
  );
});
