// The operations of a transaction, many rows per statement.

import type { AlertSettings } from "../../domain/alerts/evaluate.ts";
import type { AuditContext, AuditedChange } from "../../domain/audit.ts";
import { type Change, type CustomerState, releasesDevice, type TankState } from "../../domain/changes.ts";
import type { IdempotencyKey, KeyChange } from "../../domain/commands/command.ts";
import { type DeviceAssignment, unknownDevice } from "../../domain/device.ts";
import type { Instant } from "../../domain/instant.ts";
import type { PendingReading, ResolvedReading } from "../../domain/placement.ts";
import type { Resource } from "../../domain/resource.ts";
import { MAX_PENDING } from "../../domain/store.ts";
import type { EngineTransaction } from "../check/check.ts";
import {
  AUDIT_COLUMNS,
  assignmentChecksum,
  CUSTOMER_FIELDS,
  customerChecksum,
  customerValues,
  deviceChecksum,
  intactPending,
  KEY_COLUMNS,
  KEY_TABLES,
  keyOf,
  pendingValues,
  STORED_ASSIGNMENT_COLUMNS,
  STORED_CUSTOMER_COLUMNS,
  STORED_DEVICE_COLUMNS,
  STORED_PENDING_COLUMNS,
  STORED_TANK_COLUMNS,
  storedAssignment,
  storedCustomer,
  storedDevice,
  storedProfile,
  storedTank,
  TANK_VALUE_COLUMNS,
  tankChecksum,
  tankValues,
} from "../columns.ts";
import { accountTables } from "../core/account-tables.ts";
import { alertTables } from "../core/alert-tables.ts";
import { channelTables } from "../core/channel-tables.ts";
import { forecastTables } from "../core/forecast-tables.ts";
import { notificationTables } from "../core/notification-tables.ts";
import { plannedTables } from "../core/planned-tables.ts";
import { type CountedDevice, PendingAlertWork, type SavedResult } from "../core/transaction.ts";
import { verificationTables } from "../core/verification-tables.ts";
import { EMPTY_HEAD, headChecksum } from "../series/checksum.ts";
import { byId, columnsOf, insertOn, isLookedUp, upsert } from "./batch.ts";
import { checkOperations } from "./check.ts";
import { type Db, prepareOn, statement } from "./connection.ts";
import { listOperations } from "./list-pages.ts";
import { rankIndexOperations } from "./rank-index.ts";
import { DIALECT } from "./schema.ts";
import { telemetryWrites } from "./telemetry-writes.ts";

/** All writes of lists, of all processes, run one after the other: they are rare, and many touch the same few rows. */
const LOCK_LISTS = statement("SELECT pg_advisory_xact_lock(5522219042)");
const LOCK_DEVICES = {
  exclusive: statement("SELECT pg_advisory_xact_lock(5522219043)"),
  shared: statement("SELECT pg_advisory_xact_lock_shared(5522219043)"),
};

const NOW = statement("SELECT CAST(extract(epoch FROM clock_timestamp()) * 1000 AS bigint)");
/** Held until the end of the transaction, so that events become visible in the order of their sequence numbers. */
const LOCK_ALERTS = statement("SELECT pg_advisory_xact_lock(5522219045)");

export function transactionOn(db: Db, alertSettings: AlertSettings, damagedTanks = new Set<string>()): EngineTransaction {
  const { storedGroups: _, ...rankIndexes } = rankIndexOperations(db);
  return {
    async lockLists() {
      await db.rows(LOCK_LISTS);
    },
    async lockDevices(mode) {
      await db.rows(LOCK_DEVICES[mode]);
    },
    ...lookups(db),
    ...objectWrites(db),
    ...deviceWrites(db),
    ...pendingWrites(db),
    ...telemetryWrites(db, alertSettings.closeMargin),
    ...alertTables(prepareOn(db), insertOn(db), "head"),
    ...notificationTables(prepareOn(db), DIALECT),
    ...channelTables(prepareOn(db)),
    ...forecastTables(prepareOn(db), insertOn(db)),
    ...plannedTables(prepareOn(db)),
    ...verificationTables(prepareOn(db)),
    ...accountTables(prepareOn(db), DIALECT),
    alertWork: new PendingAlertWork(),
    alertSettings,
    damagedTanks,
    async lockAlerts() {
      await db.rows(LOCK_ALERTS);
    },
    now: async () => Number((await db.rows(NOW))[0]?.[0]),
    ...rankIndexes,
    ...listOperations(db),
    ...auditWrites(db),
    ...idempotencyWrites(db),
    repairs: () => checkOperations(db),
  };
}

