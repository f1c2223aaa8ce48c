// The labels of a time axis: year, month, day or time of day. Below the first one, and where it changes, is what that leaves open: the
// year, or the day.

import { LOCALE } from "../format.ts";

const DAY = 86_400;

const FORMATS = {
  year: new Intl.DateTimeFormat(LOCALE, { year: "numeric" }),
  month: new Intl.DateTimeFormat(LOCALE, { month: "short" }),
  day: new Intl.DateTimeFormat(LOCALE, { day: "numeric", month: "short" }),
  time: new Intl.DateTimeFormat(LOCALE, { hour: "2-digit", minute: "2-digit" }),
} as const;
type Unit = keyof typeof FORMATS;

function unitOf(step: number): Unit {
  if (step >= 360 * DAY) return "year";
  if (step >= 28 * DAY) return "month";
  return step >= DAY ? "day" : "time";
}

/** `times`: seconds since 1970; `step`: seconds from one to the next. */
export function timeLabels(times: readonly number[], step: number): string[] {
  const unit = unitOf(step);
  const labelsIn = (of: Unit) => times.map((time) => FORMATS[of].format(time * 1000));
  const labels = labelsIn(unit);
  if (unit === "year") return labels;
  const below = labelsIn(unit === "time" ? "day" : "year");
  return labels.map((label, index) => (below[index] === below[index - 1] ? label : `${label}\n${below[index]}`));
}

const MIN_LABEL_PX = 50;
const MIN_TIME_PX = 64;

/** Between two labels, at least. `span`: of the axis, in seconds. "12:00 PM" needs more space than "12 Nov". */
export const labelSpace = (span: number, width: number): number =>
  (span / width) * MIN_LABEL_PX > DAY / 2 ? MIN_LABEL_PX : MIN_TIME_PX;
