// Requests on the wire: slow clients, pipelining, large bodies, bodies that are rejected before they arrive, 100 Continue.

import assert from "node:assert/strict";
import { once } from "node:events";
import type { Socket } from "node:net";
import { after, describe, it } from "node:test";
import {
  exchange,
  expectError,
  expectHarmless,
  object,
  openSocket,
  parseResponses,
  type Response,
  readAll,
  request,
  send,
  statuses,
} from "./client.ts";
import { LARGE_BYTES, MAX_BYTES, startEcho, startFleet } from "./services.ts";

const HEADERS_MS = 300;
const fleet = await startFleet({ after }, { timeouts: { headersMs: HEADERS_MS, requestMs: 600 } });
const echo = await startEcho({ after }, { timeouts: { headersMs: 30_000, requestMs: 60_000 } });
/** With short timeouts. */
const shortTimeouts = await startEcho({ after }, { timeouts: { headersMs: 500, requestMs: 1000 } });
const key = await echo.key({ role: "ingest" });

const get = `GET /v1/tanks HTTP/1.1\r\nHost: here\r\nX-API-Key: ${fleet.operator}\r\n`;
const FORM = "Content-Type: application/x-www-form-urlencoded\r\n";
const form = get + FORM;
const postWith =
  (secret: string) =>
  (path: string, ...headers: string[]) =>
    `POST ${path} HTTP/1.1\r\n${["Host: here", `X-API-Key: ${secret}`, "Content-Type: application/json", ...headers].join("\r\n")}\r\n\r\n`;
const post = postWith(key);
const postWithShortTimeouts = postWith(await shortTimeouts.key({ role: "ingest" }));
const JSON_HEADERS = { "content-type": "application/json" };
const load = (characters: number) => JSON.stringify("x".repeat(characters));

async function expectStillWorking(): Promise<void> {
  const options = { method: "POST", key, headers: JSON_HEADERS, body: load(3) };
  assert.equal(object(await request(echo, "/ingest/v1/loads", options))["body"], 3);
}

/** Sends the bytes repeatedly while the connection is open. */
function trickle(socket: Socket, bytes: string): void {
  const timer = setInterval(() => socket.write(bytes), 40);
  socket.on("close", () => clearInterval(timer));
}

async function sendAndReceive(service: { url: string }, write: (socket: Socket) => void): Promise<Response[]> {
  const socket = openSocket(service);
  const received = readAll(socket);
  await once(socket, "connect");
  write(socket);
  return parseResponses(await received);
}

describe("a slow client gets 408 and is disconnected", { concurrency: true }, () => {
  const cases: Record<string, (socket: Socket) => void> = {
    "that sends nothing": () => {},
    "that stops within the request line": (socket) => socket.write("GET /v1/ta"),
    "that stops within the headers": (socket) => socket.write(get),
    "that sends headers without end": (socket) => {
      socket.write(get);
      trickle(socket, "X-A: 1\r\n");
    },
    "that announces a body and sends none": (socket) => socket.write(`${form}Content-Length: 10\r\n\r\n`),
    "that sends less of a body than announced": (socket) => socket.write(`${form}Content-Length: 10\r\n\r\nsize=2`),
    "that sends a body byte by byte": (socket) => {
      socket.write(`${form}Content-Length: 5000\r\n\r\n`);
      trickle(socket, "&");
    },
    "that never sends the last chunk": (socket) => {
      socket.write(`${form}Transfer-Encoding: chunked\r\n\r\n`);
      trickle(socket, "1\r\n&\r\n");
    },
  };
  for (const [name, write] of Object.entries(cases)) {
    it(name, async () => {
      const responses = await sendAndReceive(fleet, write);
      assert.deepEqual(statuses(responses), [408]);
      await expectHarmless(fleet, responses);
    });
  }

  it("also after a first request", async () => {
    assert.deepEqual(statuses(await sendAndReceive(fleet, (socket) => socket.write(`${get}\r\n${get}`))), [200, 408]);
  });

  it("also when it posts JSON: stopped, byte by byte, or in chunks", async () => {
    const path = "/ingest/v1/things";
    const slow: ((socket: Socket) => void)[] = [
      (socket) => socket.write(`${postWithShortTimeouts(path, "Content-Length: 10")}[1,`),
      (socket) => {
        socket.write(postWithShortTimeouts(path, "Content-Length: 5000"));
        trickle(socket, " ");
      },
      (socket) => {
        socket.write(postWithShortTimeouts(path, "Transfer-Encoding: chunked"));
        trickle(socket, "1\r\n \r\n");
      },
    ];
    const all = await Promise.all(slow.map((write) => sendAndReceive(shortTimeouts, write)));
    assert.deepEqual(all.map(statuses), [[408], [408], [408]]);
  });
});

