// What may stand in the body of a write: JSON in UTF-8, packed or not, or one object a line; and what is said of the rest.

import assert from "node:assert/strict";
import { after, describe, it } from "node:test";
import { brotliCompressSync, deflateSync, gzipSync } from "node:zlib";
import { type Answer, type Ask, get, refused } from "./answers.ts";
import { type Echoed, LARGE_BYTES, MAX_BYTES, MAX_ITEMS, openWorkshop } from "./workshop.ts";

const workshop = await openWorkshop({ after });
const key = await workshop.key();
const GOOD = '{"name":"valve","place":{"latitude":47.9}}';

const post = (path: string, body: Ask["body"], headers: Ask["headers"] = {}, method = "POST") => {
  const given = { "content-type": "application/json", ...headers };
  return get(workshop, path, { method, key, headers: given, ...(body === undefined ? {} : { body }) });
};
const make = (body: Ask["body"], headers: Ask["headers"] = {}) => post("/manage/v1/things", body, headers);
const change = (body: Ask["body"], headers: Ask["headers"] = {}) => post("/manage/v1/things/1", body, headers, "PATCH");
const sendThings = (body: Ask["body"], type = "application/json") => post("/ingest/v1/things", body, { "content-type": type });
const told = ({ status, text }: Answer): Echoed => {
  assert.ok(status === 200 || status === 201, text);
  return JSON.parse(text) as Echoed;
};

describe("a JSON body", () => {
  it("reaches the route as it is", async () => {
    assert.deepEqual(told(await make(GOOD)).body, JSON.parse(GOOD));
    assert.deepEqual(told(await change("[1, null, {}]")).body, [1, null, {}]);
    assert.deepEqual(told(await change('"ü \\u00fc \u{1f600}"')).body, "ü ü \u{1f600}");
  });

  it("may begin with a byte order mark, and stand in blanks", async () => {
    assert.deepEqual(told(await change("\ufeff\r\n {} \n")).body, {});
  });

  it("may name a field twice, or after an object's inheritance, without harm", async () => {
    assert.deepEqual(told(await change('{"a":1,"a":2}')).body, { a: 2 });
    const { text } = await change('{"__proto__":{"polluted":1},"constructor":{"prototype":{"polluted":1}}}');
    assert.ok(text.includes('"__proto__":{"polluted":1}'), text);
    assert.equal((Object.prototype as { polluted?: unknown }).polluted, undefined);
    const { errors } = refused(await make('{"__proto__":1,"name":"x","place":{"latitude":1}}'), 400, "body_invalid");
    assert.deepEqual(errors, [{ field: "__proto__", message: "is not a known field." }]);
  });

  it("may be nested 64 levels deep, and is refused beyond them without being read", async () => {
    const nested = (levels: number) => `{"name":${"[".repeat(levels - 1)}${"]".repeat(levels - 1)},"place":{"latitude":1}}`;
    assert.deepEqual(refused(await make(nested(64)), 400, "body_invalid").errors, [
      { field: "name", message: "must be a string" },
    ]);
    for (const deep of [nested(65), nested(5000), nested(MAX_BYTES / 4), "[".repeat(MAX_BYTES), '{"a":'.repeat(10_000)]) {
      const { detail } = refused(await make(deep), 400, "body_invalid");
      assert.equal(detail, "The body must not be nested deeper than 64 levels.");
    }
    const texts = GOOD.replace("valve", String.raw`[[[\"{{{\\`);
    assert.equal((await make(`${" ".repeat(100)}${texts}`)).status, 201, "what stands in a text opens nothing");
  });

  it("has at most one value for every sixteen bytes that it may have", async () => {
    const list = (values: number) => `{"name":"x","place":{"latitude":1},"marks":[${"1,".repeat(values - 5)}1]}`;
    refused(await make(list(MAX_BYTES / 16)), 400, "body_invalid");
    const { detail } = refused(await make(list(MAX_BYTES / 16 + 1)), 413, "body_too_large");
    assert.equal(detail, "A body here may have at most 4096 values.");
  });

  it("is checked field by field, all in one answer", async () => {
    const body = '{"naem":"x","place":{"latitude":100,"nite":1},"marks":[1,-1,2.5]}';
    const { detail, errors } = refused(await make(body), 400, "body_invalid");
    assert.deepEqual(
      errors?.map(({ field }) => field),
      ["naem", "name", "place.nite", "place.latitude", "marks[1]", "marks[2]"],
    );
    assert.equal(detail, 'naem: is not a known field. Did you mean "name"? The body has 6 errors: see "errors".');
  });

  for (const type of [
    "application/json; charset=utf-8",
    "Application/JSON",
    'application/json;charset="UTF-8"',
    "application/json ; charset=utf8; x=y",
  ]) {
    it(`may be called ${type}`, async () => {
      assert.equal((await make(GOOD, { "content-type": type })).status, 201);
    });
  }

  for (const type of [
    undefined,
    "",
    "text/json",
    "text/plain",
    "application/x-www-form-urlencoded",
    "multipart/form-data; boundary=x",
    "application/merge-patch+json",
    "application/x-ndjson",
    "nonsense",
    ";;;",
    "application/jsonx",
    "application/json, text/plain",
  ]) {
    it(`may not be called ${type}`, async () => {
      const { detail } = refused(await make(GOOD, { "content-type": type }), 415, "media_type_unsupported");
      assert.match(detail, /must be application\/json;/);
    });
  }

  for (const charset of ["iso-8859-1", "utf-16", "us-ascii", "", '"utf-8x"']) {
    it(`may not be in ${charset}`, async () => {
      const answer = await make(GOOD, { "content-type": `application/json; charset=${charset}` });
      assert.match(refused(answer, 415, "media_type_unsupported").detail, /UTF-8/);
    });
  }

  it("of a PATCH may be a merge patch", async () => {
    for (const type of ["application/merge-patch+json", "application/json"]) {
      assert.deepEqual(told(await change('{"name":null}', { "content-type": type })).body, { name: null });
    }
    const { detail } = refused(
      await change("{}", { "content-type": "application/json-patch+json" }),
      415,
      "media_type_unsupported",
    );
    assert.ok(detail.includes("application/merge-patch+json or application/json"), detail);
  });

  it("must be UTF-8", async () => {
    for (const bytes of [
      [0x22, 0xfc, 0x22],
      [0xff, 0xfe, 0x7b, 0x00],
      [0xed, 0xa0, 0x80],
      [0xc0, 0xaf],
    ]) {
      refused(await make(Buffer.from(bytes)), 400, "encoding_invalid");
    }
  });

  it("has at most so many bytes", async () => {
    const padded = GOOD.padEnd(MAX_BYTES);
    assert.equal((await make(padded)).status, 201);
    const { detail } = refused(await make(`${padded} `), 413, "body_too_large");
    assert.equal(detail, "A body here may have at most 65536 bytes.");
    refused(await make(`${padded} `, { "transfer-encoding": "chunked" }), 413, "body_too_large");
  });
});

