// Alerts and notifications as the database has them: gauges, and warnings for `/readyz`. They are the same for all processes on a
// database.

import { setTimeout as delay } from "node:timers/promises";
import { ALERT_KINDS, type AlertKind } from "../domain/alerts/alert.ts";
import {
  NOTIFICATION_WARNINGS,
  type NotificationCounts,
  type NotificationWarning,
  notificationWarnings,
} from "../domain/alerts/notification-queue.ts";
import type { Clock } from "../domain/instant.ts";
import { UNRESTRICTED } from "../domain/key.ts";
import type { Store } from "../domain/store.ts";
import { cached } from "./cached.ts";
import { gauge, type MetricsReport } from "./report.ts";

/** How long `/readyz` waits for a count. */
const WAIT_MS = 500;

type NotificationReport = {
  readonly metrics: () => Promise<MetricsReport>;
  readonly warnings: () => Promise<readonly NotificationWarning[]>;
};

/** `unsentKinds`: alerts that customers get no mail about, because mail is not configured. */
export function notificationReport(
  reads: Pick<Store, "alertCounts" | "notificationCounts">,
  { missingForMail, unsentKinds }: { readonly missingForMail: readonly string[]; readonly unsentKinds: readonly AlertKind[] },
  clock: Clock,
): NotificationReport {
  const counts = cached(clock, () => reads.notificationCounts(unsentKinds));
  const alertCounts = cached(clock, () => reads.alertCounts(UNRESTRICTED));

  async function metrics(): Promise<MetricsReport> {
    const [counted, { open }] = await Promise.all([counts(), alertCounts()]);
    const { pending, oldestPendingAt, channelsDisabled } = counted;
    const codes = notificationWarnings(counted, missingForMail, clock()).map(({ code }) => code);
    const age = oldestPendingAt === null ? 0 : Math.max(0, (clock() - oldestPendingAt) / 1000);
    return [
      gauge(
        "tank_monitor_alerts_open",
        "Open alerts, which nobody has acknowledged, by kind",
        ALERT_KINDS.map((kind) => ({ labels: { kind }, value: open[kind] })),
      ),
      single("tank_monitor_notifications_pending", "Notifications that are still to be sent, or sent again", pending),
      single("tank_monitor_notification_oldest_pending_seconds", "Age of the oldest pending notification", age),
      single("tank_monitor_channels_disabled", "Channels that are disabled", channelsDisabled),
      gauge(
        "tank_monitor_warnings",
        "1 for each warning of /readyz about notifications that holds, by code",
        NOTIFICATION_WARNINGS.map((code) => ({ labels: { code }, value: codes.includes(code) ? 1 : 0 })),
      ),
    ];
  }

  let known: NotificationCounts | undefined;
  /** Those of the last count while a new one waits behind long reads; none if they cannot be counted. */
  async function warnings(): Promise<readonly NotificationWarning[]> {
    const counting = counts().then(
      (counted) => (known = counted),
      () => (known = undefined),
    );
    await Promise.race([counting, delay(WAIT_MS, undefined, { ref: false })]);
    return known === undefined ? [] : notificationWarnings(known, missingForMail, clock());
  }
  return { metrics, warnings };
}

const single = (name: string, help: string, value: number) => gauge(name, help, [{ labels: {}, value }]);
