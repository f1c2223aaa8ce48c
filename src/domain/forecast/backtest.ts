// How far off forecasts would have been: they are repeated from every day of a tank's history, with the readings up to that
// day alone, and compared with what followed, beside the 14-day average.

import { DAY } from "../instant.ts";
import type { UseCase } from "../tank.ts";
import { type DailyLevel, thinned } from "./daily.ts";
import { type Forecast, forecastFrom, type History, historyOf } from "./forecast.ts";
import type { Level } from "./variation.ts";

export type BacktestTank = {
  readonly name: string;
  /** In order of time. */
  readonly readings: readonly Level[];
  readonly latitude: number | null;
  readonly use_case: UseCase | null;
};

/** Days of history since the last refill that an origin needs. */
export const MIN_HISTORY = 6;
/** How many days after the horizon the outcome may be read. */
const MAX_LATE_DAYS = 3;
const AVERAGE_DAYS = 14;
/** Falls below this have no day to compare. */
const MIN_FALL = 0.5;
/** An error below this is floating-point noise. */
const EXACT = 1e-9;
/** A forecast knows this much of the past. */
const KNOWN_DAYS = 730;

/** One forecast and what became of it. Errors are absolute: of the level in points, of the day in days. */
type Outcome = {
  /** The days, since 1970, of the last reading that was known and of the one that it is compared with. */
  readonly origin: number;
  readonly due: number;
  readonly level: number;
  readonly levelByAverage: number;
  readonly error: number;
  readonly averageError: number;
  readonly isInside: boolean;
  /** Error of the day on which the tank falls to the level that it had at the outcome. Undefined where it hardly fell. */
  readonly dayError: number | undefined;
  readonly averageDayError: number | undefined;
};

export type TankOutcomes = { readonly name: string; readonly outcomes: readonly Outcome[]; readonly skipped: number };

export function backtestTank(tank: BacktestTank, horizonDays: number): TankOutcomes {
  const readings = thinned(tank.readings);
  const hindsight = historyOf(readings);
  const outcomes: Outcome[] = [];
  let skipped = 0;
  let known = 0;
  let start = 0;
  // Also days whose only reading is false, as turns out later.
  for (const day of new Set(readings.map(({ at }) => Math.floor(at / DAY)))) {
    const actual = outcomeOf(hindsight, day, horizonDays);
    if (actual === undefined) continue;
    while ((readings[known]?.at ?? Number.POSITIVE_INFINITY) < (day + 1) * DAY) known++;
    while ((readings[start]?.at ?? Number.POSITIVE_INFINITY) < (day - KNOWN_DAYS) * DAY) start++;
    const history = historyOf(readings.slice(start, known));
    const average = averageOf(history);
    const last = history.daily.at(-1);
    if (last === undefined || average === undefined || hasRefill(hindsight, last.day - MIN_HISTORY, actual.day)) continue;
    const now = history.cleaned.at(-1)?.at ?? 0;
    const { latitude, use_case } = tank;
    const setup = { latitude, use_case, threshold: actual.fill, capacity: 100, capacity_unit: "liters", now } as const;
    const forecast = forecastFrom(history, setup);
    if (forecast.state === "ok") outcomes.push(compare(forecast, average, last, actual, horizonDays));
    else skipped++;
  }
  return { name: tank.name, outcomes, skipped };
}

function outcomeOf({ daily }: History, origin: number, horizonDays: number): DailyLevel | undefined {
  const due = origin + horizonDays;
  let [low, high] = [0, daily.length];
  while (low < high) {
    const middle = (low + high) >>> 1;
    if ((daily[middle]?.day ?? 0) < due) low = middle + 1;
    else high = middle;
  }
  const found = daily[low];
  return found !== undefined && Math.floor(found.day) <= due + MAX_LATE_DAYS ? found : undefined;
}

function hasRefill({ refills }: History, from: number, to: number): boolean {
  return refills.some(({ startedAt, endedAt }) => endedAt / DAY > from && startedAt / DAY < to);
}

/** Use a day, as vendors compute it. Undefined with too little history since the last refill. */
function averageOf({ daily }: History): number | undefined {
  const last = daily.at(-1);
  if (last === undefined) return undefined;
  const since = daily.filter(({ segment }) => segment === last.segment);
  const [first] = since;
  if (first === undefined || Math.floor(last.day) - Math.floor(first.day) < MIN_HISTORY) return undefined;
  const from = since.find(({ day }) => day >= last.day - AVERAGE_DAYS);
  return from === undefined || from === last ? undefined : (from.fill - last.fill) / (last.day - from.day);
}

