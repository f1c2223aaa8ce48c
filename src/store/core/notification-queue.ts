// Sending notifications, as far as the database is concerned: each write is one short transaction.

import { type Channel, mayReceive } from "../../domain/alerts/channel.ts";
import { MAIL_DESTINATION } from "../../domain/alerts/notification.ts";
import {
  type AttemptRecord,
  addressIn,
  CHANNEL_LIMITED,
  type ChannelWithSecrets,
  type Claim,
  type ClaimedNotification,
  type ClaimRequest,
  DISABLED_AFTER_MS,
  type DisabledChannel,
  quietHoursRecord,
  type RecipientType,
  type RecordedAttempts,
  reasonNotToSend,
} from "../../domain/alerts/notification-queue.ts";
import { quietUntil } from "../../domain/alerts/quiet-hours.ts";
import { newId } from "../../domain/id.ts";
import type { Instant } from "../../domain/instant.ts";
import { hashSecret } from "../../domain/key.ts";
import { channelDisabledMail } from "../../domain/mail/service-mail.ts";
import type { ManagedCustomer } from "../../domain/resource.ts";
import { UNSUBSCRIBE_PLACEHOLDER, unsubscribeToken } from "../../domain/unsubscribe.ts";
import { newVerificationToken, TOKEN_PLACEHOLDER, VERIFICATION_MS } from "../../domain/verification.ts";
import type { AttemptWithQuietTime } from "./notification-queue-tables.ts";
import type { StoreTransaction } from "./transaction.ts";

export async function claimNotifications(tx: StoreTransaction, requests: readonly ClaimRequest[], now: Instant): Promise<Claim> {
  const claimed = await tx.claimDue(requests, now);
  const channelIds = new Set(claimed.flatMap(({ channel_id }) => channel_id ?? []));
  const channels = await tx.sendingChannels([...channelIds]);
  const customerIds = [...new Set(claimed.flatMap(({ customer_id }) => customer_id ?? []))];
  const [unsubscribeSecret, ...found] = await Promise.all([
    claimed.some(hasUnsubscribeLink) ? tx.unsubscribeSecret() : "",
    ...customerIds.map(async (id) => [id, await tx.recipientCustomer(id)] as const),
  ]);
  const customers = new Map(found);
  const reasonsNotToSend = findReasonsNotToSend(claimed, channels, customers);
  const sendable = claimed.filter(({ id, channel_id }) => {
    return !reasonsNotToSend.has(id) && channels.get(channel_id ?? "")?.state === "active";
  });
  const held = await holdInQuietHours(tx, sendable, now);
  const notifications = claimed.filter(({ id }) => !held.has(id));
  const withLinks = async (one: ClaimedNotification): Promise<ClaimedNotification> => {
    const customer = customers.get(one.customer_id ?? "");
    if (customer === undefined || reasonsNotToSend.has(one.id)) return one;
    if (one.event === "customer.verification") return withNewLink(tx, one, now);
    return hasUnsubscribeLink(one) ? withUnsubscribeLink(one, customer, unsubscribeSecret) : one;
  };
  return { notifications: await Promise.all(notifications.map(withLinks)), channels, reasonsNotToSend };
}

const hasUnsubscribeLink = ({ event, customer_id, payload }: ClaimedNotification): boolean =>
  customer_id !== null && event !== "customer.verification" && payload.includes(UNSUBSCRIBE_PLACEHOLDER);

/** The same at each attempt. The mail is to the address that the customer has now: otherwise there is a reason not to send it. */
function withUnsubscribeLink(
  notification: ClaimedNotification,
  { customer }: ManagedCustomer,
  secret: string,
): ClaimedNotification {
  const payload = notification.payload.replaceAll(UNSUBSCRIBE_PLACEHOLDER, unsubscribeToken(secret, customer));
  return { ...notification, payload };
}

/** Whoever reads the database, or a backup, must not be able to use the link: it is created for this attempt, and only its hash is stored. */
async function withNewLink(tx: StoreTransaction, notification: ClaimedNotification, now: Instant): Promise<ClaimedNotification> {
  const { customer_id, payload } = notification;
  const token = newVerificationToken();
  const link = { hash: hashSecret(token), customer_id: customer_id ?? "", email: addressIn(payload) ?? "" };
  await tx.addVerification({ ...link, expires_at: now + VERIFICATION_MS });
  return { ...notification, payload: payload.replaceAll(TOKEN_PLACEHOLDER, token) };
}

function findReasonsNotToSend(
  claimed: readonly ClaimedNotification[],
  channels: ReadonlyMap<string, ChannelWithSecrets>,
  customers: ReadonlyMap<string, ManagedCustomer | undefined>,
): ReadonlyMap<string, string> {
  const reasons = new Map<string, string>();
  for (const notification of claimed) {
    const { id, channel_id, customer_id, about_customer } = notification;
    const customer = customers.get(customer_id ?? "");
    const channel = channels.get(channel_id ?? "");
    const isLimited = channel !== undefined && !mayReceive(channel, about_customer);
    const reason = isLimited ? CHANNEL_LIMITED : customer && reasonNotToSend(notification, customer);
    if (reason !== undefined) reasons.set(id, reason);
  }
  return reasons;
}

