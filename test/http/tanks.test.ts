// What a caller sees of tanks and of their telemetry.

import assert from "node:assert/strict";
import { after, describe, it } from "node:test";
import { putReadings, tankRecord } from "../support/records.ts";
import { get, idsOf, listOf, objectOf, refused } from "./answers.ts";
import { BRENNER, HALL_READINGS, MOSER, NEWEST, startFleet } from "./fleet.ts";

const fleet = await startFleet({ after });
const ask = (path: string) => get(fleet, path, { key: fleet.operator });

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
  location: {
    city: null,
    country: null,
    district: null,
    latitude: null,
    longitude: null,
    postal_code: null,
    region: null,
    street: null,
    street_number: null,
  },
  min_fill_alert_percentage: 20,
  name: "Tank tank_yard",
  owner_id: BRENNER,
  updated_at: "2025-03-05T10:00:00.000Z",
  use_case: null,
};

describe("a tank", () => {
  it("has every field of the interface", async () => {
    assert.deepEqual(objectOf(await ask("/v1/tanks/tank_hall")), HALL);
  });

  it("shows what is not known of it as null, every key of its location too", async () => {
    assert.deepEqual(objectOf(await ask("/v1/tanks/tank_yard")), YARD);
  });

  it("is listed with the same fields, newest first", async () => {
    const list = listOf(await ask("/v1/tanks"));
    assert.deepEqual(list.data.slice(1), [YARD, HALL]);
    assert.equal(list.data[0]?.["id"], "tank_mill");
    const { data: _, ...rest } = list;
    assert.deepEqual(rest, { object: "list", page: 1, size: 10, total_pages: 1, total_items: 3 });
  });

  it("has each use case and the ends of each range", async (t) => {
    const kinds = ["residential", "commercial", "industrial"];
    const ends = { latitude: -90, longitude: 180 };
    const make = (use_case: string, i: number) =>
      tankRecord(`tank_${use_case}`, MOSER, { use_case, capacity: 0.001, location: ends, min_fill_alert_percentage: i * 50 });
    await fleet.store.importTanks(kinds.map(make));
    t.after(() => fleet.store.importTanks(kinds.map((kind) => ({ remove: `tank_${kind}` }))));
    for (const [i, kind] of kinds.entries()) {
      const tank = objectOf(await ask(`/v1/tanks/tank_${kind}`));
      assert.deepEqual([tank["use_case"], tank["capacity"], tank["min_fill_alert_percentage"]], [kind, 0.001, i * 50]);
    }
  });
});

describe("a deleted tank", () => {
  it("is answered with its id, its type and deleted, and nothing else", async () => {
    const { status, text } = await ask("/v1/tanks/tank_scrapped");
    assert.equal(status, 200);
    assert.equal(text, '{"id":"tank_scrapped","object":"tank","deleted":true}');
  });

  it("is in no list, no total and no tank_count", async () => {
    assert.deepEqual(idsOf(await ask("/v1/tanks?size=100")), ["tank_mill", "tank_yard", "tank_hall"]);
    assert.equal(listOf(await get(fleet, "/v1/tanks", { key: fleet.brenner })).total_items, 2);
    assert.equal(objectOf(await ask(`/v1/customers/${BRENNER}`))["tank_count"], 2);
  });

  it("no longer shows its telemetry", async () => {
    refused(await ask("/v1/tanks/tank_scrapped/telemetry"), 404, "tank_deleted");
  });

  it("still tells wrong parameters first", async () => {
    refused(await ask("/v1/tanks/tank_scrapped/telemetry?size=0"), 400, "parameter_invalid", "size");
    refused(await ask("/v1/tanks/tank_scrapped?size=1"), 400, "parameter_unknown", "size");
  });
});

describe("telemetry", () => {
  it("is a list of readings without ids, newest first", async () => {
    const list = listOf(await ask("/v1/tanks/tank_hall/telemetry?size=2"));
    assert.deepEqual(list, {
      object: "list",
      data: [
        { object: "telemetry", created_at: "2026-11-14T08:00:00.000Z", fill_percentage: 60 },
        { object: "telemetry", created_at: "2026-11-14T07:00:00.000Z", fill_percentage: 60.1 },
      ],
      page: 1,
      size: 2,
      total_pages: 13,
      total_items: HALL_READINGS,
    });
  });

  it("is empty for a tank without readings", async () => {
    const list = listOf(await ask("/v1/tanks/tank_yard/telemetry"));
    assert.deepEqual(list, { object: "list", data: [], page: 1, size: 10, total_pages: 0, total_items: 0 });
  });

  it("keeps a fill level as the number it came as", async () => {
    const fills = [0, 100, 33.333333333333336, 5e-324, 99.99999999999999, 0.1 + 0.2];
    const readings = fills.map((fill, i) => [NEWEST + i, fill] as const);
    await putReadings(fleet.store, "tank_mill", readings);
    const { data } = listOf(await ask("/v1/tanks/tank_mill/telemetry?created_at_gte=2026-11-14T08:00:00Z"));
    assert.deepEqual(data.map((reading) => reading["fill_percentage"]).reverse(), fills);
  });

  it("belongs to one tank", async () => {
    const [hall, yard] = [await ask("/v1/tanks/tank_hall/telemetry"), await ask("/v1/tanks/tank_yard/telemetry")];
    assert.equal(listOf(hall).total_items, HALL_READINGS);
    assert.equal(listOf(yard).total_items, 0);
  });
});