describe("a body that is not JSON", () => {
  for (const [body, words] of [
    [" ", "Unexpected end of JSON input"],
    ['{\n  "a" 1\n}', "Expected ':' after property name in JSON at position 8 (line 2 column 7)"],
    ["[1,]", "Unexpected token ']', \"[1,]\" is not valid JSON"],
    ["size=2", "Unexpected token 's', \"size=2\" is not valid JSON"],
  ] as const) {
    it(`is told where: ${JSON.stringify(body)}`, async () => {
      assert.equal(refused(await make(body), 400, "body_malformed").detail, `The body is not JSON: ${words}.`);
    });
  }
});

describe("no body", () => {
  it("is refused where one is needed, with or without a media type", async () => {
    for (const headers of [{}, { "content-type": undefined }, { "content-length": "0" }]) {
      assert.match(refused(await make(undefined, headers), 400, "body_missing").detail, /application\/json/);
    }
    refused(await make("", { "transfer-encoding": "chunked" }), 400, "body_missing");
    refused(await post("/ingest/v1/things", undefined), 400, "body_missing");
  });

  it("is fine where one may be left out, or none is read", async () => {
    const note = (body?: string) => post("/manage/v1/things/1/note", body, {}, "PUT");
    assert.equal(told(await note()).body, null);
    assert.deepEqual(told(await note("{}")).body, {});
    refused(await note("{"), 400, "body_malformed");
    assert.equal((await post("/manage/v1/things/1/restore", undefined)).status, 200);
    const { detail } = refused(await post("/manage/v1/things/1/restore", "{}"), 415, "media_type_unsupported");
    assert.equal(detail, "This endpoint does not accept a body.");
  });
});

