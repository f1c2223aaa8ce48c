// Clients of the endpoint broker that take more than their share: of its memory, its connections, its time. What one key may have
// leaves enough for the others.

import assert from "node:assert/strict";
import test from "node:test";
import { generate, type Packet } from "mqtt-packet";
import { until } from "../../support/until.ts";
import {
  ANYONE,
  connectPacket,
  dropReasons,
  expectService,
  fixedHeader,
  PUBLISH,
  publish,
  RawClient,
  range,
  reading,
  sleep,
  startEndpoint,
} from "./endpoint.ts";

/** A message of about so many bytes. */
const large = (id: number, bytes: number) => publish(id, `[{"fill_percentage":1}${" ".repeat(bytes)}]`);

test("a message that is only announced takes no room", async (t) => {
  const endpoint = await startEndpoint(t, { memoryBytes: 1_000_000 });
  for (const _ of range(30)) {
    const peer = await new RawClient(t, endpoint).connect();
    peer.socket.write(fixedHeader(PUBLISH, 1_000_000));
  }
  await expectService(t, endpoint);
});

test("of messages that come in part, more than there is room for, one after the other is completed", async (t) => {
  const endpoint = await startEndpoint(t, { memoryBytes: 400_000 });
  const peers = await Promise.all(range(10).map(() => new RawClient(t, endpoint).connect()));
  const bytes = generate(large(1, 50_000));
  for (const peer of peers) peer.socket.write(bytes.subarray(0, 25_000));
  await sleep(100);
  for (const peer of peers) peer.socket.write(bytes.subarray(25_000));
  await Promise.all(peers.map((peer) => peer.received("puback")));
});

test("one key cannot have all the room there is", async (t) => {
  const endpoint = await startEndpoint(t, { memoryBytes: 400_000 });
  endpoint.keys.set("other", ANYONE);
  const message = generate(large(1, 50_000));
  // Down to less room than the smallest message takes.
  for (const begun of [...Array(10).fill(40_000), ...Array(20).fill(2000), ...Array(10).fill(10)]) {
    const peer = await new RawClient(t, endpoint).connect();
    peer.socket.write(message.subarray(0, begun));
  }
  await sleep(100);
  await expectService(t, endpoint, "other");
});

test("the time for a packet is not begun anew with every piece of it", async (t) => {
  const endpoint = await startEndpoint(t, { packetMs: 1000 });
  const peer = await new RawClient(t, endpoint).connect();
  const piece = Buffer.alloc(100_000, " ");
  peer.socket.write(fixedHeader(PUBLISH, 1_000_000));
  const timer = setInterval(() => peer.socket.write(piece), 400);
  t.after(() => clearInterval(timer));
  const started = performance.now();
  await peer.closed();
  assert.ok(performance.now() - started < 2500);
  assert.deepEqual(dropReasons(endpoint), ["too_slow"]);
});

test("large messages are read and stored a few at a time", async (t) => {
  const endpoint = await startEndpoint(t);
  const release = endpoint.ingest.hold();
  const peers = await Promise.all(range(12).map(() => new RawClient(t, endpoint).connect()));
  for (const peer of peers) peer.send(large(1, 1_000_000));
  await until("the store is asked", () => endpoint.ingest.calls.length > 0);
  await sleep(500);
  release();
  await Promise.all(peers.map((peer) => peer.received("puback")));
  assert.ok(endpoint.ingest.calls.every(({ readings }) => readings.length <= 3));
});

test("a key that sends for one device may have few clients, and any other no more than a share of all", async (t) => {
  const endpoint = await startEndpoint(t, { clientsPerDeviceKey: 3, clientsPerKey: 5 });
  endpoint.keys.set("of d1", { customerId: null, deviceId: "d1" });
  for (const [password, most] of [
    ["of d1", 3],
    ["good", 5],
  ] as const) {
    const enter = (id: number) => {
      const peer = new RawClient(t, endpoint);
      peer.send(connectPacket(password, { clientId: `client ${id}` }));
      return peer;
    };
    const peers = range(most).map(enter);
    for (const peer of peers) assert.equal((await peer.received("connack"))[0]?.returnCode, 0);
    const more = enter(most + 1);
    assert.equal((await more.received("connack"))[0]?.returnCode, 3, "come again");
    await more.closed();
    assert.equal(dropReasons(endpoint).at(-1), "too_many");
    assert.ok(peers.every(({ isClosed }) => !isClosed));
    const again = enter(1);
    assert.equal((await again.received("connack"))[0]?.returnCode, 0, "one that takes another's place is no more than before");
    again.socket.destroy();
    await until("there is room", async () => {
      const next = enter(most + 1);
      return (await next.received("connack"))[0]?.returnCode === 0;
    });
  }
});

