// The kinds of alerts that follow from the forecast of a tank. Between two forecasts nothing changes: they are evaluated by the last
// one that knows the newest reading, as of the time when it was computed.

import type { ForecastValues } from "../forecast/stored.ts";
import { DAY, type Instant } from "../instant.ts";
import type { AlertKind } from "./alert.ts";

export const FORECAST_KINDS = ["runs_low_soon", "leak"] as const satisfies readonly AlertKind[];
export type ForecastKind = (typeof FORECAST_KINDS)[number];

/** `on`: the settings of a tank. */
export function disabledKindsOf(on: Readonly<Record<ForecastKind, boolean>>): ForecastKind[] {
  return FORECAST_KINDS.filter((kind) => !on[kind]);
}

export type ForecastSummary = Pick<ForecastValues, "state" | "leak" | "isRisen" | "isFallen" | "isProvisional"> & {
  readonly computedAt: Instant;
  /** As likely before as after; null: not within three years. */
  readonly runsLowAt: Instant | null;
};

export function forecastSummary(values: ForecastValues, computedAt: Instant): ForecastSummary {
  const { state, leak, isRisen, isFallen, isProvisional, runs_low_at } = values;
  return { state, leak, isRisen, isFallen, isProvisional, computedAt, runsLowAt: runs_low_at.p50 };
}

/** A reading that is older than this, when it is first seen, belongs to an import, or to what a device has stored. Some tanks send weekly. */
const RECENT_MS = 8 * DAY;
const isOld = (latestAt: Instant, now: Instant): boolean => now - latestAt > RECENT_MS;

/** Whether a forecast is the first one of an old reading: newer ones may be about to follow. `knownAt`: the latest reading of the forecast before. */
export const isProvisional = (knownAt: Instant | null, latestAt: Instant, now: Instant): boolean =>
  knownAt !== latestAt && isOld(latestAt, now);

/** What becomes of a condition: it is active, it has cleared, or it stays as it was. */
export type ConditionChange = "active" | "cleared" | "unchanged";

/** A reading this many points from the level of the forecast may be a delivery or a loss, which the forecast does not count yet, or false. */
const UNCONFIRMED_JUMP = 5;
export const isAboveForecast = (level: number | null, fill: number): boolean => level !== null && fill > level + UNCONFIRMED_JUMP;
export const isBelowForecast = (level: number | null, fill: number): boolean => level !== null && fill < level - UNCONFIRMED_JUMP;

/** Opens within `days`, and closes only some days beyond: a forecast that fluctuates causes one alert. */
export function evaluateRunsLow(forecast: ForecastSummary | null, days: number): ConditionChange {
  if (forecast === null || forecast.state === "insufficient_data" || forecast.state === "stale") return "unchanged";
  if (forecast.isFallen) return "unchanged";
  const { runsLowAt, computedAt, isRisen = false, isProvisional = false } = forecast;
  const left = runsLowAt === null ? Number.POSITIVE_INFINITY : (runsLowAt - computedAt) / DAY;
  if (left > 1.25 * days + 1) return "cleared";
  return left <= days && !isRisen && !isProvisional ? "active" : "unchanged";
}

/** Old readings may be years old: that the tank had a leak then is no reason to open an alert. */
export function evaluateLeak(forecast: ForecastSummary | null, latestAt: Instant): ConditionChange {
  if (forecast === null || forecast.leak === null || forecast.leak === "ending") return "unchanged";
  if (forecast.leak === "none") return "cleared";
  return isOld(latestAt, forecast.computedAt) ? "unchanged" : "active";
}
