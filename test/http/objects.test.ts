// Customers, tanks and telemetry as /v1 returns them: fields, order, pages and totals, the email filter, deleted objects.

import assert from "node:assert/strict";
import { after, describe, it } from "node:test";
import { customerRecord, putReadings, tankRecord } from "../support/records.ts";
import { startService } from "../support/service.ts";
import { expectError, ids, list, object, request } from "./client.ts";
import { BRENNER, GONE, HALL_READINGS, MOSER, NEWEST, startFleet } from "./services.ts";

const fleet = await startFleet({ after });
const call = (path: string) => request(fleet, path, { key: fleet.operator });

const BRENNER_OBJECT = {
  id: BRENNER,
  object: "customer",
  created_at: "2025-03-02T08:15:30.123Z",
  email: "office@brenner-gas.example",
  is_verified: true,
  last_seen_at: "2026-11-14T09:30:00.000Z",
  name: "Brenner Gas GmbH",
  phone: "+49 30 5550 0142",
  tank_count: 2,
  updated_at: "2025-06-11T14:02:11.250Z",
  verified_at: "2025-03-02T08:40:02.000Z",
};

const MOSER_OBJECT = {
  id: MOSER,
  object: "customer",
  created_at: "2025-05-01T00:00:00.000Z",
  email: "cus_moser@customers.example",
  is_verified: false,
  last_seen_at: null,
  name: "Customer cus_moser",
  phone: null,
  tank_count: 1,
  updated_at: "2025-05-01T00:00:00.000Z",
  verified_at: null,
};

describe("a customer", () => {
  it("has every field; unknown values are null; the list is newest first", async () => {
    assert.deepEqual(object(await call(`/v1/customers/${BRENNER}`)), BRENNER_OBJECT);
    assert.deepEqual(object(await call(`/v1/customers/${MOSER}`)), MOSER_OBJECT);
    const page = { page: 1, size: 10, total_pages: 1, total_items: 2 };
    assert.deepEqual(list(await call("/v1/customers")), { object: "list", data: [MOSER_OBJECT, BRENNER_OBJECT], ...page });
  });

  it("keeps text of every script", async () => {
    const fields = { name: "Żółć 株式会社 😀 \u00a0\u200d", email: "ünï+code@exämple.test", phone: "☎ 0/8\\15 \"'" };
    await fleet.store.importCustomers([customerRecord("cus_script", { created_at: "2001-01-01", ...fields })]);
    const { name, email, phone } = object(await call("/v1/customers/cus_script"));
    assert.deepEqual({ name, email, phone }, fields);
    await fleet.store.importCustomers([{ remove: "cus_script" }]);
  });

  it("counts its tanks as they are created, moved and deleted", async (t) => {
    await fleet.store.importCustomers([customerRecord("cus_a"), customerRecord("cus_b")]);
    t.after(() => fleet.store.importCustomers([{ remove: "cus_a" }, { remove: "cus_b" }]));
    const counts = () =>
      Promise.all(["cus_a", "cus_b"].map(async (id) => object(await call(`/v1/customers/${id}`))["tank_count"]));
    await fleet.store.importTanks([tankRecord("tank_x", "cus_a"), tankRecord("tank_y", "cus_a")]);
    assert.deepEqual(await counts(), [2, 0]);
    await fleet.store.importTanks([tankRecord("tank_x", "cus_b")]);
    assert.deepEqual(await counts(), [1, 1]);
    await fleet.store.importTanks([{ remove: "tank_x" }, { remove: "tank_y" }]);
    assert.deepEqual(await counts(), [0, 0]);
    assert.equal(object(await call("/v1/customers/cus_a"))["updated_at"], "2026-01-01T00:00:00.000Z");
  });

  it("that is deleted has only id, object and deleted, and is in no list or total", async () => {
    const { status, text } = await call(`/v1/customers/${GONE}`);
    assert.deepEqual([status, text], [200, `{"id":"${GONE}","object":"customer","deleted":true}`]);
    const all = await call("/v1/customers?size=100");
    assert.deepEqual([ids(all), list(all).total_items], [[MOSER, BRENNER], 2]);
    assert.equal(list(await call(`/v1/customers?email=${GONE}@customers.example`)).total_items, 0);
  });
});

