// How notifications are sent: what a process claims, and what becomes of a notification after an attempt.
//
// A process claims notifications for the time of a lease, sends them, and records the results. What it has not recorded when
// the lease ends is claimed again, by any process: a notification may be sent twice, but with the same id.

import { DAY, HOUR, type Instant, MINUTE } from "../instant.ts";
import type { ManagedCustomer } from "../resource.ts";
import { isObject, parseJson } from "../validate.ts";
import type { AlertKind } from "./alert.ts";
import type { Channel, ChannelSecrets, ChannelType } from "./channel.ts";
import { type Attempt, MAIL_DESTINATION, type Notification, type NotificationState, retryDelay } from "./notification.ts";

export const LEASE_MS = 20_000;
/** An attempt takes no longer. */
export const ATTEMPT_MS = 15_000;
/** Attempts at a time: to one channel, and to the mail server; more would be refused by many servers. */
export const WEBHOOK_CONCURRENCY = 16;
export const MAIL_CONCURRENCY = 5;
/**
 * Notifications due within this time are sent now: the clock of the database may be a little behind that of the process that
 * set their time.
 */
export const MAX_CLOCK_SKEW_MS = 1000;
/** The longest delay of an attempt. */
const MAX_ATTEMPT_DELAY_MS = 30 * HOUR;
/** Quiet hours may add up to a day. What is due later was scheduled too late, by a clock that was wrong. */
export const MAX_DUE_AHEAD_MS = MAX_ATTEMPT_DELAY_MS + DAY;
/** Mail that is pending for longer is not sent any more. */
export const MAIL_EXPIRES_MS = 24 * HOUR;
/** A channel that fails for longer is disabled with the next notification that has failed permanently. */
export const DISABLED_AFTER_MS = 5 * DAY;
/** A notification that is pending for longer is reported. */
export const LATE_MS = 10 * MINUTE;

export type ClaimedNotification = Pick<
  Notification,
  "id" | "channel_id" | "customer_id" | "about_customer" | "event" | "attempts"
> & {
  readonly destination: string;
  readonly lease: string;
  /** Earlier attempts do not count. */
  readonly pending_since: Instant;
  /** When a person last sent it again. */
  readonly sent_again_at: Instant | null;
  readonly payload: string;
};

/** Where a notification goes. Only the sender reads the secrets. */
export type ChannelWithSecrets = Pick<Channel, "id" | "type" | "url" | "to" | "customer_id" | "state"> & ChannelSecrets;

export type Claim = {
  readonly notifications: readonly ClaimedNotification[];
  /** Keyed by the id of the notification. */
  readonly reasonsNotToSend: ReadonlyMap<string, string>;
  /** By id. A channel that is missing has been deleted. */
  readonly channels: ReadonlyMap<string, ChannelWithSecrets>;
};

export type ClaimRequest = { readonly destination: string; readonly limit: number };

/** A destination with pending notifications. `isActive`: its channel exists and is not disabled. */
export type PendingDestination = { readonly destination: string; readonly isDue: boolean; readonly isActive: boolean };

/** Result of one attempt. `error` is null if the notification was delivered. */
export type AttemptResult = {
  /** Status of the HTTP response or the SMTP reply; null without one. */
  readonly status: number | null;
  readonly error: string | null;
  /** No further attempt can succeed. */
  readonly isPermanent?: boolean;
  /** The receiver wants nothing more (410). */
  readonly isGone?: boolean;
  /** How long the receiver wants us to wait. */
  readonly retryAfterMs?: number;
};

/** What an attempt says about the channel. */
type ChannelHealth = "working" | "failing" | "gone";

/** What is written after an attempt, or to release a notification without one. */
export type AttemptRecord = Pick<ClaimedNotification, "id" | "lease" | "attempts" | "channel_id"> & {
  readonly state: NotificationState;
  /** Delay until the next attempt; null if there is none. */
  readonly delayMs: number | null;
  /** Whether quiet hours of the channel postpone the next attempt. */
  readonly isHeldInQuietHours: boolean;
  readonly health: ChannelHealth | null;
};

