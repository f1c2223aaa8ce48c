// What one process has counted, as values that can be sent to another and put together there.

import { AggregatorRegistry } from "prom-client";

export type Report = readonly Metric[];

export type Metric = {
  readonly name: string;
  readonly help: string;
  readonly type: unknown;
  /** How values of several processes are put together. */
  readonly aggregator: string;
  readonly values: readonly Value[];
};

type Value = {
  readonly value: number;
  readonly labels: Readonly<Record<string, string | number | undefined>>;
  readonly metricName?: string | undefined;
};

/** What some processes have counted, as one text in Prometheus' format: equal names and labels are summed. */
export function textOfAll(reports: readonly Report[]): Promise<string> {
  return AggregatorRegistry.aggregate([...reports]).metrics();
}
