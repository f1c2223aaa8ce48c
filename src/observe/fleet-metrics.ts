// Gauges that are counted in the database: tanks by state, pending readings, how late forecasts are. They are the same for all
// processes on a database, so the process that is scraped adds them to the report of the others.

import { type FleetReads, METRIC_STATES, METRICS_SILENT_MS } from "../domain/fleet.ts";
import type { ForecastReads } from "../domain/forecast/stored.ts";
import type { Clock } from "../domain/instant.ts";
import { cached } from "./cached.ts";
import { gauge, type MetricsReport } from "./report.ts";

export function fleetMetrics(reads: Pick<FleetReads, "fleetCounts">, clock: Clock): () => Promise<MetricsReport> {
  return cached(clock, async (now) => {
    const { tanks, pendingReadings } = await reads.fleetCounts(now - METRICS_SILENT_MS);
    const states = METRIC_STATES.map((state) => ({ labels: { state }, value: tanks[state] }));
    return [
      gauge("tank_monitor_tanks", "Tanks by state: low, ok, silent for 48 hours, or unknown (without a reading)", states),
      gauge("tank_monitor_pending_readings", "Readings of devices without a tank, or that cannot be interpreted yet", [
        { labels: {}, value: pendingReadings },
      ]),
    ];
  });
}

/** One lookup by an index. */
export function forecastMetrics(reads: Pick<ForecastReads, "dueForecasts">, clock: Clock): () => Promise<MetricsReport> {
  return async () => {
    const now = clock();
    const [oldest] = await reads.dueForecasts(now, 1);
    const lag = oldest === undefined ? 0 : (now - oldest.dueAt) / 1000;
    return [
      gauge("tank_monitor_forecast_lag_seconds", "For how long the oldest forecast that is due to be computed again has waited", [
        { labels: {}, value: lag },
      ]),
    ];
  };
}
