// Customers, tanks and telemetry as /v1 returns them: fields, pages and totals, the email filter, deleted objects. The order of
// lists and everything else about their content is tested in test/store/conformance.

import assert from "node:assert/strict";
import { after, describe, it } from "node:test";
import { expectError, ids, list, object, request } from "./client.ts";
import { BRENNER, GONE, HALL_LOCATION, HALL_READINGS, MOSER, startFleet } from "./services.ts";

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

  it("matches exactly, with exact totals", async () => {
    assert.deepEqual(await find("office@brenner-gas.example"), [BRENNER]);
    for (const other of ["Office@brenner-gas.example", "office@brenner-gas.example ", "%@brenner-gas.example", "*", ""]) {
      assert.deepEqual(await find(other), [], other);
    }
    assert.equal(list(await call("/v1/customers?email=a+b@c.example")).total_items, 0, "a plus is a space");
    expectError(await call("/v1/customers?email=a%00b@c"), 400, "parameter_invalid", "email");
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
  location: HALL_LOCATION,
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
  location: Object.fromEntries(Object.keys(HALL_LOCATION).map((name) => [name, null])),
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

  it("is paged and bounded, with exact totals", async () => {
    const page = list(await call("/v1/tanks/tank_hall/telemetry?size=10&page=3"));
    assert.deepEqual([page.data.length, page.total_pages, page.total_items], [5, 3, HALL_READINGS]);
    const bounds = "created_at_gte=2026-11-14T06:00:00Z&created_at_lte=2026-11-14T07:00:00Z";
    const { data, total_items } = list(await call(`/v1/tanks/tank_hall/telemetry?${bounds}`));
    assert.deepEqual([data.map((reading) => reading["fill_percentage"]), total_items], [[60.1, 60.2], 2]);
    const past = { object: "list", data: [], page: 4, size: 10, total_pages: 3, total_items: HALL_READINGS };
    assert.deepEqual(list(await call("/v1/tanks/tank_hall/telemetry?page=4")), past);
  });
});
