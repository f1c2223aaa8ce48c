// Which part of the history the chart shows: a range up to now, or what was zoomed to. It is in the URL.

import { DAY_MS } from "../format.ts";
import { query } from "../location.ts";

/** No sensor is older. */
export const EARLIEST = "1990-01-01T00:00:00Z";

/** Days before now; null: from the first reading on. */
export const RANGES = {
  week: { label: "Week", words: "the last week", days: 7 },
  month: { label: "Month", words: "the last month", days: 30 },
  quarter: { label: "3 months", words: "the last 3 months", days: 91 },
  year: { label: "Year", words: "the last year", days: 365 },
  decade: { label: "10 years", words: "the last 10 years", days: 3652 },
  all: { label: "All", words: "all time", days: null },
} as const;

export type RangeName = keyof typeof RANGES;
const DEFAULT: RangeName = "quarter";

/** Milliseconds since 1970. */
export type Span = { readonly from: number; readonly to: number };
export type Shown = { readonly range: RangeName; readonly zoom: Span | undefined };

export function shownRange(): Shown {
  const given = query.value.get("range") ?? DEFAULT;
  const range = Object.hasOwn(RANGES, given) ? (given as RangeName) : DEFAULT;
  const [from, to] = [Date.parse(query.value.get("from") ?? ""), Date.parse(query.value.get("to") ?? "")];
  return { range, zoom: from < to ? { from, to } : undefined };
}

/** The beginning of a day, so that the request stays the same, and its response cached, until tomorrow. */
export function startOf(range: RangeName, first: number, now: number): number {
  const { days } = RANGES[range];
  return days === null ? first : Math.floor(now / DAY_MS - days) * DAY_MS;
}

/** The future that is shown for a forecast, as a part of the range. */
const FUTURE = 0.3;

/** The end of the chart: that of what is zoomed to, or as much of the forecast as leaves most of the chart to the readings. */
export function endOf({ zoom }: Shown, from: number, now: number, forecastEnd: number | undefined): number {
  if (zoom !== undefined) return zoom.to;
  return Math.min(now + (now - from) * FUTURE, Math.max(now, forecastEnd ?? now));
}

/** How far the chart can be moved. */
export type Limits = { readonly now: number; readonly forecastEnd: number | undefined };

const STEP = 1.6;
const MOVE = 0.25;
const SHORTEST = DAY_MS / 24;
const LONGEST = RANGES.decade.days * DAY_MS;

/** What a key makes of the part that is shown; undefined for other keys. */
export function spanAfterKey(key: string, span: Span, limits: Limits): Span | undefined {
  const length = span.to - span.from;
  if (key === "+" || key === "=") return zoomed(span, STEP, 0.5, 0.5, limits);
  if (key === "-") return zoomed(span, 1 / STEP, 0.5, 0.5, limits);
  if (key === "ArrowLeft") return moved(span, -length * MOVE, limits);
  if (key === "ArrowRight") return moved(span, length * MOVE, limits);
  return undefined;
}

/** A part that is `factor` times as short. What is at `before` comes to `after`: 0 is the left end of the chart, 1 the right one. */
export function zoomed(span: Span, factor: number, before: number, after: number, limits: Limits): Span {
  const current = span.to - span.from;
  const length = Math.min(Math.max(current / factor, Math.min(current, SHORTEST)), Math.max(current, LONGEST));
  const from = span.from + current * before - length * after;
  return moved({ from, to: from + length }, 0, limits, span.to);
}

/** Not further into the future than the whole range has it, or than `to` already is. */
function moved(span: Span, by: number, { now, forecastEnd }: Limits, to = span.to): Span {
  const length = span.to - span.from;
  const latest = Math.max(to, endOf({ range: DEFAULT, zoom: undefined }, now - length, now, forecastEnd));
  const end = Math.max(Math.min(span.to + by, latest), Date.parse(EARLIEST) + length);
  return { from: end - length, to: end };
}