describe("the email filter", () => {
  const find = async (email: string) => ids(await call(`/v1/customers?email=${encodeURIComponent(email)}`));

  it("matches exactly: case, blanks, patterns and Unicode forms count", async (t) => {
    await fleet.store.importCustomers([customerRecord("cus_nfc", { email: "caf\u00e9@x.example" })]);
    t.after(() => fleet.store.importCustomers([{ remove: "cus_nfc" }]));
    assert.deepEqual(await find("office@brenner-gas.example"), [BRENNER]);
    assert.deepEqual(await find("caf\u00e9@x.example"), ["cus_nfc"]);
    for (const other of [
      ...["Office@brenner-gas.example", "office@brenner-gas.exampl", "office@brenner-gas.example ", "cafe\u0301@x.example"],
      ...[" office@brenner-gas.example", "%@brenner-gas.example", "*", "office@brenner_gas.example", ""],
    ]) {
      assert.deepEqual(await find(other), [], other);
    }
    assert.equal(list(await call("/v1/customers?email=a+b@c.example")).total_items, 0, "a plus is a space");
    expectError(await call("/v1/customers?email=a%00b@c"), 400, "parameter_invalid", "email");
  });

  it("finds all customers with an email, newest first, with exact totals", async (t) => {
    const twins = ["cus_1", "cus_2", "cus_3"];
    const email = "shared+box@twins.example";
    await fleet.store.importCustomers(twins.map((id, i) => customerRecord(id, { email, created_at: `2024-01-0${i + 1}` })));
    t.after(() => fleet.store.importCustomers(twins.map((id) => ({ remove: id }))));
    assert.deepEqual(await find(email), ["cus_3", "cus_2", "cus_1"]);
    const page = list(await call(`/v1/customers?email=${encodeURIComponent(email)}&size=2&page=2`));
    assert.deepEqual([page.data.length, page.total_items, page.total_pages], [1, 3, 2]);
    const day = list(await call(`/v1/customers?email=${encodeURIComponent(email)}&created_at_lte=2024-01-01`));
    assert.deepEqual([day.data.length, day.total_items], [1, 1]);
  });
});

const HALL = {
  id: "tank_hall",
  object: "tank",
  assigned_device_id: "a84041c2f1827d3e",
  capacity: 2700.5,
  capacity_unit: "liters",
  created_at: "2025-03-04T10:00:00.000Z",
  custom_id: "HALL-3",
  location: {
    city: "Freiburg",
    country: "Germany",
    district: "Wiehre",
    latitude: 47.9883,
    longitude: 7.8567,
    postal_code: "79100",
    region: "Baden-Württemberg",
    street: "Lindenweg",
    street_number: "12a",
  },
  min_fill_alert_percentage: 20,
  name: "Hall 3, north side",
  owner_id: BRENNER,
  updated_at: "2026-02-19T07:45:00.000Z",
  use_case: "commercial",
};

const YARD = {
  id: "tank_yard",
  object: "tank",
  assigned_device_id: "device-tank_yard",
  capacity: 2700,
  capacity_unit: "gallons",
  created_at: "2025-03-05T10:00:00.000Z",
  custom_id: null,
  location: Object.fromEntries(Object.keys(HALL.location).map((name) => [name, null])),
  min_fill_alert_percentage: 20,
  name: "Tank tank_yard",
  owner_id: BRENNER,
  updated_at: "2025-03-05T10:00:00.000Z",
  use_case: null,
};

