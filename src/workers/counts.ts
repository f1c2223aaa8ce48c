// What all workers have counted: the last report of each, and the sums of those that have ended. A sum that fell with the
// end of a worker would look to Prometheus like a restart, and then like a burst of requests.

import type { Report } from "../observe/report.ts";

export class Counts {
  readonly #living = new Map<number, Report>();
  #ended: Report = [];

  hear(worker: number, report: Report): void {
    this.#living.set(worker, report);
  }

  /** A gauge, such as memory, ends with its process. */
  end(worker: number): void {
    const last = (this.#living.get(worker) ?? []).filter(({ type }) => type !== "gauge");
    this.#living.delete(worker);
    this.#ended = sum(this.#ended, last);
  }

  all(): readonly Report[] {
    return [...this.#living.values(), this.#ended];
  }
}

function sum(one: Report, other: Report): Report {
  const byName = new Map(one.map((metric) => [metric.name, metric]));
  for (const metric of other) {
    const known = byName.get(metric.name);
    byName.set(metric.name, known === undefined ? metric : { ...known, values: sumOfValues(known.values, metric.values) });
  }
  return [...byName.values()];
}

type Values = Report[number]["values"];

function sumOfValues(one: Values, other: Values): Values {
  const nameOf = ({ metricName, labels }: Values[number]): string => `${metricName} ${JSON.stringify(labels)}`;
  const byName = new Map(one.map((value) => [nameOf(value), value]));
  for (const value of other) {
    const name = nameOf(value);
    byName.set(name, { ...value, value: (byName.get(name)?.value ?? 0) + value.value });
  }
  return [...byName.values()];
}