test("a client without keep-alive that says nothing for very long is cut off, one that says something is not", async (t) => {
  const endpoint = await startEndpoint(t, { silentMs: 1000 });
  const silent = await new RawClient(t, endpoint).connect();
  const lively = await new RawClient(t, endpoint).connect();
  const timer = setInterval(() => lively.send({ cmd: "pingreq" }), 100);
  t.after(() => clearInterval(timer));
  await silent.closed();
  assert.deepEqual(dropReasons(endpoint), ["too_slow"]);
  await sleep(500);
  assert.equal(lively.isClosed, false);
});

test("pings and subscriptions are answered so many a second, however many come", async (t) => {
  const endpoint = await startEndpoint(t, { controlPackets: 20 });
  const packets: Packet[] = [
    { cmd: "pingreq" },
    { cmd: "pubrel", messageId: 1 },
    { cmd: "subscribe", messageId: 1, subscriptions: [{ topic: "#", qos: 0 }] },
  ];
  for (const packet of packets) {
    const peer = await new RawClient(t, endpoint).connect();
    peer.send(...range(1000).map(() => packet));
    await sleep(500);
    assert.equal(peer.packets.length, 1 + 20);
    await until("it goes on", () => peer.packets.length > 21);
    await expectService(t, endpoint);
    peer.socket.destroy();
  }
});

test("a message of QoS 2 is released as fast as it was sent", async (t) => {
  const endpoint = await startEndpoint(t, { controlPackets: 5 });
  const peer = await new RawClient(t, endpoint).connect();
  const started = performance.now();
  peer.send(...range(80).map((id) => publish(id, reading(1), { qos: 2 })));
  await peer.received("pubrec", 80);
  peer.send(...range(80).map((messageId) => ({ cmd: "pubrel", messageId }) as const));
  await peer.received("pubcomp", 80);
  assert.ok(performance.now() - started < 1000);
});

test("a client that does not release its messages of QoS 2 is held until it does", async (t) => {
  const endpoint = await startEndpoint(t, { inFlight: 10 });
  const client = await new RawClient(t, endpoint).connect();
  client.send(...range(11).map((id) => publish(id, reading(id), { qos: 2 })), { cmd: "pingreq" });
  await client.received("pingresp");
  await client.received("pubrec", 10);
  assert.equal(endpoint.ingest.stored.length, 10);
  client.send({ cmd: "pubrel", messageId: 1 });
  await client.received("pubrec", 11);
  assert.deepEqual(endpoint.ingest.fills, range(11));
});

test("who has no turn waits for it, loses nothing, and holds up nobody", async (t) => {
  const endpoint = await startEndpoint(t);
  let turns = 3;
  const answers = [() => Promise.resolve(0), () => 0, () => Promise.reject(new Error("nobody knows"))];
  endpoint.keys.set("slow", ANYONE);
  endpoint.tokens.set("slow", () => (turns > 0 ? (answers[--turns]?.() ?? 0) : 200));
  const peer = await new RawClient(t, endpoint).connect("slow");
  peer.send(...range(5).map((id) => publish(id, reading(id))));
  await peer.received("puback", 2);
  await expectService(t, endpoint);
  await sleep(300);
  assert.deepEqual(peer.acknowledged, [1, 2]);
  assert.equal(peer.isClosed, false);
  turns = 3;
  await peer.received("puback", 4);
  turns = 3;
  await peer.received("puback", 5);
  assert.deepEqual(
    endpoint.ingest.fills.filter((fill) => fill < 50),
    range(5),
  );
});
