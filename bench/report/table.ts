// results.md: a table of all rows with their aims, and the measured values below.

import type { Aim, Figure, RawValues, Row } from "../figure.ts";
import type { Machine } from "./machine.ts";
import type { KeptRow, Results } from "./results.ts";

export function writeTable(figures: readonly Figure[], results: Results): string {
  const rows = figures.flatMap((figure) => figure.rows);
  return `# Results

Made by \`npm run bench\`; [README.md](README.md) says what is measured, and how. A ratio is the median over rounds in which the
contestants took turns; beside it are its lowest and highest round. A row without an aim is there to be looked at.

| figure | measured | lowest – highest | aim | met | when |
|---|---|---|---|---|---|
${rows.map((row) => line(row, results.rows[row.name])).join("\n")}
${results.curves.length > 0 ? "\n![Latency over the readings of a tank, and over the depth of a page](results.svg)\n" : ""}
## Measured on

${machines(results).join("\n")}

## What was seen

One value a round.

${figures.flatMap((figure) => figure.rows.flatMap((row) => seen(row, results.rows[row.name]))).join("\n\n")}
`;
}

function line({ label, unit, aim }: Row, kept: KeptRow | undefined): string {
  const cells = [label, "not measured", "", aim === undefined ? "" : aimed(aim, unit), "", ""];
  if (kept !== undefined && "missing" in kept) cells[1] = kept.missing;
  else if (kept !== undefined) {
    cells[1] = `**${number(kept.value)}**${unit === "" ? "" : ` ${unit}`}`;
    cells[2] = kept.spread === undefined ? "" : kept.spread.map(number).join(" – ");
    cells[4] = aim === undefined ? "" : isMet(aim, kept.value) ? "yes" : "no";
    cells[5] = kept.date;
  }
  return `| ${cells.join(" | ")} |`;
}

function isMet(aim: Aim, value: number): boolean {
  return "atLeast" in aim ? value >= aim.atLeast : value <= aim.atMost;
}

function aimed(aim: Aim, unit: Row["unit"]): string {
  const words = "atLeast" in aim ? `≥ ${aim.atLeast}` : `≤ ${aim.atMost}`;
  return unit === "" ? words : `${words} ${unit}`;
}

function machines(results: Results): string[] {
  const dates = new Map<string, Set<string>>();
  for (const kept of [...Object.values(results.rows), ...results.curves]) {
    if ("missing" in kept) continue;
    const words = describe(kept.machine);
    dates.set(words, (dates.get(words) ?? new Set()).add(kept.date));
  }
  return [...dates].map(([words, days]) => `- ${[...days].toSorted().join(", ")}: ${words}`);
}

function describe(machine: Machine): string {
  return Object.entries(machine)
    .map(([name, value]) => `${name} ${value}`)
    .join(", ");
}

function seen({ label }: Row, kept: KeptRow | undefined): string[] {
  if (kept === undefined || "missing" in kept || kept.raw.length === 0) return [];
  const rows = kept.raw.map(({ label, unit, values }: RawValues) => `| ${label} | ${unit} | ${values.map(number).join(" · ")} |`);
  return [`### ${label}\n\n| what | unit | seen |\n|---|---|---|\n${rows.join("\n")}`];
}

function number(value: number): string {
  const size = Math.abs(value);
  if (size >= 100) return Math.round(value).toLocaleString("en");
  return value.toFixed(size >= 10 ? 1 : size >= 1 ? 2 : 3);
}
