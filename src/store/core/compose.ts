// Turns deferred notifications that are due into notifications: mail, which is grouped by recipient, and webhooks of channels
// with a delay. What is sent depends on the alerts as they are now:
// - The first mail to a recipient goes at once; what follows within ten minutes is one more. It waits until the one before has been
//   delivered or has ended: otherwise the last mail that arrives could be an old one that was sent again.
// - A channel gets what it wants now. Its quiet hours hold its mail. Of alerts, a channel with a delay gets only those that are still
//   open and unacknowledged, and what happens to these later. What a disabled channel would get is stored as failed, so that it can be
//   sent again once the channel is enabled.
// - Customers get mail if their address is verified and they want it. They are notified of a recovery only if they were notified
//   of the alert.

import type { Alert } from "../../domain/alerts/alert.ts";
import { type Channel, wants } from "../../domain/alerts/channel.ts";
import type { ComposeSettings } from "../../domain/alerts/compose.ts";
import { CHANNEL_EVENTS } from "../../domain/alerts/event.ts";
import type { NewNotification } from "../../domain/alerts/notification.ts";
import { CHANNEL_DISABLED } from "../../domain/alerts/notification-queue.ts";
import { quietUntil } from "../../domain/alerts/quiet-hours.ts";
import { newId } from "../../domain/id.ts";
import { type Instant, MINUTE } from "../../domain/instant.ts";
import { type AlertItem, updateOf, urgencyRank } from "../../domain/mail/alert-mail.ts";
import { DIGEST_ABOVE } from "../../domain/mail/section.ts";
import { composedMail, type NotificationRecipient, REFILLED } from "./compose-mail.ts";
import type { DeferredNotification, DigestDraft } from "./deferred-tables.ts";
import { MAIL_COLLECT_MS } from "./events.ts";
import type { StoreTransaction } from "./transaction.ts";

/** At most one mail per recipient in this time. What cannot be sent yet is postponed by as much. */
const GROUPING_MS = 10 * MINUTE;
/** Longer than an attempt takes. */
const MAX_ATTEMPT_MS = MINUTE;
/** In one transaction. More of them are collected in a draft, in several transactions. */
const MAX_ROWS = 500;

export async function composeNotifications(
  tx: StoreTransaction,
  recipientId: string,
  settings: ComposeSettings,
  now: Instant,
): Promise<boolean> {
  await tx.lockAlerts();
  const deferred = await tx.deferredFor(recipientId, now + MAIL_COLLECT_MS, MAX_ROWS + 1);
  const [first] = deferred;
  // Another process has composed it meanwhile.
  if (first === undefined || first.due_at > now) return false;
  const hasMore = deferred.length > MAX_ROWS;
  const recipient = await recipientOf(tx, first);
  const unpaused = await withoutPaused(tx, deferred.slice(0, MAX_ROWS), recipient?.channel, now);
  const rows = await withoutTanksAboveThreshold(tx, unpaused, now);
  const isNotConfigured = recipient?.customer !== undefined && settings.publicUrl === null;
  if (recipient?.channel?.type === "webhook") await createWebhooks(tx, recipient.channel, rows, now);
  else if (recipient === undefined || isNotConfigured) await dropMail(tx, recipientId, rows);
  else {
    const heldUntil = await holdUntil(tx, recipient, rows, now);
    if (heldUntil !== undefined) await tx.postponeDeferred(idsOf(rows), heldUntil);
    else await collectMail(tx, recipient, rows, hasMore, settings, now);
  }
  return true;
}

/**
 * Of paused tanks, reminders, mail to new owners and what channels get after a delay wait until the pause ends. It may be changed, so
 * they wait ten minutes at a time.
 */
async function withoutPaused(
  tx: StoreTransaction,
  rows: readonly DeferredNotification[],
  channel: Channel | undefined,
  now: Instant,
): Promise<readonly DeferredNotification[]> {
  const isDelayed = channel !== undefined && channel.delay > 0;
  const affected = rows.filter(
    (row) => row.event === "alert.reminder" || isToNewOwner(row) || (isDelayed && row.event === "alert.opened"),
  );
  const paused = await tx.pausedTanks(
    affected.map(({ tank_id }) => tank_id),
    now,
  );
  const postponed = affected.filter(({ tank_id }) => paused.has(tank_id));
  if (postponed.length === 0) return rows;
  const untilOf = ({ tank_id }: DeferredNotification): Instant => Math.min(paused.get(tank_id) ?? now, now + GROUPING_MS);
  for (const [until, own] of Map.groupBy(postponed, untilOf)) await tx.postponeDeferred(idsOf(own), until);
  return rows.filter((row) => !postponed.includes(row));
}

