// The tables that both engines have in common. Those of readings and rank indexes differ, and are in the engines. What is
// exported and cannot be derived from other rows has a checksum (../columns.ts).

import { UserError } from "../../domain/errors.ts";
import { EARLIEST } from "../../domain/instant.ts";

export type ColumnTypes = {
  /** The column `id` of customers, tanks and keys, which other rows refer to. */
  readonly id: string;
  /** Compared byte by byte. */
  readonly text: string;
  readonly integer: string;
  readonly real: string;
  readonly flag: string;
  /** Conditions of partial indexes. */
  readonly isLive: string;
  readonly isDeleted: string;
  /** Options of a table: with `id`, and with another primary key. */
  readonly table: string;
  readonly keyedTable: string;
};

/**
 * Always true. The indexes of alerts and of forecasts are partial on these conditions, so that the planner does not consider them for
 * lookups by id. Queries that need them repeat the condition.
 */
export const ALERT_INDEX_CONDITION = "kind <> ''";
export const FORECAST_INDEX_CONDITION = "owner_id <> ''";

/** Condition on a tank row. */
export const WITHOUT_COORDINATES = "(latitude IS NULL OR longitude IS NULL)";

export function commonTables({ id, text, integer, real, flag, isLive, isDeleted, table, keyedTable }: ColumnTypes): string {
  return `
  CREATE TABLE customer (
    ${id},
    created_at ${integer} NOT NULL,
    email ${text} NOT NULL,
    last_seen_at ${integer},
    name ${text} NOT NULL,
    phone ${text},
    updated_at ${integer} NOT NULL,
    verified_at ${integer},
    language ${text}, -- of mails
    unsubscribed_at ${integer}, -- from mails
    tank_count ${integer} NOT NULL DEFAULT 0,
    deleted ${flag},
    deleted_at ${integer},
    checksum ${integer} NOT NULL
  ) ${table};
  CREATE INDEX customer_by_creation ON customer (created_at, id) WHERE ${isLive};
  CREATE INDEX customer_by_email ON customer (email, created_at, id) WHERE ${isLive};
  CREATE INDEX customer_by_name ON customer (lower(name)) WHERE ${isLive};
  CREATE INDEX customer_by_any_case_email ON customer (lower(email), created_at, id) WHERE ${isLive};
  CREATE INDEX customer_deleted ON customer (created_at, id) WHERE ${isDeleted};

  CREATE TABLE tank (
    ${id},
    assigned_device_id ${text} NOT NULL,
    capacity ${real} NOT NULL,
    capacity_unit ${text} NOT NULL,
    created_at ${integer} NOT NULL,
    custom_id ${text},
    min_fill_alert_percentage ${integer} NOT NULL,
    name ${text} NOT NULL,
    owner_id ${text} NOT NULL REFERENCES customer (id),
    updated_at ${integer} NOT NULL,
    use_case ${text},
    city ${text},
    country ${text},
    district ${text},
    latitude ${real},
    longitude ${real},
    postal_code ${text},
    region ${text},
    street ${text},
    street_number ${text},
    shape ${text}, -- JSON
    silent_after ${integer}, -- milliseconds; null: the default
    paused_until ${integer}, -- no alert opens until then
    runs_low_soon ${integer} NOT NULL DEFAULT 1, -- 0: no alerts of this kind
    leak ${integer} NOT NULL DEFAULT 1,
    deleted ${flag},
    deleted_at ${integer},
    checksum ${integer} NOT NULL
  ) ${table};
  CREATE INDEX tank_by_creation ON tank (created_at, id) WHERE ${isLive};
  CREATE INDEX tank_by_owner ON tank (owner_id, created_at, id) WHERE ${isLive};
  CREATE UNIQUE INDEX tank_by_device ON tank (assigned_device_id) WHERE ${isLive};
  CREATE INDEX tank_by_name ON tank (lower(name)) WHERE ${isLive};
  CREATE INDEX tank_by_city ON tank (lower(city)) WHERE ${isLive};
  CREATE INDEX tank_by_latitude ON tank (latitude, longitude) WHERE ${isLive};
  CREATE INDEX tank_without_position ON tank (id) WHERE ${isLive} AND ${WITHOUT_COORDINATES};
  CREATE INDEX tank_by_custom_id ON tank (lower(custom_id)) WHERE ${isLive};
  CREATE INDEX tank_deleted ON tank (created_at, id) WHERE ${isDeleted};
  CREATE INDEX tank_deleted_with_owner ON tank (owner_id, deleted_at, created_at, id) WHERE ${isDeleted};

  CREATE TABLE api_key (
    ${id},
    hash ${text} NOT NULL UNIQUE,
    name ${text} NOT NULL,
    role ${text} NOT NULL,
    customer_id ${text} REFERENCES customer (id),
    device_id ${text},
    rate ${real},
    created_at ${integer} NOT NULL,
    expires_at ${integer},
    revoked_at ${integer},
    replaced_by ${text}
  ) ${table};

  -- Every device that is assigned to a tank, has a profile, or has sent a reading. pending counts its rows in pending_reading.
  CREATE TABLE device (
    id ${text} PRIMARY KEY,
    tank ${text},
    since ${integer} NOT NULL DEFAULT ${EARLIEST},
    profile ${text}, -- JSON
    pending ${integer} NOT NULL DEFAULT 0,
    dropped ${integer} NOT NULL DEFAULT 0,
    checksum ${integer} NOT NULL
  ) ${keyedTable};
  CREATE INDEX device_pending ON device (id) WHERE pending > 0;
  CREATE INDEX device_free ON device (id) WHERE tank IS NULL;

  -- Past assignments: the device was assigned to the tank until then.
  CREATE TABLE device_assignment (
    device ${text} NOT NULL,
    until ${integer} NOT NULL,
    tank ${text} NOT NULL,
    checksum ${integer} NOT NULL,
    PRIMARY KEY (device, until)
  ) ${keyedTable};

  -- Readings of devices without a tank, or without a profile that can interpret them. Either fill or payload (JSON) is set.
  CREATE TABLE pending_reading (
    device ${text} NOT NULL,
    created_at ${integer} NOT NULL,
    fill ${real},
    payload ${text},
    customer_id ${text},
    checksum ${integer} NOT NULL,
    PRIMARY KEY (device, created_at)
  ) ${keyedTable};

  -- Numbered without gaps.
  CREATE TABLE audit (
    number ${integer} PRIMARY KEY,
    at ${integer} NOT NULL,
    who ${text} NOT NULL,
    object ${text} NOT NULL,
    id ${text} NOT NULL,
    action ${text} NOT NULL,
    changes ${text} NOT NULL
  ) ${table};
  CREATE INDEX audit_by_time ON audit (at);
  CREATE INDEX audit_by_object ON audit (object, id);
  CREATE INDEX audit_by_id ON audit (id);
  CREATE INDEX audit_by_who ON audit (who);

  -- Results of commands with an idempotency key.
  CREATE TABLE idempotency (
    who ${text} NOT NULL,
    key ${text} NOT NULL,
    at ${integer} NOT NULL,
    fingerprint ${text} NOT NULL,
    resource ${text} NOT NULL,
    PRIMARY KEY (who, key)
  ) ${keyedTable};
  CREATE INDEX idempotency_by_time ON idempotency (at);

  -- created_at: when it was opened. The latest reading of an alert that is not closed is in the fleet.
  CREATE TABLE alert (
    ${id},
    kind ${text} NOT NULL,
    state ${text} NOT NULL,
    tank_id ${text} NOT NULL REFERENCES tank (id),
    owner_id ${text} NOT NULL, -- of the tank now
    created_at ${integer} NOT NULL,
    acknowledged_at ${integer},
    acknowledged_by ${text},
    closed_at ${integer},
    close_reason ${text},
    threshold ${integer} NOT NULL,
    fill ${real} NOT NULL,
    latest_fill ${real} NOT NULL,
    latest_at ${integer} NOT NULL,
    runs_low_at ${integer}, -- expected, when it was opened
    leak_since ${integer},
    leak_excess ${real}, -- points a day
    leak_loss ${real}, -- points at once, instead
    note ${text},
    updated_at ${integer} NOT NULL,
    notified_customer ${text} -- who was sent a mail about it
  ) ${table};
  CREATE INDEX alert_by_creation ON alert (created_at, id) WHERE ${ALERT_INDEX_CONDITION};
  CREATE INDEX alert_by_state ON alert (state, created_at, id) WHERE ${ALERT_INDEX_CONDITION};
  CREATE INDEX alert_by_kind ON alert (kind, created_at, id) WHERE ${ALERT_INDEX_CONDITION};
  CREATE INDEX alert_by_owner ON alert (owner_id, created_at, id) WHERE ${ALERT_INDEX_CONDITION};
  CREATE INDEX alert_by_tank ON alert (tank_id, created_at, id) WHERE ${ALERT_INDEX_CONDITION};
  CREATE UNIQUE INDEX alert_not_closed ON alert (tank_id, kind) WHERE state <> 'closed';
  CREATE INDEX alert_counted ON alert (kind, state) WHERE state <> 'closed';
  CREATE INDEX alert_of_owner_counted ON alert (owner_id, kind, state) WHERE state <> 'closed';

  -- Every live tank: its latest reading as of the last update, its sort keys in the orders of the fleet, and its forecast.
  CREATE TABLE forecast (
    id ${text} PRIMARY KEY, -- of the tank
    owner_id ${text} NOT NULL,
    at ${integer} NOT NULL,
    fill ${real},
    urgency ${integer} NOT NULL,
    margin ${integer} NOT NULL,
    due_at ${integer}, -- when the forecast is to be computed again; null: not before there are newer readings
    computed_at ${integer},
    forecast ${text} -- JSON
  ) ${keyedTable};
  CREATE INDEX forecast_by_urgency ON forecast (urgency, id) WHERE ${FORECAST_INDEX_CONDITION};
  CREATE INDEX forecast_by_margin ON forecast (margin, id) WHERE ${FORECAST_INDEX_CONDITION};
  CREATE INDEX forecast_by_silence ON forecast (at, id) WHERE ${FORECAST_INDEX_CONDITION};
  CREATE INDEX forecast_of_owner_by_urgency ON forecast (owner_id, urgency, id) WHERE ${FORECAST_INDEX_CONDITION};
  CREATE INDEX forecast_of_owner_by_margin ON forecast (owner_id, margin, id) WHERE ${FORECAST_INDEX_CONDITION};
  CREATE INDEX forecast_of_owner_by_silence ON forecast (owner_id, at, id) WHERE ${FORECAST_INDEX_CONDITION};
  CREATE INDEX forecast_due ON forecast (due_at) WHERE due_at IS NOT NULL;

  CREATE TABLE refill (
    tank_id ${text} NOT NULL,
    started_at ${integer} NOT NULL,
    ended_at ${integer} NOT NULL,
    from_percentage ${real} NOT NULL,
    to_percentage ${real} NOT NULL,
    PRIMARY KEY (tank_id, started_at)
  ) ${keyedTable};

  -- The feed. An event becomes visible only after all with a lower sequence number: they are written under one lock.
  CREATE TABLE event (
    sequence ${integer} PRIMARY KEY,
    at ${integer} NOT NULL,
    owner_id ${text} NOT NULL, -- of the tank then
    payload ${text} NOT NULL -- JSON
  ) ${table};
  CREATE INDEX event_by_owner ON event (owner_id, sequence);

  CREATE TABLE channel (
    ${id},
    type ${text} NOT NULL,
    url ${text},
    recipient ${text},
    events ${text}, -- JSON
    kinds ${text}, -- JSON
    customer_id ${text} REFERENCES customer (id),
    delay ${integer} NOT NULL,
    quiet_hours ${text}, -- JSON
    state ${text} NOT NULL,
    disabled_reason ${text},
    description ${text},
    created_at ${integer} NOT NULL,
    updated_at ${integer} NOT NULL,
    secret ${text},
    previous_secret ${text},
    previous_until ${integer},
    failing_since ${integer}
  ) ${table};

  -- Messages to one recipient: to a channel or to a customer. destination: the id of a webhook channel, or "mail".
  CREATE TABLE notification (
    ${id},
    channel_id ${text},
    customer_id ${text},
    about_customer ${text}, -- to a channel: the only customer whose data it has; null: it may have data of any
    destination ${text} NOT NULL,
    event ${text} NOT NULL,
    alert_ids ${text} NOT NULL, -- JSON
    tank_id ${text},
    state ${text} NOT NULL,
    due_at ${integer}, -- of the next attempt; while one is under way, the end of its lease
    lease ${text}, -- of the attempt under way
    created_at ${integer} NOT NULL,
    pending_since ${integer} NOT NULL, -- since it was created or sent again: attempts and the time until it expires count from here
    sent_again_at ${integer}, -- by a person: quiet hours do not hold the next attempt
    ended_at ${integer},
    payload ${text} NOT NULL,
    attempts ${text} NOT NULL -- JSON
  ) ${table};
  CREATE INDEX notification_due ON notification (destination, due_at) WHERE state = 'pending';
  CREATE INDEX notification_due_to_channels ON notification (due_at) WHERE state = 'pending' AND destination = 'mail' AND channel_id IS NOT NULL;
  CREATE INDEX notification_pending ON notification (destination, pending_since) WHERE state = 'pending';
  -- The lists. Each has a condition, so that a notification is looked up by its primary key only, never by an id in one of these.
  CREATE INDEX notification_by_creation ON notification (created_at, id) WHERE created_at IS NOT NULL;
  CREATE INDEX notification_by_state ON notification (state, created_at, id) WHERE created_at IS NOT NULL;
  CREATE INDEX notification_by_channel ON notification (channel_id, created_at, id) WHERE channel_id IS NOT NULL;
  CREATE INDEX notification_by_customer ON notification (customer_id, created_at, id) WHERE customer_id IS NOT NULL;
  CREATE INDEX notification_ended ON notification (ended_at) WHERE ended_at IS NOT NULL;
  -- What failed or expired, to send it again: of a channel, or mail to customers.
  CREATE INDEX notification_unsent ON notification (channel_id, ended_at, id) WHERE channel_id IS NOT NULL AND state IN ('failed', 'expired');
  CREATE INDEX notification_unsent_mail ON notification (ended_at, id) WHERE customer_id IS NOT NULL AND state IN ('failed', 'expired');

  CREATE TABLE notification_alert (
    alert_id ${text} NOT NULL,
    notification_id ${text} NOT NULL,
    PRIMARY KEY (alert_id, notification_id)
  ) ${keyedTable};

  -- What is sent later: mail, which is grouped by recipient, and what a channel wants only after a delay. recipient: the id of
  -- the channel or of the customer.
  CREATE TABLE deferred_notification (
    ${id},
    recipient ${text} NOT NULL,
    channel_id ${text},
    customer_id ${text},
    event ${text} NOT NULL,
    sequence ${integer}, -- of the event
    alert_id ${text}, -- null: about a refill
    tank_id ${text} NOT NULL,
    due_at ${integer} NOT NULL,
    created_at ${integer} NOT NULL
  ) ${table};
  CREATE INDEX deferred_notification_due ON deferred_notification (due_at, id);
  CREATE INDEX deferred_notification_by_recipient ON deferred_notification (recipient, due_at, id);

  -- Many deferred notifications of one recipient are collected here, some at a time, until they are one mail.
  CREATE TABLE digest_draft (
    recipient ${text} PRIMARY KEY,
    content ${text} NOT NULL -- JSON
  ) ${keyedTable};

  -- Links to confirm an e-mail address; only the hash of each token is stored.
  CREATE TABLE verification (
    hash ${text} PRIMARY KEY,
    customer_id ${text} NOT NULL REFERENCES customer (id),
    email ${text} NOT NULL,
    expires_at ${integer} NOT NULL
  ) ${keyedTable};
  CREATE INDEX verification_by_customer ON verification (customer_id);

  -- People of the operator.
  CREATE TABLE app_user (
    ${id},
    email ${text} NOT NULL,
    name ${text} NOT NULL,
    role ${text} NOT NULL,
    created_at ${integer} NOT NULL,
    updated_at ${integer} NOT NULL
  ) ${table};
  CREATE UNIQUE INDEX app_user_by_any_case_email ON app_user (lower(email));
  CREATE INDEX app_user_by_creation ON app_user (created_at, id);

  -- Browsers that are signed in: each to a user or to a customer.
  CREATE TABLE session (
    ${id},
    hash ${text} NOT NULL UNIQUE,
    user_id ${text} REFERENCES app_user (id),
    customer_id ${text} REFERENCES customer (id),
    created_at ${integer} NOT NULL,
    expires_at ${integer} NOT NULL,
    user_agent ${text}
  ) ${table};
  CREATE INDEX session_by_user ON session (user_id, created_at, id) WHERE user_id IS NOT NULL;
  CREATE INDEX session_by_customer ON session (customer_id, created_at, id) WHERE customer_id IS NOT NULL;
  CREATE INDEX session_by_expiry ON session (expires_at);

  -- Links and codes to sign in; only hashes are stored. Kept for an hour, to count them.
  CREATE TABLE sign_in (
    hash ${text} PRIMARY KEY,
    email ${text} NOT NULL,
    user_id ${text}, -- the only account that it opens, or customer_id
    customer_id ${text},
    code ${text},
    browser ${text}, -- that requested it
    tries ${integer} NOT NULL,
    created_at ${integer} NOT NULL,
    expires_at ${integer} NOT NULL
  ) ${keyedTable};
  CREATE INDEX sign_in_by_email ON sign_in (lower(email), created_at);
  CREATE INDEX sign_in_by_browser ON sign_in (browser, created_at) WHERE browser IS NOT NULL;
  CREATE INDEX sign_in_by_creation ON sign_in (created_at);

  -- Single values: the last sequence number of an event, when alerts were last swept, the state of the fleet order, the secret of unsubscribe links.
  CREATE TABLE service_state (
    name ${text} PRIMARY KEY,
    value ${text} NOT NULL
  ) ${keyedTable};
`;
}

/** Tables in the order in which their contents can be restored. */
export const tablesIn = (schema: string): string[] =>
  Array.from(schema.matchAll(/CREATE TABLE (\w+)/g), ([, name]) => name as string);

/** `tank.capacity` → `double precision`, and so on. */
export const columnTypesIn = (schema: string): ReadonlyMap<string, string> =>
  new Map(
    Array.from(schema.matchAll(/CREATE TABLE (\w+) \(\n(.*?)\n {2}\)/gs)).flatMap(([, table, columns = ""]) =>
      Array.from(columns.matchAll(/(?:^ +|KEY, )([a-z]\w*) (double precision|[\w[\]]+)/gm), ([, column, type = ""]) => [
        `${table}.${column}`,
        type,
      ]),
    ),
  );

export const missingTable = (name: unknown): UserError =>
  new UserError(`the database has no table "${name}": it was dropped or renamed. Rename it back, or restore a backup.`);
