// The operations of a transaction on the writing connection. SQLite is synchronous: the promises are resolved already, so
// that nothing else runs between the steps of a transaction.

import type { DatabaseSync } from "node:sqlite";
import type { AuditContext, AuditedChange } from "../../domain/audit.ts";
import { type Change, type CustomerState, releasesDevice, type TankWithShape } from "../../domain/changes.ts";
import type { IdempotencyKey, KeyChange } from "../../domain/commands/command.ts";
import type { Device, DeviceMove } from "../../domain/device.ts";
import type { Instant } from "../../domain/instant.ts";
import type { PendingReading, ResolvedReading } from "../../domain/placement.ts";
import type { DeviceWithHistory } from "../../domain/records.ts";
import type { Resource } from "../../domain/resource.ts";
import { MAX_PENDING } from "../../domain/store.ts";
import type { EngineTransaction } from "../check/check.ts";
import type { CheckOperations } from "../check/operations.ts";
import {
  ASSIGNMENT_COLUMNS,
  assignmentOf,
  CUSTOMER_COLUMNS,
  CUSTOMER_FIELDS,
  customerState,
  customerValues,
  DEVICE_COLUMNS,
  KEY_COLUMNS,
  KEY_TABLES,
  keyOf,
  LOCATION_FIELDS,
  managedDevice,
  PENDING_COLUMNS,
  pendingOf,
  TANK_FIELDS,
  TANK_WITH_SHAPE_COLUMNS,
  tankValues,
  tankWithShape,
} from "../columns.ts";
import type { SavedResult, StoreTransaction } from "../core/transaction.ts";
import { lastReading } from "../series/block.ts";
import { checkOperations } from "./check.ts";
import { listWrites } from "./list-pages.ts";
import { promised, query, type SqliteRow, type Synchronous, upsert } from "./statements.ts";
import { fleetColumns, telemetryWrites } from "./telemetry-writes.ts";

/** `pause` is called between tanks. */
export function transactionOn(db: DatabaseSync, pause: () => void): EngineTransaction {
  const operations = {
    ...lookups(db),
    ...objectWrites(db),
    ...deviceWrites(db),
    ...pendingWrites(db),
    ...telemetryWrites(db, pause),
    ...listWrites(db),
    ...auditWrites(db),
    ...idempotencyWrites(db),
    lockLists: () => {},
    lockDevices: () => {},
  } as Synchronous<StoreTransaction>;
  let repairs: CheckOperations | undefined;
  return {
    ...promised(operations),
    repairs() {
      repairs ??= checkOperations(db);
      return repairs;
    },
  };
}

function lookups(db: DatabaseSync) {
  const byId = <T>(sql: string, toObject: (row: SqliteRow) => T) => {
    const rowOf = query(db, sql);
    return (ids: readonly string[]): Map<string, T> => {
      const found = new Map<string, T>();
      for (const id of ids) {
        const row = rowOf.get(id);
        if (row !== undefined) found.set(id, toObject(row));
      }
      return found;
    };
  };
  const ofOwner = query(
    db,
    `SELECT ${TANK_WITH_SHAPE_COLUMNS} FROM tank WHERE owner_id = ? AND deleted = 0 ORDER BY created_at, id`, // tank_by_owner
  );
  // Deleted tanks are few: owner_id has no index among them.
  const deletedWith = query(
    db,
    `SELECT ${TANK_WITH_SHAPE_COLUMNS} FROM tank WHERE owner_id = ?1 AND deleted = 1
       AND deleted_at = (SELECT deleted_at FROM customer WHERE id = ?1) ORDER BY created_at, id`,
  );
  const assignments = query(db, `SELECT ${ASSIGNMENT_COLUMNS} FROM device_assignment WHERE device = ? ORDER BY until`);
  const devicesWithPending = query(db, "SELECT count(*) FROM (SELECT 1 FROM device WHERE pending > 0 LIMIT ?)"); // device_pending
  return {
    customers: byId(`SELECT ${CUSTOMER_COLUMNS} FROM customer WHERE id = ?`, customerState),
    tanks: byId(`SELECT ${TANK_WITH_SHAPE_COLUMNS} FROM tank WHERE id = ?`, tankWithShape),
    tanksOfOwners: (ids: readonly string[]) => ids.flatMap((id) => ofOwner.all(id).map(tankWithShape)),
    tanksDeletedWith: (ids: readonly string[]) => ids.flatMap((id) => deletedWith.all(id).map(tankWithShape)),
    devices: byId(`SELECT ${DEVICE_COLUMNS} FROM device WHERE id = ?`, managedDevice),
    assignments: (ids: readonly string[]) => ids.flatMap((id) => assignments.all(id).map(assignmentOf)),
    devicesWithPending: (limit: number) => Number(devicesWithPending.get(limit)?.[0]),
    keys: byId(`SELECT ${KEY_COLUMNS} FROM ${KEY_TABLES} WHERE k.id = ?`, keyOf),
  };
}

