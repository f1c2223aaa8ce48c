import assert from "node:assert/strict";
import type { Socket } from "node:net";
import test, { type TestContext } from "node:test";
import { setTimeout as pause } from "node:timers/promises";
import { getCACertificates, setDefaultCACertificates } from "node:tls";
import { queryObjects } from "node:v8";
import { Webhook as Verifier } from "standardwebhooks";
import { Pool } from "undici";
import type { AttemptResult } from "../../src/domain/alerts/notification-queue.ts";
import { newWebhookSecret } from "../../src/domain/alerts/webhook-signature.ts";
import { TEST_CERTIFICATE } from "../support/certificate.ts";
import { freePort } from "../support/free-port.ts";
import { until } from "../support/until.ts";
import {
  httpReceiver,
  httpsReceiver,
  openSender,
  type Receiver,
  rawReceiver,
  recordingReceiver,
  SECRETS,
  webhook,
} from "./receiver.ts";

const DELIVERED: AttemptResult = { status: 200, error: null };
const failed = (error: string, status: number | null = null): AttemptResult => ({ status, error });

/** Sends one webhook with little time, and returns how long it took. */
async function timed(t: TestContext, receiver: Receiver, timeoutMs = 400): Promise<{ result: AttemptResult; ms: number }> {
  const start = performance.now();
  const result = await openSender(t, { timeoutMs }).send(webhook(receiver.url));
  return { result, ms: performance.now() - start };
}

test("a webhook arrives whole, and the reference library verifies it", async (t) => {
  const receiver = await recordingReceiver(t);
  const payload = JSON.stringify({ type: "alert.opened", data: { name: "Öltank ⛽" } });
  assert.deepEqual(await openSender(t).send(webhook(receiver.url, { id: "msg_7", payload })), DELIVERED);
  const [{ request, body } = assert.fail()] = receiver.received;
  assert.deepEqual([request.method, request.url], ["POST", "/hooks/SECRETPATH?token=SECRETQUERY"]);
  assert.equal(request.headers["content-type"], "application/json");
  assert.equal(request.headers["user-agent"], "tank-monitor/1.2.3");
  assert.equal(request.headers["webhook-id"], "msg_7");
  assert.equal(request.headers.host, `127.0.0.1:${receiver.port}`);
  const headers = request.headers as Record<string, string>;
  assert.deepEqual(new Verifier(SECRETS.secret).verify(body, headers), JSON.parse(payload));
  assert.throws(() => new Verifier(newWebhookSecret()).verify(body, headers));
});

test("during a rotation, receivers with either secret can verify", async (t) => {
  const receiver = await recordingReceiver(t);
  const previous = newWebhookSecret();
  const secrets = { ...SECRETS, previous_secret: previous, previous_until: Date.now() + 60_000 };
  await openSender(t).send(webhook(receiver.url, { secrets }));
  const [{ request, body } = assert.fail()] = receiver.received;
  for (const key of [SECRETS.secret, previous]) new Verifier(key).verify(body, request.headers as Record<string, string>);
});

test("2xx is success, everything else is an error with its status", async (t) => {
  for (const status of [200, 201, 202, 204, 299]) {
    const receiver = await recordingReceiver(t, status);
    assert.deepEqual(await openSender(t).send(webhook(receiver.url)), { ...DELIVERED, status });
  }
  for (const status of [400, 401, 404, 500, 502]) {
    const receiver = await recordingReceiver(t, status, { "retry-after": "60" });
    assert.deepEqual(await openSender(t).send(webhook(receiver.url)), failed(`the receiver responded with ${status}`, status));
  }
});

test("redirects are not followed", async (t) => {
  const target = await recordingReceiver(t);
  for (const status of [301, 302, 303, 307, 308]) {
    const receiver = await recordingReceiver(t, status, { location: target.url });
    const result = await openSender(t).send(webhook(receiver.url));
    assert.deepEqual(result, failed(`redirects are not followed (${status})`, status));
  }
  assert.deepEqual(target.received, []);
});

test("410 says that the receiver wants no more webhooks", async (t) => {
  const { url } = await recordingReceiver(t, 410);
  const result = await openSender(t).send(webhook(url));
  assert.deepEqual(result, { status: 410, error: "the receiver wants no more webhooks (410)", isGone: true });
});

