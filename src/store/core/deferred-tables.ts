// The table of deferred notifications, and the tables they are composed from, in SQL for both engines.

import type { Channel } from "../../domain/alerts/channel.ts";
import type { ComposeReads } from "../../domain/alerts/compose.ts";
import type { StoredEvent } from "../../domain/alerts/event.ts";
import type { Notification, NotificationEvent } from "../../domain/alerts/notification.ts";
import type { Instant } from "../../domain/instant.ts";
import { newUnsubscribeSecret } from "../../domain/unsubscribe.ts";
import type { MailLinkReads } from "../../domain/verification.ts";
import { fieldsOf, type Row, storedJson } from "../columns.ts";
import { CHANNEL_COLUMNS, channelOf } from "./channel-tables.ts";
import { managedCustomerOn } from "./reads.ts";
import { serviceStateTable } from "./service-state.ts";
import type { Prepare, SqlRunner } from "./sql-runner.ts";
import { verificationTables } from "./verification-tables.ts";

/** What is sent later: mail, which is grouped by recipient, and what a channel wants only after a delay. */
export type DeferredNotification = Pick<Notification, "id" | "channel_id" | "customer_id" | "created_at"> & {
  /** The id of the channel or of the customer. */
  readonly recipient: string;
  readonly event: NotificationEvent;
  readonly sequence: number | null;
  /** Null: it is about a refill. */
  readonly alert_id: string | null;
  readonly tank_id: string;
  readonly due_at: Instant;
};

/** How many there are of a group, and the most urgent of them, most urgent first. */
export type DraftedGroup = {
  readonly total: number;
  readonly top: readonly { readonly id: string; readonly urgency: number }[];
};
/** Alerts by kind and update: `low opened`. Refills: `tank.refilled`, by the numbers of their events. */
export type DigestDraft = Readonly<Record<string, DraftedGroup>>;

/** Reads outside of a transaction: which mail is due next, and what links in mail need. */
export function mailReads(prepare: Prepare): MailLinkReads & ComposeReads {
  const nextDeferred = prepare("SELECT recipient, due_at FROM deferred_notification ORDER BY due_at, id LIMIT 1"); // deferred_notification_due
  const { verification } = verificationTables(prepare);
  const { serviceState } = serviceStateTable(prepare);
  return {
    async nextDeferred() {
      const [row] = await nextDeferred();
      return row && { recipientId: String(row[0]), dueAt: row[1] as Instant };
    },
    verification,
    unsubscribeSecret: () => serviceState("unsubscribe_secret"),
  };
}

const DEFERRED_FIELDS = [
  "id",
  "recipient",
  "channel_id",
  "customer_id",
  "event",
  "sequence",
  "alert_id",
  "tank_id",
  "due_at",
  "created_at",
] as const;
const deferredOf = (row: Row): DeferredNotification => fieldsOf(DEFERRED_FIELDS, row) as DeferredNotification;

