// The endpoint broker, as its clients see it: logging in, being refused, and what it does not do.

import assert from "node:assert/strict";
import test from "node:test";
import type { ErrorCode } from "../../../src/domain/errors.ts";
import { MqttEndpoint } from "../../../src/ingest/mqtt/endpoint.ts";
import { heldClock } from "../../support/clock.ts";
import {
  ANYONE,
  connectClient,
  connectPacket,
  eventsOf,
  publish,
  RawClient,
  range,
  reading,
  sleep,
  startEndpoint,
} from "./endpoint.ts";

test("a key is the password; the user name is free", async (t) => {
  const endpoint = await startEndpoint(t);
  for (const username of ["", "sensor 7", "tm_whatever"]) await connectClient(t, endpoint, { username });
  assert.deepEqual(eventsOf(endpoint, "mqtt_client_rejected"), []);
});

for (const [code, returned] of [
  ["key_invalid", 4],
  ["key_expired", 5],
  ["key_revoked", 5],
  ["role_insufficient", 5],
  ["store_unavailable", 3],
  ["rate_limited", 3],
  ["keys_throttled", 3],
] as readonly [ErrorCode, number][]) {
  test(`a client whose key is refused with ${code} is told ${returned}`, async (t) => {
    const endpoint = await startEndpoint(t);
    endpoint.keys.set("bad", code);
    const peer = await new RawClient(t, endpoint).connect("bad");
    assert.equal((await peer.received("connack"))[0]?.returnCode, returned);
    await peer.closed();
    assert.deepEqual(endpoint.events.slice(1), [{ kind: "mqtt_client_rejected", code, address: "127.0.0.1" }]);
  });
}

test("a client without a password is refused", async (t) => {
  const endpoint = await startEndpoint(t);
  await assert.rejects(connectClient(t, endpoint, { password: "", username: "x" }), /Bad username or password/i);
  const { password: _none, username: _nobody, ...anonymous } = connectPacket("") as { password?: Buffer; username?: string };
  const peer = new RawClient(t, endpoint);
  peer.send(anonymous as ReturnType<typeof connectPacket>);
  assert.equal((await peer.received("connack"))[0]?.returnCode, 4);
  assert.deepEqual(
    eventsOf(endpoint, "mqtt_client_rejected").map(({ code }) => code),
    ["key_missing", "key_missing"],
  );
});

test("a client whose key cannot be looked up for a fault of ours is told to come again", async (t) => {
  const endpoint = await startEndpoint(t);
  endpoint.keys.get = () => {
    throw new Error("a fault of ours");
  };
  const peer = await new RawClient(t, endpoint).connect();
  assert.equal((await peer.received("connack"))[0]?.returnCode, 3);
  assert.equal(eventsOf(endpoint, "mqtt_failed").length, 1);
});

test("a key that is revoked ends its clients within a second or so, also those that say nothing", async (t) => {
  const endpoint = await startEndpoint(t);
  endpoint.keys.set("other", ANYONE);
  const peers = await Promise.all(range(3).map(() => new RawClient(t, endpoint).connect()));
  const other = await new RawClient(t, endpoint).connect("other");
  endpoint.keys.set("good", "key_revoked");
  const started = performance.now();
  await Promise.all(peers.map((peer) => peer.closed()));
  assert.ok(performance.now() - started < 2500);
  assert.equal(other.isClosed, false);
  assert.deepEqual(
    eventsOf(endpoint, "mqtt_client_dropped").map(({ reason }) => reason),
    ["key", "key", "key"],
  );
});

test("so do hundreds of keys at once whose clients say nothing", async (t) => {
  const endpoint = await startEndpoint(t);
  const names = range(400).map((i) => `key ${i}`);
  for (const name of names) endpoint.keys.set(name, ANYONE);
  const peers = await Promise.all(names.map((name) => new RawClient(t, endpoint).connect(name)));
  for (const name of names) endpoint.keys.set(name, "key_revoked");
  const started = performance.now();
  await Promise.all(peers.map((peer) => peer.closed()));
  assert.ok(performance.now() - started < 1700, `${performance.now() - started} ms`);
});

test("what is sent with a revoked key is neither stored nor acknowledged", async (t) => {
  const { clock, forward } = heldClock();
  const endpoint = await startEndpoint(t, {}, { clock });
  const peer = await new RawClient(t, endpoint).connect();
  endpoint.keys.set("good", "key_revoked");
  forward(500);
  peer.send(publish(1, reading(1)));
  await peer.closed();
  assert.deepEqual([peer.acknowledged, endpoint.ingest.stored], [[], []]);
});

test("a key that cannot be looked at for a moment, or too often, stays logged in", async (t) => {
  const endpoint = await startEndpoint(t);
  const peer = await new RawClient(t, endpoint).connect();
  for (const code of ["store_unavailable", "rate_limited"] as const) {
    endpoint.keys.set("good", code);
    await sleep(1200);
    assert.equal(peer.isClosed, false);
  }
  peer.send(publish(1, reading(1)));
  await peer.received("puback");
});

