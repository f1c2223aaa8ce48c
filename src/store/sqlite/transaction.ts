// The operations of a transaction on the writing connection. They are asynchronous in type only: SQLite waits for nothing, so
// that nothing else runs between the steps of a transaction.

import type { DatabaseSync } from "node:sqlite";
import type { AlertSettings } from "../../domain/alerts/evaluate.ts";
import { unknownDevice } from "../../domain/device.ts";
import type { Instant } from "../../domain/instant.ts";
import type { PendingReading, ResolvedReading } from "../../domain/placement.ts";
import { MAX_PENDING } from "../../domain/store.ts";
import type { EngineTransaction } from "../check/check.ts";
import type { CheckOperations } from "../check/operations.ts";
import {
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
  storedTank,
} from "../columns.ts";
import type { InsertRows } from "../core/many-rows.ts";
import type { Prepare } from "../core/reads.ts";
import { sharedTables } from "../core/shared.ts";
import { PendingAlertWork } from "../core/transaction.ts";
import { fleetRow } from "../fleet-row.ts";
import { lastReading } from "../series/block.ts";
import { EMPTY_HEAD, headChecksum, openHead } from "../series/checksum.ts";
import { checkOperations } from "./check.ts";
import { listWrites } from "./list-pages.ts";
import { DIALECT } from "./schema.ts";
import { QueryCache, query, type SqliteRow, upsert } from "./statements.ts";
import { headReads, telemetryWrites } from "./telemetry-writes.ts";

/** `pause` is called between tanks. */
export function transactionOn(
  db: DatabaseSync,
  pause: () => void,
  alertSettings: AlertSettings,
  damagedTanks = new Set<string>(),
): EngineTransaction {
  const statements = new QueryCache(db);
  const prepare: Prepare =
    (sql) =>
    async (...values) =>
      statements.rows(sql, values);
  const insert: InsertRows = async (table, columns, rows, end = "") => {
    const add = statements.query(
      `INSERT INTO ${table} (${columns.join(", ")}) VALUES (${columns.map(() => "?").join(", ")}) ${end}`,
    );
    for (const row of rows) add.all(...row);
  };
  const addHeads = async (tankIds: readonly string[]): Promise<void> => {
    const add = statements.query("INSERT INTO head (tank, checksum) SELECT pk, ?2 FROM tank WHERE id = ?1");
    for (const id of tankIds) add.all(id, headChecksum(id, EMPTY_HEAD));
  };
  let repairs: CheckOperations | undefined;
  return {
    ...lookups(db),
    ...fleetWrites(db),
    ...pendingWrites(db),
    ...telemetryWrites(db, pause, alertSettings.closeMargin),
    ...listWrites(db),
    ...sharedTables(prepare, insert, DIALECT, addHeads),
    alertWork: new PendingAlertWork(),
    alertSettings,
    damagedTanks,
    lockLists: async () => {},
    lockDevices: async () => {},
    lockAlerts: async () => {},
    now: async () => Date.now(),
    repairs() {
      repairs ??= checkOperations(db);
      return repairs;
    },
  };
}

