// Methods: GET and HEAD are answered; every other one is told so, known to the framework or not.

import assert from "node:assert/strict";
import { METHODS } from "node:http";
import { after, describe, it } from "node:test";
import { type Answer, get, refused, send } from "./answers.ts";
import { ENDPOINTS, startFleet } from "./fleet.ts";
import { answersIn, exchange } from "./wire.ts";

const fleet = await startFleet({ after });
const key = fleet.operator;
const manage = await fleet.key({ role: "manage" });
const OPEN = ["/healthz", "/readyz", "/metrics", "/openapi.json", "/docs"];
/** CONNECT asks for a tunnel, and gets a closed connection. */
const OTHERS = METHODS.filter((method) => !["GET", "HEAD", "CONNECT"].includes(method));

const raw = async (method: string, path: string) => {
  const bytes = `${method} ${path} HTTP/1.1\r\nHost: here\r\nX-API-Key: ${key}\r\nConnection: close\r\n\r\n`;
  const [answer] = answersIn(await exchange(fleet, bytes));
  assert.ok(answer !== undefined);
  return answer;
};

describe("another method", () => {
  for (const method of OTHERS) {
    it(`${method} is 405 on a known path, 404 on an unknown one`, async () => {
      const answer = await get(fleet, "/v1/tanks/tank_hall", { method, key });
      const { detail } = refused(answer, 405, "method_not_allowed");
      assert.equal(answer.headers.allow, "GET, HEAD");
      assert.ok(detail.startsWith(`${method} is not allowed here`), detail);
      refused(await get(fleet, "/v1/tank", { method, key }), 404, "route_unknown");
    });
  }

  for (const method of ["FOO", "get", "Get", "GETX", "X", "!#$%&'*+-.^_`|~", "LONGMETHOD".repeat(20)]) {
    it(`${method.slice(0, 20)}, which the HTTP parser does not know, is no different`, async () => {
      for (const path of ["/v1/tanks", "/v1/tanks/tank_hall?size=1", "/v1/tanks/tank_hall/telemetry/", "/healthz"]) {
        const answer = await raw(method, path);
        refused(answer, 405, "method_not_allowed");
        assert.equal(answer.headers.allow, "GET, HEAD");
        assert.equal(answer.headers["content-type"], "application/problem+json; charset=utf-8");
        assert.equal(answer.headers["x-request-id"], JSON.parse(answer.text).request_id);
      }
      refused(await raw(method, "/v1/tank"), 404, "route_unknown");
    });
  }

  for (const path of OPEN) {
    it(`is 405 on ${path} too`, async () => {
      for (const method of ["POST", "DELETE", "OPTIONS"]) {
        const answer = await get(fleet, path, { method });
        refused(answer, 405, "method_not_allowed");
        assert.equal(answer.headers.allow, "GET, HEAD");
      }
    });
  }
});

describe("a POST of list parameters", () => {
  const post = (path: string, body: string) => get(fleet, path, { method: "POST", key, body });
  const hint = "add -G to the curl call";

  for (const body of ["size=2", "size=2&page=1", "created_at_gte=2026-01-01", "email=a@b"]) {
    it(`is told to add -G: ${body}`, async () => {
      for (const { path } of ENDPOINTS.filter(({ isList }) => isList)) {
        const { detail } = refused(await post(path, body), 405, "method_not_allowed");
        assert.ok(detail.includes(hint), detail);
      }
    });
  }

  it("is told nothing of -G where the body is something else", async () => {
    for (const body of ["", "name=x", "size=2&name=x", '{"size":2}', "__proto__=1", "constructor=1"]) {
      const { detail } = refused(await post("/v1/tanks", body), 405, "method_not_allowed");
      assert.ok(!detail.includes("-G"), detail);
    }
  });

  it("needs no key to be told", async () => {
    const answer = await get(fleet, "/v1/tanks", { method: "POST", body: "size=2" });
    assert.ok(refused(answer, 405, "method_not_allowed").detail.includes(hint));
  });
});

describe("HEAD", () => {
  /** What may differ between any two answers. */
  const lasting = ({ status, headers }: Answer) => {
    const { date: _, "x-request-id": id, ...rest } = headers;
    return { status, hasId: id !== undefined, ...rest };
  };

  for (const path of [
    ...ENDPOINTS.map((endpoint) => endpoint.path),
    "/v1/tanks?size=1",
    "/v1/tanks?size=0",
    "/v1/tanks/tank_nothing",
    "/v1/tanks/tank_scrapped",
    "/v1/nothing",
    "/healthz",
    "/readyz",
    "/openapi.json",
  ]) {
    it(`has the headers of GET, and no body: ${path}`, async () => {
      const [head, whole] = [await send(fleet, path, { method: "HEAD", key }), await send(fleet, path, { key })];
      if (whole.status >= 400) {
        // The request id is part of the body, so only its length can be the same.
        assert.equal(head.headers["content-length"], whole.headers["content-length"]);
      }
      assert.deepEqual(lasting(head), lasting(whole));
      assert.equal(head.text, "");
    });
  }

  it("asks for a key, as GET does", async () => {
    const answer = await get(fleet, "/v1/tanks", { method: "HEAD" });
    assert.equal(answer.status, 401);
    assert.ok(answer.headers["www-authenticate"] !== undefined);
  });

  it("knows If-None-Match", async () => {
    const { headers } = await get(fleet, "/v1/tanks", { key });
    const ask = { method: "HEAD", key, headers: { "if-none-match": String(headers.etag) } };
    assert.equal((await get(fleet, "/v1/tanks", ask)).status, 304);
  });

  it("reaches the metrics", async () => {
    const answer = await send(fleet, "/metrics", { method: "HEAD", key: manage });
    assert.deepEqual([answer.status, answer.text], [200, ""]);
  });

  it("leaves the connection clean for what follows", async () => {
    const request = (method: string) => `${method} /v1/tanks HTTP/1.1\r\nHost: here\r\nX-API-Key: ${key}\r\n`;
    const bytes = `${request("HEAD")}\r\n${request("HEAD")}Connection: close\r\n\r\n`;
    const answers = answersIn(await exchange(fleet, bytes), true);
    assert.deepEqual(
      answers.map(({ status }) => status),
      [200, 200],
    );
  });
});
