// The embedded endpoint with clients of MQTT 5: what it announces, reason codes, back-pressure, and TLS.

import assert from "node:assert/strict";
import { once } from "node:events";
import test from "node:test";
import type { ErrorCode } from "../../../src/domain/errors.ts";
import { until } from "../../support/until.ts";
import { TEST_CERTIFICATE } from "./certificate.ts";
import {
  connectClient,
  connectPacket,
  dropReasons,
  eventsOf,
  expectService,
  publish,
  RawClient,
  range,
  reading,
  startEndpoint,
} from "./endpoint.ts";
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

for (const [code, expected] of [
  ["key_invalid", 0x86],
  ["key_revoked", 0x87],
  ["role_insufficient", 0x87],
  ["keys_throttled", 0x9f],
  ["store_unavailable", 0x88],
] as readonly [ErrorCode, number][]) {
  test(`a client whose key is rejected with ${code} gets reason code ${expected}`, async (t) => {
    const endpoint = await startEndpoint(t);
    endpoint.keys.set("bad", code);
    const client = await new RawClient(t, endpoint, 5).connect("bad");
    assert.equal((await client.received("connack"))[0]?.reasonCode, expected);
    await client.closed();
  });
}

test("one client too many gets quota exceeded, and enhanced authentication is refused", async (t) => {
  const endpoint = await startEndpoint(t, { clientsPerKey: 1 });
  await connectClient(t, endpoint, V5);
  await assert.rejects(connectClient(t, endpoint, V5), { code: 0x97 });
  const properties = { authenticationMethod: "SCRAM-SHA-1" };
  const client = new RawClient(t, endpoint, 5);
  client.send(connectPacket("good", { ...V5, properties }));
  assert.equal((await client.received("connack"))[0]?.reasonCode, 0x8c);
});

test("an unknown protocol version is refused in the form its client may know", async (t) => {
  const endpoint = await startEndpoint(t);
  for (const [version, reply] of [
    [2, "20020001"],
    [6, "2003008400"],
  ] as const) {
    const { socket } = new RawClient(t, endpoint);
    socket.write(Buffer.from([0x10, 12, 0, 4, ...Buffer.from("MQTT"), version, 2, 0, 0, 0, 0]));
    const [bytes] = (await once(socket, "data")) as [Buffer];
    assert.equal(bytes.toString("hex"), reply);
  }
  assert.deepEqual(dropReasons(endpoint), ["protocol_version", "protocol_version"]);
});

test("a message that cannot be stored is acknowledged with the reason", async (t) => {
  const endpoint = await startEndpoint(t);
  endpoint.keys.set("of d1", { customerId: null, deviceId: "d1" });
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

for (const [name, expected, reason, send] of [
  ["an oversized packet", 0x95, "packet_too_large", (client) => client.send(publish(1, "x".repeat(1_048_576)))],
  ["a topic alias", 0x94, "protocol", (client) => client.send(publish(1, "{}", { properties: { topicAlias: 1 } }))],
  ["a second CONNECT", 0x82, "protocol", (client) => client.send(connectPacket("good", V5))],
  ["a malformed packet", 0x81, "protocol", (client) => client.socket.write(Buffer.from([0x82, 2, 0, 1]))],
  ["a wildcard in a topic", 0x82, "protocol", (client) => client.send(publish(1, "{}", { topic: "tanks/+/readings" }))],
] as readonly [string, number, string, (client: RawClient) => void][]) {
  test(`${name} closes the connection with reason code ${expected}`, async (t) => {
    const endpoint = await startEndpoint(t);
    const client = await new RawClient(t, endpoint, 5).connect();
    send(client);
    assert.equal((await client.received("disconnect"))[0]?.reasonCode, expected);
    await client.closed();
    assert.deepEqual(dropReasons(endpoint), [reason]);
    await expectService(t, endpoint);
  });
}

test("a client that exceeds the receive maximum is disconnected", async (t) => {
  const endpoint = await startEndpoint(t, { inFlight: 10 });
  const resume = endpoint.ingest.hold();
  const client = await new RawClient(t, endpoint, 5).connect();
  client.send(...range(11).map((id) => publish(id, reading(id))));
  assert.equal((await client.received("disconnect"))[0]?.reasonCode, 0x93);
  resume();
});

test("while a client's messages are held, its pings are answered; at its byte limit it is not read", async (t) => {
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

test("mqtt.js stays connected while its messages are held for longer than its keep-alive", async (t) => {
  const endpoint = await startEndpoint(t);
  const resume = endpoint.ingest.hold();
  const client = await connectClient(t, endpoint, { ...V5, keepalive: 1 });
  const published = client.publishAsync(TOPIC, reading(1), { qos: 1 });
  let pings = 0;
  client.on("packetreceive", ({ cmd }) => {
    if (cmd === "pingresp") pings++;
  });
  await until("two pings were answered", () => pings >= 2);
  resume();
  await published;
});

test("while the store is unavailable nothing is acknowledged, and the client is told that the server is busy", async (t) => {
  const endpoint = await startEndpoint(t);
  endpoint.ingest.failWith = unavailable;
  const client = await new RawClient(t, endpoint, 5).connect();
  client.send(publish(1, reading(1)));
  assert.equal((await client.received("disconnect"))[0]?.reasonCode, 0x89);
  assert.deepEqual(client.acknowledged, []);
});

test("a client that is taken over, one whose key is revoked and one at the end are told why", async (t) => {
  const endpoint = await startEndpoint(t);
  endpoint.keys.set("other", { customerId: null, deviceId: null });
  const [first, second] = [new RawClient(t, endpoint, 5), new RawClient(t, endpoint, 5)];
  first.send(connectPacket("good", { ...V5, clientId: "same" }));
  await first.received("connack");
  second.send(connectPacket("good", { ...V5, clientId: "same" }));
  assert.equal((await first.received("disconnect"))[0]?.reasonCode, 0x8e);
  const last = await new RawClient(t, endpoint, 5).connect("other");
  endpoint.keys.set("good", "key_revoked");
  assert.equal((await second.received("disconnect"))[0]?.reasonCode, 0x87);
  await endpoint.stop();
  assert.equal((await last.received("disconnect"))[0]?.reasonCode, 0x8b);
  assert.deepEqual(dropReasons(endpoint), ["key"]);
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

test("with TLS, clients connect with mqtts and plain ones do not", async (t) => {
  const endpoint = await startEndpoint(t, { connectMs: 500 }, { tls: TEST_CERTIFICATE });
  assert.equal(eventsOf(endpoint, "mqtt_listening")[0]?.url, `mqtts://127.0.0.1:${endpoint.port}`);
  for (const protocolVersion of [4, 5] as const) {
    const client = await connectClient(t, endpoint, { protocolVersion, protocol: "mqtts", ca: TEST_CERTIFICATE.cert });
    await client.publishAsync(TOPIC, reading(protocolVersion), { qos: 1 });
  }
  assert.deepEqual(endpoint.ingest.fills, [4, 5]);
  const plain = new RawClient(t, endpoint);
  plain.send(connectPacket("good"));
  await plain.closed();
  await new RawClient(t, endpoint).closed();
});
