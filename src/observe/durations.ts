// How long things took, by labels: a histogram in Prometheus' sense. prom-client's own makes a text of its labels, and looks
// it up, for every duration; that took longer than everything else that is counted for a request.

import type { Metric } from "./report.ts";

type Label = string | number;

type Shape = {
  readonly name: string;
  readonly help: string;
  readonly labelNames: readonly string[];
  /** Upper bounds, inclusive. */
  readonly seconds: readonly number[];
};

/** All durations with the same labels. The last count is of those above every bound. */
type Cell = { readonly labels: readonly Label[]; readonly counts: number[]; sum: number };

/** One level a label; the last one holds the cell. */
type Branch = { readonly next: Map<Label, Branch>; cell?: Cell };

export class Durations {
  readonly #shape: Shape;
  readonly #root: Branch = { next: new Map() };
  readonly #cells: Cell[] = [];

  constructor(shape: Shape) {
    this.#shape = shape;
  }

  /** The labels are in the order of their names. */
  observe(seconds: number, labels: readonly Label[]): void {
    const bounds = this.#shape.seconds;
    let i = 0;
    while (i < bounds.length && seconds > (bounds[i] as number)) i++;
    const cell = this.#cellOf(labels);
    cell.counts[i] = (cell.counts[i] as number) + 1;
    cell.sum += seconds;
  }

  metric(): Metric {
    const { name, help } = this.#shape;
    return { name, help, type: "histogram", aggregator: "sum", values: this.#cells.flatMap((cell) => this.#values(cell)) };
  }

  #cellOf(labels: readonly Label[]): Cell {
    let branch = this.#root;
    for (const label of labels) {
      const known = branch.next.get(label);
      const next = known ?? { next: new Map() };
      if (known === undefined) branch.next.set(label, next);
      branch = next;
    }
    branch.cell ??= this.#newCell(labels);
    return branch.cell;
  }

  #newCell(labels: readonly Label[]): Cell {
    const counts = new Array<number>(this.#shape.seconds.length + 1).fill(0);
    const cell = { labels, counts, sum: 0 };
    this.#cells.push(cell);
    return cell;
  }

  #values({ labels, counts, sum }: Cell): Metric["values"] {
    const { name, labelNames, seconds } = this.#shape;
    const own = Object.fromEntries(labelNames.map((label, i) => [label, labels[i]]));
    let count = 0;
    const buckets = [...seconds, "+Inf"].map((le, i) => {
      count += counts[i] as number;
      return { metricName: `${name}_bucket`, labels: { le, ...own }, value: count };
    });
    return [
      ...buckets,
      { metricName: `${name}_sum`, labels: own, value: sum },
      { metricName: `${name}_count`, labels: own, value: count },
    ];
  }
}