/** Mail to a new owner is not about an event. */
const isToNewOwner = ({ customer_id, sequence }: DeferredNotification): boolean => customer_id !== null && sequence === null;

/** Mail to a new owner about a low tank waits while it is above its threshold, but not far enough for the alert to be closed. */
async function withoutTanksAboveThreshold(
  tx: StoreTransaction,
  rows: readonly DeferredNotification[],
  now: Instant,
): Promise<readonly DeferredNotification[]> {
  const toNewOwners = rows.filter(isToNewOwner);
  const alerts = await tx.alerts(alertIdsOf(toNewOwners));
  const owned = await tx.tanksWithOwners(toNewOwners.map(({ tank_id }) => tank_id));
  const isAboveThreshold = ({ alert_id, tank_id, customer_id }: DeferredNotification): boolean => {
    const [alert, tank] = [alerts.get(alert_id ?? ""), owned.get(tank_id)?.tank];
    if (alert?.kind !== "low" || alert.state === "closed" || tank?.owner_id !== customer_id) return false;
    return alert.latest_fill_percentage > tank.min_fill_alert_percentage;
  };
  const aboveThreshold = new Set(toNewOwners.filter(isAboveThreshold));
  await tx.postponeDeferred(idsOf([...aboveThreshold]), now + GROUPING_MS);
  return rows.filter((row) => !aboveThreshold.has(row));
}

export async function postponeNotifications(tx: StoreTransaction, recipientId: string, until: Instant): Promise<void> {
  await tx.lockAlerts();
  const deferred = await tx.deferredFor(recipientId, until, MAX_ROWS);
  await tx.postponeDeferred(idsOf(deferred), until);
}

const idsOf = (rows: readonly DeferredNotification[]): string[] => rows.map(({ id }) => id);
const alertIdsOf = (rows: readonly DeferredNotification[]): string[] => rows.flatMap(({ alert_id }) => alert_id ?? []);

/** Undefined: nobody wants it any more. */
async function recipientOf(tx: StoreTransaction, deferred: DeferredNotification): Promise<NotificationRecipient | undefined> {
  const { recipient: id, channel_id } = deferred;
  if (channel_id !== null) {
    const channel = await tx.recipientChannel(id);
    return channel && { id, channel };
  }
  const customer = await tx.recipientCustomer(id);
  if (customer === undefined || customer.deleted || customer.customer.verified_at === null) return undefined;
  return customer.notifications.unsubscribed_at === null ? { id, customer } : undefined;
}

async function dropMail(tx: StoreTransaction, recipientId: string, rows: readonly DeferredNotification[]): Promise<void> {
  await tx.removeDeferred(idsOf(rows));
  await tx.removeDigestDraft(recipientId);
}

/** Undefined: mail may go now. */
async function holdUntil(
  tx: StoreTransaction,
  { channel }: NotificationRecipient,
  [first]: readonly DeferredNotification[],
  now: Instant,
): Promise<Instant | undefined> {
  const last = first && (await tx.lastMail(first, now));
  const groupingEnd = last === undefined ? now : last.createdAt + GROUPING_MS;
  const quietEnd = channel?.quiet_hours && channel.state === "active" ? quietUntil(channel.quiet_hours, now) : undefined;
  const end = Math.max(groupingEnd, quietEnd ?? now, checkAgainAt(last?.pendingUntil ?? null, now));
  return end > now ? end : undefined;
}

/** After the next attempt to send the mail before. Mail that is overdue may not be sent at all, as without a mail server: it expires. */
function checkAgainAt(pendingUntil: Instant | null, now: Instant): Instant {
  if (pendingUntil === null) return now;
  return pendingUntil > now ? pendingUntil + MAX_ATTEMPT_MS : now + GROUPING_MS;
}

