// Requests that are broken as HTTP.

import assert from "node:assert/strict";
import { once } from "node:events";
import { after, describe, it } from "node:test";
import { setTimeout as pause } from "node:timers/promises";
import { startFleet } from "./fleet.ts";
import { harmless, plain, survives } from "./hostile.ts";
import { hear, open } from "./wire.ts";

const fleet = await startFleet({ after });
const key = `X-API-Key: ${fleet.operator}`;
const ask = (path: string, ...headers: string[]) => plain(fleet, path, ...headers);
const line = (first: string, ...headers: string[]) =>
  `${first}\r\n${["Host: here", key, "Connection: close", ...headers].join("\r\n")}\r\n\r\n`;
const FORM = "Content-Type: application/x-www-form-urlencoded";

type Case = readonly [what: string, bytes: string | Buffer, status: number | readonly number[]];

function cases(table: readonly Case[]): void {
  for (const [what, bytes, status] of table) {
    it(what, async () => {
      await survives(fleet, bytes, [status]);
    });
  }
}

describe("a broken request line", () => {
  cases([
    ["with a raw NUL in its path", ask("/v1/tanks/\0"), 400],
    ["with a raw NUL in its query", ask("/v1/tanks?size=\0"), 400],
    ["with a raw NUL in its method", line("G\0T /v1/tanks HTTP/1.1"), 400],
    ["with raw bytes above 127", ask("/v1/tanks/\u00e9"), [400, 404]],
    ["with a raw tab", ask("/v1/tanks\t"), 400],
    ["with a blank in its path", ask("/v1/tanks /x"), 400],
    ["with a bare carriage return", line("GET /v1/tanks\r HTTP/1.1"), 400],
    ["without a path", line("GET HTTP/1.1"), 400],
    ["with two blanks", line("GET  /v1/tanks HTTP/1.1"), [200, 400]],
    ["in HTTP/0.9", "GET /v1/tanks\r\n\r\n", [400, 401]],
    ["in HTTP/1.2", line("GET /v1/tanks HTTP/1.2"), 400],
    ["in HTTP/9.9", line("GET /v1/tanks HTTP/9.9"), 400],
    ["in HTTP/1", line("GET /v1/tanks HTTP/1"), 400],
    ["in http/1.1", line("GET /v1/tanks http/1.1"), 400],
    ["in ICE/1.0", line("GET /v1/tanks ICE/1.0"), 400],
    ["that opens HTTP/2", "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", 400],
    ["that is an answer", "HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n", 400],
    ["with an asterisk for a path", line("GET * HTTP/1.1"), [400, 404]],
    ["with an authority for a path", line("GET here:80 HTTP/1.1"), [400, 404]],
    ["of 100 KB", ask(`/v1/tanks?x=${"a".repeat(100_000)}`), 414],
    ["of 100 KB in its path", ask(`/v1/tanks/${"a".repeat(100_000)}`), 414],
    ["of 17 KB, in one piece", ask(`/v1/tanks?x=${"a".repeat(17_000)}`), 414],
    ["with a fragment", ask("/v1/tanks#/../../x"), [200, 400, 404]],
  ]);

  it("that asks for a tunnel", async () => {
    await survives(fleet, line("CONNECT here:80 HTTP/1.1"), []);
  });

  it("with an absolute URL is not broken at all", async () => {
    const [answer] = await survives(fleet, line("GET http://here/v1/tanks?size=1 HTTP/1.1"), [200]);
    assert.equal(JSON.parse(answer?.text ?? "").size, 1);
  });
});

