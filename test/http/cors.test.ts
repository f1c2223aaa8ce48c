// Cross-origin requests: off unless configured, and then only for the configured origins.

import assert from "node:assert/strict";
import { after, describe, it } from "node:test";
import { type Ask, get, refused } from "./answers.ts";
import { type Fleet, startFleet } from "./fleet.ts";

const APP = "https://app.example.com";
const OTHER = "http://localhost:3000";
const off = await startFleet({ after });
const on = await startFleet({ after }, { environment: { CORS_ORIGINS: `${APP}, ${OTHER}` } });
const open = await startFleet({ after }, { environment: { CORS_ORIGINS: "*" } });

const from = (origin: string | undefined, more: Ask["headers"] = {}): Ask["headers"] => ({ origin, ...more });
const preflight = (fleet: Fleet, origin: string | undefined, path = "/v1/tanks") =>
  get(fleet, path, {
    method: "OPTIONS",
    headers: from(origin, { "access-control-request-method": "GET", "access-control-request-headers": "x-api-key" }),
  });
const ask = (fleet: Fleet, origin?: string, path = "/v1/tanks") =>
  get(fleet, path, { key: fleet.operator, headers: from(origin) });

/** Nothing a browser would take as leave. */
function expectNoLeave(headers: object): void {
  const granted = Object.keys(headers).filter((name) => name.startsWith("access-control-allow-origin"));
  assert.deepEqual(granted, []);
}

describe("while CORS is off", () => {
  it("OPTIONS is a method like any other that is not possible", async () => {
    const answer = await preflight(off, APP);
    refused(answer, 405, "method_not_allowed");
    assert.equal(answer.headers.allow, "GET, HEAD");
    expectNoLeave(answer.headers);
  });

  it("an answer says nothing of origins", async () => {
    const { headers } = await ask(off, APP);
    expectNoLeave(headers);
    assert.equal(headers.vary, undefined);
  });
});

describe("while CORS is on for two origins", () => {
  for (const origin of [APP, OTHER]) {
    it(`a preflight from ${origin} is granted`, async () => {
      const { status, headers } = await preflight(on, origin);
      assert.equal(status, 204);
      assert.equal(headers["access-control-allow-origin"], origin);
      assert.equal(headers["access-control-allow-methods"], "GET, HEAD, OPTIONS");
      assert.equal(headers.vary, "Origin");
      const allowed = String(headers["access-control-allow-headers"]).toLowerCase().split(", ");
      for (const name of ["x-api-key", "x-request-id", "if-none-match", "content-type"]) assert.ok(allowed.includes(name), name);
      assert.ok(Number(headers["access-control-max-age"]) > 0);
      assert.equal(headers["access-control-allow-credentials"], undefined);
    });

    it(`an answer to ${origin} may be read, with its headers`, async () => {
      const { status, headers } = await ask(on, origin);
      assert.equal(status, 200);
      assert.equal(headers["access-control-allow-origin"], origin);
      assert.equal(headers.vary, "Origin");
      const exposed = String(headers["access-control-expose-headers"]).toLowerCase().split(", ");
      for (const name of ["etag", "x-request-id", "ratelimit", "ratelimit-policy", "retry-after", "www-authenticate"]) {
        assert.ok(exposed.includes(name), name);
      }
    });
  }

  it("refusals may be read too", async () => {
    for (const [path, key] of [
      ["/v1/tanks?size=0", on.operator],
      ["/v1/tanks", undefined],
      ["/nothing", undefined],
    ] as const) {
      const answer = await get(on, path, { headers: from(APP), ...(key === undefined ? {} : { key }) });
      assert.ok(answer.status >= 400);
      assert.equal(answer.headers["access-control-allow-origin"], APP);
    }
  });

  it("a 304 may be read too", async () => {
    const { headers } = await ask(on, APP);
    const again = await get(on, "/v1/tanks", {
      key: on.operator,
      headers: from(APP, { "if-none-match": String(headers.etag) }),
    });
    assert.equal(again.status, 304);
    assert.equal(again.headers["access-control-allow-origin"], APP);
    assert.equal(again.headers.vary, "Origin");
  });

  for (const origin of [
    "https://evil.example",
    "https://app.example.com.evil.example",
    "https://APP.example.com",
    "http://app.example.com",
    "https://app.example.com:444",
    "null",
    "*",
    "",
  ]) {
    it(`another origin gets no leave: ${JSON.stringify(origin)}`, async () => {
      const answer = await ask(on, origin);
      assert.equal(answer.status, 200, "the request itself is not refused: origins are the browser's to enforce");
      expectNoLeave(answer.headers);
      assert.equal(answer.headers.vary, "Origin");
      expectNoLeave((await preflight(on, origin)).headers);
    });
  }

  it("an answer without an origin varies by it, for caches", async () => {
    const { headers } = await ask(on);
    assert.equal(headers.vary, "Origin");
    expectNoLeave(headers);
  });

  it("a preflight of an unknown path is 404", async () => {
    refused(await preflight(on, APP, "/v1/nothing"), 404, "route_unknown");
  });

  it("other methods are still 405, and OPTIONS is among those that are possible", async () => {
    const answer = await get(on, "/v1/tanks", { method: "POST", headers: from(APP) });
    refused(answer, 405, "method_not_allowed");
    assert.equal(answer.headers.allow, "GET, HEAD, OPTIONS");
  });
});

describe("while CORS is on for everyone", () => {
  it("any origin may read, and the answer does not vary", async () => {
    const { headers } = await ask(open, "https://anyone.example");
    assert.equal(headers["access-control-allow-origin"], "*");
    assert.equal(headers.vary, undefined);
    assert.equal((await preflight(open, "https://anyone.example")).status, 204);
  });
});
