// Metrics for Prometheus, counted from the events, and those of the process itself.

import { monitorEventLoopDelay } from "node:perf_hooks";
import { Counter, Gauge, Registry } from "prom-client";
import { RECIPIENT_TYPES } from "../domain/alerts/notification-queue.ts";
import { INGEST_ENDPOINTS, type LogEvent, type Observe } from "../domain/log-events.ts";
import { type Metric, type MetricsReport, prometheusText } from "./report.ts";

export type MetricsCollector = {
  /** Counts events on their way to the log. */
  readonly withCounters: (log: Observe) => Observe;
  /** `count` is called for every scrape. */
  readonly watchClients: (count: () => Promise<ConnectedClients>) => void;
  /** The metrics of all processes, and of `more`. */
  readonly text: (more?: MetricsReport) => Promise<string>;
  /** The metrics as values, to be added to those of other processes. */
  readonly report: () => Promise<MetricsReport>;
  readonly close: () => void;
};

/** By protocol. Clients of MQTT are counted once they are authenticated. */
type ConnectedClients = { readonly http: number; readonly mqtt: number };

const REQUEST_BUCKETS = [0.0005, 0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5];
const QUERY_BUCKETS = [0.00001, 0.000025, 0.00005, 0.0001, 0.00025, 0.0005, 0.001, 0.005, 0.025, 0.1, 1];
const WRITE_BUCKETS = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10];
/** Clients choose the method, and must not be able to create labels. */
const METHODS = new Set(["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"]);

/** Outcomes of an attempt. `retried`: it failed and will be repeated. */
const OUTCOMES = ["delivered", "retried", "failed", "expired"] as const;

/** With several workers, the metrics of a process have the label `worker`. */
export function openMetrics(worker?: number): MetricsCollector {
  const registry = new Registry();
  const stopProcessMetrics = addProcessMetrics(registry, worker === undefined ? {} : { worker });
  const { countEvent, histograms } = addEventMetrics(registry);

  let clients = async (): Promise<ConnectedClients> => ({ http: 0, mqtt: 0 });
  new Gauge({
    name: "tank_monitor_clients_connected",
    help: "Connected clients, by protocol",
    labelNames: ["protocol"],
    registers: [registry],
    async collect() {
      for (const [protocol, value] of Object.entries(await clients())) this.set({ protocol }, value);
    },
  });

  async function report(): Promise<MetricsReport> {
    return [...(await registry.getMetricsAsJSON()), ...histograms.map((histogram) => histogram.metric())];
  }

  return {
    withCounters: (log) => (event) => {
      countEvent(event);
      log(event);
    },
    watchClients(count) {
      clients = count;
    },
    text: async (more = []) => prometheusText([await report(), more]),
    report,
    close: stopProcessMetrics,
  };
}

/** Returns the function that counts an event. The histograms are not in the registry. */
function addEventMetrics(registry: Registry) {
  const requests = new DurationHistogram({
    name: "tank_monitor_request_duration_seconds",
    help: "Time from the start of a request to the end of its response, by route and status",
    labelNames: ["route", "method", "status"],
    buckets: REQUEST_BUCKETS,
  });
  const queries = new DurationHistogram({
    name: "tank_monitor_store_duration_seconds",
    help: "Duration of store queries",
    labelNames: ["query", "ok"],
    buckets: QUERY_BUCKETS,
  });
  const writes = new DurationHistogram({
    name: "tank_monitor_write_duration_seconds",
    help: "Time until a write to the store is durable",
    labelNames: ["write", "ok"],
    buckets: WRITE_BUCKETS,
  });
  const counter = (name: string, help: string, ...labelNames: string[]) =>
    new Counter({ name: `tank_monitor_${name}_total`, help, labelNames, registers: [registry] });
  const authFailures = counter("auth_failures", "Requests with a missing or invalid key, or an insufficient role", "code");
  const rateLimited = counter("rate_limited", "Rate-limited requests", "code");
  const rejectedConnections = counter("connections_rejected", "Connections without a valid HTTP request", "code");
  const droppedConnections = counter(
    "connections_dropped",
    "Connections over a limit, and those that read no response",
    "reason",
  );
  const storedReadings = counter(
    "readings_stored",
    "Readings stored, new or with a changed value, by where they arrived",
    "source",
  );
  const rejectedReadings = counter("readings_rejected", "Readings rejected, by where they arrived", "source");
  // From 0 on, so that the first readings count as an increase.
  for (const source of INGEST_ENDPOINTS) for (const readings of [storedReadings, rejectedReadings]) readings.inc({ source }, 0);
  const notifications = counter(
    "notifications",
    "Notifications by type of channel, or to a customer, and by what became of an attempt",
    "channel",
    "outcome",
  );
  for (const channel of RECIPIENT_TYPES) {
    for (const outcome of OUTCOMES) notifications.inc({ channel, outcome }, 0);
  }
  const damagedData = counter("data_damaged", "Reads and writes that found damaged data");
  const rejectedClients = counter("mqtt_clients_rejected", "MQTT clients that failed to authenticate", "code");
  const droppedClients = counter("mqtt_clients_dropped", "MQTT clients that were disconnected", "reason");
  const failedMessages = counter("mqtt_failures", "Internal errors of the MQTT endpoint");

  function countEvent(event: LogEvent): void {
    switch (event.kind) {
      case "request_completed": {
        const route = event.route ?? "(none)";
        const method = METHODS.has(event.method) ? event.method : "other";
        requests.observe(event.milliseconds / 1000, [route, method, event.status]);
        if (event.status === 401 || event.status === 403) authFailures.inc({ code: event.code ?? "" });
        if (event.status === 429) rateLimited.inc({ code: event.code ?? "" });
        return;
      }
      case "query_completed":
        queries.observe(event.milliseconds / 1000, [event.query, String(event.ok)]);
        return;
      case "connection_rejected":
        rejectedConnections.inc({ code: event.code });
        return;
      case "connection_dropped":
        droppedConnections.inc({ reason: event.reason });
        return;
      case "write_completed":
        writes.observe(event.milliseconds / 1000, [event.write, String(event.ok)]);
        return;
      case "replica_damaged":
      case "data_damaged":
        damagedData.inc();
        return;
      case "readings_ingested":
        storedReadings.inc({ source: event.endpoint }, event.stored);
        rejectedReadings.inc({ source: event.endpoint }, event.rejected);
        return;
      case "notification_delivered":
        notifications.inc({ channel: event.recipient, outcome: "delivered" });
        return;
      case "notification_failed":
        notifications.inc({ channel: event.recipient, outcome: event.outcome });
        return;
      case "notifications_ended":
        notifications.inc({ channel: event.recipient, outcome: event.outcome }, event.count);
        return;
      case "mqtt_client_rejected":
        rejectedClients.inc({ code: event.code });
        return;
      case "mqtt_client_dropped":
        droppedClients.inc({ reason: event.reason });
        return;
      case "mqtt_failed":
        failedMessages.inc();
        return;
    }
  }

  return { countEvent, histograms: [requests, queries, writes] };
}

