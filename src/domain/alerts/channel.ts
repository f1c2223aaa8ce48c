// A channel: where the operator is notified, a webhook or an e-mail address.

import { errorInClockTimes, formatDuration, formatInstant, type Instant } from "../instant.ts";
import {
  ADDRESS_PATTERN,
  array,
  durationField,
  idField,
  instantField,
  literal,
  nullable,
  nullableTextField,
  object,
  oneOf,
  TIME_PATTERN,
  text,
} from "../schema.ts";
import { isTimeZone } from "../timezone.ts";
import { errorInObject } from "../validate.ts";
import { ALERT_KINDS, type AlertKind } from "./alert.ts";
import { CHANNEL_EVENTS, type EventType } from "./event.ts";
import { URL_MAX_LENGTH } from "./webhook-url.ts";

export const CHANNEL_TYPES = ["webhook", "email"] as const;
export type ChannelType = (typeof CHANNEL_TYPES)[number];
export const CHANNEL_STATES = ["active", "disabled"] as const;

/** Local times of day; mail is held from one to the other. */
export type QuietHours = { readonly from: string; readonly to: string; readonly timezone: string };

export type Channel = {
  readonly id: string;
  readonly type: ChannelType;
  /** URL of a webhook; null for other types. */
  readonly url: string | null;
  /** Address of an e-mail channel; null for other types. */
  readonly to: string | null;
  /** Null: all. */
  readonly events: readonly EventType[] | null;
  readonly kinds: readonly AlertKind[] | null;
  /** Only about this customer's tanks; null: about all. */
  readonly customer_id: string | null;
  /** Milliseconds; then refills are sent, and of alerts only what is still open and unacknowledged. 0: everything at once. */
  readonly delay: number;
  readonly quiet_hours: QuietHours | null;
  readonly state: (typeof CHANNEL_STATES)[number];
  readonly disabled_reason: string | null;
  readonly description: string | null;
  readonly created_at: Instant;
  readonly updated_at: Instant;
};

/**
 * `failing_since`: since when every attempt has failed. `pending_since`: when the oldest of its notifications that are still to be
 * sent was first due; for e-mail channels, of the oldest mail to anybody.
 */
export type StoredChannel = Channel & { readonly failing_since: Instant | null; readonly pending_since: Instant | null };

/** Larger numbers of held notifications are not counted. */
export const MAX_HELD = 10_000;

/**
 * `pending`: notifications that are still to be sent. `held`: how many are not due yet, or are collected for a mail; at most `MAX_HELD`.
 * The others are of its newest notifications.
 */
export type ChannelStatus = {
  readonly pending: number;
  readonly held: number;
  readonly last_delivered_at: Instant | null;
  readonly last_error: string | null;
};

/** What is needed to send; never part of a response, an audit entry or an export. */
export type ChannelSecrets = {
  /** `whsec_` and base64. Null for e-mail. */
  readonly secret: string | null;
  /** The previous secret; webhooks are also signed with it until `previous_until`. */
  readonly previous_secret: string | null;
  readonly previous_until: Instant | null;
};

/** The longest that mail servers accept. */
const ADDRESS_MAX_LENGTH = 254;

const timeField = (description: string, example: string) => text({ pattern: TIME_PATTERN, description, examples: [example] });

export const QuietHoursObject = object(
  {
    from: timeField("From this time of day", "21:00"),
    to: timeField("Until this time of day", "07:00"),
    timezone: text({ minLength: 1, maxLength: 64, description: "Time zone of `from` and `to`", examples: ["Europe/Berlin"] }),
  },
  { description: "Mail is held from one time of day to the other" },
);

export const isQuietHours = (value: unknown): value is QuietHours =>
  errorInObject(QuietHoursObject, value) === undefined && isTimeZone((value as QuietHours).timezone);