function compare(forecast: Forecast, average: number, last: DailyLevel, actual: DailyLevel, horizonDays: number): Outcome {
  const days = actual.day - last.day;
  const level = forecast.levelAt(actual.day * DAY);
  const byAverage = Math.min(100, Math.max(0, last.fill - average * days));
  const fall = last.fill - actual.fill;
  // A day that never comes, or far too late, is as wrong as twice the horizon.
  const dayError = (predicted: number): number => Math.min(Math.abs(predicted - days), 2 * horizonDays);
  const when = forecast.runs_low_at.p50;
  const hasFallen = fall >= MIN_FALL;
  return {
    origin: last.day,
    due: actual.day,
    level: level?.p50 ?? 0,
    levelByAverage: byAverage,
    error: Math.abs((level?.p50 ?? 0) - actual.fill),
    averageError: Math.abs(byAverage - actual.fill),
    isInside: level !== undefined && level.p10 <= actual.fill && actual.fill <= level.p90,
    dayError: hasFallen ? dayError(when === null ? Number.POSITIVE_INFINITY : when / DAY - last.day) : undefined,
    averageDayError: hasFallen ? dayError(average > 0 ? fall / average : Number.POSITIVE_INFINITY) : undefined,
  };
}

/** Median and 90th percentile. */
type Quantiles = { readonly median: number; readonly p90: number };

/** Figures of many outcomes; null where there are none. */
export type Figures = {
  readonly origins: number;
  readonly skipped: number;
  readonly mean_absolute_error: number | null;
  readonly mean_absolute_error_14_day_average: number | null;
  readonly ratio: number | null;
  readonly inside_range: number | null;
  readonly level_error: Quantiles | null;
  readonly level_error_14_day_average: Quantiles | null;
  readonly day_error: Quantiles | null;
  readonly day_error_14_day_average: Quantiles | null;
};

export type Backtest = { readonly horizon_days: number; readonly tanks: number } & Figures & {
    readonly tanks_detail: readonly ({ readonly name: string } & Figures)[];
  };

export function summarize(tanks: readonly TankOutcomes[], horizonDays: number): Backtest {
  const all = figuresOf(
    tanks.flatMap(({ outcomes }) => outcomes),
    tanks.reduce((sum, { skipped }) => sum + skipped, 0),
  );
  const tanks_detail = tanks.map(({ name, outcomes, skipped }) => ({ name, ...figuresOf(outcomes, skipped) }));
  return { horizon_days: horizonDays, tanks: tanks.length, ...all, tanks_detail };
}

function figuresOf(outcomes: readonly Outcome[], skipped: number): Figures {
  const mean = meanOf(outcomes.map(({ error }) => error));
  const meanOfAverage = meanOf(outcomes.map(({ averageError }) => averageError));
  return {
    origins: outcomes.length,
    skipped,
    mean_absolute_error: mean,
    mean_absolute_error_14_day_average: meanOfAverage,
    ratio: mean === null || meanOfAverage === null || meanOfAverage < EXACT ? null : mean / meanOfAverage,
    inside_range: meanOf(outcomes.map(({ isInside }) => (isInside ? 1 : 0))),
    level_error: quantilesOf(outcomes.map(({ error }) => error)),
    level_error_14_day_average: quantilesOf(outcomes.map(({ averageError }) => averageError)),
    day_error: quantilesOf(outcomes.flatMap(({ dayError }) => dayError ?? [])),
    day_error_14_day_average: quantilesOf(outcomes.flatMap(({ averageDayError }) => averageDayError ?? [])),
  };
}

function meanOf(values: readonly number[]): number | null {
  return values.length === 0 ? null : values.reduce((sum, value) => sum + value, 0) / values.length;
}

function quantilesOf(values: readonly number[]): Quantiles | null {
  const sorted = values.toSorted((a, b) => a - b);
  const at = (share: number): number => sorted[Math.round(share * (sorted.length - 1))] ?? 0;
  return sorted.length === 0 ? null : { median: at(0.5), p90: at(0.9) };
}
