// Paths, ids in paths, methods, and the routes that are mounted and documented.

import assert from "node:assert/strict";
import { METHODS } from "node:http";
import { after, describe, it } from "node:test";
import { PATHS } from "../../dashboard/src/paths.ts";
import { buildServer } from "../../src/http/server.ts";
import { manualClock } from "../support/clock.ts";
import { customerRecord, putReadings, tankRecord } from "../support/records.ts";
import {
  contract,
  exchange,
  expectError,
  list,
  object,
  openSocket,
  parseResponses,
  type RequestOptions,
  type Response,
  readAll,
  request,
  send,
  statuses,
} from "./client.ts";
import { BRENNER, ENDPOINTS, MAX_BYTES, NEWEST, startEcho, startFleet } from "./services.ts";

const fleet = await startFleet({ after });
const { document } = await contract(fleet);
const key = fleet.operator;
const manage = await fleet.key({ role: "manage" });
const call = (path: string) => request(fleet, path, { key });
const APP = "https://app.example.com";
const echo = await startEcho({ after }, { clock: manualClock().clock });
const echoWithCors = await startEcho({ after }, { corsOrigins: [APP] });

describe("an id in a path", async () => {
  const ODD_IDS = [
    ...["a/b", "a/telemetry", "/", "//", "a//", "%", "%2F", "%zz", "100%25", "a?b=c", "a#b", "a&b", "a;b", "a:b", ":id", "*"],
    ...["..", ".", "../v1", "a b", " ", "a+b", "é", "e\u0301", "株式", "\u{1f600}", "\uff5e", "'; DROP TABLE tank; --", '"'],
    ...["\\", "telemetry", "__proto__", "constructor", "x".repeat(128), "ü".repeat(128), "\u{1f600}".repeat(64)],
  ];
  const record = (id: string) => tankRecord(id, id, { assigned_device_id: `device ${ODD_IDS.indexOf(id)}` });
  await fleet.store.importCustomers(ODD_IDS.map((id) => customerRecord(id, { email: "odd@ids.example" })));
  await fleet.store.importTanks(ODD_IDS.map(record));
  await putReadings(fleet.store, "a/b", [[NEWEST, 1]]);
  const everyPath = (id: string) => [`/v1/customers/${id}`, `/v1/tanks/${id}`, `/v1/tanks/${id}/telemetry`];

  it("may be any text of 128 characters, percent-encoded", async () => {
    for (const id of ODD_IDS) {
      // Clients resolve dots, and encodeURIComponent does not encode them.
      const encoded = encodeURIComponent(id).replaceAll(".", "%2E");
      assert.equal(object(await call(`/v1/customers/${encoded}`))["id"], id);
      const tank = object(await call(`/v1/tanks/${encoded}`));
      assert.deepEqual([tank["id"], tank["owner_id"]], [id, id]);
      assert.equal(list(await call(`/v1/tanks/${encoded}/telemetry`)).total_items, id === "a/b" ? 1 : 0);
    }
    assert.equal(list(await call("/v1/tanks/a%2fb/telemetry")).total_items, 1);
    expectError(await call("/v1/tanks/a/b"), 404, "route_unknown");
    for (const encoded of ["%63us_%62renner", "cus%5Fbrenner"]) {
      assert.equal(object(await call(`/v1/customers/${encoded}`))["id"], BRENNER);
    }
  });

  it("is compared exactly", async () => {
    for (const other of ["CUS_BRENNER", "cus_brenner%20", "%20cus_brenner", "cus_brenner%00", "cus_brenne", "cus_brenner%2F"]) {
      expectError(await call(`/v1/customers/${other}`), 404, "customer_unknown");
    }
  });

  it("that is too long or has control characters is unknown", async () => {
    const long = [129, 500, 5000, 12_000].map((length) => "x".repeat(length));
    for (const id of [...long, "%00", "a%00b", "%0D%0A", "%1B", "%7F", "%C2%80"]) {
      const [customer = "", ...tanks] = everyPath(id);
      expectError(await call(customer), 404, "customer_unknown");
      for (const tank of tanks) expectError(await call(tank), 404, "tank_unknown");
    }
  });

  it("with invalid percent-encoding is 400, after the method and the key", async () => {
    const broken = ["%", "%z", "%zz", "%2", "a%", "%ff", "%C3", "%C3%28", "%ED%A0%80", "%C0%AF", "%F5%80%80%80", "a%zz%2F"];
    for (const path of broken.flatMap(everyPath)) {
      expectError(await call(path), 400, "encoding_invalid");
      expectError(await request(fleet, path), 401, "key_missing");
      expectError(await request(fleet, path, { method: "DELETE" }), 405, "method_not_allowed");
    }
  });
});