describe("a tank", () => {
  it("has every field; unknown values are null, also in its location; the list is newest first", async () => {
    assert.deepEqual(object(await call("/v1/tanks/tank_hall")), HALL);
    assert.deepEqual(object(await call("/v1/tanks/tank_yard")), YARD);
    const { data, ...rest } = list(await call("/v1/tanks"));
    assert.deepEqual(data.slice(1), [YARD, HALL]);
    assert.equal(data[0]?.["id"], "tank_mill");
    assert.deepEqual(rest, { object: "list", page: 1, size: 10, total_pages: 1, total_items: 3 });
  });

  it("may have each use case and the ends of each range", async (t) => {
    const kinds = ["residential", "commercial", "industrial"];
    const location = { latitude: -90, longitude: 180 };
    const record = (use_case: string, i: number) =>
      tankRecord(`tank_${use_case}`, MOSER, { use_case, capacity: 0.001, location, min_fill_alert_percentage: i * 50 });
    await fleet.store.importTanks(kinds.map(record));
    t.after(() => fleet.store.importTanks(kinds.map((kind) => ({ remove: `tank_${kind}` }))));
    for (const [i, kind] of kinds.entries()) {
      const { use_case, capacity, min_fill_alert_percentage } = object(await call(`/v1/tanks/tank_${kind}`));
      assert.deepEqual([use_case, capacity, min_fill_alert_percentage], [kind, 0.001, i * 50]);
    }
  });

  it("that is deleted has only id, object and deleted, no telemetry, and is in no list, total or tank_count", async () => {
    const { status, text } = await call("/v1/tanks/tank_scrapped");
    assert.deepEqual([status, text], [200, '{"id":"tank_scrapped","object":"tank","deleted":true}']);
    expectError(await call("/v1/tanks/tank_scrapped/telemetry"), 404, "tank_deleted");
    expectError(await call("/v1/tanks/tank_scrapped/telemetry?size=0"), 400, "parameter_invalid", "size");
    expectError(await call("/v1/tanks/tank_scrapped?size=1"), 400, "parameter_unknown", "size");
    assert.deepEqual(ids(await call("/v1/tanks?size=100")), ["tank_mill", "tank_yard", "tank_hall"]);
    assert.equal(list(await request(fleet, "/v1/tanks", { key: fleet.brenner })).total_items, 2);
    assert.equal(object(await call(`/v1/customers/${BRENNER}`))["tank_count"], 2);
  });
});

describe("telemetry", () => {
  it("is a list of the tank's readings, newest first; empty if there are none", async () => {
    assert.deepEqual(list(await call("/v1/tanks/tank_hall/telemetry?size=2")), {
      object: "list",
      data: [
        { object: "telemetry", created_at: "2026-11-14T08:00:00.000Z", fill_percentage: 60 },
        { object: "telemetry", created_at: "2026-11-14T07:00:00.000Z", fill_percentage: 60.1 },
      ],
      ...{ page: 1, size: 2, total_pages: 13, total_items: HALL_READINGS },
    });
    const empty = { object: "list", data: [], page: 1, size: 10, total_pages: 0, total_items: 0 };
    assert.deepEqual(list(await call("/v1/tanks/tank_yard/telemetry")), empty);
  });

  it("keeps each fill level as the number it was", async () => {
    const fills = [0, 100, 33.333333333333336, 5e-324, 99.99999999999999, 0.1 + 0.2];
    await putReadings(
      fleet.store,
      "tank_mill",
      fills.map((fill, i) => [NEWEST + i, fill]),
    );
    const { data } = list(await call("/v1/tanks/tank_mill/telemetry?created_at_gte=2026-11-14T08:00:00Z"));
    assert.deepEqual(data.map((reading) => reading["fill_percentage"]).reverse(), fills);
  });
});

