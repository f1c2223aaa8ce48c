// Malformed HTTP, and well-formed requests with SQL, prototypes, paths and scripts wherever a client may write something.

import assert from "node:assert/strict";
import { once } from "node:events";
import { after, describe, it } from "node:test";
import { setTimeout as delay } from "node:timers/promises";
import {
  exchange,
  expectError,
  expectHarmless,
  list,
  openSocket,
  parseResponses,
  type RequestOptions,
  type Response,
  readAll,
  request,
  send,
} from "../client.ts";
import { HALL_READINGS, startFleet } from "../services.ts";

const fleet = await startFleet({ after });
const key = fleet.operator;
const KEY = `X-API-Key: ${key}`;
const FORM = "Content-Type: application/x-www-form-urlencoded";

/** A request that closes its connection. */
const lines = (first: string, ...headers: string[]) =>
  `${first}\r\n${["Host: here", KEY, "Connection: close", ...headers].join("\r\n")}\r\n\r\n`;
const get = (path: string, ...headers: string[]) => lines(`GET ${path} HTTP/1.1`, ...headers);

type Expected = number | readonly number[];

/** Sends the bytes, expects these statuses and then a closed connection. */
async function expectStatuses(bytes: string | Buffer, expected: readonly Expected[], options = {}): Promise<Response[]> {
  const responses = await exchange(fleet, bytes, options);
  await expectHarmless(fleet, responses);
  const matches =
    responses.length === expected.length && responses.every(({ status }, i) => [expected[i]].flat().includes(status));
  assert.ok(matches, `expected ${JSON.stringify(expected)}, received ${JSON.stringify(responses)}`);
  return responses;
}

function cases(name: string, table: readonly (readonly [what: string, bytes: string | Buffer, status: Expected])[]): void {
  describe(name, () => {
    for (const [what, bytes, status] of table) it(what, () => expectStatuses(bytes, [status]).then(() => {}));
  });
}

cases("a malformed request line", [
  ["NUL in the path", get("/v1/tanks/\0"), 400],
  ["NUL in the method", lines("G\0T /v1/tanks HTTP/1.1"), 400],
  ["bytes above 127", get("/v1/tanks/\u00e9"), [400, 404]],
  ["a blank in the path", get("/v1/tanks /x"), 400],
  ["a bare carriage return", lines("GET /v1/tanks\r HTTP/1.1"), 400],
  ["no path", lines("GET HTTP/1.1"), 400],
  ["HTTP/0.9", "GET /v1/tanks\r\n\r\n", [400, 401]],
  ["HTTP/1.2", lines("GET /v1/tanks HTTP/1.2"), 400],
  ["http/1.1", lines("GET /v1/tanks http/1.1"), 400],
  ["the preface of HTTP/2", "PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", 400],
  ["an asterisk as the path", lines("GET * HTTP/1.1"), [400, 404]],
  ["an authority as the path", lines("GET here:80 HTTP/1.1"), [400, 404]],
  ["a query of 100 KB", get(`/v1/tanks?x=${"a".repeat(100_000)}`), 414],
  ["a query of 17 KB, in one piece", get(`/v1/tanks?x=${"a".repeat(17_000)}`), 414],
  ["a fragment", get("/v1/tanks#/../../x"), 400],
  ["an absolute URL, which is allowed", lines("GET http://here/v1/tanks?size=1 HTTP/1.1"), 200],
]);

it("CONNECT closes the connection", async () => {
  await expectStatuses(lines("CONNECT here:80 HTTP/1.1"), []);
});

const numbered = (count: number, header: (i: number) => string) => Array.from({ length: count }, (_, i) => header(i));

cases("malformed headers", [
  ["two hosts", get("/v1/tanks", "Host: there"), 400],
  ["no host", `GET /v1/tanks HTTP/1.1\r\n${KEY}\r\nConnection: close\r\n\r\n`, 400],
  ["no host in HTTP/1.0, which is allowed", `GET /v1/tanks HTTP/1.0\r\n${KEY}\r\n\r\n`, 200],
  ["two keys", get("/v1/tanks", KEY), 401],
  ["two keys, one of them wrong", get("/v1/tanks", "X-Api-Key: tm_x"), 401],
  ["NUL in a name", get("/v1/tanks", "X-\0: 1"), 400],
  ["NUL in a value", get("/v1/tanks", "X-A: a\0b"), 400],
  ["no colon", get("/v1/tanks", "X-A"), 400],
  ["no name", get("/v1/tanks", ": 1"), 400],
  ["a blank before the colon", get("/v1/tanks", "X-A : 1"), 400],
  ["a folded line", get("/v1/tanks", "X-A: 1\r\n 2"), 400],
  ["a bare line feed", get("/v1/tanks", "X-A: 1\nX-B: 2"), 400],
  ["3,000 headers", get("/v1/tanks", ...numbered(3000, (i) => `X-${i}: 1`)), 431],
  ["a value of 100 KB", get("/v1/tanks", `X-A: ${"a".repeat(100_000)}`), 431],
  ["a value of 17 KB", get("/v1/tanks", `X-A: ${"a".repeat(17_000)}`), 431],
  ["names of object properties, which are ignored", get("/v1/tanks", "__proto__: 1", "constructor: 1", "toString: 1"), 200],
  ["upgrade, range and trailers, which are ignored", get("/v1/tanks", "Upgrade: websocket", "Range: bytes=0-1", "TE: x"), 200],
  ["an upgrade to HTTP/2, which is ignored", get("/v1/tanks", "Upgrade: h2c", "HTTP2-Settings: AAMAAABkAARAAAAAAAIAAAAA"), 200],
  ["an unknown expectation", get("/v1/tanks", "Expect: miracles"), [200, 417]],
]);

