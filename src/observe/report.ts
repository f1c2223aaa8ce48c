// Metrics of one process as values, and those of several processes added up.

import { AggregatorRegistry } from "prom-client";

export type MetricsReport = readonly Metric[];

export type Metric = {
  readonly name: string;
  readonly help: string;
  readonly type: unknown;
  /** How prom-client combines the values of several processes. */
  readonly aggregator: string;
  readonly values: readonly MetricValue[];
};

type MetricValue = {
  readonly value: number;
  readonly labels: Readonly<Record<string, string | number | undefined>>;
  readonly metricName?: string | undefined;
};

export const gauge = (name: string, help: string, values: Metric["values"]): Metric => ({
  name,
  help,
  type: "gauge",
  aggregator: "sum",
  values,
});

/** Reports of several processes in Prometheus' text format: values with equal names and labels are summed. */
export function prometheusText(reports: readonly MetricsReport[]): Promise<string> {
  return AggregatorRegistry.aggregate([...reports]).metrics();
}

/**
 * The last report of each worker, and the sums of those that have exited: a counter that fell when a worker exits would
 * look to Prometheus like a restart.
 */
export class WorkerReports {
  readonly #running = new Map<number, MetricsReport>();
  #exited: Promise<MetricsReport> = Promise.resolve([]);

  set(worker: number, report: MetricsReport): void {
    this.#running.set(worker, report);
  }

  /** A gauge, such as memory, ends with its process. */
  exit(worker: number): void {
    const last = (this.#running.get(worker) ?? []).filter(({ type }) => type !== "gauge");
    this.#running.delete(worker);
    this.#exited = this.#exited.then((exited) => AggregatorRegistry.aggregate([exited, last]).getMetricsAsJSON());
  }

  async all(): Promise<readonly MetricsReport[]> {
    return [...this.#running.values(), await this.#exited];
  }
}
