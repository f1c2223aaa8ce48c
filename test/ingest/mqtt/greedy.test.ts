// Clients of the embedded broker that take more than their share: of its memory, its connections, its time. What one key may have
// leaves enough for the others.

import assert from "node:assert/strict";
import test from "node:test";
import { generate, type Packet } from "mqtt-packet";
import { until } from "../../support/until.ts";
import {
  ANYONE,
  connectPacket,
  expectService,
  head,
  later,
  Peer,
  PUBLISH,
  publish,
  range,
  reading,
  startBroker,
  whyDropped,
} from "./embedded.ts";

/** A message of about so many bytes. */
const large = (id: number, bytes: number) => publish(id, `[{"fill_percentage":1}${" ".repeat(bytes)}]`);

test("a message that is only announced takes no room", async (t) => {
  const embedded = await startBroker(t, { bytes: 1_000_000 });
  for (const _ of range(30)) {
    const peer = await new Peer(t, embedded).enter();
    peer.socket.write(head(PUBLISH, 1_000_000));
  }
  await expectService(t, embedded);
});

test("of messages that come in part, more than there is room for, one after the other is completed", async (t) => {
  const embedded = await startBroker(t, { bytes: 400_000 });
  const peers = await Promise.all(range(10).map(() => new Peer(t, embedded).enter()));
  const bytes = generate(large(1, 50_000));
  for (const peer of peers) peer.socket.write(bytes.subarray(0, 25_000));
  await later(100);
  for (const peer of peers) peer.socket.write(bytes.subarray(25_000));
  await Promise.all(peers.map((peer) => peer.heard("puback")));
});

test("one key cannot have all the room there is", async (t) => {
  const embedded = await startBroker(t, { bytes: 400_000 });
  embedded.keys.set("other", ANYONE);
  const message = generate(large(1, 50_000));
  // Down to less room than the smallest message takes.
  for (const begun of [...Array(10).fill(40_000), ...Array(20).fill(2000), ...Array(10).fill(10)]) {
    const peer = await new Peer(t, embedded).enter();
    peer.socket.write(message.subarray(0, begun));
  }
  await later(100);
  await expectService(t, embedded, "other");
});

test("the time for a packet is not begun anew with every piece of it", async (t) => {
  const embedded = await startBroker(t, { packetMs: 1000 });
  const peer = await new Peer(t, embedded).enter();
  const piece = Buffer.alloc(100_000, " ");
  peer.socket.write(head(PUBLISH, 1_000_000));
  const timer = setInterval(() => peer.socket.write(piece), 400);
  t.after(() => clearInterval(timer));
  const started = performance.now();
  await peer.closed();
  assert.ok(performance.now() - started < 2500);
  assert.deepEqual(whyDropped(embedded), ["too_slow"]);
});

test("large messages are read and stored a few at a time", async (t) => {
  const embedded = await startBroker(t);
  const release = embedded.shelf.hold();
  const peers = await Promise.all(range(12).map(() => new Peer(t, embedded).enter()));
  for (const peer of peers) peer.send(large(1, 1_000_000));
  await until("the store is asked", () => embedded.shelf.calls.length > 0);
  await later(500);
  release();
  await Promise.all(peers.map((peer) => peer.heard("puback")));
  assert.ok(embedded.shelf.calls.every(({ readings }) => readings.length <= 3));
});

test("a key that sends for one device may have few clients, and any other no more than a share of all", async (t) => {
  const embedded = await startBroker(t, { clientsOfDevice: 3, clientsOfKey: 5 });
  embedded.keys.set("of d1", { customerId: null, deviceId: "d1" });
  for (const [password, most] of [
    ["of d1", 3],
    ["good", 5],
  ] as const) {
    const enter = (id: number) => {
      const peer = new Peer(t, embedded);
      peer.send(connectPacket(password, 0, `client ${id}`));
      return peer;
    };
    const peers = range(most).map(enter);
    for (const peer of peers) assert.equal((await peer.heard("connack"))[0]?.returnCode, 0);
    const more = enter(most + 1);
    assert.equal((await more.heard("connack"))[0]?.returnCode, 3, "come again");
    await more.closed();
    assert.equal(whyDropped(embedded).at(-1), "too_many");
    assert.ok(peers.every(({ isClosed }) => !isClosed));
    const again = enter(1);
    assert.equal((await again.heard("connack"))[0]?.returnCode, 0, "one that takes another's place is no more than before");
    again.socket.destroy();
    await until("there is room", async () => {
      const next = enter(most + 1);
      return (await next.heard("connack"))[0]?.returnCode === 0;
    });
  }
});

