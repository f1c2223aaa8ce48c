// Bodies of writes: JSON in UTF-8, gzip or not, or one reading per line; and the errors for everything else.

import assert from "node:assert/strict";
import type { IncomingMessage } from "node:http";
import { Readable } from "node:stream";
import { after, describe, it } from "node:test";
import { brotliCompressSync, deflateSync, gzipSync } from "node:zlib";
import type { Reservation } from "../../src/http/body.ts";
import { readContent } from "../../src/http/content.ts";
import { expectError, type RequestOptions, request } from "./client.ts";
import { echoed, LARGE_BYTES, MAX_BYTES, MAX_ITEMS, startEcho } from "./services.ts";

const echo = await startEcho({ after });
const key = await echo.key();
const VALID = '{"name":"valve","place":{"latitude":47.9}}';

type Body = RequestOptions["body"];
type Headers = RequestOptions["headers"];

const post = (path: string, body: Body, headers: Headers = {}, method = "POST") => {
  const given = { "content-type": "application/json", ...headers };
  return request(echo, path, { method, key, headers: given, ...(body === undefined ? {} : { body }) });
};
const create = (body: Body, headers: Headers = {}) => post("/manage/v1/things", body, headers);
const change = (body: Body, headers: Headers = {}) => post("/manage/v1/things/1", body, headers, "PATCH");
const sendThings = (body: Body, type = "application/json") => post("/ingest/v1/things", body, { "content-type": type });

describe("a JSON body", () => {
  it("reaches the route as it is, with or without a byte order mark and blanks", async () => {
    for (const [body, value] of [
      [VALID, JSON.parse(VALID)],
      ["[1, null, {}]", [1, null, {}]],
      ['"ü \\u00fc \u{1f600}"', "ü ü \u{1f600}"],
      ["\ufeff\r\n {} \n", {}],
      ['{"a":1,"a":2}', { a: 2 }],
    ] as const) {
      assert.deepEqual(echoed(await change(body)).body, value);
    }
  });

  it("cannot change prototypes", async () => {
    const { text } = await change('{"__proto__":{"polluted":1},"constructor":{"prototype":{"polluted":1}}}');
    assert.ok(text.includes('"__proto__":{"polluted":1}'), text);
    assert.equal((Object.prototype as { polluted?: unknown }).polluted, undefined);
    const { errors } = expectError(await create('{"__proto__":1,"name":"x","place":{"latitude":1}}'), 400, "body_invalid");
    assert.deepEqual(errors, [{ field: "__proto__", message: "is not a known field" }]);
  });

  it("may be nested 64 levels deep", async () => {
    const nested = (levels: number) => `{"name":${"[".repeat(levels - 1)}${"]".repeat(levels - 1)},"place":{"latitude":1}}`;
    const { errors } = expectError(await create(nested(64)), 400, "body_invalid");
    assert.deepEqual(errors, [{ field: "name", message: "must be a string" }]);
    for (const deep of [nested(65), nested(5000), nested(MAX_BYTES / 4), "[".repeat(MAX_BYTES), '{"a":'.repeat(10_000)]) {
      const { detail } = expectError(await create(deep), 400, "body_invalid");
      assert.equal(detail, "The body must not be nested deeper than 64 levels.");
    }
    const brackets = VALID.replace("valve", String.raw`[[[\"{{{\\`);
    assert.equal((await create(`${" ".repeat(100)}${brackets}`)).status, 201, "brackets in strings do not count");
  });

  it("has at most one value per 16 bytes of the size limit", async () => {
    const values = (count: number) => `{"name":"x","place":{"latitude":1},"marks":[${"1,".repeat(count - 5)}1]}`;
    expectError(await create(values(MAX_BYTES / 16)), 400, "body_invalid");
    const { detail } = expectError(await create(values(MAX_BYTES / 16 + 1)), 413, "body_too_large");
    assert.equal(detail, "The request body may have at most 4096 values.");
  });

  it("gets all its field errors in one response", async () => {
    const body = '{"naem":"x","place":{"latitude":100,"nite":1},"marks":[1,-1,2.5]}';
    const { detail, errors } = expectError(await create(body), 400, "body_invalid");
    const fields = errors?.map(({ field }) => field);
    assert.deepEqual(fields, ["naem", "name", "place.nite", "place.latitude", "marks[1]", "marks[2]"]);
    assert.equal(detail, 'naem: is not a known field. Did you mean "name"? The body has 6 errors: see "errors".');
  });

  it("is application/json in UTF-8, in any spelling", async () => {
    for (const type of [
      "application/json; charset=utf-8",
      "Application/JSON",
      'application/json;charset="UTF-8"',
      "application/json ; charset=utf8; x=y",
    ]) {
      assert.equal((await create(VALID, { "content-type": type })).status, 201, type);
    }
    for (const type of [
      ...[undefined, "", "text/json", "text/plain", "application/x-www-form-urlencoded", "multipart/form-data; boundary=x"],
      ...["application/merge-patch+json", "application/x-ndjson", "nonsense", ";;;", "application/jsonx"],
      "application/json, text/plain",
    ]) {
      const { detail } = expectError(await create(VALID, { "content-type": type }), 415, "media_type_unsupported");
      assert.match(detail, /must be application\/json;/);
    }
    for (const charset of ["iso-8859-1", "utf-16", "us-ascii", "", '"utf-8x"', '"utf-8', '""x', "utf-8 x", "utf-8="]) {
      const response = await create(VALID, { "content-type": `application/json; charset=${charset}` });
      assert.match(expectError(response, 415, "media_type_unsupported").detail, /UTF-8/);
    }
    for (const hex of ["22fc22", "fffe7b00", "eda080", "c0af"]) {
      expectError(await create(Buffer.from(hex, "hex")), 400, "encoding_invalid");
    }
  });

  it("of a PATCH may be a merge patch", async () => {
    for (const type of ["application/merge-patch+json", "application/json"]) {
      assert.deepEqual(echoed(await change('{"name":null}', { "content-type": type })).body, { name: null });
    }
    const response = await change("{}", { "content-type": "application/json-patch+json" });
    const { detail } = expectError(response, 415, "media_type_unsupported");
    assert.ok(detail.includes("application/merge-patch+json or application/json"), detail);
  });

  it("has a size limit", async () => {
    const padded = VALID.padEnd(MAX_BYTES);
    assert.equal((await create(padded)).status, 201);
    const { detail } = expectError(await create(`${padded} `), 413, "body_too_large");
    assert.equal(detail, "The request body may have at most 65536 bytes.");
    expectError(await create(`${padded} `, { "transfer-encoding": "chunked" }), 413, "body_too_large");
  });

  it("may be missing only where it is optional or not accepted", async () => {
    for (const headers of [{}, { "content-type": undefined }, { "content-length": "0" }]) {
      assert.match(expectError(await create(undefined, headers), 400, "body_missing").detail, /application\/json/);
    }
    expectError(await create("", { "transfer-encoding": "chunked" }), 400, "body_missing");
    expectError(await post("/ingest/v1/things", undefined), 400, "body_missing");
    const note = (body?: string) => post("/manage/v1/things/1/note", body, {}, "PUT");
    assert.equal(echoed(await note()).body, null);
    assert.deepEqual(echoed(await note("{}")).body, {});
    expectError(await note("{"), 400, "body_malformed");
    assert.equal((await post("/manage/v1/things/1/restore", undefined)).status, 200);
    const { detail } = expectError(await post("/manage/v1/things/1/restore", "{}"), 415, "media_type_unsupported");
    assert.equal(detail, "This endpoint does not accept a body.");
  });
});