describe("order and pages", async () => {
  /** In bytes of UTF-8 an astral character comes after U+FF5E; in UTF-16 units it comes before. */
  const TIED_IDS = ["Z", "a", "aa", "ab", "z", "\u00e9", "\uff5e", "\u{1f600}", "1", "10", "9", "_", "-", "a b", "a/b", "~"];
  const BY_BYTES = [...TIED_IDS].sort((a, b) => Buffer.compare(Buffer.from(b), Buffer.from(a)));
  const INSTANT = "2026-01-01T00:00:00.000Z";
  const [OLDER, NEWER] = ["2025-12-31T23:59:59.999Z", "2026-01-01T00:00:00.001Z"];
  const EXPECTED = ["newer", ...BY_BYTES, "older"];

  const service = await startService({ after });
  const customers = TIED_IDS.map((id) => customerRecord(id, { created_at: INSTANT, email: "one@tied.example" }));
  const others = [customerRecord("older", { created_at: OLDER }), customerRecord("newer", { created_at: NEWER })];
  await service.store.importCustomers([...customers, ...others]);
  await service.store.importTanks([
    ...TIED_IDS.map((id) => tankRecord(id, "a", { created_at: INSTANT })),
    tankRecord("older", "a", { created_at: OLDER }),
    tankRecord("newer", "a", { created_at: NEWER }),
  ]);
  const key = await service.key();
  const get = (path: string, by = key) => request(service, path, { key: by });

  it("are tested with ids whose order by bytes is neither that of code units nor that of a locale", () => {
    assert.notDeepEqual(BY_BYTES, [...TIED_IDS].sort().reverse());
    assert.notDeepEqual(
      BY_BYTES,
      [...TIED_IDS].sort((a, b) => b.localeCompare(a)),
    );
  });

  for (const [path, who, by] of [
    ["/v1/customers", "a read key", key],
    ["/v1/customers", "a manage key", await service.key({ role: "manage" })],
    ["/v1/tanks", "a read key", key],
    ["/v1/tanks", "a customer's key", await service.key({ customerId: "a" })],
  ] as const) {
    it(`${path} with ${who}: newest first, then by id in descending bytes, each object on one page`, async () => {
      for (const size of [1, 3, 7, 18, 100]) {
        const seen: unknown[] = [];
        const pages = Math.ceil(EXPECTED.length / size);
        for (let page = 1; page <= pages; page++) {
          const found = list(await get(`${path}?size=${size}&page=${page}`, by));
          assert.deepEqual([found.page, found.size, found.total_pages, found.total_items], [page, size, pages, EXPECTED.length]);
          seen.push(...found.data.map(({ id }) => id));
        }
        assert.deepEqual(seen, EXPECTED);
      }
      for (const page of [3, 4, 2_147_483_647]) {
        const past = { object: "list", data: [], page, size: 10, total_pages: 2, total_items: 18 };
        assert.deepEqual(list(await get(`${path}?page=${page}`, by)), past);
      }
    });

    it(`${path} with ${who}: ranges include both ends and are counted exactly`, async () => {
      const only = list(await get(`${path}?created_at_gte=${INSTANT}&created_at_lte=${INSTANT}&size=5&page=4`, by));
      assert.deepEqual([only.total_items, only.total_pages], [TIED_IDS.length, 4]);
      assert.equal(only.data[0]?.["id"], BY_BYTES[15]);
      assert.deepEqual(ids(await get(`${path}?created_at_gte=${NEWER}`, by)), ["newer"]);
      assert.deepEqual(ids(await get(`${path}?created_at_lte=${OLDER}`, by)), ["older"]);
      assert.deepEqual(ids(await get(`${path}?created_at_gte=2026-01-01T00:00:00.002Z`, by)), []);
      const empty = { object: "list", data: [], page: 1, size: 10, total_pages: 0, total_items: 0 };
      assert.deepEqual(list(await get(`${path}?created_at_gte=2026-02-01&created_at_lte=2025-01-01`, by)), empty);
    });
  }

  it("hold for the email filter", async () => {
    const page = (n: number) => get(`/v1/customers?email=one@tied.example&size=10&page=${n}`);
    assert.deepEqual([...ids(await page(1)), ...ids(await page(2))], BY_BYTES);
  });

  it("hold for a long series in any range", async () => {
    const start = Date.parse("2026-03-01T00:00:00Z");
    const readings = Array.from({ length: 1234 }, (_, i) => [start + i * 60_000, (i * 7) % 101] as const);
    await putReadings(service.store, "z", readings);
    const newestFirst = readings.toReversed().map(([at]) => new Date(at).toISOString());
    const range = newestFirst.slice(100, 1000);
    const seen: unknown[] = [];
    for (let page = 1; page <= 9; page++) {
      const query = `size=100&page=${page}&created_at_lte=${range[0]}&created_at_gte=${range.at(-1)}`;
      const found = list(await get(`/v1/tanks/z/telemetry?${query}`));
      assert.deepEqual([found.total_items, found.total_pages], [900, 9]);
      seen.push(...found.data.map((reading) => reading["created_at"]));
    }
    assert.deepEqual(seen, range);
    const last = list(await get("/v1/tanks/z/telemetry?size=100&page=13"));
    assert.deepEqual([last.data.length, last.total_items, last.total_pages], [34, 1234, 13]);
    assert.equal(last.data[0]?.["created_at"], newestFirst[1200]);
  });
});
