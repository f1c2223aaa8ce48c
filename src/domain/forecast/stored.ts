// Forecasts and refills as they are stored and read.

import { type Instant, isInstant } from "../instant.ts";
import type { Scope } from "../key.ts";
import type { Page, PageQuery } from "../page.ts";
import type { InstantRange, ReadingColumns } from "../reading.ts";
import { CAPACITY_UNITS, type Tank } from "../tank.ts";
import { isObject, type JsonObject } from "../validate.ts";
import { FORECAST_STATES, type Forecast, type ForecastInput } from "./forecast.ts";
import type { LeakState } from "./leak-state.ts";
import type { Refill } from "./refills.ts";

/**
 * What is known of the future of a tank, without the path to it. `level`: the one to expect now; null unless the state is ok.
 * `interval`: the usual milliseconds between its readings, if it is known.
 */
export type ForecastValues = Omit<Forecast, "levelAt"> & {
  /** The latest reading when it was computed, used or not. */
  readonly based_on_until: Instant;
  readonly level: number | null;
  readonly leak: LeakState;
  readonly interval?: number | undefined;
  /** The latest reading is far above the level that the forecast starts from: it may be a refill, which the forecast does not count yet. */
  readonly isRisen?: boolean | undefined;
  /** It is far below that level: it may be a loss, or false. There are no dates until the next readings show which. */
  readonly isFallen?: boolean | undefined;
  /** Newer readings may be about to follow: the latest one was old when it was first seen, as in an import, or we were down since. */
  readonly isProvisional?: boolean | undefined;
  /** Refills until then have been announced, or are too old for it. Undefined before the first one. */
  readonly refillsUntil?: Instant | undefined;
};
export type StoredForecast = ForecastValues & { readonly computed_at: Instant };

/** Whether parsed JSON is a forecast: damage may have changed any part of its text. */
export function isForecast(value: unknown): value is ForecastValues {
  if (!isObject(value)) return false;
  const { state, based_on_until, use_per_day, runs_low_at, runs_empty_at, suggested_delivery, level, leak, interval } = value;
  const { isRisen, isFallen, isProvisional, refillsUntil } = value;
  return (
    FORECAST_STATES.some((one) => one === state) &&
    isStoredInstant(based_on_until) &&
    isNullOr((use) => isVolume(use) && Number.isFinite(use["percentage"]), use_per_day) &&
    isWhenRange(runs_low_at) &&
    isWhenRange(runs_empty_at) &&
    isNullOr((delivery) => isVolume(delivery) && isStoredInstant(delivery["by"]), suggested_delivery) &&
    isNullOr(Number.isFinite, level) &&
    (leak === "none" || leak === "ending" || isNullOr(isLeak, leak)) &&
    (interval === undefined || Number.isFinite(interval)) &&
    [isRisen, isFallen, isProvisional].every((flag) => flag === undefined || typeof flag === "boolean") &&
    (refillsUntil === undefined || isStoredInstant(refillsUntil))
  );
}

const isNullOr = (is: (value: unknown) => boolean, value: unknown): boolean => value === null || is(value);
const isStoredInstant = (value: unknown): boolean => typeof value === "number" && isInstant(value);
const isWhenRange = (value: unknown): boolean =>
  isObject(value) && ["p10", "p50", "p90"].every((name) => isNullOr(isStoredInstant, value[name]));
const isVolume = (value: unknown): value is JsonObject =>
  isObject(value) && Number.isFinite(value["volume"]) && CAPACITY_UNITS.some((unit) => unit === value["unit"]);
const isLeak = (value: unknown): boolean =>
  isObject(value) &&
  isStoredInstant(value["since"]) &&
  Number.isFinite(value["excess"]) &&
  typeof value["isSudden"] === "boolean";

/** A tank whose forecast is to be computed, from when on, and its latest reading. */
export type DueTank = {
  readonly tank: Tank;
  readonly dueAt: Instant;
  readonly latestAt: Instant;
  readonly latestFill: number;
};
/** What a forecast depends on, besides the readings. */
export type ForecastSettings = Omit<ForecastInput, "now">;

export function forecastSettings(tank: Tank): ForecastSettings {
  const { capacity, capacity_unit, use_case, location, min_fill_alert_percentage: threshold } = tank;
  return { capacity, capacity_unit, use_case, latitude: location.latitude, threshold };
}

export type ComputedForecast = {
  readonly tankId: string;
  /** What was known of the tank, and its latest reading. */
  readonly settings: ForecastSettings;
  readonly latestAt: Instant;
  readonly latestFill: number;
  readonly forecast: ForecastValues;
  /** Null: they are not known; those that are stored stay. */
  readonly refills: readonly Refill[] | null;
};

export interface ForecastReads {
  /** Null: there is none yet. `undefined`: there is no such tank, or it is out of scope. */
  tankForecast(tankId: string, scope: Scope): Promise<StoredForecast | null | "deleted" | undefined>;
  /** Newest first. */
  refillPage(
    tankId: string,
    query: Pick<PageQuery, "page" | "size">,
    scope: Scope,
  ): Promise<Page<Refill> | "deleted" | undefined>;
  /** Those that are to be computed by now, the oldest first. */
  dueForecasts(now: Instant, limit: number): Promise<readonly DueTank[]>;
  /** As `readingColumns`, in a way that delays other reads less. */
  historyColumns(tankId: string, range: InstantRange): Promise<ReadingColumns | "deleted" | undefined>;
}

export interface ForecastWrites {
  storeForecasts(computed: readonly ComputedForecast[], at: Instant): Promise<void>;
}
