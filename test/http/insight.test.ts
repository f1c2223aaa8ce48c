// /insight/v1: the fleet, and one tank of it.

import assert from "node:assert/strict";
import { after, before, describe, it } from "node:test";
import { UNRESTRICTED } from "../../src/domain/key.ts";
import { putForecast } from "../store/alert-support.ts";
import { databaseSetting } from "../support/postgres/database.ts";
import { until } from "../support/until.ts";
import { expectError, expectStatus, type Item, object, type Response, request, withoutRequestId } from "./client.ts";
import { CUSTOMER, startManaged } from "./services.ts";

const service = await startManaged({ after }, { RATE_LIMIT: "0" });
const { manage, forward, now } = service;
const FLEET = "/insight/v1/fleet";
const keys = { operator: "", f1: "", f2: "" };
const call = (path: string, key: string) => request(service, path, { key });
const fleet = async (query: string, key = keys.operator) => object(await call(`${FLEET}${query}`, key));
const tankIds = ({ data }: Item): string[] => (data as { tank: { id: string } }[]).map(({ tank }) => tank.id);
let readAt = "";

before(async () => {
  for (const id of ["f1", "f2"]) expectStatus(await manage("POST", "/manage/v1/customers", { ...CUSTOMER, id }), 201);
  readAt = now();
  for (const [id, min_fill_alert_percentage, fill, city, longitude] of [
    ["ok", 20, 70.25, "Bonn", 7.1],
    ["low", 20, 5.5, "Köln", 6.96],
    ["edge", 20, 20, "Bonn", 7.1],
    ["never", 20, null, "Bonn", null],
    ["worst", 90, 40.7, "Bremen", 8.8],
    ["sold", 20, 50, "Bonn", 7.1],
  ] as const) {
    const address = { street: "Lindenweg", street_number: "12a", postal_code: "79100", city };
    const location = { ...address, longitude, latitude: longitude === null ? null : 50 };
    const tank = { id, name: id, owner_id: id === "worst" ? "f2" : "f1", assigned_device_id: id, location };
    const fields = { ...tank, capacity: 2700, capacity_unit: "gallons", min_fill_alert_percentage };
    expectStatus(await manage("POST", "/manage/v1/tanks", fields), 201);
    if (fill !== null) expectStatus(await manage("POST", "/ingest/v1/readings", { tank_id: id, fill_percentage: fill }), 200);
  }
  expectStatus(await manage("DELETE", "/manage/v1/tanks/sold"), 200);
  await until("the first forecast", async () => (await service.store.tankForecast("ok", UNRESTRICTED)) !== null, 30_000);
  forward(90_000);
  expectStatus(await manage("POST", "/ingest/v1/readings", { tank_id: "ok", fill_percentage: 70 }), 200);
  keys.operator = await service.key();
  keys.f1 = await service.key({ customerId: "f1" });
  keys.f2 = await service.key({ customerId: "f2" });
  const newestFirst = ["ok", "worst", "low", "edge", "never"];
  await until(
    "the order follows",
    async () =>
      tankIds(await fleet("?sort=silent"))
        .reverse()
        .join() === newestFirst.join(),
    30_000,
  );
  await until(
    "forecasts are computed",
    async () => (await service.store.dueForecasts(Date.parse(now()), 1)).length === 0,
    30_000,
  );
});

