// Health, readiness and metrics.

import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { DatabaseSync } from "node:sqlite";
import { after, describe, it } from "node:test";
import { eventsOf, publish, RawClient, reading } from "../ingest/mqtt/endpoint.ts";
import { manualClock } from "../support/clock.ts";
import { Mqtt5Broker } from "../support/mqtt5-broker.ts";
import { metricErrors, samplesIn } from "../support/prometheus.ts";
import { until } from "../support/until.ts";
import { contract, exchange, expectError, expectStatus, jsonClient, request, statuses } from "./client.ts";
import { startFleet } from "./services.ts";

const HOUR = 3_600_000;
const held = manualClock();
const fleet = await startFleet({ after }, { clock: held.clock });
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
  it("needs a metrics or manage key, in X-API-Key or as a bearer token", async () => {
    expectError(await request(fleet, "/metrics"), 401, "key_missing");
    for (const [by, status, code] of [
      ["nonsense", 401, "key_invalid"],
      [key, 403, "role_insufficient"],
      [fleet.brenner, 403, "role_insufficient"],
    ] as const) {
      expectError(await request(fleet, "/metrics", { key: by }), status, code);
      expectError(await request(fleet, "/metrics", { headers: { authorization: `Bearer ${by}` } }), status, code);
    }
    for (const by of [manage, await fleet.key({ role: "metrics" })]) {
      assert.equal((await request(fleet, "/metrics", { key: by })).status, 200);
      for (const authorization of [`Bearer ${by}`, `bearer ${by}`]) {
        assert.equal((await request(fleet, "/metrics", { headers: { authorization } })).status, 200);
      }
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

  it("counts readings by where they arrived: stored are new and replaced ones", async () => {
    const send = jsonClient(fleet, manage);
    const reading = (created_at: string, fill_percentage: number) => ({ tank_id: "tank_yard", created_at, fill_percentage });
    const [first, second] = ["2026-11-01T00:00:00Z", "2026-11-01T01:00:00Z"];
    const expected = {
      'tank_monitor_readings_stored_total{source="http"}': 3,
      'tank_monitor_readings_rejected_total{source="http"}': 2,
      'tank_monitor_write_duration_seconds_count{write="ingest",ok="true"}': 2,
    };
    await expectIncrease(expected, async () => {
      const batches = [
        [reading(first, 50), reading(second, 49), reading("yesterday", 48), { ...reading(first, 1), tank_id: "tank_nothing" }],
        [reading(first, 50), reading(second, 48), { device_id: "unknown", created_at: first, fill_percentage: 3 }],
      ];
      for (const batch of batches) expectStatus(await send("POST", "/ingest/v1/readings", batch), 200);
    });
  });

  it("counts tanks by state and pending readings, at most twice a minute", async () => {
    const send = jsonClient(fleet, manage);
    const tanks = ["low", "ok", "silent", "unknown"].map((state) => `tank_monitor_tanks{state="${state}"}`);
    const series = [...tanks, "tank_monitor_pending_readings"];
    const counts = () => fleet.events.filter((event) => event.kind === "query_completed" && event.query === "fleetCounts").length;
    const states = async (after: number) => {
      held.forward(after);
      return values(series);
    };
    const orderHas = (state: string, tanks: number) =>
      until(`the order has ${tanks} ${state}`, async () => {
        return (await send("GET", `/insight/v1/fleet?state=${state}`)).body["total_items"] === tanks;
      });
    await orderHas("ok", 3);
    const [, , , , pending = 0] = await states(30_000);
    // tank_mill and tank_hall have just been read; tank_yard, some days ago.
    assert.deepEqual(await states(0), [0, 2, 1, 0, pending]);
    const before = counts();
    const device = { device_id: "nobody", fill_percentage: 7 };
    expectStatus(await send("POST", "/ingest/v1/readings", [device, { tank_id: "tank_yard", fill_percentage: 20 }]), 200);
    await orderHas("low", 1);
    assert.deepEqual([await states(29_999), counts()], [[0, 2, 1, 0, pending], before]);
    assert.deepEqual([await states(1), counts()], [[1, 2, 0, 0, pending + 1], before + 1]);
    assert.deepEqual(await states(48 * HOUR), [1, 0, 2, 0, pending + 1], "a low tank stays low");
  });

  it("has process metrics by their conventional names, and the clients that are connected", async () => {
    const [cpu = 0, started = 0, memory = 0, http = 0] = await values([
      "process_cpu_seconds_total",
      "process_start_time_seconds",
      "process_resident_memory_bytes",
      'tank_monitor_clients_connected{protocol="http"}',
    ]);
    assert.ok(cpu > 0 && memory > 1e6);
    assert.ok(Math.abs(started - (Date.now() / 1000 - process.uptime())) < 5, `${started}`);
    assert.ok(http >= 1, `${http} clients`);
  });

  it("follows the rules of promtool check metrics", async () => {
    const text = await metrics();
    assert.deepEqual(metricErrors(text), []);
    assert.ok(samplesIn(text).length > 50);
  });

  it("is documented: every metric is in docs/operations.md or docs/mqtt.md", async () => {
    const docs = ["operations.md", "mqtt.md"].map((name) => readFileSync(new URL(`../../docs/${name}`, import.meta.url), "utf8"));
    const documented = new Set(docs.join("\n").match(/\b(tank_monitor|process|nodejs)_\w+/g));
    const names = Array.from((await metrics()).matchAll(/^# HELP (\w+)/gm), ([, name = ""]) => name);
    assert.deepEqual(
      names.filter((name) => !documented.has(name)),
      [],
    );
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

it("/metrics counts the readings and clients of MQTT", async (t) => {
  const broker = await new Mqtt5Broker().listen(t);
  const environment = { MQTT: "0", MQTT_URL: `mqtt://127.0.0.1:${broker.port}`, HOST: "127.0.0.1" };
  const service = await startFleet(t, { environment });
  const [metricsKey, ingestKey] = [await service.key({ role: "metrics" }), await service.key({ role: "ingest" })];
  const port = Number(new URL(eventsOf(service, "mqtt_listening")[0]?.url ?? "").port);
  const topic = "tanks/a84041c2f1827d3e/readings";
  const client = await new RawClient(t, { port }).connect(ingestKey);
  client.send(publish(1, reading(30), { topic }), publish(2, reading(31), { topic }), publish(3, "{", { topic }));
  await client.received("puback", 3);
  await until("the subscription", () => broker.subscribed.length > 0);
  broker.publish(topic, reading(32));
  await until("the acknowledgement", () => broker.acknowledged.length === 1);
  const { text } = await request(service, "/metrics", { key: metricsKey });
  for (const line of [
    'tank_monitor_readings_stored_total{source="http"} 0',
    'tank_monitor_readings_stored_total{source="mqtt"} 2',
    'tank_monitor_readings_stored_total{source="mqtt_url"} 1',
    'tank_monitor_readings_rejected_total{source="mqtt"} 1',
    'tank_monitor_clients_connected{protocol="mqtt"} 1',
  ]) {
    assert.ok(text.includes(`${line}\n`), `${line}\n${text}`);
  }
});

it("/metrics lacks what the database cannot count, and has the rest", async (t) => {
  const service = await startFleet(t);
  const key = await service.key({ role: "metrics" });
  const database = new DatabaseSync(service.databaseFile, { timeout: 5000 });
  const rename = (from: string, to: string) => database.exec(`ALTER TABLE ${from} RENAME TO ${to}`);
  const hasTanks = async () => {
    const { status, text } = await request(service, "/metrics", { key });
    assert.deepEqual([status, text.includes("process_cpu_seconds_total")], [200, true]);
    return text.includes("tank_monitor_tanks{");
  };
  rename("forecast", "lost");
  assert.equal(await hasTanks(), false);
  rename("lost", "forecast");
  database.close();
  await until("tanks are counted again", hasTanks);
});
