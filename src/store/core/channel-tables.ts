// The table of channels, in SQL for both engines: settings, secrets, and since when a channel fails.

import { isDeepStrictEqual } from "node:util";
import type { Channel } from "../../domain/alerts/channel.ts";
import type { ChannelWithSecrets } from "../../domain/alerts/notification-queue.ts";
import type { ChannelChange } from "../../domain/commands/command.ts";
import type { Instant } from "../../domain/instant.ts";
import { fieldsOf, type Row, type Scalar, storedJson, valuesOf } from "../columns.ts";
import type { Dialect } from "./dialect.ts";
import type { SqlRunner } from "./sql-runner.ts";

export const CHANNEL_FIELDS = [
  "id",
  "type",
  "url",
  "recipient",
  "events",
  "kinds",
  "customer_id",
  "delay",
  "quiet_hours",
  "state",
  "disabled_reason",
  "description",
  "created_at",
  "updated_at",
] as const;
export const CHANNEL_COLUMNS = CHANNEL_FIELDS.join(", ");

export function channelOf(row: Row): Channel {
  const { recipient, events, kinds, quiet_hours, ...channel } = fieldsOf(CHANNEL_FIELDS, row);
  const json = (text: unknown): unknown => storedJson(text, `channel ${channel.id}`);
  return { ...channel, to: recipient, events: json(events), kinds: json(kinds), quiet_hours: json(quiet_hours) } as Channel;
}

const jsonOrNull = (value: object | null): string | null => (value === null ? null : JSON.stringify(value));

const channelValues = ({ to, events, kinds, quiet_hours, ...channel }: Channel): Scalar[] =>
  valuesOf(CHANNEL_FIELDS, {
    ...channel,
    recipient: to,
    events: jsonOrNull(events),
    kinds: jsonOrNull(kinds),
    quiet_hours: jsonOrNull(quiet_hours),
  });

const SENDING_FIELDS = [
  "id",
  "type",
  "url",
  "recipient",
  "customer_id",
  "state",
  "secret",
  "previous_secret",
  "previous_until",
] as const;

function sendingChannelOf(row: Row): ChannelWithSecrets {
  const { recipient, ...channel } = fieldsOf(SENDING_FIELDS, row);
  return { ...channel, to: recipient } as ChannelWithSecrets;
}

const UPDATE = `UPDATE channel SET ${CHANNEL_FIELDS.map((name, i) => `${name} = $${i + 1}`).join(", ")} WHERE id = $1`;
const ROTATE = `UPDATE channel SET secret = $2, previous_until = $3,
  previous_secret = CASE WHEN CAST($3 AS bigint) IS NULL THEN NULL ELSE secret END WHERE id = $1`;
/** Delay and quiet hours may have changed. What quiet hours still hold is postponed again when it is composed. */
const RESCHEDULE = `UPDATE deferred_notification
  SET due_at = CASE WHEN created_at + $2 > $3 THEN created_at + $2 ELSE $3 END WHERE recipient = $1`; // deferred_notification_by_recipient

/** Whether what is deferred for the channel may be due at another time, or is not sent any more. */
const changesTimes = (before: Channel, after: Channel): boolean =>
  before.delay !== after.delay || before.state !== after.state || !isDeepStrictEqual(before.quiet_hours, after.quiet_hours);

export function channelTables({ prepare, insert, runForIds }: SqlRunner, { now }: Pick<Dialect, "now">) {
  async function putChannel({ before, after, secret }: ChannelChange, at: Instant): Promise<void> {
    if (before !== undefined && after === undefined) {
      await prepare("DELETE FROM channel WHERE id = $1")(before.id);
      await prepare("DELETE FROM deferred_notification WHERE recipient = $1")(before.id); // deferred_notification_by_recipient
      await prepare("DELETE FROM digest_draft WHERE recipient = $1")(before.id);
      return;
    }
    if (after === undefined) return;
    if (before === undefined) {
      await insert("channel", [...CHANNEL_FIELDS, "secret"], [[...channelValues(after), secret?.value ?? null]]);
      return;
    }
    await prepare(UPDATE)(...channelValues(after));
    // There may be very many: only a change that may make them due is worth it.
    if (changesTimes(before, after)) await prepare(RESCHEDULE)(after.id, after.delay, at);
    if (secret !== undefined) await prepare(ROTATE)(after.id, secret.value, secret.previousUntil);
    // What failed before says nothing about a channel that is enabled again, or has another address.
    const isRenewed = before.state !== after.state || before.url !== after.url || before.to !== after.to;
    if (isRenewed) await prepare("UPDATE channel SET failing_since = NULL WHERE id = $1")(after.id);
  }

  return {
    /** Active ones. */
    async channels(): Promise<readonly Channel[]> {
      return (await prepare(`SELECT ${CHANNEL_COLUMNS} FROM channel WHERE state = 'active' ORDER BY id`)()).map(channelOf);
    },

    /** An update locks them. */
    async channelsById(ids: readonly string[]): Promise<ReadonlyMap<string, Channel>> {
      const rows = await runForIds(
        ids,
        (is) => `UPDATE channel SET state = state WHERE ${is("id")} RETURNING ${CHANNEL_COLUMNS}`,
      );
      return new Map(rows.map(channelOf).map((channel) => [channel.id, channel]));
    },

    async channelCount(): Promise<number> {
      return Number((await prepare("SELECT count(*) FROM (SELECT id FROM channel ORDER BY id) AS every")())[0]?.[0]);
    },

    /** Also removes the deferred notifications of deleted channels. */
    async putChannels(changes: readonly ChannelChange[], at: Instant): Promise<void> {
      for (const change of changes) await putChannel(change, at);
    },

    async sendingChannels(ids: readonly string[]): Promise<ReadonlyMap<string, ChannelWithSecrets>> {
      const channel = prepare(`SELECT ${SENDING_FIELDS.join(", ")} FROM channel WHERE id = $1`);
      const rows = await Promise.all(ids.map((id) => channel(id)));
      return new Map(rows.flat().map((row) => [String(row[0]), sendingChannelOf(row)]));
    },

    async setWorking(channelIds: readonly string[]): Promise<void> {
      await runForIds(
        channelIds,
        (is) => `UPDATE channel SET failing_since = NULL WHERE ${is("id")} AND failing_since IS NOT NULL`,
      );
    },

    /** Returns since when the channel fails, and the time; undefined if it is not active. */
    async setFailing(channelId: string, at: Instant): Promise<{ readonly since: Instant; readonly now: Instant } | undefined> {
      const time = now(at, 2);
      const [row] = await prepare(
        `UPDATE channel SET failing_since = coalesce(failing_since, ${time.sql})
         WHERE id = $1 AND state = 'active' RETURNING failing_since, ${time.sql}`,
      )(channelId, ...time.values);
      return row && { since: Number(row[0]), now: Number(row[1]) };
    },

    /** Returns false if it was disabled already, or changed after `failedAt`. */
    async disableChannel(channelId: string, reason: string, failedAt: Instant, at: Instant): Promise<boolean> {
      const sql = `UPDATE channel SET state = 'disabled', disabled_reason = $2, failing_since = NULL, updated_at = $4
         WHERE id = $1 AND state = 'active' AND updated_at <= $3 RETURNING id`;
      return (await prepare(sql)(channelId, reason, failedAt, at)).length > 0;
    },
  };
}
