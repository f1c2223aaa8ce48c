// One path, several methods: what each path answers, what a browser is told of it, and the order in which a write is refused.

import assert from "node:assert/strict";
import { after, describe, it } from "node:test";
import { heldClock } from "../support/clock.ts";
import { type Ask, get, refused } from "./answers.ts";
import { answersIn, exchange } from "./wire.ts";
import { MAX_BYTES, openWorkshop } from "./workshop.ts";

const APP = "https://app.example.com";
const { clock } = heldClock();
const off = await openWorkshop({ after }, { clock });
const on = await openWorkshop({ after }, { corsOrigins: [APP] });

const PATHS = [
  ["/manage/v1/things", ["GET", "HEAD", "POST"], "GET, HEAD and POST"],
  ["/manage/v1/things/1", ["GET", "HEAD", "PATCH", "DELETE"], "GET, HEAD, PATCH and DELETE"],
  ["/manage/v1/things/first", ["GET", "HEAD", "PATCH", "DELETE"], "GET, HEAD, PATCH and DELETE"],
  ["/manage/v1/things/1/restore", ["POST"], "POST"],
  ["/manage/v1/things/1/note/", ["PUT"], "PUT"],
  ["/ingest/v1/things", ["POST"], "POST"],
  ["/docs", ["GET", "HEAD"], "GET and HEAD"],
] as const;
const METHODS = ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "QUERY", "PROPFIND"];

describe("a method that a path does not answer", () => {
  for (const [path, methods, words] of PATHS) {
    it(`is told those that it does: ${path}`, async () => {
      for (const method of METHODS.filter((one) => !methods.some((known) => known === one))) {
        const answer = await get(off, path, { method });
        assert.equal(answer.headers.allow, methods.join(", "), method);
        if (method === "HEAD") assert.equal(answer.status, 405);
        else {
          const { detail } = refused(answer, 405, "method_not_allowed");
          assert.equal(detail, `${method} is not allowed here; this path supports ${words}.`);
        }
      }
    });

    it(`is told the same where the HTTP parser does not know it: ${path}`, async () => {
      const [answer] = answersIn(await exchange(off, `FOO ${path} HTTP/1.1\r\nHost: here\r\nConnection: close\r\n\r\n`));
      assert.ok(answer !== undefined);
      assert.equal(refused(answer, 405, "method_not_allowed").detail, `FOO is not allowed here; this path supports ${words}.`);
      assert.equal(answer.headers.allow, methods.join(", "));
    });

    it(`is told of OPTIONS too, where browsers may ask: ${path}`, async () => {
      const answer = await get(on, path, { method: "PROPFIND", headers: { origin: APP } });
      refused(answer, 405, "method_not_allowed");
      assert.equal(answer.headers.allow, [...methods, "OPTIONS"].join(", "));
    });

    it(`a browser asks for is granted by path: ${path}`, async () => {
      const headers = { origin: APP, "access-control-request-method": "PATCH", "access-control-request-headers": "if-match" };
      const answer = await get(on, path, { method: "OPTIONS", headers });
      assert.equal(answer.status, 204);
      assert.equal(answer.headers["access-control-allow-methods"], [...methods, "OPTIONS"].join(", "));
      const allowed = String(answer.headers["access-control-allow-headers"]).toLowerCase().split(", ");
      for (const name of ["x-api-key", "content-type", "content-encoding", "idempotency-key", "if-match"]) {
        assert.ok(allowed.includes(name), name);
      }
    });
  }

  it("is 404 on a path that does not exist", async () => {
    for (const method of METHODS) {
      const answer = await get(off, "/manage/v1/nothing", { method });
      assert.equal(answer.status, 404);
      assert.equal(answer.headers.allow, undefined);
    }
  });
});

describe("a write with several faults is told the first", () => {
  const PATH = "/manage/v1/things/tank_unknown";
  const faults: Ask = { headers: { "content-type": "text/plain" }, body: " ".repeat(MAX_BYTES + 1) };
  const patch = (path: string, ask: Ask) => get(off, path, { method: "PATCH", ...ask });

  it("path, method, key, role, rate, parameters, media type, size, JSON, object", async () => {
    const spent = await off.key({ rate: 1 });
    for (let i = 0; i < 2; i++) await get(off, "/manage/v1/things", { key: spent });
    const ingest = await off.key({ role: "ingest", rate: 1 });
    const key = await off.key();
    refused(await patch("/manage/v2/things/1?x", faults), 404, "route_unknown");
    refused(await get(off, `${PATH}?x`, { method: "PUT", ...faults }), 405, "method_not_allowed");
    refused(await patch(`${PATH}?x`, faults), 401, "key_missing");
    refused(await patch(`${PATH}?x`, { key: "tm_x", ...faults }), 401, "key_invalid");
    for (let i = 0; i < 4; i++) refused(await patch(`${PATH}?x`, { key: ingest, ...faults }), 403, "role_insufficient");
    refused(await patch(`${PATH}?x`, { key: spent, ...faults }), 429, "rate_limited");
    refused(await patch("/manage/v1/things/%zz?x", { key, ...faults }), 400, "encoding_invalid");
    refused(await patch(`${PATH}?x`, { key, ...faults }), 400, "parameter_unknown", "x");
    refused(await patch(PATH, { key, ...faults }), 415, "media_type_unsupported");
    const large = { ...faults, headers: { "content-type": "application/json" } };
    refused(await patch(PATH, { key, ...large }), 413, "body_too_large");
    refused(await patch(PATH, { key, ...large, body: "{" }), 400, "body_malformed");
    refused(await patch(PATH, { key, ...large, body: "{}" }), 404, "tank_unknown");
  });
});