test("Retry-After of 429 and 503 is reported, in seconds and as a date, at most 24 hours", async (t) => {
  const now = Date.parse("2026-11-16T10:00:00Z");
  for (const [header, ms] of [
    ["0", 0],
    ["120", 120_000],
    ["86401", 86_400_000],
    ["9".repeat(400), 86_400_000],
    ["Mon, 16 Nov 2026 10:01:30 GMT", 90_000],
    ["Monday, 16-Nov-26 10:01:30 GMT", 90_000],
    ["Mon Nov 16 10:01:30 2026", 90_000],
    ["Mon, 16 Nov 2026 09:00:00 GMT", 0],
    ["Sat, 16 Nov 2999 10:00:00 GMT", 86_400_000],
    ["soon", undefined],
    ["Mon, 16 Nov 2026 10:01:30 PST", undefined],
    ["2026-11-16T10:01:30Z", undefined],
    ["-5", undefined],
    ["1.5", undefined],
    ["", undefined],
    ["Mon, 99 Nov 2026 10:01:30 GMT", undefined],
  ] as const) {
    for (const status of [429, 503]) {
      const { url } = await recordingReceiver(t, status, { "retry-after": header });
      const { retryAfterMs, ...rest } = await openSender(t, { clock: () => now }).send(webhook(url));
      assert.equal(retryAfterMs, ms, header);
      assert.deepEqual(rest, failed(`the receiver responded with ${status}`, status));
    }
  }
});

test("a receiver that does not respond in time is an error, wherever it hangs", async (t) => {
  const hanging: ((socket: Socket) => void)[] = [
    () => undefined,
    (socket) => socket.write("HTTP/1.1 2"),
    (socket) => socket.write("HTTP/1.1 200 OK\r\ncontent-length: 5\r\nx-a: "),
    (socket) => socket.write("HTTP/1.1 103 Early Hints\r\n\r\n"),
  ];
  for (const respond of hanging) {
    const receiver = await rawReceiver(t, respond);
    const { result, ms } = await timed(t, receiver);
    assert.deepEqual(result, failed("no response within 0.4 seconds"));
    assert.ok(ms >= 390 && ms < 1400, `${ms}`);
    await until("the connection is closed", () => receiver.sockets.size === 0);
  }
});

test("a TLS handshake that hangs ends with the time", async (t) => {
  const receiver = await rawReceiver(t, () => undefined);
  const { result } = await timed(t, { ...receiver, url: receiver.url.replace("http", "https") });
  assert.deepEqual(result, failed("no response within 0.4 seconds"));
  await until("the connection is closed", () => receiver.sockets.size === 0);
});

test("a slow receiver is waited for, within the time", async (t) => {
  const receiver = await httpReceiver(t, (_, response) => void setTimeout(() => response.end(), 300));
  assert.deepEqual((await timed(t, receiver, 5000)).result, DELIVERED);
});

test("headers, or interim responses, that trickle without end do not extend the time", async (t) => {
  for (const piece of ["x-a: b\r\n", "HTTP/1.1 103 Early Hints\r\n\r\n"]) {
    const receiver = await rawReceiver(t, (socket) => {
      if (piece.startsWith("x")) socket.write("HTTP/1.1 200 OK\r\n");
      const timer = setInterval(() => socket.write(piece), 20);
      socket.on("close", () => clearInterval(timer));
    });
    const { result, ms } = await timed(t, receiver);
    assert.deepEqual(result, failed("no response within 0.4 seconds"));
    assert.ok(ms < 1400, `${ms}`);
    await until("the connection is closed", () => receiver.sockets.size === 0);
  }
});

test("the status counts even if the body never ends: it is waited for as long as the time lasts", async (t) => {
  const HEAD = "HTTP/1.1 200 OK\r\ncontent-length: 1000000000000\r\n\r\n";
  const hangs = await rawReceiver(t, (socket) => socket.write(HEAD));
  const trickles = await rawReceiver(t, (socket) => {
    socket.write(HEAD);
    const timer = setInterval(() => socket.write("x"), 10);
    socket.on("close", () => clearInterval(timer));
  });
  for (const receiver of [hangs, trickles]) {
    const { result, ms } = await timed(t, receiver);
    assert.deepEqual(result, DELIVERED);
    assert.ok(ms >= 390 && ms < 1400, `${ms}`);
    await until("the connection is closed", () => receiver.sockets.size === 0);
  }
});

/** Writes as fast as the other side reads. Returns how much that was. */
function flood(socket: Socket, first: string, piece: string): () => number {
  const chunk = piece.repeat(Math.ceil(16_384 / piece.length));
  const write = (): void => {
    while (!socket.destroyed && socket.write(chunk));
  };
  socket.on("drain", write);
  socket.write(first);
  write();
  return () => socket.bytesWritten;
}

