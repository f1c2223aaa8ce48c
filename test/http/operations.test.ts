// Health, readiness and metrics.

import assert from "node:assert/strict";
import { after, describe, it } from "node:test";
import { manualClock } from "../support/clock.ts";
import { contract, exchange, expectError, request, statuses } from "./client.ts";
import { startFleet } from "./services.ts";

const fleet = await startFleet({ after }, { clock: manualClock().clock });
const manage = await fleet.key({ role: "manage" });
const limited = await fleet.key({ rate: 1 });
const key = fleet.operator;

const metrics = async (): Promise<string> => (await request(fleet, "/metrics", { key: manage })).text;

/** The values of these series, 0 for those that do not exist. */
async function values(series: readonly string[]): Promise<number[]> {
  const lines = (await metrics()).split("\n");
  return series.map((name) => Number(lines.find((line) => line.startsWith(`${name} `))?.slice(name.length + 1) ?? 0));
}

async function expectIncrease(expected: Record<string, number>, action: () => Promise<unknown>): Promise<void> {
  const before = await values(Object.keys(expected));
  await action();
  const increases = (await values(Object.keys(expected))).map((value, i) => value - (before[i] ?? 0));
  assert.deepEqual(increases, Object.values(expected));
}

const requests = (route: string, status: number) =>
  `tank_monitor_request_duration_seconds_count{route="${route}",method="GET",status="${status}"}`;

it("/healthz and /readyz need no key, ignore parameters, and are not cached", async () => {
  for (const [path, body] of [
    ["/healthz", '{"status":"ok"}'],
    ["/readyz", '{"status":"ready"}'],
  ] as const) {
    const response = await request(fleet, path);
    assert.deepEqual([response.status, response.text, response.headers["cache-control"]], [200, body, "no-store"]);
    assert.equal((await request(fleet, path, { key: "nonsense" })).status, 200);
    assert.equal((await request(fleet, `${path}?probe=1`)).status, 200);
    await request(fleet, path, { headers: { "content-type": "application/json" }, body: "{}" });
  }
});

describe("/metrics", () => {
  it("needs a manage key, in X-API-Key or as a bearer token", async () => {
    expectError(await request(fleet, "/metrics"), 401, "key_missing");
    for (const [by, status, code] of [
      ["nonsense", 401, "key_invalid"],
      [key, 403, "role_insufficient"],
      [fleet.brenner, 403, "role_insufficient"],
    ] as const) {
      expectError(await request(fleet, "/metrics", { key: by }), status, code);
      expectError(await request(fleet, "/metrics", { headers: { authorization: `Bearer ${by}` } }), status, code);
    }
    assert.equal((await request(fleet, "/metrics", { key: manage })).status, 200);
    for (const authorization of [`Bearer ${manage}`, `bearer ${manage}`]) {
      assert.equal((await request(fleet, "/metrics", { headers: { authorization } })).status, 200);
    }
    for (const authorization of [`Basic ${manage}`, "Bearer", manage]) {
      expectError(await request(fleet, "/metrics", { headers: { authorization } }), 401, "key_missing");
    }
  });

  it("is in Prometheus format, not cached, with the lag of the event loop", async () => {
    const { text, headers } = await request(fleet, "/metrics", { key: manage });
    assert.equal(headers["cache-control"], "no-store");
    for (const line of text.split("\n")) {
      assert.match(line, /^(|# (HELP|TYPE) \w+ .+|\w+(\{[^{}]*\})? (-?[\d.e+-]+|[+-]Inf|nan))$/i);
    }
    assert.match(text, /^\w*event_?loop_lag_\w*(\{[^}]*\})? [\d.e-]+$/m);
  });

  it("counts requests by route and status, with their duration", async () => {
    const expected = {
      [requests("/v1/tanks/:id", 200)]: 2,
      [requests("/v1/tanks/:id", 404)]: 1,
      [requests("/v1/tanks", 400)]: 1,
      [requests("(none)", 404)]: 1,
    };
    await expectIncrease(expected, async () => {
      for (const path of ["tanks/tank_hall", "tanks/tank_mill", "tanks/tank_nothing", "tanks?size=0", "nothing"]) {
        await request(fleet, `/v1/${path}`, { key });
      }
    });
    const text = await metrics();
    const labels = String.raw`route="\/v1\/tanks\/:id",method="GET",status="200"`;
    assert.match(text, new RegExp(`tank_monitor_request_duration_seconds_bucket\\{le="0\\.\\d+",${labels}\\}`));
    assert.match(text, new RegExp(`tank_monitor_request_duration_seconds_sum\\{${labels}\\} 0\\.\\d+`));
  });

  it("has no label that a client chose", async () => {
    await request(fleet, "/invented-path-1", { key });
    await request(fleet, "/v1/tanks/invented-id-2", { key });
    await exchange(fleet, "INVENTED3 /v1/tanks HTTP/1.1\r\nHost: here\r\nConnection: close\r\n\r\n");
    await request(fleet, "/v1/tanks", { method: "PURGE" });
    const text = await metrics();
    for (const word of ["invented-path-1", "invented-id-2", "INVENTED3", "PURGE", key]) assert.ok(!text.includes(word), word);
  });

  it("counts rejected keys, rate-limited requests, rejected connections and database queries", async () => {
    const ingest = await fleet.key({ role: "ingest" });
    const expected = {
      'tank_monitor_auth_failures_total{code="key_missing"}': 1,
      'tank_monitor_auth_failures_total{code="key_invalid"}': 1,
      'tank_monitor_auth_failures_total{code="role_insufficient"}': 1,
      'tank_monitor_rate_limited_total{code="rate_limited"}': 3,
      'tank_monitor_connections_rejected_total{code="request_malformed"}': 1,
      'tank_monitor_store_duration_seconds_count{query="tankPage",ok="true"}': 2,
    };
    await expectIncrease(expected, async () => {
      await request(fleet, "/v1/tanks");
      for (const by of ["nonsense", ingest]) await request(fleet, "/v1/tanks", { key: by });
      for (let i = 0; i < 5; i++) await request(fleet, "/v1/tanks", { key: limited });
      assert.deepEqual(statuses(await exchange(fleet, "\x16\x03\x01\x00\xa5\r\n\r\n")), [400]);
    });
    const [seconds = 0] = await values(['tank_monitor_store_duration_seconds_sum{query="tankPage",ok="true"}']);
    assert.ok(seconds > 0);
  });

  it("has the metrics of its documented example", async () => {
    const { document } = await contract(fleet);
    const media = Object.values(document.paths["/metrics"]?.["get"]?.responses["200"]?.content ?? {})[0];
    const names = Object.values(media?.examples ?? {}).flatMap(({ value }) => String(value).match(/^\w+(?=[ {])/gm) ?? []);
    assert.ok(names.length > 0);
    const text = await metrics();
    for (const name of names) assert.match(text, new RegExp(`^${name}[ {]`, "m"));
  });
});
