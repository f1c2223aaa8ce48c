// Connections: how many there may be, and what happens to those that read no responses.

import assert from "node:assert/strict";
import { once } from "node:events";
import { readFileSync } from "node:fs";
import { createServer } from "node:http";
import { type AddressInfo, connect, Socket } from "node:net";
import { describe, it } from "node:test";
import { setTimeout as delay } from "node:timers/promises";
import { ConnectionLimit, isProxyAddress, networkOf } from "../../../src/http/connection-limit.ts";
import { CONNECTION_DEFAULTS, manageConnections } from "../../../src/http/connections.ts";
import { ROUTES } from "../../../src/http/routes.ts";
import type { Lifetime } from "../../support/service.ts";
import { until } from "../../support/until.ts";
import { openSocket, readAll, send } from "../client.ts";
import { type EchoService, startEcho } from "../services.ts";

const FILE = "/docs/static/swagger-ui-bundle.js";
const REQUEST = `GET ${FILE} HTTP/1.1\r\nHost: here\r\n\r\n`;

const SHORT_REQUEST = "GET / HTTP/1.1\r\nHost: here\r\n\r\n";

/** Opens a connection that the service accepts, and sends a request on it. */
async function open(life: Lifetime, { url }: EchoService, localAddress = "127.0.0.1"): Promise<Socket> {
  const { hostname, port } = new URL(url);
  const socket = connect({ host: hostname, port: Number(port), localAddress }).on("error", () => {});
  life.after(() => socket.destroy());
  socket.write(SHORT_REQUEST);
  await new Promise((resolve) => socket.once("data", resolve).once("close", resolve));
  return socket.resume();
}

const drops = ({ events }: EchoService): string[] =>
  events.flatMap((event) => (event.kind === "connection_dropped" ? [`${event.reason} ${event.address}`] : []));

describe("the number of connections is limited", () => {
  it("in all: the one that has been idle longest is dropped for a new one", async (t) => {
    const echo = await startEcho(t, { connections: { max: 2 } });
    const [first, second] = [await open(t, echo), await open(t, echo)];
    first.write(SHORT_REQUEST);
    await new Promise((resolve) => first.once("data", resolve));
    const third = await open(t, echo);
    await until("it is closed", () => second.destroyed);
    assert.deepEqual([first.destroyed, third.destroyed], [false, false]);
    assert.deepEqual(drops(echo), ["too_many 127.0.0.1"]);
    // A closed connection is not counted.
    await new Promise((resolve) => third.once("close", resolve).end());
    const fourth = await open(t, echo);
    assert.deepEqual([first.destroyed, fourth.destroyed, drops(echo).length], [false, false, 1]);
  });

  it("in all: if none is idle, the one that has been sending its request longest is dropped", async (t) => {
    for (const isRejected of [true, false]) {
      const echo = await startEcho(t, { connections: { max: 2 } });
      const key = isRejected ? "" : await echo.key();
      const headers = `Host: here\r\nX-API-Key: ${key}\r\nContent-Type: application/json\r\nContent-Length: 9`;
      const expectation = isRejected ? "" : "Expect: 100-continue\r\n";
      const slow = [await open(t, echo), await open(t, echo)];
      for (const socket of slow) {
        socket.write(`POST /manage/v1/things HTTP/1.1\r\n${headers}\r\n${expectation}\r\n`);
        const reply = await new Promise((resolve) => socket.once("data", resolve));
        assert.match(`${reply}`, isRejected ? /^HTTP\/1.1 401/ : /^HTTP\/1.1 100/);
      }
      assert.equal((await open(t, echo)).destroyed, false);
      await until("the first is closed", () => slow[0]?.destroyed === true);
      assert.equal(slow[1]?.destroyed, false);
    }
  });

  it("in all: a new one is dropped while all others have requests in progress", async (t) => {
    const echo = await startEcho(t, { connections: { max: 2 } });
    const waiting = [await open(t, echo), await open(t, echo)];
    for (const socket of waiting) socket.pause().write(REQUEST.repeat(20));
    await until("responses have begun", () => waiting.every(({ bytesRead }) => bytesRead > 65_536));
    assert.equal((await open(t, echo)).destroyed, true);
    assert.deepEqual(
      waiting.map(({ destroyed }) => destroyed),
      [false, false],
    );
  });

  it("per address, but for those that are exempt", async (t) => {
    const limit = new ConnectionLimit((address) => address === "127.0.0.9", 2);
    const echo = await startEcho(t, { connections: { limit } });
    const isOpen = async (address: string) => !(await open(t, echo, address)).destroyed;
    const first = await open(t, echo, "127.0.0.2");
    assert.deepEqual([first.destroyed, await isOpen("127.0.0.2"), await isOpen("127.0.0.2")], [false, true, false]);
    assert.deepEqual([await isOpen("127.0.0.3"), await isOpen("127.0.0.2")], [true, false]);
    assert.deepEqual([await isOpen("127.0.0.9"), await isOpen("127.0.0.9"), await isOpen("127.0.0.9")], [true, true, true]);
    first.destroy();
    await until("a closed connection is not counted", () => isOpen("127.0.0.2"));
    assert.equal(await isOpen("127.0.0.2"), false);
    assert.equal(new Set(drops(echo)).size, 1);
  });
});

