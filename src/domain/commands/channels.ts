// Commands on channels. Their secrets are created elsewhere and only passed on to be stored: no result and no audit entry has one.

import {
  CHANNEL_SETTINGS,
  CHANNEL_STATES,
  CHANNEL_TYPES,
  type Channel,
  type ChannelType,
  channelObject,
  mailAddress,
  QuietHoursObject,
  webhookUrl,
} from "../alerts/channel.ts";
import { EVENT_RETENTION_MS, type EventType } from "../alerts/event.ts";
import { CHANNEL_DISABLED, CHANNEL_LIMITED } from "../alerts/notification-queue.ts";
import { errorInWebhookUrl, maskedUrl, type WebhookAllow } from "../alerts/webhook-url.ts";
import { type AuditedChange, type AuditedFields, differences } from "../audit.ts";
import { hasSameFields } from "../changes.ts";
import type { FieldError } from "../errors.ts";
import { type Instant, LAST_INSTANT, nextUpdatedAt, parseDuration } from "../instant.ts";
import { findOne, type Lookups } from "../lookups.ts";
import { channelResource } from "../resource.ts";
import { literal, nullable, type ObjectSchema, object, oneOf, partial, type Static } from "../schema.ts";
import { isTimeZone } from "../timezone.ts";
import { errorsInObject, hasError, isObject, type JsonObject } from "../validate.ts";
import {
  type ChannelChange,
  type Commands,
  changeSet,
  commandError,
  customerReferenceErrors,
  existing,
  invalidFields,
  isCommandError,
  type PlanResult,
} from "./command.ts";

const MAX_CHANNELS = 1000;
/** Pending notifications that end when a channel is deleted or limited to a customer; the sender ends the others. */
const MAX_ENDED = 500;
/** A delayed webhook is the event of the feed, which must be kept until then. */
const MAX_CHANNEL_DELAY_MS = EVENT_RETENTION_MS / 2;

const ofWebhook = { url: webhookUrl, ...CHANNEL_SETTINGS };
const ofEmail = { to: mailAddress, ...CHANNEL_SETTINGS, quiet_hours: nullable(QuietHoursObject) };
const state = oneOf(CHANNEL_STATES, { description: "active: enables a disabled channel again", examples: ["active"] });
const settings = Object.keys(CHANNEL_SETTINGS) as (keyof typeof CHANNEL_SETTINGS)[];
const ofType = (type: ChannelType) => literal(type, { description: "Type of the channel" });

export const NewWebhookChannel = object({ type: ofType("webhook"), ...ofWebhook }, { description: "A webhook" }, settings);
export const NewEmailChannel = object({ type: ofType("email"), ...ofEmail }, { description: "An e-mail address" }, [
  ...settings,
  "quiet_hours",
]);
export const WebhookChannelChange = partial({ properties: { ...ofWebhook, state } }, { description: "Changes of a webhook" });
export const EmailChannelChange = partial(
  { properties: { ...ofEmail, quiet_hours: nullable(partial(QuietHoursObject)), state } },
  { description: "Changes of an e-mail channel" },
);
/** Once the quiet hours are merged. */
const MergedEmailChannelChange = partial({ properties: { ...ofEmail, state } });
/** The other fields depend on the type. */
const TypeOnly = object({ type: oneOf(CHANNEL_TYPES) });

type ChannelInput = Partial<Static<typeof WebhookChannelChange> & Static<typeof MergedEmailChannelChange>>;

const CREATED = { webhook: NewWebhookChannel, email: NewEmailChannel };
const CHANGED = { webhook: WebhookChannelChange, email: MergedEmailChannelChange };
const ONLY_FOR: Readonly<Record<string, string>> = { url: "webhooks", to: "e-mail channels", quiet_hours: "e-mail channels" };

export async function createChannel(lookups: Lookups, command: Commands["create_channel"], at: Instant): PlanResult {
  const { newId, fields, secret, webhookAllow } = command;
  const { type } = (fields ?? {}) as { type?: unknown };
  const known = CHANNEL_TYPES.find((one) => one === type);
  if (known === undefined) return invalidFields(errorsInObject(TypeOnly, isObject(fields) ? { type } : fields));
  const errors = await channelErrors(lookups, CREATED[known], fields, webhookAllow);
  if (errors.length > 0) return invalidFields(errors);
  const after = changed(newChannel(newId, known, at), fields as ChannelInput);
  const error = settingsError(after);
  if (error !== undefined) return invalidFields([error]);
  if ((await lookups.channelCount()) >= MAX_CHANNELS) {
    return commandError("state_conflict", `There are ${MAX_CHANNELS} channels, and there cannot be more. Delete one first.`);
  }
  const change = { before: undefined, after, secret: { value: known === "webhook" ? secret : null, previousUntil: null } };
  return changeSet(channelResource(after), { channels: [change], audit: [auditOf(change, newId, "created")] });
}

