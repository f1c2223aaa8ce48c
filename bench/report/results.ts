// Results, kept from run to run: what was not measured this time keeps its last value, with the date of it.

import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { type Curve, type Figure, isMeasured, type Measured, type Outcome } from "../figure.ts";
import type { Machine } from "./machine.ts";
import { drawPlot } from "./plot.ts";
import { writeTable } from "./table.ts";

type When = { readonly date: string; readonly machine: Machine };
export type KeptRow = (Measured & When) | { readonly missing: string };
type KeptCurve = Curve & When;
export type Results = { readonly rows: Readonly<Record<string, KeptRow>>; readonly curves: readonly KeptCurve[] };

export function readResults(folder: string): Results {
  const file = join(folder, "results.json");
  return existsSync(file) ? (JSON.parse(readFileSync(file, "utf8")) as Results) : { rows: {}, curves: [] };
}

export function withOutcome(results: Results, outcome: Outcome, when: When): Results {
  const rows = { ...results.rows };
  for (const one of outcome.rows) {
    const before = rows[one.row];
    if (isMeasured(one)) rows[one.row] = { ...one, ...when };
    else if (before === undefined || "missing" in before) rows[one.row] = { missing: one.missing };
  }
  const fresh = outcome.curves ?? [];
  const kept = results.curves.filter((old) => !fresh.some((curve) => sameLine(old, curve)));
  return { rows, curves: [...kept, ...fresh.map((curve) => ({ ...curve, ...when }))] };
}

const sameLine = (a: Curve, b: Curve): boolean => a.panel === b.panel && a.contestant === b.contestant;

export function writeResults(folder: string, figures: readonly Figure[], results: Results): void {
  writeFileSync(join(folder, "results.json"), `${JSON.stringify(results, rounded, 2)}\n`);
  writeFileSync(join(folder, "results.md"), writeTable(figures, results));
  if (results.curves.length > 0) writeFileSync(join(folder, "results.svg"), drawPlot(results.curves));
}

/** More digits than were measured help nobody. */
function rounded(_key: string, value: unknown): unknown {
  return typeof value === "number" ? Number(value.toPrecision(6)) : value;
}
