// Draws results.svg: two panels with logarithmic axes, one line per contestant, for light and dark backgrounds.

import type { Curve, Panel } from "../figure.ts";

const WIDTH = 1080;
const HEIGHT = 500;
const PANEL = { top: 116, width: 410, height: 310 } as const;
const LEFTS: Readonly<Record<Panel, number>> = { readings: 74, page: 588 };
const LABEL_GAP = 15;

const TITLES: Readonly<Record<Panel, readonly [string, string]>> = {
  readings: ["The last page, as a tank grows", "readings of the tank"],
  page: ["A page, by its depth", "page number, 10 readings per page; the last one is the last of the tank"],
};

const LINES = ["Tank Monitor on SQLite", "Tank Monitor on PostgreSQL", "PocketBase", "Platformatic"] as const;

const STYLE = `
  svg { font: 13px system-ui, -apple-system, "Segoe UI", Roboto, "Helvetica Neue", sans-serif; }
  .ground { fill: #ffffff; } .ink { fill: #1c2430; } .quiet { fill: #5b6675; } .grid { stroke: #e3e7ec; } .axis { stroke: #a8b1bd; }
  .title { font-size: 18px; font-weight: 650; } .head { font-size: 14px; font-weight: 600; } .value { font-size: 12px; font-weight: 600; }
  .line { fill: none; stroke-width: 2.5; stroke-linejoin: round; stroke-linecap: round; } .dot { stroke-width: 2; stroke: #ffffff; }
  .c0 { --c: #0b67d0; } .c1 { --c: #0f8a6d; } .c2 { --c: #d1500f; } .c3 { --c: #9a36b8; }
  .line, .key { stroke: var(--c); } .dot, .value { fill: var(--c); }
  @media (prefers-color-scheme: dark) {
    .ground { fill: #11161d; } .ink { fill: #e8edf3; } .quiet { fill: #9aa6b4; } .grid { stroke: #27303b; } .axis { stroke: #566170; }
    .dot { stroke: #11161d; } .c0 { --c: #5aa9ff; } .c1 { --c: #3fcfa6; } .c2 { --c: #ff9257; } .c3 { --c: #d88bf0; }
  }`;

type Axis = { readonly low: number; readonly high: number; readonly at: (value: number) => number };

