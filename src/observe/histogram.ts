// A Prometheus histogram of durations. prom-client's own builds a string from the labels for every observation, which costs
// more than everything else that is counted for a request.

import type { Metric } from "./report.ts";

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
      const known = node.children.get(label);
      const next = known ?? { children: new Map() };
      if (known === undefined) node.children.set(label, next);
      node = next;
    }
    node.series ??= this.#newSeries(labels);
    return node.series;
  }

  #newSeries(labels: readonly Label[]): Series {
    const counts = new Array<number>(this.#options.buckets.length + 1).fill(0);
    const series = { labels, counts, sum: 0 };
    this.#series.push(series);
    return series;
  }

  #values({ labels, counts, sum }: Series): Metric["values"] {
    const { name, labelNames, buckets } = this.#options;
    const own = Object.fromEntries(labelNames.map((label, i) => [label, labels[i]]));
    let count = 0;
    const cumulative = [...buckets, "+Inf"].map((le, i) => {
      count += counts[i] as number;
      return { metricName: `${name}_bucket`, labels: { le, ...own }, value: count };
    });
    return [
      ...cumulative,
      { metricName: `${name}_sum`, labels: own, value: sum },
      { metricName: `${name}_count`, labels: own, value: count },
    ];
  }
}
