// Checks channels, events and notifications: what is read when an alert opens, in the feed, and when something is sent.

import { errorInChannel } from "../../domain/alerts/channel.ts";
import { errorInEvent, type StoredEvent } from "../../domain/alerts/event.ts";
import { errorInNotification } from "../../domain/alerts/notification.ts";
import { isObject, parseJson } from "../../domain/validate.ts";
import { fieldsOf, type Row } from "../columns.ts";
import { CHANNEL_COLUMNS, CHANNEL_FIELDS, channelOf } from "../core/channel-tables.ts";
import { prefixed } from "../core/dialect.ts";
import { NOTIFICATION_COLUMNS, NOTIFICATION_FIELDS, notificationOf } from "../core/notification-tables.ts";
import type { RunForIds, RunQuery } from "../core/sql-runner.ts";
import { type CheckedRow, type CheckResult, damagedRow, type Inconsistency, repairable, unrepairable } from "./inconsistency.ts";

/** Payloads of mail may be long. */
const MAX_ROWS = 500;

/** By primary keys. What belongs to a channel may outlive it; customers, tanks and alerts are never removed. */
const CHANNELS = `SELECT ${prefixed("channel", CHANNEL_COLUMNS)}, channel.secret IS NULL, customer.id
  FROM channel LEFT JOIN customer ON customer.id = channel.customer_id ORDER BY channel.id`;
const EVENTS = `SELECT event.sequence, event.at, event.owner_id, event.payload, customer.id
  FROM event LEFT JOIN customer ON customer.id = event.owner_id
  WHERE event.sequence > $1 ORDER BY event.sequence LIMIT ${MAX_ROWS}`;
const NOTIFICATIONS = `SELECT ${prefixed("notification", NOTIFICATION_COLUMNS)}, notification.ended_at, notification.payload,
    customer.id, tank.id
  FROM notification LEFT JOIN customer ON customer.id = notification.customer_id LEFT JOIN tank ON tank.id = notification.tank_id`;
const DRAFTS = `SELECT recipient, content FROM digest_draft WHERE recipient > $1 ORDER BY recipient LIMIT ${MAX_ROWS}`;

type Link = readonly [alertId: string, notificationId: string];

export function notificationOperations({ rows, runForIds }: { readonly rows: RunQuery; readonly runForIds: RunForIds }) {
  return {
    allChannels: () => rows(CHANNELS),
    eventsAfter: (sequence: number) => rows(EVENTS, sequence),
    notificationsAfter: (id: string) =>
      rows(`${NOTIFICATIONS} WHERE notification.id > $1 ORDER BY notification.id LIMIT ${MAX_ROWS}`, id),
    notification: (id: string) => rows(`${NOTIFICATIONS} WHERE notification.id = $1`, id),
    draftsAfter: (recipient: string) => rows(DRAFTS, recipient),
    /** Returns those that are not stored, and whether their alert exists. */
    async missingLinks(links: readonly Link[]) {
      const alertIds = links.map(([alertId]) => alertId);
      const alerts = await runForIds(alertIds, (is) => `SELECT id FROM alert WHERE ${is("id")}`);
      const stored = await runForIds(
        alertIds,
        (is) => `SELECT alert_id, notification_id FROM notification_alert WHERE ${is("alert_id")}`, // primary key
      );
      const known = new Set(alerts.map(([id]) => id));
      const storedLinks = new Set(stored.map((link) => link.join(" ")));
      const checked = links.map((link) => ({ link, isStored: storedLinks.has(link.join(" ")), hasAlert: known.has(link[0]) }));
      return checked.filter(({ isStored, hasAlert }) => !isStored || !hasAlert);
    },
    async addLink([alertId, notificationId]: Link): Promise<void> {
      await rows(
        "INSERT INTO notification_alert (alert_id, notification_id) VALUES ($1, $2) ON CONFLICT DO NOTHING",
        alertId,
        notificationId,
      );
    },
  };
}

type NotificationOperations = ReturnType<typeof notificationOperations>;

const CHANNEL_JSON = ["events", "kinds", "quiet_hours"] as const;

export async function checkChannels(reads: NotificationOperations): Promise<CheckResult[]> {
  return (await reads.allChannels()).map((row) => {
    const error = channelError(row);
    return { where: `channel ${row[0]}`, found: error === undefined ? secretErrors(row) : damagedRow(error) };
  });
}