it("a header of 100 KB in a packet after the request line is 431, not 414", async () => {
  const socket = openSocket(fleet);
  const received = readAll(socket);
  await once(socket, "connect");
  socket.write("GET /v1/tanks HTTP/1.1\r\nHost: here\r\n");
  // So that the service reads the first packet by itself.
  await delay(50);
  socket.write(`X-A: ${"a".repeat(100_000)}\r\n\r\n`);
  const responses = parseResponses(await received);
  await expectHarmless(fleet, responses);
  assert.equal(responses[0]?.status, 431);
});

it("a HEAD that is not accepted gets no body", async () => {
  for (const [path, header, status] of [
    [`/v1/tanks?x=${"a".repeat(17_000)}`, "X-A: 1", 414],
    ["/v1/tanks", `X-A: ${"a".repeat(17_000)}`, 431],
    ["/v1/tanks", "X-A : 1", 400],
  ] as const) {
    const socket = openSocket(fleet);
    socket.write(lines(`HEAD ${path} HTTP/1.1`, header));
    const responses = parseResponses(await readAll(socket), true);
    assert.deepEqual(
      responses.map((response) => response.status),
      [status],
    );
  }
});

const withBody = (header: string, body: string) => get("/v1/tanks", FORM, header) + body;
const chunked = (body: string) => withBody("Transfer-Encoding: chunked", body);

cases("a malformed body", [
  ["a length and chunks", withBody("Content-Length: 6\r\nTransfer-Encoding: chunked", "0\r\n\r\n"), 400],
  ["chunks and a length", withBody("Transfer-Encoding: chunked\r\nContent-Length: 6", "size=2"), 400],
  ["two lengths", withBody("Content-Length: 6\r\nContent-Length: 7", "size=2"), 400],
  ["a negative length", withBody("Content-Length: -6", "size=2"), 400],
  ["a hexadecimal length", withBody("Content-Length: 0x6", "size=2"), 400],
  ["a length beyond 64 bits", withBody("Content-Length: 99999999999999999999", "size=2"), 400],
  ["an unknown transfer encoding", withBody("Transfer-Encoding: gzip", "size=2"), 400],
  ["chunked not as the last encoding", withBody("Transfer-Encoding: chunked, gzip", "0\r\n\r\n"), 400],
  ["a chunk of size zz", chunked("zz\r\nsize=2\r\n0\r\n\r\n"), 400],
  ["a chunk size beyond 64 bits", chunked(`${"F".repeat(17)}\r\nsize=2`), 400],
  ["a chunk longer than its size", chunked("2\r\nsize=2\r\n0\r\n\r\n"), 400],
  ["a chunk extension of 100 KB", chunked(`6;${"a".repeat(100_000)}\r\nsize=2\r\n0\r\n\r\n`), [400, 413, 431]],
]);

describe("a body that does not arrive", () => {
  it("because the client ends the connection is 400", async () => {
    await expectStatuses(withBody("Content-Length: 100", "size=2"), [400], { end: true });
    await expectStatuses(chunked("6\r\nsi"), [400], { end: true });
  });

  it("because the client resets the connection does not affect others", async () => {
    const socket = openSocket(fleet);
    const received = readAll(socket);
    await once(socket, "connect");
    socket.write(get("/v1/tanks", FORM, "Content-Length: 100"), () => socket.resetAndDestroy());
    await expectHarmless(fleet, parseResponses(await received));
  });

  it("because the client waits for 100 Continue is requested", async () => {
    const bytes = withBody("Content-Length: 6\r\nExpect: 100-continue", "size=2");
    const [, response] = await expectStatuses(bytes, [100, 200]);
    assert.equal(JSON.parse(response?.text ?? "").size, 2);
  });
});

