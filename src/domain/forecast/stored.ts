// Forecasts and refills as they are stored and read.

import type { Instant } from "../instant.ts";
import type { Scope } from "../key.ts";
import type { Page, PageQuery } from "../page.ts";
import type { CapacityUnit, Tank } from "../tank.ts";
import type { Refill } from "./refills.ts";

export const FORECAST_STATES = ["ok", "insufficient_data", "stale", "no_use"] as const;
export type ForecastState = (typeof FORECAST_STATES)[number];

/** With a probability of 10, 50 and 90 % it is at that time or earlier. Null: not within three years. */
export type WhenRange = { readonly p10: Instant | null; readonly p50: Instant | null; readonly p90: Instant | null };
type Volume = { readonly volume: number; readonly unit: CapacityUnit };

export type Forecast = {
  readonly state: ForecastState;
  readonly based_on_until: Instant | null;
  readonly use_per_day: ({ readonly percentage: number } & Volume) | null;
  readonly runs_low_at: WhenRange;
  readonly runs_empty_at: WhenRange;
  readonly suggested_delivery: ({ readonly by: Instant } & Volume) | null;
};

export type StoredForecast = Forecast & { readonly computed_at: Instant };

/** A tank whose forecast is to be computed, since when, and the latest reading that is known. */
export type OutdatedTank = { readonly tank: Tank; readonly since: Instant; readonly latestAt: Instant };
export type ComputedForecast = {
  readonly tankId: string;
  /** The latest reading that was known. */
  readonly latestAt: Instant;
  readonly forecast: Forecast;
  readonly refills: readonly Refill[];
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
}

export interface ForecastWrites {
  putForecasts(computed: readonly ComputedForecast[], at: Instant): Promise<void>;
}