it("a control character of a body does not appear in the error", async () => {
  const { detail } = expectError(await create('{"a":\u0000}'), 400, "body_malformed");
  assert.match(detail, /^The body is not JSON: .*\ufffd/);
});

it("a body that is not JSON gets the message of the parser, with the position", async () => {
  for (const [body, words] of [
    [" ", "Unexpected end of JSON input"],
    ['{\n  "a" 1\n}', "Expected ':' after property name in JSON at position 8 (line 2 column 7)"],
    ["[1,]", "Unexpected token ']', \"[1,]\" is not valid JSON"],
    ["size=2", "Unexpected token 's', \"size=2\" is not valid JSON"],
  ] as const) {
    assert.equal(expectError(await create(body), 400, "body_malformed").detail, `The body is not JSON: ${words}.`);
  }
  for (const body of ["{", '{"a":1,}', "{} {}", '"a', '"\n"', `["${"x".repeat(5000)}`]) {
    const { detail } = expectError(await create(body), 400, "body_malformed");
    assert.ok(detail.length < 200, detail);
  }
});

describe("a compressed body", () => {
  const gzip = { "content-encoding": "gzip" };

  it("may be gzip, in one or more members", async () => {
    for (const name of ["gzip", "GZip", "x-gzip"]) {
      assert.deepEqual(echoed(await create(gzipSync(VALID), { "content-encoding": name })).body, JSON.parse(VALID));
    }
    const members = Buffer.concat([gzipSync(VALID.slice(0, 9)), gzipSync(VALID.slice(9))]);
    assert.equal((await create(members, gzip)).status, 201);
    assert.equal((await create(VALID, { "content-encoding": "identity" })).status, 201);
    const lines = { ...gzip, "content-type": "application/x-ndjson" };
    assert.equal(echoed(await post("/ingest/v1/things", gzipSync('{"a":1}\n{"a":2}\n'), lines)).items.length, 2);
  });

  it("may not be anything else", async () => {
    for (const [name, body] of [
      ["deflate", deflateSync(VALID)],
      ["br", brotliCompressSync(VALID)],
      ["gzip, gzip", gzipSync(gzipSync(VALID))],
      ["zstd", Buffer.from(VALID)],
      ["nonsense", Buffer.from(VALID)],
    ] as const) {
      const { detail } = expectError(await create(body, { "content-encoding": name }), 415, "media_type_unsupported");
      assert.match(detail, /compressed with gzip only/);
    }
  });

  it("must be complete and intact", async () => {
    const whole = gzipSync(VALID);
    const flipped = Buffer.from(whole);
    flipped[whole.length - 5] = (flipped[whole.length - 5] ?? 0) ^ 1;
    for (const body of [Buffer.from(VALID), whole.subarray(0, -3), whole.subarray(0, 12), flipped, Buffer.of(0x1f, 0x8b)]) {
      expectError(await create(body, gzip), 400, "encoding_invalid");
    }
    expectError(await create(gzipSync(Buffer.from("\xfc", "latin1")), gzip), 400, "encoding_invalid");
    expectError(await create(gzipSync("{"), gzip), 400, "body_malformed");
    expectError(await create(undefined, gzip), 400, "body_missing");
  });

  it("has its size limit after decompression", async () => {
    assert.equal((await create(gzipSync(VALID.padEnd(MAX_BYTES)), gzip)).status, 201);
    const { detail } = expectError(await create(gzipSync(VALID.padEnd(MAX_BYTES + 1)), gzip), 413, "body_too_large");
    assert.match(detail, /at most 65536 bytes after decompression/);
  });

  it("that expands a thousandfold uses little memory", async () => {
    const member = gzipSync(Buffer.alloc(LARGE_BYTES));
    const bomb = Buffer.concat(Array.from({ length: 64 }, () => member));
    assert.ok(bomb.length < LARGE_BYTES / 10);
    const before = process.resourceUsage().maxRSS;
    const responses = await Promise.all(Array.from({ length: 4 }, () => post("/ingest/v1/loads", bomb, gzip)));
    for (const response of responses.filter(({ status }) => status !== 503)) expectError(response, 413, "body_too_large");
    assert.ok(responses.some(({ status }) => status === 413));
    const grown = (process.resourceUsage().maxRSS - before) / 1024;
    assert.ok(grown < 400, `grown by ${grown} MB`);
  });
});