/** Locked, since `last_seen_at` is updated without the lock of the lists. */
const CUSTOMERS = statement(
  `SELECT ${STORED_CUSTOMER_COLUMNS} FROM customer WHERE id = ANY ($1::text[]) ORDER BY id FOR NO KEY UPDATE`,
);
const TANKS = statement(`SELECT ${STORED_TANK_COLUMNS} FROM tank WHERE id = ANY ($1::text[])`);
const TANKS_OF_OWNERS = statement(`
  SELECT ${STORED_TANK_COLUMNS} FROM tank WHERE owner_id = ANY ($1::text[]) AND NOT deleted ORDER BY created_at, id`); // tank_by_owner
const TANKS_DELETED_WITH = statement(`
  SELECT ${STORED_TANK_COLUMNS} FROM tank WHERE deleted AND owner_id = ANY ($1::text[])
    AND deleted_at = (SELECT deleted_at FROM customer WHERE customer.id = tank.owner_id)
  ORDER BY created_at, id`); // tank_deleted
const DEVICES = statement(`SELECT ${STORED_DEVICE_COLUMNS} FROM device WHERE id = ANY ($1::text[])`);
const ASSIGNMENTS = statement(`
  SELECT ${STORED_ASSIGNMENT_COLUMNS} FROM device_assignment WHERE device = ANY ($1::text[]) ORDER BY device, until`);
/** Unknown devices of all processes are added one after the other, so that the number of devices is exact. */
const LOCK_UNKNOWN_DEVICES = statement("SELECT pg_advisory_xact_lock(5522219044)");
const DEVICES_WITH_PENDING = statement("SELECT count(*) FROM (SELECT FROM device WHERE pending > 0 LIMIT $1) AS counted"); // device_pending
const KEYS = statement(`SELECT ${KEY_COLUMNS} FROM ${KEY_TABLES} WHERE k.id = ANY ($1::text[])`);

function lookups(db: Db) {
  type Ids = readonly string[];
  return {
    customers: async (ids: Ids) => byId(ids, await db.rows(CUSTOMERS, [ids]), storedCustomer),
    tanks: async (ids: Ids) => byId(ids, await db.rows(TANKS, [ids]), storedTank),
    tanksOfOwners: async (ids: Ids) => (await db.rows(TANKS_OF_OWNERS, [ids])).map(storedTank),
    tanksDeletedWith: async (ids: Ids) => (await db.rows(TANKS_DELETED_WITH, [ids])).map(storedTank),
    devices: async (ids: Ids) => byId(ids, await db.rows(DEVICES, [ids]), storedDevice),
    assignments: async (ids: Ids) => (await db.rows(ASSIGNMENTS, [ids])).map(storedAssignment),
    async devicesWithPending(limit: number) {
      await db.rows(LOCK_UNKNOWN_DEVICES, []);
      return Number((await db.rows(DEVICES_WITH_PENDING, [limit]))[0]?.[0]);
    },
    keys: async (ids: Ids) => byId(ids, await db.rows(KEYS, [ids]), keyOf),
  };
}

const PUT_CUSTOMERS = upsert("customer", ["id", ...CUSTOMER_FIELDS, "deleted", "checksum", "deleted_at"]);
const PUT_TANKS = upsert("tank", ["id", ...TANK_VALUE_COLUMNS, "deleted", "checksum", "deleted_at"]);
/** tank_by_device is unique among live tanks. */
const RELEASE_DEVICES = statement("UPDATE tank SET deleted = true WHERE id = ANY ($1::text[])");
const ADD_HEADS = statement("INSERT INTO head (tank, checksum) SELECT * FROM unnest($1::text[], $2::bigint[])");
const ADD_TANK_COUNTS = statement(`
  UPDATE customer SET tank_count = tank_count + owned.delta
  FROM unnest($1::text[], $2::integer[]) AS owned (id, delta) WHERE ${isLookedUp("customer.id", "owned.id")}`);
