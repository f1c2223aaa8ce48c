// Reads of channels and notifications, in SQL for both engines.

import type { AlertKind } from "../../domain/alerts/alert.ts";
import { type Channel, type ChannelStatus, MAX_HELD, type StoredChannel } from "../../domain/alerts/channel.ts";
import { type Attempt, destinationOf, MAIL_DESTINATION, type Notification } from "../../domain/alerts/notification.ts";
import type { NotificationCounts } from "../../domain/alerts/notification-queue.ts";
import type { ChannelReads, NotificationQuery } from "../../domain/alerts/reads.ts";
import type { Instant } from "../../domain/instant.ts";
import type { Page } from "../../domain/page.ts";
import { storedJson } from "../columns.ts";
import { CHANNEL_COLUMNS, channelOf } from "./channel-tables.ts";
import { type Dialect, equalTo, prefixed, SqlParameters, where } from "./dialect.ts";
import { inRange, type LongReadEngine, limitOffset, pageOf } from "./management-reads.ts";
import { NOTIFICATION_COLUMNS, notificationOf } from "./notification-tables.ts";
import type { Prepare } from "./sql-runner.ts";

export function channelReads(prepare: Prepare): Pick<ChannelReads, "channelList" | "notificationById"> {
  // Sorted without an index: there are few channels.
  const channels = prepare(
    `SELECT ${CHANNEL_COLUMNS}, failing_since, (
       SELECT pending_since FROM notification
       WHERE state = 'pending' AND destination = CASE channel.type WHEN 'email' THEN '${MAIL_DESTINATION}' ELSE channel.id END
       ORDER BY pending_since LIMIT 1
     ) FROM channel ORDER BY created_at DESC, id DESC`, // notification_pending
  );
  const notification = prepare(`SELECT ${NOTIFICATION_COLUMNS} FROM notification WHERE id = $1`);
  return {
    async channelList(): Promise<StoredChannel[]> {
      return (await channels()).map((row) => {
        const [failing_since, pending_since] = row.slice(-2) as (Instant | null)[];
        return { ...channelOf(row), failing_since: failing_since ?? null, pending_since: pending_since ?? null };
      });
    },
    notificationById: async (id: string): Promise<Notification | undefined> => (await notification(id)).map(notificationOf)[0],
  };
}

/** The newest notifications of a channel, from which its status is derived. */
const RECENT = 100;

/** Counts pending notifications and channels. Each row has what it counts, of which, and how many. */
const countsSql = ({ indexedBy }: Dialect): string =>
  `SELECT 'notification', destination, count(*), min(pending_since)
   FROM notification ${indexedBy("notification_pending")} WHERE state = 'pending' GROUP BY destination
   UNION ALL SELECT 'channel', 'disabled', count(*), NULL
   FROM (SELECT state FROM channel ORDER BY id) AS own WHERE state = 'disabled'
   UNION ALL SELECT 'mail', 'channel', count(*), NULL
   FROM (SELECT type, state FROM channel ORDER BY id) AS own WHERE type = 'email' AND state = 'active'`;

/** Whether there is a customer who should get mail about an alert of these kinds that is not closed: 1 or 0. */
const customersSql = ({ indexedBy, optimizerFence }: Dialect, kinds: readonly AlertKind[]): string =>
  `UNION ALL SELECT 'mail', 'customer', count(*), NULL FROM (
     SELECT 1 FROM (
       SELECT owner_id FROM alert ${indexedBy("alert_counted")}
       WHERE kind IN (${kinds.map((_, i) => `$${i + 1}`)}) AND state <> 'closed' ORDER BY kind, state ${optimizerFence}
     ) AS own JOIN customer ON customer.id BETWEEN own.owner_id AND own.owner_id
     WHERE verified_at IS NOT NULL AND unsubscribed_at IS NULL LIMIT 1
   ) AS unsent`; // primary key