function objectWrites(db: DatabaseSync) {
  const putCustomer = upsert(db, "customer", ["id", ...CUSTOMER_FIELDS, "deleted", "deleted_at"]);
  const putTank = upsert(db, "tank", ["id", ...TANK_FIELDS, ...LOCATION_FIELDS, "shape", "deleted", "deleted_at"]);
  const customerDeletedAt = query(db, "SELECT deleted_at FROM customer WHERE id = ?");
  const tankDeletedAt = query(db, "SELECT deleted_at FROM tank WHERE id = ?");
  // tank_by_device is unique among live tanks.
  const releaseDevice = db.prepare("UPDATE tank SET deleted = 1 WHERE id = ?");
  const addHead = db.prepare("INSERT INTO head (tank) SELECT pk FROM tank WHERE id = ?");
  const addTankCount = db.prepare("UPDATE customer SET tank_count = tank_count + ? WHERE id = ?");
  const headOf = query(db, "SELECT h.data FROM tank t JOIN head h ON h.tank = t.pk WHERE t.id = ?");
  const putFleet = upsert(db, "fleet", ["tank", "threshold", "at", "fill", "urgency", "heard"]);
  const removeFleet = db.prepare("DELETE FROM fleet WHERE tank = ?");
  const updateLastSeen = db.prepare("UPDATE customer SET last_seen_at = max(coalesce(last_seen_at, ?1), ?1) WHERE id = ?2");
  const insertKey = db.prepare(
    `INSERT INTO api_key (id, hash, name, role, customer_id, device_id, rate, created_at, expires_at, revoked_at, replaced_by)
     VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?)`,
  );
  const updateKey = db.prepare(
    "UPDATE api_key SET name = ?, rate = ?, expires_at = ?, revoked_at = ?, replaced_by = ? WHERE id = ?",
  );

  return {
    putCustomers(changes: readonly Change<CustomerState>[], at: Instant): void {
      for (const { id, before, after } of changes) {
        const known = before?.deleted === true ? customerDeletedAt.get(id)?.[0] : undefined;
        putCustomer.run(id, ...customerValues(after.customer), Number(after.deleted), after.deleted ? (known ?? at) : null);
      }
    },

    putTanks(changes: readonly Change<TankWithShape>[], at: Instant): void {
      const deletedAt = new Map(
        changes.filter(({ before }) => before?.deleted === true).map(({ id }) => [id, tankDeletedAt.get(id)?.[0]]),
      );
      for (const { id } of changes.filter(releasesDevice)) releaseDevice.run(id);
      for (const { id, before, after } of changes) {
        putTank.run(id, ...tankValues(after), Number(after.deleted), after.deleted ? (deletedAt.get(id) ?? at) : null);
        if (before === undefined) addHead.run(id);
      }
    },

    addTankCounts(deltas: ReadonlyMap<string, number>): void {
      for (const [id, delta] of deltas) addTankCount.run(delta, id);
    },

    setThresholds(thresholds: ReadonlyMap<string, number | null>): void {
      for (const [id, threshold] of thresholds) {
        const head = headOf.get(id)?.[0] as Uint8Array | undefined;
        if (threshold === null) removeFleet.run(id);
        else putFleet.run(id, threshold, ...fleetColumns(threshold, head && lastReading(head)));
      }
    },

    updateLastSeen(seen: ReadonlyMap<string, Instant>): void {
      for (const [id, at] of seen) updateLastSeen.run(at, id);
    },

    putKeys(changes: readonly KeyChange[]): void {
      for (const { after, hash } of changes) {
        const { id, name, role, customer_id, device_id, rate, created_at, expires_at, revoked_at, replaced_by } = after;
        if (hash === undefined) updateKey.run(name, rate, expires_at, revoked_at, replaced_by, id);
        else insertKey.run(id, hash, name, role, customer_id, device_id, rate, created_at, expires_at, revoked_at, replaced_by);
      }
    },
  };
}

function deviceWrites(db: DatabaseSync) {
  const move = upsert(db, "device", ["id", "tank", "since"]);
  const put = upsert(db, "device", ["id", "since", "profile", "dropped"]);
  const setProfile = upsert(db, "device", ["id", "profile"]);
  const remove = db.prepare("DELETE FROM device WHERE id = ?");
  const putAssignment = upsert(db, "device_assignment", ["device", "until", "tank"], 2);
  return {
    moveDevices(moves: readonly DeviceMove[]): void {
      for (const { device, ended } of moves) {
        move.run(device.id, device.tank_id, device.since);
        if (ended !== undefined) putAssignment.run(ended.device, ended.until, ended.tankId);
      }
    },

    putDevices(devices: readonly DeviceWithHistory[]): void {
      for (const { device, dropped, assignments } of devices) {
        put.run(device.id, device.since, jsonOrNull(device.profile), dropped);
        for (const { until, tankId } of assignments) putAssignment.run(device.id, until, tankId);
      }
    },

    setProfiles(devices: readonly Pick<Device, "id" | "profile">[]): void {
      for (const { id, profile } of devices) setProfile.run(id, jsonOrNull(profile));
    },

    removeDevices(ids: readonly string[]): void {
      for (const id of ids) remove.run(id);
    },
  };
}

