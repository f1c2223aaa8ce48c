import assert from "node:assert/strict";
import test from "node:test";
import fc from "fast-check";
import { Histogram, Registry } from "prom-client";
import { DurationHistogram, type MetricsCollector, openMetrics } from "../../src/observe/metrics.ts";
import { prometheusText, WorkerReports } from "../../src/observe/report.ts";
import { metricErrors } from "../support/prometheus.ts";

const shape = { name: "seconds", help: "Duration", labelNames: ["route", "status"], buckets: [0.001, 0.25, 1] };

const observations = fc.array(
  fc.record({
    seconds: fc.oneof(fc.constantFrom(0, ...shape.buckets), fc.double({ min: 0, max: 2, noNaN: true })),
    route: fc.constantFrom("/one", "/two", '/quoted "path"'),
    status: fc.constantFrom(200, 404),
  }),
);

test("a histogram has the same text as prom-client's", async () => {
  await fc.assert(
    fc.asyncProperty(observations, async (observed) => {
      const registry = new Registry();
      const expected = new Histogram({ ...shape, registers: [registry] });
      const histogram = new DurationHistogram(shape);
      for (const { seconds, route, status } of observed) {
        expected.observe({ route, status }, seconds);
        histogram.observe(seconds, [route, status]);
      }
      assert.equal(await prometheusText([[histogram.metric()]]), await registry.metrics());
    }),
  );
});

const ignore = () => {};

function complete(metrics: MetricsCollector, status: number, times: number): void {
  const request = { requestId: "r", method: "GET", path: "/v1/tanks", route: "/v1/tanks", code: null, keyId: null };
  for (let i = 0; i < times; i++)
    metrics.withCounters(ignore)({ kind: "request_completed", ...request, address: "::1", status, milliseconds: 2 });
}

async function sampleOf(reports: WorkerReports, series: string): Promise<number | undefined> {
  const line = (await prometheusText(await reports.all())).split("\n").find((text) => text.startsWith(`${series} `));
  return line === undefined ? undefined : Number(line.slice(series.length + 1));
}

const count = (status: number): string =>
  `tank_monitor_request_duration_seconds_count{route="/v1/tanks",method="GET",status="${status}"}`;
const bucket = 'tank_monitor_request_duration_seconds_bucket{le="0.0025",route="/v1/tanks",method="GET",status="200"}';
const ofWorker = (name: string, worker: number): string => `${name}{worker="${worker}"}`;

test("counters and histograms include workers that have exited, gauges do not", async (t) => {
  const reports = new WorkerReports();
  reports.exit(3);
  assert.equal((await prometheusText(await reports.all())).trim(), "", "a worker that never reported adds nothing");
  const [one, two, successor] = [openMetrics(1), openMetrics(2), openMetrics(1)];
  t.after(() => {
    for (const metrics of [one, two, successor]) metrics.close();
  });
  complete(one, 200, 3);
  complete(one, 404, 1);
  complete(two, 200, 4);
  reports.set(1, await one.report());
  reports.set(2, await two.report());
  assert.deepEqual([await sampleOf(reports, count(200)), await sampleOf(reports, bucket)], [7, 7]);
  for (const worker of [1, 2]) assert.ok(Number(await sampleOf(reports, ofWorker("process_resident_memory_bytes", worker))) > 0);

  const cpuSeconds = Number(await sampleOf(reports, ofWorker("process_cpu_seconds_total", 1)));
  reports.exit(1);
  assert.deepEqual([await sampleOf(reports, count(200)), await sampleOf(reports, count(404))], [7, 1]);
  assert.equal(await sampleOf(reports, ofWorker("process_resident_memory_bytes", 1)), undefined);
  assert.equal(await sampleOf(reports, ofWorker("process_cpu_seconds_total", 1)), cpuSeconds);

  complete(successor, 200, 5);
  reports.set(1, await successor.report());
  assert.equal(await sampleOf(reports, count(200)), 12);
  reports.exit(1);
  reports.exit(2);
  assert.deepEqual([await sampleOf(reports, count(200)), await sampleOf(reports, count(404))], [12, 1]);
  assert.equal(await sampleOf(reports, bucket), 12);
});

