// The mail to one recipient, from what was collected for it: alerts, tanks and owners as they are now.

import type { Alert } from "../../domain/alerts/alert.ts";
import type { Channel } from "../../domain/alerts/channel.ts";
import type { ComposeSettings } from "../../domain/alerts/compose.ts";
import { refillIn } from "../../domain/alerts/event.ts";
import { MAIL_DESTINATION, type NewNotification } from "../../domain/alerts/notification.ts";
import { newId } from "../../domain/id.ts";
import type { Instant } from "../../domain/instant.ts";
import {
  type AlertGroup,
  type AlertItem,
  alertMail,
  groupAlerts,
  needsDigest,
  type Recipient,
} from "../../domain/mail/alert-mail.ts";
import type { RefillGroup } from "../../domain/mail/refill-section.ts";
import { languageOf, timezoneOf } from "../../domain/mail/region.ts";
import { DIGEST_ABOVE, type TankItem } from "../../domain/mail/section.ts";
import type { ManagedCustomer } from "../../domain/resource.ts";
import { UNSUBSCRIBE_PLACEHOLDER } from "../../domain/unsubscribe.ts";
import type { TankWithOwner } from "./alert-tables.ts";
import type { DigestDraft, DraftedGroup } from "./deferred-tables.ts";
import type { StoreTransaction } from "./transaction.ts";

/** The group of refills in a draft. */
export const REFILLED = "tank.refilled";

/** Who is notified: a customer or a channel. */
export type NotificationRecipient = { readonly id: string } & (
  | { readonly customer: ManagedCustomer; readonly channel?: undefined }
  | { readonly channel: Channel; readonly customer?: undefined }
);

/** The tank may have a new owner, whose data the recipient must not see. */
function isTankVisibleTo({ id, channel }: NotificationRecipient): (tank: TankWithOwner) => boolean {
  const ownerId = channel === undefined ? id : channel.customer_id;
  return ({ tank }) => ownerId === null || tank.owner_id === ownerId;
}

/** The page of the dashboard, which operators and the owner of the tank can open. */
function linkTo({ tank }: TankWithOwner, { publicUrl }: ComposeSettings): string | null {
  return publicUrl === null ? null : `${publicUrl}/tanks/${encodeURIComponent(tank.id)}`;
}

/** Loads only the alerts and refills that the mail lists. None if the recipient may see none of them. */
export async function composedMail(
  tx: StoreTransaction,
  recipient: NotificationRecipient,
  draft: DigestDraft,
  settings: ComposeSettings,
  now: Instant,
): Promise<NewNotification[]> {
  const { [REFILLED]: refilled, ...drafted } = draft;
  const alerts = await tx.alerts(Object.values(drafted).flatMap(({ top }) => top.map(({ id }) => id)));
  const owned = await tx.tanksWithOwners(Array.from(alerts.values(), ({ tank_id }) => tank_id));
  const isShown = isTankVisibleTo(recipient);
  const names = await namesOfUsers(tx, recipient, [...alerts.values()]);
  const items = Object.entries(drafted).flatMap(([key, { top }]) =>
    top.flatMap(({ id }): AlertItem[] => {
      const alert = alerts.get(id);
      const tank = owned.get(alert?.tank_id ?? "");
      if (alert === undefined || tank === undefined || !isShown(tank)) return [];
      const update = key.slice(key.indexOf(" ") + 1) as AlertGroup["update"];
      const acknowledged_by = names.get(alert.acknowledged_by ?? "") ?? alert.acknowledged_by;
      const shown = { ...alert, acknowledged_by };
      const link = alert.close_reason === "tank_deleted" ? null : linkTo(tank, settings);
      return [{ ...tank, alert: shown, update: update === "recovered" ? "closed" : update, link }];
    }),
  );
  const refills = await refillGroup(tx, isShown, settings, refilled);
  const groups = groupAlerts(items).map((group) => ({ ...group, total: draft[`${group.kind} ${group.update}`]?.total ?? 0 }));
  const listed = groups.flatMap((group) => group.items);
  const [first, ...others] = [...listed, ...refills.items];
  if (first === undefined) return [];
  const mail = alertMail(await mailRecipient(tx, recipient, first, settings), groups, now, refills);
  return [
    {
      id: newId("msg", now),
      channel_id: recipient.channel?.id ?? null,
      customer_id: recipient.customer?.customer.id ?? null,
      about_customer: recipient.channel?.customer_id ?? null,
      destination: MAIL_DESTINATION,
      event: eventOf(groups, items, refills),
      alert_ids: listed.map(({ alert }) => alert.id),
      tank_id: others.length === 0 ? first.tank.id : null,
      due_at: now,
      created_at: now,
      payload: JSON.stringify(mail),
    },
  ];
}

/** Staff are named to operators only: a channel for one customer may belong to that customer. */
async function namesOfUsers(
  tx: StoreTransaction,
  { channel }: NotificationRecipient,
  alerts: readonly Alert[],
): Promise<ReadonlyMap<string, string>> {
  const isNamed = channel?.customer_id === null && alerts.some(({ acknowledged_by }) => acknowledged_by !== null);
  return new Map((isNamed ? await tx.userList() : []).map(({ id, name, email }) => [id, name || email]));
}

/** Refills are as in their events; tanks and owners are current. */
async function refillGroup(
  tx: StoreTransaction,
  isShown: (tank: TankWithOwner) => boolean,
  settings: ComposeSettings,
  { total, top }: DraftedGroup = { total: 0, top: [] },
): Promise<RefillGroup> {
  const events = await tx.eventsBySequence(top.map(({ id }) => Number(id)));
  const refills = Array.from(events.values(), ({ payload }) => refillIn(payload));
  const owned = await tx.tanksWithOwners(refills.map(({ tankId }) => tankId));
  const items = refills.flatMap(({ tankId, refill }) => {
    const tank = owned.get(tankId);
    return tank === undefined || !isShown(tank) ? [] : [{ ...tank, refill, link: linkTo(tank, settings) }];
  });
  return { total, items };
}

/** The event that all entries of the mail share; `alert.digest` if they differ or are too many to list. */
function eventOf(groups: readonly AlertGroup[], items: readonly AlertItem[], refills: RefillGroup): NewNotification["event"] {
  const events = new Set<NewNotification["event"]>(items.map(({ update }) => `alert.${update}` as const));
  if (refills.items.length > 0) events.add(REFILLED);
  const [event = "alert.digest"] = events;
  const isTooMany = refills.total > DIGEST_ABOVE || groups.some(({ kind }) => needsDigest(kind, groups));
  return events.size > 1 || isTooMany ? "alert.digest" : event;
}

/** Customers read the language they have chosen, or what is spoken where their tank is. */
async function mailRecipient(
  tx: StoreTransaction,
  { customer, channel }: NotificationRecipient,
  { tank }: TankItem,
  { publicUrl }: ComposeSettings,
): Promise<Recipient> {
  if (channel !== undefined) {
    const { id, to, description, quiet_hours } = channel;
    const timezone = quiet_hours?.timezone ?? null;
    return { type: "operator", to: to ?? "", timezone, channelId: id, channelDescription: description };
  }
  const { country } = tank.location;
  const { email, name } = customer.customer;
  // Each attempt to send the mail makes the token of its link from the secret, which is created here at the latest.
  await tx.unsubscribeSecret();
  return {
    type: "customer",
    to: email,
    name,
    language: customer.notifications.language ?? languageOf(country),
    timezone: timezoneOf(country),
    unsubscribeUrl: `${publicUrl}/unsubscribe?token=${UNSUBSCRIBE_PLACEHOLDER}`,
  };
}
