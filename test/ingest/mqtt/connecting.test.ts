// The embedded endpoint, as clients see it that connect: keys, reason codes, keep-alive, and what it does not do.

import assert from "node:assert/strict";
import { once } from "node:events";
import test from "node:test";
import type { ErrorCode } from "../../../src/domain/errors.ts";
import { MqttEndpoint } from "../../../src/ingest/mqtt/endpoint.ts";
import { TEST_CERTIFICATE } from "../../support/certificate.ts";
import {
  ANYONE,
  connectClient,
  connectPacket,
  dropReasons,
  eventsOf,
  publish,
  RawClient,
  range,
  reading,
  startEndpoint,
} from "./endpoint.ts";

test("a key is the password; the user name is free", async (t) => {
  const endpoint = await startEndpoint(t);
  for (const username of ["", "sensor 7", "tm_whatever"]) await connectClient(t, endpoint, { username });
  assert.deepEqual(endpoint.events, [{ kind: "mqtt_listening", url: `mqtt://127.0.0.1:${endpoint.port}` }]);
});

test("a client whose key is rejected gets the return code of MQTT 3.1.1 or the reason code of MQTT 5", async (t) => {
  const endpoint = await startEndpoint(t);
  for (const [code, returnCode, reasonCode] of [
    ["key_invalid", 4, 0x86],
    ["key_expired", 5, 0x87],
    ["key_revoked", 5, 0x87],
    ["role_insufficient", 5, 0x87],
    ["store_unavailable", 3, 0x88],
    ["keys_throttled", 3, 0x9f],
  ] as readonly [ErrorCode, number, number][]) {
    endpoint.keys.set("bad", code);
    for (const version of [4, 5] as const) {
      const client = await new RawClient(t, endpoint, version).connect("bad");
      const [connack] = await client.received("connack");
      assert.equal(version === 4 ? connack?.returnCode : connack?.reasonCode, version === 4 ? returnCode : reasonCode);
      await client.closed();
      assert.deepEqual(endpoint.events.at(-1), { kind: "mqtt_client_rejected", code, address: "127.0.0.1" });
    }
  }
});

test("a client without a password is rejected", async (t) => {
  const endpoint = await startEndpoint(t);
  await assert.rejects(connectClient(t, endpoint, { password: "", username: "x" }), /Bad username or password/i);
  const { password: _none, username: _nobody, ...anonymous } = connectPacket("");
  const client = new RawClient(t, endpoint);
  client.send(anonymous);
  assert.equal((await client.received("connack"))[0]?.returnCode, 4);
  const codes = eventsOf(endpoint, "mqtt_client_rejected").map(({ code }) => code);
  assert.deepEqual(codes, ["key_missing", "key_missing"]);
});

test("a client whose key cannot be looked up because of an unexpected error may try again", async (t) => {
  const endpoint = await startEndpoint(t);
  endpoint.keys.get = () => {
    throw new Error("unexpected");
  };
  const client = await new RawClient(t, endpoint).connect();
  assert.equal((await client.received("connack"))[0]?.returnCode, 3);
  assert.equal(eventsOf(endpoint, "mqtt_failed").length, 1);
});

test("enhanced authentication is rejected, and so is an unknown protocol version, in the form its client may know", async (t) => {
  const endpoint = await startEndpoint(t);
  const client = new RawClient(t, endpoint, 5);
  client.send(connectPacket("good", { protocolVersion: 5, properties: { authenticationMethod: "SCRAM-SHA-1" } }));
  assert.equal((await client.received("connack"))[0]?.reasonCode, 0x8c);
  for (const [version, reply] of [
    [2, "20020001"],
    [6, "2003008400"],
  ] as const) {
    const { socket } = new RawClient(t, endpoint);
    socket.write(Buffer.from([0x10, 12, 0, 4, ...Buffer.from("MQTT"), version, 2, 0, 0, 0, 0]));
    const [bytes] = (await once(socket, "data")) as [Buffer];
    assert.equal(bytes.toString("hex"), reply);
  }
  assert.deepEqual(dropReasons(endpoint), ["protocol", "protocol_version", "protocol_version"]);
});

test("idle clients of revoked keys are disconnected within about a second, others are not", async (t) => {
  const endpoint = await startEndpoint(t);
  const names = range(400).map((i) => `key ${i}`);
  for (const name of names) endpoint.keys.set(name, ANYONE);
  const other = await new RawClient(t, endpoint).connect();
  const clients = await Promise.all([...names, "key 1"].map((name) => new RawClient(t, endpoint).connect(name)));
  for (const name of names) endpoint.keys.set(name, "key_revoked");
  const started = performance.now();
  await Promise.all(clients.map((client) => client.closed()));
  assert.ok(performance.now() - started < 2000, `${performance.now() - started} ms`);
  assert.equal(other.isClosed, false);
  assert.deepEqual(new Set(dropReasons(endpoint)), new Set(["key"]));
});

test("messages of a revoked key are neither stored nor acknowledged", async (t) => {
  const endpoint = await startEndpoint(t);
  const client = await new RawClient(t, endpoint).connect();
  endpoint.keys.set("good", "key_revoked");
  client.send(publish(1, reading(1)));
  await client.closed();
  assert.deepEqual([client.acknowledged, endpoint.ingest.stored], [[], []]);
});

test("while keys cannot be looked up, clients stay connected; then the key's current binding counts", async (t) => {
  const endpoint = await startEndpoint(t);
  const client = await new RawClient(t, endpoint).connect("good", 1);
  const pings = setInterval(() => client.send({ cmd: "pingreq" }), 200);
  t.after(() => clearInterval(pings));
  endpoint.keys.set("good", "store_unavailable");
  await client.received("pingresp", 6);
  assert.equal(client.isClosed, false);
  endpoint.keys.set("good", { ...ANYONE, customerId: "cus_1" });
  client.send(publish(1, reading(1)));
  await client.received("puback");
  assert.deepEqual(endpoint.ingest.calls[0]?.sender, { ...ANYONE, customerId: "cus_1" });
});

