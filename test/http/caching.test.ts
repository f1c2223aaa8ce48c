// Validators, and the ids of requests.

import assert from "node:assert/strict";
import { after, describe, it } from "node:test";
import { putReadings } from "../support/records.ts";
import { type Ask, get, refused } from "./answers.ts";
import { ENDPOINTS, NEWEST, startFleet } from "./fleet.ts";

const fleet = await startFleet({ after });
const key = fleet.operator;
const ask = (path: string, headers: Ask["headers"] = {}) => get(fleet, path, { key, headers });
const tagOf = async (path: string) => String((await ask(path)).headers.etag);

for (const { path } of ENDPOINTS) {
  describe(path, () => {
    it("has a strong ETag, and asks caches to check it", async () => {
      const { headers } = await ask(path);
      assert.match(String(headers.etag), /^"[\x21\x23-\x7e]+"$/);
      assert.equal(headers["cache-control"], "private, no-cache");
    });

    it("is not sent again to whoever names its ETag", async () => {
      const tag = await tagOf(path);
      for (const known of [tag, `W/${tag}`, `"other", ${tag}`, `"other",${tag},"more"`, `W/"other", W/${tag}`, "*", ` ${tag} `]) {
        const answer = await ask(path, { "if-none-match": known });
        assert.equal(answer.status, 304, known);
        assert.equal(answer.headers.etag, tag);
        assert.equal(answer.headers["cache-control"], "private, no-cache");
      }
      const twice = await ask(path, { "if-none-match": ['"other"', tag] });
      assert.equal(twice.status, 304, "two headers are one list");
    });

    it("is sent to whoever has something else", async () => {
      const tag = await tagOf(path);
      for (const known of [
        '"other"',
        "",
        tag.slice(1, -1),
        `${tag}x`,
        tag.toUpperCase() === tag ? "x" : tag.toUpperCase(),
        "**",
      ]) {
        assert.equal((await ask(path, { "if-none-match": known })).status, 200, known);
      }
    });

    it("is not affected by If-Modified-Since", async () => {
      assert.equal((await ask(path, { "if-modified-since": new Date(Date.now() + 60_000).toUTCString() })).status, 200);
    });
  });
}

describe("an ETag", () => {
  it("differs where the bytes differ", async () => {
    const paths = ["/v1/tanks", "/v1/tanks?size=1", "/v1/tanks?size=2", "/v1/tanks/tank_hall", "/v1/tanks/tank_yard"];
    const tags = await Promise.all(paths.map(tagOf));
    assert.equal(new Set(tags).size, paths.length);
  });

  it("is the same where the bytes are the same", async () => {
    assert.equal(await tagOf("/v1/tanks?size=1"), await tagOf("/v1/tanks/?%73ize=1"));
  });

  it("changes with the next reading", async () => {
    const path = "/v1/tanks/tank_mill/telemetry";
    const tag = await tagOf(path);
    await putReadings(fleet.store, "tank_mill", [[NEWEST + 1, 50]]);
    const answer = await ask(path, { "if-none-match": tag });
    assert.equal(answer.status, 200);
    assert.notEqual(answer.headers.etag, tag);
  });

  it("is no way around a refusal", async () => {
    const headers = { "if-none-match": "*" };
    refused(await get(fleet, "/v1/tanks", { headers }), 401, "key_missing");
    refused(await ask("/v1/tanks?size=0", headers), 400, "parameter_invalid", "size");
    refused(await ask("/v1/tanks/tank_nothing", headers), 404, "tank_unknown");
  });

  it("of a deleted object is that of what remains", async () => {
    const tag = await tagOf("/v1/tanks/tank_scrapped");
    assert.equal((await ask("/v1/tanks/tank_scrapped", { "if-none-match": tag })).status, 304);
  });
});

describe("the id of a request", () => {
  const SANE = ["a", "42", "9f0d4f0e-6f0e-4c55-9a7e-0d5b6c1f2a10", "trace:1/2.3_4+5=6", "x".repeat(128)];
  const INSANE = ["", "x".repeat(129), "a b", "a,b", "a\tb", '"a"', "<script>", "a;b", "a\\b", "{}", "\u00e9", "a%0Ab"];
  const OURS = /^[\w-]{12}-[0-9a-z]{7}$/;

  for (const id of SANE) {
    it(`is the caller's own where it is sane: ${id.slice(0, 40)}`, async () => {
      assert.equal((await ask("/v1/tanks", { "x-request-id": id })).headers["x-request-id"], id);
      const refusal = await ask("/v1/tanks?size=0", { "x-request-id": id });
      assert.equal(refused(refusal, 400, "parameter_invalid", "size").request_id, id);
      assert.equal((await get(fleet, "/nothing", { headers: { "x-request-id": id } })).headers["x-request-id"], id);
    });
  }

  for (const id of INSANE) {
    it(`is ours where the caller's is not: ${JSON.stringify(id.slice(0, 40))}`, async () => {
      const refusal = await ask("/v1/tanks?size=0", { "x-request-id": id });
      const { request_id } = refused(refusal, 400, "parameter_invalid", "size");
      assert.match(request_id, OURS);
      assert.equal(refusal.headers["x-request-id"], request_id);
    });
  }

  it("is ours where the caller sends two", async () => {
    assert.match(String((await ask("/v1/tanks", { "x-request-id": ["a", "b"] })).headers["x-request-id"]), OURS);
  });

  it("is ours, and new each time, where the caller sends none", async () => {
    const ids = await Promise.all(Array.from({ length: 20 }, async () => (await ask("/v1/tanks")).headers["x-request-id"]));
    for (const id of ids) assert.match(String(id), OURS);
    assert.equal(new Set(ids).size, 20);
  });

  it("is on a 304, and on HEAD", async () => {
    const headers = { "x-request-id": "mine", "if-none-match": "*" };
    assert.equal((await ask("/v1/tanks", headers)).headers["x-request-id"], "mine");
    assert.equal((await get(fleet, "/v1/tanks", { key, method: "HEAD", headers })).headers["x-request-id"], "mine");
  });

  it("is in the operator's record of the request", async () => {
    await ask("/v1/tanks?size=7", { "x-request-id": "find-me" });
    const event = fleet.events.find((seen) => seen.kind === "request_completed" && seen.requestId === "find-me");
    assert.ok(event?.kind === "request_completed");
    const { method, path, route, status, code } = event;
    assert.deepEqual(
      { method, path, route, status, code },
      { method: "GET", path: "/v1/tanks", route: "/v1/tanks", status: 200, code: null },
    );
    assert.ok(!JSON.stringify(fleet.events).includes(key), "which never holds a key");
  });
});
