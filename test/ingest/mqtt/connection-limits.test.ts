// How many connections and clients the embedded endpoint has, and whom it drops.

import assert from "node:assert/strict";
import { once } from "node:events";
import { connect, type Socket } from "node:net";
import test from "node:test";
import { generate } from "mqtt-packet";
import { TEST_CERTIFICATE } from "../../support/certificate.ts";
import { until } from "../../support/until.ts";
import {
  ANYONE,
  bufferBytes,
  connectClient,
  connectPacket,
  dropReasons,
  expectService,
  PUBLISH,
  publish,
  RawClient,
  range,
  reading,
  startEndpoint,
} from "./endpoint.ts";

test("clients are limited in total; one too many gets the reason, and may connect when another has left", async (t) => {
  const endpoint = await startEndpoint(t, { clients: 3 });
  const clients = await Promise.all(range(3).map(() => new RawClient(t, endpoint).connect()));
  for (const version of [4, 5] as const) {
    const [connack] = await (await new RawClient(t, endpoint, version).connect()).received("connack");
    assert.equal(version === 4 ? connack?.returnCode : connack?.reasonCode, version === 4 ? 3 : 0x97);
  }
  assert.deepEqual(dropReasons(endpoint), ["too_many", "too_many"]);
  const same = connectPacket("good", { clientId: "same" });
  clients[0]?.socket.destroy();
  for (const _ of range(2)) {
    await until("another may connect", async () => {
      const client = new RawClient(t, endpoint);
      client.send(same);
      return (await client.received("connack"))[0]?.returnCode === 0;
    });
  }
});

test("connections that send nothing do not block new clients, with or without TLS", async (t) => {
  for (const tls of [undefined, TEST_CERTIFICATE]) {
    const endpoint = await startEndpoint(t, { clients: 10, connecting: 5 }, tls);
    const options = tls === undefined ? {} : ({ protocol: "mqtts", ca: tls.cert } as const);
    const silent = range(50).map(() => new RawClient(t, endpoint));
    await until("the oldest are dropped", () => dropReasons(endpoint).length === 40);
    const clients = await Promise.all(range(9).map(() => connectClient(t, endpoint, options)));
    assert.deepEqual([silent[39]?.isClosed, silent[49]?.isClosed], [true, false], "the newest remain");
    assert.ok(clients.every(({ connected }) => connected));
    assert.equal(new Set(dropReasons(endpoint)).size, 1);
    await clients[0]?.publishAsync("tanks/d1/readings", reading(1), { qos: 1 });
  }
});

test("a flood of wrong keys keeps nobody from connecting, and each gets its return code", async (t) => {
  const endpoint = await startEndpoint(t, { clients: 10, connecting: 5 });
  const messages = range(2000).map((id) => publish(id, reading(1)));
  const clients = range(5).map(() => new RawClient(t, endpoint));
  for (const client of clients) client.send(connectPacket("bad"), ...messages);
  for (const client of clients) assert.equal((await client.received("connack"))[0]?.returnCode, 4);
  await expectService(t, endpoint);
  await Promise.all(clients.map((client) => client.closed()));
});

test("a client that is rejected and goes on sending is not read for long", async (t) => {
  const endpoint = await startEndpoint(t);
  const socket = connect({ port: endpoint.port, host: "127.0.0.1", allowHalfOpen: true });
  t.after(() => socket.destroy());
  socket.on("error", () => {});
  socket.resume();
  socket.write(generate(connectPacket("bad")));
  await once(socket, "end");
  const bytes = Buffer.alloc(1_000_000);
  while (!socket.destroyed) await new Promise((resolve) => socket.write(bytes, resolve));
  assert.ok(socket.bytesWritten < 20 * bytes.length, `${socket.bytesWritten} bytes`);
});

test("a connection from an address that has too many is reset; one that ends is no longer counted", async (t) => {
  for (const tls of [undefined, TEST_CERTIFICATE]) {
    const open = new Set<Socket>();
    const admit = (socket: Socket): boolean => {
      if (open.size >= 2) return false;
      open.add(socket);
      socket.once("close", () => open.delete(socket));
      return true;
    };
    const endpoint = await startEndpoint(t, {}, tls, admit);
    const first = range(2).map(() => new RawClient(t, endpoint));
    await until("both are counted", () => open.size === 2);
    await new RawClient(t, endpoint).closed();
    assert.deepEqual(dropReasons(endpoint), ["too_many"]);
    first[0]?.socket.destroy();
    first[1]?.socket.end("GET / HTTP/1.1\r\n\r\n");
    await until("neither is counted", () => open.size === 0);
    await connectClient(t, endpoint, tls === undefined ? {} : { protocol: "mqtts", ca: tls.cert });
  }
});

