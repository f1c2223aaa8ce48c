// Clients of the endpoint broker that send too much, too slowly, or nonsense. Whatever they do, others are served.

import assert from "node:assert/strict";
import { connect as dial } from "node:net";
import test from "node:test";
import fc from "fast-check";
import { generate } from "mqtt-packet";
import { until } from "../../support/until.ts";
import {
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

const MANY = 10_000;
const CONNECT = 0x10;
const SUBSCRIBE = 0x82;

test("a message may be as large as the bound, and no larger", async (t) => {
  const endpoint = await startEndpoint(t, { publishBytes: 2000 });
  const sized = (id: number, bytes: number) => {
    const bare = generate(publish(id, "[]")).length;
    const packet = publish(id, `[${" ".repeat(bytes - bare - 1)}]`);
    return generate(packet);
  };
  const peer = await new RawClient(t, endpoint).connect();
  assert.equal(sized(1, 2000).length, 2000);
  peer.socket.write(sized(1, 2000));
  await peer.received("puback");
  peer.socket.write(sized(2, 2001));
  await peer.closed();
  assert.deepEqual(dropReasons(endpoint), ["packet_too_large"]);
});

test("a subscription to thousands of topics is too large to be read", async (t) => {
  const endpoint = await startEndpoint(t);
  const client = await new RawClient(t, endpoint).connect();
  const subscriptions = range(3200).map(() => ({ topic: "a", qos: 0 }) as const);
  client.send({ cmd: "subscribe", messageId: 1, subscriptions });
  await client.closed();
  assert.deepEqual(dropReasons(endpoint), ["packet_too_large"]);
});

test("what is too large is refused by its first bytes, before the rest has come", async (t) => {
  const endpoint = await startEndpoint(t);
  const peer = await new RawClient(t, endpoint).connect();
  peer.socket.write(fixedHeader(PUBLISH, 1_048_576));
  await peer.closed();
  const other = await new RawClient(t, endpoint).connect();
  other.socket.write(fixedHeader(SUBSCRIBE, 1024));
  await other.closed();
  const endless = await new RawClient(t, endpoint).connect();
  endless.socket.write(Buffer.from([PUBLISH, 0xff, 0xff, 0xff, 0xff]));
  await endless.closed();
  assert.deepEqual(dropReasons(endpoint), ["packet_too_large", "packet_too_large", "packet_too_large"]);
  await expectService(t, endpoint);
});

test("who has not logged in can send no more than a small packet, which says who it is", async (t) => {
  const endpoint = await startEndpoint(t);
  for (const [bytes, why] of [
    [fixedHeader(CONNECT, 16_384), "packet_too_large"],
    [fixedHeader(PUBLISH, 100), "protocol"],
    [generate(publish(1, reading(1))), "protocol"],
    [Buffer.from("GET / HTTP/1.1\r\n\r\n"), "protocol"],
  ] as const) {
    const peer = new RawClient(t, endpoint);
    peer.socket.write(bytes);
    await peer.closed();
    assert.equal(dropReasons(endpoint).at(-1), why);
  }
  assert.deepEqual(endpoint.ingest.calls, []);
  await expectService(t, endpoint);
});

test("packets may come in any pieces", async (t) => {
  const endpoint = await startEndpoint(t);
  const peer = await new RawClient(t, endpoint).connect();
  const bytes = Buffer.concat(range(200).map((id) => generate(publish(id, reading(id / 2)))));
  for (let at = 0, size = 1; at < bytes.length; at += size, size = (size * 7) % 61 || 1) {
    peer.socket.write(bytes.subarray(at, at + size));
    if (at % 3 === 0) await new Promise(setImmediate);
  }
  await peer.received("puback", 200);
  assert.deepEqual(peer.acknowledged, range(200));
  assert.deepEqual(
    endpoint.ingest.fills,
    range(200).map((id) => id / 2),
  );
});

test("a client that stalls before or within a packet is cut off", async (t) => {
  const endpoint = await startEndpoint(t, { connectMs: 800, packetMs: 800 });
  const mute = new RawClient(t, endpoint);
  const halting = new RawClient(t, endpoint);
  halting.socket.write(generate(connectPacket("good")).subarray(0, 10));
  const within = await new RawClient(t, endpoint).connect();
  within.socket.write(generate(publish(1, reading(1))).subarray(0, 20));
  const trickling = await new RawClient(t, endpoint).connect();
  trickling.socket.write(fixedHeader(PUBLISH, 10_000));
  const timer = setInterval(() => trickling.socket.write(" "), 20);
  t.after(() => clearInterval(timer));
  const patient = await new RawClient(t, endpoint).connect();
  await Promise.all([mute, halting, within, trickling].map((peer) => peer.closed()));
  assert.deepEqual(dropReasons(endpoint), ["too_slow", "too_slow", "too_slow", "too_slow"]);
  assert.equal(patient.isClosed, false);
});

test("a store that takes its time is not held against a client", async (t) => {
  const endpoint = await startEndpoint(t, { packetMs: 200, inFlight: 10 });
  const peer = await new RawClient(t, endpoint).connect();
  const release = endpoint.ingest.hold();
  peer.socket.write(Buffer.concat(range(2000).map((id) => generate(publish(id, reading(1))))));
  await sleep(1500);
  assert.equal(peer.isClosed, false);
  release();
  await peer.received("puback", 2000);
});

test("a flood is taken in as far as one client may, and the rest stays with its sender", async (t) => {
  const endpoint = await startEndpoint(t, { inFlight: 100 });
  const peer = await new RawClient(t, endpoint).connect();
  const release = endpoint.ingest.hold();
  const small = generate(publish(0, reading(1), { qos: 0 }));
  const large = generate(publish(0, `${reading(1)}${" ".repeat(2000)}`, { qos: 0 }));
  const flood = Buffer.concat([...Array(MANY).fill(small), ...Array(MANY).fill(large)]);
  peer.socket.write(flood);
  await until("the store is asked", () => endpoint.ingest.calls.length > 0);
  await sleep(300);
  assert.ok(peer.socket.writableLength > flood.length / 2, "most of it was never sent");
  release();
  await until("all of it", () => endpoint.ingest.stored.length === 2 * MANY, 60_000);
  assert.ok(endpoint.ingest.calls.every(({ readings }) => readings.length <= 100));
});

test("all clients together are bounded as well, also those that have left", async (t) => {
  const endpoint = await startEndpoint(t, { memoryBytes: 200_000 });
  const release = endpoint.ingest.hold();
  const first = await new RawClient(t, endpoint).connect();
  first.send(publish(1, reading(1)));
  await until("the store is asked", () => endpoint.ingest.calls.length > 0);
  const large = (id: number) => publish(id, `[{"fill_percentage":${id}}${" ".repeat(20_000)}]`, { qos: 0 });
  for (const _ of range(5)) {
    const peer = await new RawClient(t, endpoint).connect();
    peer.send(...range(10).map(large));
    await sleep(20);
    peer.socket.destroy();
  }
  const late = await new RawClient(t, endpoint).connect();
  late.send(publish(1, reading(77)));
  await sleep(100);
  release();
  await late.received("puback");
  await until("what had no room comes in by and by", () => endpoint.ingest.stored.length === 52);
  assert.ok(endpoint.ingest.calls.every(({ readings }) => readings.length < 200_000 / 20_000));
  await expectService(t, endpoint);
});

test("room for a message that never comes whole is given back", async (t) => {
  const endpoint = await startEndpoint(t, { memoryBytes: 100_000 });
  for (const _ of range(5)) {
    const peer = await new RawClient(t, endpoint).connect();
    peer.socket.end(Buffer.concat([fixedHeader(PUBLISH, 60_000), Buffer.alloc(1000)]));
    await peer.closed();
  }
  const peer = await new RawClient(t, endpoint).connect();
  peer.send(publish(1, `${reading(1)}${" ".repeat(60_000)}`));
  await peer.received("puback");
});

test("a message that is larger than all room there is still passes, alone", async (t) => {
  const endpoint = await startEndpoint(t, { memoryBytes: 100 });
  const peer = await new RawClient(t, endpoint).connect();
  peer.send(...range(30).map((id) => publish(id, reading(id))));
  await peer.received("puback", 30);
  assert.deepEqual(endpoint.ingest.fills, range(30));
});

test("more clients than there is room for are turned away", async (t) => {
  const endpoint = await startEndpoint(t, { connections: 3 });
  const peers = await Promise.all(range(3).map(() => new RawClient(t, endpoint).connect()));
  await new RawClient(t, endpoint).closed();
  assert.deepEqual(dropReasons(endpoint), ["too_many"]);
  peers[0]?.socket.destroy();
  await until("there is room again", async () => {
    const peer = new RawClient(t, endpoint);
    await Promise.race([peer.connect(), peer.closed()]);
    return !peer.isClosed;
  });
});

test("a client that never reads what it is told is no burden", async (t) => {
  const endpoint = await startEndpoint(t);
  const socket = dial(endpoint.port, "127.0.0.1");
  t.after(() => socket.destroy());
  socket.on("error", () => {});
  socket.pause();
  const pings = Buffer.concat(range(100_000).map(() => generate({ cmd: "pingreq" })));
  socket.write(Buffer.concat([generate(connectPacket("good")), pings]));
  await sleep(300);
  await expectService(t, endpoint);
});

test("bytes without sense, before or after logging in, end no more than their connection", async (t) => {
  const endpoint = await startEndpoint(t);
  await fc.assert(
    fc.asyncProperty(fc.uint8Array({ minLength: 1, maxLength: 200 }), fc.boolean(), async (bytes, isLoggedIn) => {
      const peer = new RawClient(t, endpoint);
      if (isLoggedIn) await peer.connect();
      peer.socket.end(bytes);
      await peer.closed();
    }),
    { numRuns: 200 },
  );
  await expectService(t, endpoint);
});

test("a second CONNECT, a topic with wildcards, and packets only a server sends close the connection", async (t) => {
  const endpoint = await startEndpoint(t);
  for (const packet of [
    connectPacket("good"),
    publish(1, reading(1), { topic: "tanks/+/readings" }),
    publish(1, reading(1), { topic: "" }),
    publish(0, reading(1)),
    { cmd: "puback", messageId: 1 } as const,
    { cmd: "pingresp" } as const,
  ]) {
    const peer = await new RawClient(t, endpoint).connect();
    peer.socket.write(generate(packet));
    await peer.closed();
    assert.equal(dropReasons(endpoint).at(-1), "protocol");
  }
  assert.deepEqual(endpoint.ingest.calls, []);
  await expectService(t, endpoint);
});
