// Clients of the embedded endpoint that send too much, too slowly, or malformed packets. Others are served all the same.

import assert from "node:assert/strict";
import { connect as openSocket } from "node:net";
import test from "node:test";
import fc from "fast-check";
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

const CONNECT = 0x10;
const SUBSCRIBE = 0x82;

/** A message of about this size. */
const large = (id: number, bytes: number) => publish(id, `[{"fill_percentage":1}${" ".repeat(bytes)}]`);

test("a message may be as large as the limit, and no larger", async (t) => {
  const endpoint = await startEndpoint(t, { publishBytes: 2000 });
  const client = await new RawClient(t, endpoint).connect();
  const overhead = generate(publish(1, "x".repeat(1000))).length - 1000;
  client.send(publish(1, `[${" ".repeat(2000 - overhead - 2)}]`));
  await client.received("puback");
  client.send(publish(2, `[${" ".repeat(2001 - overhead - 2)}]`));
  await client.closed();
  assert.deepEqual(dropReasons(endpoint), ["packet_too_large"]);
});

test("an oversized packet is rejected by its header; before a client is connected, anything but a small CONNECT", async (t) => {
  const endpoint = await startEndpoint(t);
  for (const [isConnected, bytes, reason] of [
    [true, fixedHeader(PUBLISH, 1_048_576), "packet_too_large"],
    [true, fixedHeader(SUBSCRIBE, 1024), "packet_too_large"],
    [true, Buffer.from([PUBLISH, 0xff, 0xff, 0xff, 0xff]), "packet_too_large"],
    [false, fixedHeader(CONNECT, 4096), "packet_too_large"],
    [false, fixedHeader(PUBLISH, 100), "protocol"],
    [false, generate(publish(1, reading(1))), "protocol"],
    [false, Buffer.from("GET / HTTP/1.1\r\n\r\n"), "protocol"],
  ] as const) {
    const client = new RawClient(t, endpoint);
    if (isConnected) await client.connect();
    client.socket.write(bytes);
    await client.closed();
    assert.equal(dropReasons(endpoint).at(-1), reason);
  }
  assert.deepEqual(endpoint.ingest.calls, []);
  await expectService(t, endpoint);
});

test("packets may arrive in any pieces", async (t) => {
  const endpoint = await startEndpoint(t);
  const client = await new RawClient(t, endpoint).connect();
  const bytes = Buffer.concat(range(200).map((id) => generate(publish(id, reading(id / 2)))));
  for (let at = 0, size = 1; at < bytes.length; at += size, size = (size * 7) % 61 || 1) {
    client.socket.write(bytes.subarray(at, at + size));
    if (at % 3 === 0) await new Promise(setImmediate);
  }
  await client.received("puback", 200);
  assert.deepEqual(client.acknowledged, range(200));
  const expected = range(200).map((id) => id / 2);
  assert.deepEqual(endpoint.ingest.fills, expected);
});

test("a client that stalls before or within a packet, or trickles it, is disconnected", async (t) => {
  const endpoint = await startEndpoint(t, { connectMs: 800, packetMs: 800 });
  const mute = new RawClient(t, endpoint);
  const partialConnect = new RawClient(t, endpoint);
  partialConnect.socket.write(generate(connectPacket("good")).subarray(0, 10));
  const partialPublish = await new RawClient(t, endpoint).connect();
  partialPublish.socket.write(generate(publish(1, reading(1))).subarray(0, 20));
  const trickling = await Promise.all([1, 50_000].map(() => new RawClient(t, endpoint).connect()));
  for (const client of trickling) client.socket.write(fixedHeader(PUBLISH, 1_000_000));
  const timer = setInterval(() => {
    for (const [i, client] of trickling.entries()) client.socket.write(" ".repeat(i === 0 ? 1 : 20_000));
  }, 100);
  t.after(() => clearInterval(timer));
  const idle = await new RawClient(t, endpoint).connect();
  await Promise.all([mute, partialConnect, partialPublish, ...trickling].map((client) => client.closed()));
  assert.deepEqual(dropReasons(endpoint), Array(5).fill("too_slow"));
  assert.equal(idle.isClosed, false);
});

test("a slow store is not held against a client", async (t) => {
  const endpoint = await startEndpoint(t, { packetMs: 200, inFlight: 10 });
  const client = await new RawClient(t, endpoint).connect();
  const resume = endpoint.ingest.hold();
  client.send(...range(2000).map((id) => publish(id, reading(1))));
  await sleep(1100);
  assert.equal(client.isClosed, false);
  resume();
  await client.received("puback", 2000);
});