function newChannel(id: string, type: ChannelType, at: Instant): Channel {
  return {
    id,
    type,
    url: null,
    to: null,
    events: null,
    kinds: null,
    customer_id: null,
    delay: 0,
    quiet_hours: null,
    state: "active",
    disabled_reason: null,
    description: null,
    created_at: at,
    updated_at: at,
  };
}

const DISABLED_MANUALLY = "It was disabled manually.";

export async function changeChannel(lookups: Lookups, command: Commands["change_channel"], at: Instant): PlanResult {
  const { id, ifMatch, webhookAllow } = command;
  const before = existing("channel", await findOne(lookups.channelsById, id), ifMatch, channelResource);
  if (isCommandError(before)) return before;
  const fields = withMergedQuietHours(before, command.fields);
  const errors = await channelErrors(lookups, CHANGED[before.type], fields, webhookAllow);
  if (errors.length > 0) return invalidFields(errors);
  const wanted = changed(before, fields as ChannelInput);
  const error = settingsError(wanted);
  if (error !== undefined) return invalidFields([error]);
  const reason = wanted.state === "active" ? null : (before.disabled_reason ?? DISABLED_MANUALLY);
  const merged = { ...wanted, disabled_reason: reason };
  if (hasSameFields(merged, before)) return changeSet(channelResource(before), {});
  const after = { ...merged, updated_at: nextUpdatedAt(before.updated_at, at) };
  const change = { before, after };
  const ended = await endedNotifications(lookups, change);
  return changeSet(channelResource(after), {
    channels: [change],
    notificationsEnded: ended.ids.length === 0 ? [] : [ended],
    audit: [auditOf(change, id, "changed")],
  });
}

/** What is pending for a channel that is disabled, or limited to a customer, is not sent. */
async function endedNotifications(lookups: Lookups, { before, after }: { readonly before: Channel; readonly after: Channel }) {
  if (after.state === "disabled" && before.state === "active") {
    return { ids: await lookups.pendingNotifications(after, MAX_ENDED, null), reason: CHANNEL_DISABLED };
  }
  const isLimited = after.customer_id !== null && after.customer_id !== before.customer_id;
  return {
    ids: isLimited ? await lookups.pendingNotifications(after, MAX_ENDED, after.customer_id) : [],
    reason: CHANNEL_LIMITED,
  };
}

/** Its pending notifications end; its deferred ones are removed. */
export async function deleteChannel(lookups: Lookups, { id, ifMatch }: Commands["delete_channel"]): PlanResult {
  const before = existing("channel", await findOne(lookups.channelsById, id), ifMatch, channelResource);
  if (isCommandError(before)) return before;
  const change = { before, after: undefined };
  const { object, etag } = channelResource(before);
  return changeSet(
    { object: { id, object: object["object"], deleted: true }, etag },
    {
      channels: [change],
      notificationsEnded: [
        { ids: await lookups.pendingNotifications(before, MAX_ENDED, null), reason: "the channel was deleted" },
      ],
      audit: [auditOf(change, id, "deleted")],
    },
  );
}

export async function rotateChannel(lookups: Lookups, command: Commands["rotate_channel"], at: Instant): PlanResult {
  const { id, overlap, secret } = command;
  const before = existing("channel", await findOne(lookups.channelsById, id), undefined, channelResource);
  if (isCommandError(before)) return before;
  if (before.type !== "webhook") return commandError("state_conflict", "Only webhooks have a secret: this is an e-mail channel.");
  const after = { ...before, updated_at: nextUpdatedAt(before.updated_at, at) };
  const previousUntil = overlap === 0 ? null : Math.min(at + overlap, LAST_INSTANT);
  const change = { before, after, secret: { value: secret, previousUntil } };
  return changeSet(channelResource(after), { channels: [change], audit: [auditOf(change, id, "rotated")] });
}

/** `fields` have been validated. */
function changed(before: Channel, fields: ChannelInput): Channel {
  const { delay, ...others } = fields;
  const given = delay === undefined ? {} : { delay: delay === null ? 0 : (parseDuration(delay) ?? 0) };
  return { ...before, ...others, ...given };
}

