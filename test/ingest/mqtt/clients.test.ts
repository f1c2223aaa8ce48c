// The embedded broker, as its clients see it: logging in, being refused, and what it does not do.

import assert from "node:assert/strict";
import test from "node:test";
import type { ErrorCode } from "../../../src/domain/errors.ts";
import { Broker } from "../../../src/ingest/mqtt/broker.ts";
import { heldClock } from "../../support/clock.ts";
import { until } from "../../support/until.ts";
import { ANYONE, connectPacket, join, later, Peer, publish, range, reading, startBroker, told } from "./embedded.ts";

test("a key is the password; the user name is free", async (t) => {
  const embedded = await startBroker(t);
  for (const username of ["", "sensor 7", "tm_whatever"]) await join(t, embedded, { username });
  assert.deepEqual(told(embedded, "mqtt_client_rejected"), []);
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
    const embedded = await startBroker(t);
    embedded.keys.set("bad", code);
    const peer = await new Peer(t, embedded).enter("bad");
    assert.equal((await peer.heard("connack"))[0]?.returnCode, returned);
    await peer.closed();
    assert.deepEqual(embedded.events.slice(1), [{ kind: "mqtt_client_rejected", code, address: "127.0.0.1" }]);
  });
}

test("a client without a password is refused", async (t) => {
  const embedded = await startBroker(t);
  await assert.rejects(join(t, embedded, { password: "", username: "x" }), /Bad username or password/i);
  const { password: _none, username: _nobody, ...anonymous } = connectPacket("") as { password?: Buffer; username?: string };
  const peer = new Peer(t, embedded);
  peer.send(anonymous as ReturnType<typeof connectPacket>);
  assert.equal((await peer.heard("connack"))[0]?.returnCode, 4);
  assert.deepEqual(
    told(embedded, "mqtt_client_rejected").map(({ code }) => code),
    ["key_missing", "key_missing"],
  );
});

test("a client whose key cannot be looked up for a fault of ours is told to come again", async (t) => {
  const embedded = await startBroker(t);
  embedded.keys.get = () => {
    throw new Error("a fault of ours");
  };
  const peer = await new Peer(t, embedded).enter();
  assert.equal((await peer.heard("connack"))[0]?.returnCode, 3);
  assert.equal(told(embedded, "mqtt_failed").length, 1);
});

test("a key that is revoked ends its clients within a second or so, also those that say nothing", async (t) => {
  const embedded = await startBroker(t);
  embedded.keys.set("other", ANYONE);
  const peers = await Promise.all(range(3).map(() => new Peer(t, embedded).enter()));
  const other = await new Peer(t, embedded).enter("other");
  embedded.keys.set("good", "key_revoked");
  const started = performance.now();
  await Promise.all(peers.map((peer) => peer.closed()));
  assert.ok(performance.now() - started < 2500);
  assert.equal(other.isClosed, false);
  assert.deepEqual(
    told(embedded, "mqtt_client_dropped").map(({ reason }) => reason),
    ["key", "key", "key"],
  );
});

test("so do hundreds of keys at once whose clients say nothing", async (t) => {
  const embedded = await startBroker(t);
  const names = range(400).map((i) => `key ${i}`);
  for (const name of names) embedded.keys.set(name, ANYONE);
  const peers = await Promise.all(names.map((name) => new Peer(t, embedded).enter(name)));
  for (const name of names) embedded.keys.set(name, "key_revoked");
  const started = performance.now();
  await Promise.all(peers.map((peer) => peer.closed()));
  assert.ok(performance.now() - started < 1700, `${performance.now() - started} ms`);
});

test("what is sent with a revoked key is neither stored nor acknowledged", async (t) => {
  const { clock, forward } = heldClock();
  const embedded = await startBroker(t, {}, clock);
  const peer = await new Peer(t, embedded).enter();
  embedded.keys.set("good", "key_revoked");
  forward(500);
  peer.send(publish(1, reading(1)));
  await peer.closed();
  assert.deepEqual([peer.acknowledged, embedded.shelf.stored], [[], []]);
});

test("a key that cannot be looked at for a moment, or too often, stays logged in", async (t) => {
  const embedded = await startBroker(t);
  const peer = await new Peer(t, embedded).enter();
  for (const code of ["store_unavailable", "rate_limited"] as const) {
    embedded.keys.set("good", code);
    await later(1200);
    assert.equal(peer.isClosed, false);
  }
  peer.send(publish(1, reading(1)));
  await peer.heard("puback");
});

test("what a key may do is that of now, not of the time it logged in", async (t) => {
  const { clock, forward } = heldClock();
  const embedded = await startBroker(t, {}, clock);
  const peer = await new Peer(t, embedded).enter();
  embedded.keys.set("good", { customerId: "cus_1", deviceId: null });
  forward(500);
  peer.send(publish(1, reading(1)));
  await peer.heard("puback");
  assert.deepEqual(embedded.shelf.calls[0]?.sender, { customerId: "cus_1", deviceId: null });
});

