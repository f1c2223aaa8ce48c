// The forecast of a tank: when it falls to its threshold and when it is empty, each as a range. Pure; docs/forecasts.md
// describes the method.

import { DAY, type Instant } from "../instant.ts";
import type { CapacityUnit, UseCase, Volume } from "../tank.ts";
import { type DailyLevel, dailyLevels, fallAt, isErratic, noiseOf, splitAtJumps } from "./daily.ts";
import { removeOutliers } from "./outliers.ts";
import { modelsForRange, scaleOf, type Widths, widthAt, widthsOf } from "./range.ts";
import { findRefills, type Refill } from "./refills.ts";
import { seasonAt } from "./season.ts";
import { type UseModel, useUntil } from "./use.ts";
import { type Level, sensorStepOf } from "./variation.ts";

export type ForecastInput = {
  readonly latitude: number | null;
  readonly use_case: UseCase | null;
  readonly threshold: number;
  readonly capacity: number;
  readonly capacity_unit: CapacityUnit;
  readonly now: Instant;
};

/** With a probability of 10, 50 and 90 % it is at that time or earlier. Null: not within three years. */
export type WhenRange = { readonly p10: Instant | null; readonly p50: Instant | null; readonly p90: Instant | null };
export type LevelRange = { readonly p10: number; readonly p50: number; readonly p90: number };

/**
 * `insufficient_data`: too few readings, or they contradict each other. `no_use`: none can be seen. `stale`: the tank has been
 * silent for so long that the range says nothing.
 */
export const FORECAST_STATES = ["ok", "insufficient_data", "stale", "no_use"] as const;
type ForecastState = (typeof FORECAST_STATES)[number];

export type Forecast = {
  readonly state: ForecastState;
  readonly use_per_day: ({ readonly percentage: number } & Volume) | null;
  readonly runs_low_at: WhenRange;
  readonly runs_empty_at: WhenRange;
  readonly suggested_delivery: ({ readonly by: Instant } & Volume) | null;
  /** The level to expect at an instant from the last reading on. Undefined if the state is not ok. */
  readonly levelAt: (at: Instant) => LevelRange | undefined;
};

const MIN_READINGS = 5;
const MIN_DAYS = 5;
/** A range of the level this wide says nothing. */
const MAX_SPREAD_POINTS = 40;
/** After this silence, somebody may have filled the tank or replaced it. */
const MAX_SILENCE_DAYS = 90;
/** The day of the path that counts as one year; PATH_DAYS has every tenth day. */
const YEAR_DAYS = 360;
/** Less expected use than this, in percentage points a year, counts as no use. */
const MIN_YEARLY_USE = 1;
/** The level of a full tank, where no refill has shown it. */
const DEFAULT_FULL_LEVEL = 95;
/** A smaller one, or one that ends lower, may be another sensor, or a delivery of less than fits. */
const FULL_REFILL = { rise: 10, to: 75 } as const;

export const NEVER: WhenRange = { p10: null, p50: null, p90: null };
const NOTHING = {
  use_per_day: null,
  runs_low_at: NEVER,
  runs_empty_at: NEVER,
  suggested_delivery: null,
  levelAt: () => undefined,
} as const;

/** Readings without outliers, the refills in them, and a level a day. */
export type History = {
  readonly cleaned: readonly Level[];
  readonly refills: readonly Refill[];
  readonly daily: readonly DailyLevel[];
  readonly sensorStep: number;
  readonly isErratic: boolean;
};

/** `readings` are in order of time, of the last year or two. A few a day are enough (`thinned`). */
export function historyOf(readings: readonly Level[]): History {
  const cleaned = removeOutliers(readings);
  const sensorStep = sensorStepOf(cleaned);
  const refills = findRefills(cleaned, sensorStep);
  return { cleaned, refills, daily: dailyLevels(cleaned, refills), sensorStep, isErratic: isErratic(readings) };
}

export function forecastFrom({ cleaned, refills, daily, sensorStep, ...history }: History, input: ForecastInput): Forecast {
  const [first, last] = [cleaned[0], cleaned.at(-1)];
  const none = (state: ForecastState): Forecast => ({ state, ...NOTHING });
  if (first === undefined || last === undefined) return none("insufficient_data");
  if (cleaned.length < MIN_READINGS || last.at - first.at < MIN_DAYS * DAY) return none("insufficient_data");
  if (history.isErratic) return none("insufficient_data");
  const noise = noiseOf(daily, sensorStep);
  const levels = splitAtJumps(daily, noise);
  const models = modelsForRange(levels, seasonAt(input.latitude, input.use_case), noise);
  const model = models.get(levels.length - 1);
  const level = levels.at(-1);
  if (model === undefined || level === undefined) return none("insufficient_data");
  models.delete(levels.length - 1);
  const path = pathOf(model, widthsOf(levels, models, noise), noise);
  if (spread(levelOn(path, 1)) > MAX_SPREAD_POINTS) return none("insufficient_data");
  const silence = input.now / DAY - level.day;
  if (silence > MAX_SILENCE_DAYS) return none("stale");
  if (!isUsed(levels, path, noise)) return { ...none("no_use"), use_per_day: used(0, input) };
  if (widest(path, silence) > MAX_SPREAD_POINTS) return none("stale");

  const whenAt = (fill: number): WhenRange => {
    const when = (drops: readonly number[]): Instant | null => {
      // No level is below 0, so one of 0 is not uncertain.
      const days = model.level <= 0 ? 0 : crossing(drops, model.level - fill);
      return days === undefined ? null : Math.max(input.now, Math.round((level.day + days) * DAY));
    };
    return { p10: when(path.high), p50: when(path.expected), p90: when(path.low) };
  };
  const levelAt = (at: Instant): LevelRange => levelOn(path, at / DAY - level.day);
  const runs_low_at = whenAt(input.threshold);
  const expectedPerDay = dropUntil(path.expected, silence + 1) - dropUntil(path.expected, silence);
  return {
    state: "ok",
    use_per_day: used(Math.max(expectedPerDay, model.bursts?.use ?? 0), input),
    runs_low_at,
    runs_empty_at: whenAt(0),
    suggested_delivery: delivery(runs_low_at.p10, levelAt, refills, input),
    levelAt,
  };
}