export async function recordAttempts(
  tx: StoreTransaction,
  records: readonly AttemptRecord[],
  now: Instant,
): Promise<RecordedAttempts> {
  const byChannel = Map.groupBy(records, ({ channel_id }) => channel_id ?? "");
  byChannel.delete("");
  const disabled: DisabledChannel[] = [];
  // Channels are locked in the order of their ids, then notifications, as in all transactions.
  let working: string[] = [];
  for (const id of [...byChannel.keys()].sort()) {
    const own = byChannel.get(id) ?? [];
    if (own.some(({ health }) => health === "working")) working.push(id);
    if (!own.some(isFailure)) continue;
    await tx.setWorking(working);
    working = [];
    const failure = await permanentFailure(tx, id, own, now);
    if (failure === undefined) continue;
    const channel = await disable(tx, id, failure, now);
    if (channel !== undefined) disabled.push({ ...channel, reason: failure.reason });
  }
  await tx.setWorking(working);
  return { recorded: await tx.putAttempts(await afterQuietHours(tx, records, now), now), disabled };
}

/** Postpones mail that is due, but was not sent before quiet hours of its channel began. Returns the ids. */
async function holdInQuietHours(
  tx: StoreTransaction,
  claimed: readonly ClaimedNotification[],
  now: Instant,
): Promise<ReadonlySet<string>> {
  const records = claimed.flatMap((one) => quietHoursRecord(one) ?? []);
  const held = (await afterQuietHours(tx, records, now)).filter(({ quietMs }) => quietMs > 0);
  return tx.putAttempts(held, now);
}

/** Mail that failed is not sent again in quiet hours of its channel. */
async function afterQuietHours(
  tx: StoreTransaction,
  records: readonly AttemptRecord[],
  now: Instant,
): Promise<readonly AttemptWithQuietTime[]> {
  const retried = records.filter(({ delayMs, isHeldInQuietHours }) => isHeldInQuietHours && delayMs !== null);
  const byChannel = await tx.quietHours([...new Set(retried.flatMap(({ channel_id }) => channel_id ?? []))]);
  return records.map((record) => {
    const { channel_id, delayMs, isHeldInQuietHours } = record;
    const quietHours = byChannel.get(channel_id ?? "");
    if (delayMs === null || !isHeldInQuietHours || quietHours === undefined) return { ...record, quietMs: 0 };
    const dueAt = now + delayMs;
    const quietMs = (quietUntil(quietHours, dueAt) ?? dueAt) - dueAt;
    return { ...record, delayMs: delayMs + quietMs, quietMs };
  });
}

/** Why a channel is disabled. A failure from before it was changed does not count: it may have another URL now. */
type ChannelFailure = { readonly reason: string; readonly at: Instant };

const isFailure = ({ health }: AttemptRecord): boolean => health === "failing" || health === "gone";

const isFailing = (records: readonly AttemptRecord[]): boolean =>
  records.findLast(({ health }) => health !== null)?.health === "failing";

/**
 * Stores since when the channel fails without a success. A long time ago is not enough to disable it, because nothing may have been
 * sent since: a notification must have failed with its last attempt, too.
 */
async function permanentFailure(
  tx: StoreTransaction,
  channelId: string,
  records: readonly AttemptRecord[],
  now: Instant,
): Promise<ChannelFailure | undefined> {
  const gone = records.filter(({ health }) => health === "gone").flatMap(({ attempts }) => attempts.at(-1)?.at ?? []);
  if (gone.length > 0) return { reason: "the receiver responded with 410 (gone)", at: Math.max(...gone) };
  if (!isFailing(records)) return undefined;
  const failing = await tx.setFailing(channelId, now);
  const isTooLong = failing !== undefined && failing.now - failing.since >= DISABLED_AFTER_MS;
  const isGivenUp = records.some(({ state, health }) => state === "failed" && health === "failing");
  return isTooLong && isGivenUp ? { reason: "it has failed for five days", at: now } : undefined;
}

/**
 * Disables the channel and notifies the other e-mail channels that are not limited to one customer. `endPending` ends its pending
 * notifications in separate transactions.
 */
async function disable(
  tx: StoreTransaction,
  channelId: string,
  { reason, at }: ChannelFailure,
  now: Instant,
): Promise<Channel | undefined> {
  const active = await tx.channels();
  const channel = active.find(({ id }) => id === channelId);
  if (channel === undefined || !(await tx.disableChannel(channelId, reason, at, now))) return undefined;
  const receivers = active.filter((other) => other.type === "email" && other.customer_id === null && other.id !== channelId);
  const notifications = receivers.map((receiver) => ({
    id: newId("msg", now),
    channel_id: receiver.id,
    customer_id: null,
    about_customer: null,
    destination: MAIL_DESTINATION,
    event: "channel.disabled" as const,
    alert_ids: [],
    tank_id: null,
    due_at: (receiver.quiet_hours && quietUntil(receiver.quiet_hours, now)) ?? now,
    created_at: now,
    payload: JSON.stringify(channelDisabledMail(receiver, channel, reason, now)),
  }));
  await tx.addNotifications(notifications);
  tx.alertWork.addDueNotifications(notifications.length);
  return channel;
}

export async function expireAndReschedule(
  tx: StoreTransaction,
  destinations: readonly string[],
  now: Instant,
): Promise<readonly RecipientType[]> {
  await tx.advanceDue(destinations, now);
  return tx.expireMail(now);
}

export async function removeOldNotifications(tx: StoreTransaction, now: Instant): Promise<number> {
  return (await tx.removeOldEvents(now)) + (await tx.removeEndedNotifications(now));
}