cases("garbage", [
  ["TLS", Buffer.from("16030100a5010000a10303", "hex"), 400],
  ["all bytes", Buffer.from(Array.from({ length: 256 }, (_, i) => i)), 400],
  ["braces", "{".repeat(20_000), 400],
]);

it("empty lines and incomplete requests end with the connection", async () => {
  await expectStatuses("\r\n".repeat(50), [], { end: true });
  for (const half of ["G", "GET ", "GET /v1/tanks HTTP/1.1\r\n", "GET /v1/tanks HTTP/1.1\r\nHost: here\r\nX"]) {
    await expectStatuses(half, [400], { end: true });
  }
});

const INJECTIONS = [
  ...["' OR '1'='1", "' OR 1=1 --", "'; DROP TABLE tank; --", '"; DELETE FROM customer; --', "1 UNION SELECT hash FROM api_key"],
  ...["x') OR 1=1 --", "1; ATTACH DATABASE '/tmp/x' AS x", "%' OR name LIKE '%", "\\'; SELECT 1; --", "0 OR 1=1", "NULL", "?1"],
  ...[":id", "$1", "__proto__", "constructor.prototype", "../../../../etc/passwd", "file:///etc/passwd", "#{7*7}", "{{7*7}}"],
  ...["<script>alert(1)</script>", "\r\nSet-Cookie: a=b", "a\0b", "\u202e\ufeff\u2028", "\ud7ff\uffff", "A".repeat(3000)],
];

describe("injected text", () => {
  after(async () => {
    for (const [path, total] of [
      ["/v1/customers", 2],
      ["/v1/tanks", 3],
      ["/v1/tanks/tank_hall/telemetry", HALL_READINGS],
    ] as const) {
      assert.equal(list(await request(fleet, path, { key })).total_items, total, "nothing was changed");
    }
  });

  it("as the value or name of a parameter is invalid or finds nothing", async () => {
    for (const injected of INJECTIONS) {
      const text = encodeURIComponent(injected);
      for (const name of ["size", "page", "created_at_gte", "created_at_lte"]) {
        const response = await request(fleet, `/v1/tanks?${name}=${text}`, { key });
        const { detail } = expectError(response, 400, "parameter_invalid", name);
        assert.ok(![...detail].some((character) => character < " "), detail);
      }
      expectError(await request(fleet, "/v1/tanks", { key, body: `size=${text}` }), 400, "parameter_invalid", "size");
      const byEmail = await request(fleet, `/v1/customers?email=${text}`, { key });
      if (byEmail.status !== 400) assert.equal(list(byEmail).total_items, 0);
      const { code } = JSON.parse((await request(fleet, `/v1/tanks?${text}=1`, { key })).text);
      assert.equal(code, "parameter_unknown");
    }
  });

  it("as an id is unknown", async () => {
    for (const injected of INJECTIONS) {
      const id = encodeURIComponent(injected).replaceAll(".", "%2E");
      for (const by of [key, fleet.brenner]) {
        expectError(await request(fleet, `/v1/customers/${id}`, { key: by }), 404, "customer_unknown");
        expectError(await request(fleet, `/v1/tanks/${id}`, { key: by }), 404, "tank_unknown");
        expectError(await request(fleet, `/v1/tanks/${id}/telemetry`, { key: by }), 404, "tank_unknown");
      }
    }
  });

  it("as a header has no effect", async () => {
    const names = ["If-None-Match", "X-Request-Id", "X-Forwarded-For", "Forwarded", "Cookie", "Origin", "Accept", "User-Agent"];
    for (const injected of INJECTIONS.filter((text) => /^[\x20-\x7e]{1,100}$/.test(text))) {
      await expectStatuses(get("/v1/tanks/tank_hall", ...names.map((name) => `${name}: ${injected}`)), [200]);
      await expectStatuses(get("/v1/tanks/tank_hall", `Content-Type: ${injected}`), [200]);
    }
  });
});

/** Of CPU time, which does not depend on the load of the machine. Most requests need a hundredth of it. */
const MAX_CPU_MS = 150;