describe("broken headers", () => {
  cases([
    ["two hosts", ask("/v1/tanks", "Host: there"), 400],
    ["two equal hosts", ask("/v1/tanks", "Host: here"), 400],
    ["no host", `GET /v1/tanks HTTP/1.1\r\n${key}\r\nConnection: close\r\n\r\n`, 400],
    ["no host, and no key", "GET /v1/tanks HTTP/1.1\r\nConnection: close\r\n\r\n", 400],
    ["two keys", ask("/v1/tanks", key), 401],
    ["two keys, one of them wrong", ask("/v1/tanks", "X-Api-Key: tm_x"), 401],
    ["a NUL in a name", ask("/v1/tanks", "X-\0: 1"), 400],
    ["a NUL in a value", ask("/v1/tanks", "X-A: a\0b"), 400],
    ["control characters in a value", ask("/v1/tanks", "X-A: \x01\x7f"), 400],
    ["no colon", ask("/v1/tanks", "X-A"), 400],
    ["no name", ask("/v1/tanks", ": 1"), 400],
    ["a blank before the colon", ask("/v1/tanks", "X-A : 1"), 400],
    ["a folded line", ask("/v1/tanks", "X-A: 1\r\n 2"), 400],
    ["a bare line feed", ask("/v1/tanks", "X-A: 1\nX-B: 2"), 400],
    ["a bare carriage return", ask("/v1/tanks", "X-A: 1\rX-B: 2"), 400],
    ["3,000 of them", ask("/v1/tanks", ...Array.from({ length: 3000 }, (_, i) => `X-${i}: 1`)), 431],
    ["1,500 short ones", ask("/v1/tanks", ...Array.from({ length: 1500 }, () => "a: 1")), 431],
    ["one of 100 KB", ask("/v1/tanks", `X-A: ${"a".repeat(100_000)}`), 431],
    ["one with a name of 100 KB", ask("/v1/tanks", `${"a".repeat(100_000)}: 1`), 431],
    ["one of 17 KB", ask("/v1/tanks", `X-A: ${"a".repeat(17_000)}`), 431],
  ]);

  it("one of 100 KB that comes after the request line, in a packet of its own", async () => {
    const socket = open(fleet);
    const heard = hear(socket);
    await once(socket, "connect");
    socket.write("GET /v1/tanks HTTP/1.1\r\nHost: here\r\n");
    // Long enough for the service to read the first packet by itself.
    await pause(50);
    socket.write(`X-A: ${"a".repeat(100_000)}\r\n\r\n`);
    const [answer] = await harmless(fleet, await heard);
    assert.equal(answer?.status, 431, "it is the headers that are too large, not the URL");
  });

  it("names from every object's inheritance are not broken", async () => {
    await survives(fleet, ask("/v1/tanks", "__proto__: 1", "constructor: 1", "toString: 1", "hasOwnProperty: 1"), [200]);
  });

  it("upgrades, ranges and trailers are not taken up", async () => {
    await survives(fleet, ask("/v1/tanks", "Upgrade: websocket", "Range: bytes=0-1", "TE: trailers", "Accept: image/png"), [200]);
    await survives(fleet, ask("/v1/tanks", "Upgrade: h2c", "HTTP2-Settings: AAMAAABkAARAAAAAAAIAAAAA"), [200]);
  });

  it("of HTTP/1.0 need no host", async () => {
    await survives(fleet, `GET /v1/tanks HTTP/1.0\r\n${key}\r\n\r\n`, [200]);
  });
});

