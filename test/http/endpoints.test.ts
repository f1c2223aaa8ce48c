// Each of the five /v1 endpoints: every status it documents, and which error a request with several errors gets.

import assert from "node:assert/strict";
import { after, describe, it } from "node:test";
import { manualClock } from "../support/clock.ts";
import { startService } from "../support/service.ts";
import { contract, expectError, list, object, operations, type RequestOptions, request } from "./client.ts";
import { ENDPOINTS, type Endpoint, startFleet } from "./services.ts";

const { clock } = manualClock();
const fleet = await startFleet({ after }, { clock });
const key = fleet.operator;
const ingest = await fleet.key({ role: "ingest", rate: 1 });
const spent = await fleet.key({ rate: 1 });
for (let i = 0; i < 2; i++) await request(fleet, "/v1/tanks", { key: spent });

const failing = await startFleet({ after });
const fail = () => Promise.reject(new Error("a bug"));
Object.assign(failing.store, { customerPage: fail, customerById: fail, tankPage: fail, tankById: fail, telemetryPage: fail });

const JSON_BODY: RequestOptions = { headers: { "content-type": "application/json" }, body: '{"size":2}' };
const MALFORMED_TYPE: RequestOptions = { headers: { "content-type": ";;;" }, body: "size=2" };
const LARGE_BODY: RequestOptions = { body: "&".repeat(9000) };
const WRONG_BODIES = [JSON_BODY, MALFORMED_TYPE, LARGE_BODY];

for (const endpoint of ENDPOINTS) {
  describe(`GET ${endpoint.path}`, () => {
    statuses(endpoint);
    precedence(endpoint);
  });
}

function statuses({ path, isList, unknown, operation }: Endpoint): void {
  const call = (options: RequestOptions = {}, query = "") => request(fleet, path + query, { key, ...options });
  /** 503 is tested in database-outage.test.ts. */
  const tested = ["503"];
  function status(code: number, name: string, test: () => Promise<void>): void {
    tested.push(String(code));
    it(`${code}: ${name}`, test);
  }

  status(200, "the documented object, the same bytes each time and with a trailing slash", async () => {
    const first = await call();
    assert.equal(object(first)["object"], isList ? "list" : path.includes("customers") ? "customer" : "tank");
    assert.equal((await call()).text, first.text);
    assert.equal((await request(fleet, `${path}/`, { key })).text, first.text);
  });

  status(304, "If-None-Match with the current ETag", async () => {
    const { headers } = await call();
    const again = await call({ headers: { "if-none-match": String(headers.etag) } });
    assert.deepEqual([again.status, again.headers.etag], [304, headers.etag]);
  });

  status(400, "unknown, invalid and repeated parameters, invalid percent-encoding", async () => {
    expectError(await call({}, "?colour=red"), 400, "parameter_unknown", "colour");
    expectError(await call({}, "/?colour=red"), 400, "parameter_unknown", "colour");
    expectError(await call({}, "?%zz=1"), 400, "encoding_invalid");
    if (!isList) return;
    expectError(await call({}, "?size=101"), 400, "parameter_invalid", "size");
    expectError(await call({}, "?page=1&page=1"), 400, "parameter_repeated", "page");
  });

  status(401, "no key, unknown key", async () => {
    const response = await request(fleet, path);
    expectError(response, 401, "key_missing");
    assert.equal(response.headers["www-authenticate"], 'ApiKey realm="tank-monitor", header="X-API-Key"');
    expectError(await call({ key: "tm_nonsense" }), 401, "key_invalid");
  });

  status(403, "an ingest key", async () => {
    const { detail } = expectError(await call({ key: ingest }), 403, "role_insufficient");
    assert.ok(detail.includes('"ingest"') && detail.includes('"read"'), detail);
  });

  if (unknown !== undefined) {
    status(404, "no such object", async () => {
      expectError(await request(fleet, unknown.path, { key }), 404, unknown.code);
    });
  }

  status(413, "a form of more than 8 KiB", async () => {
    assert.equal((await call({ body: "&".repeat(8192) })).status, 200);
    expectError(await call({ body: "&".repeat(8193) }), 413, "body_too_large");
  });

  status(415, "a body that is not a form", async () => {
    expectError(await call(JSON_BODY), 415, "media_type_unsupported");
  });

  status(429, "a key that has used up its rate", async () => {
    const limited = await fleet.key({ rate: 1 });
    for (let i = 0; i < 2; i++) assert.equal((await call({ key: limited })).status, 200);
    const response = await call({ key: limited });
    expectError(response, 429, "rate_limited");
    assert.equal(response.headers["retry-after"], "1");
  });

  status(431, "more than 100 headers, a header of 20 KB", async () => {
    const headers = Object.fromEntries(Array.from({ length: 101 }, (_, i) => [`x-${i}`, "1"]));
    expectError(await call({ headers }), 431, "headers_too_large");
    expectError(await call({ headers: { "x-large": "a".repeat(20_000) } }), 431, "headers_too_large");
  });

  status(500, "an internal error, whose cause only the operator sees", async () => {
    const id = `failed-${operation}`;
    const response = await request(failing, path, { key: failing.operator, headers: { "x-request-id": id } });
    const { detail } = expectError(response, 500, "internal");
    assert.equal(detail, "An internal error occurred. The operator can look it up by the request id.");
    assert.ok(failing.events.some((event) => event.kind === "request_failed" && event.requestId === id));
  });

  it("documents no status that is not tested here", async () => {
    const { document } = await contract(fleet);
    const documented = operations(document).find(({ operationId }) => operationId === operation)?.responses ?? {};
    assert.deepEqual(Object.keys(documented), tested.sort());
  });
}

