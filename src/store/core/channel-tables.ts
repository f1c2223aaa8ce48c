// What commands read and write of channels and notifications, in SQL for both engines.

import type { Channel } from "../../domain/alerts/channel.ts";
import { destinationOf, type Notification } from "../../domain/alerts/notification.ts";
import { noAttempt } from "../../domain/alerts/notification-queue.ts";
import type { ChannelChange } from "../../domain/commands/command.ts";
import type { Instant } from "../../domain/instant.ts";
import type { FailedNotification } from "../../domain/lookups.ts";
import type { Row } from "../columns.ts";
import { CHANNEL_COLUMNS, CHANNEL_FIELDS, channelOf } from "./alert-tables.ts";
import { rowsForIds } from "./many-rows.ts";
import type { Prepare } from "./reads.ts";

const jsonOrNull = (value: object | null): string | null => (value === null ? null : JSON.stringify(value));

const channelValues = (channel: Channel): (string | number | null)[] => [
  channel.id,
  channel.type,
  channel.url,
  channel.to,
  jsonOrNull(channel.events),
  jsonOrNull(channel.kinds),
  channel.customer_id,
  channel.delay,
  jsonOrNull(channel.quiet_hours),
  channel.state,
  channel.disabled_reason,
  channel.description,
  channel.created_at,
  channel.updated_at,
];

/** All columns but the payload, which may contain links that only the recipient may use. */
export const NOTIFICATION_COLUMNS = "id, channel_id, customer_id, event, alert_ids, tank_id, state, due_at, created_at, attempts";

export function notificationOf(row: Row): Notification {
  const [id, channel_id, customer_id, event, alert_ids, tank_id, state, due_at, created_at, attempts] = row;
  return {
    ...{ id, channel_id, customer_id, event, tank_id, state, created_at },
    alert_ids: JSON.parse(String(alert_ids)),
    next_attempt_at: state === "pending" ? due_at : null,
    attempts: JSON.parse(String(attempts)),
  } as Notification;
}

const INSERT = `INSERT INTO channel (${CHANNEL_COLUMNS}, secret)
  VALUES (${[...CHANNEL_FIELDS, "secret"].map((_, i) => `$${i + 1}`).join(", ")})`;
const UPDATE = `UPDATE channel SET ${CHANNEL_FIELDS.map((name, i) => `${name} = $${i + 1}`).join(", ")} WHERE id = $1`;
const ROTATE = `UPDATE channel SET secret = $2, previous_until = $3,
  previous_secret = CASE WHEN CAST($3 AS bigint) IS NULL THEN NULL ELSE secret END WHERE id = $1`;
/** Delay and quiet hours may have changed. What quiet hours still hold is postponed again when it is composed. */
const RESCHEDULE = `UPDATE planned_notification
  SET due_at = CASE WHEN created_at + $2 > $3 THEN created_at + $2 ELSE $3 END WHERE recipient = $1`; // planned_notification_by_recipient

/** The column `attempts` with one more; `attempt` is a parameter. */
export const withAttempt = (attempt: string): string =>
  `CASE WHEN attempts = '[]' THEN '[' ELSE substr(attempts, 1, length(attempts) - 1) || ',' END || CAST(${attempt} AS text) || ']'`;

export function channelTables(prepare: Prepare) {
  async function putChannel({ before, after, secret }: ChannelChange): Promise<void> {
    if (before !== undefined && after === undefined) {
      await prepare("DELETE FROM channel WHERE id = $1")(before.id);
      await prepare("DELETE FROM planned_notification WHERE recipient = $1")(before.id); // planned_notification_by_recipient
      await prepare("DELETE FROM digest_draft WHERE recipient = $1")(before.id);
      return;
    }
    if (after === undefined) return;
    if (before === undefined) {
      await prepare(INSERT)(...channelValues(after), secret?.value ?? null);
      return;
    }
    await prepare(UPDATE)(...channelValues(after));
    await prepare(RESCHEDULE)(after.id, after.delay, after.updated_at);
    if (secret !== undefined) await prepare(ROTATE)(after.id, secret.value, secret.previousUntil);
    // What failed before says nothing about a channel that is enabled again, or has another address.
    const isRenewed = before.state !== after.state || before.url !== after.url || before.to !== after.to;
    if (isRenewed) await prepare("UPDATE channel SET failing_since = NULL WHERE id = $1")(after.id);
  }

  return {
    /** An update locks them. */
    async channelsById(ids: readonly string[]): Promise<ReadonlyMap<string, Channel>> {
      const sql = (all: string) => `UPDATE channel SET state = state WHERE id IN (${all}) RETURNING ${CHANNEL_COLUMNS}`;
      return new Map((await rowsForIds(prepare, ids, sql)).map(channelOf).map((channel) => [channel.id, channel]));
    },

    async channelCount(): Promise<number> {
      return Number((await prepare("SELECT count(*) FROM (SELECT id FROM channel ORDER BY id) AS every")())[0]?.[0]);
    },

    async putChannels(changes: readonly ChannelChange[]): Promise<void> {
      for (const change of changes) await putChannel(change);
    },

    async notifications(ids: readonly string[]): Promise<ReadonlyMap<string, Notification>> {
      const rows = await rowsForIds(
        prepare,
        ids,
        (all) => `SELECT ${NOTIFICATION_COLUMNS} FROM notification WHERE id IN (${all})`,
      );
      return new Map(rows.map(notificationOf).map((notification) => [notification.id, notification]));
    },

    async failedNotifications(
      channelId: string,
      since: Instant,
      failedBy: Instant,
      limit: number,
    ): Promise<readonly FailedNotification[]> {
      const rows = await prepare(
        `SELECT id, created_at FROM notification
         WHERE channel_id = $1 AND created_at >= $2 AND state IN ('failed', 'expired') AND ended_at <= $3
         ORDER BY channel_id, created_at, id LIMIT $4`, // notification_by_channel
      )(channelId, since, failedBy, limit);
      return rows.map(([id, created_at]) => ({ id: String(id), created_at: Number(created_at) }));
    },

    async pendingNotifications(channel: Pick<Channel, "id" | "type">, limit: number): Promise<readonly string[]> {
      const rows = await prepare(
        `SELECT id FROM notification WHERE state = 'pending' AND destination BETWEEN $1 AND $1 AND channel_id = $2
         ORDER BY destination, due_at LIMIT $3`, // notification_due
      )(destinationOf(channel), channel.id, limit);
      return rows.map(([id]) => String(id));
    },

    /** What is pending and not being sent is due now; what had ended is pending, as if it were new. */
    async retryNotifications(ids: readonly string[], at: Instant): Promise<void> {
      await rowsForIds(
        prepare,
        ids,
        (all) =>
          `UPDATE notification SET state = 'pending', due_at = $1, ended_at = NULL, lease = NULL,
             pending_since = CASE WHEN state = 'pending' THEN pending_since ELSE $1 END
           WHERE id IN (${all}) AND (state <> 'pending' OR lease IS NULL AND due_at > $1)`,
        at,
      );
    },

    async endNotifications(ids: readonly string[], at: Instant): Promise<void> {
      await rowsForIds(
        prepare,
        ids,
        (all) =>
          `UPDATE notification SET state = 'failed', due_at = NULL, ended_at = $1, lease = NULL,
             attempts = ${withAttempt("$2")}
           WHERE id IN (${all}) AND state = 'pending'`,
        at,
        JSON.stringify(noAttempt(at, "The channel was deleted.")),
      );
    },
  };
}