it("the limits of connections are those in the documentation", () => {
  class Client extends Socket {
    override readonly remoteAddress = "192.0.2.7";
  }
  const limit = new ConnectionLimit(isProxyAddress(false));
  let perAddress = 0;
  while (perAddress < CONNECTION_DEFAULTS.max && limit.admit(new Client())) perAddress++;
  const [max, each] = [CONNECTION_DEFAULTS.max, perAddress].map((count) => count.toLocaleString("en"));
  const seconds = CONNECTION_DEFAULTS.stalledMs / 1000;
  for (const [file, ...sentences] of [
    [
      "docs/configuration.md",
      new RegExp(`^\\| HTTP connections, per process: .* \\| ${max}; ${each} \\|$`, "m"),
      new RegExp(`^\\| how long a response may make no progress, .* \\| ${seconds} s \\|$`, "m"),
    ],
    [
      "docs/security.md",
      new RegExp(
        `^\\| ${max} HTTP connections per process, ${each} per address; .* without progress for ${seconds} seconds`,
        "m",
      ),
    ],
    ["docs/mqtt.md", new RegExp(` One address may have ${each} connections`)],
    ["SECURITY.md", new RegExp(` A client address may have at most ${each} connections\\.`)],
  ] as const) {
    const page = readFileSync(new URL(`../../../${file}`, import.meta.url), "utf8");
    for (const sentence of sentences) assert.match(page, sentence, file);
  }
});

it("an IPv6 client is known by the first 64 bits of its address", () => {
  for (const [address, network] of [
    ["192.0.2.7", "192.0.2.7"],
    ["::ffff:192.0.2.7", "192.0.2.7"],
    ["2001:db8::1", "2001:db8:0:0"],
    ["2001:db8::2", "2001:db8:0:0"],
    ["2001:db8:1:2:3:4:5:6", "2001:db8:1:2"],
    ["2001:db8:1:2::", "2001:db8:1:2"],
    ["2001::1:2:3:4:5", "2001:0:0:1"],
    ["unknown", ""],
  ] as const) {
    assert.equal(networkOf(address), network);
  }
  assert.equal(networkOf("::1"), networkOf("::2"));
});

it("loopback and trusted proxies are exempt", () => {
  const exempt = (trusted: Parameters<typeof isProxyAddress>[0]) => {
    const addresses = [
      "127.0.0.5",
      "::1",
      "::ffff:127.0.0.1",
      "10.1.2.3",
      "::ffff:10.1.2.3",
      "fd00::5",
      "192.0.2.7",
      "2001:db8::1",
    ];
    return addresses.filter(isProxyAddress(trusted));
  };
  const loopback = ["127.0.0.5", "::1", "::ffff:127.0.0.1"];
  assert.deepEqual(exempt(false), loopback);
  assert.deepEqual(exempt(0), loopback);
  assert.deepEqual(exempt(["10.0.0.0/8"]), [...loopback, "10.1.2.3", "::ffff:10.1.2.3"]);
  assert.deepEqual(exempt(["uniquelocal"]), [...loopback, "10.1.2.3", "::ffff:10.1.2.3", "fd00::5"]);
  assert.deepEqual(exempt(["192.0.2.7", "2001:db8::/32"]), [...loopback, "192.0.2.7", "2001:db8::1"]);
  assert.equal(exempt(1).length, 8);
});