export type DisabledChannel = Pick<Channel, "id" | "type" | "url"> & { readonly reason: string };

/** `recorded`: the ids of those whose lease was still ours. */
export type RecordedAttempts = {
  readonly recorded: ReadonlySet<string>;
  readonly disabled: readonly DisabledChannel[];
};

/** Who receives a notification: a webhook, an e-mail channel, or a customer by mail. */
export const RECIPIENT_TYPES = ["webhook", "email", "customer"] as const satisfies readonly (ChannelType | "customer")[];
export type RecipientType = (typeof RECIPIENT_TYPES)[number];

export function recipientType({
  destination,
  channel_id,
}: Pick<ClaimedNotification, "destination" | "channel_id">): RecipientType {
  if (destination !== MAIL_DESTINATION) return "webhook";
  return channel_id === null ? "customer" : "email";
}

/** Mail that quiet hours of its channel postpone. */
const isHeldInQuietHours = (claimed: ClaimedNotification): boolean =>
  recipientType(claimed) === "email" && claimed.event !== "channel.test";

/** Releases mail that was just claimed, until quiet hours end. Undefined if it may be sent in quiet hours. */
export function quietHoursRecord(claimed: ClaimedNotification): AttemptRecord | undefined {
  const { sent_again_at, attempts } = claimed;
  const isSentAgain = sent_again_at !== null && attempts.every(({ at }) => at < sent_again_at);
  return isHeldInQuietHours(claimed) && !isSentAgain ? { ...releaseRecord(claimed), isHeldInQuietHours: true } : undefined;
}

/** `random` is from 0 to 1. */
export function recordOf(claimed: ClaimedNotification, attempt: Attempt, result: AttemptResult, random: number): AttemptRecord {
  const { id, lease, channel_id, pending_since } = claimed;
  // The clock may have been set back: the attempt counts all the same.
  const attempts = [...claimed.attempts, { ...attempt, at: Math.max(attempt.at, pending_since) }];
  const tries = attempts.filter(({ at }) => at >= pending_since).length;
  const own = { id, lease, channel_id, attempts, isHeldInQuietHours: isHeldInQuietHours(claimed) };
  if (result.error === null) return { ...own, state: "delivered", delayMs: null, health: "working" };
  const isMail = recipientType(claimed) !== "webhook";
  const delay = result.isPermanent || result.isGone ? undefined : retryDelay(tries, isMail, random);
  const delayMs = delay === undefined ? null : Math.max(delay, result.retryAfterMs ?? 0);
  return { ...own, state: delayMs === null ? "failed" : "pending", delayMs, health: healthAfter(claimed, result) };
}

/** A mail server that fails says nothing about the recipient. */
function healthAfter(claimed: ClaimedNotification, { isGone = false, isPermanent = false }: AttemptResult): ChannelHealth | null {
  if (isGone) return "gone";
  return recipientType(claimed) === "webhook" || isPermanent ? "failing" : null;
}

/** Releases the claim: the notification is due at once, for any process. */
export const releaseRecord = ({ id, lease, channel_id, attempts }: ClaimedNotification): AttemptRecord => ({
  id,
  lease,
  channel_id,
  attempts,
  state: "pending",
  delayMs: 0,
  isHeldInQuietHours: false,
  health: null,
});

/** Recorded in place of an attempt: why nothing was sent. */
export const skippedAttempt = (at: Instant, error: string): Attempt => ({ at, status: null, duration_ms: 0, error });
export const CHANNEL_DISABLED = "the channel is disabled or was deleted";
/** It may be about others: see `mayReceive`. */
export const CHANNEL_LIMITED = "the channel is now limited to a customer, and this may be about others";
export const disabledAttempt = (at: Instant): Attempt => skippedAttempt(at, CHANNEL_DISABLED);

