// Query and form parameters: names, repetition, page and size, datetime bounds, and forms in the body of a GET.

import assert from "node:assert/strict";
import { after, describe, it } from "node:test";
import { customerRecord, putReadings, tankRecord } from "../support/records.ts";
import { expectError, list, request } from "./client.ts";
import { BRENNER, ENDPOINTS, startFleet } from "./services.ts";

const fleet = await startFleet({ after });
const key = fleet.operator;
const call = (path: string) => request(fleet, path, { key });
const LISTS = ENDPOINTS.filter(({ isList }) => isList).map(({ path }) => path);
const OBJECTS = ENDPOINTS.filter(({ isList }) => !isList).map(({ path }) => path);

/** As written in the URL. */
const NOT_POSITIVE_INTEGERS = [
  ...["", "0", "00", "01", "-1", "-0", "%2B1", "+1", "1.0", "1.", ".5", "1e1", "1E1", "0x1", "0b1", "1_0", "1,0", "1n"],
  ...["1%20", "%201", "1%00", "1%0A", "NaN", "Infinity", "-Infinity", "null", "true", "[1]", "1;DROP%20TABLE%20tank"],
  // Digits of other scripts: ١, １, ¹.
  ...["%D9%A1", "%EF%BC%91", "%C2%B9", "9007199254740993", "99999999999999999999", "1".repeat(5000)],
];

