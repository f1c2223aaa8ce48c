// Well-formed requests with ill intent: SQL, prototypes, paths and scripts wherever a caller may write something.

import assert from "node:assert/strict";
import { after, describe, it } from "node:test";
import { get, listOf, refused, send } from "./answers.ts";
import { HALL_READINGS, startFleet } from "./fleet.ts";
import { harmless, plain, survives } from "./hostile.ts";
import { exchange } from "./wire.ts";

const fleet = await startFleet({ after });
const key = fleet.operator;

const WORDS = [
  "' OR '1'='1",
  "' OR 1=1 --",
  "'; DROP TABLE tank; --",
  '"; DELETE FROM customer; --',
  "1 UNION SELECT hash FROM api_key",
  "x') OR 1=1 --",
  "1; ATTACH DATABASE '/tmp/x' AS x",
  "%' OR name LIKE '%",
  "\\'; SELECT 1; --",
  "0 OR 1=1",
  "NULL",
  "?1",
  ":id",
  "$1",
  "__proto__",
  "constructor.prototype",
  "../../../../etc/passwd",
  "file:///etc/passwd",
  "#{7*7}",
  "{{7*7}}",
  "<script>alert(1)</script>",
  "\r\nSet-Cookie: a=b",
  "a\0b",
  "\u202e\ufeff\u2028",
  "\ud7ff\uffff",
  "A".repeat(3000),
];
const shown = (word: string) => JSON.stringify(word.slice(0, 40));

async function expectEverythingThere(): Promise<void> {
  assert.equal(listOf(await get(fleet, "/v1/customers", { key })).total_items, 2);
  assert.equal(listOf(await get(fleet, "/v1/tanks", { key })).total_items, 3);
  assert.equal(listOf(await get(fleet, "/v1/tanks/tank_hall/telemetry", { key })).total_items, HALL_READINGS);
}

describe("in a parameter", () => {
  for (const word of WORDS) {
    it(`is no more than a wrong value: ${shown(word)}`, async () => {
      const text = encodeURIComponent(word);
      for (const name of ["size", "page", "created_at_gte", "created_at_lte"]) {
        const { detail } = refused(await get(fleet, `/v1/tanks?${name}=${text}`, { key }), 400, "parameter_invalid", name);
        assert.ok(![...detail].some((character) => character < " "), detail);
        refused(await get(fleet, "/v1/tanks", { key, body: `${name}=${text}` }), 400, "parameter_invalid", name);
      }
      const byEmail = await get(fleet, `/v1/customers?email=${text}`, { key });
      if (byEmail.status !== 400) assert.equal(listOf(byEmail).total_items, 0);
      const { code } = JSON.parse((await get(fleet, `/v1/tanks?${text}=1`, { key })).text);
      assert.equal(code, "parameter_unknown");
      await expectEverythingThere();
    });
  }
});

describe("in an id", () => {
  for (const word of WORDS) {
    it(`names nothing: ${shown(word)}`, async () => {
      const id = encodeURIComponent(word).replaceAll(".", "%2E");
      for (const by of [key, fleet.brenner]) {
        refused(await get(fleet, `/v1/customers/${id}`, { key: by }), 404, "customer_unknown");
        refused(await get(fleet, `/v1/tanks/${id}`, { key: by }), 404, "tank_unknown");
        refused(await get(fleet, `/v1/tanks/${id}/telemetry`, { key: by }), 404, "tank_unknown");
      }
      await expectEverythingThere();
    });
  }
});

describe("in a form", () => {
  for (const [what, body] of [
    ["deep", `a${"[b]".repeat(2700)}=1`],
    [
      "of many names",
      Array.from({ length: 1500 }, (_, i) => `a${i}=1`)
        .join("&")
        .slice(0, 8000),
    ],
    ["of one name again and again", "size=1&".repeat(1000)],
    ["of percents", "%".repeat(8192)],
    ["of encoded NULs", "%00".repeat(2700)],
    ["of equals", "=".repeat(8192)],
    ["of prototypes", "__proto__[size]=1&constructor[prototype][size]=1"],
    ["of raw NULs", "\0".repeat(8192)],
    ["of JSON", '{"__proto__":{"size":1}}'],
  ] as const) {
    it(`${what} is refused`, async () => {
      const answer = await get(fleet, "/v1/tanks", { key, body });
      assert.equal(answer.status, 400, answer.text);
      assert.ok(answer.text.length < 1500, "in few words");
    });
  }
});

describe("in a header", () => {
  it("changes nothing", async () => {
    for (const word of WORDS.filter((text) => /^[\x20-\x7e]{1,100}$/.test(text))) {
      const names = ["If-None-Match", "X-Request-Id", "X-Forwarded-For", "Forwarded", "Cookie", "Origin", "Accept", "User-Agent"];
      const headers = names.map((name) => `${name}: ${word}`);
      await survives(fleet, plain(fleet, "/v1/tanks/tank_hall", ...headers), [200]);
      await survives(fleet, plain(fleet, "/v1/tanks/tank_hall", `Content-Type: ${word}`), [200]);
    }
    await expectEverythingThere();
  });
});

describe("at the documentation page", () => {
  for (const path of [
    "/docs/static/%00",
    "/docs/static/a%00b",
    "/docs/static/../../package.json",
    "/docs/static/..%2f..%2fpackage.json",
    "/docs/static/%2e%2e/%2e%2e/package.json",
    "/docs/static/..%5c..%5cpackage.json",
    "/docs/static//etc/passwd",
    "/docs/static/.env",
    "/docs/static/%zz",
    "/docs/static/%ff",
    `/docs/static/${"a".repeat(5000)}`,
    `/docs/static/${"a/".repeat(2000)}`,
    "/docs/../v1/tanks",
    "/docs/json/x",
  ]) {
    it(`${path.slice(0, 50)} finds nothing it should not`, async () => {
      const [answer] = await harmless(fleet, await exchange(fleet, plain(fleet, path)));
      assert.ok(answer !== undefined);
      assert.ok(answer.status >= 400 && answer.status < 500, answer.text);
    });
  }

  for (const range of ["bytes=99999999-", "bytes=5-1", "bytes=-0", "x=1-2", `bytes=${"0-1,".repeat(500)}0-1`]) {
    it(`a range of ${range.slice(0, 20)} is no fault of ours`, async () => {
      const { text } = await send(fleet, "/docs");
      const asset = /href="\.?\/?(?:docs\/)?(static\/[^"]+\.css)"/.exec(text)?.[1] ?? "static/swagger-ui.css";
      const answer = await send(fleet, `/docs/${asset}`, { headers: { range } });
      assert.ok(answer.status < 500, `${answer.status} ${answer.text.slice(0, 200)}`);
    });
  }
});
