// Commands that send notifications: a test of a channel, what has failed or expired, or one of them again.

import { type Channel, mayReceive, testEventObject } from "../alerts/channel.ts";
import { destinationOf, type NewNotification, type Notification } from "../alerts/notification.ts";
import { type AuditedChange, differences } from "../audit.ts";
import { type Instant, instantOf } from "../instant.ts";
import { type FailedNotification, findOne, type Lookups } from "../lookups.ts";
import { channelTestMail } from "../mail/service-mail.ts";
import { channelResource, notificationResource } from "../resource.ts";
import { idField, instantField, object } from "../schema.ts";
import { errorsInObject } from "../validate.ts";
import {
  type CommandError,
  type Commands,
  changeSet,
  commandError,
  customerReferenceErrors,
  existing,
  invalidFields,
  isCommandError,
  type PlanResult,
} from "./command.ts";

/** Notifications that are sent again in one transaction. */
export const MAX_RECOVERED = 500;

const since = instantField("Send notifications again that have failed or expired since then");
export const Recovery = object({ since }, { description: "What to send again" });
export const MailRecovery = object(
  { since, customer_id: idField("Only mail to this customer; without it, to all", "cus_01kxa8w5s0v3m4q9t7r2n6c8d1") },
  { description: "Which mail to customers to send again" },
  ["customer_id"],
);

/** A test is an ordinary notification that is due immediately. */
export async function testChannel(lookups: Lookups, { id, newId }: Commands["test_channel"], at: Instant): PlanResult {
  const channel = await activeChannel(lookups, id);
  if (isCommandError(channel)) return channel;
  const notification = testNotification(channel, newId, at);
  const created: Notification = { ...notification, state: "pending", next_attempt_at: at, attempts: [] };
  return changeSet(notificationResource(created), {
    notifications: [notification],
    audit: [{ object: "channel", id, action: "tested", changes: {} }],
  });
}

function testNotification(channel: Channel, id: string, at: Instant): NewNotification {
  const isWebhook = channel.type === "webhook";
  return {
    id,
    channel_id: channel.id,
    customer_id: null,
    about_customer: channel.customer_id,
    event: "channel.test",
    alert_ids: [],
    tank_id: null,
    destination: destinationOf(channel),
    due_at: at,
    created_at: at,
    payload: JSON.stringify(isWebhook ? testEventObject(channel, at) : channelTestMail(channel)),
  };
}

export async function recoverChannel(lookups: Lookups, command: Commands["recover_channel"]): PlanResult {
  const { id, fields, failedBy } = command;
  const channel = await activeChannel(lookups, id);
  if (isCommandError(channel)) return channel;
  const errors = errorsInObject(Recovery, fields);
  if (errors.length > 0) return invalidFields(errors);
  const { since } = fields as { since: string };
  const failed = await lookups.failedNotifications(channel, instantOf(since), failedBy, MAX_RECOVERED);
  const changes = recoveryChanges(since, failed.length);
  return sentAgain(failed, failed.length === 0 ? [] : [{ object: "channel", id, action: "recovered", changes }]);
}

export async function recoverMail(lookups: Lookups, { fields, failedBy }: Commands["recover_mail"]): PlanResult {
  const errors = errorsInObject(MailRecovery, fields);
  if (errors.length > 0) return invalidFields(errors);
  const { since, customer_id = null } = fields as { since: string; customer_id?: string | null };
  if (customer_id !== null) {
    errors.push(...customerReferenceErrors("customer_id", await findOne(lookups.customers, customer_id)));
    if (errors.length > 0) return invalidFields(errors);
  }
  const failed = await lookups.failedMail(customer_id, instantOf(since), failedBy, MAX_RECOVERED);
  const byCustomer = Map.groupBy(failed, (mail) => mail.customer_id);
  const audit = Array.from(byCustomer, ([id, mails]): AuditedChange => {
    return { object: "customer", id, action: "mail_recovered", changes: recoveryChanges(since, mails.length) };
  });
  return sentAgain(failed, audit);
}

const recoveryChanges = (since: string, count: number) => ({
  since: { from: null, to: since },
  notifications: { from: null, to: count },
});

/** `until`: when the last of them failed or expired, from where the next part goes on. */
function sentAgain(failed: readonly FailedNotification[], audit: readonly AuditedChange[]) {
  const object = { recovered: failed.length, until: failed.at(-1)?.ended_at ?? null };
  return changeSet({ object, etag: "" }, { notificationsRetried: failed.map(({ id }) => id), audit });
}

/** One that is pending does not wait for its next attempt. */
export async function retryNotification(lookups: Lookups, { id }: Commands["retry_notification"], at: Instant): PlanResult {
  const before = existing("notification", await findOne(lookups.notifications, id), undefined, notificationResource);
  if (isCommandError(before)) return before;
  const conflict = before.channel_id === null ? await customerConflict(lookups, before) : await channelConflict(lookups, before);
  if (conflict !== undefined) return conflict;
  const after: Notification = { ...before, state: "pending", next_attempt_at: at };
  const changes = differences({ state: before.state }, { state: after.state });
  return changeSet(notificationResource(after), {
    notificationsRetried: [id],
    audit: [{ object: "notification", id, action: "retried", changes }],
  });
}

const OF_OTHERS = "The channel is now limited to a customer, and this notification may be about others.";

async function channelConflict(
  lookups: Lookups,
  { channel_id, about_customer }: Notification,
): Promise<CommandError | undefined> {
  const channel = await activeChannel(lookups, channel_id ?? "");
  if (!isCommandError(channel))
    return mayReceive(channel, about_customer) ? undefined : commandError("state_conflict", OF_OTHERS);
  const isGone = channel.error === "channel_unknown";
  return isGone ? commandError("state_conflict", "The channel of this notification was deleted.") : channel;
}

/** Nobody gets mail about alerts who does not want it. */
async function customerConflict(
  lookups: Lookups,
  { customer_id, event, state }: Notification,
): Promise<CommandError | undefined> {
  const customer = await findOne(lookups.customers, customer_id ?? "");
  if (customer === undefined || customer.deleted) return commandError("state_conflict", "This customer is deleted.");
  if (event === "customer.verification" && state !== "pending")
    return commandError("state_conflict", "A verification link is not sent again: send the customer another one.");
  if (event === "customer.verification" || customer.notifications.unsubscribed_at === null) return undefined;
  return commandError("state_conflict", "This customer has unsubscribed from mail about alerts.");
}

/** What is sent to a disabled channel would wait until it is enabled. */
async function activeChannel(lookups: Lookups, id: string): Promise<Channel | CommandError> {
  const channel = existing("channel", await findOne(lookups.channelsById, id), undefined, channelResource);
  if (isCommandError(channel) || channel.state === "active") return channel;
  return commandError("state_conflict", "This channel is disabled: set its state to active first.");
}