for (const path of LISTS) {
  describe(`parameters of ${path}`, () => {
    it("page and size must be plain decimal integers", async () => {
      for (const name of ["page", "size"]) {
        for (const text of NOT_POSITIVE_INTEGERS) {
          expectError(await call(`${path}?${name}=${text}`), 400, "parameter_invalid", name);
        }
        expectError(await call(`${path}?${name}`), 400, "parameter_invalid", name);
      }
    });

    it("size is 1 to 100, default 10; page is 1 to 2147483647, default 1", async () => {
      const { size, page } = list(await call(path));
      assert.deepEqual([size, page], [10, 1]);
      for (const good of [1, 2, 99, 100]) assert.equal(list(await call(`${path}?size=${good}`)).size, good);
      for (const bad of [101, 1000, 2_147_483_648]) {
        expectError(await call(`${path}?size=${bad}`), 400, "parameter_invalid", "size");
      }
      for (const good of [1, 2, 2_147_483_647]) assert.equal(list(await call(`${path}?page=${good}`)).page, good);
      for (const bad of [2_147_483_648, 4_294_967_297, 9_999_999_999]) {
        expectError(await call(`${path}?page=${bad}`), 400, "parameter_invalid", "page");
      }
    });

    it("an error says what the value must be and quotes at most its beginning", async () => {
      const { detail } = expectError(await call(`${path}?size=500`), 400, "parameter_invalid", "size");
      assert.equal(detail, 'size must be a whole number from 1 to 100, not "500".');
      const long = expectError(await call(`${path}?size=${"9".repeat(4000)}`), 400, "parameter_invalid", "size");
      assert.ok(long.detail.length < 300, long.detail);
    });

    it("an unknown name gets a suggestion, or the list of names", async () => {
      const typo = expectError(await call(`${path}?created_at_get=1`), 400, "parameter_unknown", "created_at_get");
      assert.match(typo.detail, /"created_at_get".*Did you mean "created_at_gte"\?/);
      const { detail } = expectError(await call(`${path}?wombat=1`), 400, "parameter_unknown", "wombat");
      for (const known of ["created_at_gte", "created_at_lte", "page", "size"]) assert.ok(detail.includes(known), detail);
    });

    it("an empty name, array notation and names of object properties are unknown", async () => {
      expectError(await call(`${path}?=2`), 400, "parameter_unknown", "");
      const inherited = ["__proto__", "constructor", "toString", "hasOwnProperty", "valueOf", "prototype"];
      for (const name of ["size[]", "size[0]", "size.0", ...inherited]) {
        expectError(await call(`${path}?${encodeURIComponent(name)}=1`), 400, "parameter_unknown", name);
      }
    });

    it("a parameter may be given once, however it is encoded", async () => {
      for (const query of ["size=2&size=2", "size=2&size=3", "page=1&size=1&page=1", "size=2&s%69ze=2"]) {
        const param = query.startsWith("page") ? "page" : "size";
        expectError(await call(`${path}?${query}`), 400, "parameter_repeated", param);
      }
    });

    it("percent-encoding is decoded, and empty pairs are ignored", async () => {
      assert.equal(list(await call(`${path}?%73ize=%32`)).size, 2);
      assert.equal(list(await call(`${path}?&&size=2&`)).size, 2);
      assert.equal((await call(`${path}?`)).status, 200);
    });

    it("a form in the body gives the same result or error as the query", async () => {
      for (const text of [
        ...["size=2", "page=2&size=1", "created_at_gte=2025-01-01T00:00:00Z", "s%69ze=%32", "&size=2&&"],
        ...["created_at_lte=2026-11-14T10:00:00+02:00&size=3", "size=0", "colour=red", "size=1&size=1", "size=%zz"],
        ...["size=%ff", "=1"],
      ]) {
        const [inQuery, inBody] = [await call(`${path}?${text}`), await request(fleet, path, { key, body: text })];
        const comparable = ({ status, text: body }: typeof inQuery) => [status, body.replace(/"request_id":"[^"]+"/, "")];
        assert.deepEqual(comparable(inBody), comparable(inQuery), text);
      }
    });

    it("query and form may be combined, but not for the same parameter", async () => {
      const found = list(await request(fleet, `${path}?size=1`, { key, body: "page=2" }));
      assert.deepEqual([found.size, found.page], [1, 2]);
      expectError(await request(fleet, `${path}?size=1`, { key, body: "size=1" }), 400, "parameter_repeated", "size");
    });

    it("the response to a form is not cached", async () => {
      const { headers } = await request(fleet, path, { key, body: "size=2" });
      assert.deepEqual([headers["cache-control"], headers.etag], ["no-store", undefined]);
      assert.equal((await request(fleet, path, { key, body: "size=2", headers: { "if-none-match": "*" } })).status, 200);
    });
  });
}

for (const path of OBJECTS) {
  it(`${path} has no parameters`, async () => {
    for (const name of ["page", "size", "created_at_gte", "created_at_lte", "email", "id", "_"]) {
      const { detail } = expectError(await call(`${path}?${name}=1`), 400, "parameter_unknown", name);
      assert.ok(detail.includes("takes no parameters"), detail);
    }
  });
}

it("email is a parameter of the list of customers only", async () => {
  for (const path of ["/v1/tanks", "/v1/tanks/tank_hall/telemetry", `/v1/customers/${BRENNER}`]) {
    expectError(await call(`${path}?email=a@b`), 400, "parameter_unknown", "email");
  }
});

// The formats of datetimes are tested in test/domain/instant.test.ts; here, how they arrive in a URL and bound a list.
describe("created_at_gte and created_at_lte", async () => {
  const AT = Date.parse("2026-11-14T09:30:00.000Z");
  const [BEFORE, EXACT, AFTER] = [-1, 0, 1].map((offset) => new Date(AT + offset).toISOString());
  await fleet.store.importTanks([tankRecord("bounds", BRENNER)]);
  await putReadings(fleet.store, "bounds", [
    [AT - 1, 1],
    [AT, 2],
    [AT + 1, 3],
  ]);
  /** The instants within a bound, oldest first. */
  async function within(bound: "gte" | "lte", text: string): Promise<unknown[]> {
    const { data, total_items } = list(await call(`/v1/tanks/bounds/telemetry?created_at_${bound}=${text}`));
    assert.equal(data.length, total_items);
    return data.map((reading) => reading["created_at"]).toReversed();
  }

  it("include the instant itself, however it is encoded", async () => {
    for (const text of [
      "2026-11-14T09:30:00Z",
      "2026-11-14T11:30:00%2B02:00",
      "2026-11-14T11:30:00+02:00",
      "2026-11-14T11:30:00%2002:00",
      "2026%2D11%2D14T09%3A30%3A00Z",
    ]) {
      assert.deepEqual(await within("gte", text), [EXACT, AFTER], text);
      assert.deepEqual(await within("lte", text), [BEFORE, EXACT], text);
    }
  });

  it("are exact below the millisecond", async () => {
    for (const fraction of ["0001", "000000001", "0005", "0009999999999999999999", `000${"0".repeat(500)}1`]) {
      assert.deepEqual(await within("gte", `2026-11-14T09:30:00.${fraction}Z`), [AFTER]);
      assert.deepEqual(await within("lte", `2026-11-14T09:30:00.${fraction}Z`), [BEFORE, EXACT]);
    }
    assert.deepEqual(await within("gte", "2026-11-14T09:29:59.9989999999999999999999Z"), [BEFORE, EXACT, AFTER]);
    assert.deepEqual(await within("gte", "2026-11-14T09:30:00.0010000000000000000001Z"), []);
  });

  it("reject everything else", async () => {
    for (const text of ["", "2026-02-30", "20261114", "2026-11-14T09:30Z", "2026-11-14T09:30:00%2B0200", "now", "0"]) {
      for (const name of ["created_at_gte", "created_at_lte"]) {
        const { detail } = expectError(await call(`/v1/tanks?${name}=${text}`), 400, "parameter_invalid", name);
        assert.match(detail, /must be an ISO datetime such as/);
      }
    }
  });
});

describe("the body of a GET", () => {
  const form = (body: string | Buffer, type?: string) =>
    request(fleet, "/v1/tanks", { key, body, ...(type === undefined ? {} : { headers: { "content-type": type } }) });

  it("is UTF-8, raw or percent-encoded", async () => {
    await fleet.store.importCustomers([customerRecord("cus_ü", { email: "büro@öl.example" })]);
    for (const body of ["email=büro@öl.example", `email=${encodeURIComponent("büro@öl.example")}`]) {
      assert.equal(list(await request(fleet, "/v1/customers", { key, body })).total_items, 1);
    }
    expectError(await form(Buffer.from("email=b\xfcro@x", "latin1")), 400, "encoding_invalid");
  });

  it("may be chunked, up to 8 KiB long, and is a form in any spelling of the media type", async () => {
    const chunked = { "transfer-encoding": "chunked" };
    assert.equal(list(await request(fleet, "/v1/tanks", { key, body: "size=2", headers: chunked })).size, 2);
    for (const type of [
      "application/x-www-form-urlencoded; charset=utf-8",
      "Application/X-WWW-Form-URLencoded",
      "application/x-www-form-urlencoded ;charset=UTF-8",
    ]) {
      assert.equal(list(await form("size=2", type)).size, 2, type);
    }
    const email = "a".repeat(8192 - "email=@x".length);
    assert.equal((await request(fleet, "/v1/customers", { key, body: `email=${email}@x` })).status, 200);
    expectError(await request(fleet, "/v1/customers", { key, body: `email=${email}a@x` }), 413, "body_too_large");
    expectError(await form("a".repeat(1_000_000)), 413, "body_too_large");
  });

  it("is rejected with any other media type or none", async () => {
    const types = ["application/json", "text/plain", "multipart/form-data; boundary=x", "application/xml", "x/y", "nonsense"];
    for (const type of [...types, undefined]) {
      const response = await request(fleet, "/v1/tanks", { key, body: "size=2", headers: { "content-type": type } });
      expectError(response, 415, "media_type_unsupported");
    }
  });

  it("may be empty: then its media type does not matter", async () => {
    for (const type of ["application/json", "text/plain", "nonsense", "application/x-www-form-urlencoded"]) {
      for (const more of [{}, { "content-length": "0" }]) {
        const response = await request(fleet, "/v1/tanks?size=1", { key, headers: { "content-type": type, ...more } });
        assert.equal(list(response).size, 1);
        assert.ok(response.headers.etag !== undefined);
      }
      const headers = { "content-type": type, "transfer-encoding": "chunked" };
      assert.equal((await request(fleet, "/v1/tanks", { key, headers, body: "" })).status, 200, type);
    }
  });
});