test("readings and MQTT clients are counted", async (t) => {
  const metrics = openMetrics();
  t.after(() => metrics.close());
  const observe = metrics.withCounters(ignore);
  const address = "127.0.0.1";
  observe({ kind: "readings_ingested", endpoint: "mqtt", stored: 5, rejected: 3 });
  observe({ kind: "readings_ingested", endpoint: "mqtt_url", stored: 2, rejected: 1 });
  observe({ kind: "readings_ingested", endpoint: "mqtt_url", stored: 4, rejected: 0 });
  observe({ kind: "mqtt_client_rejected", code: "key_invalid", address });
  observe({ kind: "mqtt_client_dropped", reason: "too_slow", address });
  observe({ kind: "mqtt_failed", error: new Error("…") });
  const text = await metrics.text();
  for (const line of [
    'tank_monitor_readings_stored_total{source="http"} 0',
    'tank_monitor_readings_stored_total{source="mqtt"} 5',
    'tank_monitor_readings_stored_total{source="mqtt_url"} 6',
    'tank_monitor_readings_rejected_total{source="http"} 0',
    'tank_monitor_readings_rejected_total{source="mqtt"} 3',
    'tank_monitor_readings_rejected_total{source="mqtt_url"} 1',
    'tank_monitor_mqtt_clients_rejected_total{code="key_invalid"} 1',
    'tank_monitor_mqtt_clients_dropped_total{reason="too_slow"} 1',
    "tank_monitor_mqtt_failures_total 1",
  ]) {
    assert.ok(text.includes(`${line}\n`), line);
  }
});

test("the rules for metrics find what promtool finds", () => {
  const valid = "# HELP a_total Text\n# TYPE a_total counter\na_total 1\n";
  assert.deepEqual(metricErrors(valid), []);
  for (const [text, error] of [
    [valid + valid, "a_total: occurs twice"],
    ["# HELP a_total Text\na_total 1\n", "a_total: no type"],
    ["# HELP a_total \n# TYPE a_total counter\na_total 1\n", "a_total: no help text"],
    ["# HELP aB Text\n# TYPE aB gauge\naB 1\n", "aB: not in snake_case, or with a colon"],
    ["# HELP a:b Text\n# TYPE a:b gauge\na:b 1\n", "a:b: not in snake_case, or with a colon"],
    ["# HELP a Text\n# TYPE a counter\na 1\n", 'a: counters, and only these, end in "_total"'],
    ["# HELP a_total Text\n# TYPE a_total gauge\na_total 1\n", 'a_total: counters, and only these, end in "_total"'],
    ["# HELP a_count Text\n# TYPE a_count gauge\na_count 1\n", "a_count: a reserved ending"],
    ["# HELP a_milliseconds Text\n# TYPE a_milliseconds gauge\na_milliseconds 1\n", "a_milliseconds: not in a base unit"],
    ["# HELP a_gauge Text\n# TYPE a_gauge gauge\na_gauge 1\n", "a_gauge: the type is part of the name"],
    ['# HELP a Text\n# TYPE a gauge\na{aB="1"} 1\n', "a: a label not in snake_case"],
    ["# HELP a Text\n# TYPE a gauge\na ?\n", "a: a value that is not a number"],
    ['# HELP a Text\n# TYPE a gauge\na{le="1"} 1\n', 'a: a label "le"'],
    ['# HELP a Text\n# TYPE a gauge\na{quantile="1"} 1\n', 'a: a label "quantile"'],
    ["# HELP a Text\n# TYPE a gauge\nb 1\n", "a: samples of another name"],
    ["# HELP a Text\n# TYPE a histogram\na_bucket 1\na_sum 1\na_count 1\n", "a: samples of another name"],
  ] as const) {
    assert.ok(metricErrors(text).includes(error), `${error}: ${metricErrors(text)}`);
  }
});