test("a response without end is cut off early, whatever it consists of", async (t) => {
  const OK = "HTTP/1.1 200 OK\r\n";
  for (const [first, piece, status] of [
    [`${OK}content-length: 1000000000000\r\n\r\n`, "x", 200],
    [`${OK}\r\n`, "x", 200],
    [`${OK}transfer-encoding: chunked\r\n\r\n`, "1\r\nx\r\n", 200],
    [`${OK}transfer-encoding: chunked\r\n\r\n1;`, "x", 200],
    [`${OK}transfer-encoding: chunked\r\n\r\n0\r\n`, "x: y\r\n", 200],
    ["HTTP/1.1 500 Bad\r\ncontent-length: 1000000000000\r\n\r\n", "x", 500],
    ["", "\r\n", null],
    ["", "HTTP/1.1 103 Early Hints\r\n\r\n", null],
    ["HTTP/1.1 200 ", "x", null],
  ] as const) {
    let written = (): number => 0;
    const receiver = await rawReceiver(t, (socket) => {
      written = flood(socket, first, piece);
    });
    const { result, ms } = await timed(t, receiver, 10_000);
    assert.equal(result.status, status, JSON.stringify(first + piece));
    if (status === null) assert.equal(result.error, "the response is too long");
    assert.ok(ms < 2000, `${ms}`);
    await until("the connection is closed", () => receiver.sockets.size === 0);
    assert.ok(written() < 16e6, `${written()} bytes`);
  }
});

test("a long response within the limit is read, and its connection used again", async (t) => {
  const receiver = await httpReceiver(t, (_, response) => response.end(Buffer.alloc(64 * 1024)));
  const sender = openSender(t);
  for (let i = 0; i < 10; i++) {
    assert.deepEqual(await sender.send(webhook(receiver.url)), DELIVERED);
    await pause(5);
  }
  assert.equal(receiver.connections(), 1);
});

test("a receiver that lies about the length of its body, or closes within it, has responded all the same", async (t) => {
  for (const [length, body] of [
    [1000, "short"],
    [2, "much longer than two"],
    [2, "okHTTP/1.1 500 Bad\r\ncontent-length: 0\r\n\r\n"],
  ] as const) {
    const receiver = await rawReceiver(t, (socket) => socket.end(`HTTP/1.1 200 OK\r\ncontent-length: ${length}\r\n\r\n${body}`));
    const sender = openSender(t);
    assert.deepEqual(await sender.send(webhook(receiver.url)), DELIVERED);
    assert.deepEqual(await sender.send(webhook(receiver.url)), DELIVERED, "the rest is not taken for the next response");
  }
});

test("a receiver that closes before it responds, or does not speak HTTP, is a plain error", async (t) => {
  for (const [respond, error] of [
    [(socket: Socket) => socket.end(), "the connection was closed before a response"],
    [(socket: Socket) => socket.resetAndDestroy(), "the connection was closed before a response"],
    [(socket: Socket) => socket.end("HTTP/1.1 200"), "the connection was closed before a response"],
    [(socket: Socket) => socket.end("220 mail.example ESMTP\r\n"), "the response is not HTTP"],
    [(socket: Socket) => socket.end("HTTP/1.1 99999 OK\r\n\r\n"), "the response is not HTTP"],
    [
      (socket: Socket) => socket.write(`HTTP/1.1 200 OK\r\n${"x: yyyyyyyyyyyyyyyyyy\r\n".repeat(2000)}`),
      "the headers of the response are too large",
    ],
    [
      (socket: Socket) => socket.write(`HTTP/1.1 200 OK\r\nx: ${"y".repeat(40_000)}`),
      "the headers of the response are too large",
    ],
    [
      (socket: Socket) => socket.write("HTTP/1.1 101 Switching Protocols\r\nconnection: upgrade\r\nupgrade: x\r\n\r\n"),
      "the connection was closed before a response",
    ],
  ] as const) {
    const receiver = await rawReceiver(t, respond);
    assert.deepEqual((await timed(t, receiver, 3000)).result, failed(error));
  }
});

test("connection refused", async (t) => {
  const result = await openSender(t).send(webhook(`http://127.0.0.1:${await freePort()}/`));
  assert.deepEqual(result, failed("connection refused"));
});

test("certificates are verified, whatever the environment says", async (t) => {
  const receiver = await httpsReceiver(t, (_, response) => response.end());
  const warned = process.emitWarning;
  process.emitWarning = () => undefined;
  process.env["NODE_TLS_REJECT_UNAUTHORIZED"] = "0";
  t.after(() => {
    delete process.env["NODE_TLS_REJECT_UNAUTHORIZED"];
    process.emitWarning = warned;
  });
  assert.deepEqual(await openSender(t).send(webhook(receiver.url)), failed("the certificate is not trusted"));
  delete process.env["NODE_TLS_REJECT_UNAUTHORIZED"];
  assert.deepEqual(await openSender(t).send(webhook(receiver.url)), failed("the certificate is not trusted"));

  const defaults = getCACertificates("default");
  t.after(() => setDefaultCACertificates(defaults));
  setDefaultCACertificates([TEST_CERTIFICATE.cert]);
  assert.deepEqual(await openSender(t).send(webhook(receiver.url)), DELIVERED);
  const resolve = async () => [{ address: "127.0.0.1", family: 4 }];
  const named = (host: string) =>
    openSender(t, { opened: "127.0.0.1", resolve }).send(webhook(receiver.url.replace("127.0.0.1", host)));
  assert.deepEqual(await named("other.example"), failed("the certificate does not match the host name"));
});