it("unknown routes are 404, with and without a key", async () => {
  for (const path of [
    ...[
      "/v1",
      "/v1/",
      "/v2/customers",
      "/v1/map",
      "/nothing",
      "/manage/v1",
      "/insight/v1/nothing",
      "/V1/customers",
      "/v1/Customers",
      "/v1//customers",
    ],
    ...["//v1/customers", "/v1/customers/x/tanks", "/v1/tanks/x/telemetry/1", "/v1/tanks/x/Telemetry", "/v1/telemetry"],
    ...["/favicon.ico", "/.env", "/%zz", "/v1/%zz", "/v2/customers/%ff", "/%"],
  ]) {
    expectError(await call(path), 404, "route_unknown");
    expectError(await request(fleet, path), 404, "route_unknown");
  }
});

describe("a method that is not allowed", () => {
  const raw = async (service: { url: string }, method: string, path: string): Promise<Response> => {
    const bytes = `${method} ${path} HTTP/1.1\r\nHost: here\r\nX-API-Key: ${key}\r\nConnection: close\r\n\r\n`;
    const [response] = await exchange(service, bytes);
    assert.ok(response !== undefined);
    return response;
  };

  it("is 405 on a known path and 404 on an unknown one, for all methods of HTTP", async () => {
    // CONNECT requests a tunnel, and its connection is closed.
    for (const method of METHODS.filter((known) => !["GET", "HEAD", "CONNECT"].includes(known))) {
      const response = await request(fleet, "/v1/tanks/tank_hall", { method, key });
      const { detail } = expectError(response, 405, "method_not_allowed");
      assert.equal(response.headers.allow, "GET, HEAD");
      assert.ok(detail.startsWith(`${method} is not allowed here`), detail);
      expectError(await request(fleet, "/v1/tank", { method, key }), 404, "route_unknown");
    }
  });

  it("is the same for methods that the HTTP parser does not know", async () => {
    for (const method of ["FOO", "get", "Get", "GETX", "X", "!#$%&'*+-.^_`|~", "LONGMETHOD".repeat(20)]) {
      for (const path of ["/v1/tanks", "/v1/tanks/tank_hall?size=1", "/v1/tanks/tank_hall/telemetry/", "/healthz"]) {
        const response = await raw(fleet, method, path);
        const { request_id } = expectError(response, 405, "method_not_allowed");
        assert.equal(response.headers.allow, "GET, HEAD");
        assert.equal(response.headers["content-type"], "application/problem+json; charset=utf-8");
        assert.equal(response.headers["x-request-id"], request_id);
      }
      expectError(await raw(fleet, method, "/v1/tank"), 404, "route_unknown");
    }
  });

  it("gets the hint to add -G to curl if it is a POST, even without a key", async () => {
    for (const options of [{ key, body: "size=2" }, { body: "size=2" }, {}]) {
      const response = await request(fleet, "/v1/tanks", { method: "POST", ...options });
      assert.match(expectError(response, 405, "method_not_allowed").detail, /With curl, add -G/);
    }
  });

  for (const [path, methods, words] of [
    ["/manage/v1/things", ["GET", "HEAD", "POST"], "GET, HEAD and POST"],
    ["/manage/v1/things/1", ["GET", "HEAD", "PATCH", "DELETE"], "GET, HEAD, PATCH and DELETE"],
    ["/manage/v1/things/first", ["GET", "HEAD", "PATCH", "DELETE"], "GET, HEAD, PATCH and DELETE"],
    ["/manage/v1/things/1/restore", ["POST"], "POST"],
    ["/manage/v1/things/1/note/", ["PUT"], "PUT"],
    ["/docs", ["GET", "HEAD"], "GET and HEAD"],
  ] as const) {
    it(`gets the methods of the path: ${path}`, async () => {
      const all = ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "QUERY", "PROPFIND"];
      for (const method of all.filter((one) => !methods.some((known) => known === one))) {
        const response = await request(echo, path, { method });
        assert.deepEqual([response.status, response.headers.allow], [405, methods.join(", ")], method);
        if (method === "HEAD") continue;
        const { detail } = expectError(response, 405, "method_not_allowed");
        assert.ok(detail.startsWith(`${method} is not allowed here; this path supports ${words}.`), detail);
      }
      const unknown = await raw(echo, "FOO", path);
      assert.match(expectError(unknown, 405, "method_not_allowed").detail, new RegExp(`^FOO .* supports ${words}\\.$`));
      assert.equal(unknown.headers.allow, methods.join(", "));
    });
  }

  it("with CORS gets OPTIONS too, and preflights get the methods of the path", async () => {
    const path = "/manage/v1/things/1";
    const methods = "GET, HEAD, PATCH, DELETE, OPTIONS";
    const other = await request(echoWithCors, path, { method: "PROPFIND", headers: { origin: APP } });
    assert.deepEqual([other.status, other.headers.allow], [405, methods]);
    const preflight = { "access-control-request-method": "PATCH", "access-control-request-headers": "if-match" };
    const { status, headers } = await request(echoWithCors, path, {
      method: "OPTIONS",
      headers: { origin: APP, ...preflight },
    });
    assert.deepEqual([status, headers["access-control-allow-methods"]], [204, methods]);
    const allowed = String(headers["access-control-allow-headers"]).toLowerCase().split(", ");
    for (const name of ["x-api-key", "content-type", "content-encoding", "idempotency-key", "if-match"]) {
      assert.ok(allowed.includes(name), name);
    }
  });
});