/** A megabyte at a time. */
function readSlowly(socket: Socket): void {
  let received = 0;
  socket.on("data", ({ length }) => {
    received += length;
    if (received < 1_000_000) return;
    received = 0;
    socket.pause();
    setTimeout(() => socket.resume(), 50);
  });
  socket.resume();
}

/** How the service ends a connection: the code of the error, or "end" without one. */
const endOf = (socket: Socket): Promise<string | undefined> =>
  new Promise((resolve) => {
    socket.on("error", ({ code }: NodeJS.ErrnoException) => resolve(code));
    socket.on("end", () => resolve("end"));
  });

describe("a client that does not read", () => {
  const STALLED_MS = 400;
  /** Far more than the system buffers. */
  const MANY = REQUEST.repeat(50);
  /** Requests themselves need 10 MB, a copy of the document for each 500 MB. */
  const MAX_GROWTH_MB = 40;

  it("is disconnected once nothing was sent for a while; one that reads slowly is not", async (t) => {
    const echo = await startEcho(t, { connections: { stalledMs: STALLED_MS } });
    const { text } = await send(echo, FILE);
    assert.ok(text.length > 1_000_000);
    const [silent, slow] = [openSocket(echo).pause(), openSocket(echo).pause()];
    t.after(() => slow.destroy());
    const silentEnd = endOf(silent);
    for (const socket of [silent, slow]) socket.on("error", () => {}).write(MANY);
    readSlowly(slow);
    await until("the silent client is disconnected", () => drops(echo).length > 0, 20 * STALLED_MS);
    await delay(2 * STALLED_MS);
    assert.deepEqual([drops(echo), slow.closed], [["too_slow 127.0.0.1"], false]);
    silent.resume();
    assert.equal(await silentEnd, "ECONNRESET");
  });

  it("does not make the service copy a document for each response; 50 of them are disconnected", async (t) => {
    const [clients, path] = [50, "/openapi.json"];
    const echo = await startEcho(t, { connections: { stalledMs: STALLED_MS }, routes: ROUTES });
    const { text } = await send(echo, path, { headers: { connection: "close" } });
    // The system buffers 4 MB of these 13 MB.
    const requests = `GET ${path} HTTP/1.1\r\nHost: here\r\n\r\n`.repeat(40);
    assert.ok(text.length > 300_000);
    /** Buffers are external, strings are in the heap. */
    const memory = (): number => {
      const { external, heapUsed } = process.memoryUsage();
      return external + heapUsed;
    };
    const before = memory();
    const sockets = Array.from({ length: clients }, () => openSocket(echo).pause());
    const ends = sockets.map(endOf);
    for (const socket of sockets) socket.write(requests);
    let largest = before;
    await until("all are disconnected", () => {
      largest = Math.max(largest, memory());
      return drops(echo).length === clients;
    });
    const grown = Math.round((largest - before) / 1e6);
    assert.ok(grown < MAX_GROWTH_MB, `memory has grown by ${grown} MB`);
    assert.deepEqual(new Set(drops(echo)), new Set(["too_slow 127.0.0.1"]));
    await until("no connection is open", async () => (await echo.connections()) === 0);
    for (const socket of sockets) socket.resume();
    assert.deepEqual(new Set(await Promise.all(ends)), new Set(["ECONNRESET"]));
  });

  it("is disconnected at once with more than 50 requests", async (t) => {
    const echo = await startEcho(t);
    const socket = openSocket(echo).pause();
    const end = endOf(socket);
    socket.write(MANY + REQUEST);
    await until("it is disconnected", () => drops(echo).length > 0);
    assert.deepEqual(drops(echo), ["too_many 127.0.0.1"]);
    socket.resume();
    assert.equal(await end, "ECONNRESET");
  });

  it("is disconnected when it sends bytes that are not HTTP", async (t) => {
    const echo = await startEcho(t);
    const socket = openSocket(echo).pause();
    socket.on("error", () => {}).write(`${MANY.slice(0, -REQUEST.length)}garbage`);
    await until("it is disconnected", async () => {
      socket.write("x");
      return socket.destroyed;
    });
  });
});