const SET_THRESHOLDS = statement(`
  UPDATE head SET threshold = new.threshold,
    active_conditions = CASE WHEN new.threshold IS NULL THEN 0 ELSE active_conditions END,
    evaluate_at = CASE WHEN new.threshold IS NULL THEN NULL ELSE evaluate_at END
  FROM unnest($1::text[], $2::integer[]) AS new (tank, threshold) WHERE ${isLookedUp("head.tank", "new.tank")}`);
const UPDATE_LAST_SEEN = statement(`
  UPDATE customer SET last_seen_at = seen.at, checksum = checksum + seen.at - coalesce(last_seen_at, 0)
  FROM (SELECT * FROM unnest($1::text[], $2::bigint[]) AS seen (id, at) ORDER BY id) AS seen
  WHERE customer.id = seen.id AND (last_seen_at IS NULL OR last_seen_at < seen.at)`);
const INSERT_KEY = statement(
  `INSERT INTO api_key (id, hash, name, role, customer_id, device_id, rate, created_at, expires_at, revoked_at, replaced_by)
   VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11)`,
);
const UPDATE_KEY = statement(
  "UPDATE api_key SET name = $2, rate = $3, expires_at = $4, revoked_at = $5, replaced_by = $6 WHERE id = $1",
);

/** Null unless the object is deleted now. */
function deletedAt({ before, after }: Change<{ readonly deleted: boolean }>, at: Instant): Instant | null {
  return after.deleted && before?.deleted !== true ? at : null;
}

function objectWrites(db: Db) {
  return {
    async putCustomers(changes: readonly Change<CustomerState>[], at: Instant): Promise<void> {
      const rows = changes.map((change) => {
        const { id, after } = change;
        return [id, ...customerValues(after), after.deleted, customerChecksum(after), deletedAt(change, at)];
      });
      await db.rows(PUT_CUSTOMERS, columnsOf(rows));
    },

    async putTanks(changes: readonly Change<TankState>[], at: Instant): Promise<void> {
      const released = changes.filter(releasesDevice).map(({ id }) => id);
      if (released.length > 0) await db.rows(RELEASE_DEVICES, [released]);
      const rows = changes.map((change) => {
        const { id, after } = change;
        return [id, ...tankValues(after), after.deleted, tankChecksum(after), deletedAt(change, at)];
      });
      await db.rows(PUT_TANKS, columnsOf(rows));
      const created = changes.filter(({ before }) => before === undefined).map(({ id }) => id);
      if (created.length > 0) await db.rows(ADD_HEADS, [created, created.map((id) => headChecksum(id, EMPTY_HEAD))]);
    },

    async addTankCounts(deltas: ReadonlyMap<string, number>): Promise<void> {
      if (deltas.size > 0) await db.rows(ADD_TANK_COUNTS, [[...deltas.keys()], [...deltas.values()]]);
    },

    /** Locks heads in the order of their ids, as every write does. */
    async setThresholds(thresholds: ReadonlyMap<string, number | null>): Promise<void> {
      const ids = [...thresholds.keys()].sort();
      if (ids.length > 0) await db.rows(SET_THRESHOLDS, [ids, ids.map((id) => thresholds.get(id) ?? null)]);
    },

    async updateLastSeen(seen: ReadonlyMap<string, Instant>): Promise<void> {
      await db.rows(UPDATE_LAST_SEEN, [[...seen.keys()], [...seen.values()]]);
    },

    async putKeys(changes: readonly KeyChange[]): Promise<void> {
      for (const { after, hash } of changes) {
        const { id, name, role, customer_id, device_id, rate, created_at, expires_at, revoked_at, replaced_by } = after;
        if (hash === undefined) await db.rows(UPDATE_KEY, [id, name, rate, expires_at, revoked_at, replaced_by]);
        else {
          const columns = [role, customer_id, device_id, rate, created_at, expires_at, revoked_at, replaced_by];
          await db.rows(INSERT_KEY, [id, hash, name, ...columns]);
        }
      }
    },
  };
}

const PUT_DEVICES = upsert("device", ["id", "tank", "since", "profile", "dropped", "checksum"]);
const REMOVE_DEVICES = statement("DELETE FROM device WHERE id = ANY ($1::text[])");
const PUT_ASSIGNMENTS = upsert("device_assignment", ["device", "until", "tank", "checksum"], 2);