it("a write is checked for path, method, key, role, rate, parameters, media type, size, JSON, object, in this order", async () => {
  const path = "/manage/v1/things/tank_unknown";
  const wrong: RequestOptions = { headers: { "content-type": "text/plain" }, body: " ".repeat(MAX_BYTES + 1) };
  const patch = (to: string, options: RequestOptions) => request(echo, to, { method: "PATCH", ...options });
  const [spent, ingest, good] = [await echo.key({ rate: 1 }), await echo.key({ role: "ingest", rate: 1 }), await echo.key()];
  for (let i = 0; i < 2; i++) await request(echo, "/manage/v1/things", { key: spent });
  expectError(await patch("/manage/v2/things/1?x", wrong), 404, "route_unknown");
  expectError(await request(echo, `${path}?x`, { method: "PUT", ...wrong }), 405, "method_not_allowed");
  expectError(await patch(`${path}?x`, wrong), 401, "key_missing");
  expectError(await patch(`${path}?x`, { key: "tm_x", ...wrong }), 401, "key_invalid");
  for (let i = 0; i < 4; i++) expectError(await patch(`${path}?x`, { key: ingest, ...wrong }), 403, "role_insufficient");
  expectError(await patch(`${path}?x`, { key: spent, ...wrong }), 429, "rate_limited");
  expectError(await patch("/manage/v1/things/%zz?x", { key: good, ...wrong }), 400, "encoding_invalid");
  expectError(await patch(`${path}?x`, { key: good, ...wrong }), 400, "parameter_unknown", "x");
  expectError(await patch(path, { key: good, ...wrong }), 415, "media_type_unsupported");
  const large = { ...wrong, key: good, headers: { "content-type": "application/json" } };
  expectError(await patch(path, large), 413, "body_too_large");
  expectError(await patch(path, { ...large, body: "{" }), 400, "body_malformed");
  expectError(await patch(path, { ...large, body: "{}" }), 404, "tank_unknown");
});

