// A figure of the benchmark: the rows it promises for the table, and the function that measures them.

import type { Bench } from "./bench.ts";

export type Aim = { readonly atLeast: number } | { readonly atMost: number };

/** A line of the table. A row without an aim is there to be looked at. */
export type Row = {
  readonly name: string;
  readonly label: string;
  readonly unit: "" | "×" | "ms" | "MB" | "bytes";
  readonly aim?: Aim;
};

/** What was seen, one value a round where there are rounds. */
export type Raw = { readonly label: string; readonly unit: string; readonly values: readonly number[] };

export type Measured = {
  readonly row: string;
  readonly value: number;
  /** Lowest and highest round. */
  readonly spread?: readonly [number, number];
  readonly raw: readonly Raw[];
};

export type Missing = { readonly row: string; readonly missing: string };

export type Panel = "readings" | "page";

/** A line of the plot: x is what the panel is named after, y is milliseconds. */
export type Curve = {
  readonly panel: Panel;
  readonly contestant: string;
  readonly points: readonly (readonly [x: number, ms: number])[];
};

export type Outcome = { readonly rows: readonly (Measured | Missing)[]; readonly curves?: readonly Curve[] };

export type Figure = {
  /** What it is chosen by on the command line. */
  readonly name: string;
  readonly about: string;
  readonly rows: readonly Row[];
  readonly run: (bench: Bench) => Promise<Outcome>;
};

export function isMeasured(outcome: Measured | Missing): outcome is Measured {
  return "value" in outcome;
}
