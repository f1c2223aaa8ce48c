// Routes asked without the network: what the command line is told is what a caller is told over HTTP.

import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { after, describe, it } from "node:test";
import { promisify } from "node:util";
import { UNRESTRICTED } from "../../src/domain/key.ts";
import type { Caller } from "../../src/http/auth.ts";
import { dispatch, type LocalRequest } from "../../src/http/dispatch.ts";
import { send } from "./answers.ts";
import { openWorkshop, WORKSHOP } from "./workshop.ts";

const workshop = await openWorkshop({ after });
const secret = await workshop.key();
const [known] = await workshop.store.keyList();
assert.ok(known !== undefined);
const caller: Caller = { key: known, scope: UNRESTRICTED };
const { reads, metrics, services } = workshop.parts;
const here = (request: LocalRequest) => dispatch(WORKSHOP, { reads, metrics, services, caller }, request);

/** The same over the network; a request id aside. */
async function there({ method, path, query, body, headers = {} }: LocalRequest) {
  const answer = await send(workshop, query === undefined ? path : `${path}?${query}`, {
    method,
    key: secret,
    headers: {
      "content-type": body === undefined ? undefined : "application/json",
      "idempotency-key": headers.idempotencyKey,
      "if-match": headers.ifMatch,
    },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  const told: unknown =
    answer.text === "" ? undefined : JSON.parse(answer.text.replace(String(answer.headers["x-request-id"]), "local"));
  return { status: answer.status, body: told, location: answer.headers.location, etag: answer.headers.etag };
}

const THING = { name: "valve", place: { latitude: 47.9 } };

describe("a request from this machine is answered as one over the network", () => {
  const requests: readonly LocalRequest[] = [
    { method: "GET", path: "/manage/v1/things" },
    { method: "GET", path: "/manage/v1/things", query: "colour=red" },
    { method: "GET", path: "/manage/v1/things", query: "colour=1" },
    { method: "GET", path: "/manage/v1/things", query: "color=red" },
    { method: "GET", path: "/manage/v1/things/a%2Fb%20c" },
    { method: "GET", path: "/manage/v1/things/first/" },
    { method: "GET", path: "/manage/v1/things/%zz" },
    { method: "GET", path: "/manage/v1/nothing" },
    { method: "POST", path: "/manage/v1/things", body: THING, headers: { idempotencyKey: "once" } },
    { method: "POST", path: "/manage/v1/things", body: THING, headers: { idempotencyKey: "~".repeat(256) } },
    { method: "POST", path: "/manage/v1/things", body: { naem: 1 } },
    { method: "POST", path: "/manage/v1/things" },
    { method: "PATCH", path: "/manage/v1/things/1", body: { name: null }, headers: { ifMatch: '"1"' } },
    { method: "PATCH", path: "/manage/v1/things/state_conflict", body: {} },
    { method: "DELETE", path: "/manage/v1/things/1" },
    { method: "POST", path: "/manage/v1/things/1/restore" },
    { method: "PUT", path: "/manage/v1/things/1/note" },
    { method: "POST", path: "/ingest/v1/things", body: [{ a: 1 }, 2] },
    { method: "POST", path: "/ingest/v1/things", body: { a: 1 } },
    { method: "POST", path: "/ingest/v1/things", body: 1 },
    { method: "POST", path: "/ingest/v1/things", body: Array.from({ length: 101 }, () => 1) },
  ];
  for (const request of requests) {
    const { method, path, query = "", body } = request;
    it(`${method} ${path} ${query} ${body === undefined ? "" : JSON.stringify(body).slice(0, 40)}`, async () => {
      const { status, body: told, headers } = await here(request);
      assert.deepEqual({ status, body: told, location: headers["location"], etag: headers["etag"] }, await there(request));
    });
  }

  it("but for a wrong method, which has no HEAD here", async () => {
    const { status, body } = await here({ method: "PUT", path: "/manage/v1/things" });
    assert.equal(status, 405);
    assert.equal((body as { detail: string }).detail, "PUT is not allowed here; this path supports GET and POST.");
  });
});

describe("what is our own fault", () => {
  it("is thrown, for the person at the machine to report", async () => {
    const [route] = WORKSHOP;
    assert.ok(route !== undefined);
    const broken = { ...route, handle: () => Promise.reject(new Error("a bug")) };
    const environment = { reads, metrics, services, caller };
    await assert.rejects(dispatch([broken], environment, { method: "GET", path: route.path }), /a bug/);
  });
});

describe("asking without the network", () => {
  it("loads no framework", async () => {
    const url = (file: string) => JSON.stringify(new URL(`../../src/http/${file}`, import.meta.url).href);
    const script = `import { registerHooks } from "node:module"; const seen = [];
      registerHooks({ resolve: (name, context, next) => { const found = next(name, context); seen.push(found.url); return found; } });
      await import(${url("dispatch.ts")}); await import(${url("routes.ts")});
      console.log(JSON.stringify(seen));`;
    const { stdout } = await promisify(execFile)(process.execPath, ["--input-type=module", "-e", script]);
    const loaded = JSON.parse(stdout) as string[];
    assert.ok(loaded.some((name) => name.endsWith("/http/handler.ts")));
    assert.deepEqual(
      loaded.filter((name) => name.includes("node_modules") || name.includes("fastify")),
      [],
    );
  });
});
