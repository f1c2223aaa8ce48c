// A notification: one message to one recipient, with the attempts to send it. Its payload is fixed when it is created, except for
// the tokens of links.

import { errorInClockTimes, formatInstant, formatInstantOrNull, HOUR, type Instant, isInstant, MINUTE } from "../instant.ts";
import { array, idField, instantField, integer, literal, nullable, object, oneOf, text } from "../schema.ts";
import { errorInObject } from "../validate.ts";
import type { Channel } from "./channel.ts";
import { EVENT_TYPES, type EventType } from "./event.ts";

export const NOTIFICATION_STATES = ["pending", "delivered", "failed", "expired"] as const;
export type NotificationState = (typeof NOTIFICATION_STATES)[number];

/** What a mail may be about, besides events. */
const MAIL_EVENTS = ["alert.reminder", "alert.digest", "customer.verification", "channel.disabled"] as const;
export type NotificationEvent = EventType | (typeof MAIL_EVENTS)[number];

/** `status`: that of the HTTP response, or the SMTP reply; null if there was none. */
export type Attempt = {
  readonly at: Instant;
  readonly status: number | null;
  readonly duration_ms: number;
  readonly error: string | null;
};

export type Notification = {
  readonly id: string;
  /** Null: to a customer. */
  readonly channel_id: string | null;
  readonly customer_id: string | null;
  /** To a channel: the only customer whose data it has. Null: it may have data of any, or it is mail to a customer. */
  readonly about_customer: string | null;
  readonly event: NotificationEvent;
  readonly alert_ids: readonly string[];
  /** Null where it is about several tanks, or none. */
  readonly tank_id: string | null;
  readonly state: NotificationState;
  readonly next_attempt_at: Instant | null;
  readonly created_at: Instant;
  readonly attempts: readonly Attempt[];
};

/** `payload`: the bytes that are sent, or a mail as JSON. */
export type NewNotification = Omit<Notification, "state" | "next_attempt_at" | "attempts"> & {
  readonly destination: string;
  readonly due_at: Instant;
  readonly payload: string;
};

/** Where it goes: the id of a webhook channel, or "mail" for all mail, which shares one server. */
export const MAIL_DESTINATION = "mail";
export const destinationOf = ({ id, type }: Pick<Channel, "id" | "type">): string => (type === "webhook" ? id : MAIL_DESTINATION);

export const NotificationObject = object(
  {
    id: idField("Identifier of the notification; of a webhook also its `webhook-id`", "msg_01kxa8w5s0d2f4g6h8j0k2m4n6"),
    object: literal("notification", { description: "Always `notification`" }),
    channel_id: nullable(idField("The channel it is sent to; null: mail to a customer", "chn_01kxa8w5s0d2f4g6h8j0k2m4n6")),
    customer_id: nullable({ ...idField("The customer it is sent to; null: to a channel", ""), examples: [null] }),
    event: oneOf([...EVENT_TYPES, ...MAIL_EVENTS], { description: "What it is about", examples: ["alert.opened"] }),
    alert_ids: array(idField("An alert", "alr_01kxa8w5s0d2f4g6h8j0k2m4n6"), { description: "The alerts it is about" }),
    tank_id: nullable(idField("The tank, if it is about one", "tank_01kxa8w5s0d2f4g6h8j0k2m4n6")),
    state: oneOf(NOTIFICATION_STATES, {
      description: "pending: still to be sent; failed: given up after the last attempt; expired: not sent in time",
      examples: ["delivered"],
    }),
    next_attempt_at: { ...nullable(instantField("When it is sent next")), examples: [null] },
    created_at: instantField("When it was created"),
    attempts: array(
      object(
        {
          at: instantField("When it was sent"),
          status: nullable(integer({ description: "The status of the HTTP response, or of the mail server", examples: [200] })),
          duration_ms: integer({ minimum: 0, description: "How long it took, in milliseconds", examples: [41] }),
          error: nullable(text({ description: "What went wrong", examples: [null] })),
        },
        { description: "An attempt to send it" },
      ),
      { description: "The attempts to send it, oldest first" },
    ),
  },
  { description: "One message to one recipient" },
);

export function notificationObject(notification: Notification) {
  const { id, channel_id, customer_id, event, alert_ids, tank_id, state, next_attempt_at, created_at, attempts } = notification;
  return {
    id,
    object: "notification",
    channel_id,
    customer_id,
    event,
    alert_ids,
    tank_id,
    state,
    next_attempt_at: formatInstantOrNull(next_attempt_at),
    created_at: formatInstant(created_at),
    attempts: attempts.map((attempt) => ({ ...attempt, at: formatInstant(attempt.at) })),
  } as const;
}

/** What is wrong with a stored notification. */
export function errorInNotification(notification: Notification): string | undefined {
  const { created_at, next_attempt_at, attempts, state, channel_id, customer_id } = notification;
  const error = errorInClockTimes({ created_at, next_attempt_at });
  if (error !== undefined) return error;
  const isReadable = Array.isArray(attempts) && attempts.every((attempt: Attempt | null) => isInstant(attempt?.at ?? Number.NaN));
  if (!isReadable) return "attempts: cannot be read";
  if (state === "pending" && next_attempt_at === null) return "next_attempt_at: must not be null, it is pending";
  if ((channel_id === null) === (customer_id === null)) return "channel_id, customer_id: one of them must be null";
  return errorInObject(NotificationObject, notificationObject(notification));
}

const SECOND = 1000;
/** Delay before each attempt: ten attempts of a webhook, over about 75 hours. */
const DELAYS = [0, 5 * SECOND, 5 * MINUTE, 30 * MINUTE, 2 * HOUR, 5 * HOUR, 10 * HOUR, 14 * HOUR, 20 * HOUR, 24 * HOUR] as const;
const JITTER = 0.2;

/** Mail is tried again until it expires. What follows for its recipient waits for it, so the delays are short. */
const MAX_MAIL_DELAY = 30 * MINUTE;

/** How long to wait after `attempts` failed ones; undefined: it has failed permanently. `random` is from 0 to 1. */
export function retryDelay(attempts: number, isMail: boolean, random: number): number | undefined {
  const delay = isMail ? Math.min(DELAYS[attempts] ?? MAX_MAIL_DELAY, MAX_MAIL_DELAY) : DELAYS[attempts];
  return delay === undefined ? undefined : Math.round(delay * (1 + JITTER * (2 * random - 1)));
}
