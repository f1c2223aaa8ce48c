// Devices: which tank one serves, how its payloads are read, and what waits of it.

import type { DatabaseSync } from "node:sqlite";
import type { Device, DeviceAssignment, DeviceMove } from "../../domain/device.ts";
import type { DeviceSearch } from "../../domain/management-reads.ts";
import type { Page } from "../../domain/page.ts";
import type { PendingReading, ResolvedReading } from "../../domain/placement.ts";
import type { ManagedDevice } from "../../domain/resource.ts";
import { MAX_PENDING } from "../../domain/store.ts";
import {
  DEVICE_COLUMNS,
  knownDevice,
  managedDevice,
  SERVICE_COLUMNS,
  serviceOf,
  WAITING_COLUMNS,
  waitingOf,
} from "../columns.ts";
import { LISTS } from "../series/lists.ts";
import { List } from "./paging.ts";
import { arrayRow, arrayRows, arrayStatement, Statements } from "./rows.ts";

const BY_ID = `SELECT ${DEVICE_COLUMNS} FROM device WHERE id = ?`;
const WHOLE = { from: undefined, to: undefined, page: 1, size: 1 };

export function deviceQuestions(db: DatabaseSync) {
  const byId = arrayStatement(db, BY_ID);
  const newest = arrayStatement(db, `SELECT ${WAITING_COLUMNS} FROM waiting WHERE device = ? ORDER BY created_at DESC LIMIT 1`);
  const statements = new Statements(db);
  const tanks = new List(db, LISTS.tanks, "id");

  /** Every live tank has one device: only the others are counted. */
  function total(waiting: boolean | undefined): number {
    const count = (of: string): number => statements.number(`SELECT count(*) FROM device WHERE ${of}`, []);
    const waits = waiting === undefined ? 0 : count("waiting > 0"); // device_waiting
    if (waiting === true) return waits;
    return tanks.page(null, WHOLE).totalItems + count("tank IS NULL") - waits; // device_free
  }

  return {
    managedDevice(key: string): ManagedDevice | undefined {
      const row = arrayRow(byId.get(key));
      return row === undefined ? undefined : managedDevice(row);
    },

    newestWaiting(key: string): PendingReading | undefined {
      const row = arrayRow(newest.get(key));
      return row === undefined ? undefined : waitingOf(row);
    },

    deviceSearch({ waiting, page, size }: DeviceSearch): Page<ManagedDevice> {
      const where = waiting === undefined ? "" : `WHERE ${waiting ? "waiting > 0" : "waiting = 0"}`;
      const rows = statements.rows(`SELECT ${DEVICE_COLUMNS} FROM device ${where} ORDER BY id LIMIT ? OFFSET ?`, [
        size,
        (page - 1) * size,
      ]);
      return { data: rows.map(managedDevice), totalItems: total(waiting) };
    },
  };
}

export function deviceWrites(db: DatabaseSync) {
  const byId = arrayStatement(db, BY_ID);
  const put = db.prepare(
    `INSERT INTO device (id, tank, since, profile) VALUES (?, ?, ?, ?)
     ON CONFLICT (id) DO UPDATE SET tank = excluded.tank, since = excluded.since, profile = excluded.profile`,
  );
  const putProfile = db.prepare(
    "INSERT INTO device (id, profile) VALUES (?, ?) ON CONFLICT (id) DO UPDATE SET profile = excluded.profile",
  );
  const remove = db.prepare("DELETE FROM device WHERE id = ?");
  const end = db.prepare("INSERT OR REPLACE INTO service (device, until, tank) VALUES (?, ?, ?)");
  const services = arrayStatement(db, `SELECT ${SERVICE_COLUMNS} FROM service WHERE device = ? ORDER BY until`);
  // By device_waiting.
  const waitingOfTank = arrayStatement(
    db,
    `SELECT id FROM device WHERE waiting > 0
       AND (tank = ?1 OR EXISTS (SELECT 1 FROM service WHERE service.device = device.id AND service.tank = ?1))`,
  );

  return {
    known(keys: readonly string[]): Map<string, Device> {
      const rows = keys.map((key) => arrayRow(byId.get(key))).filter((row) => row !== undefined);
      return new Map(rows.map((row) => [String(row[0]), knownDevice(row)]));
    },

    servicesOf(keys: readonly string[]): DeviceAssignment[] {
      return keys.flatMap((key) => arrayRows(services.all(key)).map(serviceOf));
    },

    /** Those of which something waits that may be of this tank. */
    waitingOfTank(tankId: string): string[] {
      return arrayRows(waitingOfTank.all(tankId)).map(([id]) => String(id));
    },

    move(moves: readonly DeviceMove[]): void {
      for (const { device, ended } of moves) {
        put.run(device.id, device.tank_id, device.since, jsonOf(device.profile));
        if (ended !== undefined) end.run(ended.device, ended.until, ended.tankId);
      }
    },

    putProfiles(devices: readonly Pick<Device, "id" | "profile">[]): void {
      for (const { id, profile } of devices) putProfile.run(id, jsonOf(profile));
    },

    forget(keys: readonly string[]): void {
      for (const key of keys) remove.run(key);
    },
  };
}

function jsonOf(profile: Device["profile"]): string | null {
  return profile === null ? null : JSON.stringify(profile);
}

/** What waits. The count of each device is kept with it. */
export function waitingWrites(db: DatabaseSync) {
  const ofDevice = arrayStatement(db, `SELECT ${WAITING_COLUMNS} FROM waiting WHERE device = ? ORDER BY created_at`);
  const add = db.prepare(`INSERT OR REPLACE INTO waiting (${WAITING_COLUMNS}) VALUES (?, ?, ?, ?, ?)`);
  const end = db.prepare("DELETE FROM waiting WHERE device = ? AND created_at = ?");
  const endAll = db.prepare("DELETE FROM waiting WHERE device = ?");
  const countNone = db.prepare("UPDATE device SET waiting = 0, dropped = 0 WHERE id = ?");
  const trim = db.prepare(
    `DELETE FROM waiting WHERE device = ?1 AND created_at <
       (SELECT created_at FROM waiting WHERE device = ?1 ORDER BY created_at DESC LIMIT 1 OFFSET ${MAX_PENDING - 1})`,
  );
  const count = db.prepare(
    `INSERT INTO device (id, waiting, dropped) VALUES (?1, (SELECT count(*) FROM waiting WHERE device = ?1), ?2)
     ON CONFLICT (id) DO UPDATE SET waiting = excluded.waiting, dropped = dropped + excluded.dropped`,
  );

  return {
    waitingOf(key: string): PendingReading[] {
      return arrayRows(ofDevice.all(key)).map(waitingOf);
    },

    wait(readings: readonly PendingReading[]): void {
      for (const { device, created_at, fill, payload, customer_id } of readings) {
        add.run(device, created_at, fill, payload, customer_id);
      }
      for (const device of new Set(readings.map(({ device }) => device))) {
        count.run(device, Number(trim.run(device).changes));
      }
    },

    /** Those that wait no longer; some of them could not be taken. */
    stopWaiting(readings: readonly ResolvedReading[]): void {
      for (const { device, created_at } of readings) end.run(device, created_at);
      for (const [device, own] of Map.groupBy(readings, ({ device }) => device))
        count.run(device, own.filter(({ isRejected }) => isRejected).length);
    },

    forgetWaiting(keys: readonly string[]): void {
      for (const key of keys) {
        endAll.run(key);
        countNone.run(key);
      }
    },
  };
}
