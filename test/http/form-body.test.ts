// List parameters in the body of a GET, as the documented curl calls send them.

import assert from "node:assert/strict";
import { execFile } from "node:child_process";
import { after, describe, it } from "node:test";
import { promisify } from "node:util";
import { customerRecord } from "../support/records.ts";
import { get, listOf, refused } from "./answers.ts";
import { ENDPOINTS, startFleet } from "./fleet.ts";

const fleet = await startFleet({ after });
const key = fleet.operator;
const LISTS = ENDPOINTS.filter(({ isList }) => isList).map(({ path }) => path);

describe("a form in the body of a GET", () => {
  for (const path of LISTS) {
    for (const query of [
      "size=2",
      "page=2&size=1",
      "created_at_gte=2025-01-01T00:00:00Z",
      "created_at_lte=2026-11-14T10:00:00+02:00&size=3",
      "s%69ze=%32",
      "&size=2&&",
    ]) {
      it(`${path} answers ${query} with the same bytes as in the query`, async () => {
        const inQuery = await get(fleet, `${path}?${query}`, { key });
        const inBody = await get(fleet, path, { key, body: query });
        assert.equal(inBody.status, 200);
        assert.equal(inBody.text, inQuery.text);
      });
    }

    for (const wrong of ["size=0", "colour=red", "size=1&size=1", "size=%zz", "size=%ff", "=1"]) {
      it(`${path} refuses ${wrong} with the same words as in the query`, async () => {
        const inQuery = JSON.parse((await get(fleet, `${path}?${wrong}`, { key })).text);
        const inBody = JSON.parse((await get(fleet, path, { key, body: wrong })).text);
        assert.equal(inBody.status, 400);
        assert.deepEqual({ ...inBody, request_id: "" }, { ...inQuery, request_id: "" });
      });
    }

    it(`${path} takes one parameter here and another there, but none in both`, async () => {
      const list = listOf(await get(fleet, `${path}?size=1`, { key, body: "page=2" }));
      assert.deepEqual([list.size, list.page], [1, 2]);
      refused(await get(fleet, `${path}?size=1`, { key, body: "size=1" }), 400, "parameter_repeated", "size");
    });

    it(`${path} is never kept by a cache`, async () => {
      const answer = await get(fleet, path, { key, body: "size=2" });
      assert.equal(answer.headers["cache-control"], "no-store");
      assert.equal(answer.headers.etag, undefined);
      const again = await get(fleet, path, { key, body: "size=2", headers: { "if-none-match": "*" } });
      assert.equal(again.status, 200);
    });
  }

  it("finds an e-mail with letters of every script, raw or encoded", async () => {
    await fleet.store.importCustomers([customerRecord("cus_ü", { email: "büro@öl.example" })]);
    for (const body of ["email=büro@öl.example", `email=${encodeURIComponent("büro@öl.example")}`]) {
      assert.equal(listOf(await get(fleet, "/v1/customers", { key, body })).total_items, 1);
    }
  });

  it("refuses bytes that are not UTF-8", async () => {
    const body = Buffer.from("email=b\xfcro@x", "latin1");
    refused(await get(fleet, "/v1/customers", { key, body }), 400, "encoding_invalid");
  });

  it("may come in chunks", async () => {
    const answer = await get(fleet, "/v1/tanks", { key, body: "size=2", headers: { "transfer-encoding": "chunked" } });
    assert.equal(listOf(answer).size, 2);
  });

  it("is a form in any spelling of its media type", async () => {
    for (const type of [
      "application/x-www-form-urlencoded; charset=utf-8",
      "Application/X-WWW-Form-URLencoded",
      "application/x-www-form-urlencoded ;charset=UTF-8",
    ]) {
      const answer = await get(fleet, "/v1/tanks", { key, body: "size=2", headers: { "content-type": type } });
      assert.equal(listOf(answer).size, 2, type);
    }
  });

  it("may be 8 KiB long", async () => {
    const email = "a".repeat(8192 - "email=@x".length);
    assert.equal((await get(fleet, "/v1/customers", { key, body: `email=${email}@x` })).status, 200);
    refused(await get(fleet, "/v1/customers", { key, body: `email=${email}a@x` }), 413, "body_too_large");
  });

  it("of a megabyte is refused, and the service goes on", async () => {
    refused(await get(fleet, "/v1/tanks", { key, body: "a".repeat(1_000_000) }), 413, "body_too_large");
    assert.equal((await get(fleet, "/v1/tanks", { key })).status, 200);
  });
});

describe("any other body", () => {
  for (const type of [
    "application/json",
    "text/plain",
    "multipart/form-data; boundary=x",
    "application/xml",
    "x/y",
    "nonsense",
  ]) {
    it(`is refused as ${type}`, async () => {
      const answer = await get(fleet, "/v1/tanks", { key, body: "size=2", headers: { "content-type": type } });
      refused(answer, 415, "media_type_unsupported");
    });
  }

  it("is refused without a media type", async () => {
    const answer = await get(fleet, "/v1/tanks", { key, headers: { "content-type": undefined }, body: "size=2" });
    refused(answer, 415, "media_type_unsupported");
  });
});

describe("a Content-Type without a body", () => {
  for (const type of ["application/json", "text/plain", "nonsense", "application/x-www-form-urlencoded"]) {
    it(`says nothing: ${type}`, async () => {
      for (const more of [{}, { "content-length": "0" }]) {
        const answer = await get(fleet, "/v1/tanks?size=1", { key, headers: { "content-type": type, ...more } });
        assert.equal(listOf(answer).size, 1);
        assert.ok(answer.headers.etag !== undefined, "and the answer may be validated later");
      }
    });
  }

  it("says nothing where the body is an empty chunk", async () => {
    for (const type of ["application/json", "nonsense"]) {
      const headers = { "content-type": type, "transfer-encoding": "chunked" };
      assert.equal((await get(fleet, "/v1/tanks", { key, headers, body: "" })).status, 200, type);
    }
  });
});

describe("curl", () => {
  const curl = async (...words: string[]) => {
    const { stdout } = await promisify(execFile)("curl", ["-sS", "-H", `X-API-Key: ${key}`, ...words]);
    return stdout;
  };

  it("gets the same bytes with -G and with -X GET", async (t) => {
    const url = `${fleet.url}/v1/tanks`;
    try {
      await curl("--version");
    } catch {
      t.skip("there is no curl here");
      return;
    }
    const inQuery = await curl("-G", url, "-d", "size=2", "-d", "created_at_lte=2025-05-02T02:00:00+02:00");
    const inBody = await curl("-X", "GET", url, "-d", "size=2", "-d", "created_at_lte=2025-05-02T02:00:00+02:00");
    assert.equal(inBody, inQuery);
    assert.equal(JSON.parse(inBody).total_items, 3);
    assert.match(await curl(url, "-d", "size=2"), /With curl, add -G/);
  });
});