describe("a packed body", () => {
  const gzip = { "content-encoding": "gzip" };

  it("is unpacked", async () => {
    for (const name of ["gzip", "GZip", "x-gzip"]) {
      assert.deepEqual(told(await make(gzipSync(GOOD), { "content-encoding": name })).body, JSON.parse(GOOD));
    }
    const inTwo = Buffer.concat([gzipSync(GOOD.slice(0, 9)), gzipSync(GOOD.slice(9))]);
    assert.equal((await make(inTwo, gzip)).status, 201);
    assert.equal((await make(GOOD, { "content-encoding": "identity" })).status, 201);
  });

  for (const [name, body] of [
    ["deflate", deflateSync(GOOD)],
    ["br", brotliCompressSync(GOOD)],
    ["gzip, gzip", gzipSync(gzipSync(GOOD))],
    ["zstd", Buffer.from(GOOD)],
    ["nonsense", Buffer.from(GOOD)],
  ] as const) {
    it(`may not be packed with ${name}`, async () => {
      const { detail } = refused(await make(body, { "content-encoding": name }), 415, "media_type_unsupported");
      assert.match(detail, /compressed with gzip only/);
    });
  }

  it("must be what it says", async () => {
    const whole = gzipSync(GOOD);
    const flipped = Buffer.from(whole);
    flipped[whole.length - 5] = (flipped[whole.length - 5] ?? 0) ^ 1;
    for (const body of [Buffer.from(GOOD), whole.subarray(0, -3), whole.subarray(0, 12), flipped, Buffer.of(0x1f, 0x8b)]) {
      refused(await make(body, gzip), 400, "encoding_invalid");
    }
    refused(await make(gzipSync(Buffer.from("\xfc", "latin1")), gzip), 400, "encoding_invalid");
    refused(await make(gzipSync("{"), gzip), 400, "body_malformed");
    refused(await make(undefined, gzip), 400, "body_missing");
  });

  it("has at most so many bytes once it is unpacked", async () => {
    assert.equal((await make(gzipSync(GOOD.padEnd(MAX_BYTES)), gzip)).status, 201);
    const { detail } = refused(await make(gzipSync(GOOD.padEnd(MAX_BYTES + 1)), gzip), 413, "body_too_large");
    assert.match(detail, /at most 65536 bytes after decompression/);
  });

  it("that is a bomb goes off in a small room", async () => {
    const member = gzipSync(Buffer.alloc(16 * 1024 * 1024));
    const bomb = Buffer.concat(Array.from({ length: 64 }, () => member));
    assert.ok(bomb.length < LARGE_BYTES / 10, "a gigabyte in a megabyte");
    const before = process.resourceUsage().maxRSS;
    const answers = await Promise.all(Array.from({ length: 4 }, () => post("/ingest/v1/loads", bomb, gzip)));
    for (const answer of answers.filter(({ status }) => status !== 503)) refused(answer, 413, "body_too_large");
    assert.ok(answers.some(({ status }) => status === 413));
    const grown = (process.resourceUsage().maxRSS - before) / 1024;
    assert.ok(grown < 400, `grown by ${grown} MB`);
  });
});

describe("readings", () => {
  const value = (one: unknown) => ({ value: one });

  it("are one object, or a list", async () => {
    assert.deepEqual(told(await sendThings('{"a":1}')).items, [value({ a: 1 })]);
    assert.deepEqual(told(await sendThings('[{"a":1},2,null,[3]]')).items, [{ a: 1 }, 2, null, [3]].map(value));
    assert.deepEqual(told(await sendThings("[]")).items, []);
  });

  it("are nothing else", async () => {
    for (const body of ["1", '"x"', "null", "true"]) {
      assert.match(refused(await sendThings(body), 400, "body_invalid").detail, /must be one reading or a list of them/);
    }
  });

  for (const type of ["application/x-ndjson", "application/ndjson", "application/jsonl", "Application/X-NDJSON; charset=utf-8"]) {
    it(`may come one a line as ${type}, and a broken line is refused by itself`, async () => {
      const { items } = told(await sendThings('{"a":1}\r\n\n{"b"}\n  \n[2]\nnull', type));
      const unreadable = "line 3 is not JSON: Expected ':' after property name in JSON at position 4";
      assert.deepEqual(items, [value({ a: 1 }), { unreadable }, value([2]), value(null)]);
    });
  }

  it("cannot pass for a broken line", async () => {
    const { items } = told(await sendThings('{"unreadable":"x"}'));
    assert.deepEqual(items, [value({ unreadable: "x" })]);
  });

  it("one a line, under the name of JSON, are told the right name", async () => {
    const { detail } = refused(await sendThings('{"a":1}\n{"a":2}'), 400, "body_malformed");
    assert.match(detail, /after JSON at position 8 \(line 2 column 1\)\. One object per line is application\/x-ndjson\.$/);
  });

  it("are at most so many at once, in a list or one a line", async () => {
    const list = Array.from({ length: MAX_ITEMS }, (_, i) => i);
    assert.equal(told(await sendThings(JSON.stringify(list))).items.length, MAX_ITEMS);
    assert.equal(told(await sendThings(list.join("\n"), "application/x-ndjson")).items.length, MAX_ITEMS);
    for (const answer of [
      await sendThings(JSON.stringify([...list, 1])),
      await sendThings([...list, "{"].join("\n"), "application/x-ndjson"),
    ]) {
      assert.equal(refused(answer, 413, "body_too_large").detail, "A body here may have at most 100 readings.");
    }
  });

  it("may be packed", async () => {
    const body = gzipSync('{"a":1}\n{"a":2}\n');
    const headers = { "content-type": "application/x-ndjson", "content-encoding": "gzip" };
    assert.equal(told(await post("/ingest/v1/things", body, headers)).items.length, 2);
  });
});