test("of a flood only what one client may have in progress is read", async (t) => {
  const endpoint = await startEndpoint(t, { inFlight: 100 });
  const client = await new RawClient(t, endpoint).connect();
  const resume = endpoint.ingest.hold();
  const small = generate(publish(0, reading(1), { qos: 0 }));
  const medium = generate(publish(0, `${reading(1)}${" ".repeat(2000)}`, { qos: 0 }));
  const flood = Buffer.concat([...Array(5000).fill(small), ...Array(5000).fill(medium)]);
  client.socket.write(flood);
  await until("readings are ingested", () => endpoint.ingest.calls.length > 0);
  await sleep(300);
  assert.ok(client.socket.writableLength > flood.length / 4, "the rest was never sent");
  resume();
  await until("all are stored", () => endpoint.ingest.stored.length === 10_000, 60_000);
  assert.ok(endpoint.ingest.calls.every(({ readings }) => readings.length <= 100));
});

test("messages of all clients together have a memory limit, also of those that have left", async (t) => {
  const endpoint = await startEndpoint(t, { memoryBytes: 400_000 });
  const resume = endpoint.ingest.hold();
  const first = await new RawClient(t, endpoint).connect();
  first.send(publish(1, reading(1)));
  await until("readings are ingested", () => endpoint.ingest.calls.length > 0);
  for (const _ of range(20)) {
    const client = await new RawClient(t, endpoint).connect();
    client.send(publish(0, `${reading(2)}${" ".repeat(20_000)}`, { qos: 0 }), { cmd: "pingreq" });
    await client.received("pingresp");
    client.socket.destroy();
  }
  const last = await new RawClient(t, endpoint).connect();
  last.send(publish(1, reading(77)));
  resume();
  await last.received("puback");
  await until("all are stored", () => endpoint.ingest.stored.length === 22);
  assert.ok(endpoint.ingest.calls.every(({ readings }) => readings.length <= 5));
});

test("a message that is only announced, or never completed, blocks no memory", async (t) => {
  const endpoint = await startEndpoint(t, { memoryBytes: 4_000_000 });
  for (const _ of range(30)) {
    const client = await new RawClient(t, endpoint).connect();
    client.socket.write(fixedHeader(PUBLISH, 900_000));
  }
  for (const _ of range(5)) {
    const client = await new RawClient(t, endpoint).connect();
    client.socket.end(Buffer.concat([fixedHeader(PUBLISH, 900_000), Buffer.alloc(100_000)]));
    await client.closed();
  }
  const client = await new RawClient(t, endpoint).connect();
  client.send(large(1, 900_000));
  await client.received("puback");
});

test("incomplete messages of one key are completed one after the other, and leave memory for other keys", async (t) => {
  const endpoint = await startEndpoint(t, { memoryBytes: 410_000 });
  endpoint.keys.set("other", ANYONE);
  const clients = await Promise.all(range(10).map(() => new RawClient(t, endpoint).connect()));
  const bytes = generate(large(1, 100_000));
  for (const { socket } of clients) socket.write(bytes.subarray(0, 60_000));
  const other = await new RawClient(t, endpoint).connect("other");
  other.send(large(1, 50_000));
  await other.received("puback");
  for (const { socket } of clients) socket.write(bytes.subarray(60_000));
  await Promise.all(clients.map((client) => client.received("puback")));
});

test("large messages of several keys that never arrive completely leave memory for small ones", async (t) => {
  const bytes = generate(large(1, 100_000));
  const endpoint = await startEndpoint(t, { memoryBytes: 8 * (bytes.length + 512) });
  const keys = range(8).map((i) => `key ${i}`);
  for (const key of keys) endpoint.keys.set(key, ANYONE);
  const clients = await Promise.all([...keys, ...keys].map((key) => new RawClient(t, endpoint).connect(key)));
  for (const { socket } of clients) socket.write(bytes.subarray(0, 99_000));
  await sleep(200);
  await expectService(t, endpoint);
  assert.deepEqual(endpoint.ingest.fills, [50]);
  for (const { socket } of clients) socket.write(bytes.subarray(99_000));
  await Promise.all(clients.map((client) => client.received("puback")));
});

test("messages of a key are not stored behind all that another key has sent before", async (t) => {
  const endpoint = await startEndpoint(t);
  endpoint.keys.set("other", { ...ANYONE, keyId: "other" });
  const resume = endpoint.ingest.hold();
  const clients = await Promise.all(range(15).map(() => new RawClient(t, endpoint).connect()));
  for (const client of clients) client.send(large(1, 1_000_000));
  await until("readings are ingested", () => endpoint.ingest.calls.length > 0);
  const other = await new RawClient(t, endpoint).connect("other");
  other.send(publish(1, reading(1)));
  other.send({ cmd: "pingreq" });
  await other.received("pingresp");
  resume();
  await Promise.all([...clients, other].map((client) => client.received("puback")));
  const keys = endpoint.ingest.calls.map(({ sender }) => sender.keyId);
  assert.ok(keys.indexOf("other") < keys.length - 2, keys.join(" "));
});