test("a client of the same id takes over the connection, if it has the same key", async (t) => {
  const embedded = await startBroker(t);
  embedded.keys.set("other", ANYONE);
  const first = new Peer(t, embedded);
  first.send(connectPacket("good", 0, "same"));
  await first.heard("connack");
  const stranger = new Peer(t, embedded);
  stranger.send(connectPacket("other", 0, "same"));
  await stranger.heard("connack");
  await later(50);
  assert.equal(first.isClosed, false);
  const again = new Peer(t, embedded);
  again.send(connectPacket("good", 0, "same"));
  await again.heard("connack");
  await first.closed();
  again.send(publish(1, reading(1)));
  await again.heard("puback");
  assert.equal(stranger.isClosed, false);
});

test("a client that speaks MQTT 5 is told that its version is not spoken here", async (t) => {
  const embedded = await startBroker(t);
  await assert.rejects(join(t, embedded, { protocolVersion: 5 }), /Connection refused: Unacceptable protocol version/);
  const [dropped] = await until(
    "it is told",
    () => told(embedded, "mqtt_client_dropped").length > 0 && told(embedded, "mqtt_client_dropped"),
  );
  assert.equal(dropped?.reason, "protocol_version");
});

test("nobody can subscribe, and nothing that is published reaches anybody", async (t) => {
  const embedded = await startBroker(t);
  const [listener, sender] = await Promise.all([new Peer(t, embedded).enter(), new Peer(t, embedded).enter()]);
  const topics = ["#", "$SYS/#", "tanks/+/readings", "$share/g/tanks/+/readings"];
  listener.send({ cmd: "subscribe", messageId: 1, subscriptions: topics.map((topic) => ({ topic, qos: 1 })) });
  const [suback] = await listener.heard("suback");
  assert.deepEqual(suback?.granted, [128, 128, 128, 128]);
  sender.send(publish(1, reading(1)));
  await sender.heard("puback");
  listener.send({ cmd: "pingreq" });
  await listener.heard("pingresp");
  assert.deepEqual(
    listener.packets.map(({ cmd }) => cmd),
    ["connack", "suback", "pingresp"],
  );
});

test("a retained message is a reading like any other, and a will is none", async (t) => {
  const embedded = await startBroker(t);
  const will = { topic: "tanks/d1/readings", payload: Buffer.from(reading(99)), qos: 1, retain: true } as const;
  const client = await join(t, embedded, { will });
  await client.publishAsync("tanks/d1/readings", reading(1), { qos: 1, retain: true });
  client.stream.destroy();
  await later(100);
  assert.deepEqual(embedded.shelf.fills, [1]);
});

test("no session is kept: a client that comes back is new", async (t) => {
  const embedded = await startBroker(t);
  for (const _ of range(2)) {
    const client = await join(t, embedded, { clean: false, clientId: "keeper" });
    await client.endAsync();
  }
  const peer = new Peer(t, embedded);
  peer.send({ ...connectPacket("good", 0, "keeper"), clean: false } as ReturnType<typeof connectPacket>);
  assert.equal((await peer.heard("connack"))[0]?.sessionPresent, false);
});

test("a client that falls silent is dropped after one and a half times its keep-alive, one that pings is not", async (t) => {
  const embedded = await startBroker(t);
  const silent = await new Peer(t, embedded).enter("good", 1);
  const lively = await join(t, embedded, { keepalive: 1 });
  const started = performance.now();
  await silent.closed();
  assert.ok(performance.now() - started > 1000);
  await later(500);
  assert.equal(lively.connected, true);
});

test("what a client sends before it is let in waits until it is", async (t) => {
  const embedded = await startBroker(t);
  const peer = new Peer(t, embedded);
  peer.send(connectPacket("good"), ...range(100).map((id) => publish(id, reading(id))));
  await peer.heard("puback", 100);
  assert.deepEqual(embedded.shelf.fills, range(100));
  const refused = new Peer(t, embedded);
  refused.send(connectPacket("bad"), ...range(100).map((id) => publish(id, reading(id))));
  await refused.closed();
  assert.equal(embedded.shelf.stored.length, 100);
});

const SOMEONE = { keyId: "key_1", sender: ANYONE, turn: () => 0 };

test("a port that is taken is an error of the system", async (t) => {
  const embedded = await startBroker(t);
  const second = new Broker({ accept: embedded.shelf.accept, admit: async () => SOMEONE, observe: () => {}, clock: Date.now });
  await assert.rejects(second.start({ host: "127.0.0.1", port: embedded.port }), { code: "EADDRINUSE" });
  await second.stop();
});

test("where it listens is told", async (t) => {
  const embedded = await startBroker(t);
  assert.deepEqual(embedded.events, [{ kind: "mqtt_listening", url: `mqtt://127.0.0.1:${embedded.port}` }]);
});
