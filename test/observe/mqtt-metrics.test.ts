import assert from "node:assert/strict";
import test from "node:test";
import { openMetrics } from "../../src/observe/metrics.ts";

test("rejected readings, rejected and dropped MQTT clients, and failures are counted", async (t) => {
  const metrics = openMetrics();
  t.after(() => metrics.close());
  const address = "127.0.0.1";
  const topic = "tanks/d1/readings";
  metrics.observe({ kind: "readings_rejected", endpoint: "mqtt", keyId: "key_1", topic, device: "d1", count: 3, reason: "…" });
  metrics.observe({ kind: "readings_rejected", endpoint: "mqtt_url", keyId: null, topic, device: null, count: 1, reason: "…" });
  metrics.observe({ kind: "mqtt_client_rejected", code: "key_invalid", address });
  metrics.observe({ kind: "mqtt_client_dropped", reason: "too_slow", address });
  metrics.observe({ kind: "mqtt_failed", error: new Error("…") });
  const text = await metrics.text();
  for (const line of [
    'tank_monitor_readings_rejected_total{endpoint="mqtt"} 3',
    'tank_monitor_readings_rejected_total{endpoint="mqtt_url"} 1',
    'tank_monitor_mqtt_clients_rejected_total{code="key_invalid"} 1',
    'tank_monitor_mqtt_clients_dropped_total{reason="too_slow"} 1',
    "tank_monitor_mqtt_failures_total 1",
  ]) {
    assert.ok(text.includes(`${line}\n`), line);
  }
});