function lookups(db: DatabaseSync) {
  const byId = <T>(sql: string, toObject: (row: SqliteRow) => T) => {
    const rowOf = query(db, sql);
    return async (ids: readonly string[]): Promise<Map<string, T>> => {
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
    `SELECT ${STORED_TANK_COLUMNS} FROM tank WHERE owner_id = ? AND deleted = 0 ORDER BY created_at, id`, // tank_by_owner
  );
  // Deleted tanks are few: owner_id has no index among them.
  const deletedWith = query(
    db,
    `SELECT ${STORED_TANK_COLUMNS} FROM tank WHERE owner_id = ?1 AND deleted = 1
       AND deleted_at = (SELECT deleted_at FROM customer WHERE id = ?1) ORDER BY created_at, id`,
  );
  const assignments = query(db, `SELECT ${STORED_ASSIGNMENT_COLUMNS} FROM device_assignment WHERE device = ? ORDER BY until`);
  const devicesWithPending = query(db, "SELECT count(*) FROM (SELECT 1 FROM device WHERE pending > 0 LIMIT ?)"); // device_pending
  return {
    customers: byId(`SELECT ${STORED_CUSTOMER_COLUMNS} FROM customer WHERE id = ?`, storedCustomer),
    tanks: byId(`SELECT ${STORED_TANK_COLUMNS} FROM tank WHERE id = ?`, storedTank),
    tanksOfOwners: async (ids: readonly string[]) => ids.flatMap((id) => ofOwner.all(id).map(storedTank)),
    tanksDeletedWith: async (ids: readonly string[]) => ids.flatMap((id) => deletedWith.all(id).map(storedTank)),
    devices: byId(`SELECT ${STORED_DEVICE_COLUMNS} FROM device WHERE id = ?`, storedDevice),
    assignments: async (ids: readonly string[]) => ids.flatMap((id) => assignments.all(id).map(storedAssignment)),
    devicesWithPending: async (limit: number) => Number(devicesWithPending.get(limit)?.[0]),
    keys: byId(`SELECT ${KEY_COLUMNS} FROM ${KEY_TABLES} WHERE k.id = ?`, keyOf),
  };
}

function fleetWrites(db: DatabaseSync) {
  const addTankCount = db.prepare("UPDATE customer SET tank_count = tank_count + ? WHERE id = ?");
  const storedHead = headReads(db);
  const putFleet = upsert(db, "fleet", ["tank", "threshold", "at", "fill"]);
  const removeFleet = db.prepare("DELETE FROM fleet WHERE tank = ?");
  const updateLastSeen = db.prepare(
    `UPDATE customer SET last_seen_at = ?1, checksum = checksum + ?1 - coalesce(last_seen_at, 0)
     WHERE id = ?2 AND (last_seen_at IS NULL OR last_seen_at < ?1)`,
  );

  return {
    async addTankCounts(deltas: ReadonlyMap<string, number>): Promise<void> {
      for (const [id, delta] of deltas) addTankCount.run(delta, id);
    },

    async setThresholds(thresholds: ReadonlyMap<string, number | null>): Promise<void> {
      for (const [id, threshold] of thresholds) {
        if (threshold === null) {
          removeFleet.run(id);
          continue;
        }
        const head = storedHead(id);
        const { at, fill } = fleetRow(head && lastReading(openHead(id, head).block));
        putFleet.run(id, threshold, at, fill);
      }
    },

    async updateLastSeen(seen: ReadonlyMap<string, Instant>): Promise<void> {
      for (const [id, at] of seen) updateLastSeen.run(at, id);
    },
  };
}

/** The count of each device is kept with its pending readings. */
function pendingWrites(db: DatabaseSync) {
  const ofDevice = query(db, `SELECT ${STORED_PENDING_COLUMNS} FROM pending_reading WHERE device = ? ORDER BY created_at`);
  const ofTank = query(
    db,
    `SELECT id FROM device WHERE pending > 0 AND (tank = ?1
       OR EXISTS (SELECT 1 FROM device_assignment WHERE device_assignment.device = device.id AND device_assignment.tank = ?1))`, // device_pending
  );
  const add = upsert(db, "pending_reading", STORED_PENDING_COLUMNS.split(", "), 2);
  const remove = db.prepare("DELETE FROM pending_reading WHERE device = ? AND created_at = ?");
  const removeAll = db.prepare("DELETE FROM pending_reading WHERE device = ?");
  const resetCounts = db.prepare("UPDATE device SET pending = 0, dropped = 0, checksum = checksum - dropped WHERE id = ?");
  const trim = db.prepare(
    `DELETE FROM pending_reading WHERE device = ?1 AND created_at <
       (SELECT created_at FROM pending_reading WHERE device = ?1 ORDER BY created_at DESC LIMIT 1 OFFSET ${MAX_PENDING - 1})`,
  );
  const count = db.prepare(
    `INSERT INTO device (id, pending, dropped, checksum)
     VALUES (?1, (SELECT count(*) FROM pending_reading WHERE device = ?1), ?2, ?3)
     ON CONFLICT (id) DO UPDATE SET pending = excluded.pending, dropped = dropped + excluded.dropped,
       checksum = checksum + excluded.dropped`,
  );
  const countPending = (device: string, dropped: number): void => {
    count.run(device, dropped, deviceChecksum(unknownDevice(device), dropped));
  };

  return {
    devicesWithPendingFor: async (tankIds: readonly string[]): Promise<string[]> =>
      tankIds.flatMap((id) => ofTank.all(id).map(([device]) => String(device))),

    pendingReadings: async (deviceIds: readonly string[]): Promise<PendingReading[]> =>
      deviceIds.flatMap((id) => ofDevice.all(id).map(intactPending)),

    async addPending(readings: readonly PendingReading[]): Promise<void> {
      for (const reading of readings) add.run(...pendingValues(reading));
      for (const device of new Set(readings.map((reading) => reading.device))) {
        countPending(device, Number(trim.run(device).changes));
      }
    },

    async resolvePending(readings: readonly ResolvedReading[]): Promise<void> {
      for (const { device, created_at } of readings) remove.run(device, created_at);
      for (const [device, own] of Map.groupBy(readings, (reading) => reading.device)) {
        countPending(device, own.filter(({ isRejected }) => isRejected).length);
      }
    },

    async removePending(deviceIds: readonly string[]): Promise<void> {
      for (const id of deviceIds) {
        removeAll.run(id);
        resetCounts.run(id);
      }
    },
  };
}
