// The kinds of alerts that follow from the forecast of a tank. Between two forecasts nothing changes: they are judged by the last one
// that knows the newest reading, as of the time when it was computed.

import type { ForecastValues } from "../forecast/stored.ts";
import type { Instant } from "../instant.ts";
import type { AlertKind } from "./alert.ts";

export const FORECAST_KINDS = ["runs_low_soon", "leak"] as const satisfies readonly AlertKind[];
export type ForecastKind = (typeof FORECAST_KINDS)[number];

/** Of the settings of a tank. */
export function kindsOff(on: Readonly<Record<ForecastKind, boolean>>): ForecastKind[] {
  return FORECAST_KINDS.filter((kind) => !on[kind]);
}

const DAY = 24 * 3_600_000;

export type Outlook = Pick<ForecastValues, "state" | "level" | "leak"> & {
  readonly computedAt: Instant;
  /** As likely before as after; null: not within three years. */
  readonly runsLowAt: Instant | null;
};

export function outlookOf({ state, level, leak, runs_low_at }: ForecastValues, computedAt: Instant): Outlook {
  return { state, level, leak, computedAt, runsLowAt: runs_low_at.p50 };
}

/** What becomes of a condition: it is true, it has cleared, or it stays what it was. */
export type Verdict = "true" | "cleared" | "same";

/** A reading this many points above the level of the forecast may be a delivery, which the forecast believes once it has held. */
const RISE = 5;

/** Opens within so many days, and closes only some days later: a forecast that wobbles makes one alert. */
export function judgeRunsLow(outlook: Outlook | null, fill: number, days: number): Verdict {
  if (outlook === null || outlook.state === "insufficient_data" || outlook.state === "stale") return "same";
  const { runsLowAt, computedAt, level } = outlook;
  const left = runsLowAt === null ? Number.POSITIVE_INFINITY : (runsLowAt - computedAt) / DAY;
  if (left > 1.25 * days + 1) return "cleared";
  const isRisen = level !== null && fill > level + RISE;
  return left <= days && !isRisen ? "true" : "same";
}

export function judgeLeak(outlook: Outlook | null): Verdict {
  const leak = outlook?.leak ?? "ending";
  if (leak === "ending") return "same";
  return leak === "none" ? "cleared" : "true";
}