/** A channel with a delay gets other events only of alerts that it was sent when they were still open. */
const AFTER_DELAY: readonly EventType[] = ["alert.opened", "tank.refilled"];
/** Of settings with which a channel would never get anything. */
function settingsError({ delay, events, kinds }: Channel): FieldError | undefined {
  if (events === null) return undefined;
  if (kinds !== null && events.every((event) => event === "tank.refilled")) {
    return { field: "kinds", message: "must be null: kinds selects alerts, and events contains only tank.refilled" };
  }
  if (delay === 0 || events.some((event) => AFTER_DELAY.includes(event))) return undefined;
  const why = "a channel with a delay gets other events only of alerts whose opening it was sent";
  return { field: "events", message: `must contain ${AFTER_DELAY.join(" or ")}: ${why}` };
}

/** Part of them may be given, as in any merge patch. */
function withMergedQuietHours({ quiet_hours }: Channel, fields: unknown): unknown {
  if (!isObject(fields) || !isObject(fields["quiet_hours"]) || quiet_hours === null) return fields;
  return { ...fields, quiet_hours: { ...quiet_hours, ...fields["quiet_hours"] } };
}

async function channelErrors(
  lookups: Lookups,
  schema: ObjectSchema,
  fields: unknown,
  webhookAllow: WebhookAllow,
): Promise<FieldError[]> {
  if (!isObject(fields)) return errorsInObject(schema, fields);
  const { customer_id } = fields;
  const errors = errorsInObject(schema, fields).map((error) => ({ ...error, message: messageFor(schema, error) }));
  const more = [
    ...urlErrors(fields, webhookAllow),
    ...repetitionErrors("events", fields),
    ...repetitionErrors("kinds", fields),
    ...delayErrors(fields),
    ...quietHoursErrors(fields),
    ...(typeof customer_id === "string"
      ? customerReferenceErrors("customer_id", await findOne(lookups.customers, customer_id))
      : []),
  ];
  return [...errors, ...more.filter(({ field }) => !hasError(errors, field))];
}

/** A field of the other type, or the type itself in a change, is known, but not here. */
function messageFor({ properties = {} }: ObjectSchema, { field, message }: FieldError): string {
  if (Object.hasOwn(properties, field)) return message;
  if (field === "type") return "cannot be changed: create another channel";
  return Object.hasOwn(ONLY_FOR, field) ? `is only for ${ONLY_FOR[field]}` : message;
}

function urlErrors({ url }: JsonObject, webhookAllow: WebhookAllow): FieldError[] {
  const message = typeof url === "string" ? errorInWebhookUrl(url, webhookAllow) : undefined;
  return message === undefined ? [] : [{ field: "url", message }];
}

function repetitionErrors(field: "events" | "kinds", { [field]: list }: JsonObject): FieldError[] {
  if (!Array.isArray(list)) return [];
  const seen = new Set<unknown>();
  return list.flatMap((value, i) => {
    const before = seen.size;
    return seen.add(value).size === before ? [{ field: `${field}[${i}]`, message: `repeats ${JSON.stringify(value)}` }] : [];
  });
}

function delayErrors({ delay }: JsonObject): FieldError[] {
  const isTooLong = typeof delay === "string" && (parseDuration(delay) ?? 0) > MAX_CHANNEL_DELAY_MS;
  return isTooLong ? [{ field: "delay", message: "must be at most 15d" }] : [];
}

function quietHoursErrors({ quiet_hours: given }: JsonObject): FieldError[] {
  if (!isObject(given)) return [];
  const { from, to, timezone } = given;
  const errors: FieldError[] = [];
  if (typeof from === "string" && from === to) {
    errors.push({ field: "quiet_hours.to", message: "must not be the time at which the quiet hours begin" });
  }
  if (typeof timezone === "string" && !isTimeZone(timezone)) {
    errors.push({ field: "quiet_hours.timezone", message: 'must be a known time zone such as "Europe/Berlin"' });
  }
  return errors;
}

function auditOf({ before, after }: ChannelChange, id: string, action: AuditedChange["action"]): AuditedChange {
  const changes = differences(before === undefined ? {} : auditedFields(before), after === undefined ? {} : auditedFields(after));
  const isMoved = before !== undefined && after !== undefined && before.url !== after.url && changes["url"] === undefined;
  const masked = maskedUrl(before?.url ?? "");
  return {
    object: "channel",
    id,
    action,
    changes: isMoved ? { ...changes, url: { from: masked, to: `${masked} (with another path or query)` } } : changes,
  };
}

/** Path and query of a URL may contain a secret. */
function auditedFields(channel: Channel): AuditedFields {
  const { id, object, created_at, updated_at, url, ...fields } = channelObject(channel);
  return { ...fields, url: url === null ? null : maskedUrl(url) };
}