describe("the fleet", () => {
  it("is sorted by urgency or by silence; filters and totals are exact", async () => {
    for (const [query, expected, total] of [
      ["", ["worst", "low", "edge", "ok", "never"], 5],
      ["?sort=urgency", ["worst", "low", "edge", "ok", "never"], 5],
      ["?sort=margin", ["worst", "low", "edge", "ok", "never"], 5],
      ["?sort=silent", ["never", "edge", "low", "worst", "ok"], 5],
      ["?sort=silent&state=low", ["edge", "low", "worst"], 3],
      ["?state=low", ["worst", "low", "edge"], 3],
      ["?state=ok", ["ok"], 1],
      ["?state=unknown", ["never"], 1],
      ["?silent_for=60s", ["worst", "low", "edge", "never"], 4],
      ["?silent_for=90s", ["never"], 1],
      ["?city=b&owner_id=f1", ["edge", "ok", "never"], 3],
      ["?owner_id=nobody", [], 0],
      ["?alert=low", ["worst", "low", "edge"], 3],
      ["?alert=low&sort=silent&owner_id=f1&size=1&page=2", ["low"], 2],
      ["?alert=silent", [], 0],
      ["?search=BONN", ["edge", "ok", "never"], 3],
      ["?search=o%20bonn&state=ok", ["ok"], 1],
      ["?search=%20", ["worst", "low", "edge", "ok", "never"], 5],
      ["?search=%25", [], 0],
      ["?search=lindenweg%2012A,%2079100%20bonn", ["edge", "ok", "never"], 3],
      ["?alert=low&search=k%C3%B6ln", ["low"], 1],
      ["?alert=low&search=KOELN", ["low"], 1],
      ["?bbox=7.1,50,8.8,50", ["worst", "edge", "ok"], 3],
      ["?bbox=7.1,-90,180,90&state=low&size=1", ["worst"], 2],
      ["?bbox=8,0,7,60", ["worst", "low"], 2],
      ["?bbox=none", ["never"], 1],
      ["?size=2&page=2", ["edge", "ok"], 5],
    ] as const) {
      const page = await fleet(query);
      assert.deepEqual([tankIds(page), page["total_items"]], [expected, total], query);
    }
  });

  it("is searched by at most 16 words", async () => {
    const words = (count: number) => `?search=${Array.from({ length: count }, () => "bonn").join("%20")}`;
    assert.equal((await fleet(words(16)))["total_items"], 3);
    expectError(await call(`${FLEET}${words(17)}`, keys.operator), 400, "parameter_invalid", "search");
  });

  it("says of each tank its margin, the age of its reading, what is in it and what fits into it; and when that was so", async () => {
    const { data, as_of, ...envelope } = await fleet("?state=low");
    assert.deepEqual(envelope, { object: "list", page: 1, size: 10, total_pages: 1, total_items: 3 });
    const age = Date.parse(now()) - Date.parse(String(as_of));
    assert.ok(age >= 0 && age <= 60_000, String(as_of));
    const { tank, alerts, forecast, ...rest } = (data as Item[])[0] ?? {};
    assert.deepEqual(forecast, object(await call("/insight/v1/tanks/worst/forecast", keys.operator)));
    assert.deepEqual(rest, {
      object: "fleet_tank",
      state: "low",
      margin: -49.3,
      silent: false,
      days_left: { p10: 0, p50: 0, p90: 0 },
      customer: { id: "f2", name: CUSTOMER.name, phone: null },
      age_seconds: 90,
      next_reading_at: null,
      remaining: { volume: 1098.9, unit: "gallons" },
      room: { volume: 1601.1, unit: "gallons" },
      latest: { object: "telemetry", created_at: readAt, fill_percentage: 40.7 },
      alerts_paused_until: null,
    });
    assert.deepEqual(tank, object(await call("/v1/tanks/worst", keys.operator)));
    const [alert] = object(await call("/insight/v1/alerts?tank_id=worst", keys.operator))["data"] as Item[];
    assert.deepEqual(alerts, [{ id: alert?.["id"], kind: "low", state: "open", opened_at: readAt }]);
    const [never] = (await fleet("?state=unknown"))["data"] as Item[];
    const { tank: _, forecast: without, customer: owner, ...unknown } = never ?? {};
    assert.equal((without as Item)["state"], "insufficient_data");
    assert.equal((owner as Item)["id"], "f1");
    const volumes = { remaining: null, room: null };
    const none = {
      margin: null,
      silent: false,
      days_left: null,
      age_seconds: null,
      next_reading_at: null,
      ...volumes,
      latest: null,
      alerts: [],
      alerts_paused_until: null,
    };
    assert.deepEqual(unknown, { object: "fleet_tank", state: "unknown", ...none });
  });

  it("rejects wrong parameters", async () => {
    for (const [query, param] of [
      ["state=full", "state"],
      ["silent_for=long", "silent_for"],
      ["sort=name", "sort"],
      ["size=101", "size"],
      ["bbox=", "bbox"],
      ["bbox=7,50,8", "bbox"],
      ["bbox=7,51,8,50", "bbox"],
      ["bbox=-181,50,8,51", "bbox"],
      ["bbox=7,50,8,1e1", "bbox"],
      ["bbox=7,50,8,91", "bbox"],
    ] as const) {
      expectError(await call(`${FLEET}?${query}`, keys.operator), 400, "parameter_invalid", param);
    }
    expectError(await call(`${FLEET}?silent=24h`, keys.operator), 400, "parameter_unknown", "silent");
    expectError(await call("/insight/v1/tanks/ok?size=1", keys.operator), 400, "parameter_unknown", "size");
  });

  it("of a customer's key has only that customer's tanks; a filter by another customer finds what an unknown id finds", async () => {
    for (const [query, expected] of [
      ["", ["low", "edge", "ok", "never"]],
      ["?sort=silent", ["never", "edge", "low", "ok"]],
      ["?owner_id=f1&state=low", ["low", "edge"]],
      ["?city=br", []],
      ["?alert=low", ["low", "edge"]],
      ["?search=worst", []],
      ["?search=bonn", ["edge", "ok", "never"]],
      ["?bbox=7.1,50,8.8,50", ["edge", "ok"]],
    ] as const) {
      const page = await fleet(query, keys.f1);
      assert.deepEqual([tankIds(page), page["total_items"]], [expected, expected.length], query);
    }
    for (const query of ["", "&state=low", "&city=b", "&silent_for=1s", "&page=2", "&sort=silent", "&alert=low", "&search=b"]) {
      const responses = ["f2", "nobody", "' OR 1=1"].map((owner) =>
        call(`${FLEET}?owner_id=${encodeURIComponent(owner)}${query}`, keys.f1),
      );
      const [other, ...unknown] = (await Promise.all(responses)).map(withoutRequestId);
      assert.equal((other as { status: number }).status, 200);
      for (const one of unknown) assert.deepEqual(one, other, query);
    }
    assert.deepEqual(tankIds(await fleet("", keys.f2)), ["worst"]);
  });

  it("has numbers of its alerts, each key those in its scope", async () => {
    const counts = async (key: string) => object(await call("/insight/v1/alerts/counts", key));
    const [all, own] = [await counts(keys.operator), await counts(keys.f2)];
    assert.deepEqual([(all["open"] as Item)["low"], (own["open"] as Item)["low"]], [3, 1]);
    const { data } = object(await call("/insight/v1/alerts?tank_id=low", keys.operator));
    const [{ id = "" } = {}] = data as { id?: string }[];
    expectStatus(await manage("POST", `/manage/v1/alerts/${id}/acknowledge`), 200);
    const { open, acknowledged } = await counts(keys.operator);
    assert.deepEqual([(open as Item)["low"], (acknowledged as Item)["low"]], [2, 1]);
  });

  it("says when the next reading is due", async () => {
    const [first] = (await fleet("?search=ok")).data as { latest: { created_at: string }; next_reading_at: string }[];
    assert.equal(Date.parse(first?.next_reading_at ?? "") - Date.parse(first?.latest.created_at ?? ""), 90_000);
    const [never] = (await fleet("?search=never")).data as { next_reading_at: null }[];
    assert.equal(never?.next_reading_at, null);
  });

  it("has an ETag that does not change with the age of readings alone, and changes with the tank", async () => {
    for (const path of [`${FLEET}?state=ok`, "/insight/v1/tanks/ok"]) {
      const tagged = (known: string) => request(service, path, { key: keys.operator, headers: { "if-none-match": known } });
      const age = (response: Response): number => Number((/"age_seconds":(\d+)/.exec(response.text) ?? [])[1]);
      const first = await call(path, keys.operator);
      const tag = String(first.headers.etag);
      assert.match(tag, /^W\/"[^"]+"$/);
      forward(5000);
      for (const known of [tag, tag.slice(2), `"other", ${tag}`]) assert.equal((await tagged(known)).status, 304, known);
      assert.equal(age(await call(path, keys.operator)), age(first) + 5);
      expectStatus(await manage("PATCH", "/manage/v1/tanks/ok", { custom_id: path }), 200);
      assert.equal((await tagged(tag)).status, 200);
      forward(-5000);
    }
  });
});