/** The events as the feed has them. */
async function createWebhooks(
  tx: StoreTransaction,
  channel: Channel,
  rows: readonly DeferredNotification[],
  now: Instant,
): Promise<void> {
  const due = rows.filter(({ due_at }) => due_at <= now);
  const alerts = await tx.alerts(alertIdsOf(due));
  const wanted = await wantedBy(tx, channel, due, alerts);
  const events = await tx.eventsBySequence(wanted.flatMap(({ sequence }) => sequence ?? []));
  const notifications = wanted.flatMap(({ alert_id, tank_id, event, sequence }): NewNotification[] => {
    const stored = events.get(sequence ?? 0);
    if (stored === undefined) return [];
    const to = { channel_id: channel.id, customer_id: null, destination: channel.id };
    const about = { about_customer: stored.owner_id, alert_ids: alert_id === null ? [] : [alert_id], tank_id };
    return [{ id: newId("msg", now), ...to, ...about, event, payload: stored.payload, due_at: now, created_at: now }];
  });
  await tx.removeDeferred(idsOf(due));
  await addComposed(tx, notifications, channel, now);
}

/** To a disabled channel, they fail as what is pending does. */
async function addComposed(
  tx: StoreTransaction,
  notifications: readonly NewNotification[],
  channel: Channel | undefined,
  now: Instant,
): Promise<void> {
  await tx.addNotifications(notifications);
  if (channel?.state !== "disabled") return tx.alertWork.addDueNotifications(notifications.length);
  const ids = notifications.map(({ id }) => id);
  await tx.endNotifications(ids, CHANNEL_DISABLED, now);
}

/** Since they were deferred, the channel may have changed, and tanks may have other owners. */
async function wantedBy(
  tx: StoreTransaction,
  channel: Channel,
  rows: readonly DeferredNotification[],
  alerts: ReadonlyMap<string, Alert>,
): Promise<readonly DeferredNotification[]> {
  const tankIds = channel.customer_id === null ? [] : rows.map(({ tank_id }) => tank_id);
  const owned = await tx.tanksWithOwners(tankIds);
  const notified = await tx.channelsNotified(channel.delay === 0 ? [] : alertIdsOf(rows));
  return rows.filter(({ event, alert_id, tank_id }) => {
    const type = CHANNEL_EVENTS.find((one) => one === event);
    const alert = alerts.get(alert_id ?? "");
    if (type === undefined || !wants(channel, type, alert?.kind ?? null, owned.get(tank_id)?.tank.owner_id ?? "")) return false;
    if (channel.delay === 0 || alert_id === null) return true;
    return type === "alert.opened" ? alert?.state === "open" : notified.get(alert_id)?.has(channel.id) === true;
  });
}

/** `hasMore`: the mail is not complete yet. */
async function collectMail(
  tx: StoreTransaction,
  recipient: NotificationRecipient,
  rows: readonly DeferredNotification[],
  hasMore: boolean,
  settings: ComposeSettings,
  now: Instant,
): Promise<void> {
  const alerts = await tx.alerts(alertIdsOf(rows));
  const { channel } = recipient;
  const wanted = channel === undefined ? rows : await wantedBy(tx, channel, rows, alerts);
  const changes = await relevantChanges(tx, recipient, wanted, alerts);
  if (recipient.customer !== undefined) {
    const notified = changes.map(({ alert }) => alert.id);
    await tx.setAlertsNotified(recipient.id, notified);
  }
  const entries = [...changes.map(alertEntry), ...refillEntries(wanted)];
  const draft = withEntries((await tx.digestDraft(recipient.id)) ?? {}, entries);
  await tx.removeDeferred(idsOf(rows));
  if (hasMore) {
    await tx.putDigestDraft(recipient.id, draft);
    return;
  }
  await tx.removeDigestDraft(recipient.id);
  if (Object.keys(draft).length > 0) await addComposed(tx, await composedMail(tx, recipient, draft, settings, now), channel, now);
}

type Update = AlertItem["update"];
type RelevantChange = { readonly alert: Alert; readonly update: Update };

const UPDATES: Readonly<Partial<Record<DeferredNotification["event"], Update>>> = {
  "alert.reminder": "reminder",
  "alert.opened": "opened",
  "alert.acknowledged": "acknowledged",
  "alert.closed": "closed",
};

