// What holds for every route that writes or manages: responses, what the handler receives, and the same routes dispatched without
// the network.

import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { after, describe, it } from "node:test";
import { promisify } from "node:util";
import { UNRESTRICTED } from "../../src/domain/key.ts";
import type { Caller } from "../../src/http/auth.ts";
import { dispatch, type LocalRequest } from "../../src/http/dispatch.ts";
import { customerRecord } from "../support/records.ts";
import { expectError, type RequestOptions, type Response, request, send } from "./client.ts";
import { ECHO_ROUTES, echoed, startEcho } from "./services.ts";

const echo = await startEcho({ after });
const key = await echo.key();
const [known] = await echo.store.keyList();
assert.ok(known !== undefined);
const caller: Caller = { key: known, scope: UNRESTRICTED, session: null };
const THING = { name: "valve", place: { latitude: 47.9 } };
const VALID = JSON.stringify(THING);
const JSON_HEADERS = { "content-type": "application/json" };

const call = (method: string, path: string, options: RequestOptions = {}) =>
  request(echo, path, { method, key, ...options, headers: { ...JSON_HEADERS, ...options.headers } });
const patch = (path: string, options: RequestOptions = {}) => call("PATCH", path, { body: "{}", ...options });

describe("a response", () => {
  it("of 201 has Location and ETag", async () => {
    const created = await call("POST", "/manage/v1/things", { body: VALID });
    assert.deepEqual([created.status, created.headers.location, created.headers.etag], [201, "/manage/v1/things/1", '"1"']);
  });

  it("to a GET has an ETag, ignores If-None-Match, and HEAD has the same headers", async () => {
    const [get, head] = [await call("GET", "/manage/v1/things/1"), await call("HEAD", "/manage/v1/things/1")];
    assert.equal(get.headers.etag, '"1"');
    const comparable = ({ headers: { date: _, "x-request-id": __, ...rest } }: Response) => rest;
    assert.deepEqual([head.status, head.text, comparable(head)], [200, "", comparable(get)]);
    assert.equal((await call("GET", "/manage/v1/things/1", { headers: { "if-none-match": '"1"' } })).status, 200);
  });

  it("is never cached", async () => {
    for (const [method, path, body] of [
      ["GET", "/manage/v1/things", undefined],
      ["GET", "/manage/v1/things/1", undefined],
      ["GET", "/manage/v1/things/first", undefined],
      ["POST", "/manage/v1/things", VALID],
      ["POST", "/manage/v1/things", "{"],
      ["DELETE", "/manage/v1/things/1", undefined],
      ["POST", "/ingest/v1/things", "[]"],
      ["PUT", "/ingest/v1/things", "[]"],
    ] as const) {
      const { headers } = await call(method, path, body === undefined ? {} : { body });
      assert.equal(headers["cache-control"], "no-store", `${method} ${path}`);
    }
  });
});

describe("a handler receives", () => {
  it("the id in the path; a fixed segment has precedence", async () => {
    assert.equal(echoed(await call("GET", "/manage/v1/things/a%2Fb")).id, "a/b");
    assert.equal(echoed(await call("POST", "/manage/v1/things/%C3%BC/restore")).id, "ü");
    assert.equal(echoed(await patch("/manage/v1/things/x/")).id, "x");
    assert.equal(echoed(await call("GET", "/manage/v1/things/first")).id, "the first");
  });

  it("the key and its customer", async () => {
    const { key_id, role, customer_id } = echoed(await call("GET", "/manage/v1/things"));
    assert.match(key_id, /^key_/);
    assert.deepEqual([role, customer_id], ["manage", null]);
    await echo.store.importCustomers([customerRecord("cus_1")]);
    const scoped = await echo.key({ role: "ingest", customerId: "cus_1" });
    const sent = echoed(await call("POST", "/ingest/v1/things", { key: scoped, body: "[]" }));
    assert.deepEqual([sent.role, sent.customer_id], ["ingest", "cus_1"]);
  });

  it("the parameters", async () => {
    assert.equal(echoed(await patch("/manage/v1/things/1?colour=red")).colour, "red");
    expectError(await patch("/manage/v1/things/1?colour=1"), 400, "parameter_invalid", "colour");
    expectError(await call("DELETE", "/manage/v1/things/1?cascade=true"), 400, "parameter_unknown", "cascade");
    const form = { headers: { "content-type": "application/x-www-form-urlencoded" }, body: "colour=1" };
    expectError(await call("DELETE", "/manage/v1/things/1", form), 400, "parameter_invalid", "colour");
  });

  it("If-Match, if the route has it", async () => {
    const change = async (ifMatch: string | string[] | undefined) =>
      echoed(await patch("/manage/v1/things/1", { headers: { "if-match": ifMatch } })).if_match;
    assert.equal(await change('"1"'), '"1"');
    assert.equal(await change(['"1"', 'W/"2"']), '"1", W/"2"');
    assert.equal(await change(undefined), null);
    assert.equal(echoed(await call("GET", "/manage/v1/things/1", { headers: { "if-match": "*" } })).if_match, null);
  });

  it("Idempotency-Key, if the route has it and it is valid", async () => {
    const create = (name: string | string[] | undefined) =>
      call("POST", "/manage/v1/things", { body: VALID, headers: { "idempotency-key": name } });
    for (const name of ["a", "8e03978e-40d5-43dd-bc93-6894a57f9324", '"quoted"', "with blanks, and commas", "~".repeat(255)]) {
      assert.equal(echoed(await create(name)).idempotency_key, name);
    }
    assert.equal(echoed(await create(undefined)).idempotency_key, null);
    for (const name of ["", " ", "~".repeat(256), "\u00fc", "a\tb", ["a", "b"], ["a", "a"]]) {
      expectError(await create(name), 400, "idempotency_key_invalid");
    }
    assert.equal(echoed(await patch("/manage/v1/things/1", { headers: { "idempotency-key": "" } })).idempotency_key, null);
  });
});