for (const engine of ["sqlite", "postgres"] as const) {
  it(`${engine}: a tank says until when its alerts are paused, to the keys that see it`, async (t) => {
    const paused = await startManaged(t, await databaseSetting(t, engine));
    const { customer, tank } = await paused.create();
    const key = await paused.key({ customerId: customer });
    const pausedUntil = async () => {
      const entry = object(await request(paused, `/insight/v1/tanks/${tank}`, { key }));
      const [first] = object(await request(paused, FLEET, { key }))["data"] as Item[];
      assert.equal(first?.["alerts_paused_until"], entry["alerts_paused_until"]);
      return entry["alerts_paused_until"];
    };
    await until("it is in the fleet", async () => object(await request(paused, FLEET, { key }))["total_items"] === 1, 30_000);
    assert.equal(await pausedUntil(), null);
    const end = new Date(Date.parse(paused.now()) + 3_600_000).toISOString();
    const change = (paused_until: string | null) =>
      paused.manage("PATCH", `/manage/v1/tanks/${tank}`, { alerts: { paused_until } });
    expectStatus(await change(end), 200);
    assert.equal(await pausedUntil(), end);
    paused.forward(3_600_000);
    assert.equal(await pausedUntil(), null, "the pause is over");
    expectStatus(await change(new Date(Date.parse(paused.now()) + 1000).toISOString()), 200);
    expectStatus(await change(null), 200);
    assert.equal(await pausedUntil(), null);
    const other = await paused.key({ customerId: (await paused.create()).customer });
    expectError(await request(paused, `/insight/v1/tanks/${tank}`, { key: other }), 404, "tank_unknown");
  });
}