test("what a key may do is that of now, not of the time it logged in", async (t) => {
  const { clock, forward } = heldClock();
  const endpoint = await startEndpoint(t, {}, { clock });
  const peer = await new RawClient(t, endpoint).connect();
  endpoint.keys.set("good", { customerId: "cus_1", deviceId: null });
  forward(500);
  peer.send(publish(1, reading(1)));
  await peer.received("puback");
  assert.deepEqual(endpoint.ingest.calls[0]?.sender, { customerId: "cus_1", deviceId: null });
});

test("a client of the same id takes over the connection, if it has the same key", async (t) => {
  const endpoint = await startEndpoint(t);
  endpoint.keys.set("other", ANYONE);
  const first = new RawClient(t, endpoint);
  first.send(connectPacket("good", { clientId: "same" }));
  await first.received("connack");
  const stranger = new RawClient(t, endpoint);
  stranger.send(connectPacket("other", { clientId: "same" }));
  await stranger.received("connack");
  await sleep(50);
  assert.equal(first.isClosed, false);
  const again = new RawClient(t, endpoint);
  again.send(connectPacket("good", { clientId: "same" }));
  await again.received("connack");
  await first.closed();
  again.send(publish(1, reading(1)));
  await again.received("puback");
  assert.equal(stranger.isClosed, false);
});

test("nobody can subscribe, and nothing that is published reaches anybody", async (t) => {
  const endpoint = await startEndpoint(t);
  const [listener, sender] = await Promise.all([new RawClient(t, endpoint).connect(), new RawClient(t, endpoint).connect()]);
  const topics = ["#", "$SYS/#", "tanks/+/readings", "$share/g/tanks/+/readings"];
  listener.send({ cmd: "subscribe", messageId: 1, subscriptions: topics.map((topic) => ({ topic, qos: 1 })) });
  const [suback] = await listener.received("suback");
  assert.deepEqual(suback?.granted, [128, 128, 128, 128]);
  sender.send(publish(1, reading(1)));
  await sender.received("puback");
  listener.send({ cmd: "pingreq" });
  await listener.received("pingresp");
  assert.deepEqual(
    listener.packets.map(({ cmd }) => cmd),
    ["connack", "suback", "pingresp"],
  );
});

test("a retained message is a reading like any other, and a will is none", async (t) => {
  const endpoint = await startEndpoint(t);
  const will = { topic: "tanks/d1/readings", payload: Buffer.from(reading(99)), qos: 1, retain: true } as const;
  const client = await connectClient(t, endpoint, { will });
  await client.publishAsync("tanks/d1/readings", reading(1), { qos: 1, retain: true });
  client.stream.destroy();
  await sleep(100);
  assert.deepEqual(endpoint.ingest.fills, [1]);
});

test("no session is kept: a client that comes back is new", async (t) => {
  const endpoint = await startEndpoint(t);
  for (const _ of range(2)) {
    const client = await connectClient(t, endpoint, { clean: false, clientId: "keeper" });
    await client.endAsync();
  }
  const peer = new RawClient(t, endpoint);
  peer.send({ ...connectPacket("good", { clientId: "keeper" }), clean: false } as ReturnType<typeof connectPacket>);
  assert.equal((await peer.received("connack"))[0]?.sessionPresent, false);
});

test("a client that falls silent is dropped after one and a half times its keep-alive, one that pings is not", async (t) => {
  const endpoint = await startEndpoint(t);
  const silent = await new RawClient(t, endpoint).connect("good", 1);
  const lively = await connectClient(t, endpoint, { keepalive: 1 });
  const started = performance.now();
  await silent.closed();
  assert.ok(performance.now() - started > 1000);
  await sleep(500);
  assert.equal(lively.connected, true);
});

test("what a client sends before it is let in waits until it is", async (t) => {
  const endpoint = await startEndpoint(t);
  const peer = new RawClient(t, endpoint);
  peer.send(connectPacket("good"), ...range(100).map((id) => publish(id, reading(id))));
  await peer.received("puback", 100);
  assert.deepEqual(endpoint.ingest.fills, range(100));
  const refused = new RawClient(t, endpoint);
  refused.send(connectPacket("bad"), ...range(100).map((id) => publish(id, reading(id))));
  await refused.closed();
  assert.equal(endpoint.ingest.stored.length, 100);
});

test("a port that is taken is an error of the system", async (t) => {
  const endpoint = await startEndpoint(t);
  const authenticate = async () => ({ keyId: "key_1", sender: ANYONE, takeToken: () => 0 });
  const second = new MqttEndpoint({ ingest: endpoint.ingest.handle, authenticate, observe: () => {}, clock: Date.now });
  await assert.rejects(second.listen({ host: "127.0.0.1", port: endpoint.port }), { code: "EADDRINUSE" });
  await second.stop();
});

test("where it listens is told", async (t) => {
  const endpoint = await startEndpoint(t);
  assert.deepEqual(endpoint.events, [{ kind: "mqtt_listening", url: `mqtt://127.0.0.1:${endpoint.port}` }]);
});
