// Commands that verify the e-mail address of a customer: sending a link, and using it.

import { MAIL_DESTINATION, type NewNotification, type Notification } from "../alerts/notification.ts";
import { MAIL_EXPIRES_MS } from "../alerts/notification-queue.ts";
import { HOUR, type Instant, nextUpdatedAt } from "../instant.ts";
import { findOne, type Lookups } from "../lookups.ts";
import { languageOf } from "../mail/region.ts";
import { verificationMail } from "../mail/service-mail.ts";
import { customerResource, type ManagedCustomer, notificationResource } from "../resource.ts";
import { TOKEN_PLACEHOLDER, type VerificationMail } from "../verification.ts";
import {
  type CommandError,
  type Commands,
  CUSTOMER_DELETED,
  changeSet,
  commandError,
  existing,
  isCommandError,
  type PlanResult,
} from "./command.ts";

const MAX_LINKS = 5;

/** Earlier links of the customer become invalid, and mail with one that is not sent yet is not sent any more. */
export async function requestVerification(
  lookups: Lookups,
  { id, newId, publicUrl }: Commands["request_verification"],
  at: Instant,
): PlanResult {
  const found = existing("customer", await findOne(lookups.customers, id), undefined, customerResource);
  if (isCommandError(found)) return found;
  if (found.deleted) return CUSTOMER_DELETED;
  if (found.customer.verified_at !== null)
    return commandError("state_conflict", "The address of this customer is verified already.");
  const earlier = await lookups.verificationMailSince(id, at - MAIL_EXPIRES_MS);
  const limit = limitError(earlier, at);
  if (limit !== undefined) return limit;
  const pending = earlier.filter(({ isPending }) => isPending).map((mail) => mail.id);
  const { name, email: to } = found.customer;
  const language = await languageFor(lookups, found);
  const notification: NewNotification = {
    id: newId,
    channel_id: null,
    customer_id: id,
    about_customer: null,
    event: "customer.verification",
    alert_ids: [],
    tank_id: null,
    destination: MAIL_DESTINATION,
    due_at: at,
    created_at: at,
    payload: JSON.stringify(verificationMail({ to, language }, name, `${publicUrl}/verify?token=${TOKEN_PLACEHOLDER}`)),
  };
  const created: Notification = { ...notification, state: "pending", next_attempt_at: at, attempts: [] };
  return changeSet(notificationResource(created), {
    notifications: [notification],
    notificationsEnded: pending.length === 0 ? [] : [{ ids: pending, reason: "another link was requested" }],
    verificationsRevoked: [id],
  });
}

/** Mail of the last hour counts, not what was created while the clock was ahead. */
function limitError(earlier: readonly VerificationMail[], at: Instant): CommandError | undefined {
  const sent = earlier.map(({ created_at }) => created_at).filter((created) => created > at - HOUR && created <= at);
  const [oldest] = sent;
  if (oldest === undefined || sent.length < MAX_LINKS) return undefined;
  const retryAfter = Math.max(1, Math.ceil((oldest + HOUR - at) / 1000));
  const detail = `This customer was sent ${sent.length} links within the last hour.`;
  return { ...commandError("rate_limited", detail), retryAfter };
}

/** What the customer has chosen, or what is spoken where their first tank is. */
export async function languageFor(lookups: Lookups, { customer, notifications }: ManagedCustomer) {
  if (notifications.language !== null) return notifications.language;
  return languageOf(await lookups.countryOf(customer.id));
}

/** Once: all links of the customer become invalid. */
export async function verifyCustomer(lookups: Lookups, { hash }: Commands["verify_customer"], at: Instant): PlanResult {
  const link = await lookups.verification(hash);
  const before = link && (await findOne(lookups.customers, link.customer_id));
  const isValid = link !== undefined && link.expires_at > at && before?.deleted === false && before.customer.email === link.email;
  if (!isValid || before === undefined) return commandError("customer_unknown", "This link is invalid or has expired.");
  const { id, updated_at, verified_at } = before.customer;
  const verificationsRevoked = [id];
  if (verified_at !== null) return changeSet(customerResource(before), { verificationsRevoked });
  const after = { ...before, customer: { ...before.customer, verified_at: at, updated_at: nextUpdatedAt(updated_at, at) } };
  return changeSet(customerResource(after), { verificationsRevoked, customers: [{ id, before, after }] });
}