export const failRecord = (claimed: ClaimedNotification, at: Instant, why = CHANNEL_DISABLED): AttemptRecord => ({
  ...releaseRecord(claimed),
  state: "failed",
  delayMs: null,
  attempts: [...claimed.attempts, skippedAttempt(at, why)],
});

/** Undefined for a mail that is damaged, which nobody gets. */
export function addressIn(payload: string): string | undefined {
  const mail = parseJson(payload)?.value;
  return isObject(mail) && typeof mail["to"] === "string" ? mail["to"] : undefined;
}

/**
 * Why a mail must not be sent to the customer any more: it may have waited, or is sent again, and the address may be
 * somebody else's by now.
 */
export function reasonNotToSend(
  { event, payload }: Pick<ClaimedNotification, "event" | "payload">,
  { customer, notifications, deleted }: ManagedCustomer,
): string | undefined {
  if (deleted) return "the customer is deleted";
  if (addressIn(payload) !== customer.email) return "the customer has another address";
  if (event === "customer.verification") return customer.verified_at === null ? undefined : "the address is verified already";
  if (customer.verified_at === null) return "the address is not verified";
  return notifications.unsubscribed_at === null ? undefined : "the customer has unsubscribed";
}

/** Counts for the whole service. */
export type NotificationCounts = {
  readonly pending: number;
  /** When the oldest pending notification was first due, or sent again; in the future if quiet hours hold it. */
  readonly oldestPendingAt: Instant | null;
  /** Mail is pending, or an e-mail channel or a customer is to get some. */
  readonly isMailWanted: boolean;
  readonly channelsDisabled: number;
};

export interface NotificationQueueReads {
  pendingDestinations(now: Instant): Promise<readonly PendingDestination[]>;
  /** `unsentKinds`: alerts that customers should get mail about, and do not, because mail is not configured. */
  notificationCounts(unsentKinds: readonly AlertKind[]): Promise<NotificationCounts>;
}

export interface NotificationQueueWrites {
  claimNotifications(requests: readonly ClaimRequest[], now: Instant): Promise<Claim>;
  /** Records must be in the order in which the attempts ended. */
  recordAttempts(records: readonly AttemptRecord[], now: Instant): Promise<RecordedAttempts>;
  /** Marks pending notifications of a disabled or deleted channel as failed, a limited number at a time. Returns how many. */
  endPending(destination: string, now: Instant): Promise<number>;
  /** Expires mail, and returns its recipients: a limited number. Makes due what a clock that was wrong has scheduled too late. */
  expireAndReschedule(destinations: readonly string[], now: Instant): Promise<readonly RecipientType[]>;
  /** Events and ended notifications that have been kept long enough. Returns how many: a limited number. */
  removeOldNotifications(now: Instant): Promise<number>;
}

export const NOTIFICATION_WARNINGS = ["mail_not_configured", "channels_disabled", "notifications_delayed"] as const;

/** What an operator should know although the service is ready. */
export type NotificationWarning = {
  readonly code: (typeof NOTIFICATION_WARNINGS)[number];
  readonly detail: string;
};

/** `missingForMail`: the settings without which no mail is sent, of those that are not set. */
export function notificationWarnings(
  counts: NotificationCounts,
  missingForMail: readonly string[],
  now: Instant,
): NotificationWarning[] {
  const { pending, oldestPendingAt, isMailWanted, channelsDisabled } = counts;
  const age = oldestPendingAt === null ? 0 : now - oldestPendingAt;
  const warnings: (NotificationWarning | false)[] = [
    isMailWanted &&
      missingForMail.length > 0 && {
        code: "mail_not_configured",
        detail: `Mail cannot be sent: set ${missingForMail.join(", ")}.`,
      },
    channelsDisabled > 0 && { code: "channels_disabled", detail: `Disabled channels: ${channelsDisabled}.` },
    age > LATE_MS && {
      code: "notifications_delayed",
      detail: `Pending notifications: ${pending}, the oldest for ${Math.floor(age / MINUTE)} minutes.`,
    },
  ];
  return warnings.filter((warning) => warning !== false);
}