test("a client with the same id and key replaces another; with another key it does not", async (t) => {
  const endpoint = await startEndpoint(t);
  endpoint.keys.set("other", ANYONE);
  const enter = async (password: string): Promise<RawClient> => {
    const client = new RawClient(t, endpoint, 5);
    client.send(connectPacket(password, { clientId: "same", protocolVersion: 5 }));
    await client.received("connack");
    return client;
  };
  const [first, other, second] = [await enter("good"), await enter("other"), await enter("good")];
  assert.equal((await first.received("disconnect"))[0]?.reasonCode, 0x8e);
  await first.closed();
  second.send(publish(1, reading(1)));
  await second.received("puback");
  assert.equal(other.isClosed, false);
  endpoint.keys.set("good", "key_revoked");
  assert.equal((await second.received("disconnect"))[0]?.reasonCode, 0x87);
  await endpoint.stop();
  assert.equal((await other.received("disconnect"))[0]?.reasonCode, 0x8b, "the server is shutting down");
  assert.deepEqual(dropReasons(endpoint), ["key"]);
});

test("subscriptions are rejected, and published messages reach nobody", async (t) => {
  const endpoint = await startEndpoint(t);
  const [listener, sender] = await Promise.all([new RawClient(t, endpoint).connect(), new RawClient(t, endpoint).connect()]);
  const topics = ["#", "$SYS/#", "tanks/+/readings", "$share/g/tanks/+/readings"];
  listener.send({ cmd: "subscribe", messageId: 1, subscriptions: topics.map((topic) => ({ topic, qos: 1 })) });
  assert.deepEqual((await listener.received("suback"))[0]?.granted, [128, 128, 128, 128]);
  sender.send(publish(1, reading(1)));
  await sender.received("puback");
  listener.send({ cmd: "pingreq" });
  await listener.received("pingresp");
  const received = listener.packets.map(({ cmd }) => cmd);
  assert.deepEqual(received, ["connack", "suback", "pingresp"]);
});

test("retained messages are readings like any other, wills are ignored, and no session is kept", async (t) => {
  const endpoint = await startEndpoint(t);
  const will = { topic: "tanks/d1/readings", payload: Buffer.from(reading(99)), qos: 1, retain: true } as const;
  const client = await connectClient(t, endpoint, { will, clean: false, clientId: "same" });
  await client.publishAsync("tanks/d1/readings", reading(1), { qos: 1, retain: true });
  client.stream.destroy();
  const again = new RawClient(t, endpoint);
  again.send(connectPacket("good", { clientId: "same", clean: false }), publish(1, reading(2)));
  assert.equal((await again.received("connack"))[0]?.sessionPresent, false);
  await again.received("puback");
  assert.deepEqual(endpoint.ingest.fills, [1, 2]);
});

test("a client that is silent for one and a half keep-alive intervals, or very long, is disconnected; one that pings is not", async (t) => {
  const endpoint = await startEndpoint(t, { silentMs: 1000 });
  const started = performance.now();
  const silent = [await new RawClient(t, endpoint).connect("good", 1), await new RawClient(t, endpoint).connect()];
  const lively = await connectClient(t, endpoint, { keepalive: 1 });
  await Promise.all(silent.map((client) => client.closed()));
  assert.ok(performance.now() - started > 1000);
  assert.deepEqual(dropReasons(endpoint), ["too_slow", "too_slow"]);
  assert.equal(lively.connected, true);
});

test("messages sent before the connection is accepted are stored if it is, and dropped if not", async (t) => {
  const endpoint = await startEndpoint(t);
  const messages = range(100).map((id) => publish(id, reading(id)));
  const client = new RawClient(t, endpoint);
  client.send(connectPacket("good"), ...messages);
  await client.received("puback", 100);
  assert.deepEqual(endpoint.ingest.fills, range(100));
  const rejected = new RawClient(t, endpoint);
  rejected.send(connectPacket("bad"), ...messages);
  await rejected.closed();
  assert.equal(endpoint.ingest.stored.length, 100);
});

test("with TLS, clients connect with mqtts and plain ones do not", async (t) => {
  const endpoint = await startEndpoint(t, { connectMs: 500 }, TEST_CERTIFICATE);
  assert.equal(eventsOf(endpoint, "mqtt_listening")[0]?.url, `mqtts://127.0.0.1:${endpoint.port}`);
  for (const protocolVersion of [4, 5] as const) {
    const client = await connectClient(t, endpoint, { protocolVersion, protocol: "mqtts", ca: TEST_CERTIFICATE.cert });
    await client.publishAsync("tanks/d1/readings", reading(protocolVersion), { qos: 1 });
  }
  assert.deepEqual(endpoint.ingest.fills, [4, 5]);
  const plain = new RawClient(t, endpoint);
  plain.send(connectPacket("good"));
  await plain.closed();
  await new RawClient(t, endpoint).closed();
});

test("a port in use is an error of the system", async (t) => {
  const endpoint = await startEndpoint(t);
  const authenticate = async () => ({ keyId: "key_1", sender: ANYONE, takeToken: () => 0 });
  const second = new MqttEndpoint({
    ingest: endpoint.ingest.handle,
    authenticate,
    observe: () => {},
    clock: Date.now,
    admit: () => true,
  });
  await assert.rejects(second.listen({ host: "127.0.0.1", port: endpoint.port }), { code: "EADDRINUSE" });
  await second.stop();
});
