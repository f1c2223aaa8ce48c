// Paths and the identifiers in them: any text up to 128 characters may be an id, however it is encoded.

import assert from "node:assert/strict";
import { after, describe, it } from "node:test";
import { customerRecord, putReadings, tankRecord } from "../support/records.ts";
import { get, objectOf, refused } from "./answers.ts";
import { BRENNER, ENDPOINTS, NEWEST, startFleet } from "./fleet.ts";

const fleet = await startFleet({ after });
const key = fleet.operator;
const ask = (path: string) => get(fleet, path, { key });

const ODD_IDS = [
  "a/b",
  "a/telemetry",
  "/",
  "//",
  "a//",
  "%",
  "%2F",
  "%zz",
  "100%25",
  "a?b=c",
  "a#b",
  "a&b",
  "a;b",
  "a:b",
  ":id",
  "*",
  "..",
  ".",
  "../v1",
  "a b",
  " ",
  "a+b",
  "é",
  "e\u0301",
  "株式",
  "\u{1f600}",
  "\uff5e",
  "'; DROP TABLE tank; --",
  '"',
  "\\",
  "telemetry",
  "__proto__",
  "constructor",
  "x".repeat(128),
  "ü".repeat(128),
  "\u{1f600}".repeat(64),
];
await fleet.store.importCustomers(ODD_IDS.map((id) => customerRecord(id, { email: "odd@ids.example" })));
await fleet.store.importTanks(ODD_IDS.map((id) => tankRecord(id, id, { assigned_device_id: `device ${ODD_IDS.indexOf(id)}` })));
await putReadings(fleet.store, "a/b", [[NEWEST, 1]]);

describe("an id", () => {
  for (const id of ODD_IDS) {
    it(`may be ${JSON.stringify(id.length > 20 ? `${id.slice(0, 3)}… (${id.length})` : id)}`, async () => {
      // A dot is never encoded by encodeURIComponent, and clients resolve dots: they are encoded by hand.
      const encoded = encodeURIComponent(id).replaceAll(".", "%2E");
      assert.equal(objectOf(await ask(`/v1/customers/${encoded}`))["id"], id);
      const tank = objectOf(await ask(`/v1/tanks/${encoded}`));
      assert.deepEqual([tank["id"], tank["owner_id"]], [id, id]);
      assert.equal((await ask(`/v1/tanks/${encoded}/telemetry`)).status, 200);
    });
  }

  it("with an encoded slash is one id, and its telemetry its own", async () => {
    assert.equal(objectOf(await ask("/v1/tanks/a%2Fb/telemetry"))["total_items"], 1);
    assert.equal(objectOf(await ask("/v1/tanks/a%2fb/telemetry"))["total_items"], 1);
    assert.equal(objectOf(await ask("/v1/tanks/a%2Ftelemetry"))["id"], "a/telemetry");
    refused(await ask("/v1/tanks/a/b"), 404, "route_unknown");
  });

  it("may be written in any percent-encoding", async () => {
    assert.equal(objectOf(await ask("/v1/customers/%63us_%62renner"))["id"], BRENNER);
    assert.equal(objectOf(await ask("/v1/customers/cus%5Fbrenner"))["id"], BRENNER);
  });

  it("is compared exactly", async () => {
    for (const other of ["CUS_BRENNER", "cus_brenner%20", "%20cus_brenner", "cus_brenner%00", "cus_brenne", "cus_brenner%2F"]) {
      refused(await ask(`/v1/customers/${other}`), 404, "customer_unknown");
    }
  });

  it("of more than 128 characters is of nothing: 404", async () => {
    for (const length of [129, 500, 5000, 12_000]) {
      const id = "x".repeat(length);
      refused(await ask(`/v1/customers/${id}`), 404, "customer_unknown");
      refused(await ask(`/v1/tanks/${id}`), 404, "tank_unknown");
      refused(await ask(`/v1/tanks/${id}/telemetry`), 404, "tank_unknown");
    }
  });

  it("with control characters is of nothing: 404", async () => {
    for (const id of ["%00", "a%00b", "%0D%0A", "%1B", "%7F", "%C2%80"]) {
      refused(await ask(`/v1/customers/${id}`), 404, "customer_unknown");
      refused(await ask(`/v1/tanks/${id}`), 404, "tank_unknown");
      refused(await ask(`/v1/tanks/${id}/telemetry`), 404, "tank_unknown");
    }
  });
});

describe("broken percent-encoding in a path", () => {
  for (const broken of ["%", "%z", "%zz", "%2", "a%", "%ff", "%C3", "%C3%28", "%ED%A0%80", "%C0%AF", "%F5%80%80%80", "a%zz%2F"]) {
    it(`is refused: ${broken}`, async () => {
      for (const path of [`/v1/customers/${broken}`, `/v1/tanks/${broken}`, `/v1/tanks/${broken}/telemetry`]) {
        refused(await ask(path), 400, "encoding_invalid");
        refused(await get(fleet, path), 401, "key_missing");
        refused(await get(fleet, path, { method: "DELETE" }), 405, "method_not_allowed");
      }
    });
  }

  it("is an unknown route where there is none", async () => {
    for (const path of ["/%zz", "/v1/%zz", "/v2/customers/%ff", "/%"]) refused(await ask(path), 404, "route_unknown");
  });
});

describe("a trailing slash", () => {
  for (const { path } of ENDPOINTS) {
    it(`is the same as none: ${path}/`, async () => {
      const [bare, slashed] = [await ask(path), await ask(`${path}/`)];
      assert.equal(slashed.status, 200);
      assert.equal(slashed.text, bare.text);
      refused(await ask(`${path}/?colour=red`), 400, "parameter_unknown", "colour");
      refused(await get(fleet, `${path}/`, { key, method: "POST" }), 405, "method_not_allowed");
    });
  }
});

describe("an unknown route", () => {
  for (const path of [
    "/",
    "/v1",
    "/v1/",
    "/v2/customers",
    "/customers",
    "/V1/customers",
    "/v1/Customers",
    "/v1//customers",
    "//v1/customers",
    "/v1/customers/x/tanks",
    "/v1/tanks/x/telemetry/1",
    "/v1/tanks/x/Telemetry",
    "/v1/telemetry",
    "/favicon.ico",
    "/.env",
  ]) {
    it(`is 404, with and without a key: ${path}`, async () => {
      refused(await ask(path), 404, "route_unknown");
      refused(await get(fleet, path), 404, "route_unknown");
    });
  }
});