test("http to a TLS port, and https to a plain one, are plain errors", async (t) => {
  const secure = await httpsReceiver(t, (_, response) => response.end());
  const plain = await recordingReceiver(t);
  const toSecure = await openSender(t).send(webhook(secure.url.replace("https", "http")));
  assert.deepEqual(toSecure, failed("the connection was closed before a response"));
  const toPlain = await openSender(t).send(webhook(plain.url.replace("http", "https")));
  assert.deepEqual(toPlain, failed("no TLS connection could be established"));
});

test("connections are used again, at most 16 at a time for a channel, and other channels have their own", async (t) => {
  let current = 0;
  let highest = 0;
  const all = Promise.withResolvers<void>();
  const receiver = await httpReceiver(t, async (request, response) => {
    request.resume();
    highest = Math.max(highest, ++current);
    if (highest === 16) all.resolve();
    await all.promise;
    await pause(5);
    current -= 1;
    response.end("ok");
  });
  const sender = openSender(t);
  const results = await Promise.all(
    Array.from({ length: 200 }, (_, i) => sender.send(webhook(receiver.url, { id: `msg_${i}` }))),
  );
  for (const result of results) assert.deepEqual(result, DELIVERED);
  assert.equal(highest, 16);
  assert.equal(receiver.connections(), 16);
  assert.deepEqual(await sender.send(webhook(receiver.url, { channelId: "chn_2" })), DELIVERED);
  assert.equal(receiver.connections(), 17);
});

test("a channel whose receiver hangs does not hold up another channel of the same receiver", async (t) => {
  const receiver = await httpReceiver(t, (request, response) => {
    if (request.url === "/ok") response.end();
  });
  const sender = openSender(t);
  const hanging = Array.from({ length: 20 }, () => sender.send(webhook(receiver.url)));
  await until("16 connections", () => receiver.connections() === 16);
  const url = receiver.url.replace(/\/hooks.*/, "/ok");
  assert.deepEqual(await sender.send(webhook(url, { channelId: "chn_2" })), DELIVERED);
  await sender.close();
  for (const result of await Promise.all(hanging)) assert.deepEqual(result, failed("interrupted"));
});

test("what has waited for a connection too long is not sent later", async (t) => {
  const ids: unknown[] = [];
  let isHanging = true;
  const receiver = await httpReceiver(t, (request, response) => {
    ids.push(request.headers["webhook-id"]);
    if (!isHanging) response.end();
  });
  const resolve = async () => {
    if (ids.length > 0) await pause(300);
    return [{ address: "127.0.0.1", family: 4 }];
  };
  const sender = openSender(t, { timeoutMs: 1000, opened: "slow.example", resolve });
  const url = receiver.url.replace("127.0.0.1", "slow.example");
  const sent = Array.from({ length: 16 }, () => sender.send(webhook(url)));
  const waiting = sender.send(webhook(url, { id: "msg_waits" }));
  for (const result of await Promise.all([...sent, waiting])) assert.deepEqual(result, failed("no response within 1 seconds"));
  isHanging = false;
  assert.deepEqual(await sender.send(webhook(url, { id: "msg_last" })), DELIVERED);
  assert.deepEqual(ids, [...Array(16).fill("msg_1"), "msg_last"]);
});

test("close interrupts an attempt, and nothing is sent afterwards", async (t) => {
  const receiver = await httpReceiver(t, () => undefined);
  const sender = openSender(t);
  const attempt = sender.send(webhook(receiver.url));
  await until("connected", () => receiver.sockets.size === 1);
  await sender.close();
  assert.deepEqual(await attempt, failed("interrupted"));
  assert.deepEqual(await sender.send(webhook(receiver.url)), failed("interrupted"));
  assert.equal(receiver.connections(), 1);
});

test("a channel whose connections are closed leaves nothing behind", async (t) => {
  const receiver = await httpReceiver(t, (request, response) => {
    if (request.url !== "/hang") response.setHeader("connection", "close").end();
  });
  const sender = openSender(t, { timeoutMs: 200 });
  const pools = (): number => Number(queryObjects(Pool, { format: "count" }));
  const before = pools();
  for (const url of [receiver.url, receiver.url.replace(/\/hooks.*/, "/hang"), `http://127.0.0.1:${await freePort()}/`]) {
    await Promise.all(Array.from({ length: 10 }, (_, i) => sender.send(webhook(url, { channelId: `chn_${i}` }))));
  }
  await until("they are removed", () => pools() <= before, 30_000);
});
