// Gauges that are counted in the database: tanks by state, and pending readings. They are the same for all processes on a database,
// so the process that is scraped adds them to the report of the others.

import { type FleetReads, SILENT_AFTER_MS, TANK_STATES } from "../domain/fleet.ts";
import type { Clock } from "../domain/instant.ts";
import { cached } from "./cached.ts";
import { gauge, type MetricsReport } from "./report.ts";

export function fleetMetrics(reads: Pick<FleetReads, "fleetCounts">, clock: Clock): () => Promise<MetricsReport> {
  return cached(clock, async (now) => {
    const { tanks, pendingReadings } = await reads.fleetCounts(now - SILENT_AFTER_MS);
    const states = TANK_STATES.map((state) => ({ labels: { state }, value: tanks[state] }));
    return [
      gauge("tank_monitor_tanks", "Tanks by state: low, ok, silent for 48 hours, or unknown (without a reading)", states),
      gauge("tank_monitor_pending_readings", "Readings of devices without a tank, or that cannot be interpreted yet", [
        { labels: {}, value: pendingReadings },
      ]),
    ];
  });
}