/** The fields that both types have. */
export const CHANNEL_SETTINGS = {
  events: nullable(
    array(oneOf(CHANNEL_EVENTS), {
      minItems: 1,
      maxItems: CHANNEL_EVENTS.length,
      description: "Only these events; null: all",
      examples: [["alert.opened"]],
    }),
  ),
  kinds: nullable(
    array(oneOf(ALERT_KINDS), {
      minItems: 1,
      maxItems: ALERT_KINDS.length,
      description: "Only alerts of these kinds, and no refills; null: all",
      examples: [["low"]],
    }),
  ),
  customer_id: nullable(idField("Only about this customer's tanks; null: about all", "cus_01kxa8w5s0v3m4q9t7r2n6c8d1")),
  delay: nullable(
    durationField(
      "Refills are sent after this time, up to 15d, alerts only if still open and unacknowledged then; null: all at once",
      "4h",
    ),
  ),
  description: nullableTextField("What it is for", "Dispatch"),
};
export const webhookUrl = text({
  minLength: 1,
  maxLength: URL_MAX_LENGTH,
  description: "Where it is sent: https, to a public address or one that WEBHOOK_ALLOW permits",
  examples: ["https://hooks.example.com/tanks"],
});
export const mailAddress = text({
  maxLength: ADDRESS_MAX_LENGTH,
  pattern: ADDRESS_PATTERN,
  description: "The address that mail is sent to",
  examples: ["dispatch@example.com"],
});

export const ChannelObject = object(
  {
    id: idField("Identifier of the channel", "chn_01kxa8w5s0d2f4g6h8j0k2m4n6"),
    object: literal("channel", { description: "Always `channel`" }),
    type: oneOf(CHANNEL_TYPES, { description: "Type of the channel", examples: ["webhook"] }),
    url: nullable(webhookUrl),
    to: { ...nullable(mailAddress), examples: [null] },
    ...CHANNEL_SETTINGS,
    quiet_hours: { ...nullable(QuietHoursObject), examples: [null] },
    state: oneOf(CHANNEL_STATES, { description: "A disabled channel sends nothing", examples: ["active"] }),
    disabled_reason: nullable(text({ description: "Why it is disabled", examples: [null] })),
    created_at: instantField("When the channel was created"),
    updated_at: instantField("When it was last changed"),
  },
  { description: "Where the operator is notified, without its secret" },
);

export function channelObject(channel: Channel) {
  return {
    id: channel.id,
    object: "channel",
    type: channel.type,
    url: channel.url,
    to: channel.to,
    events: channel.events,
    kinds: channel.kinds,
    customer_id: channel.customer_id,
    delay: channel.delay === 0 ? null : formatDuration(channel.delay),
    description: channel.description,
    quiet_hours: channel.quiet_hours,
    state: channel.state,
    disabled_reason: channel.disabled_reason,
    created_at: formatInstant(channel.created_at),
    updated_at: formatInstant(channel.updated_at),
  } as const;
}

/** What is wrong with a stored channel. */
export function errorInChannel(channel: Channel): string | undefined {
  const { type, url, to, quiet_hours, created_at, updated_at } = channel;
  const error = errorInClockTimes({ created_at, updated_at }) ?? errorInObject(ChannelObject, channelObject(channel));
  if (error !== undefined) return error;
  const isWebhook = type === "webhook";
  if ((url !== null) !== isWebhook) return `url: must ${isWebhook ? "not " : ""}be null`;
  if ((to !== null) === isWebhook) return `to: must ${isWebhook ? "" : "not "}be null`;
  const isUnknown = quiet_hours !== null && !isTimeZone(quiet_hours.timezone);
  return isUnknown ? "quiet_hours.timezone: must be a time zone such as Europe/Berlin" : undefined;
}

/**
 * Whether the channel may be sent a notification that was created for it. If it has been limited to a customer since then, the
 * notification may have data of others.
 */
export function mayReceive({ customer_id }: Pick<Channel, "customer_id">, about_customer: string | null): boolean {
  return customer_id === null || customer_id === about_customer;
}

/** What a webhook gets as a test. It is not part of the feed: it has no sequence number. */
export function testEventObject(channel: Channel, at: Instant) {
  return {
    type: "channel.test",
    timestamp: formatInstant(at),
    sequence: null,
    data: { channel: channelObject(channel) },
  } as const;
}

/**
 * Whether a channel wants an event, if it is active; `ownerId` is that of the tank. A channel with `kinds` gets only alerts of these
 * kinds, no refills.
 */
export function wants(channel: Channel, type: EventType, kind: AlertKind | null, ownerId: string): boolean {
  const { events, kinds, customer_id } = channel;
  return (
    (events === null || events.includes(type)) &&
    (kinds === null || (kind !== null && kinds.includes(kind))) &&
    (customer_id === null || customer_id === ownerId)
  );
}