describe("the forecast of a tank", () => {
  it("has its state, also with too few readings", async () => {
    const forecast = object(await call("/insight/v1/tanks/ok/forecast", keys.f1));
    const never = { p10: null, p50: null, p90: null };
    assert.deepEqual(forecast, {
      ...{ object: "forecast", tank_id: "ok", state: "insufficient_data", computed_at: forecast["computed_at"] },
      ...{ based_on_until: now(), use_per_day: null, runs_low_at: never, runs_empty_at: never, suggested_delivery: null },
    });
    assert.equal(object(await call("/insight/v1/tanks/never/forecast", keys.f1))["computed_at"], null);
  });

  it("has no date in the past, nor has the fleet, however long ago it was computed", async (t) => {
    const other = await startManaged(t);
    const { tank } = await other.create();
    const reading = { tank_id: tank, fill_percentage: 30 };
    expectStatus(await other.manage("POST", "/ingest/v1/readings", reading), 200);
    await until("it is computed", async () => (await other.store.tankForecast(tank, UNRESTRICTED)) !== null, 30_000);
    const computedAt = Date.parse(other.now());
    const [soon, later] = [computedAt + 3_600_000, new Date(computedAt + 30 * 86_400_000).toISOString()];
    const when = { p10: soon, p50: soon, p90: Date.parse(later) };
    const delivery = { by: soon, volume: 100, unit: "liters" } as const;
    await putForecast(other.store, tank, {
      ...{ now: computedAt, runs_low_at: when, runs_empty_at: when, suggested_delivery: delivery },
    });
    const path = `/insight/v1/tanks/${tank}`;
    const forecast = async () => (await other.manage("GET", `${path}/forecast`)).body as Item;
    const dates = ({ runs_low_at, runs_empty_at, suggested_delivery }: Item) => [
      ...[runs_low_at, runs_empty_at, (suggested_delivery as Item)["by"]],
    ];
    const at = (instant: string) => ({ p10: instant, p50: instant, p90: later });
    const before = new Date(soon).toISOString();
    assert.deepEqual(dates(await forecast()), [at(before), at(before), before]);
    other.forward(2 * 3_600_000 + 1);
    const endOfMinute = new Date(computedAt + 2 * 3_600_000 + 60_000).toISOString();
    assert.deepEqual(dates(await forecast()), [at(endOfMinute), at(endOfMinute), endOfMinute]);
    assert.deepEqual((await other.manage("GET", path)).body["forecast"], await forecast());
  });

  it("and its refills are paged; both only for its owner and the operator", async () => {
    const page = object(await call("/insight/v1/tanks/ok/refills?size=5", keys.f1));
    assert.deepEqual(page, { object: "list", data: [], page: 1, size: 5, total_pages: 0, total_items: 0 });
    for (const path of ["forecast", "refills"]) {
      expectError(await call(`/insight/v1/tanks/sold/${path}`, keys.operator), 404, "tank_deleted");
      const [other, unknown] = [
        await call(`/insight/v1/tanks/worst/${path}`, keys.f1),
        await call(`/insight/v1/tanks/x/${path}`, keys.f1),
      ];
      expectError(other, 404, "tank_unknown");
      assert.deepEqual(withoutRequestId(other), withoutRequestId(unknown));
      expectError(await call(`/insight/v1/tanks/ok/${path}?sort=x`, keys.f1), 400, "parameter_unknown", "sort");
    }
  });
});