describe("pipelined requests", () => {
  const PATHS = [
    ...["/v1/tanks/tank_hall", "/v1/customers/cus_moser", "/v1/tanks?size=1", "/v1/tanks/tank_nothing", "/nothing"],
    ...["/v1/tanks/tank_hall/telemetry?size=5&page=2", "/v1/tanks?size=0", "/v1/tanks/tank_scrapped"],
  ];
  const numbered = (path: string, i: number, more: string) =>
    `GET ${path} HTTP/1.1\r\nHost: here\r\nX-API-Key: ${fleet.operator}\r\nX-Request-Id: n-${i}\r\n${more}`;
  const end = (i: number, count: number) => (i === count - 1 ? "Connection: close\r\n\r\n" : "\r\n");
  const path = (i: number) => PATHS[i % PATHS.length] ?? "";
  const FIFTY = Array.from({ length: 50 }, (_, i) => numbered(path(i), i, end(i, 50))).join("");

  it("get responses in order, in whatever pieces they arrive", async () => {
    const pieces = await sendAndReceive(fleet, (socket) => {
      for (let i = 0; i < FIFTY.length; i += 37) socket.write(FIFTY.slice(i, i + 37));
    });
    for (const responses of [await exchange(fleet, FIFTY), pieces]) {
      assert.equal(responses.length, 50);
      for (const [i, response] of responses.entries()) {
        const headers = { "x-request-id": `n-${i}` };
        const alone = await send(fleet, path(i), { key: fleet.operator, headers });
        assert.deepEqual(
          [response.headers["x-request-id"], response.status, response.text],
          [`n-${i}`, alone.status, alone.text],
        );
      }
    }
  });

  it("cannot be hidden in the body of another", async () => {
    const hidden = numbered("/v1/customers", 99, "\r\n");
    const headers = `Content-Type: application/x-www-form-urlencoded\r\nContent-Length: ${hidden.length}\r\nConnection: close\r\n\r\n`;
    const responses = await exchange(fleet, numbered("/v1/tanks", 0, headers) + hidden);
    await expectHarmless(fleet, responses);
    assert.deepEqual(
      responses.map((response) => [response.status, response.headers["x-request-id"]]),
      [[400, "n-0"]],
    );
  });

  it("after a rejected body get responses, or the connection is closed", async () => {
    const json = "Content-Type: application/json\r\nContent-Length: 2\r\n\r\n{}";
    const bytes = numbered("/v1/tanks", 0, json) + numbered("/v1/tanks", 1, "Connection: close\r\n\r\n");
    const [first, second] = await exchange(fleet, bytes);
    assert.equal(first?.status, 415);
    assert.ok(first.headers.connection === "close" || second?.status === 200);
  });

  it("behind one that asks for another protocol get responses, or the connection is closed", async () => {
    const upgrade = numbered("/v1/tanks", 0, "Connection: Upgrade\r\nUpgrade: websocket\r\n\r\n");
    const [first, second] = await exchange(fleet, upgrade + numbered("/v1/tanks", 1, "Connection: close\r\n\r\n"));
    assert.equal(first?.status, 200);
    assert.ok(first.headers.connection === "close" || second?.status === 200);
  });

  it("followed by garbage get responses first", async () => {
    const two = numbered("/v1/tanks", 0, "\r\n") + numbered("/v1/tanks", 1, "\r\n");
    const chunked = numbered("/v1/tanks", 2, `${FORM}Transfer-Encoding: chunked\r\n\r\nx`);
    for (const garbage of ["\0\0\0\0", chunked]) {
      const responses = await exchange(fleet, two + garbage);
      await expectHarmless(fleet, responses);
      assert.deepEqual(statuses(responses), [200, 200, 400]);
    }
    const stored = await sendAndReceive(echo, (socket) => {
      socket.write(`${post("/ingest/v1/loads", `Content-Length: ${load(3).length}`)}${load(3)}stray`);
      socket.write("more");
    });
    assert.deepEqual(statuses(stored), [200, 400]);
  });
});