test("large messages are stored a few at a time", async (t) => {
  const endpoint = await startEndpoint(t);
  const resume = endpoint.ingest.hold();
  const clients = await Promise.all(range(12).map(() => new RawClient(t, endpoint).connect()));
  for (const client of clients) client.send(large(1, 1_000_000));
  await until("readings are ingested", () => endpoint.ingest.calls.length > 0);
  resume();
  await Promise.all(clients.map((client) => client.received("puback")));
  assert.ok(endpoint.ingest.calls.every(({ readings }) => readings.length <= 3));
});

test("however many messages arrive at once, they are handled in short turns", async (t) => {
  const endpoint = await startEndpoint(t);
  const clients = await Promise.all(range(200).map(() => new RawClient(t, endpoint).connect()));
  const flood = Buffer.concat(Array(100).fill(generate(publish(0, "", { topic: "x", qos: 0 }))));
  for (const { socket } of clients) socket.write(flood);
  let longest = 0;
  for (let last = process.threadCpuUsage(); endpoint.events.length < 200 * 100; last = process.threadCpuUsage()) {
    await new Promise(setImmediate);
    const { user, system } = process.threadCpuUsage(last);
    longest = Math.max(longest, user + system);
  }
  assert.ok(longest < 60_000, `${longest} µs`);
});

test("control packets of one client are limited per second, and a client that never reads does not affect others", async (t) => {
  const endpoint = await startEndpoint(t, { controlPackets: 20 });
  const packets: Packet[] = [
    { cmd: "pingreq" },
    { cmd: "pubrel", messageId: 1 },
    { cmd: "subscribe", messageId: 1, subscriptions: [{ topic: "#", qos: 0 }] },
  ];
  const flood = async (packet: Packet): Promise<void> => {
    const client = await new RawClient(t, endpoint).connect();
    const started = performance.now();
    client.send(...range(1000).map(() => packet));
    await until("two limits' worth get responses", () => client.packets.length > 40);
    assert.ok(client.packets.length <= 1 + 20 * (2 + (performance.now() - started) / 500));
  };
  await Promise.all(packets.map(flood));
  const unread = openSocket(endpoint.port, "127.0.0.1");
  t.after(() => unread.destroy());
  unread.on("error", () => {});
  unread.pause();
  unread.write(Buffer.concat([connectPacket("good"), ...Array(10_000).fill({ cmd: "pingreq" })].map((one) => generate(one))));
  await expectService(t, endpoint);
});

test("a control packet with many topics or properties counts as several", async (t) => {
  const endpoint = await startEndpoint(t);
  const userProperties = Object.fromEntries(range(70).map((i) => [`name ${i}`, ""]));
  for (const packet of [
    { cmd: "subscribe", messageId: 1, subscriptions: range(200).map(() => ({ topic: "a", qos: 0 })) },
    { cmd: "unsubscribe", messageId: 1, unsubscriptions: range(250).map(() => "a") },
    { cmd: "unsubscribe", messageId: 1, unsubscriptions: ["a"], properties: { userProperties } },
  ] as const satisfies Packet[]) {
    const client = await new RawClient(t, endpoint, 5).connect();
    client.send(...range(50).map(() => packet));
    await until("the first get responses", () => client.packets.length > 3);
    await expectService(t, endpoint);
    assert.ok(client.packets.length < 15, `${client.packets.length} packets`);
  }
});

test("a message with more than a few properties is rejected before it is parsed", async (t) => {
  const endpoint = await startEndpoint(t);
  const withProperties = (count: number): Packet => {
    const userProperties = Object.fromEntries(range(count).map((i) => [`name ${i}`, ""]));
    return publish(1, reading(1), { properties: { userProperties } });
  };
  const client = await new RawClient(t, endpoint, 5).connect();
  client.send(withProperties(50));
  await client.received("puback");
  client.send(withProperties(30_000));
  assert.equal((await client.received("disconnect"))[0]?.reasonCode, 0x95);
  assert.deepEqual(dropReasons(endpoint), ["packet_too_large"]);
});

test("PUBREL does not count as a control packet; unreleased messages of QoS 2 hold back further ones", async (t) => {
  const endpoint = await startEndpoint(t, { controlPackets: 5, inFlight: 10 });
  const client = await new RawClient(t, endpoint).connect();
  client.send(...range(11).map((id) => publish(id, reading(id), { qos: 2 })), { cmd: "pingreq" });
  await client.received("pingresp");
  await client.received("pubrec", 10);
  assert.equal(endpoint.ingest.stored.length, 10);
  const started = performance.now();
  client.send(...range(10).map((messageId) => ({ cmd: "pubrel", messageId }) as const));
  await client.received("pubcomp", 10);
  assert.ok(performance.now() - started < 400);
  await client.received("pubrec", 11);
  assert.deepEqual(endpoint.ingest.fills, range(11));
});

