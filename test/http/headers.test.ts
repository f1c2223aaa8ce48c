// Response headers: ETags and caching, request ids, and CORS.

import assert from "node:assert/strict";
import { once } from "node:events";
import { after, describe, it } from "node:test";
import { putReadings } from "../support/records.ts";
import { until } from "../support/until.ts";
import { expectError, openSocket, type RequestOptions, request } from "./client.ts";
import { ENDPOINTS, type Fleet, NEWEST, startFleet } from "./services.ts";

const fleet = await startFleet({ after });
const key = fleet.operator;
const call = (path: string, headers: RequestOptions["headers"] = {}) => request(fleet, path, { key, headers });
const etag = async (path: string) => String((await call(path)).headers.etag);

describe("an ETag", () => {
  for (const { path } of ENDPOINTS) {
    it(`is strong and must be revalidated: ${path}`, async () => {
      const { headers } = await call(path);
      assert.match(String(headers.etag), /^"[\x21\x23-\x7e]+"$/);
      assert.equal(headers["cache-control"], "private, no-cache");
    });

    it(`in If-None-Match gives 304, alone, weak, or in a list: ${path}`, async () => {
      const tag = await etag(path);
      for (const known of [tag, `W/${tag}`, `"other",${tag},"more"`, `W/"other", W/${tag}`, "*", ` ${tag} `, ['"other"', tag]]) {
        const response = await call(path, { "if-none-match": known });
        assert.equal(response.status, 304, String(known));
        assert.equal(response.headers.etag, tag);
        assert.equal(response.headers["cache-control"], "private, no-cache");
      }
    });

    it(`that differs, and If-Modified-Since, give 200: ${path}`, async () => {
      const tag = await etag(path);
      const upper = tag.toUpperCase() === tag ? "x" : tag.toUpperCase();
      for (const other of ['"other"', "", tag.slice(1, -1), `${tag}x`, upper, "**"]) {
        assert.equal((await call(path, { "if-none-match": other })).status, 200, other);
      }
      assert.equal((await call(path, { "if-modified-since": new Date(Date.now() + 60_000).toUTCString() })).status, 200);
    });
  }

  it("is the same for the same bytes, and differs for different ones", async () => {
    const paths = ["/v1/tanks", "/v1/tanks?size=1", "/v1/tanks?size=2", "/v1/tanks/tank_hall", "/v1/tanks/tank_yard"];
    const tags = await Promise.all(paths.map(etag));
    assert.equal(new Set(tags).size, paths.length);
    assert.equal(await etag("/v1/tanks/?%73ize=1"), tags[1]);
  });

  it("changes with the next reading", async () => {
    const path = "/v1/tanks/tank_mill/telemetry";
    const tag = await etag(path);
    await putReadings(fleet.store, "tank_mill", [[NEWEST + 1, 50]]);
    const response = await call(path, { "if-none-match": tag });
    assert.equal(response.status, 200);
    assert.notEqual(response.headers.etag, tag);
  });

  it("does not hide an error", async () => {
    const headers = { "if-none-match": "*" };
    expectError(await request(fleet, "/v1/tanks", { headers }), 401, "key_missing");
    expectError(await call("/v1/tanks?size=0", headers), 400, "parameter_invalid", "size");
    expectError(await call("/v1/tanks/tank_nothing", headers), 404, "tank_unknown");
  });
});

describe("a request id", () => {
  const VALID = ["a", "42", "9f0d4f0e-6f0e-4c55-9a7e-0d5b6c1f2a10", "trace:1/2.3_4+5=6", "x".repeat(128)];
  const INVALID = ["", "x".repeat(129), "a b", "a,b", "a\tb", '"a"', "<script>", "a;b", "a\\b", "{}", "\u00e9", "a%0Ab"];
  const GENERATED = /^[\w-]{12}-[0-9a-z]{7}$/;

  it("of the client is returned if it is valid, on success, error, 304 and HEAD", async () => {
    for (const id of VALID) {
      const headers = { "x-request-id": id };
      assert.equal((await call("/v1/tanks", headers)).headers["x-request-id"], id);
      assert.equal(expectError(await call("/v1/tanks?size=0", headers), 400, "parameter_invalid", "size").request_id, id);
      assert.equal((await request(fleet, "/nothing", { headers })).headers["x-request-id"], id);
    }
    const headers = { "x-request-id": "mine", "if-none-match": "*" };
    assert.equal((await call("/v1/tanks", headers)).headers["x-request-id"], "mine");
    assert.equal((await request(fleet, "/v1/tanks", { key, method: "HEAD", headers })).headers["x-request-id"], "mine");
  });

  it("is generated if that of the client is invalid or given twice", async () => {
    for (const id of [...INVALID, ["a", "b"]]) {
      const response = await call("/v1/tanks?size=0", { "x-request-id": id });
      assert.match(expectError(response, 400, "parameter_invalid", "size").request_id, GENERATED, String(id));
    }
  });

  it("is generated, and new each time, if the client sends none", async () => {
    const ids = await Promise.all(Array.from({ length: 20 }, async () => (await call("/v1/tanks")).headers["x-request-id"]));
    for (const id of ids) assert.match(String(id), GENERATED);
    assert.equal(new Set(ids).size, 20);
  });

  it("is logged with the request, which never includes a key", async () => {
    await call("/v1/tanks?size=7", { "x-request-id": "find-me" });
    const event = fleet.events.find((seen) => seen.kind === "request_completed" && seen.requestId === "find-me");
    assert.ok(event?.kind === "request_completed");
    const { method, path, route, status, code } = event;
    assert.deepEqual([method, path, route, status, code], ["GET", "/v1/tanks", "/v1/tanks", 200, null]);
    assert.ok(!JSON.stringify(fleet.events).includes(key));
  });

  it("is logged once with the status 499 if the client disconnects before the response", async () => {
    const socket = openSocket(fleet).on("error", () => {});
    const headers = `Host: here\r\nX-API-Key: ${key}\r\nX-Request-Id: gone\r\nContent-Type: application/x-www-form-urlencoded`;
    socket.write(`GET /v1/tanks HTTP/1.1\r\n${headers}\r\nContent-Length: 6\r\nExpect: 100-continue\r\n\r\n`);
    await once(socket, "data");
    socket.resetAndDestroy();
    const seen = () => fleet.events.filter((event) => event.kind === "request_completed" && event.requestId === "gone");
    await until("it is logged", () => seen().length > 0);
    await call("/v1/tanks");
    assert.deepEqual(
      seen().map((event) => event.kind === "request_completed" && [event.status, event.code, event.route]),
      [[499, null, "/v1/tanks"]],
    );
  });
});