test("clients of one key are limited, those of a key bound to a device more so", async (t) => {
  const endpoint = await startEndpoint(t, { clientsPerDeviceKey: 3, clientsPerKey: 5 });
  endpoint.keys.set("of d1", { ...ANYONE, deviceId: "d1" });
  for (const [password, limit] of [
    ["of d1", 3],
    ["good", 5],
  ] as const) {
    const enter = async (id: number): Promise<number | undefined> => {
      const client = new RawClient(t, endpoint, 5);
      client.send(connectPacket(password, { clientId: `client ${id}`, protocolVersion: 5 }));
      return (await client.received("connack"))[0]?.reasonCode;
    };
    for (const id of range(limit)) assert.equal(await enter(id), 0);
    assert.equal(await enter(limit + 1), 0x97);
    assert.equal(dropReasons(endpoint).at(-1), "too_many");
    assert.equal(await enter(1), 0, "it replaces the other with this id");
  }
});

test("clients that are gone count while messages of theirs are held", async (t) => {
  const endpoint = await startEndpoint(t, { clientsPerDeviceKey: 3 });
  const bound = { ...ANYONE, deviceId: "d1" };
  endpoint.keys.set("of d1", bound);
  let isLimited = true;
  endpoint.tokens.set("of d1", () => (isLimited ? 100 : 0));
  const send = async (): Promise<number | undefined> => {
    const client = new RawClient(t, endpoint);
    const message = publish(0, reading(1), { qos: 0 });
    client.send(connectPacket("of d1", { clientId: "same" }), message, message, { cmd: "disconnect" });
    await client.closed();
    return (await client.received("connack"))[0]?.returnCode;
  };
  for (const _ of range(3)) assert.equal(await send(), 0);
  assert.equal(await send(), 3);
  isLimited = false;
  await until("all are stored", () => endpoint.ingest.stored.length === 6);
  assert.equal(await send(), 0);
  isLimited = true;
  const connected = await new RawClient(t, endpoint).connect("of d1");
  for (const _ of range(2)) assert.equal(await send(), 0);
  endpoint.keys.set("of d1", "key_revoked");
  await connected.closed();
  endpoint.keys.set("of d1", bound);
  for (const _ of range(3)) assert.equal(await send(), 0, "the messages of the revoked key are dropped");
});

test("messages of clients that are gone count for the memory of their key until they are stored", async (t) => {
  const endpoint = await startEndpoint(t, { memoryBytes: 400_000 });
  endpoint.keys.set("other", { ...ANYONE, keyId: "key_2" });
  const resume = endpoint.ingest.hold(({ sender }) => sender === ANYONE);
  const message = (id: number) => publish(id, `${reading(1)}${" ".repeat(60_000)}`);
  for (const id of range(8)) {
    const client = await new RawClient(t, endpoint).connect();
    client.send(message(id), { cmd: "disconnect" });
    await client.closed();
  }
  const other = await new RawClient(t, endpoint).connect("other");
  other.send(message(1));
  await other.received("puback");
  resume();
  await until("all are stored", () => endpoint.ingest.stored.length === 9);
});

test("what a client has sent before a packet that is incomplete, or has to wait, is released", async (t) => {
  const endpoint = await startEndpoint(t);
  endpoint.keys.set("limited", ANYONE);
  let requested = 0;
  // Of each client the first message is stored, the second has to wait.
  endpoint.tokens.set("limited", () => (requested++ % 2 === 0 ? 0 : 60_000));
  const large = publish(1, `${reading(1)}${" ".repeat(30_000)}`);
  const small = publish(2, reading(2));
  const [incomplete, waiting] = [
    Buffer.concat([generate(large), Buffer.of(PUBLISH)]),
    Buffer.concat([generate(large), generate(small)]),
  ];
  for (const [key, bytes] of [
    ["good", incomplete],
    ["limited", waiting],
  ] as const) {
    const clients = await Promise.all(range(100).map(() => new RawClient(t, endpoint).connect(key)));
    const before = bufferBytes();
    for (const client of clients) {
      client.socket.write(bytes);
      await client.received("puback");
    }
    await until("it is released", () => bufferBytes() - before < 1_000_000);
  }
});