function secretErrors(row: Row): Inconsistency[] {
  const isMissing = channelOf(row).type === "webhook" && Number(row.at(-2)) === 1;
  return isMissing ? unrepairable("secret: is missing; rotate it, so that deliveries are signed again") : [];
}

function channelError(row: Row): string | undefined {
  const fields = fieldsOf(CHANNEL_FIELDS, row);
  const unreadable = CHANNEL_JSON.find((name) => !isJsonOrNull(fields[name]));
  if (unreadable !== undefined) return `${unreadable}: cannot be read`;
  const channel = channelOf(row);
  const hasCustomer = channel.customer_id === null || row.at(-1) !== null;
  return errorInChannel(channel) ?? (hasCustomer ? undefined : `customer_id: there is no customer ${channel.customer_id}`);
}

const isJsonOrNull = (value: unknown): boolean => value === null || parseJson(String(value)) !== undefined;

export async function checkEvents(reads: NotificationOperations, after: number): Promise<CheckedRow<number>[]> {
  return (await reads.eventsAfter(after)).map(([sequence, at, owner_id, payload, customer]) => {
    const event = { sequence, at, owner_id, payload: String(payload) } as StoredEvent;
    const error = errorInEvent(event) ?? (customer === null ? `owner_id: there is no customer ${owner_id}` : undefined);
    return { key: event.sequence, where: `event ${sequence}`, found: damagedRow(error) };
  });
}

export const checkNotificationsAfter = async (reads: NotificationOperations, id: string): Promise<CheckedRow<string>[]> =>
  checkNotifications(reads, await reads.notificationsAfter(id));

export async function checkNotifications(reads: NotificationOperations, rows: readonly Row[]): Promise<CheckedRow<string>[]> {
  const errors = rows.map(notificationError);
  const missing = await reads.missingLinks(linksIn(rows.filter((_, i) => errors[i] === undefined)));
  const byNotification = Map.groupBy(missing, ({ link }) => link[1]);
  return rows.map((row, i) => {
    const key = row[0] as string;
    return { key, where: `notification ${key}`, found: [...damagedRow(errors[i]), ...linkErrors(byNotification.get(key) ?? [])] };
  });
}

/** Of notifications that can be read. */
export const linksIn = (rows: readonly Row[]): Link[] =>
  rows.map(notificationOf).flatMap(({ id, alert_ids }) => alert_ids.map((alertId): Link => [alertId, id]));

function notificationError(row: Row): string | undefined {
  const { alert_ids, attempts } = fieldsOf(NOTIFICATION_FIELDS, row);
  if (parseJson(String(alert_ids)) === undefined) return "alert_ids: cannot be read";
  if (parseJson(String(attempts)) === undefined) return "attempts: cannot be read";
  const notification = notificationOf(row);
  const error = errorInNotification(notification);
  if (error !== undefined) return error;
  const { state, customer_id, tank_id } = notification;
  const [endedAt, payload, customer, tank] = row.slice(NOTIFICATION_FIELDS.length);
  if ((endedAt === null) !== (state === "pending"))
    return `ended_at: must be ${endedAt === null ? "set" : "null"}, because the state is ${state}`;
  if (!isObject(parseJson(String(payload))?.value)) return "payload: cannot be read";
  if (customer_id !== null && customer === null) return `customer_id: there is no customer ${customer_id}`;
  return tank_id !== null && tank === null ? `tank_id: there is no tank ${tank_id}` : undefined;
}

function linkErrors(missing: Awaited<ReturnType<NotificationOperations["missingLinks"]>>): Inconsistency[] {
  const unknown = missing.find(({ hasAlert }) => !hasAlert);
  if (unknown !== undefined) return damagedRow(`alert_ids: there is no alert ${unknown.link[0]}`);
  return missing.length === 0 ? [] : repairable(`it is not in the list of notifications of alert ${missing[0]?.link[0]}`);
}

export async function checkDrafts(reads: NotificationOperations, after: string): Promise<CheckedRow<string>[]> {
  return (await reads.draftsAfter(after)).map(([recipient, content]) => {
    const isReadable = isObject(parseJson(String(content))?.value);
    const found = damagedRow(isReadable ? undefined : "it cannot be read");
    return { key: recipient as string, where: `draft of a mail to ${recipient}`, found };
  });
}
