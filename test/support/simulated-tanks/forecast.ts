// Forecasts and backtests of simulated tanks, from all their readings at once.

import { type Backtest, type BacktestTank, backtestTank, summarize } from "../../../src/domain/forecast/backtest.ts";
import { thinned } from "../../../src/domain/forecast/daily.ts";
import { type Forecast, type ForecastInput, forecastFrom, historyOf } from "../../../src/domain/forecast/forecast.ts";
import type { Level } from "../../../src/domain/forecast/variation.ts";

/** Readings in order of time. */
export type Readings = readonly Level[];

export function forecast({ readings, ...input }: ForecastInput & { readonly readings: Readings }): Forecast {
  return forecastFrom(historyOf(thinned(readings)), input);
}

export function backtest(tanks: readonly BacktestTank[], horizonDays: number): Backtest {
  return summarize(
    tanks.map((tank) => backtestTank(tank, horizonDays)),
    horizonDays,
  );
}
