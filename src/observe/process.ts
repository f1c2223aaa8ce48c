// The process itself, as metrics: memory, processor time, and how late the event loop is.

import { monitorEventLoopDelay } from "node:perf_hooks";
import { Gauge, type Registry } from "prom-client";

const RESOLUTION_MS = 10;
const NANOSECONDS = 1e9;
const QUANTILES = [0.5, 0.99, 1];

type Labels = Readonly<Record<string, number>>;

/** Returns what ends the watching. */
export function watchProcess(registry: Registry, labels: Labels): () => void {
  const delay = monitorEventLoopDelay({ resolution: RESOLUTION_MS });
  delay.enable();
  new Gauge({
    name: "tank_monitor_event_loop_lag_seconds",
    help: "How late the event loop was, since the last scrape, by quantile (1 is the worst)",
    labelNames: ["quantile", ...Object.keys(labels)],
    registers: [registry],
    collect() {
      // A timer of 10 ms is never early: what it was late by is the lag.
      for (const quantile of QUANTILES) {
        const late = delay.count === 0 ? 0 : delay.percentile(quantile * 100) / NANOSECONDS - RESOLUTION_MS / 1000;
        this.set({ quantile, ...labels }, Math.max(0, late));
      }
      delay.reset();
    },
  });
  const gauge = (name: string, help: string, value: () => number): void => addGauge(registry, labels, name, help, value);
  gauge("process_resident_memory_bytes", "Resident memory", () => process.memoryUsage.rss());
  gauge("process_cpu_seconds", "Processor time used, user and system", () => {
    const { user, system } = process.cpuUsage();
    return (user + system) / 1e6;
  });
  gauge("process_uptime_seconds", "Time since the start", () => process.uptime());
  return () => {
    delay.disable();
  };
}

function addGauge(registry: Registry, labels: Labels, name: string, help: string, value: () => number): void {
  new Gauge({
    name,
    help,
    labelNames: Object.keys(labels),
    registers: [registry],
    collect() {
      this.set(labels, value());
    },
  });
}