it("15 KB of the same in a header, a path or a parameter take little time", async (t) => {
  const service = await startFleet(t, { environment: { TRUST_PROXY: "loopback", CORS_ORIGINS: "https://a.example" } });
  const read = { key: service.operator };
  const json = { method: "POST", key: await service.key({ role: "manage" }), body: "{}" };
  const all = (text: string, end = "") => text.repeat(Math.floor(15_000 / text.length)) + end;
  const cases: [what: string, path: string, options: RequestOptions, status: number][] = [];
  function add(path: string, status: number, options: RequestOptions, header: string, ...values: string[]): void {
    for (const value of values) {
      const headers = { "content-type": "application/json", [header]: value };
      cases.push([`${header}: ${value.slice(0, 60)}…`, path, { ...options, headers }, status]);
    }
  }
  const customers = "/manage/v1/customers";
  const types = [all(" ", '""x'), `"${all(" ")}`, all("="), all(" =", "x"), all('"')].map((charset) => `; charset=${charset}`);
  add(customers, 415, json, "content-type", ...types.map((type) => `application/json${type}`), all("a/"), all(" ", "x"));
  add(customers, 415, json, "content-encoding", all("gzip,"), all(" ", "x"), all(";"));
  add(customers, 400, json, "idempotency-key", all(" ", "x"), all("a"));
  const tank = "/v1/tanks/tank_hall";
  add(tank, 200, read, "if-none-match", all('"'), all('"a",'), all("W/"), all(" ", "x"), all(","));
  add(tank, 200, read, "x-forwarded-for", all("::1,"), all("127.0.0.1,"), all(":"), all("1:"), all("1."), all(" ", "x"));
  add(tank, 200, read, "x-request-id", all("a"), all("tm_"), all(" ", "x"));
  add(tank, 200, read, "origin", all("https://"), all("*"), all(" ", "x"));
  add(tank, 200, read, "cookie", all("a=1; "), all(" ", "x"));
  add("/metrics", 401, {}, "authorization", `Bearer${all(" ")}`, `Bearer ${all("a ")}`, all("Bearer "));
  add("/docs", 200, {}, "accept-encoding", all(","), all(";"), all("br;q=0.", "1"), `br;q=0.${all("0", "x")}`, all(" ", "x"));
  const token = "a".repeat(43);
  for (const [page, status] of [
    ["verify", 200],
    ["unsubscribe", 404],
  ] as const) {
    add(
      `/${page}?token=${token}`,
      status,
      {},
      "accept-language",
      all(" ", "x"),
      `a${all(" ", "b")}`,
      `a;${all(" ", "b")}`,
      all(",;q="),
    );
  }
  add(
    "/manage/v1/customers/cus_moser",
    412,
    { ...json, method: "PATCH" },
    "if-match",
    all('"'),
    all('"a",'),
    all("W/"),
    all(" "),
  );
  for (const text of ["%41", "%2e", "%2f", "a/", "//", "%25", "tm_", "é", "."]) {
    const path = all(text.replace("é", "%C3%A9"));
    cases.push([`path ${text}`, `/v1/tanks/x${path}`, read, 404], [`docs ${text}`, `/docs/static/${path}`, {}, 404]);
  }
  for (const text of ["0", "1", "9", ".", ":", "+", "%20", "a=1&", "&", "=", "-", "T"]) {
    for (const name of ["created_at_gte=2026-11-01T00:00:00.", "size=", "page=1"]) {
      cases.push([`${name}${text}`, `/v1/tanks?${name}${all(text, "x")}`, read, 400]);
    }
  }
  await send(service, tank, read);
  for (const [what, path, options, status] of cases) {
    const started = process.cpuUsage();
    const response = await send(service, path, options);
    const { user, system } = process.cpuUsage(started);
    const took = (user + system) / 1000;
    assert.ok(took < MAX_CPU_MS, `${what} took ${Math.round(took)} ms`);
    assert.equal(response.status, status, `${what} ${response.text}`);
  }
});

it("hostile forms are rejected with a short response", async () => {
  const manyNames = numbered(1500, (i) => `a${i}=1`).join("&");
  for (const body of [
    ...[`a${"[b]".repeat(2700)}=1`, manyNames.slice(0, 8000), "size=1&".repeat(1000), "%".repeat(8192), "%00".repeat(2700)],
    ...["=".repeat(8192), "__proto__[size]=1&constructor[prototype][size]=1", "\0".repeat(8192), '{"__proto__":{"size":1}}'],
  ]) {
    const response = await request(fleet, "/v1/tanks", { key, body });
    assert.equal(response.status, 400, response.text);
    assert.ok(response.text.length < 1500, response.text);
  }
});

it("the documentation page serves no other files", async () => {
  for (const path of [
    ...["%00", "a%00b", "../../package.json", "..%2f..%2fpackage.json", "%2e%2e/%2e%2e/package.json", "..%5c..%5cpackage.json"],
    ...["/etc/passwd", ".env", "%zz", "%ff", "a".repeat(5000), "a/".repeat(2000), "../../v1/tanks", "../json/x"],
  ]) {
    const responses = await exchange(fleet, get(`/docs/static/${path}`));
    await expectHarmless(fleet, responses);
    const [status = 0] = responses.map((response) => response.status);
    assert.ok(status >= 400 && status < 500, `${path.slice(0, 50)} ${status}`);
  }
});