describe("readings", () => {
  const NDJSON = "application/x-ndjson";
  const value = (one: unknown) => ({ value: one });

  it("are one object or a list", async () => {
    assert.deepEqual(echoed(await sendThings('{"a":1}')).items, [value({ a: 1 })]);
    assert.deepEqual(echoed(await sendThings('[{"a":1},2,null,[3]]')).items, [{ a: 1 }, 2, null, [3]].map(value));
    assert.deepEqual(echoed(await sendThings("[]")).items, []);
    assert.deepEqual(echoed(await sendThings('{"unreadable":"x"}')).items, [value({ unreadable: "x" })]);
    for (const body of ["1", '"x"', "null", "true"]) {
      assert.match(expectError(await sendThings(body), 400, "body_invalid").detail, /must be one reading or a list of them/);
    }
  });

  it("may be one per line; an invalid line is rejected by itself", async () => {
    for (const type of [NDJSON, "application/ndjson", "application/jsonl", "Application/X-NDJSON; charset=utf-8"]) {
      const { items } = echoed(await sendThings('{"a":1}\r\n\n{"b"}\n  \n[2]\nnull', type));
      const unreadable = "line 3 is not JSON: Expected ':' after property name in JSON at position 4";
      assert.deepEqual(items, [value({ a: 1 }), { unreadable }, value([2]), value(null)]);
    }
    const { detail } = expectError(await sendThings('{"a":1}\n{"a":2}'), 400, "body_malformed");
    assert.match(detail, /after JSON at position 8 \(line 2 column 1\)\. One object per line is application\/x-ndjson\.$/);
  });

  it("have a maximum number, in a list or one per line", async () => {
    const many = Array.from({ length: MAX_ITEMS }, (_, i) => i);
    assert.equal(echoed(await sendThings(JSON.stringify(many))).items.length, MAX_ITEMS);
    assert.equal(echoed(await sendThings(many.join("\n"), NDJSON)).items.length, MAX_ITEMS);
    for (const response of [
      await sendThings(JSON.stringify([...many, 1])),
      await sendThings([...many, "{"].join("\n"), NDJSON),
    ]) {
      assert.equal(expectError(response, 413, "body_too_large").detail, "The request body may have at most 100 readings.");
    }
  });

  it("of very many blank lines are read in steps, between which others are served", async () => {
    let steps = 0;
    const runInSteps = async <T>(iterator: Iterator<unknown, T>): Promise<T> => {
      for (;;) {
        steps++;
        const { done, value } = iterator.next();
        if (done === true) return value;
      }
    };
    const body = Object.assign(Readable.from([Buffer.alloc(8_000_000, "\n"), Buffer.from("1\n")]), {
      headers: { "transfer-encoding": "chunked" },
    });
    const reservation: Reservation = {
      reserve: () => {},
      add: () => {},
      schedule: (work) => work(),
      startLarge: async () => {},
      runInSteps,
      release: () => {},
    };
    const rule = { kind: "readings", maxBytes: 8_388_608, maxItems: 1, schema: {}, description: "" } as const;
    const { items } = await readContent(body as unknown as IncomingMessage, NDJSON, rule, reservation);
    assert.deepEqual(items, [value(1)]);
    assert.ok(steps > 5, String(steps));
  });
});