const LAG_RESOLUTION_MS = 10;

/** Returns the function that stops measuring. */
function addProcessMetrics(registry: Registry, labels: Readonly<Record<string, number>>): () => void {
  const labelNames = Object.keys(labels);
  const registers = [registry];
  const delay = monitorEventLoopDelay({ resolution: LAG_RESOLUTION_MS });
  delay.enable();
  const gauge = (name: string, help: string, value: () => number) =>
    new Gauge({
      name,
      help,
      labelNames,
      registers,
      collect() {
        this.set(labels, value());
      },
    });
  const lag = (percentile: number): number =>
    delay.count === 0 ? 0 : Math.max(0, delay.percentile(percentile) / 1e6 - LAG_RESOLUTION_MS) / 1000;
  gauge("nodejs_eventloop_lag_p50_seconds", "Median event loop lag since the last scrape", () => lag(50));
  gauge("nodejs_eventloop_lag_p99_seconds", "99th percentile of the event loop lag since the last scrape", () => lag(99));
  gauge("nodejs_eventloop_lag_max_seconds", "Maximum event loop lag since the last scrape", () => {
    const longest = lag(100);
    // Gauges are read in this order.
    delay.reset();
    return longest;
  });
  gauge("process_resident_memory_bytes", "Resident memory", () => process.memoryUsage.rss());
  const startedAt = Date.now() / 1000 - process.uptime();
  gauge("process_start_time_seconds", "Start of the process, in seconds since 1970", () => startedAt);
  new Counter({
    name: "process_cpu_seconds_total",
    help: "Processor time used, user and system",
    labelNames,
    registers,
    collect() {
      const { user, system } = process.cpuUsage();
      this.reset();
      this.inc(labels, (user + system) / 1e6);
    },
  });
  return () => {
    delay.disable();
  };
}

type Label = string | number;

type HistogramOptions = {
  readonly name: string;
  readonly help: string;
  readonly labelNames: readonly string[];
  /** Upper bounds, inclusive. */
  readonly buckets: readonly number[];
};

/** All observations with the same labels. The last count is of those above every bound. */
type Series = { readonly labels: readonly Label[]; readonly counts: number[]; sum: number };

/** One level per label; the last one holds the series. */
type Node = { readonly children: Map<Label, Node>; series?: Series };

/**
 * A histogram of durations. prom-client's own builds a string from the labels for every observation, which costs more than
 * everything else that is counted for a request.
 */
export class DurationHistogram {
  readonly #options: HistogramOptions;
  readonly #root: Node = { children: new Map() };
  readonly #series: Series[] = [];

  constructor(options: HistogramOptions) {
    this.#options = options;
  }

  /** The labels are in the order of their names. */
  observe(seconds: number, labels: readonly Label[]): void {
    const { buckets } = this.#options;
    let i = 0;
    while (i < buckets.length && seconds > (buckets[i] as number)) i++;
    const series = this.#seriesOf(labels);
    series.counts[i] = (series.counts[i] as number) + 1;
    series.sum += seconds;
  }

  metric(): Metric {
    const { name, help } = this.#options;
    return { name, help, type: "histogram", aggregator: "sum", values: this.#series.flatMap((series) => this.#values(series)) };
  }

  #seriesOf(labels: readonly Label[]): Series {
    let node = this.#root;
    for (const label of labels) {
      let next = node.children.get(label);
      if (next === undefined) {
        next = { children: new Map() };
        node.children.set(label, next);
      }
      node = next;
    }
    if (node.series === undefined) {
      node.series = { labels, counts: new Array<number>(this.#options.buckets.length + 1).fill(0), sum: 0 };
      this.#series.push(node.series);
    }
    return node.series;
  }

  #values({ labels, counts, sum }: Series): Metric["values"] {
    const { name, labelNames, buckets } = this.#options;
    const labelValues = Object.fromEntries(labelNames.map((label, i) => [label, labels[i]]));
    let count = 0;
    const cumulative = [...buckets, "+Inf"].map((le, i) => {
      count += counts[i] as number;
      return { metricName: `${name}_bucket`, labels: { le, ...labelValues }, value: count };
    });
    return [
      ...cumulative,
      { metricName: `${name}_sum`, labels: labelValues, value: sum },
      { metricName: `${name}_count`, labels: labelValues, value: count },
    ];
  }
}
