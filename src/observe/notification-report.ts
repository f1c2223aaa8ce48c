// Alerts and notifications as the database has them: gauges, and warnings for `/readyz`. They are the same for all processes on a
// database.

import { ALERT_KINDS } from "../domain/alerts/alert.ts";
import {
  NOTIFICATION_WARNINGS,
  type NotificationQueueReads,
  type NotificationWarning,
  notificationWarnings,
} from "../domain/alerts/notification-queue.ts";
import type { Clock } from "../domain/instant.ts";
import { cached } from "./cached.ts";
import { gauge, type MetricsReport } from "./report.ts";

export type NotificationReport = {
  readonly metrics: () => Promise<MetricsReport>;
  readonly warnings: () => Promise<readonly NotificationWarning[]>;
};

/** `missing`: the settings that mail needs and that are not set. */
export function notificationReport(
  reads: Pick<NotificationQueueReads, "notificationCounts">,
  missing: readonly string[],
  clock: Clock,
): NotificationReport {
  const counts = cached(clock, () => reads.notificationCounts());

  async function metrics(): Promise<MetricsReport> {
    const counted = await counts();
    const { alertsOpen, pending, oldestPendingAt, channelsDisabled } = counted;
    const codes = notificationWarnings(counted, missing, clock()).map(({ code }) => code);
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
        NOTIFICATION_WARNINGS.map((code) => ({ labels: { code }, value: codes.includes(code) ? 1 : 0 })),
      ),
    ];
  }

  /** None if they cannot be counted: that is no reason not to be ready. */
  const warnings = (): Promise<readonly NotificationWarning[]> =>
    counts().then(
      (counted) => notificationWarnings(counted, missing, clock()),
      () => [],
    );
  return { metrics, warnings };
}

const single = (name: string, help: string, value: number) => gauge(name, help, [{ labels: {}, value }]);