const spread = ({ p10, p90 }: LevelRange): number => p90 - p10;

function used(percentage: number, { capacity, capacity_unit }: Pick<ForecastInput, "capacity" | "capacity_unit">) {
  return { percentage, volume: (percentage / 100) * capacity, unit: capacity_unit };
}

/** The suggested delivery: by when it must come, and what then fits in up to the level that refills have reached. */
function delivery(
  by: Instant | null,
  levelAt: (at: Instant) => LevelRange,
  refills: readonly Refill[],
  { capacity, capacity_unit }: Pick<ForecastInput, "capacity" | "capacity_unit">,
): Forecast["suggested_delivery"] {
  if (by === null) return null;
  const tops = refills.filter(({ from, to }) => to >= FULL_REFILL.to && to - from >= FULL_REFILL.rise).map(({ to }) => to);
  const full = tops.length === 0 ? DEFAULT_FULL_LEVEL : Math.max(...tops);
  return { by, volume: (Math.max(0, full - levelAt(by).p50) / 100) * capacity, unit: capacity_unit };
}

/** Use until each of the days of `PATH_DAYS`. All three rise. */
type Path = {
  readonly start: number;
  readonly expected: readonly number[];
  /** Use stays below this with a probability of 90 %. */
  readonly high: readonly number[];
  /** Use stays above this with a probability of 90 %. */
  readonly low: readonly number[];
};

/** Every day for two months, then every tenth, for three years. */
const PATH_DAYS = Array.from({ length: 165 }, (_, i) => (i <= 60 ? i : 60 + 10 * (i - 60)));

function pathOf(model: UseModel, widths: Widths, noise: number): Path {
  const expected = useUntil(model, PATH_DAYS);
  const high: number[] = [];
  const low: number[] = [];
  let [highest, lowest] = [0, -2 * noise];
  expected.forEach((use, i) => {
    const days = PATH_DAYS[i] ?? 0;
    const width = widthAt(widths, days) * scaleOf(model, days, use, noise);
    highest = Math.max(highest, use + width);
    lowest = Math.max(lowest, use - width);
    high.push(highest);
    low.push(lowest);
  });
  return { start: model.level, expected, high, low };
}

function levelOn({ start, expected, high, low }: Path, day: number): LevelRange {
  const level = (drops: readonly number[]): number => Math.min(100, Math.max(0, start - dropUntil(drops, day)));
  return { p10: level(high), p50: level(expected), p90: level(low) };
}

function dropUntil(drops: readonly number[], day: number): number {
  const days = Math.max(0, Math.min(day, PATH_DAYS.at(-1) ?? 0));
  const index = days <= 60 ? Math.floor(days) : 60 + Math.floor((days - 60) / 10);
  const from = PATH_DAYS[index] ?? 0;
  const share = (days - from) / ((PATH_DAYS[index + 1] ?? from + 1) - from);
  const drop = drops[index] ?? 0;
  return drop + share * ((drops[index + 1] ?? drop) - drop);
}

/** The widest range until a day. It narrows again where a tank can be no emptier, but nothing more is known then. */
function widest(path: Path, day: number): number {
  return Math.max(...[...PATH_DAYS.filter((one) => one < day), day].map((one) => spread(levelOn(path, one))));
}

/** The day on which the use reaches a drop. */
function crossing(drops: readonly number[], drop: number): number | undefined {
  const index = drops.findIndex((value) => value >= drop);
  if (index <= 0) return index === 0 ? 0 : undefined;
  const [before = 0, after = 0] = [drops[index - 1], drops[index]];
  const [from = 0, to = 0] = [PATH_DAYS[index - 1], PATH_DAYS[index]];
  return from + ((drop - before) / (after - before)) * (to - from);
}

/** Whether more has been used than the noise could be, and some is expected. */
function isUsed(levels: readonly DailyLevel[], { expected }: Path, noise: number): boolean {
  const seen = levels.reduce((sum, _, i) => sum + fallAt(levels, i), 0);
  return seen > 4 * noise && (expected[PATH_DAYS.indexOf(YEAR_DAYS)] ?? 0) >= MIN_YEARLY_USE;
}