/** Route → method → key → role → rate → media type and parameters → object. */
function precedence({ path, unknown }: Endpoint): void {
  const missing = unknown?.path ?? path;
  const wrong = `${missing}?size=0&colour=red`;

  it("reports an unknown route before a wrong method, key and body", async () => {
    expectError(await request(fleet, `/v2${wrong}`, { method: "POST", ...JSON_BODY }), 404, "route_unknown");
    for (const body of WRONG_BODIES) {
      expectError(await request(fleet, `/v2${wrong}`, { key: spent, ...body }), 404, "route_unknown");
    }
  });

  it("reports a wrong method before a wrong key, role, rate and body", async () => {
    for (const by of [undefined, "nonsense", ingest, spent, key]) {
      for (const body of WRONG_BODIES) {
        const options = by === undefined ? body : { key: by, ...body };
        expectError(await request(fleet, wrong, { method: "PUT", ...options }), 405, "method_not_allowed");
      }
    }
  });

  it("reports a missing or wrong key before a wrong body and wrong parameters", async () => {
    for (const body of WRONG_BODIES) {
      expectError(await request(fleet, wrong, body), 401, "key_missing");
      expectError(await request(fleet, wrong, { key: "nonsense", ...body }), 401, "key_invalid");
    }
    expectError(await request(fleet, `${missing}?%zz`), 401, "key_missing");
    expectError(await request(fleet, missing, { body: "size=%zz" }), 401, "key_missing");
  });

  it("reports an insufficient role before a used-up rate, a wrong body and wrong parameters", async () => {
    for (const body of [...WRONG_BODIES, ...WRONG_BODIES]) {
      expectError(await request(fleet, wrong, { key: ingest, ...body }), 403, "role_insufficient");
    }
  });

  it("reports a used-up rate before a wrong body, wrong parameters and an unknown object", async () => {
    for (const body of WRONG_BODIES) expectError(await request(fleet, wrong, { key: spent, ...body }), 429, "rate_limited");
    expectError(await request(fleet, wrong, { key: spent }), 429, "rate_limited");
    expectError(await request(fleet, missing, { key: spent }), 429, "rate_limited");
  });

  it("reports a wrong body and wrong parameters before an unknown object", async () => {
    expectError(await request(fleet, missing, { key, ...JSON_BODY }), 415, "media_type_unsupported");
    expectError(await request(fleet, missing, { key, ...MALFORMED_TYPE }), 415, "media_type_unsupported");
    expectError(await request(fleet, missing, { key, ...LARGE_BODY }), 413, "body_too_large");
    expectError(await request(fleet, `${missing}?colour=red`, { key }), 400, "parameter_unknown", "colour");
    expectError(await request(fleet, missing, { key, body: "colour=red" }), 400, "parameter_unknown", "colour");
    expectError(await request(fleet, `${missing}?%zz`, { key }), 400, "encoding_invalid");
    expectError(await request(fleet, missing, { key, body: "%zz" }), 400, "encoding_invalid");
  });
}

it("the lists of an empty service are empty", async (t) => {
  const empty = await startService(t);
  const reader = await empty.key();
  for (const path of ["/v1/customers", "/v1/tanks"]) {
    const expected = { object: "list", data: [], page: 1, size: 10, total_pages: 0, total_items: 0 };
    assert.deepEqual(list(await request(empty, path, { key: reader })), expected);
  }
});