describe("a request dispatched without the network", () => {
  const { reads, metrics, services } = echo.parts;
  const environment = { reads, metrics, services, caller };

  async function overHttp({ method, path, query, body }: LocalRequest) {
    const response = await send(echo, query === undefined ? path : `${path}?${query}`, {
      method,
      key,
      headers: { "content-type": body === undefined ? undefined : "application/json" },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
    });
    const { status, text } = response;
    const { location, etag, "x-request-id": id } = response.headers;
    return { status, body: text === "" ? undefined : JSON.parse(text.replace(String(id), "local")), location, etag };
  }

  it("gets the same result as over HTTP", async () => {
    const requests: readonly LocalRequest[] = [
      { method: "GET", path: "/manage/v1/things" },
      { method: "GET", path: "/manage/v1/things", query: "colour=red" },
      { method: "GET", path: "/manage/v1/things", query: "colour=1" },
      { method: "GET", path: "/manage/v1/things", query: "color=red" },
      { method: "GET", path: "/manage/v1/things/a%2Fb%20c" },
      { method: "POST", path: "/manage/v1/things", body: THING },
      { method: "POST", path: "/manage/v1/things", body: { naem: 1 } },
      { method: "POST", path: "/manage/v1/things" },
      { method: "PATCH", path: "/manage/v1/things/1", body: { name: null } },
      { method: "PATCH", path: "/manage/v1/things/state_conflict", body: {} },
      { method: "DELETE", path: "/manage/v1/things/1" },
      { method: "POST", path: "/manage/v1/things/1/restore" },
      { method: "PUT", path: "/manage/v1/things/1/note" },
      { method: "POST", path: "/ingest/v1/things", body: [{ a: 1 }, 2] },
      { method: "POST", path: "/ingest/v1/things", body: { a: 1 } },
      { method: "POST", path: "/ingest/v1/things", body: 1 },
      { method: "POST", path: "/ingest/v1/things", body: Array.from({ length: 101 }, () => 1) },
    ];
    for (const local of requests) {
      const { status, body, headers } = await dispatch(ECHO_ROUTES, environment, local);
      const result = { status, body, location: headers["location"], etag: headers["etag"] };
      assert.deepEqual(result, await overHttp(local), JSON.stringify(local));
    }
  });

  it("throws internal errors", async () => {
    const [route] = ECHO_ROUTES;
    assert.ok(route !== undefined);
    const broken = { ...route, handle: () => Promise.reject(new Error("a bug")) };
    await assert.rejects(dispatch([broken], environment, { method: "GET", path: route.path }), /a bug/);
  });

  it("loads no framework", async () => {
    const url = (file: string) => JSON.stringify(new URL(`../../src/http/${file}`, import.meta.url).href);
    const script = `import { registerHooks } from "node:module"; const seen = [];
      registerHooks({ resolve: (name, context, next) => { const found = next(name, context); seen.push(found.url); return found; } });
      await import(${url("dispatch.ts")}); await import(${url("routes.ts")});
      console.log(JSON.stringify(seen));`;
    const { stdout } = await promisify(execFile)(process.execPath, ["--input-type=module", "-e", script]);
    const loaded = JSON.parse(stdout) as string[];
    assert.ok(loaded.some((name) => name.endsWith("/http/routes.ts")));
    const libraries = loaded.filter((name) => name.includes("node_modules") || name.includes("fastify"));
    assert.deepEqual(libraries, []);
  });
});
