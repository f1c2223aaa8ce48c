// Owners, channels and the mail composed for them, on a store.

import type { ComposeSettings } from "../../src/domain/alerts/compose.ts";
import { MAIL_DESTINATION } from "../../src/domain/alerts/notification.ts";
import type { Customer, NotificationSettings } from "../../src/domain/customer.ts";
import { DEFAULT_NOTIFICATION_SETTINGS } from "../../src/domain/customer.ts";
import type { Mail } from "../../src/domain/mail/mail.ts";
import type { Store } from "../../src/domain/store.ts";
import { at, executed } from "../support/commands.ts";
import { incomingBatch } from "../support/readings.ts";
import { customer, NEW_YEAR, putTanks, tank } from "./conformance/objects.ts";
import type { Engine, Opened } from "./engines.ts";
import { runSql } from "./raw-sql.ts";

export const SECOND = 1000;
export const MINUTE = 60 * SECOND;
export const HOUR = 60 * MINUTE;
export const DAY = 24 * HOUR;
export const NOON = Date.parse("2026-06-01T12:00:00Z");
export const PUBLIC_URL = "https://tanks.example.com/monitor";
export const SETTINGS = { publicUrl: PUBLIC_URL };

type Sent = Mail & {
  readonly id: string;
  readonly event: string;
  readonly alertIds: readonly string[];
  readonly tankId: unknown;
};

/** All composed mail, oldest first. */
export async function mails({ url }: Pick<Opened, "url">): Promise<Sent[]> {
  const sql =
    "SELECT id, event, alert_ids, tank_id, payload FROM notification WHERE destination = 'mail' ORDER BY created_at, id";
  return (await runSql(url, sql)).map(({ id, event, alert_ids, tank_id, payload }) => ({
    ...(JSON.parse(String(payload)) as Mail),
    ...{ id: String(id), event: String(event), alertIds: JSON.parse(String(alert_ids)), tankId: tank_id },
  }));
}

/** Pending mail as the sender gets it, as if it had been composed now. */
export async function claimedMails({ store, url }: Pick<Opened, "store" | "url">): Promise<Mail[]> {
  const now = Date.now();
  const isPending = `destination = '${MAIL_DESTINATION}' AND state = 'pending'`;
  await runSql(url, `UPDATE notification SET lease = NULL, due_at = ${now}, pending_since = ${now} WHERE ${isPending}`);
  const { notifications } = await store.claimNotifications([{ destination: MAIL_DESTINATION, limit: 100 }], now);
  return notifications.map(({ payload }) => JSON.parse(payload) as Mail);
}

export const subjects = async (opened: Pick<Opened, "url">) => (await mails(opened)).map(({ subject }) => subject);

export async function deferred({ url }: Pick<Opened, "url">): Promise<number> {
  return Number((await runSql(url, "SELECT count(*) AS count FROM deferred_notification"))[0]?.["count"]);
}

/** Columns of a notification that has ended. */
export const ENDED = (state: "delivered" | "failed" | "expired"): string =>
  `state = '${state}', due_at = NULL, ended_at = created_at`;

/** For the recipient whose notification is due first. */
export async function composeNext(store: Store, now: number, settings: ComposeSettings = SETTINGS): Promise<boolean> {
  const next = await store.nextDeferred();
  return next !== undefined && next.dueAt <= now && store.composeNotifications(next.recipientId, settings, now);
}

/** Everything that is due, after the mail before has been delivered; returns the number of steps. */
export async function compose(
  { store, url }: Pick<Opened, "store" | "url">,
  now: number,
  settings: ComposeSettings = SETTINGS,
): Promise<number> {
  let steps = 0;
  await runSql(url, `UPDATE notification SET ${ENDED("delivered")} WHERE destination = 'mail' AND state = 'pending'`);
  while (await composeNext(store, now, settings)) steps++;
  return steps;
}

export const measure = (store: Store, fill: number, now: number, ...tanks: string[]) =>
  store.ingest({ ...incomingBatch(tanks.map((id) => ({ tank: id, fill, at: now }))), receivedAt: now });

type OwnerFields = Partial<Customer> & { readonly settings?: Partial<NotificationSettings> };

/** A verified customer with tanks whose threshold is 20. */
export async function putOwner(store: Store, id: string, tanks: readonly string[], fields: OwnerFields = {}): Promise<void> {
  const { settings, ...rest } = fields;
  const own = customer(id, { email: `${id}@customers.example`, verified_at: NEW_YEAR, ...rest });
  await store.importCustomers([
    { customer: own, deleted: false, notifications: { ...DEFAULT_NOTIFICATION_SETTINGS, ...settings } },
  ]);
  if (tanks.length > 0) await putTanks(store, ...tanks.map((name) => tank(name, id)));
}

export const putChannel = (store: Store, newId: string, fields: object) =>
  executed(store, { type: "create_channel", newId, fields, secret: "whsec_x", webhookAllow: [] }, at(NOON - DAY));
export const putMailChannel = (store: Store, fields: object = {}) =>
  putChannel(store, "chn_mail", { type: "email", to: "dispatch@operator.example", ...fields });

export const AFTERNOON = { from: "11:00", to: "23:00", timezone: "UTC" };
export const LOW_SUBJECT = "Tank low, 10%: Tank t1";

export const changeChannel = (store: Store, id: string, fields: object, now: number) =>
  executed(store, { type: "change_channel", id, fields, webhookAllow: [] }, at(now));
export const webhooks = async ({ url }: Opened) =>
  (await runSql(url, "SELECT event FROM notification WHERE destination = 'chn_hook' ORDER BY id")).map(({ event }) => event);

/** `t1`, a tank of a customer who gets no mail. */
export async function openWithTank(t: Parameters<Engine["open"]>[0], engine: Engine): Promise<Opened> {
  const opened = await engine.open(t);
  await putOwner(opened.store, "a", ["t1"], { settings: { unsubscribed_at: NOON } });
  return opened;
}
