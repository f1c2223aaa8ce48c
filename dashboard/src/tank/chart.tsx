// The chart of the history. Loaded when it is first shown.

import "./valid-language.ts";
import { useEffect, useRef, useState } from "preact/hooks";
import uPlot from "uplot";
import type { Refill } from "../../../client/src/index.ts";
import { dateTime, percent, thresholdPercent } from "../format.ts";
import type { ChartData } from "./chart-data.ts";
import { type Limits, type Span, zoomed } from "./ranges.ts";
import { labelPlace } from "./threshold-label.ts";
import { labelSpace, timeLabels } from "./time-labels.ts";
import { followTouch } from "./touch.ts";

type Props = {
  readonly data: ChartData;
  readonly refills: readonly Refill[];
  readonly threshold: number;
  readonly span: Span;
  readonly isZoomed: boolean;
  readonly limits: Limits;
  readonly zoomTo: (span: Span, replace?: boolean) => void;
  readonly showWholeRange: () => void;
};

const HEIGHT = 300;
const MIN_DRAG_PX = 8;
/** More arrows than a few, and closer than this on average, would cover the levels: they are ticks at the bottom. */
const FEW = 5;
const MIN_ARROW_PX = 8;
const TICK_PX = 10;
const LABEL_PX = 11;
const UNKNOWN = "–";
/** Half of the widest label, which may be at the right end. */
const LAST_LABEL_PX = 30;

/** The canvas cannot resolve custom properties itself. */
function coloursOf(element: HTMLElement) {
  const probe = element.appendChild(document.createElement("span"));
  // Where colours are forced, the stylesheet has set the properties; otherwise all would be that of text.
  probe.style.setProperty("forced-color-adjust", "none");
  const resolve = (name: string): string => {
    probe.style.color = `var(--${name})`;
    return getComputedStyle(probe).color;
  };
  const names = ["line", "dim", "accent", "fill", "low", "ok", "soon", "surface"] as const;
  const found = Object.fromEntries(names.map((name) => [name, resolve(name)])) as Record<(typeof names)[number], string>;
  probe.remove();
  return found;
}

/** System colours may have an opacity of their own. */
const faint = (colour: string, part: number): string =>
  `rgba(${colour
    .match(/[\d.]+/g)
    ?.slice(0, 3)
    .join()}, ${part})`;

export default function Chart(props: Props) {
  const box = useRef<HTMLDivElement>(null);
  const latest = useRef(props);
  latest.current = props;
  const plot = useRef<uPlot | undefined>(undefined);
  const scheme = useColourScheme();
  useEffect(() => {
    const element = box.current;
    if (element === null) return;
    let preview: Span | undefined;
    const span = () => preview ?? latest.current.span;
    const options = optionsFor(element, () => latest.current, span);
    const created = new uPlot(options, alignedData(latest.current.data), element);
    plot.current = created;
    const show = (next: Span | undefined) => {
      preview = next;
      created.setScale("x", scaleOf(span()));
    };
    followTouch(created.over, {
      span,
      isZoomed: () => latest.current.isZoomed,
      spanAfterTouch: (...touch) => zoomed(...touch, latest.current.limits),
      preview: show,
      zoomTo: (next) => {
        preview = undefined;
        latest.current.zoomTo(next, latest.current.isZoomed);
      },
      showWholeRange: () => latest.current.showWholeRange(),
      pointAt: (left, top) => created.setCursor({ left, top }),
    });
    const resized = new ResizeObserver(() => created.setSize({ width: element.clientWidth, height: HEIGHT }));
    resized.observe(element);
    return () => {
      resized.disconnect();
      created.destroy();
      plot.current = undefined;
    };
  }, [scheme]);
  useEffect(() => {
    plot.current?.setData(alignedData(props.data), false);
    plot.current?.setScale("x", scaleOf(props.span));
  }, [props.data, props.span.from, props.span.to, props.refills, props.threshold]);
  return <div class="chart" ref={box} />;
}

const scaleOf = ({ from, to }: Span) => ({ min: from / 1000, max: to / 1000 });

const alignedData = ({ times, max, min, last, late, early, expected }: ChartData): uPlot.AlignedData => [
  times,
  max,
  min,
  last,
  late,
  early,
  expected,
];

function optionsFor(element: HTMLElement, current: () => Props, span: () => Span): uPlot.Options {
  const colours = coloursOf(element);
  const axis = { stroke: colours.dim, grid: { stroke: colours.line, width: 1 }, ticks: { stroke: colours.line, width: 1 } };
  const hidden = { stroke: "transparent", width: 0, points: { show: false } };
  const value = (_: uPlot, level: number | null) => (level === null ? UNKNOWN : percent(level));
  const expected = { ...hidden, value };
  // A value holds from the row before on.
  const extreme = { ...expected, ...(uPlot.paths.stepped === undefined ? {} : { paths: uPlot.paths.stepped({ align: -1 }) }) };
  return {
    width: element.clientWidth,
    height: HEIGHT,
    tzDate: (at) => new Date(at * 1000),
    cursor: { drag: { x: true, y: false, setScale: false, dist: MIN_DRAG_PX }, points: { size: 7 } },
    legend: { live: true },
    padding: [null, LAST_LABEL_PX, null, null],
    scales: { x: { time: true, range: () => [span().from / 1000, span().to / 1000] }, y: { range: [0, 100] } },
    axes: [
      {
        ...axis,
        space: (_, __, from, to, width) => labelSpace(to - from, width),
        values: (_, times, __, ___, step) => timeLabels(times, step),
      },
      { ...axis, size: 52, values: (_, levels) => levels.map((level) => `${level} %`) },
    ],
    series: [
      { value: (_, at) => (at === null ? UNKNOWN : dateTime(at * 1000)), label: "Time" },
      { ...extreme, label: "Highest" },
      { ...extreme, label: "Lowest" },
      { stroke: colours.fill, width: 2, points: { show: false, filter: isolated, fill: colours.fill }, label: "Level", value },
      { ...expected, label: "Forecast at most" },
      { ...expected, label: "Forecast at least" },
      { stroke: colours.fill, width: 2, dash: [6, 5], points: { show: false }, label: "Forecast", value },
    ],
    bands: [
      { series: [1, 2], fill: faint(colours.fill, 0.28) },
      { series: [4, 5], fill: faint(colours.fill, 0.14) },
    ],
    hooks: {
      draw: [(plot) => drawMarks(plot, current(), colours)],
      setCursor: [({ root, cursor }) => root.classList.toggle("pointed", typeof cursor.idx === "number")],
      setLegend: [hideUnknown],
      setSelect: [
        (plot) => {
          const { left, width } = plot.select;
          if (width < MIN_DRAG_PX) return;
          const whole = plot.over.clientWidth;
          const { limits } = current();
          plot.setSelect({ left: 0, top: 0, width: 0, height: 0 }, false);
          // What it points at is elsewhere after the zoom.
          plot.setCursor({ left: -10, top: -10 });
          current().zoomTo(zoomed(span(), whole / width, (left + width / 2) / whole, 0.5, limits));
        },
      ],
    },
  };
}