/** Reads that count rows, which may be many. */
export function notificationReads(engine: LongReadEngine) {
  const { rows, dialect } = engine;
  return {
    async channelStatus(channel: Pick<Channel, "id" | "type">): Promise<ChannelStatus> {
      const parameters = new SqlParameters();
      const [id, destination] = [parameters.add(channel.id), parameters.add(destinationOf(channel))];
      // notification_due, deferred_notification_by_recipient, notification_by_channel
      const found = await rows(
        `SELECT counted.total, held.total, recent.attempts FROM (
           SELECT count(*) AS total FROM (
             SELECT channel_id FROM notification WHERE state = 'pending' AND ${dialect.equals("destination", destination)}
             ORDER BY destination, due_at ${dialect.optimizerFence}
           ) AS pending WHERE channel_id = ${id}
         ) AS counted
         CROSS JOIN (
           SELECT count(*) AS total FROM (
             SELECT recipient FROM deferred_notification WHERE ${dialect.equals("recipient", id)}
             ORDER BY recipient, due_at, id LIMIT ${MAX_HELD}
           ) AS deferred
         ) AS held
         LEFT JOIN (
           SELECT attempts FROM notification WHERE ${dialect.equals("channel_id", id)}
           ORDER BY channel_id DESC, created_at DESC, id DESC LIMIT ${RECENT}
         ) AS recent ON true`,
        parameters.values,
      );
      const attempts = found
        .flatMap(([, , text]) => (storedJson(text, `a notification of channel ${channel.id}`) ?? []) as Attempt[])
        .sort((a, b) => b.at - a.at);
      return {
        pending: Number(found[0]?.[0]),
        held: Number(found[0]?.[1]),
        last_delivered_at: attempts.find(({ error }) => error === null)?.at ?? null,
        last_error: attempts.find(({ error }) => error !== null)?.error ?? null,
      };
    },

    async notificationPage(query: NotificationQuery): Promise<Page<Notification>> {
      const parameters = new SqlParameters();
      const { sql, order } = matching(engine, query, parameters);
      const sorted = order.map((column) => `found.${column} DESC`).join(", ");
      const found = await rows(
        `SELECT counted.total, ${prefixed("entry", NOTIFICATION_COLUMNS)} FROM (SELECT count(*) AS total FROM ${sql}) AS counted
         LEFT JOIN (SELECT found.id FROM ${sql} ORDER BY ${sorted} ${limitOffset(parameters, query)}) AS page ON true
         LEFT JOIN notification AS entry ON entry.id BETWEEN page.id AND page.id ORDER BY entry.created_at DESC, entry.id DESC`,
        parameters.values,
      );
      return pageOf(found, notificationOf);
    },

    async notificationCounts(unsentKinds: readonly AlertKind[]): Promise<NotificationCounts> {
      const customers = unsentKinds.length === 0 ? "" : customersSql(dialect, unsentKinds);
      const found = await rows(`${countsSql(dialect)} ${customers}`, unsentKinds);
      const countOf = (what: string, name: string): number =>
        Number(found.find((row) => row[0] === what && row[1] === name)?.[2] ?? 0);
      const pending = found.filter(([what]) => what === "notification");
      return {
        pending: pending.reduce((sum, [, , count]) => sum + Number(count), 0),
        oldestPendingAt: pending.length === 0 ? null : Math.min(...pending.map(([, , , oldest]) => Number(oldest))),
        isMailWanted: countOf("notification", MAIL_DESTINATION) + countOf("mail", "channel") + countOf("mail", "customer") > 0,
        channelsDisabled: countOf("channel", "disabled"),
      };
    },
  };
}

/** What matches, as `found`: one condition is looked up in an index, in its order; the others are tested on what is found there. */
function matching({ dialect }: LongReadEngine, query: NotificationQuery, parameters: SqlParameters) {
  const { alert_id, customer_id, channel_id, state } = query;
  const range = inRange(parameters, "created_at", query);
  // notification_by_customer, notification_by_channel, notification_by_state
  const conditions = equalTo(dialect, parameters, { customer_id, channel_id, state });
  if (alert_id !== undefined) {
    // An alert has few. BETWEEN: PostgreSQL would scan a table that it believes to be small.
    const links = `SELECT notification_id FROM notification_alert WHERE alert_id = ${parameters.add(alert_id)} ${dialect.optimizerFence}`;
    const linked = `SELECT notification.* FROM (${links}) AS link
      JOIN notification ON notification.id BETWEEN link.notification_id AND link.notification_id ${dialect.optimizerFence}`;
    return {
      sql: `(SELECT * FROM (${linked}) AS linked ${where([range, ...conditions])}) AS found`,
      order: ["created_at", "id"],
    };
  }
  const [lookup, ...others] = conditions;
  const order = [...(lookup === undefined ? [] : [lookup.order]), "created_at", "id"];
  const columns = [...new Set([...order, ...others.map((condition) => condition.order)])].join(", ");
  const descending = order.map((column) => `${column} DESC`).join(", ");
  const candidates = `SELECT ${columns} FROM notification ${where(lookup === undefined ? [range] : [lookup, range])} ORDER BY ${descending}`;
  return { sql: `(SELECT * FROM (${candidates} ${dialect.optimizerFence}) AS candidate ${where(others)}) AS found`, order };
}