describe("HEAD", () => {
  const comparable = ({ status, headers }: Response) => {
    const { date: _, "x-request-id": id, ...rest } = headers;
    return { status, hasId: id !== undefined, ...rest };
  };

  it("has the headers of GET and no body", async () => {
    for (const path of [
      ...ENDPOINTS.map((endpoint) => endpoint.path),
      ...["/v1/tanks?size=1", "/v1/tanks?size=0", "/v1/tanks/tank_nothing", "/v1/tanks/tank_scrapped", "/v1/nothing"],
      ...["/healthz", "/readyz", "/openapi.json"],
    ]) {
      const [head, get] = [await send(fleet, path, { method: "HEAD", key }), await send(fleet, path, { key })];
      assert.deepEqual(comparable(head), comparable(get), path);
      assert.equal(head.text, "");
    }
    const metrics = await send(fleet, "/metrics", { method: "HEAD", key: manage });
    assert.deepEqual([metrics.status, metrics.text], [200, ""]);
  });

  it("needs a key, supports If-None-Match, and keeps the connection usable", async () => {
    const response = await request(fleet, "/v1/tanks", { method: "HEAD" });
    assert.equal(response.status, 401);
    assert.ok(response.headers["www-authenticate"] !== undefined);
    const { headers } = await call("/v1/tanks");
    const options = { method: "HEAD", key, headers: { "if-none-match": String(headers.etag) } };
    assert.equal((await request(fleet, "/v1/tanks", options)).status, 304);
    const head = `HEAD /v1/tanks HTTP/1.1\r\nHost: here\r\nX-API-Key: ${key}\r\n`;
    const socket = openSocket(fleet);
    socket.write(`${head}\r\n${head}Connection: close\r\n\r\n`);
    assert.deepEqual(statuses(parseResponses(await readAll(socket), true)), [200, 200]);
  });
});

describe("the OpenAPI document", () => {
  it("has exactly the routes and methods that are mounted", async () => {
    const { routes: _, ...options } = echo.parts;
    const server = await buildServer(options);
    await server.ready();
    const tree = server.printRoutes({ commonPrefix: false });
    await server.close();
    const parents: string[] = [];
    const mounted = tree
      .split("\n")
      .filter((line) => line.trim() !== "")
      .map((line) => {
        const [, indent = "", segment = "", methods = ""] = /^([│ ]*)[├└]── (\S+) \((.*)\)$/.exec(line) ?? [];
        assert.notEqual(segment, "", `Fastify prints ${JSON.stringify(line)}`);
        parents.length = indent.length / 4;
        parents.push(segment);
        return [parents.join("").replaceAll(/:(\w+)/g, "{$1}"), methods.split(", ").sort()] as const;
      })
      // Pages for people, and the document itself.
      .filter(([path]) => !/^\/(docs(\/.*)?|openapi\.json|verify|unsubscribe|assets\/.*)$/.test(path))
      .filter(([path]) => !PATHS.some((screen) => screen.replaceAll(/:(\w+)/g, "{$1}") === path));
    const documented = Object.entries(document.paths).map(([path, item]) => {
      const methods = Object.keys(item).map((method) => method.toUpperCase());
      return [path, [...methods, ...(methods.includes("GET") ? ["HEAD"] : [])].sort()];
    });
    assert.deepEqual(mounted.sort(), documented.sort());
  });

  it("says which operations need no key", async () => {
    for (const [template, item] of Object.entries(document.paths)) {
      const path = template.replace("{id}", "anything");
      const [isOpen, isSignIn] = [path === "/healthz" || path === "/readyz", path.startsWith("/auth/v1/")];
      for (const [method, { security }] of Object.entries(item)) {
        const response = await request(fleet, path, { method: method.toUpperCase() });
        const needsNone = security?.length === 0;
        if (isOpen) assert.equal(response.status, 200);
        else if (isSignIn && needsNone) expectError(response, 403, "origin_not_allowed");
        else expectError(response, 401, security?.every((scheme) => "session" in scheme) ? "session_missing" : "key_missing");
        assert.equal(needsNone, isOpen || (isSignIn && method === "post"), path);
      }
    }
  });
});
