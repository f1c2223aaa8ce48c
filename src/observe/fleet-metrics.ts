// Gauges that are counted in the database: tanks by state, and pending readings. They are the same for all processes on a database,
// so the process that is scraped adds them to the report of the others.

import { type FleetReads, SILENT_AFTER_MS, TANK_STATES } from "../domain/fleet.ts";
import type { Clock, Instant } from "../domain/instant.ts";
import type { Metric, MetricsReport } from "./report.ts";

/** However often the service is scraped, the database counts once in this time. */
const CACHED_MS = 30_000;

export function fleetMetrics(reads: Pick<FleetReads, "fleetCounts">, clock: Clock): () => Promise<MetricsReport> {
  let cached: { readonly report: Promise<MetricsReport>; readonly since: Instant } | undefined;

  async function count(now: Instant): Promise<MetricsReport> {
    const { tanks, pendingReadings } = await reads.fleetCounts(now - SILENT_AFTER_MS);
    const states = TANK_STATES.map((state) => ({ labels: { state }, value: tanks[state] }));
    return [
      gauge("tank_monitor_tanks", "Tanks by state: low, ok, silent for 48 hours, or unknown (without a reading)", states),
      gauge("tank_monitor_pending_readings", "Readings of devices without a tank, or that cannot be interpreted yet", [
        { labels: {}, value: pendingReadings },
      ]),
    ];
  }

  return async () => {
    const now = clock();
    // The second comparison holds where the clock was set back.
    if (cached === undefined || now >= cached.since + CACHED_MS || now < cached.since) {
      cached = { report: count(now), since: now };
    }
    try {
      return await cached.report;
    } catch {
      // The other metrics say why.
      cached = undefined;
      return [];
    }
  };
}

const gauge = (name: string, help: string, values: Metric["values"]): Metric => ({
  ...{ name, help, type: "gauge", aggregator: "sum", values },
});
