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
  #exited: MetricsReport = [];

  set(worker: number, report: MetricsReport): void {
    this.#running.set(worker, report);
  }

  /** A gauge, such as memory, ends with its process. */
  exit(worker: number): void {
    const last = (this.#running.get(worker) ?? []).filter(({ type }) => type !== "gauge");
    this.#running.delete(worker);
    this.#exited = sum(this.#exited, last);
  }

  all(): readonly MetricsReport[] {
    return [...this.#running.values(), this.#exited];
  }
}

function sum(one: MetricsReport, other: MetricsReport): MetricsReport {
  const byName = new Map(one.map((metric) => [metric.name, metric]));
  for (const metric of other) {
    const known = byName.get(metric.name);
    byName.set(metric.name, known === undefined ? metric : { ...known, values: sumValues(known.values, metric.values) });
  }
  return [...byName.values()];
}

function sumValues(one: readonly MetricValue[], other: readonly MetricValue[]): readonly MetricValue[] {
  const seriesOf = ({ metricName, labels }: MetricValue): string => `${metricName} ${JSON.stringify(labels)}`;
  const bySeries = new Map(one.map((value) => [seriesOf(value), value]));
  for (const value of other) {
    const series = seriesOf(value);
    bySeries.set(series, { ...value, value: (bySeries.get(series)?.value ?? 0) + value.value });
  }
  return [...bySeries.values()];
}