describe("a broken body", () => {
  const withBody = (headers: string[], body: string) => `${ask("/v1/tanks", FORM, ...headers)}${body}`;
  cases([
    ["with a length and chunks", withBody(["Content-Length: 6", "Transfer-Encoding: chunked"], "0\r\n\r\n"), 400],
    ["with chunks and a length", withBody(["Transfer-Encoding: chunked", "Content-Length: 6"], "size=2"), 400],
    ["with two lengths", withBody(["Content-Length: 6", "Content-Length: 7"], "size=2"), 400],
    ["with two equal lengths", withBody(["Content-Length: 6", "Content-Length: 6"], "size=2"), 400],
    ["with a length below zero", withBody(["Content-Length: -6"], "size=2"), 400],
    ["with a length in hexadecimal", withBody(["Content-Length: 0x6"], "size=2"), 400],
    ["with a length beyond all numbers", withBody(["Content-Length: 99999999999999999999"], "size=2"), 400],
    ["with a list of lengths", withBody(["Content-Length: 6, 6"], "size=2"), 400],
    ["with a length of blanks", withBody(["Content-Length: 6 6"], "size=2"), 400],
    ["with an encoding we do not know", withBody(["Transfer-Encoding: gzip"], "size=2"), 400],
    ["with chunks that are no last encoding", withBody(["Transfer-Encoding: chunked, gzip"], "0\r\n\r\n"), 400],
    ["with an encoding of blanks and tabs", withBody(["Transfer-Encoding: \tchunked\t, x"], "0\r\n\r\n"), 400],
    ["with a chunk of size zz", withBody(["Transfer-Encoding: chunked"], "zz\r\nsize=2\r\n0\r\n\r\n"), 400],
    ["with a chunk of size -1", withBody(["Transfer-Encoding: chunked"], "-1\r\nsize=2\r\n0\r\n\r\n"), 400],
    ["with a chunk beyond all numbers", withBody(["Transfer-Encoding: chunked"], `${"F".repeat(17)}\r\nsize=2`), 400],
    ["with a chunk longer than it says", withBody(["Transfer-Encoding: chunked"], "2\r\nsize=2\r\n0\r\n\r\n"), 400],
    ["with a NUL in a chunk's size", withBody(["Transfer-Encoding: chunked"], "6\0\r\nsize=2\r\n0\r\n\r\n"), 400],
    [
      "with a chunk's extension of 100 KB",
      withBody(["Transfer-Encoding: chunked"], `6;${"a".repeat(100_000)}\r\nsize=2\r\n0\r\n\r\n`),
      [400, 413, 431],
    ],
  ]);

  it("that is cut short by hanging up", async () => {
    const bytes = `${ask("/v1/tanks", FORM, "Content-Length: 100")}size=2`;
    await survives(fleet, bytes, [400], { hangUp: true });
    const chunked = `${ask("/v1/tanks", FORM, "Transfer-Encoding: chunked")}6\r\nsi`;
    await survives(fleet, chunked, [400], { hangUp: true });
  });

  it("that never comes, from a caller who vanishes", async () => {
    const socket = open(fleet);
    const heard = hear(socket);
    await once(socket, "connect");
    socket.write(ask("/v1/tanks", FORM, "Content-Length: 100"), () => socket.resetAndDestroy());
    await harmless(fleet, await heard);
  });

  it("that is announced with Expect is asked for, and any other expectation is overlooked", async () => {
    const bytes = `${ask("/v1/tanks", FORM, "Content-Length: 6", "Expect: 100-continue")}size=2`;
    const [, answer] = await survives(fleet, bytes, [100, 200]);
    assert.equal(JSON.parse(answer?.text ?? "").size, 2);
    await survives(fleet, ask("/v1/tanks", "Expect: miracles"), [[200, 417]]);
  });
});

describe("garbage", () => {
  cases([
    ["of TLS", Buffer.from("16030100a5010000a10303", "hex"), 400],
    ["of SSH", "SSH-2.0-OpenSSH_9.6\r\n", 400],
    ["of all bytes", Buffer.from(Array.from({ length: 256 }, (_, i) => i)), 400],
    ["of XML", "<?xml version='1.0'?>\r\n\r\n", 400],
    ["of braces", "{".repeat(20_000), 400],
  ]);

  it("of nothing but line ends is waited out, then hung up on", async () => {
    await survives(fleet, "\r\n".repeat(50), [], { hangUp: true });
  });

  it("of half a request is hung up on", async () => {
    for (const half of ["G", "GET ", "GET /v1/tanks HTTP/1.1\r\n", "GET /v1/tanks HTTP/1.1\r\nHost: here\r\nX"]) {
      await survives(fleet, half, [400], { hangUp: true });
    }
  });
});
