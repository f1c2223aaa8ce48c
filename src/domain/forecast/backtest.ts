// How far off forecasts would have been: they are repeated from every day of a tank's history, with the readings up to that
// day alone, and compared with what followed, beside the 14-day average.

import { DAY } from "../instant.ts";
import type { UseCase } from "../tank.ts";
import { type DailyLevel, dailyLevels, thinned } from "./daily.ts";
import { type Forecast, forecastFrom, historyOf, type LevelRange } from "./forecast.ts";
import { removeOutliers } from "./outliers.ts";
import type { Refill } from "./refills.ts";
import { itemAt, type Level } from "./variation.ts";

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
export const MAX_LATE_DAYS = 3;
const AVERAGE_DAYS = 14;
/** A rise that has held for this long is a refill. */
const CERTAIN_AFTER_MS = 2 * DAY;
/** To find the outliers among them, the readings of this many days are enough, and at least this many readings. */
const CLEANING = { days: 30, readings: 200 } as const;
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
  readonly range: readonly [p10: number, p90: number];
  readonly levelByAverage: number;
  readonly error: number;
  readonly averageError: number;
  readonly isInside: boolean;
  /** Error of the day on which the tank falls to the level that it had at the outcome. Undefined where it hardly fell. */
  readonly dayError: number | undefined;
  readonly averageDayError: number | undefined;
};

/** `skipped`: the origins without a forecast, or without a 14-day average to compare it with. */
export type TankOutcomes = { readonly name: string; readonly outcomes: readonly Outcome[]; readonly skipped: number };

export function backtestTank(tank: BacktestTank, horizonDays: number): TankOutcomes {
  const readings = thinned(tank.readings);
  const refills = refillsInHindsight(readings);
  const daily = dailyLevels(removeOutliers(tank.readings), refills);
  const outcomes: Outcome[] = [];
  let skipped = 0;
  let [known, start, knownOfAll] = [0, 0, 0];
  // Also days whose only reading is false, as turns out later.
  for (const day of new Set(readings.map(({ at }) => Math.floor(at / DAY)))) {
    known = indexAt(readings, day + 1, known);
    knownOfAll = indexAt(tank.readings, day + 1, knownOfAll);
    start = indexAt(readings, day - KNOWN_DAYS, start);
    const actual = outcomeOf(daily, day, horizonDays);
    if (actual === undefined) continue;
    const history = historyOf(readings.slice(start, known));
    const levels = recentLevels(tank.readings, knownOfAll, history.refills);
    const last = levels.at(-1);
    if (last === undefined || !isLongEnough(levels, last) || isFilled(refills, last.day - MIN_HISTORY, actual.day)) continue;
    const average = averageOf(levels, last);
    const now = history.cleaned.at(-1)?.at ?? 0;
    const { latitude, use_case } = tank;
    const setup = { latitude, use_case, threshold: actual.fill, capacity: 100, capacity_unit: "liters", now } as const;
    const forecast = forecastFrom(history, setup);
    const level = forecast.levelAt(actual.day * DAY);
    if (level === undefined || average === undefined) skipped++;
    else outcomes.push(compare(forecast, level, average, last, actual, horizonDays));
  }
  return { name: tank.name, outcomes, skipped };
}

/** The index of the first reading at or after the start of a day, which is not before `from`. */
function indexAt(readings: readonly Level[], day: number, from: number): number {
  let index = from;
  while ((readings[index]?.at ?? Number.POSITIVE_INFINITY) < day * DAY) index++;
  return index;
}

/** All refills, and a rise at the end of the readings, as if it held: those that began before it must not count its level as an outcome. */
function refillsInHindsight(readings: readonly Level[]): readonly Refill[] {
  const last = readings.at(-1);
  return last === undefined ? [] : historyOf([...readings, { at: last.at + CERTAIN_AFTER_MS, fill: last.fill }]).refills;
}

function outcomeOf(daily: readonly DailyLevel[], origin: number, horizonDays: number): DailyLevel | undefined {
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

function isFilled(refills: readonly Refill[], from: number, to: number): boolean {
  return refills.some(({ startedAt, endedAt }) => endedAt / DAY > from && startedAt / DAY < to);
}

/** Of the last days that are known: the medians of all readings, not only of those that the forecast uses, without outliers. */
function recentLevels(readings: readonly Level[], known: number, refills: readonly Refill[]): DailyLevel[] {
  const newest = itemAt(readings, known - 1).at;
  let from = Math.max(0, known - CLEANING.readings);
  while (from > 0 && newest - itemAt(readings, from - 1).at < CLEANING.days * DAY) from--;
  const start = itemAt(readings, from).at;
  return dailyLevels(
    removeOutliers(readings.slice(from, known)),
    refills.filter(({ endedAt }) => endedAt > start),
  );
}

function isLongEnough(levels: readonly DailyLevel[], last: DailyLevel): boolean {
  const first = levels.find(({ segment }) => segment === last.segment) ?? last;
  return Math.floor(last.day) - Math.floor(first.day) >= MIN_HISTORY;
}

/** Use a day since the last refill, in the last days, as vendors compute it. Undefined of a single level. */
function averageOf(levels: readonly DailyLevel[], last: DailyLevel): number | undefined {
  const start = Math.floor(last.day) - AVERAGE_DAYS;
  const first = levels.find(({ day, segment }) => segment === last.segment && Math.floor(day) >= start);
  return first === undefined || first === last ? undefined : (first.fill - last.fill) / (last.day - first.day);
}

function compare(
  forecast: Forecast,
  { p10, p50, p90 }: LevelRange,
  average: number,
  last: DailyLevel,
  actual: DailyLevel,
  horizonDays: number,
): Outcome {
  const days = actual.day - last.day;
  const byAverage = Math.min(100, Math.max(0, last.fill - average * days));
  const fall = last.fill - actual.fill;
  // A day that never comes, or far too late, is as wrong as twice the horizon.
  const dayError = (predicted: number): number => Math.min(Math.abs(predicted - days), 2 * horizonDays);
  const when = forecast.runs_low_at.p50;
  const hasFallen = fall >= MIN_FALL;
  return {
    origin: last.day,
    due: actual.day,
    level: p50,
    range: [p10, p90],
    levelByAverage: byAverage,
    error: Math.abs(p50 - actual.fill),
    averageError: Math.abs(byAverage - actual.fill),
    isInside: p10 <= actual.fill && actual.fill <= p90,
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
