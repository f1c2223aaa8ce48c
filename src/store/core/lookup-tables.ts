// Lookups of customers, tanks, devices and keys, and what is stored with each of many devices, by id.

import type { Instant } from "../../domain/instant.ts";
import type { PendingReading } from "../../domain/placement.ts";
import {
  intactPending,
  KEY_COLUMNS,
  KEY_TABLES,
  keyOf,
  type Row,
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
import type { Dialect } from "./dialect.ts";
import type { RunForIds, SqlRunner } from "./sql-runner.ts";

export function lookupTables(
  { prepare, runForIds }: Pick<SqlRunner, "prepare" | "runForIds">,
  { isLive, isDeleted, deviceKeyOf }: Dialect,
) {
  const tanksOfOwner = `SELECT ${STORED_TANK_COLUMNS} FROM tank WHERE owner_id = $1 AND ${isLive("tank")}
    ORDER BY created_at, id LIMIT $2`; // tank_by_owner
  const deletedTanks = `SELECT ${STORED_TANK_COLUMNS} FROM tank WHERE owner_id = $1 AND deleted_at = $2 AND ${isDeleted("tank")}`;
  const tanksDeletedAt = `${deletedTanks} ORDER BY created_at, id LIMIT $3`; // tank_deleted_with_owner
  const tanksDeletedWithDeviceInUse = `${deletedTanks} AND EXISTS (
      SELECT 1 FROM device WHERE device.id = ${deviceKeyOf("tank.assigned_device_id")} AND device.tank IS NOT NULL
    ) ORDER BY created_at, id`; // tank_deleted_with_owner
  type Ids = readonly string[];
  /** In the order of `ids`. The id is the first of the columns. */
  const byId = async <T>(ids: Ids, sql: Parameters<RunForIds>[1], toObject: (row: Row) => T): Promise<Map<string, T>> => {
    const found = new Map((await runForIds(ids, sql)).map((row) => [String(row[0]), row]));
    return new Map(ids.flatMap((id) => (found.has(id) ? [[id, toObject(found.get(id) as Row)]] : [])));
  };
  return {
    customers: (ids: Ids) =>
      byId(ids, (is) => `SELECT ${STORED_CUSTOMER_COLUMNS} FROM customer WHERE ${is("id")}`, storedCustomer),
    tanks: (ids: Ids) => byId(ids, (is) => `SELECT ${STORED_TANK_COLUMNS} FROM tank WHERE ${is("id")}`, storedTank),
    devices: (ids: Ids) => byId(ids, (is) => `SELECT ${STORED_DEVICE_COLUMNS} FROM device WHERE ${is("id")}`, storedDevice),
    keys: (ids: Ids) => byId(ids, (is) => `SELECT ${KEY_COLUMNS} FROM ${KEY_TABLES} WHERE ${is("k.id")}`, keyOf),

    async tanksOfOwner(ownerId: string, limit: number) {
      return (await prepare(tanksOfOwner)(ownerId, limit)).map(storedTank);
    },

    async tanksDeletedAt(ownerId: string, deletedAt: Instant, limit: number) {
      return (await prepare(tanksDeletedAt)(ownerId, deletedAt, limit)).map(storedTank);
    },

    async tanksDeletedWithDeviceInUse(ownerId: string, deletedAt: Instant) {
      return (await prepare(tanksDeletedWithDeviceInUse)(ownerId, deletedAt)).map(storedTank);
    },

    async assignments(deviceIds: Ids) {
      const rows = await runForIds(
        deviceIds,
        (is) => `SELECT ${STORED_ASSIGNMENT_COLUMNS} FROM device_assignment WHERE ${is("device")} ORDER BY device, until`,
      );
      return rows.map(storedAssignment);
    },

    /** Devices with pending readings that may belong to one of these tanks. All such devices are read once, however many tanks there are. */
    async devicesWithPendingFor(tankIds: Ids): Promise<string[]> {
      const rows = await prepare(
        `SELECT device.id, device.tank, past.tank FROM device LEFT JOIN device_assignment AS past ON past.device = device.id
         WHERE device.pending > 0 ORDER BY device.id`, // device_pending, primary key
      )();
      const tanks = new Set<Row[number]>(tankIds);
      const found = rows.filter(([, current, past]) => tanks.has(current ?? null) || tanks.has(past ?? null));
      return [...new Set(found.map(([id]) => String(id)))];
    },

    async pendingReadings(deviceIds: Ids): Promise<PendingReading[]> {
      const rows = await runForIds(
        deviceIds,
        (is) => `SELECT ${STORED_PENDING_COLUMNS} FROM pending_reading WHERE ${is("device")} ORDER BY device, created_at`,
      );
      return rows.map(intactPending);
    },

    async removePending(deviceIds: Ids): Promise<void> {
      await runForIds(deviceIds, (is) => `DELETE FROM pending_reading WHERE ${is("device")}`);
      await runForIds(
        deviceIds,
        (is) => `UPDATE device SET pending = 0, dropped = 0, checksum = checksum - dropped WHERE ${is("id")}`,
      );
    },
  };
}
