// Callers who take their time, and callers who do not wait for an answer before they ask again.

import assert from "node:assert/strict";
import { once } from "node:events";
import type { Socket } from "node:net";
import { after, describe, it } from "node:test";
import { get, type Item } from "./answers.ts";
import { startFleet } from "./fleet.ts";
import { harmless } from "./hostile.ts";
import { answersIn, exchange, hear, open } from "./wire.ts";

const HEADERS_MS = 300;
const fleet = await startFleet({ after }, { timeouts: { headersMs: HEADERS_MS, requestMs: 600 } });
const head = `GET /v1/tanks HTTP/1.1\r\nHost: here\r\nX-API-Key: ${fleet.operator}\r\n`;
const form = `${head}Content-Type: application/x-www-form-urlencoded\r\n`;

/** One byte every so often, for as long as the connection lives. */
function trickle(socket: Socket, bytes: string): void {
  let sent = 0;
  const timer = setInterval(() => socket.write(bytes.charAt(sent++ % bytes.length)), 40);
  socket.on("close", () => clearInterval(timer));
}

/** Connects, lets the caller do its part, and hears what it is told before it is cut off. */
async function cutOff(send: (socket: Socket) => void): Promise<number[]> {
  const socket = open(fleet);
  const heard = hear(socket);
  await once(socket, "connect");
  send(socket);
  return (await harmless(fleet, await heard)).map(({ status }) => status);
}

describe("a slow caller is cut off", { concurrency: true }, () => {
  for (const [what, send] of [
    ["who says nothing at all", () => {}],
    ["who stops within the request line", (socket) => socket.write("GET /v1/ta")],
    ["who stops within the headers", (socket) => socket.write(head)],
    [
      "who sends headers byte by byte, without end",
      (socket) => {
        socket.write(head);
        trickle(socket, "X-A: 1\r\n");
      },
    ],
    ["who announces a body and sends none", (socket) => socket.write(`${form}Content-Length: 10\r\n\r\n`)],
    ["who sends less of a body than announced", (socket) => socket.write(`${form}Content-Length: 10\r\n\r\nsize=2`)],
    [
      "who sends a body byte by byte",
      (socket) => {
        socket.write(`${form}Content-Length: 5000\r\n\r\n`);
        trickle(socket, "&");
      },
    ],
    [
      "who never sends the last chunk",
      (socket) => {
        socket.write(`${form}Transfer-Encoding: chunked\r\n\r\n`);
        trickle(socket, "1\r\n&\r\n");
      },
    ],
  ] as readonly [string, (socket: Socket) => void][]) {
    it(what, async () => {
      assert.deepEqual(await cutOff(send), [408]);
    });
  }

  it("who was quick once", async () => {
    assert.deepEqual(await cutOff((socket) => socket.write(`${head}\r\n${head}`)), [200, 408]);
  });
});

describe("a hundred slow callers", () => {
  it("are cut off, and others are answered meanwhile", async () => {
    const sockets = Array.from({ length: 100 }, () => open(fleet));
    const heard = sockets.map((socket) => hear(socket));
    for (const socket of sockets) socket.write("GET /v1/ta");
    const started = performance.now();
    assert.equal((await get(fleet, "/v1/tanks", { key: fleet.operator })).status, 200);
    assert.ok(performance.now() - started < HEADERS_MS, "before any of them was cut off");
    for (const bytes of await Promise.all(heard))
      assert.deepEqual(
        answersIn(bytes).map(({ status }) => status),
        [408],
      );
  });
});

describe("a caller who does not wait", () => {
  const ask = (path: string, i: number, more = "") =>
    `GET ${path} HTTP/1.1\r\nHost: here\r\nX-API-Key: ${fleet.operator}\r\nX-Request-Id: n-${i}\r\n${more}`;
  const PATHS = [
    "/v1/tanks/tank_hall",
    "/v1/customers/cus_moser",
    "/v1/tanks?size=1",
    "/v1/tanks/tank_nothing",
    "/v1/tanks/tank_hall/telemetry?size=5&page=2",
    "/v1/tanks?size=0",
    "/nothing",
    "/v1/tanks/tank_scrapped",
  ];
  const path = (i: number) => PATHS[i % PATHS.length] ?? "";
  const last = (i: number, count: number) => (i === count - 1 ? "Connection: close\r\n\r\n" : "\r\n");
  const FIFTY = Array.from({ length: 50 }, (_, i) => ask(path(i), i) + last(i, 50)).join("");

  async function expectInOrder(heard: Buffer): Promise<void> {
    const answers = answersIn(heard);
    assert.equal(answers.length, 50);
    for (const [i, answer] of answers.entries()) {
      assert.equal(answer.headers["x-request-id"], `n-${i}`);
      const alone = await get(fleet, path(i), { key: fleet.operator, headers: { "x-request-id": `n-${i}` } });
      assert.deepEqual([answer.status, answer.text], [alone.status, alone.text]);
    }
  }

  it("gets fifty answers to fifty requests, in their order", async () => {
    await expectInOrder(await exchange(fleet, FIFTY));
  });

  it("gets them in whatever pieces the requests arrive", async () => {
    const socket = open(fleet);
    const heard = hear(socket);
    for (let i = 0; i < FIFTY.length; i += 37) socket.write(FIFTY.slice(i, i + 37));
    await expectInOrder(await heard);
  });

  it("may send bodies along", async () => {
    const bytes = Array.from({ length: 20 }, (_, i) => {
      const body = `size=${i + 1}`;
      const headers = `Content-Type: application/x-www-form-urlencoded\r\nContent-Length: ${body.length}\r\n`;
      return ask("/v1/tanks/tank_hall/telemetry", i, headers) + last(i, 20) + body;
    });
    const answers = answersIn(await exchange(fleet, bytes.join("")));
    const sizes = answers.map(({ text }) => (JSON.parse(text) as Item)["size"]);
    assert.deepEqual(
      sizes,
      Array.from({ length: 20 }, (_, i) => i + 1),
    );
  });

  it("cannot hide a second request in the body of the first", async () => {
    const hidden = ask("/v1/customers", 99, "\r\n");
    const headers = `Content-Type: application/x-www-form-urlencoded\r\nContent-Length: ${hidden.length}\r\nConnection: close\r\n\r\n`;
    const answers = await harmless(fleet, await exchange(fleet, ask("/v1/tanks", 0, headers) + hidden));
    assert.deepEqual(
      answers.map(({ status, headers: { "x-request-id": id } }) => [status, id]),
      [[400, "n-0"]],
    );
  });

  it("is refused for a body, and told that what follows is not read", async () => {
    const json = "Content-Type: application/json\r\nContent-Length: 2\r\n\r\n{}";
    const bytes = ask("/v1/tanks", 0, json) + ask("/v1/tanks", 1, "Connection: close\r\n\r\n");
    const [first, second] = await harmless(fleet, await exchange(fleet, bytes));
    assert.equal(first?.status, 415);
    assert.ok(first.headers.connection === "close" || second?.status === 200);
  });

  it("loses no more than its connection by sending garbage after a request", async () => {
    const heard = await exchange(fleet, `${ask("/v1/tanks", 0, "\r\n")}\0\0\0\0`);
    const statuses = (await harmless(fleet, heard)).map(({ status }) => status);
    assert.equal(statuses.at(-1), 400);
  });
});
