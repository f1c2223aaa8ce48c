// The series of a chart: levels by time, and the forecast from the latest reading on. Times are seconds since 1970.

import type { Forecast, Series, Telemetry } from "../../../client/src/index.ts";

type Value = number | null;

export type ChartData = {
  readonly times: number[];
  readonly min: Value[];
  readonly max: Value[];
  /** The last reading of each step. */
  readonly last: Value[];
  /** As likely below as above; and with a probability of 10 and 90 % below. */
  readonly expected: Value[];
  readonly early: Value[];
  readonly late: Value[];
};

type Point = readonly [time: number, level: number];

const seconds = (at: string): number => Date.parse(at) / 1000;

/** Levels by straight lines: from the latest reading to the threshold to empty. Empty where nothing is known. */
function pathOf(forecast: Forecast, latest: Telemetry, threshold: number, by: "p10" | "p50" | "p90"): Point[] {
  const [low, empty] = [forecast.runs_low_at[by], forecast.runs_empty_at[by]];
  const points: Point[] = [[seconds(latest.created_at), latest.fill_percentage]];
  // A date that has passed, or that comes before the reading, cannot be drawn.
  if (low !== null && latest.fill_percentage > threshold && seconds(low) > (points[0]?.[0] ?? 0))
    points.push([seconds(low), threshold]);
  if (empty !== null && seconds(empty) > (points.at(-1)?.[0] ?? 0)) points.push([seconds(empty), 0]);
  return points.length > 1 ? points : [];
}

/** A tank that is empty stays so. */
function levelAt(path: readonly Point[], time: number): Value {
  const next = path.findIndex(([at]) => at >= time);
  const [to, from] = [path[next], path[next - 1]];
  if (to === undefined) return path.at(-1)?.[1] === 0 ? 0 : null;
  if (from === undefined) return to[0] === time ? to[1] : null;
  return from[1] + ((to[1] - from[1]) * (time - from[0])) / (to[0] - from[0]);
}

const HOUR = 3600;
/** At most, in seconds: days and months differ in length. */
const STEPS: Readonly<Record<Series["step"], number>> = {
  "15m": HOUR / 4,
  "1h": HOUR,
  "6h": 6 * HOUR,
  "1d": 24 * HOUR,
  "1w": 7 * 24 * HOUR,
  "1M": 31 * 24 * HOUR,
};

type Row = { readonly time: number } & Partial<Pick<Series["buckets"][number], "min" | "max" | "last">>;

/**
 * A row at the end of each bucket, where its last reading is. The lowest and the highest reading are drawn from the row before to
 * this row, so the first bucket, and one after a pause, also have a row at their start. No line is drawn across a pause, which is
 * much longer than usual.
 */
function rowsOf({ buckets, step, to }: Series, latest: Telemetry | null): Row[] {
  const starts = buckets.map(({ start }) => seconds(start));
  const distances = starts.slice(1).map((start, index) => start - (starts[index] ?? start));
  const usual = distances.toSorted((a, b) => a - b)[Math.floor(distances.length / 2)] ?? 0;
  const newest = Math.min(seconds(to), latest === null ? Number.POSITIVE_INFINITY : seconds(latest.created_at));
  return buckets.flatMap(({ min, max, last }, index) => {
    const [start = 0, before, next = Number.POSITIVE_INFINITY] = [starts[index], starts[index - 1], starts[index + 1]];
    const end = { time: Math.max(start, Math.min(start + STEPS[step], next, newest)), min, max, last };
    if (before === undefined) return [{ time: start, min, max }, end];
    return start - before > 4 * usual ? [{ time: (before + start) / 2 }, { time: start, min, max }, end] : [end];
  });
}

export type Forecasted = {
  readonly forecast: Forecast | undefined;
  readonly latest: Telemetry | null;
  readonly threshold: number;
};

export function chartData(series: Series, { forecast, latest, threshold }: Forecasted): ChartData {
  const rows = rowsOf(series, latest);
  const isKnown = forecast?.state === "ok" && latest !== null;
  const paths = (["p50", "p10", "p90"] as const).map((by) => (isKnown ? pathOf(forecast, latest, threshold, by) : []));
  const future = paths.flat().map(([time]) => time);
  const times = [...new Set([...rows.map(({ time }) => time), ...future])].sort((a, b) => a - b);
  const byTime = new Map(rows.map((row) => [row.time, row]));
  const of = (field: "min" | "max" | "last"): Value[] => times.map((time) => byTime.get(time)?.[field] ?? null);
  const [expected = [], early = [], late = []] = paths.map((path) => times.map((time) => levelAt(path, time)));
  return { times, min: of("min"), max: of("max"), last: of("last"), expected, early, late };
}

/** When the forecast ends, in milliseconds. */
export function forecastEnd(forecast: Forecast | undefined): number | undefined {
  if (forecast?.state !== "ok") return undefined;
  const { runs_empty_at, runs_low_at } = forecast;
  const end = runs_empty_at.p90 ?? runs_empty_at.p50 ?? runs_low_at.p90 ?? runs_low_at.p50;
  return end === null ? undefined : Date.parse(end);
}