test("a client without keep-alive that says nothing for very long is cut off, one that says something is not", async (t) => {
  const embedded = await startBroker(t, { silentMs: 1000 });
  const silent = await new Peer(t, embedded).enter();
  const lively = await new Peer(t, embedded).enter();
  const timer = setInterval(() => lively.send({ cmd: "pingreq" }), 100);
  t.after(() => clearInterval(timer));
  await silent.closed();
  assert.deepEqual(whyDropped(embedded), ["too_slow"]);
  await later(500);
  assert.equal(lively.isClosed, false);
});

test("pings and subscriptions are answered so many a second, however many come", async (t) => {
  const embedded = await startBroker(t, { chatter: 20 });
  const packets: Packet[] = [
    { cmd: "pingreq" },
    { cmd: "pubrel", messageId: 1 },
    { cmd: "subscribe", messageId: 1, subscriptions: [{ topic: "#", qos: 0 }] },
  ];
  for (const packet of packets) {
    const peer = await new Peer(t, embedded).enter();
    peer.send(...range(1000).map(() => packet));
    await later(500);
    assert.equal(peer.packets.length, 1 + 20);
    await until("it goes on", () => peer.packets.length > 21);
    await expectService(t, embedded);
    peer.socket.destroy();
  }
});

test("a message of QoS 2 is released as fast as it was sent", async (t) => {
  const embedded = await startBroker(t, { chatter: 5 });
  const peer = await new Peer(t, embedded).enter();
  const started = performance.now();
  peer.send(...range(80).map((id) => publish(id, reading(1), { qos: 2 })));
  await peer.heard("pubrec", 80);
  peer.send(...range(80).map((messageId) => ({ cmd: "pubrel", messageId }) as const));
  await peer.heard("pubcomp", 80);
  assert.ok(performance.now() - started < 1000);
});

test("a client that releases none of its messages of QoS 2 is cut off when it has as many as may be under way", async (t) => {
  const embedded = await startBroker(t, { underWay: 10 });
  const peer = await new Peer(t, embedded).enter();
  peer.send(...range(10).map((id) => publish(id, reading(1), { qos: 2 })));
  await peer.heard("pubrec", 10);
  assert.equal(peer.isClosed, false);
  peer.send(publish(11, reading(1), { qos: 2 }));
  await peer.closed();
  assert.deepEqual(whyDropped(embedded), ["protocol"]);
});

test("who has no turn waits for it, loses nothing, and holds up nobody", async (t) => {
  const embedded = await startBroker(t);
  let turns = 3;
  const answers = [() => Promise.resolve(0), () => 0, () => Promise.reject(new Error("nobody knows"))];
  embedded.keys.set("slow", ANYONE);
  embedded.turns.set("slow", () => (turns > 0 ? (answers[--turns]?.() ?? 0) : 200));
  const peer = await new Peer(t, embedded).enter("slow");
  peer.send(...range(5).map((id) => publish(id, reading(id))));
  await peer.heard("puback", 2);
  await expectService(t, embedded);
  await later(300);
  assert.deepEqual(peer.acknowledged, [1, 2]);
  assert.equal(peer.isClosed, false);
  turns = 3;
  await peer.heard("puback", 4);
  turns = 3;
  await peer.heard("puback", 5);
  assert.deepEqual(
    embedded.shelf.fills.filter((fill) => fill < 50),
    range(5),
  );
});
