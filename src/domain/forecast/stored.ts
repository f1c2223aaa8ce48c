// Forecasts and refills as they are stored and read.

import type { Instant } from "../instant.ts";
import type { Scope } from "../key.ts";
import type { Page, PageQuery } from "../page.ts";
import type { InstantRange, ReadingColumns } from "../reading.ts";
import type { Tank } from "../tank.ts";
import type { Forecast } from "./forecast.ts";
import type { LeakState } from "./leak-state.ts";
import type { Refill } from "./refills.ts";

/**
 * What is known of the future of a tank, without the path to it. `level`: the one to expect now; null unless the state is ok.
 * `interval`: the usual milliseconds between its readings, if it is known.
 */
export type ForecastValues = Omit<Forecast, "levelAt"> & {
  readonly level: number | null;
  readonly leak: LeakState;
  readonly interval?: number | undefined;
};
export type StoredForecast = ForecastValues & { readonly computed_at: Instant };

/** A tank whose forecast is to be computed, since when, and the latest reading that is known. */
export type OutdatedTank = { readonly tank: Tank; readonly since: Instant; readonly latestAt: Instant };
export type ComputedForecast = {
  readonly tankId: string;
  /** The latest reading that was known. */
  readonly latestAt: Instant;
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
  /** The oldest first. */
  outdatedForecasts(limit: number): Promise<readonly OutdatedTank[]>;
  /** As `readingColumns`, in a way that delays other reads less. */
  historyColumns(tankId: string, range: InstantRange): Promise<ReadingColumns | "deleted" | undefined>;
}

export interface ForecastWrites {
  putForecasts(computed: readonly ComputedForecast[], at: Instant): Promise<void>;
}
