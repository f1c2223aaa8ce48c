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
    tank_count ${integer} NOT NULL DEFAULT 0,
    deleted ${flag},
    deleted_at ${integer},
    checksum ${integer} NOT NULL
  ) ${table};
  CREATE INDEX customer_by_creation ON customer (created_at, id) WHERE ${isLive};
  CREATE INDEX customer_by_email ON customer (email, created_at, id) WHERE ${isLive};
  CREATE INDEX customer_by_name ON customer (lower(name)) WHERE ${isLive};
  CREATE INDEX customer_by_any_case_email ON customer (lower(email)) WHERE ${isLive};
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
    deleted ${flag},
    deleted_at ${integer},
    checksum ${integer} NOT NULL
  ) ${table};
  CREATE INDEX tank_by_creation ON tank (created_at, id) WHERE ${isLive};
  CREATE INDEX tank_by_owner ON tank (owner_id, created_at, id) WHERE ${isLive};
  CREATE UNIQUE INDEX tank_by_device ON tank (assigned_device_id) WHERE ${isLive};
  CREATE INDEX tank_by_name ON tank (lower(name)) WHERE ${isLive};
  CREATE INDEX tank_by_city ON tank (lower(city)) WHERE ${isLive};
  CREATE INDEX tank_by_custom_id ON tank (lower(custom_id)) WHERE ${isLive};
  CREATE INDEX tank_deleted ON tank (created_at, id) WHERE ${isDeleted};

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

  -- Every device that serves a tank, has a profile, or has sent a reading. pending counts its rows in pending_reading.
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

  -- Past assignments: the device served the tank until then.
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
`;
}

/** In the order in which their contents can be restored. */
export const tablesIn = (schema: string): string[] =>
  Array.from(schema.matchAll(/CREATE TABLE (\w+)/g), ([, name]) => name as string);

export const missingTable = (name: unknown): UserError =>
  new UserError(`the database has no table "${name}": it was dropped or renamed. Rename it back, or restore a backup.`);
