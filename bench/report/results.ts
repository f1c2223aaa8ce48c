// Results are kept from run to run: a figure that was not measured keeps its last value and date.

import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { type Curve, type Figure, type FigureResult, isMeasured, type Measured } from "../figure.ts";
import type { Machine } from "./machine.ts";
import { drawPlot } from "./plot.ts";
import { writeTable } from "./table.ts";

type MeasuredOn = { readonly date: string; readonly machine: Machine };
export type KeptRow = (Measured & MeasuredOn) | { readonly missing: string };
type KeptCurve = Curve & MeasuredOn;
export type Results = { readonly rows: Readonly<Record<string, KeptRow>>; readonly curves: readonly KeptCurve[] };

export function readResults(folder: string): Results {
  const file = join(folder, "results.json");
  return existsSync(file) ? (JSON.parse(readFileSync(file, "utf8")) as Results) : { rows: {}, curves: [] };
}

export function withFigure(results: Results, result: FigureResult, when: MeasuredOn): Results {
  const rows = { ...results.rows };
  for (const one of result.rows) {
    const before = rows[one.row];
    if (isMeasured(one)) rows[one.row] = { ...one, ...when };
    else if (before === undefined || "missing" in before) rows[one.row] = { missing: one.missing };
  }
  const measured = result.curves ?? [];
  const kept = results.curves.filter((old) => !measured.some((curve) => sameLine(old, curve)));
  return { rows, curves: [...kept, ...measured.map((curve) => ({ ...curve, ...when }))] };
}

const sameLine = (a: Curve, b: Curve): boolean => a.panel === b.panel && a.contestant === b.contestant;

export function writeResults(folder: string, figures: readonly Figure[], results: Results): void {
  writeFileSync(join(folder, "results.json"), `${JSON.stringify(results, rounded, 2)}\n`);
  writeFileSync(join(folder, "results.md"), writeTable(figures, results));
  if (results.curves.length > 0) writeFileSync(join(folder, "results.svg"), drawPlot(results.curves));
}

/** To the precision that was measured. */
function rounded(_key: string, value: unknown): unknown {
  return typeof value === "number" ? Number(value.toPrecision(6)) : value;
}
