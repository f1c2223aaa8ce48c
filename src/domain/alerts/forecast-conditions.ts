// The kinds of alerts that follow from the forecast of a tank. Between two forecasts nothing changes: they are evaluated by the last
// one that knows the newest reading, as of the time when it was computed.

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

export type ForecastSummary = Pick<ForecastValues, "state" | "level" | "leak"> & {
  readonly computedAt: Instant;
  /** As likely before as after; null: not within three years. */
  readonly runsLowAt: Instant | null;
};

export function forecastSummary({ state, level, leak, runs_low_at }: ForecastValues, computedAt: Instant): ForecastSummary {
  return { state, level, leak, computedAt, runsLowAt: runs_low_at.p50 };
}

/** What becomes of a condition: it is active, it has cleared, or it stays as it was. */
export type ConditionChange = "active" | "cleared" | "unchanged";

/** A reading this many points above the level of the forecast may be a delivery, which the forecast believes once it has held. */
const POSSIBLE_DELIVERY_RISE = 5;
export const isRisenAbove = (level: number | null, fill: number): boolean =>
  level !== null && fill > level + POSSIBLE_DELIVERY_RISE;

/** Opens within so many days, and closes only some days later: a forecast that wobbles makes one alert. */
export function evaluateRunsLow(forecast: ForecastSummary | null, fill: number, days: number): ConditionChange {
  if (forecast === null || forecast.state === "insufficient_data" || forecast.state === "stale") return "unchanged";
  const { runsLowAt, computedAt, level } = forecast;
  const left = runsLowAt === null ? Number.POSITIVE_INFINITY : (runsLowAt - computedAt) / DAY;
  if (left > 1.25 * days + 1) return "cleared";
  return left <= days && !isRisenAbove(level, fill) ? "active" : "unchanged";
}

export function evaluateLeak(forecast: ForecastSummary | null): ConditionChange {
  const leak = forecast?.leak ?? "ending";
  if (leak === "ending") return "unchanged";
  return leak === "none" ? "cleared" : "active";
}
