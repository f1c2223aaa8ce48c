// The table of notifications, in SQL for both engines: what commands read and write, and what is added with an alert. Sending
// them is in `notification-queue-tables.ts`.

import type { Channel } from "../../domain/alerts/channel.ts";
import { destinationOf, MAIL_DESTINATION, type NewNotification, type Notification } from "../../domain/alerts/notification.ts";
import { skippedAttempt } from "../../domain/alerts/notification-queue.ts";
import type { Instant } from "../../domain/instant.ts";
import type { FailedMail, FailedNotification } from "../../domain/lookups.ts";
import { fieldsOf, type Row, storedJson, valuesOf } from "../columns.ts";
import type { Dialect } from "./dialect.ts";
import type { SqlRunner } from "./sql-runner.ts";

/** What is read: not the payload, which may contain links that only the recipient may use. */
export const NOTIFICATION_FIELDS = [
  "id",
  "channel_id",
  "customer_id",
  "about_customer",
  "event",
  "alert_ids",
  "tank_id",
  "state",
  "due_at",
  "created_at",
  "attempts",
] as const;
export const NOTIFICATION_COLUMNS = NOTIFICATION_FIELDS.join(", ");

export function notificationOf(row: Row): Notification {
  const { alert_ids, due_at, attempts, ...notification } = fieldsOf(NOTIFICATION_FIELDS, row);
  const json = (text: unknown): unknown => storedJson(text, `notification ${notification.id}`);
  return {
    ...notification,
    alert_ids: json(alert_ids),
    next_attempt_at: notification.state === "pending" ? due_at : null,
    attempts: json(attempts),
  } as Notification;
}

const INSERTED_FIELDS = [...NOTIFICATION_FIELDS, "destination", "pending_since", "payload"] as const;

/** The column `attempts` with one more; `attempt` is a parameter. */
export const withAttempt = (attempt: string): string =>
  `CASE WHEN attempts = '[]' THEN '[' ELSE substr(attempts, 1, length(attempts) - 1) || ',' END || CAST(${attempt} AS text) || ']'`;

export function notificationTables(
  { prepare, insert, runForIds }: SqlRunner,
  { isLive, indexedBy, equals }: Pick<Dialect, "isLive" | "indexedBy" | "equals">,
) {
  return {
    async addNotifications(notifications: readonly NewNotification[]): Promise<void> {
      // `pending_since` is `due_at`: time in quiet hours does not count towards expiry.
      const rows = notifications.map((one) =>
        valuesOf(INSERTED_FIELDS, {
          ...one,
          alert_ids: JSON.stringify(one.alert_ids),
          state: "pending",
          attempts: "[]",
          pending_since: one.due_at,
        }),
      );
      await insert("notification", INSERTED_FIELDS, rows);
      const links = notifications.flatMap(({ id, alert_ids }) => alert_ids.map((alertId) => [alertId, id]));
      await insert("notification_alert", ["alert_id", "notification_id"], links);
    },

    async notifications(ids: readonly string[]): Promise<ReadonlyMap<string, Notification>> {
      const rows = await runForIds(ids, (is) => `SELECT ${NOTIFICATION_COLUMNS} FROM notification WHERE ${is("id")}`);
      return new Map(rows.map(notificationOf).map((notification) => [notification.id, notification]));
    },

    async failedNotifications(
      { id, customer_id }: Pick<Channel, "id" | "customer_id">,
      since: Instant,
      failedBy: Instant,
      limit: number,
    ): Promise<readonly FailedNotification[]> {
      const rows = await prepare(
        `SELECT id, ended_at FROM notification ${indexedBy("notification_unsent")}
         WHERE channel_id = $1 AND state IN ('failed', 'expired') AND ended_at BETWEEN $2 AND $3
           AND (CAST($4 AS text) IS NULL OR about_customer = $4)
         ORDER BY channel_id, ended_at, id LIMIT $5`,
      )(id, since, failedBy, customer_id, limit);
      return rows.map(([id, ended_at]) => ({ id: String(id), ended_at: Number(ended_at) }));
    },

    async failedMail(
      customerId: string | null,
      since: Instant,
      failedBy: Instant,
      limit: number,
    ): Promise<readonly FailedMail[]> {
      // notification_unsent_mail, primary key. Links that verify an address are not sent again.
      const rows = await prepare(
        `SELECT mail.id, mail.ended_at, mail.customer_id FROM notification AS mail ${indexedBy("notification_unsent_mail")}
         WHERE mail.customer_id IS NOT NULL AND mail.state IN ('failed', 'expired')
           AND mail.ended_at BETWEEN $1 AND $2 AND mail.event <> 'customer.verification'
           AND (CAST($3 AS text) IS NULL OR mail.customer_id = $3) AND EXISTS (
             SELECT 1 FROM customer WHERE ${equals("customer.id", "mail.customer_id")}
               AND verified_at IS NOT NULL AND unsubscribed_at IS NULL AND ${isLive("customer")}
           )
         ORDER BY mail.ended_at, mail.id LIMIT $4`,
      )(since, failedBy, customerId, limit);
      return rows.map(([id, ended_at, customer_id]) => ({
        id: String(id),
        ended_at: Number(ended_at),
        customer_id: String(customer_id),
      }));
    },

    async pendingNotifications(
      channel: Pick<Channel, "id" | "type">,
      limit: number,
      exceptAbout: string | null,
    ): Promise<readonly string[]> {
      const rows = await prepare(
        `SELECT id FROM notification WHERE state = 'pending' AND destination BETWEEN $1 AND $1 AND channel_id = $2
           AND (CAST($3 AS text) IS NULL OR about_customer IS NULL OR about_customer <> $3)
         ORDER BY destination, due_at LIMIT $4`, // notification_due
      )(destinationOf(channel), channel.id, exceptAbout, limit);
      return rows.map(([id]) => String(id));
    },

    /**
     * A person sends these again. What is pending and not being sent is due now, also in quiet hours; what had ended is pending, as if it
     * were new. So is a pending webhook: sending it often would use up its attempts. Pending mail has no number of attempts, but a time when it expires.
     */
    async retryNotifications(ids: readonly string[], at: Instant): Promise<void> {
      await runForIds(
        ids,
        (is) =>
          `UPDATE notification SET state = 'pending', sent_again_at = $1, ended_at = NULL, lease = NULL,
             due_at = CASE WHEN state = 'pending' AND due_at < $1 THEN due_at ELSE $1 END,
             pending_since = CASE WHEN state = 'pending' AND destination = '${MAIL_DESTINATION}' AND pending_since < $1
               THEN pending_since ELSE $1 END
           WHERE ${is("id")} AND (state <> 'pending' OR lease IS NULL)`,
        at,
      );
    },

    /** Marks pending notifications as failed. */
    async endNotifications(ids: readonly string[], reason: string, at: Instant): Promise<void> {
      await runForIds(
        ids,
        (is) =>
          `UPDATE notification SET state = 'failed', due_at = NULL, ended_at = $1, lease = NULL,
             attempts = ${withAttempt("$2")}
           WHERE ${is("id")} AND state = 'pending'`,
        at,
        JSON.stringify(skippedAttempt(at, reason)),
      );
    },
  };
}
