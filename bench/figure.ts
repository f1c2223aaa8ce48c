// A figure of the benchmark: its rows in the table, and the function that measures them.

import type { Bench } from "./bench.ts";

export type Aim =
  | { readonly atLeast: number }
  | { readonly atMost: number }
  | { readonly atLeast: number; readonly atMost: number };

/** A line of the table. A row without an aim is for information. */
export type Row = {
  readonly name: string;
  readonly label: string;
  readonly unit: "" | "×" | "ms" | "MB" | "bytes" | "/s";
  readonly aim?: Aim;
};

/** The measured values, one per round where there are rounds. */
export type RawValues = { readonly label: string; readonly unit: string; readonly values: readonly number[] };

export type Measured = {
  readonly row: string;
  readonly value: number;
  /** Lowest and highest round. */
  readonly spread?: readonly [number, number];
  readonly raw: readonly RawValues[];
};

export type Missing = { readonly row: string; readonly missing: string };

export type Panel = "readings" | "page";

/** A line of the plot: x as the panel says, y in milliseconds. */
export type Curve = {
  readonly panel: Panel;
  readonly contestant: string;
  readonly points: readonly (readonly [x: number, ms: number])[];
};

export type FigureResult = { readonly rows: readonly (Measured | Missing)[]; readonly curves?: readonly Curve[] };

export type Figure = {
  /** On the command line. */
  readonly name: string;
  readonly about: string;
  readonly rows: readonly Row[];
  readonly run: (bench: Bench) => Promise<FigureResult>;
};

export function isMeasured(row: Measured | Missing): row is Measured {
  return "value" in row;
}
