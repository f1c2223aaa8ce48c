// Alerts and notifications as the database has them: gauges, and warnings for `/readyz`. They are the same for all processes on a
// database.

import { ALERT_KINDS } from "../domain/alerts/alert.ts";
import { DELIVERY_WARNINGS, type DeliveryReads, type DeliveryWarning, deliveryWarnings } from "../domain/alerts/delivery.ts";
import type { Clock } from "../domain/instant.ts";
import { cached } from "./cached.ts";
import { gauge, type MetricsReport } from "./report.ts";

export type DeliveryReport = {
  readonly metrics: () => Promise<MetricsReport>;
  readonly warnings: () => Promise<readonly DeliveryWarning[]>;
};

/** `missing`: the settings that mail needs and that are not set. */
export function deliveryReport(
  reads: Pick<DeliveryReads, "deliveryCounts">,
  missing: readonly string[],
  clock: Clock,
): DeliveryReport {
  const counts = cached(clock, () => reads.deliveryCounts());

  async function metrics(): Promise<MetricsReport> {
    const counted = await counts();
    const { alertsOpen, pending, oldestPendingAt, channelsDisabled } = counted;
    const codes = deliveryWarnings(counted, missing, clock()).map(({ code }) => code);
    const age = oldestPendingAt === null ? 0 : Math.max(0, (clock() - oldestPendingAt) / 1000);
    return [
      gauge(
        "tank_monitor_alerts_open",
        "Open alerts, which nobody has acknowledged, by kind",
        ALERT_KINDS.map((kind) => ({ labels: { kind }, value: alertsOpen[kind] })),
      ),
      single("tank_monitor_notifications_pending", "Notifications that are still to be sent, or sent again", pending),
      single("tank_monitor_notification_oldest_pending_seconds", "Age of the oldest pending notification", age),
      single("tank_monitor_channels_disabled", "Channels that are disabled", channelsDisabled),
      gauge(
        "tank_monitor_warnings",
        "1 for each warning of /readyz that holds, by code",
        DELIVERY_WARNINGS.map((code) => ({ labels: { code }, value: codes.includes(code) ? 1 : 0 })),
      ),
    ];
  }

  /** None if they cannot be counted: that is no reason not to be ready. */
  const warnings = (): Promise<readonly DeliveryWarning[]> =>
    counts().then(
      (counted) => deliveryWarnings(counted, missing, clock()),
      () => [],
    );
  return { metrics, warnings };
}

const single = (name: string, help: string, value: number) => gauge(name, help, [{ labels: {}, value }]);