describe("one tank of the fleet", () => {
  const path = (id: string) => `/insight/v1/tanks/${id}`;

  it("is the entry of the list, for the operator and its owner", async () => {
    const [entry] = (await fleet("?state=low"))["data"] as Item[];
    for (const key of [keys.operator, keys.f2]) assert.deepEqual(object(await call(path("worst"), key)), entry);
    assert.equal(object(await call(path("never"), keys.f1))["state"], "unknown");
  });

  it("that is deleted is gone, to its owner and the operator", async () => {
    for (const key of [keys.operator, keys.f1]) expectError(await call(path("sold"), key), 404, "tank_deleted");
  });

  it("of another customer is as unknown as one that does not exist", async () => {
    for (const [id, key] of [
      ["worst", keys.f1],
      ["sold", keys.f2],
    ] as const) {
      const [other, unknown] = [await call(path(id), key), await call(path("nothing"), key)];
      expectError(other, 404, "tank_unknown");
      assert.deepEqual(withoutRequestId(other), withoutRequestId(unknown));
    }
    expectError(await call(path("%00"), keys.operator), 404, "tank_unknown");
  });
});

describe("the map", () => {
  const map = async (key: string) => object(await call("/insight/v1/map", key));

  it("has the position of every tank in scope by its state, and the towns", async () => {
    const worst = [500000, 88000];
    const own = [500000, 69600, 500000, 71000];
    const towns = [
      { name: "Bonn", latitude: 500000, longitude: 71000, tanks: 2 },
      { name: "Köln", latitude: 500000, longitude: 69600, tanks: 1 },
    ];
    const positions = {
      low: [...[500000, 71000], ...[500000, 69600]],
      leak: [],
      soon: [],
      silent: [],
      unknown: [],
      ok: [500000, 71000],
    };
    assert.deepEqual(await map(keys.f1), { object: "fleet_map", positions, without_coordinates: 1, towns });
    const whole = await map(keys.operator);
    assert.deepEqual((whole["positions"] as { low: number[] }).low.toSorted(), [...own, ...worst].toSorted());
    assert.deepEqual(
      (whole["towns"] as Item[]).map(({ name }) => name),
      ["Bonn", "Bremen", "Köln"],
    );
  });

  it("has no parameters", async () => {
    expectError(await call("/insight/v1/map?zoom=1", keys.operator), 400, "parameter_unknown", "zoom");
  });
});

describe("what a screen polls", () => {
  const PATHS = ["forecast", "refills", "series?from=2026-11-01T00:00:00Z"].map((path) => `/insight/v1/tanks/worst/${path}`);
  const OTHERS = ["map", "alerts?state=open", "alerts/counts", "events?after=0"].map((path) => `/insight/v1/${path}`);
  for (const path of [...PATHS, ...OTHERS]) {
    it(`is not sent again while it is the same: ${path}`, async () => {
      const { status, headers } = await call(path, keys.operator);
      assert.deepEqual([status, headers["cache-control"]], [200, "private, no-cache"]);
      forward(1000);
      const known = { "if-none-match": String(headers["etag"]) };
      assert.equal((await request(service, path, { key: keys.operator, headers: known })).status, 304);
    });
  }
});

describe("a tank without a reading for days", () => {
  it("is marked as silent, unless its own silent_after is longer", async () => {
    forward(49 * 3_600_000);
    const isSilent = async () => object(await call("/insight/v1/tanks/ok", keys.operator))["silent"];
    assert.equal(await isSilent(), true);
    expectStatus(await manage("PATCH", "/manage/v1/tanks/ok", { alerts: { silent_after: "30d" } }), 200);
    assert.equal(await isSilent(), false);
  });
});