/** Nothing is forecast for the past. */
function hideUnknown({ root, legend }: uPlot): void {
  for (const [index, row] of root.querySelectorAll(".u-legend .u-series").entries())
    row.classList.toggle("unknown", legend.values?.[index]?.["_"] === UNKNOWN);
}

/** Values without a neighbour, of which no line can be drawn. */
const isolated = ({ data }: uPlot, series: number): number[] => {
  const values = data[series] ?? [];
  const isKnown = (index: number) => values[index] != null;
  return [...values.keys()].filter((index) => isKnown(index) && !isKnown(index - 1) && !isKnown(index + 1));
};

/** The threshold as a line, refills as arrows or ticks, and now. */
function drawMarks(plot: uPlot, { threshold, refills }: Props, colours: ReturnType<typeof coloursOf>): void {
  const { ctx } = plot;
  const { left, top, width, height } = plot.bbox;
  const scale = devicePixelRatio;
  const line = (x1: number, y1: number, x2: number, y2: number, colour: string, dash: number[]) => {
    ctx.beginPath();
    ctx.setLineDash(dash.map((part) => part * scale));
    ctx.strokeStyle = colour;
    ctx.lineWidth = scale;
    ctx.moveTo(x1, y1);
    ctx.lineTo(x2, y2);
    ctx.stroke();
  };
  ctx.save();
  ctx.beginPath();
  ctx.rect(left, top, width, height);
  ctx.clip();
  const y = plot.valToPos(threshold, "y", true);
  line(left, y, left + width, y, colours.low, [4, 3]);
  const now = plot.valToPos(Date.now() / 1000, "x", true);
  if (now < left + width - 4 * scale) line(now, top, now, top + height, colours.dim, [2, 3]);
  const shown = refills
    .map((refill) => ({ ...refill, x: plot.valToPos(Date.parse(refill.ended_at) / 1000, "x", true) }))
    .filter(({ x }) => x >= left && x <= left + width);
  const xs = shown.map(({ x }) => x);
  const isCrowded = shown.length > FEW && Math.max(...xs) - Math.min(...xs) < (shown.length - 1) * MIN_ARROW_PX * scale;
  for (const { x, from_percentage, to_percentage } of shown) {
    if (isCrowded) {
      line(x, top + height - TICK_PX * scale, x, top + height, colours.ok, []);
      continue;
    }
    const [bottom, tip] = [plot.valToPos(from_percentage, "y", true), plot.valToPos(to_percentage, "y", true)];
    line(x, bottom, x, tip, colours.ok, []);
    ctx.beginPath();
    ctx.fillStyle = colours.ok;
    ctx.moveTo(x, tip - 3 * scale);
    ctx.lineTo(x - 5 * scale, tip + 6 * scale);
    ctx.lineTo(x + 5 * scale, tip + 6 * scale);
    ctx.fill();
  }
  drawLabel(plot, `Threshold ${thresholdPercent(threshold)}`, y, colours);
  ctx.restore();
}

function drawLabel(plot: uPlot, text: string, y: number, colours: ReturnType<typeof coloursOf>): void {
  const { ctx } = plot;
  const height = LABEL_PX * devicePixelRatio;
  ctx.font = `${height}px system-ui, sans-serif`;
  ctx.textAlign = "left";
  ctx.textBaseline = "bottom";
  const { left, top, isFree } = labelPlace(plot, y, { width: ctx.measureText(text).width, height });
  if (isFree) {
    // Readable on top of the grid.
    ctx.setLineDash([]);
    ctx.strokeStyle = colours.surface;
    ctx.lineWidth = 4 * devicePixelRatio;
    ctx.lineJoin = "round";
    ctx.strokeText(text, left, top + height);
  }
  ctx.fillStyle = colours.low;
  ctx.fillText(text, left, top + height);
}

/** The chart is drawn again in other colours when they change. */
function useColourScheme(): string {
  const [queries] = useState(() => ["(prefers-color-scheme: dark)", "(forced-colors: active)"].map((one) => matchMedia(one)));
  const current = () => queries.map(({ matches }) => matches).join();
  const [scheme, setScheme] = useState(current);
  useEffect(() => {
    const changed = () => setScheme(current);
    for (const query of queries) query.addEventListener("change", changed);
    return () => {
      for (const query of queries) query.removeEventListener("change", changed);
    };
  }, [queries]);
  return scheme;
}