export function drawPlot(curves: readonly Curve[]): string {
  const [low, high] = decades(curves.flatMap(({ points }) => points.map(([, ms]) => ms)));
  const names = LINES.filter((name) => curves.some((curve) => curve.contestant === name));
  const panels = (Object.keys(LEFTS) as Panel[]).map((panel) => {
    const own = LINES.flatMap((name) => curves.filter((curve) => curve.panel === panel && curve.contestant === name));
    return drawPanel(panel, own, axis(low, high, PANEL.top + PANEL.height, PANEL.top));
  });
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${HEIGHT}" role="img" aria-labelledby="title">
<title id="title">Median latency of one page of a tank's readings, by contestant</title>
<style>${STYLE}
</style>
<rect class="ground" width="${WIDTH}" height="${HEIGHT}" rx="8"/>
<text class="ink title" x="24" y="36">One page of readings with its exact total: median latency, one connection</text>
${drawKeys(names).join("\n")}
${panels.join("\n")}
</svg>
`;
}

function drawKeys(names: readonly (typeof LINES)[number][]): string[] {
  let x = 24;
  return names.map((name) => {
    const [line, words] = [`x1="${x}" x2="${x + 22}" y1="60" y2="60"`, `x="${x + 30}" y="64.5"`];
    // The approximate width of the text.
    x += 62 + name.length * 7.2;
    return `<g class="${colourOf(name)}"><line class="key" ${line} stroke-width="3" stroke-linecap="round"/>
<text class="ink" ${words}>${name}</text></g>`;
  });
}

function drawPanel(panel: Panel, curves: readonly Curve[], y: Axis): string {
  const left = LEFTS[panel];
  const [low, high] = decades(curves.flatMap(({ points }) => points.map(([value]) => value)));
  const x = axis(low, high, left, left + PANEL.width);
  const bottom = PANEL.top + PANEL.height;
  const [title, below] = TITLES[panel];
  const across = powers(y).map(
    (ms) => `<line class="grid" x1="${left}" x2="${left + PANEL.width}" y1="${y.at(ms)}" y2="${y.at(ms)}"/>
<text class="quiet" x="${left - 8}" y="${y.at(ms) + 4}" text-anchor="end">${duration(ms)}</text>`,
  );
  const along = powers(x).map(
    (value) => `<line class="axis" x1="${x.at(value)}" x2="${x.at(value)}" y1="${bottom}" y2="${bottom + 5}"/>
<text class="quiet" x="${x.at(value)}" y="${bottom + 20}" text-anchor="middle">${count(value)}</text>`,
  );
  return `<text class="ink head" x="${left}" y="${PANEL.top - 16}">${title}</text>
${across.join("\n")}
<line class="axis" x1="${left}" x2="${left + PANEL.width}" y1="${bottom}" y2="${bottom}"/>
${along.join("\n")}
<text class="quiet" x="${left + PANEL.width / 2}" y="${bottom + 44}" text-anchor="middle">${below}</text>
${curves.map((curve) => drawCurve(curve, x, y)).join("\n")}
${drawLabels(curves, x, y).join("\n")}`;
}

function drawCurve({ contestant, points }: Curve, x: Axis, y: Axis): string {
  const places = points.map(([value, ms]) => [x.at(value), y.at(ms)] as const);
  const dots = places.map(([cx, cy]) => `<circle class="dot" cx="${cx}" cy="${cy}" r="4.5"/>`);
  return `<g class="${colourOf(contestant)}"><polyline class="line" points="${places.join(" ")}"/>${dots.join("")}</g>`;
}

/** The last value of each line. Labels that would overlap are moved apart. */
function drawLabels(curves: readonly Curve[], x: Axis, y: Axis): string[] {
  const labels = curves.flatMap(({ contestant, points }) => {
    const [value, ms] = points.at(-1) ?? [];
    if (value === undefined || ms === undefined) return [];
    return [{ colour: colourOf(contestant), x: x.at(value) + 9, y: y.at(ms) + 4, words: duration(ms) }];
  });
  labels.sort((a, b) => b.y - a.y);
  labels.forEach((label, i) => {
    const lower = labels.slice(0, i).filter((other) => Math.abs(other.x - label.x) < 60);
    for (const other of lower) label.y = Math.min(label.y, other.y - LABEL_GAP);
  });
  return labels.map((label) => `<text class="value ${label.colour}" x="${label.x}" y="${label.y}">${label.words}</text>`);
}

function colourOf(contestant: string): string {
  return `c${(LINES as readonly string[]).indexOf(contestant)}`;
}

/** The powers of ten around the values. */
function decades(values: readonly number[]): [number, number] {
  const low = Math.floor(Math.log10(Math.min(...values)));
  return [low, Math.max(low + 1, Math.ceil(Math.log10(Math.max(...values))))];
}

function axis(low: number, high: number, from: number, to: number): Axis {
  const at = (value: number) => Math.round((from + ((Math.log10(value) - low) / (high - low)) * (to - from)) * 10) / 10;
  return { low, high, at };
}

function powers({ low, high }: Axis): number[] {
  return Array.from({ length: high - low + 1 }, (_, i) => Number(`1e${low + i}`));
}

function duration(ms: number): string {
  return ms >= 1000 ? `${Number((ms / 1000).toPrecision(2))} s` : `${Number(ms.toPrecision(2))} ms`;
}

function count(value: number): string {
  if (value >= 1e6) return `${value / 1e6} M`;
  return value >= 1000 ? `${value / 1000} k` : String(value);
}
