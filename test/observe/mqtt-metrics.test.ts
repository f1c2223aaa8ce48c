import assert from "node:assert/strict";
import test from "node:test";
import { openMetrics } from "../../src/observe/metrics.ts";

test("what MQTT clients are refused is counted", async (t) => {
  const metrics = openMetrics();
  t.after(() => metrics.close());
  const address = "127.0.0.1";
  const topic = "tanks/d1/readings";
  metrics.observe({ kind: "readings_refused", door: "mqtt", keyId: "key_1", topic, device: "d1", count: 3, reason: "…" });
  metrics.observe({ kind: "readings_refused", door: "mqtt_url", keyId: null, topic, device: null, count: 1, reason: "…" });
  metrics.observe({ kind: "mqtt_client_refused", code: "key_invalid", address });
  metrics.observe({ kind: "mqtt_client_dropped", why: "too_slow", address });
  metrics.observe({ kind: "mqtt_failed", error: new Error("…") });
  const text = await metrics.text();
  for (const line of [
    'tank_monitor_readings_refused_total{door="mqtt"} 3',
    'tank_monitor_readings_refused_total{door="mqtt_url"} 1',
    'tank_monitor_mqtt_clients_refused_total{code="key_invalid"} 1',
    'tank_monitor_mqtt_clients_dropped_total{why="too_slow"} 1',
    "tank_monitor_mqtt_failures_total 1",
  ]) {
    assert.ok(text.includes(`${line}\n`), line);
  }
});
