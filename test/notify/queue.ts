// Channels and notifications in the database of a store, and senders on it.

import { after, type TestContext } from "node:test";
import { newWebhookSecret } from "../../src/domain/alerts/webhook-signature.ts";
import { parseWebhookAllow } from "../../src/domain/alerts/webhook-url.ts";
import { newId } from "../../src/domain/id.ts";
import type { LogEvent } from "../../src/domain/log-events.ts";
import type { Store } from "../../src/domain/store.ts";
import {
  type NotificationService,
  type NotificationServiceOptions,
  startNotificationService,
} from "../../src/notify/notification-service.ts";
import { type Opened, postgresEngine, sqliteEngine } from "../store/engines.ts";
import { type Sql, sqlOn } from "../support/sql.ts";

export const ENGINES = [sqliteEngine, postgresEngine];

type ChannelFields = {
  readonly id?: string;
  readonly type?: "webhook" | "email";
  readonly secret?: string;
  readonly previousSecret?: string;
  readonly to?: string;
  readonly customerId?: string;
  readonly state?: "active" | "disabled";
};

export type StoredNotification = {
  readonly id: string;
  readonly state: string;
  readonly due_at: number | null;
  readonly lease: string | null;
  readonly ended_at: number | null;
  readonly event: string;
  readonly attempts: readonly { at: number; status: number | null; duration_ms: number; error: string | null }[];
  readonly payload: string;
};

export type Queue = Opened & {
  readonly sql: Sql;
  readonly events: LogEvent[];
  /** Returns its id. */
  readonly channel: (url: string | null, fields?: ChannelFields) => Promise<string>;
  /** Due now. Returns their ids. */
  readonly notify: (channelId: string, count?: number) => Promise<string[]>;
  /** Returns its id. */
  readonly mail: (to: string, recipient: { readonly channel_id?: string; readonly customer_id?: string }) => Promise<string>;
  readonly stored: (id: string) => Promise<StoredNotification>;
  /** How many notifications are in each state. */
  readonly states: () => Promise<Record<string, number>>;
  readonly channelRow: (id: string) => Promise<Record<string, unknown>>;
  /** Makes everything older: as if the clock of the service and the database had moved on. */
  readonly age: (milliseconds: number) => Promise<void>;
  readonly start: (options?: Partial<NotificationServiceOptions>, store?: Store) => NotificationService;
};

export const SECRET = newWebhookSecret();
const NO_MAIL = { smtpUrl: null, mailFrom: null };

/** For one test. */
export async function openQueue(t: TestContext, engine: (typeof ENGINES)[number]): Promise<Queue> {
  const opened = await engine.open(t);
  return queueOn(t, opened, await sqlOn(t, opened.url));
}

const EMPTIED = ["notification", "notification_alert", "channel", "event"];

/** Called within a suite, whose tests share one store. Each begins without channels, notifications and events. */
export function queuesOf(engine: (typeof ENGINES)[number]): (t: TestContext) => Promise<Queue> {
  const ends: (() => unknown)[] = [];
  after(async () => {
    for (const end of ends.toReversed()) await end();
  });
  async function open() {
    const life = { after: (end: () => unknown) => void ends.push(end) };
    const opened = await engine.open(life);
    return { opened, sql: await sqlOn(life, opened.url) };
  }
  let shared: ReturnType<typeof open> | undefined;
  return async (t) => {
    shared ??= open();
    const { opened, sql } = await shared;
    for (const table of EMPTIED) await sql(`DELETE FROM ${table}`);
    return queueOn(t, opened, sql);
  };
}

type Row = Readonly<Record<string, string | number | null>>;

function queueOn(t: TestContext, opened: Opened, sql: Sql): Queue {
  const events: LogEvent[] = [];
  let count = 0;

  async function insert(table: string, ...rows: readonly Row[]): Promise<void> {
    const names = Object.keys(rows[0] ?? {});
    const parameters = rows.map((_, row) => `(${names.map((_, i) => `$${row * names.length + i + 1}`)})`);
    await sql(`INSERT INTO ${table} (${names}) VALUES ${parameters}`, ...rows.flatMap((row) => Object.values(row)));
  }

  async function addNotifications(...given: readonly Readonly<Record<string, string | null>>[]): Promise<string[]> {
    const now = Date.now();
    const times = { due_at: now, created_at: now, pending_since: now };
    const fixed = { alert_ids: "[]", state: "pending", attempts: "[]", ...times };
    const rows = given.map((fields) => ({ id: newId("msg", now), ...fixed, ...fields }));
    await insert("notification", ...rows);
    return rows.map(({ id }) => id);
  }

  return {
    ...opened,
    sql,
    events,
    async channel(url, { id = `chn_${++count}`, type = "webhook", ...fields } = {}) {
      const now = Date.now();
      await insert("channel", {
        ...{ id, type, url, recipient: fields.to ?? null, customer_id: fields.customerId ?? null, delay: 0 },
        ...{ state: fields.state ?? "active", created_at: now, updated_at: now, secret: fields.secret ?? SECRET },
        ...(fields.previousSecret !== undefined && { previous_secret: fields.previousSecret, previous_until: now + 60_000 }),
      });
      return id;
    },
    async notify(channelId, number = 1) {
      const fields = { channel_id: channelId, customer_id: null, destination: channelId, event: "channel.test" };
      const payload = () => JSON.stringify({ type: "channel.test", number: ++count });
      return addNotifications(...Array.from({ length: number }, () => ({ ...fields, payload: payload() })));
    },
    async mail(to, { channel_id = null, customer_id = null }) {
      const payload = JSON.stringify({ to, subject: "Tank low", text: "It is low.", html: "<p>It is low.</p>", headers: {} });
      const fields = { channel_id, customer_id, destination: "mail", event: "alert.opened", payload };
      const [id = ""] = await addNotifications(fields);
      return id;
    },
    async stored(id) {
      const [row] = await sql("SELECT * FROM notification WHERE id = $1", id);
      if (row === undefined) throw new Error(`${id} is not stored`);
      const number = (value: unknown) => (value === null ? null : Number(value));
      return {
        ...row,
        ...{ due_at: number(row["due_at"]), ended_at: number(row["ended_at"]), attempts: JSON.parse(String(row["attempts"])) },
      } as StoredNotification;
    },
    async states() {
      const rows = await sql("SELECT state, count(*) AS count FROM notification GROUP BY state ORDER BY state");
      return Object.fromEntries(rows.map(({ state, count }) => [state, Number(count)]));
    },
    async channelRow(id) {
      return (await sql("SELECT * FROM channel WHERE id = $1", id))[0] ?? {};
    },
    async age(milliseconds) {
      const times = ["due_at", "created_at", "pending_since", "sent_again_at", "ended_at"].map(
        (name) => `${name} = ${name} - $1`,
      );
      await sql(`UPDATE notification SET ${times}`, milliseconds);
      await sql("UPDATE channel SET failing_since = failing_since - $1", milliseconds);
      await sql("UPDATE event SET at = at - $1", milliseconds);
    },
    start(options = {}, store = opened.store) {
      const service = startNotificationService({
        ...{
          store,
          clock: Date.now,
          observe: (event) => events.push(event),
          isReporting: true,
          missingForMail: [],
          unsentKinds: [],
        },
        ...{ version: "1.2.3", mail: NO_MAIL, webhookAllow: parseWebhookAllow("127.0.0.1"), cleanupMs: 100, ...options },
      });
      let stopping: Promise<void> | undefined;
      const stop = (milliseconds: number) => (stopping ??= service.stop(milliseconds));
      t.after(() => stop(0));
      return { ...service, stop };
    },
  };
}
