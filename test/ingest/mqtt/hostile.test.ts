// Clients of the embedded broker that send too much, too slowly, or nonsense. Whatever they do, others are served.

import assert from "node:assert/strict";
import { connect as dial } from "node:net";
import test from "node:test";
import fc from "fast-check";
import { generate } from "mqtt-packet";
import { until } from "../../support/until.ts";
import {
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

const MANY = 10_000;
const CONNECT = 0x10;
const SUBSCRIBE = 0x82;

test("a message may be as large as the bound, and no larger", async (t) => {
  const embedded = await startBroker(t, { publishBytes: 2000 });
  const sized = (id: number, bytes: number) => {
    const bare = generate(publish(id, "[]")).length;
    const packet = publish(id, `[${" ".repeat(bytes - bare - 1)}]`);
    return generate(packet);
  };
  const peer = await new Peer(t, embedded).enter();
  assert.equal(sized(1, 2000).length, 2000);
  peer.socket.write(sized(1, 2000));
  await peer.heard("puback");
  peer.socket.write(sized(2, 2001));
  await peer.closed();
  assert.deepEqual(whyDropped(embedded), ["packet_too_large"]);
});

test("what is too large is refused by its first bytes, before the rest has come", async (t) => {
  const embedded = await startBroker(t);
  const peer = await new Peer(t, embedded).enter();
  peer.socket.write(head(PUBLISH, 1_048_576));
  await peer.closed();
  const other = await new Peer(t, embedded).enter();
  other.socket.write(head(SUBSCRIBE, 16_384));
  await other.closed();
  const endless = await new Peer(t, embedded).enter();
  endless.socket.write(Buffer.from([PUBLISH, 0xff, 0xff, 0xff, 0xff]));
  await endless.closed();
  assert.deepEqual(whyDropped(embedded), ["packet_too_large", "packet_too_large", "packet_too_large"]);
  await expectService(t, embedded);
});

test("who has not logged in can send no more than a small packet, which says who it is", async (t) => {
  const embedded = await startBroker(t);
  for (const [bytes, why] of [
    [head(CONNECT, 16_384), "packet_too_large"],
    [head(PUBLISH, 100), "protocol"],
    [generate(publish(1, reading(1))), "protocol"],
    [Buffer.from("GET / HTTP/1.1\r\n\r\n"), "protocol"],
  ] as const) {
    const peer = new Peer(t, embedded);
    peer.socket.write(bytes);
    await peer.closed();
    assert.equal(whyDropped(embedded).at(-1), why);
  }
  assert.deepEqual(embedded.shelf.calls, []);
  await expectService(t, embedded);
});

test("packets may come in any pieces", async (t) => {
  const embedded = await startBroker(t);
  const peer = await new Peer(t, embedded).enter();
  const bytes = Buffer.concat(range(200).map((id) => generate(publish(id, reading(id / 2)))));
  for (let at = 0, size = 1; at < bytes.length; at += size, size = (size * 7) % 61 || 1) {
    peer.socket.write(bytes.subarray(at, at + size));
    if (at % 3 === 0) await new Promise(setImmediate);
  }
  await peer.heard("puback", 200);
  assert.deepEqual(peer.acknowledged, range(200));
  assert.deepEqual(
    embedded.shelf.fills,
    range(200).map((id) => id / 2),
  );
});

test("a client that stalls before or within a packet is cut off", async (t) => {
  const embedded = await startBroker(t, { connectMs: 800, packetMs: 800 });
  const mute = new Peer(t, embedded);
  const halting = new Peer(t, embedded);
  halting.socket.write(generate(connectPacket("good")).subarray(0, 10));
  const within = await new Peer(t, embedded).enter();
  within.socket.write(generate(publish(1, reading(1))).subarray(0, 20));
  const trickling = await new Peer(t, embedded).enter();
  trickling.socket.write(head(PUBLISH, 10_000));
  const timer = setInterval(() => trickling.socket.write(" "), 20);
  t.after(() => clearInterval(timer));
  const patient = await new Peer(t, embedded).enter();
  await Promise.all([mute, halting, within, trickling].map((peer) => peer.closed()));
  assert.deepEqual(whyDropped(embedded), ["too_slow", "too_slow", "too_slow", "too_slow"]);
  assert.equal(patient.isClosed, false);
});

test("a store that takes its time is not held against a client", async (t) => {
  const embedded = await startBroker(t, { packetMs: 200, underWay: 10 });
  const peer = await new Peer(t, embedded).enter();
  const release = embedded.shelf.hold();
  peer.socket.write(Buffer.concat(range(2000).map((id) => generate(publish(id, reading(1))))));
  await later(1500);
  assert.equal(peer.isClosed, false);
  release();
  await peer.heard("puback", 2000);
});

test("a flood is taken in as far as one client may, and the rest stays with its sender", async (t) => {
  const embedded = await startBroker(t, { underWay: 100 });
  const peer = await new Peer(t, embedded).enter();
  const release = embedded.shelf.hold();
  const small = generate(publish(0, reading(1), { qos: 0 }));
  const large = generate(publish(0, `${reading(1)}${" ".repeat(2000)}`, { qos: 0 }));
  const flood = Buffer.concat([...Array(MANY).fill(small), ...Array(MANY).fill(large)]);
  peer.socket.write(flood);
  await until("the store is asked", () => embedded.shelf.calls.length > 0);
  await later(300);
  assert.ok(peer.socket.writableLength > flood.length / 2, "most of it was never sent");
  release();
  await until("all of it", () => embedded.shelf.stored.length === 2 * MANY, 60_000);
  assert.ok(embedded.shelf.calls.every(({ readings }) => readings.length <= 100));
});

test("all clients together are bounded as well, also those that have left", async (t) => {
  const embedded = await startBroker(t, { bytes: 200_000 });
  const release = embedded.shelf.hold();
  const first = await new Peer(t, embedded).enter();
  first.send(publish(1, reading(1)));
  await until("the store is asked", () => embedded.shelf.calls.length > 0);
  const large = (id: number) => publish(id, `[{"fill_percentage":${id}}${" ".repeat(20_000)}]`, { qos: 0 });
  for (const _ of range(5)) {
    const peer = await new Peer(t, embedded).enter();
    peer.send(...range(10).map(large));
    await later(20);
    peer.socket.destroy();
  }
  const late = await new Peer(t, embedded).enter();
  late.send(publish(1, reading(77)));
  await later(100);
  release();
  await late.heard("puback");
  await until("what had no room comes in by and by", () => embedded.shelf.stored.length === 52);
  assert.ok(embedded.shelf.calls.every(({ readings }) => readings.length < 200_000 / 20_000));
  await expectService(t, embedded);
});

test("room for a message that never comes whole is given back", async (t) => {
  const embedded = await startBroker(t, { bytes: 100_000 });
  for (const _ of range(5)) {
    const peer = await new Peer(t, embedded).enter();
    peer.socket.end(Buffer.concat([head(PUBLISH, 60_000), Buffer.alloc(1000)]));
    await peer.closed();
  }
  const peer = await new Peer(t, embedded).enter();
  peer.send(publish(1, `${reading(1)}${" ".repeat(60_000)}`));
  await peer.heard("puback");
});

test("a message that is larger than all room there is still passes, alone", async (t) => {
  const embedded = await startBroker(t, { bytes: 100 });
  const peer = await new Peer(t, embedded).enter();
  peer.send(...range(30).map((id) => publish(id, reading(id))));
  await peer.heard("puback", 30);
  assert.deepEqual(embedded.shelf.fills, range(30));
});

test("more clients than there is room for are turned away", async (t) => {
  const embedded = await startBroker(t, { connections: 3 });
  const peers = await Promise.all(range(3).map(() => new Peer(t, embedded).enter()));
  await new Peer(t, embedded).closed();
  assert.deepEqual(whyDropped(embedded), ["too_many"]);
  peers[0]?.socket.destroy();
  await until("there is room again", async () => {
    const peer = new Peer(t, embedded);
    await Promise.race([peer.enter(), peer.closed()]);
    return !peer.isClosed;
  });
});

test("a client that never reads what it is told is no burden", async (t) => {
  const embedded = await startBroker(t);
  const socket = dial(embedded.port, "127.0.0.1");
  t.after(() => socket.destroy());
  socket.on("error", () => {});
  socket.pause();
  const pings = Buffer.concat(range(100_000).map(() => generate({ cmd: "pingreq" })));
  socket.write(Buffer.concat([generate(connectPacket("good")), pings]));
  await later(300);
  await expectService(t, embedded);
});

test("bytes without sense, before or after logging in, end no more than their connection", async (t) => {
  const embedded = await startBroker(t);
  await fc.assert(
    fc.asyncProperty(fc.uint8Array({ minLength: 1, maxLength: 200 }), fc.boolean(), async (bytes, isLoggedIn) => {
      const peer = new Peer(t, embedded);
      if (isLoggedIn) await peer.enter();
      peer.socket.end(bytes);
      await peer.closed();
    }),
    { numRuns: 200 },
  );
  await expectService(t, embedded);
});

test("a second login, a topic with wildcards and one of a thousand levels end the connection", async (t) => {
  const embedded = await startBroker(t);
  for (const packet of [
    connectPacket("good"),
    publish(1, reading(1), { topic: "tanks/+/readings" }),
    publish(1, reading(1), { topic: "a/".repeat(1000) }),
  ]) {
    const peer = await new Peer(t, embedded).enter();
    peer.socket.write(generate(packet));
    await peer.closed();
    assert.equal(whyDropped(embedded).at(-1), "protocol");
  }
  assert.deepEqual(embedded.shelf.calls, []);
  await expectService(t, embedded);
});