/** One for each tank and kind of alert, and none for refills: the last change of the newest alert. */
async function relevantChanges(
  tx: StoreTransaction,
  { id, channel }: NotificationRecipient,
  rows: readonly DeferredNotification[],
  alerts: ReadonlyMap<string, Alert>,
): Promise<RelevantChange[]> {
  const decide = channel === undefined ? await ownerUpdates(tx, id, rows, alerts) : channelUpdates(channel);
  const changes = [...Map.groupBy(rows, ({ alert_id }) => alert_id)].flatMap(([alertId, alertRows]) => {
    const alert = alerts.get(alertId ?? "");
    if (alert === undefined) return [];
    const update = decide(alert, new Set(alertRows.flatMap(({ event }) => UPDATES[event] ?? [])));
    return update === undefined ? [] : [{ alert, update }];
  });
  const oldestFirst = changes.toSorted((a, b) => a.alert.opened_at - b.alert.opened_at);
  return [...new Map(oldestFirst.map((change) => [alertKey(change.alert), change])).values()];
}

const alertKey = ({ kind, tank_id }: Alert): string => `${kind} ${tank_id}`;

type Decide = (alert: Alert, updates: ReadonlySet<Update>) => Update | undefined;

/** The rows of an alert may be in several transactions: the last change of its state is mentioned, and those before are not. */
function channelUpdates(channel: Channel): Decide {
  return (alert, updates) => {
    // It has ended while the mail was held.
    if (alert.state === "closed" && !updates.has("closed")) return undefined;
    const isAcknowledgedLater = alert.state === "acknowledged" && !updates.has("acknowledged");
    if (isAcknowledgedLater && wants(channel, "alert.acknowledged", alert.kind, alert.owner_id)) return undefined;
    return (["closed", "acknowledged", "opened"] as const).find((update) => updates.has(update));
  };
}

/**
 * Owners are not notified of tanks that now belong to somebody else, nor of kinds that were turned off for owners since, and only of the
 * recovery of what they were notified of.
 */
async function ownerUpdates(
  tx: StoreTransaction,
  ownerId: string,
  rows: readonly DeferredNotification[],
  alerts: ReadonlyMap<string, Alert>,
): Promise<Decide> {
  const notified = await tx.alertsNotifiedTo(ownerId, alertIdsOf(rows.filter(({ event }) => event === "alert.closed")));
  const known = new Set([...alerts.values()].filter(({ id }) => notified.has(id)).map(alertKey));
  return (alert, updates) => {
    if (alert.owner_id !== ownerId || !tx.alertSettings.ownerKinds.includes(alert.kind)) return undefined;
    if (updates.has("closed")) return known.has(alertKey(alert)) ? "closed" : undefined;
    if (alert.state === "closed") return undefined;
    if (updates.has("opened")) return "opened";
    return alert.state === "open" ? "reminder" : undefined;
  };
}

type DraftEntry = { readonly group: string; readonly id: string; readonly urgency: number };

const alertEntry = ({ alert, update }: RelevantChange): DraftEntry => ({
  group: `${alert.kind} ${updateOf(update, alert)}`,
  id: alert.id,
  urgency: urgencyRank(alert),
});

/** The last one found is the first to be listed. */
const refillEntries = (rows: readonly DeferredNotification[]): DraftEntry[] =>
  rows.flatMap(({ event, sequence }) =>
    event === REFILLED && sequence !== null ? [{ group: event, id: String(sequence), urgency: -sequence }] : [],
  );

function withEntries(draft: DigestDraft, entries: readonly DraftEntry[]): DigestDraft {
  const groups = Map.groupBy(entries, ({ group }) => group);
  const changed = [...groups].map(([key, group]) => {
    const { total, top } = draft[key] ?? { total: 0, top: [] };
    const added = group.map(({ id, urgency }) => ({ id, urgency }));
    const mostUrgent = [...top, ...added].sort((a, b) => a.urgency - b.urgency).slice(0, DIGEST_ABOVE);
    return [key, { total: total + group.length, top: mostUrgent }] as const;
  });
  return { ...draft, ...Object.fromEntries(changed) };
}
