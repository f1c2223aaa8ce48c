// Metrics in Prometheus' format, counted from the events.

import { Counter, Registry } from "prom-client";
import type { Event, Observe } from "../domain/events.ts";
import { Durations } from "./durations.ts";
import { watchProcess } from "./process.ts";
import { type Report, textOfAll } from "./report.ts";

export type MetricsBook = {
  readonly observe: Observe;
  readonly text: () => Promise<string>;
  /** The same as values, to be put together with those of other processes. */
  readonly report: () => Promise<Report>;
  readonly close: () => void;
};

const REQUEST_SECONDS = [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5];
const QUESTION_SECONDS = [0.00001, 0.000025, 0.00005, 0.0001, 0.00025, 0.0005, 0.001, 0.005, 0.025, 0.1, 1];

/** One of several workers tells of its own process under its number. */
export function openMetrics(worker?: number): MetricsBook {
  const registry = new Registry();
  const stopWatching = watchProcess(registry, worker === undefined ? {} : { worker });
  const requests = new Durations({
    name: "tank_monitor_request_duration_seconds",
    help: "Time from the arrival of a request to the end of its answer, by route and status",
    labelNames: ["route", "method", "status"],
    seconds: REQUEST_SECONDS,
  });
  const questions = new Durations({
    name: "tank_monitor_store_duration_seconds",
    help: "Time the store took for a question",
    labelNames: ["query", "ok"],
    seconds: QUESTION_SECONDS,
  });
  const counter = (name: string, help: string, labelNames: string[]) =>
    new Counter({ name, help, labelNames, registers: [registry] });
  const refusedKeys = counter("tank_monitor_auth_failures_total", "Requests refused for their key", ["code"]);
  const limited = counter("tank_monitor_rate_limited_total", "Requests refused for their number", ["code"]);
  const broken = counter("tank_monitor_connections_rejected_total", "Connections that sent no readable request", ["code"]);

  const refusedReadings = counter("tank_monitor_readings_rejected_total", "Readings refused, by the way they came in", [
    "endpoint",
  ]);
  const refusedClients = counter("tank_monitor_mqtt_clients_rejected_total", "MQTT clients that could not log in", ["code"]);
  const droppedClients = counter("tank_monitor_mqtt_clients_dropped_total", "MQTT clients that were cut off", ["reason"]);
  const failedMessages = counter("tank_monitor_mqtt_failures_total", "Messages that failed by our fault", []);

  function observe(event: Event): void {
    switch (event.kind) {
      case "request_completed": {
        const route = event.route ?? "(none)";
        const method = METHODS.has(event.method) ? event.method : "other";
        requests.observe(event.milliseconds / 1000, [route, method, event.status]);
        if (event.status === 401 || event.status === 403) refusedKeys.inc({ code: event.code ?? "" });
        if (event.status === 429) limited.inc({ code: event.code ?? "" });
        return;
      }
      case "query_completed":
        questions.observe(event.milliseconds / 1000, [event.query, String(event.ok)]);
        return;
      case "connection_rejected":
        broken.inc({ code: event.code });
        return;
      case "readings_rejected":
        refusedReadings.inc({ endpoint: event.endpoint }, event.count);
        return;
      case "mqtt_client_rejected":
        refusedClients.inc({ code: event.code });
        return;
      case "mqtt_client_dropped":
        droppedClients.inc({ reason: event.reason });
        return;
      case "mqtt_failed":
        failedMessages.inc();
        return;
    }
  }

  async function report(): Promise<Report> {
    return [...(await registry.getMetricsAsJSON()), requests.metric(), questions.metric()];
  }

  return { observe, text: async () => textOfAll([await report()]), report, close: stopWatching };
}

/** Methods are the caller's to choose; labels are not. */
const METHODS = new Set(["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"]);
