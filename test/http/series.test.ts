// GET /insight/v1/tanks/{id}/series and POST /insight/v1/series, on both engines.

import assert from "node:assert/strict";
import { after, describe, it } from "node:test";
import { FIRST_INSTANT, formatInstant, LAST_INSTANT } from "../../src/domain/instant.ts";
import { UNRESTRICTED } from "../../src/domain/key.ts";
import { manualClock } from "../support/clock.ts";
import { databaseSetting } from "../support/postgres/database.ts";
import { putReadings, tankRecord } from "../support/records.ts";
import { expectError, expectStatus, type Item, jsonClient, object, request, withoutRequestId } from "./client.ts";
import { BRENNER, type Fleet, fieldErrors, HALL_READINGS, NEWEST, startFleet } from "./services.ts";

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;
const SERIES = "/insight/v1/series";
const path = (id: string, query = ""): string => `/insight/v1/tanks/${id}/series${query}`;
const call = (service: Fleet, url: string, key = service.operator) => request(service, url, { key });
const series = async (service: Fleet, url: string, key = service.operator): Promise<Item> =>
  object(await call(service, url, key));
const post = (service: Fleet, body: unknown, key = service.operator) => jsonClient(service, key)("POST", SERIES, body);

/** A reading a minute, from the beginning of 2026. */
const LONG = 30_000;
const LONG_START = Date.parse("2026-01-01T00:00:00.000Z");

async function started(engine: "sqlite" | "postgres"): Promise<Fleet> {
  const environment = { RATE_LIMIT: "0", ...(await databaseSetting({ after }, engine)) };
  const { clock } = manualClock(NEWEST + HOUR);
  const service = await startFleet({ after }, { clock, environment });
  await service.store.importTanks(["tank_long", "tank_edge", "tank_new"].map((id) => tankRecord(id, BRENNER)));
  const long = Array.from({ length: LONG }, (_, i) => [LONG_START + i * MINUTE, (i % 10_000) / 100] as const);
  for (let i = 0; i < LONG; i += 10_000) await putReadings(service.store, "tank_long", long.slice(i, i + 10_000));
  return service;
}

const services = { sqlite: await started("sqlite"), postgres: await started("postgres") };