/** The count of each device is kept with its pending readings. */
function pendingWrites(db: DatabaseSync) {
  const ofDevice = query(db, `SELECT ${PENDING_COLUMNS} FROM pending_reading WHERE device = ? ORDER BY created_at`);
  const ofTank = query(
    db,
    `SELECT id FROM device WHERE pending > 0 AND (tank = ?1
       OR EXISTS (SELECT 1 FROM device_assignment WHERE device_assignment.device = device.id AND device_assignment.tank = ?1))`, // device_pending
  );
  const add = upsert(db, "pending_reading", PENDING_COLUMNS.split(", "), 2);
  const remove = db.prepare("DELETE FROM pending_reading WHERE device = ? AND created_at = ?");
  const removeAll = db.prepare("DELETE FROM pending_reading WHERE device = ?");
  const resetCounts = db.prepare("UPDATE device SET pending = 0, dropped = 0 WHERE id = ?");
  const trim = db.prepare(
    `DELETE FROM pending_reading WHERE device = ?1 AND created_at <
       (SELECT created_at FROM pending_reading WHERE device = ?1 ORDER BY created_at DESC LIMIT 1 OFFSET ${MAX_PENDING - 1})`,
  );
  const count = db.prepare(
    `INSERT INTO device (id, pending, dropped) VALUES (?1, (SELECT count(*) FROM pending_reading WHERE device = ?1), ?2)
     ON CONFLICT (id) DO UPDATE SET pending = excluded.pending, dropped = dropped + excluded.dropped`,
  );

  return {
    devicesWithPendingFor: (tankIds: readonly string[]): string[] =>
      tankIds.flatMap((id) => ofTank.all(id).map(([device]) => String(device))),

    pendingReadings: (deviceIds: readonly string[]): PendingReading[] =>
      deviceIds.flatMap((id) => ofDevice.all(id).map(pendingOf)),

    addPending(readings: readonly PendingReading[]): void {
      for (const { device, created_at, fill, payload, customer_id } of readings) {
        add.run(device, created_at, fill, payload, customer_id);
      }
      for (const device of new Set(readings.map((reading) => reading.device))) {
        count.run(device, Number(trim.run(device).changes));
      }
    },

    resolvePending(readings: readonly ResolvedReading[]): void {
      for (const { device, created_at } of readings) remove.run(device, created_at);
      for (const [device, own] of Map.groupBy(readings, (reading) => reading.device)) {
        count.run(device, own.filter(({ isRejected }) => isRejected).length);
      }
    },

    removePending(deviceIds: readonly string[]): void {
      for (const id of deviceIds) {
        removeAll.run(id);
        resetCounts.run(id);
      }
    },
  };
}

function auditWrites(db: DatabaseSync) {
  const last = query(db, "SELECT number, at FROM audit ORDER BY number DESC LIMIT 1");
  const add = db.prepare("INSERT INTO audit (number, at, who, object, id, action, changes) VALUES (?, ?, ?, ?, ?, ?, ?)");
  return {
    /** Entries never go back in time, so that a page is found by its number. */
    appendAudit(entries: readonly AuditedChange[], { by, at }: AuditContext): void {
      if (entries.length === 0) return;
      const [number = 0, before = at] = (last.get() ?? []) as readonly number[];
      entries.forEach(({ object, id, action, changes }, i) => {
        add.run(number + 1 + i, Math.max(at, before), by, object, id, action, JSON.stringify(changes));
      });
    },
  };
}

const MAX_EXPIRED_REMOVED = 500;

function idempotencyWrites(db: DatabaseSync) {
  const saved = query(db, "SELECT fingerprint, resource FROM idempotency WHERE who = ? AND key = ? AND at > ?");
  const save = upsert(db, "idempotency", ["who", "key", "at", "fingerprint", "resource"], 2);
  const removeExpired = db.prepare(
    `DELETE FROM idempotency WHERE (who, key) IN
       (SELECT who, key FROM idempotency WHERE at <= ? ORDER BY at LIMIT ${MAX_EXPIRED_REMOVED})`, // idempotency_by_time
  );
  return {
    savedResult(by: string, key: string, since: Instant): SavedResult | undefined {
      const row = saved.get(by, key, since);
      return row && { fingerprint: String(row[0]), resource: JSON.parse(String(row[1])) as Resource };
    },

    saveResult({ key, fingerprint }: IdempotencyKey, { by, at }: AuditContext, resource: Resource, expired: Instant): void {
      removeExpired.run(expired);
      save.run(by, key, at, fingerprint, JSON.stringify(resource));
    },
  };
}

function jsonOrNull(value: unknown): string | null {
  return value === null ? null : JSON.stringify(value);
}
