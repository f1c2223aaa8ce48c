// Mail to the owner of a tank about its alerts. It is deferred for every owner: whether they get it is decided when it is composed.

import type { Alert } from "../../domain/alerts/alert.ts";
import { type AlertSettings, LOW_UNNOTIFIED_BIT } from "../../domain/alerts/evaluate.ts";
import type { AlertEvent } from "../../domain/alerts/event.ts";
import { newId } from "../../domain/id.ts";
import type { Instant } from "../../domain/instant.ts";
import type { DeferredNotification } from "./deferred-tables.ts";
import { MAIL_COLLECT_MS } from "./events.ts";
import type { StoreTransaction } from "./transaction.ts";

/** Mail when an alert opens, a reminder, and mail when it has recovered. */
export function ownerMail(
  { type, alert }: AlertEvent,
  sequence: number,
  { ownerKinds, remindAfter }: AlertSettings,
  now: Instant,
): DeferredNotification[] {
  if (!ownerKinds.includes(alert.kind)) return [];
  if (type === "alert.opened") return openedMail(alert, sequence, remindAfter, now);
  const hasRecovered = type === "alert.closed" && alert.close_reason === "recovered";
  return hasRecovered ? [deferredMail(alert, "alert.closed", sequence, now + MAIL_COLLECT_MS, now)] : [];
}

/**
 * The new owner of a tank gets mail about its alerts, as if they opened now, unless they had some before, nobody was notified yet, or
 * the tank is deleted.
 */
export async function deferMailToNewOwners(tx: StoreTransaction, tankIds: readonly string[], now: Instant): Promise<void> {
  const { ownerKinds, remindAfter } = tx.alertSettings;
  const alerts = (await tx.alertsNotClosed(tankIds)).filter(({ kind }) => ownerKinds.includes(kind));
  if (alerts.length === 0) return;
  const inputs = new Map((await tx.evaluationInputs(alerts.map((alert) => alert.tank_id))).map((input) => [input.tankId, input]));
  const mayNotifyOwner = ({ kind, tank_id }: Alert): boolean => {
    const { isLive = false, activeConditions = 0 } = inputs.get(tank_id) ?? {};
    return isLive && (kind !== "low" || (activeConditions & LOW_UNNOTIFIED_BIT) === 0);
  };
  for (const [ownerId, ownerAlerts] of Map.groupBy(alerts, ({ owner_id }) => owner_id)) {
    const notified = await tx.alertsNotifiedTo(
      ownerId,
      ownerAlerts.map(({ id }) => id),
    );
    const wanted = ownerAlerts.filter((alert) => !notified.has(alert.id) && mayNotifyOwner(alert));
    await tx.deferNotifications(wanted.flatMap((alert) => openedMail(alert, null, remindAfter, now)));
  }
}

/** Nobody is reminded of an alert that somebody is handling. */
function openedMail(alert: Alert, sequence: number | null, remindAfter: number, now: Instant): DeferredNotification[] {
  const opened = deferredMail(alert, "alert.opened", sequence, now + MAIL_COLLECT_MS, now);
  if (alert.state !== "open") return [opened];
  return [opened, deferredMail(alert, "alert.reminder", sequence, now + remindAfter, now)];
}

const deferredMail = (
  { id, tank_id, owner_id }: Alert,
  event: DeferredNotification["event"],
  sequence: number | null,
  due_at: Instant,
  created_at: Instant,
): DeferredNotification => ({
  id: newId("msg", created_at),
  recipient: owner_id,
  channel_id: null,
  customer_id: owner_id,
  event,
  sequence,
  alert_id: id,
  tank_id,
  due_at,
  created_at,
});