for (const engine of ["sqlite", "postgres"] as const) {
  describe(`${engine}: the series of a tank`, () => {
    const service = services[engine];

    it("has the last 30 days by default, in buckets of six hours, and says what it was made of", async () => {
      const { buckets, ...rest } = await series(service, path("tank_hall"));
      assert.deepEqual(rest, {
        object: "series",
        tank_id: "tank_hall",
        from: "2026-10-15T09:15:00.000Z",
        to: "2026-11-14T09:15:00.000Z",
        step: "6h",
        timezone: "UTC",
      });
      // Hourly readings from 60 % at 08:00, 0.1 more for each hour before.
      assert.deepEqual(buckets, [
        { start: "2026-11-13T06:00:00.000Z", min: 62.1, max: 62.4, mean: 62.25, last: 62.1, count: 4 },
        { start: "2026-11-13T12:00:00.000Z", min: 61.5, max: 62, mean: 61.75, last: 61.5, count: 6 },
        { start: "2026-11-13T18:00:00.000Z", min: 60.9, max: 61.4, mean: 61.15, last: 60.9, count: 6 },
        { start: "2026-11-14T00:00:00.000Z", min: 60.3, max: 60.8, mean: 60.55, last: 60.3, count: 6 },
        { start: "2026-11-14T06:00:00.000Z", min: 60, max: 60.2, mean: 60.1, last: 60, count: 3 },
      ]);
      assert.deepEqual((await series(service, path("tank_yard")))["buckets"], [], "without a reading");
    });

    it("has local days; from is inclusive and to exclusive", async () => {
      const days = async (from: number, to: number, zone = "Europe/Berlin") => {
        const range = `from=${formatInstant(from)}&to=${formatInstant(to)}`;
        const { buckets } = await series(service, path("tank_hall", `?${range}&step=1d&timezone=${zone}`));
        return (buckets as { start: string; count: number }[]).map(({ start, count }) => `${start.slice(0, 16)} ${count}`);
      };
      const oldest = NEWEST - (HALL_READINGS - 1) * HOUR;
      assert.deepEqual(await days(oldest, NEWEST + 1), ["2026-11-12T23:00 15", "2026-11-13T23:00 10"]);
      assert.deepEqual(await days(oldest, NEWEST + 1, "asia/kathmandu"), ["2026-11-12T18:15 11", "2026-11-13T18:15 14"]);
      assert.deepEqual(await days(oldest + 1, NEWEST), ["2026-11-12T23:00 14", "2026-11-13T23:00 9"]);
      assert.deepEqual(await days(NEWEST, NEWEST + 1), ["2026-11-13T23:00 1"]);
      assert.deepEqual(await days(NEWEST + 1, NEWEST + DAY), []);
      const finer = await series(service, path("tank_hall", "?from=2026-11-14T07:59:59.9995Z&to=2026-11-14T08:00:00.0001Z"));
      assert.deepEqual([finer["from"], finer["to"]], ["2026-11-14T08:00:00.000Z", "2026-11-14T08:00:00.001Z"]);
      assert.equal((finer["buckets"] as Item[]).length, 1);
    });

    it("of very many readings is exact, and read a part at a time", async () => {
      const range = { from: LONG_START + 30_000, to: Date.parse("2026-12-01T00:00:00Z") };
      const part = await service.store.readingColumns("tank_long", range, UNRESTRICTED);
      assert.ok(typeof part === "object" && part.next !== undefined && part.instants.length <= 8192);
      const query = `?from=${formatInstant(range.from)}&to=${formatInstant(range.to)}&step=1d&timezone=America/New_York`;
      const long = await series(service, path("tank_long", query));
      const buckets = long["buckets"] as { start: string; count: number; min: number; max: number; last: number }[];
      assert.equal(
        buckets.reduce((sum, { count }) => sum + count, 0),
        LONG - 1,
      );
      assert.deepEqual(buckets[0], {
        start: "2025-12-31T05:00:00.000Z",
        min: 0.01,
        max: 2.99,
        mean: 1.5,
        last: 2.99,
        count: 299,
      });
      assert.deepEqual(buckets[1], {
        start: "2026-01-01T05:00:00.000Z",
        min: 3,
        max: 17.39,
        mean: 10.195,
        last: 17.39,
        count: 1440,
      });
      const inside = `?from=2026-01-10T00:00:00Z&to=2026-01-10T02:00:00Z&step=1h`;
      assert.deepEqual(
        ((await series(service, path("tank_long", inside)))["buckets"] as { count: number }[]).map(({ count }) => count),
        [60, 60],
      );
    });

    it("has readings of the years 0 to 9999", async () => {
      await putReadings(service.store, "tank_edge", [
        [FIRST_INSTANT, 1.25],
        [-1, 100 / 3],
        [LAST_INSTANT, 5e-324],
      ]);
      const first = await series(service, path("tank_edge", "?from=0000-01-01&to=0001-01-01&step=1w&timezone=Europe/Berlin"));
      const only = { min: 1.25, max: 1.25, mean: 1.25, last: 1.25, count: 1 };
      assert.deepEqual(first["buckets"], [{ start: "0000-01-01T00:00:00.000Z", ...only }]);
      const next = await series(service, path("tank_edge", "?from=1969-12-01&to=1970-02-01&step=1M&timezone=America/New_York"));
      const third = { min: 100 / 3, max: 100 / 3, mean: 100 / 3, last: 100 / 3, count: 1 };
      assert.deepEqual(next["buckets"], [{ start: "1969-12-01T05:00:00.000Z", ...third }]);
      const last = await series(service, path("tank_edge", "?from=9999-12-31&to=9999-12-31T23:59:59.999Z"));
      assert.deepEqual(last["buckets"], []);
    });

    it("can be revalidated", async () => {
      const { headers } = await call(service, path("tank_new"));
      assert.equal(headers["cache-control"], "private, no-cache");
      const again = () =>
        request(service, path("tank_new"), { key: service.operator, headers: { "if-none-match": `${headers.etag}` } });
      assert.equal((await again()).status, 304);
      await putReadings(service.store, "tank_new", [[NEWEST + 1, 12]]);
      assert.equal((await again()).status, 200);
    });

    it("is that of tanks in scope; others are unknown", async () => {
      assert.equal((await series(service, path("tank_hall"), service.brenner))["tank_id"], "tank_hall");
      const [other, unknown] = [
        await call(service, path("tank_mill"), service.brenner),
        await call(service, path("nothing"), service.brenner),
      ];
      expectError(other, 404, "tank_unknown");
      assert.deepEqual(withoutRequestId(other), withoutRequestId(unknown));
      expectError(await call(service, path("tank_scrapped"), service.brenner), 404, "tank_deleted");
      expectError(await call(service, path("tank_sold"), service.brenner), 404, "tank_unknown");
      expectError(await call(service, path("%00")), 404, "tank_unknown");
    });

    it("of several tanks has each as it is alone, in the order of the request, without those that cannot be seen", async () => {
      const query = { from: "2025-11-14T00:00:00Z", to: "2026-11-15T00:00:00Z", step: "1d", timezone: "Europe/Berlin" };
      const alone = (id: string) => series(service, path(id, `?${new URLSearchParams(query)}`));
      const ids = ["tank_yard", "nothing", "tank_long", "tank_scrapped", "tank_mill", "tank_hall"];
      const { data, ...envelope } = expectStatus(await post(service, { tank_ids: ids, ...query }), 200);
      const visible = ["tank_yard", "tank_long", "tank_mill", "tank_hall"];
      assert.deepEqual(data, await Promise.all(visible.map(alone)));
      assert.deepEqual(envelope, { object: "list", page: 1, size: 100, total_pages: 1, total_items: 4 });
      const own = expectStatus(await post(service, { tank_ids: ids, ...query }, service.moser), 200);
      assert.deepEqual(own["data"], [await alone("tank_mill")]);
      const [none, unknown] = [["tank_hall"], ["nothing"]].map((tank_ids) => post(service, { tank_ids }, service.moser));
      assert.deepEqual((await none)?.body, (await unknown)?.body);
      assert.deepEqual((await none)?.body["data"], []);
    });
  });
}

