// The operations of a transaction on the writing connection. They are asynchronous in type only: SQLite waits for nothing, so
// that nothing else runs between the steps of a transaction.

import type { DatabaseSync } from "node:sqlite";
import type { AlertSettings } from "../../domain/alerts/evaluate.ts";
import { unknownDevice } from "../../domain/device.ts";
import type { PendingReading, ResolvedReading } from "../../domain/placement.ts";
import { MAX_PENDING_PER_DEVICE } from "../../domain/store.ts";
import type { EngineTransaction } from "../check/check.ts";
import type { CheckOperations } from "../check/operations.ts";
import { deviceChecksum, pendingValues, STORED_PENDING_COLUMNS } from "../columns.ts";
import { sharedTables } from "../core/reads-and-tables.ts";
import { PendingAlertWork } from "../core/transaction.ts";
import { fleetRow } from "../fleet-row.ts";
import { lastReading } from "../packed/block.ts";
import { EMPTY_HEAD, headChecksum, openHead } from "../packed/checksum.ts";
import { checkOperations } from "./check.ts";
import { listOperations } from "./list-pages.ts";
import { DIALECT } from "./schema.ts";
import { QueryCache, sqlRunnerOn, upsert } from "./statements.ts";
import { headReads, telemetryWrites } from "./telemetry-writes.ts";

/** `pause` is called between tanks. */
export function transactionOn(db: DatabaseSync, pause: () => void, alertSettings: AlertSettings): EngineTransaction {
  const damagedTanks = new Set<string>();
  const statements = new QueryCache(db);
  const addHeads = async (tankIds: readonly string[]): Promise<void> => {
    const add = statements.query("INSERT INTO head (tank, checksum) SELECT pk, ?2 FROM tank WHERE id = ?1");
    for (const id of tankIds) add.all(id, headChecksum(id, EMPTY_HEAD));
  };
  let operations: CheckOperations | undefined;
  return {
    ...thresholdWrites(db),
    ...pendingWrites(db),
    ...telemetryWrites(db, pause, alertSettings.closeMargin, damagedTanks),
    ...listOperations(db),
    ...sharedTables(sqlRunnerOn(statements), DIALECT, addHeads),
    alertWork: new PendingAlertWork(),
    alertSettings,
    damagedTanks,
    async devicesWithPending(limit) {
      const sql = "SELECT count(*) FROM (SELECT 1 FROM device WHERE pending > 0 LIMIT $1)"; // device_pending
      return Number(statements.rows(sql, [limit])[0]?.[0]);
    },
    lockLists: async () => {},
    lockDevices: async () => {},
    lockAlerts: async () => {},
    now: async () => Date.now(),
    checkOperations() {
      operations ??= checkOperations(db);
      return operations;
    },
  };
}

function thresholdWrites(db: DatabaseSync) {
  const storedHead = headReads(db);
  const putFleet = upsert(db, "fleet", ["tank", "threshold", "at", "fill"]);
  const removeFleet = db.prepare("DELETE FROM fleet WHERE tank = ?");

  return {
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
  };
}

/** The count of each device is kept with its pending readings. */
function pendingWrites(db: DatabaseSync) {
  const add = upsert(db, "pending_reading", STORED_PENDING_COLUMNS.split(", "), 2);
  const remove = db.prepare("DELETE FROM pending_reading WHERE device = ? AND created_at = ?");
  const trim = db.prepare(
    `DELETE FROM pending_reading WHERE device = ?1 AND created_at <
       (SELECT created_at FROM pending_reading WHERE device = ?1 ORDER BY created_at DESC LIMIT 1 OFFSET ${MAX_PENDING_PER_DEVICE - 1})`,
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
  };
}
