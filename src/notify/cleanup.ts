// Once a minute: removes old notifications, expires mail, corrects due dates that are too late, and logs warnings.

import type { AlertKind } from "../domain/alerts/alert.ts";
import {
  type NotificationQueueReads,
  type NotificationQueueWrites,
  type NotificationWarning,
  notificationWarnings,
  type RecipientType,
} from "../domain/alerts/notification-queue.ts";
import { hasCode } from "../domain/errors.ts";
import type { Clock } from "../domain/instant.ts";
import type { Observe } from "../domain/log-events.ts";
import { RepeatedTask } from "../domain/repeated-task.ts";

const CLEANUP_MS = 60_000;

export type NotificationCleanupOptions = {
  readonly store: NotificationQueueReads & NotificationQueueWrites;
  readonly clock: Clock;
  readonly observe: Observe;
  /** Settings of mail that are not set. */
  readonly missingForMail: readonly string[];
  /** Alerts that customers get no mail about because of that. */
  readonly unsentKinds: readonly AlertKind[];
  /** Of several workers, one reports what concerns all. */
  readonly isReporting: boolean;
  readonly cleanupMs?: number;
};

export function startNotificationCleanup(options: NotificationCleanupOptions): RepeatedTask {
  const { store, clock, observe, missingForMail, unsentKinds, isReporting, cleanupMs = CLEANUP_MS } = options;
  /** Warnings that were logged and still hold. */
  let reported: ReadonlySet<NotificationWarning["code"]> = new Set();
  const task = new RepeatedTask({
    everyMs: cleanupMs,
    run,
    onError(error) {
      if (!hasCode(error, "store_unavailable")) observe({ kind: "sending_failed", error });
    },
  });

  async function run(): Promise<void> {
    if (isReporting) await report();
    await expireAndReschedule();
    while (!task.isStopping && (await store.removeOldNotifications(clock())) > 0);
  }

  /** Logs each warning once, when it begins; the metrics have the rest. */
  async function report(): Promise<void> {
    const counts = await store.notificationCounts(unsentKinds);
    const now = clock();
    const codes = new Set(notificationWarnings(counts, missingForMail, now).map(({ code }) => code));
    const isNew = (code: NotificationWarning["code"]): boolean => codes.has(code) && !reported.has(code);
    if (isNew("mail_not_configured")) observe({ kind: "mail_not_configured", missing: missingForMail.join(", ") });
    if (isNew("notifications_delayed")) {
      const oldestSeconds = Math.floor((now - (counts.oldestPendingAt ?? now)) / 1000);
      observe({ kind: "notifications_delayed", pending: counts.pending, oldestSeconds });
    }
    if (reported.has("notifications_delayed") && !codes.has("notifications_delayed")) {
      observe({ kind: "notifications_caught_up" });
    }
    // Mail may be pending on and off: that it is not configured is logged once.
    reported = new Set([...codes, ...(reported.has("mail_not_configured") ? ["mail_not_configured" as const] : [])]);
  }

  async function expireAndReschedule(): Promise<void> {
    const destinations = (await store.pendingDestinations(clock())).map(({ destination }) => destination);
    if (destinations.length === 0) return;
    let expired: readonly RecipientType[];
    do {
      expired = await store.expireAndReschedule(destinations, clock());
      for (const [recipient, { length: count }] of Map.groupBy(expired, (type) => type)) {
        observe({ kind: "notifications_ended", recipient, outcome: "expired", count });
      }
    } while (expired.length > 0 && !task.isStopping);
  }

  task.start();
  return task;
}