describe("a large body", () => {
  const postLoad = (characters: number, headers = {}) =>
    send(echo, "/ingest/v1/loads", { method: "POST", key, headers: { ...JSON_HEADERS, ...headers }, body: load(characters) });
  const size = LARGE_BYTES - 2;

  it("is accepted up to the limit, with a length or in chunks", async () => {
    for (const headers of [{}, { "transfer-encoding": "chunked" }]) {
      assert.equal(object(await postLoad(size, headers))["body"], size);
      assert.match(expectError(await postLoad(size + 1, headers), 413, "body_too_large").detail, new RegExp(String(LARGE_BYTES)));
    }
  });

  it("that announces too much gets 413 before it is sent, while it is sent, and after", async () => {
    const early = openSocket(echo);
    const received = readAll(early);
    early.write(post("/ingest/v1/loads", `Content-Length: ${LARGE_BYTES + 1}`));
    const [first] = (await once(early, "data")) as [Buffer];
    assert.match(first.toString(), /^HTTP\/1\.1 413 /);
    early.destroy();
    await received;

    const body = Buffer.alloc(LARGE_BYTES + 1, 0x20);
    const late = openSocket(echo);
    late.write(post("/ingest/v1/loads", "Connection: close", `Content-Length: ${body.length}`));
    await new Promise((sent) => late.write(body, sent));
    assert.deepEqual(statuses(parseResponses(await readAll(late))), [413]);

    const headers = { ...JSON_HEADERS, "x-api-key": key };
    const response = await fetch(`${echo.url}/ingest/v1/loads`, { method: "POST", headers, body });
    assert.equal(response.status, 413);
    assert.equal(((await response.json()) as { code: string }).code, "body_too_large");
    await expectStillWorking();
  });

  it("that is rejected leaves the connection to the next request", async () => {
    const body = " ".repeat(MAX_BYTES + 1);
    const next = `${post("/ingest/v1/things", "Content-Length: 2", "Connection: close")}{}`;
    const bytes = post("/ingest/v1/things", `Content-Length: ${body.length}`) + body + next;
    assert.deepEqual(statuses(await exchange(echo, bytes)), [413, 200]);
  });

  it("that is rejected leaves the connection to the next request, also if that is rejected, too", async () => {
    const body = " ".repeat(MAX_BYTES + 1);
    const tooLong = `GET /v1/${"x".repeat(60_000)} HTTP/1.1\r\nHost: here\r\n\r\n`;
    const bytes = post("/ingest/v1/things", `Content-Length: ${body.length}`) + body + tooLong;
    // Where the request line begins in the middle of a packet, it counts as one of the headers.
    assert.deepEqual(statuses(await exchange(echo, bytes)), [413, 431]);
  });

  it("that is rejected and not finished in time gets no second response", async () => {
    const announced = `${postWithShortTimeouts("/ingest/v1/things", `Content-Length: ${MAX_BYTES + 1}`)}[`;
    const size16 = (MAX_BYTES + 1).toString(16);
    const chunks = `${postWithShortTimeouts("/ingest/v1/things", "Transfer-Encoding: chunked")}${size16}\r\n${" ".repeat(MAX_BYTES + 1)}`;
    const all = await Promise.all([exchange(shortTimeouts, announced), exchange(shortTimeouts, chunks)]);
    assert.deepEqual(all.map(statuses), [[413], [413]]);
  });

  it("that is rejected for another reason still gets its response", async () => {
    const body = Buffer.alloc(LARGE_BYTES + 1_000_000, 0x20);
    for (const [path, headers, status] of [
      ["/ingest/v1/loads", { "x-api-key": "tm_x" }, 401],
      ["/manage/v1/things", {}, 403],
      ["/ingest/v1/loads", { "content-type": "text/plain" }, 415],
      ["/ingest/v1/loads", { "content-encoding": "br" }, 415],
      ["/ingest/v1/loads?colour=red", {}, 400],
      ["/ingest/v1/nothing", {}, 404],
    ] as const) {
      const response = await send(echo, path, { method: "POST", key, headers: { ...JSON_HEADERS, ...headers }, body });
      assert.equal(response.status, status, response.text);
    }
    await expectStillWorking();
  });
});

describe("a small body", () => {
  it("may arrive byte by byte", async () => {
    const responses = await sendAndReceive(echo, (socket) => {
      const bytes = `${post("/ingest/v1/things", "Content-Length: 10", "Connection: close")}{"a":"ü"}`;
      for (const byte of Buffer.from(bytes)) socket.write(Buffer.of(byte));
    });
    assert.deepEqual(statuses(responses), [200]);
  });

  it("that is cut off by the client is 400, and no internal error", async () => {
    const bytes = `${post("/ingest/v1/things", "Content-Length: 100")}[1,`;
    assert.deepEqual(statuses(await exchange(echo, bytes, { end: true })), [400]);
    const socket = openSocket(echo);
    await once(socket, "connect");
    socket.write(bytes, () => socket.resetAndDestroy());
    await once(socket, "close");
    await expectStillWorking();
    assert.ok(!echo.events.some(({ kind }) => kind === "request_failed"));
  });
});

describe("Expect: 100-continue", () => {
  const EXPECT = "Expect: 100-continue";

  it("gets 100 and then the response", async () => {
    const bytes = `${post("/ingest/v1/things", "Content-Length: 2", "Connection: close", EXPECT)}{}`;
    assert.deepEqual(statuses(await exchange(echo, bytes)), [100, 200]);
  });

  it("gets the error instead if there is one, and the connection is closed", async () => {
    for (const [path, more, status] of [
      ["/ingest/v1/things", `Content-Length: ${MAX_BYTES + 1}`, 413],
      ["/ingest/v1/things", "Content-Length: 2\r\nContent-Encoding: br", 415],
      ["/ingest/v1/things?colour=red", "Content-Length: 2", 400],
      ["/manage/v1/things", "Content-Length: 2", 403],
      ["/ingest/v1/nothing", "Content-Length: 2", 404],
    ] as const) {
      const [response, ...others] = await exchange(echo, post(path, more, EXPECT));
      assert.deepEqual([response?.status, response?.headers.connection, others], [status, "close", []]);
    }
  });
});