test("messages beyond a key's rate are held, none is lost, and other keys are not affected", async (t) => {
  const endpoint = await startEndpoint(t);
  let tokens = 3;
  const results = [() => Promise.resolve(0), () => 0, () => Promise.reject(new Error("lookup failed"))];
  endpoint.keys.set("limited", ANYONE);
  endpoint.tokens.set("limited", () => (tokens > 0 ? (results[--tokens]?.() ?? 0) : 200));
  const client = await new RawClient(t, endpoint).connect("limited");
  client.send(...range(5).map((id) => publish(id, reading(id))));
  await client.received("puback", 2);
  await expectService(t, endpoint);
  assert.deepEqual(client.acknowledged, [1, 2]);
  tokens = 3;
  await client.received("puback", 4);
  tokens = 3;
  await client.received("puback", 5);
  assert.deepEqual(client.acknowledged, range(5));
});

test("clients of a key that has sent too much are not read until it is stored; those of other keys are", async (t) => {
  const endpoint = await startEndpoint(t, { bufferBytes: 100_000 });
  let isLimited = true;
  for (const key of ["limited", "other"]) endpoint.keys.set(key, ANYONE);
  endpoint.tokens.set("limited", () => (isLimited ? 200 : 0));
  const clients = await Promise.all(range(5).map(() => new RawClient(t, endpoint).connect("limited")));
  const messages = range(500).map((id) => publish(0, reading(id / 5), { qos: 0 }));
  for (const client of clients.slice(1)) client.send(...messages);
  const late = () => {
    const client = new RawClient(t, endpoint, 5);
    client.send(connectPacket("limited", { protocolVersion: 5 }), publish(1, reading(1)));
    return client.received("connack");
  };
  await until("a client with even more is refused", async () => (await late())[0]?.reasonCode === 0x97);
  clients[0]?.send({ cmd: "pingreq" });
  const other = await new RawClient(t, endpoint).connect("other");
  other.send({ cmd: "pingreq" }, publish(1, reading(1)));
  await other.received("puback");
  await other.received("pingresp");
  assert.equal(clients[0]?.packets.length, 1);
  isLimited = false;
  await clients[0]?.received("pingresp");
  await until("all are stored", () => endpoint.ingest.stored.length >= 4 * 500);
  assert.equal((await late())[0]?.reasonCode, 0);
});

test("a very low rate does not make a held message ask for a token all the time", async (t) => {
  const endpoint = await startEndpoint(t);
  let requests = 0;
  endpoint.tokens.set("good", () => {
    requests++;
    return 2 ** 31;
  });
  const client = await new RawClient(t, endpoint).connect();
  client.send(publish(1, reading(1)));
  await until("a token is requested", () => requests > 0);
  await sleep(100);
  assert.equal(requests, 1);
});

test("random bytes, before or after connecting, end no more than their connection", async (t) => {
  const endpoint = await startEndpoint(t);
  await fc.assert(
    fc.asyncProperty(fc.uint8Array({ minLength: 1, maxLength: 200 }), fc.boolean(), async (bytes, isConnected) => {
      const client = new RawClient(t, endpoint);
      if (isConnected) await client.connect();
      client.socket.end(bytes);
      await client.closed();
    }),
    { numRuns: 60 },
  );
  await expectService(t, endpoint);
});

test("invalid packets close the connection, in MQTT 5 with a reason code", async (t) => {
  const endpoint = await startEndpoint(t);
  for (const [packet, code] of [
    [connectPacket("good", { protocolVersion: 5 }), 0x82],
    [publish(1, reading(1), { topic: "tanks/+/readings" }), 0x82],
    [publish(1, reading(1), { topic: "" }), 0x82],
    [publish(0, reading(1)), 0x81],
    [publish(1, reading(1), { properties: { topicAlias: 1 } }), 0x94],
    [{ cmd: "puback", messageId: 1 }, 0x82],
    [{ cmd: "pingresp" }, 0x82],
    [Buffer.from([SUBSCRIBE, 2, 0, 1]), 0x81],
  ] as readonly [Packet | Buffer, number][]) {
    for (const version of [4, 5] as const) {
      if (version === 4 && code === 0x94) continue;
      const client = await new RawClient(t, endpoint, version).connect();
      client.socket.write("cmd" in packet ? generate(packet, { protocolVersion: version }) : packet);
      await client.closed();
      if (version === 5) assert.equal((await client.received("disconnect"))[0]?.reasonCode, code, JSON.stringify(packet));
      assert.equal(dropReasons(endpoint).at(-1), "protocol");
    }
  }
  assert.deepEqual(endpoint.ingest.calls, []);
  await expectService(t, endpoint);
});