function deviceWrites(db: Db) {
  return {
    async putDevices(devices: readonly CountedDevice[]): Promise<void> {
      const rows = devices.map(({ device, dropped }) => {
        const { id, tank_id, since, profile } = device;
        return [id, tank_id, since, storedProfile(profile), dropped, deviceChecksum(device, dropped)];
      });
      await db.rows(PUT_DEVICES, columnsOf(rows));
    },

    async putAssignments(assignments: readonly DeviceAssignment[]): Promise<void> {
      const rows = assignments.map((assignment) => {
        const { device, until, tankId } = assignment;
        return [device, until, tankId, assignmentChecksum(assignment)];
      });
      await db.rows(PUT_ASSIGNMENTS, columnsOf(rows));
    },

    async removeDevices(ids: readonly string[]): Promise<void> {
      await db.rows(REMOVE_DEVICES, [ids]);
    },
  };
}

/** Adds unknown devices, and locks the rows of all in the order given. */
const LOCK_DEVICE_ROWS = statement(`
  INSERT INTO device (id, checksum) SELECT * FROM unnest($1::text[], $2::bigint[])
  ON CONFLICT (id) DO UPDATE SET pending = device.pending`);
const ADD_PENDING = statement(`
  INSERT INTO pending_reading (${STORED_PENDING_COLUMNS})
  SELECT * FROM unnest($1::text[], $2::bigint[], $3::double precision[], $4::text[], $5::text[], $6::bigint[])
  ON CONFLICT (device, created_at) DO UPDATE SET fill = excluded.fill, payload = excluded.payload,
    customer_id = excluded.customer_id, checksum = excluded.checksum`);
const REMOVE_PENDING = statement(`
  DELETE FROM pending_reading WHERE ctid = ANY (ARRAY(
    SELECT own.ctid FROM unnest($1::text[], $2::bigint[]) AS resolved (device, created_at)
    CROSS JOIN LATERAL (
      SELECT ctid FROM pending_reading WHERE device = resolved.device AND created_at = resolved.created_at OFFSET 0
    ) AS own
  ))`);
/** $1 devices, $2 rejected readings of each. Keeps the newest readings of each, and its counts. By primary keys. */
const TRIM_AND_COUNT = statement(`
  WITH counted AS MATERIALIZED (
    SELECT given.id, given.rejected, own.total FROM unnest($1::text[], $2::bigint[]) AS given (id, rejected)
    CROSS JOIN LATERAL (SELECT count(*) AS total FROM pending_reading WHERE device = given.id) AS own
  ), trimmed AS (
    DELETE FROM pending_reading WHERE ctid = ANY (ARRAY(
      SELECT own.ctid FROM counted CROSS JOIN LATERAL (
        SELECT ctid FROM pending_reading WHERE device = counted.id ORDER BY created_at DESC OFFSET ${MAX_PENDING}
      ) AS own WHERE counted.total > ${MAX_PENDING}
    ))
  )
  UPDATE device SET pending = least(total, ${MAX_PENDING}), dropped = dropped + more, checksum = checksum + more
  FROM (SELECT *, rejected + greatest(0, total - ${MAX_PENDING}) AS more FROM counted) AS own
  WHERE ${isLookedUp("device.id", "own.id")}`);
const REMOVE_ALL_PENDING = statement("DELETE FROM pending_reading WHERE device = ANY ($1::text[])");
const RESET_COUNTS = statement(
  "UPDATE device SET pending = 0, dropped = 0, checksum = checksum - dropped WHERE id = ANY ($1::text[])",
);
const PENDING_OF_DEVICES = statement(`
  SELECT ${STORED_PENDING_COLUMNS} FROM pending_reading WHERE device = ANY ($1::text[]) ORDER BY device, created_at`);
const DEVICES_WITH_PENDING_FOR = statement(`
  SELECT id FROM device WHERE pending > 0 AND (tank = ANY ($1::text[]) OR EXISTS (
    SELECT FROM device_assignment AS past WHERE past.device = device.id AND past.tank = ANY ($1::text[])
  ))`); // device_pending

