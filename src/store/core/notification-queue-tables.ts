// The queue of notifications, in SQL for both engines: claiming, recording, and removing what has ended.

import { randomBytes } from "node:crypto";
import { isQuietHours, type QuietHours } from "../../domain/alerts/channel.ts";
import { EVENT_RETENTION_MS } from "../../domain/alerts/event.ts";
import { type Attempt, MAIL_DESTINATION } from "../../domain/alerts/notification.ts";
import {
  type AttemptRecord,
  type ClaimedNotification,
  type ClaimRequest,
  disabledAttempt,
  LEASE_MS,
  MAIL_EXPIRES_MS,
  MAX_CLOCK_SKEW_MS,
  MAX_DUE_AHEAD_MS,
  type PendingDestination,
  type RecipientType,
  recipientType,
} from "../../domain/alerts/notification-queue.ts";
import type { Instant } from "../../domain/instant.ts";
import { parseJson } from "../../domain/validate.ts";
import { fieldsOf, type Row } from "../columns.ts";
import type { Dialect } from "./dialect.ts";
import { withAttempt } from "./notification-tables.ts";
import type { Prepare, SqlRunner } from "./sql-runner.ts";

/** Rows that one transaction ends or removes. */
const MAX_ENDED = 500;

const CLAIMED_FIELDS = [
  "id",
  "destination",
  "lease",
  "channel_id",
  "customer_id",
  "about_customer",
  "event",
  "pending_since",
  "sent_again_at",
  "payload",
  "attempts",
] as const;
const CLAIMED_COLUMNS = CLAIMED_FIELDS.map((name) => `notification.${name}`).join(", ");

function claimedOf(row: Row): ClaimedNotification {
  const { attempts, ...notification } = fieldsOf(CLAIMED_FIELDS, row);
  return { ...notification, attempts: parsedList(attempts) } as ClaimedNotification;
}

/** `quietMs`: how much of `delayMs` is due to quiet hours. */
export type AttemptWithQuietTime = AttemptRecord & { readonly quietMs: number };

/** A damaged list counts as empty: one notification must not hold up the others. */
function parsedList(text: unknown): readonly unknown[] {
  const value = parseJson(String(text))?.value;
  return Array.isArray(value) ? value : [];
}

type Ending = {
  readonly state: "failed" | "expired";
  readonly destination: string;
  /** Added to each; says why it ended. */
  readonly attempt: Attempt | null;
  /** A further condition; `now` is the time in SQL. */
  readonly condition?: (now: string) => string;
  readonly order: string;
};

const REMOVE_LINKS = `DELETE FROM notification_alert WHERE (alert_id, notification_id) IN (SELECT alert_id, notification_id FROM given)`; // primary key