const APP = "https://app.example.com";
const OTHER = "http://localhost:3000";
const restricted = await startFleet({ after }, { environment: { CORS_ORIGINS: `${APP}, ${OTHER}` } });

const preflight = (service: Fleet, origin: string, path = "/v1/tanks") =>
  request(service, path, {
    method: "OPTIONS",
    headers: { origin, "access-control-request-method": "GET", "access-control-request-headers": "x-api-key" },
  });
const listTanks = (service: Fleet, origin?: string) =>
  request(service, "/v1/tanks", { key: service.operator, headers: { origin } });
const headerList = (header: unknown) => String(header).toLowerCase().split(", ");

describe("without CORS_ORIGINS", () => {
  it("OPTIONS is not allowed, and no response mentions origins", async () => {
    const response = await preflight(fleet, APP);
    expectError(response, 405, "method_not_allowed");
    assert.equal(response.headers.allow, "GET, HEAD");
    assert.equal(response.headers["access-control-allow-origin"], undefined);
    const { headers } = await listTanks(fleet, APP);
    assert.deepEqual([headers["access-control-allow-origin"], headers.vary], [undefined, undefined]);
  });
});

describe("CORS_ORIGINS with two origins", () => {
  for (const origin of [APP, OTHER]) {
    it(`allows preflights and responses for ${origin}`, async () => {
      const { status, headers } = await preflight(restricted, origin);
      assert.equal(status, 204);
      assert.equal(headers["access-control-allow-origin"], origin);
      assert.equal(headers["access-control-allow-methods"], "GET, HEAD, OPTIONS");
      assert.equal(headers.vary, "Origin");
      const allowed = headerList(headers["access-control-allow-headers"]);
      for (const name of ["x-api-key", "x-request-id", "if-none-match", "content-type"]) assert.ok(allowed.includes(name), name);
      assert.ok(Number(headers["access-control-max-age"]) > 0);
      assert.equal(headers["access-control-allow-credentials"], undefined);

      const response = await listTanks(restricted, origin);
      assert.equal(response.status, 200);
      assert.equal(response.headers["access-control-allow-origin"], origin);
      assert.equal(response.headers.vary, "Origin");
      const exposed = headerList(response.headers["access-control-expose-headers"]);
      for (const name of [
        "etag",
        "x-request-id",
        "ratelimit",
        "ratelimit-policy",
        "retry-after",
        "www-authenticate",
        "location",
        "idempotency-replayed",
      ]) {
        assert.ok(exposed.includes(name), name);
      }
    });
  }

  it("allows errors and 304 to be read", async () => {
    const by = { key: restricted.operator };
    const { headers } = await listTanks(restricted, APP);
    for (const [path, options, status] of [
      ["/v1/tanks?size=0", by, 400],
      ["/v1/tanks", {}, 401],
      ["/nothing", {}, 404],
      ["/v1/tanks", { ...by, headers: { "if-none-match": String(headers.etag) } }, 304],
    ] as const) {
      const { headers: more } = { headers: {}, ...options };
      const response = await request(restricted, path, { ...options, headers: { origin: APP, ...more } });
      assert.equal(response.status, status);
      assert.deepEqual([response.headers["access-control-allow-origin"], response.headers.vary], [APP, "Origin"]);
    }
  });

  it("allows no other origin, though the request itself succeeds: browsers enforce origins", async () => {
    for (const origin of ["https://evil.example", `${APP}.evil.example`, "https://APP.example.com", "null", "*", undefined]) {
      const { status, headers } = await listTanks(restricted, origin);
      assert.deepEqual(
        [status, headers["access-control-allow-origin"], headers.vary],
        [200, undefined, "Origin"],
        String(origin),
      );
      if (origin === undefined) continue;
      assert.equal((await preflight(restricted, origin)).headers["access-control-allow-origin"], undefined);
    }
  });

  it("changes nothing else: unknown paths are 404, other methods 405 with OPTIONS in Allow", async () => {
    expectError(await preflight(restricted, APP, "/v1/nothing"), 404, "route_unknown");
    const response = await request(restricted, "/v1/tanks", { method: "POST", headers: { origin: APP } });
    expectError(response, 405, "method_not_allowed");
    assert.equal(response.headers.allow, "GET, HEAD, OPTIONS");
  });
});

it("CORS_ORIGINS=* allows every origin, and responses do not vary", async (t) => {
  const open = await startFleet(t, { environment: { CORS_ORIGINS: "*" } });
  const { headers } = await listTanks(open, "https://anyone.example");
  assert.deepEqual([headers["access-control-allow-origin"], headers.vary], ["*", undefined]);
  assert.equal((await preflight(open, "https://anyone.example")).status, 204);
});