it("a request that takes longer than a response may stall is completed", async (t) => {
  const stalledMs = 200;
  const echo = await startEcho(t, { connections: { stalledMs } });
  const key = await echo.key({ role: "ingest" });
  const socket = openSocket(echo);
  const received = readAll(socket);
  const headers = `Host: here\r\nX-API-Key: ${key}\r\nContent-Type: application/json\r\nConnection: close`;
  socket.write(`POST /ingest/v1/loads HTTP/1.1\r\n${headers}\r\nContent-Length: 3\r\n\r\n"`);
  await delay(3 * stalledMs);
  socket.write('x"');
  assert.match((await received).toString(), /^HTTP\/1\.1 200 /);
  assert.deepEqual(drops(echo), []);
});

describe("of many clients that time out at once", () => {
  const COUNT = 200;
  const rejections = ({ events }: EchoService): number => events.filter(({ kind }) => kind === "connection_rejected").length;
  const TIMEOUTS = { headersMs: 500, requestMs: 1000 };

  it("a few are handled at a time", async (t) => {
    const echo = await startEcho(t, { timeouts: TIMEOUTS });
    const received = Array.from({ length: COUNT }, () => readAll(openSocket(echo)));
    let seen = 0;
    let largest = 0;
    let hasEnded = false;
    t.after(() => {
      hasEnded = true;
    });
    const watch = (): void => {
      const rejected = rejections(echo);
      largest = Math.max(largest, rejected - seen);
      seen = rejected;
      if (!hasEnded) setImmediate(watch);
    };
    watch();
    for (const bytes of await Promise.all(received)) assert.match(bytes.toString(), /^HTTP\/1\.1 408 /);
    assert.deepEqual([seen, largest <= 2], [COUNT, true], `${largest} in one turn`);
  });

  it("one whose request arrives before it is handled gets its response", async (t) => {
    const echo = await startEcho(t, { timeouts: TIMEOUTS });
    const silent = (count: number) => Array.from({ length: count }, () => readAll(openSocket(echo)));
    const before = silent(0.8 * COUNT);
    const late = openSocket(echo);
    t.after(() => late.destroy());
    const reply = async (): Promise<string> => {
      late.write(SHORT_REQUEST);
      return `${(await once(late, "data", { signal: AbortSignal.timeout(5000) }))[0]}`;
    };
    const after = silent(0.2 * COUNT);
    await until("half of them are handled", () => rejections(echo) > COUNT / 2);
    const first = await reply();
    await Promise.all([...before, ...after]);
    assert.deepEqual([first.slice(0, 12), (await reply()).slice(0, 12)], ["HTTP/1.1 200", "HTTP/1.1 200"]);
    assert.equal(rejections(echo), COUNT);
  });

  it("an idle one that sends a request before it is closed stays open", async (t) => {
    const server = createServer((_, response) => response.end("here"));
    server.keepAliveTimeout = 1;
    const limit = new ConnectionLimit(isProxyAddress(false));
    manageConnections(server, { ...CONNECTION_DEFAULTS, limit }, () => {});
    await once(server.listen(0, "127.0.0.1"), "listening");
    t.after(() => server.close());
    const sockets = Array.from({ length: COUNT + 1 }, () =>
      openSocket({ url: `http://127.0.0.1:${(server.address() as AddressInfo).port}` }),
    );
    const request = async (socket: Socket): Promise<void> => {
      socket.write(SHORT_REQUEST);
      await once(socket, "data");
    };
    await Promise.all(sockets.map(request));
    const [last, ...others] = sockets.reverse() as [Socket, ...Socket[]];
    const closed = (): number => others.filter((socket) => socket.readableEnded).length;
    await until("half of them are closed", () => closed() > COUNT / 2);
    await request(last);
    await until("the others are closed", () => closed() === COUNT);
    assert.equal(last.readableEnded, false);
    await once(last, "end");
  });
});