export function notificationQueueTables(
  { prepare, runForIds, runForRows }: SqlRunner,
  { skipLocked, now, indexedBy }: Pick<Dialect, "skipLocked" | "now" | "indexedBy">,
) {
  /** Ends notifications of a destination that are pending and not being sent. */
  async function end({ state, destination, attempt, condition, order }: Ending, at: Instant): Promise<readonly Row[]> {
    const time = now(at, 3);
    return prepare(
      `WITH chosen AS MATERIALIZED (
         SELECT id FROM notification WHERE state = 'pending' AND destination = $1 ${condition?.(time.sql) ?? ""}
           AND (lease IS NULL OR due_at <= ${time.sql})
         ORDER BY ${order} LIMIT ${MAX_ENDED} ${skipLocked}
       )
       UPDATE notification SET state = '${state}', due_at = NULL, lease = NULL, ended_at = ${time.sql},
         attempts = CASE WHEN CAST($2 AS text) IS NULL THEN attempts ELSE ${withAttempt("$2")} END
       FROM chosen WHERE notification.id BETWEEN chosen.id AND chosen.id
       RETURNING notification.channel_id`,
    )(destination, attempt === null ? null : JSON.stringify(attempt), ...time.values);
  }

  return {
    /**
     * Oldest first, without mail that has to expire; of mail, that to channels before that to customers, of which there may be very much.
     * No other claim gets them until the lease ends.
     */
    async claimDue(requests: readonly ClaimRequest[], at: Instant): Promise<readonly ClaimedNotification[]> {
      const lease = randomBytes(12).toString("base64url");
      const time = now(at, 4);
      const claimFrom = (table: string, condition: string) =>
        prepare(
          `WITH due AS MATERIALIZED (
             SELECT id FROM ${table} WHERE state = 'pending' AND destination = $1 ${condition}
               AND due_at <= ${time.sql} + ${MAX_CLOCK_SKEW_MS}
               AND (destination <> '${MAIL_DESTINATION}' OR pending_since > ${time.sql} - ${MAIL_EXPIRES_MS})
             ORDER BY due_at LIMIT $2 ${skipLocked}
           )
           UPDATE notification SET due_at = ${time.sql} + ${LEASE_MS + MAX_CLOCK_SKEW_MS}, lease = $3 FROM due
           WHERE notification.id BETWEEN due.id AND due.id RETURNING ${CLAIMED_COLUMNS}`, // primary key
        );
      const claim = claimFrom("notification", ""); // notification_due
      const claimToChannels = claimFrom(
        `notification ${indexedBy("notification_due_to_channels")}`,
        `AND destination = '${MAIL_DESTINATION}' AND channel_id IS NOT NULL`,
      );
      const claimed = await Promise.all(
        requests.map(async ({ destination, limit }) => {
          const first = destination === MAIL_DESTINATION ? await claimToChannels(destination, limit, lease, ...time.values) : [];
          return [first, await claim(destination, limit - first.length, lease, ...time.values)];
        }),
      );
      return claimed.flat().flatMap((rows) => rows.map(claimedOf).sort((a, b) => (a.id < b.id ? -1 : 1)));
    },

    /** By id, of channels that have any. Damaged ones are left out: one channel must not hold up the others. */
    async quietHours(channelIds: readonly string[]): Promise<ReadonlyMap<string, QuietHours>> {
      const rows = await runForIds(channelIds, (is) => `SELECT id, quiet_hours FROM channel WHERE ${is("id")}`);
      return new Map(
        rows.flatMap(([id, text]) => {
          const value = parseJson(String(text))?.value;
          return isQuietHours(value) ? [[String(id), value] as const] : [];
        }),
      );
    },

    /** Returns the ids of those whose lease was still that of the record. Time in quiet hours does not count towards expiry. */
    async putAttempts(records: readonly AttemptWithQuietTime[], at: Instant): Promise<ReadonlySet<string>> {
      const time = now(at, 1);
      const recorded = await runForRows(
        { id: "text", lease: "text", state: "text", delay: "bigint", quiet: "bigint", attempts: "text" },
        records.map(({ id, lease, state, delayMs, quietMs, attempts }) => {
          return [id, lease, state, delayMs, quietMs, JSON.stringify(attempts)];
        }),
        `UPDATE notification SET state = given.state, due_at = ${time.sql} + given.delay, lease = NULL, attempts = given.attempts,
           pending_since = pending_since + given.quiet, ended_at = CASE WHEN given.delay IS NULL THEN ${time.sql} END
         FROM given WHERE notification.id BETWEEN given.id AND given.id AND notification.lease = given.lease
         RETURNING notification.id`, // primary key
        ...time.values,
      );
      return new Set(recorded.map(([id]) => String(id)));
    },

    /** Pending ones that nobody is sending, unless the channel is enabled again; a limited number, which is returned. */
    async endPending(destination: string, at: Instant): Promise<number> {
      const condition = (): string => "AND NOT EXISTS (SELECT 1 FROM channel WHERE channel.id = $1 AND channel.state = 'active')";
      const ending = { state: "failed", destination, attempt: disabledAttempt(at), condition, order: "due_at" } as const; // notification_due
      return (await end(ending, at)).length;
    },

    /** Returns the recipients; a limited number. */
    async expireMail(at: Instant): Promise<readonly RecipientType[]> {
      const condition = (now: string): string => `AND pending_since <= ${now} - ${MAIL_EXPIRES_MS}`;
      const ending = {
        state: "expired",
        destination: MAIL_DESTINATION,
        attempt: null,
        condition,
        order: "pending_since",
      } as const; // notification_pending
      const recipients = await end(ending, at);
      return recipients.map(([channel_id]) =>
        recipientType({ destination: MAIL_DESTINATION, channel_id: channel_id as string | null }),
      );
    },

    /** What a clock that was ahead has scheduled too late becomes due: attempts, and new notifications, except those that quiet hours hold. */
    async advanceDue(destinations: readonly string[], at: Instant): Promise<void> {
      const time = now(at, 2);
      const advance = prepare(
        `WITH late AS MATERIALIZED (
           SELECT id FROM notification WHERE state = 'pending' AND destination = $1 AND due_at > ${time.sql} + ${MAX_DUE_AHEAD_MS}
           ORDER BY due_at LIMIT ${MAX_ENDED} ${skipLocked}
         )
         UPDATE notification SET due_at = ${time.sql}, lease = NULL FROM late
         WHERE notification.id BETWEEN late.id AND late.id`, // notification_due
      );
      // coalesce: so that PostgreSQL takes the right index.
      const advanceNew = prepare(
        `WITH new AS MATERIALIZED (
           SELECT id FROM notification WHERE state = 'pending' AND destination = $1
             AND pending_since > ${time.sql} + ${MAX_CLOCK_SKEW_MS} AND coalesce(created_at, 0) = pending_since AND lease IS NULL
           ORDER BY pending_since LIMIT ${MAX_ENDED} ${skipLocked}
         )
         UPDATE notification SET due_at = ${time.sql}, pending_since = ${time.sql} FROM new
         WHERE notification.id BETWEEN new.id AND new.id`, // notification_pending
      );
      for (const advanceDue of [advance, advanceNew]) {
        await Promise.all(destinations.map((destination) => advanceDue(destination, ...time.values)));
      }
    },

    /** A limited number, which is returned. */
    async removeOldEvents(at: Instant): Promise<number> {
      // From the lowest number on: the feed has no gaps, even if a clock was wrong. An event written while the clock was ahead is
      // removed with the first old one after it.
      const time = now(at, 1);
      const oldest = await prepare(
        `SELECT sequence, at > ${time.sql} - ${EVENT_RETENTION_MS} FROM event WHERE at <= ${time.sql} + ${MAX_CLOCK_SKEW_MS}
         ORDER BY sequence LIMIT ${MAX_ENDED}`, // primary key
      )(...time.values);
      const kept = oldest.findIndex(([, isKept]) => Boolean(isKept));
      const last = (kept === -1 ? oldest : oldest.slice(0, kept)).at(-1);
      if (last === undefined) return 0;
      const removed = await prepare(
        `DELETE FROM event WHERE sequence IN (SELECT sequence FROM event WHERE sequence <= $1 ORDER BY sequence LIMIT ${MAX_ENDED})
         RETURNING sequence`, // primary key
      )(Number(last[0]));
      return removed.length;
    },

    /** A limited number, which is returned. */
    async removeEndedNotifications(at: Instant): Promise<number> {
      const time = now(at, 1);
      const ended = await prepare(
        `SELECT id, alert_ids FROM notification WHERE ended_at <= ${time.sql} - ${EVENT_RETENTION_MS} ORDER BY ended_at LIMIT ${MAX_ENDED} ${skipLocked}`, // notification_ended
      )(...time.values);
      const ids = ended.map(([id]) => String(id));
      const links = ended.flatMap(([id, alertIds]) => parsedList(alertIds).map((alertId) => [String(alertId), String(id)]));
      await runForRows({ alert_id: "text", notification_id: "text" }, links, REMOVE_LINKS);
      await runForIds(ids, (is) => `DELETE FROM notification WHERE ${is("id")}`);
      return ids.length;
    },
  };
}