function pendingWrites(db: Db) {
  const lockDeviceRows = (ids: readonly string[]) =>
    db.rows(LOCK_DEVICE_ROWS, [ids, ids.map((id) => deviceChecksum(unknownDevice(id), 0))]);
  return {
    devicesWithPendingFor: async (tankIds: readonly string[]): Promise<string[]> =>
      (await db.rows(DEVICES_WITH_PENDING_FOR, [tankIds])).map(([id]) => String(id)),

    pendingReadings: async (deviceIds: readonly string[]): Promise<PendingReading[]> =>
      (await db.rows(PENDING_OF_DEVICES, [deviceIds])).map(intactPending),

    async addPending(readings: readonly PendingReading[]): Promise<void> {
      // Of readings of one device and instant, the last one counts.
      const last = [...new Map(readings.map((reading) => [`${reading.created_at} ${reading.device}`, reading])).values()];
      const devices = [...new Set(last.map(({ device }) => device))].sort();
      await lockDeviceRows(devices);
      await db.rows(ADD_PENDING, columnsOf(last.map(pendingValues)));
      await db.rows(TRIM_AND_COUNT, [devices, devices.map(() => 0)]);
    },

    async resolvePending(readings: readonly ResolvedReading[]): Promise<void> {
      const rejected = new Map(readings.map(({ device }) => [device, 0]));
      for (const { device, isRejected } of readings) if (isRejected) rejected.set(device, (rejected.get(device) ?? 0) + 1);
      const devices = [...rejected.keys()].sort();
      await lockDeviceRows(devices);
      await db.rows(REMOVE_PENDING, [readings.map(({ device }) => device), readings.map(({ created_at }) => created_at)]);
      await db.rows(TRIM_AND_COUNT, [devices, devices.map((device) => rejected.get(device) ?? 0)]);
    },

    async removePending(deviceIds: readonly string[]): Promise<void> {
      await db.rows(REMOVE_ALL_PENDING, [deviceIds]);
      await db.rows(RESET_COUNTS, [deviceIds]);
    },
  };
}

/** Entries never go back in time. By primary key. */
const APPEND_AUDIT = statement(`
  INSERT INTO audit (${AUDIT_COLUMNS})
  SELECT coalesce(last.number, 0) + entry.place, greatest($1::bigint, last.at), $2::text, object, id, action, changes
  FROM (SELECT) AS one LEFT JOIN (SELECT number, at FROM audit ORDER BY number DESC LIMIT 1) AS last ON true
  CROSS JOIN unnest($3::text[], $4::text[], $5::text[], $6::text[]) WITH ORDINALITY AS entry (object, id, action, changes, place)`);

function auditWrites(db: Db) {
  return {
    async appendAudit(entries: readonly AuditedChange[], { by, at }: AuditContext): Promise<void> {
      if (entries.length === 0) return;
      const rows = entries.map(({ object, id, action, changes }) => [object, id, action, JSON.stringify(changes)]);
      await db.rows(APPEND_AUDIT, [at, by, ...columnsOf(rows)]);
    },
  };
}

const MAX_EXPIRED_REMOVED = 500;
const SAVED_RESULT = statement("SELECT fingerprint, resource FROM idempotency WHERE who = $1 AND key = $2 AND at > $3");
const SAVE_RESULT = statement(`
  INSERT INTO idempotency (who, key, at, fingerprint, resource) VALUES ($1, $2, $3, $4, $5)
  ON CONFLICT (who, key) DO UPDATE SET at = excluded.at, fingerprint = excluded.fingerprint, resource = excluded.resource`);
const REMOVE_EXPIRED = statement(`
  DELETE FROM idempotency WHERE ctid = ANY (ARRAY(
    SELECT ctid FROM idempotency WHERE at <= $1 ORDER BY at LIMIT ${MAX_EXPIRED_REMOVED}
  ))`); // idempotency_by_time

function idempotencyWrites(db: Db) {
  return {
    async savedResult(by: string, key: string, since: Instant): Promise<SavedResult | undefined> {
      const [row] = await db.rows(SAVED_RESULT, [by, key, since]);
      return row && { fingerprint: String(row[0]), resource: JSON.parse(String(row[1])) as Resource };
    },

    async saveResult(
      { key, fingerprint }: IdempotencyKey,
      { by, at }: AuditContext,
      resource: Resource,
      expired: Instant,
    ): Promise<void> {
      await db.rows(REMOVE_EXPIRED, [expired]);
      await db.rows(SAVE_RESULT, [by, key, at, fingerprint, JSON.stringify(resource)]);
    },
  };
}