describe("a request for series", () => {
  const service = services.sqlite;

  it("with wrong parameters is rejected, with the one that is wrong", async () => {
    for (const [query, param, message] of [
      ["from=yesterday", "from", /ISO datetime/],
      ["to=", "to", /ISO datetime/],
      ["step=2h", "step", /one of 15m, 1h, 6h, 1d, 1w, 1M, auto/],
      ["step=1m", "step", /one of/],
      ["timezone=Europe/Bonn", "timezone", /a time zone such as Europe\/Berlin/],
      ["timezone=", "timezone", /a time zone/],
      ["timezone=%20Europe/Berlin", "timezone", /a time zone/],
      ["from=2026-11-02&to=2026-11-01", "from", /must be before to/],
      ["from=2026-11-01&to=2026-11-01", "from", /must be before to/],
      ["from=2027-01-01", "from", /must be before to, 2026-11-14T09:15:00.000Z/],
      ["from=1900-01-01", "from", /at most 400 months/],
      ["from=2026-01-01&to=2026-11-01&step=15m", "from", /at most 10000 buckets of 15m/],
      ["from=0000-01-01&to=9999-12-31&step=1M", "from", /at most 10000 buckets of 1M/],
    ] as const) {
      const response = await call(service, path("tank_hall", `?${query}`));
      expectError(response, 400, "parameter_invalid", param);
      assert.match(response.text, message);
    }
    expectError(await call(service, path("tank_hall", "?size=1")), 400, "parameter_unknown", "size");
    expectError(await call(service, `${SERIES}?step=1d`), 405, "method_not_allowed");
  });

  it("may have an offset as its time zone, and bounds at the end of time", async () => {
    for (const timezone of ["+02:00", "%2B02:00"]) {
      assert.equal((await series(service, path("tank_hall", `?timezone=${timezone}`)))["timezone"], "+02:00", timezone);
    }
    for (const timezone of ["Etc/GMT+5", "Etc/GMT%2B5"]) {
      assert.equal((await series(service, path("tank_hall", `?timezone=${timezone}`)))["timezone"], "Etc/GMT+5", timezone);
    }
    const last = "9999-12-31T23:59:59.999Z";
    const to = last.replace("Z", "9Z");
    assert.equal((await series(service, path("tank_hall", `?step=1M&from=9999-01-01&to=${to}`)))["to"], last);
    const [first] = (await post(service, { tank_ids: ["tank_hall"], to })).body["data"] as Item[];
    assert.equal(first?.["to"], last);
  });

  it("with a wrong body is rejected, with all errors", async () => {
    const many = Array.from({ length: 101 }, (_, i) => `t${i}`);
    for (const [body, ...expected] of [
      [{}, "tank_ids is missing"],
      [{ tank_ids: [] }, "tank_ids must have at least 1 entry"],
      [{ tank_ids: many }, "tank_ids must have at most 100 entries"],
      [{ tank_ids: "tank_hall" }, "tank_ids must be a list"],
      [{ tank_ids: ["a", "", "b", "a"] }, "tank_ids[1] must not be empty"],
      [{ tank_ids: ["a", "b", "a"] }, "tank_ids[2] repeats another one"],
      [
        { tank_ids: [7], from: "x", to: 3, step: "day", timezone: "", tank: 1 },
        "tank is not a known field",
        "tank_ids[0] must be a string",
        'from must be a datetime such as "2026-11-14T09:30:00Z"',
        "to must be a string",
        "step must be one of 15m, 1h, 6h, 1d, 1w, 1M, auto",
        "timezone must not be empty",
      ],
      [{ tank_ids: ["a"], timezone: "Mars/Olympus" }, "timezone must be a time zone such as Europe/Berlin or +02:00"],
      [{ tank_ids: ["a"], from: "2026-02-01", to: "2026-01-01" }, "from must be before to, 2026-01-01T00:00:00.000Z"],
      [
        { tank_ids: many.slice(0, 100), from: "2024-01-01", to: "2026-01-01", step: "1d" },
        "from must be later: a range may have at most 400 buckets of 1d",
      ],
    ] as const) {
      const response = await post(service, body);
      assert.equal(response.status, 400);
      assert.deepEqual(fieldErrors(response), expected);
    }
  });
});