/** Finds destinations by a skip scan: one step in an index for each, however many notifications it has. */
export function pendingDestinationsOn(prepare: Prepare, { now, indexedBy }: Pick<Dialect, "now" | "indexedBy">) {
  const next = (after: string): string =>
    `SELECT n.destination FROM notification AS n ${indexedBy("notification_due")}
     WHERE n.state = 'pending' ${after} ORDER BY n.destination, n.due_at LIMIT 1`;
  const sql = (time: string): string =>
    `WITH RECURSIVE pending (destination) AS (
       SELECT (${next("")}) UNION ALL
       SELECT (${next("AND n.destination > pending.destination")}) FROM pending WHERE pending.destination IS NOT NULL
     )
     SELECT pending.destination, (
       SELECT n.due_at FROM notification AS n WHERE n.state = 'pending' AND n.destination = pending.destination
       ORDER BY n.due_at LIMIT 1
     ) <= ${time} + ${MAX_CLOCK_SKEW_MS}, channel.state FROM pending LEFT JOIN channel ON channel.id = pending.destination
     WHERE pending.destination IS NOT NULL`;
  const query = prepare(sql(now(0, 1).sql));
  return async (at: Instant): Promise<PendingDestination[]> =>
    (await query(...now(at, 1).values)).map(([destination, isDue, state]) => ({
      destination: String(destination),
      isDue: Boolean(isDue),
      isActive: destination === MAIL_DESTINATION || state === "active",
    }));
}