export function deferredTables({ prepare, insert, runForIds }: SqlRunner) {
  const { serviceState, putServiceState } = serviceStateTable(prepare);
  return {
    async deferNotifications(deferred: readonly DeferredNotification[]): Promise<void> {
      await insert(
        "deferred_notification",
        DEFERRED_FIELDS,
        deferred.map((one) => DEFERRED_FIELDS.map((name) => one[name])),
      );
    },

    /** Returns them in the order in which they are due. */
    async deferredFor(recipient: string, dueBy: Instant, limit: number): Promise<readonly DeferredNotification[]> {
      const rows = await prepare(
        `SELECT ${DEFERRED_FIELDS.join(", ")} FROM deferred_notification WHERE recipient = $1 AND due_at <= $2
         ORDER BY due_at, id LIMIT $3`, // deferred_notification_by_recipient
      )(recipient, dueBy, limit);
      return rows.map(deferredOf);
    },

    async removeDeferred(ids: readonly string[]): Promise<void> {
      await runForIds(ids, (is) => `DELETE FROM deferred_notification WHERE ${is("id")}`);
    },

    async postponeDeferred(ids: readonly string[], until: Instant): Promise<void> {
      await runForIds(ids, (is) => `UPDATE deferred_notification SET due_at = $1 WHERE ${is("id")}`, until);
    },

    /**
     * After the clock was set back. Notifications that were deferred while it was ahead keep their delay, but count it from now on. Those
     * that were created before, and may have been postponed while it was ahead, are due as at first: if they still have to wait, they
     * are postponed again when they are composed.
     */
    async advanceDeferred(now: Instant, remindAfter: number): Promise<void> {
      await prepare(
        `UPDATE deferred_notification SET due_at = due_at - (created_at - $1), created_at = $1
         WHERE due_at > $1 AND created_at > $1`, // deferred_notification_due
      )(now);
      const first = `created_at + CASE WHEN event = 'alert.reminder' THEN $2
        ELSE coalesce((SELECT delay FROM channel WHERE channel.id = deferred_notification.channel_id), 0) END`; // primary key
      await prepare(
        `UPDATE deferred_notification SET due_at = CASE WHEN ${first} > $1 THEN ${first} ELSE $1 END
         WHERE due_at > $1 AND due_at > ${first}`, // deferred_notification_due
      )(now, remindAfter);
    },

    /** Reads without locks. */
    recipientCustomer: managedCustomerOn(prepare),

    /** Reads without locks. */
    async recipientChannel(id: string): Promise<Channel | undefined> {
      return (await prepare(`SELECT ${CHANNEL_COLUMNS} FROM channel WHERE id = $1`)(id)).map(channelOf)[0];
    },

    /**
     * The newest mail about alerts to this recipient: when it was created, and, if it is pending, when it is due. Not later than `now`: while the
     * clock was ahead, mail may have been sent at a time that is still to come.
     */
    async lastMail(
      recipient: Pick<DeferredNotification, "channel_id" | "customer_id">,
      now: Instant,
    ): Promise<{ readonly createdAt: Instant; readonly pendingUntil: Instant | null } | undefined> {
      const [column, id] =
        recipient.channel_id === null
          ? ["customer_id", recipient.customer_id] // notification_by_customer
          : ["channel_id", recipient.channel_id]; // notification_by_channel
      const [row] = await prepare(
        `SELECT created_at, CASE WHEN state = 'pending' THEN due_at END FROM notification WHERE ${column} = $1 AND created_at <= $2
           AND (event LIKE 'alert.%' OR event = 'tank.refilled')
         ORDER BY created_at DESC, id DESC LIMIT 1`,
      )(id, now);
      return row && { createdAt: Number(row[0]), pendingUntil: row[1] === null ? null : Number(row[1]) };
    },

    async eventsBySequence(
      sequences: readonly number[],
    ): Promise<ReadonlyMap<number, Pick<StoredEvent, "owner_id" | "payload">>> {
      const event = prepare("SELECT sequence, owner_id, payload FROM event WHERE sequence = $1");
      const rows = await Promise.all(sequences.map((sequence) => event(sequence)));
      return new Map(
        rows
          .flat()
          .map(([sequence, owner, payload]) => [Number(sequence), { owner_id: String(owner), payload: String(payload) }]),
      );
    },

    /** Returns the alerts that the customer was sent a mail about, except those whose mails have all failed. */
    async alertsNotifiedTo(customerId: string, alertIds: readonly string[]): Promise<ReadonlySet<string>> {
      const rows = await runForIds(
        alertIds,
        (is) =>
          `SELECT id FROM alert WHERE notified_customer = $1 AND ${is("id")} AND coalesce((
             SELECT min(CASE WHEN mail.state IN ('failed', 'expired') THEN 1 ELSE 0 END)
             FROM notification_alert AS link JOIN notification AS mail ON mail.id = link.notification_id
             WHERE link.alert_id = alert.id AND mail.customer_id = $1
           ), 0) = 0`, // primary keys
        customerId,
      );
      return new Set(rows.map(([id]) => String(id)));
    },

    /** Returns the channels that have been notified of each alert, as far as their notifications are kept. */
    async channelsNotified(alertIds: readonly string[]): Promise<ReadonlyMap<string, ReadonlySet<string>>> {
      const rows = await runForIds(
        alertIds,
        (is) =>
          `SELECT alert_id, channel_id FROM notification_alert AS link
           JOIN notification AS sent ON sent.id BETWEEN link.notification_id AND link.notification_id
           WHERE ${is("alert_id")} AND channel_id IS NOT NULL`, // primary keys
      );
      const ofAlerts = Map.groupBy(rows, ([alertId]) => String(alertId));
      return new Map(Array.from(ofAlerts, ([id, own]) => [id, new Set(own.map(([, channelId]) => String(channelId)))]));
    },

    async setAlertsNotified(customerId: string, alertIds: readonly string[]): Promise<void> {
      await runForIds(alertIds, (is) => `UPDATE alert SET notified_customer = $1 WHERE ${is("id")}`, customerId);
    },

    /** Returns the tanks whose alerts are paused, and until when. */
    async pausedTanks(tankIds: readonly string[], now: Instant): Promise<ReadonlyMap<string, Instant>> {
      const rows = await runForIds(
        tankIds,
        (is) => `SELECT id, paused_until FROM tank WHERE paused_until > $1 AND ${is("id")}`,
        now,
      );
      return new Map(rows.map(([id, until]) => [String(id), Number(until)]));
    },

    async digestDraft(recipient: string): Promise<DigestDraft | undefined> {
      const [row] = await prepare("SELECT content FROM digest_draft WHERE recipient = $1")(recipient);
      return row && (storedJson(row[0], `the draft of mail to ${recipient}`) as DigestDraft);
    },

    async putDigestDraft(recipient: string, draft: DigestDraft): Promise<void> {
      await prepare(
        `INSERT INTO digest_draft (recipient, content) VALUES ($1, $2)
         ON CONFLICT (recipient) DO UPDATE SET content = excluded.content`,
      )(recipient, JSON.stringify(draft));
    },

    async removeDigestDraft(recipient: string): Promise<void> {
      await prepare("DELETE FROM digest_draft WHERE recipient = $1")(recipient);
    },

    /** Created when it is first needed. The lock of alerts is held. */
    async unsubscribeSecret(): Promise<string> {
      const known = await serviceState("unsubscribe_secret");
      if (known !== undefined) return known;
      const secret = newUnsubscribeSecret();
      await putServiceState("unsubscribe_secret", secret);
      return secret;
    },
  };
}
