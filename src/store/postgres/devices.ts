// Devices: which tank each serves, and served before; how its payloads are read; and how many readings wait of it.

import { affectedDevices, type Change, deviceMoves, type TankState } from "../../domain/changes.ts";
import type { Device, DeviceAssignment, DeviceMove } from "../../domain/device.ts";
import type { Instant } from "../../domain/instant.ts";
import type { DeviceSearch } from "../../domain/management-reads.ts";
import type { Page } from "../../domain/page.ts";
import type { PendingReading } from "../../domain/placement.ts";
import type { ManagedDevice } from "../../domain/resource.ts";
import {
  DEVICE_COLUMNS,
  knownDevice,
  managedDevice,
  SERVICE_COLUMNS,
  serviceOf,
  WAITING_COLUMNS,
  waitingOf,
} from "../columns.ts";
import { type Db, type Statement, statement } from "./connection.ts";
import { pageOf } from "./filter.ts";
import { LIVE_TANKS } from "./paging.ts";
import { columnsOf, putStatement } from "./put.ts";

/**
 * Readings of devices are taken in under the shared lock; which device serves which tank, and how it is read, changes under
 * the exclusive one. So no reading is put to wait while what it waits for is being said.
 */
const LOCK = statement("SELECT pg_advisory_xact_lock(5522219043)");
const SHARE = statement("SELECT pg_advisory_xact_lock_shared(5522219043)");

/** After the lock of the lists, and before that of any row. */
export async function lockDevices(db: Db): Promise<void> {
  await db.rows(LOCK);
}

export async function shareDevices(db: Db): Promise<void> {
  await db.rows(SHARE);
}

/** `deviceKey` of a column. */
export const keyOfDevice = (column: string): string =>
  `CASE WHEN ${column} ~ '^[0-9A-Fa-f]{16}$' THEN lower(${column}) ELSE ${column} END`;

/** By primary keys. */
const KNOWN = statement(`SELECT ${DEVICE_COLUMNS} FROM device WHERE id = ANY ($1::text[])`);
const SERVICES = statement(`SELECT ${SERVICE_COLUMNS} FROM service WHERE device = ANY ($1::text[]) ORDER BY device, until`);

const NEWEST_WAITING = statement(`SELECT ${WAITING_COLUMNS} FROM waiting WHERE device = $1 ORDER BY created_at DESC LIMIT 1`);

export async function managedDevices(db: Db, keys: readonly string[]): Promise<ManagedDevice[]> {
  return (await db.rows(KNOWN, [keys])).map(managedDevice);
}

export async function knownDevices(db: Db, keys: readonly string[]): Promise<Map<string, Device>> {
  return new Map((await db.rows(KNOWN, [keys])).map(knownDevice).map((device) => [device.id, device]));
}

export async function services(db: Db, keys: readonly string[]): Promise<DeviceAssignment[]> {
  return (await db.rows(SERVICES, [keys])).map(serviceOf);
}

const MOVE = putStatement("device", ["id", "tank", "since"]);
const END = putStatement("service", ["device", "until", "tank"], 2);
const PROFILE = putStatement("device", ["id", "profile"]);
const EMPTY = [
  "DELETE FROM waiting WHERE device = ANY ($1::text[])",
  "UPDATE device SET waiting = 0, dropped = 0 WHERE id = ANY ($1::text[])",
].map(statement);
const FORGET = statement("DELETE FROM device WHERE id = ANY ($1::text[])");

/** Follows the tanks; gives the devices that serve another tank than before, or one at last. Under the exclusive lock. */
export async function moveDevices(db: Db, changes: readonly Change<TankState>[], at: Instant): Promise<string[]> {
  const moves = deviceMoves(changes, await knownDevices(db, affectedDevices(changes)), at);
  if (moves.length === 0) return [];
  await db.rows(MOVE, columnsOf(moves.map(({ device: { id, tank_id, since } }) => [id, tank_id, since])));
  const ended = moves.flatMap((move: DeviceMove) => move.ended ?? []);
  if (ended.length > 0) await db.rows(END, columnsOf(ended.map(({ device, until, tankId }) => [device, until, tankId])));
  return moves.flatMap(({ device: { id, tank_id } }) => (tank_id === null ? [] : [id]));
}

export async function putProfiles(db: Db, devices: readonly Pick<Device, "id" | "profile">[]): Promise<void> {
  if (devices.length === 0) return;
  const rows = devices.map(({ id, profile }) => [id, profile === null ? null : JSON.stringify(profile)]);
  await db.rows(PROFILE, columnsOf(rows));
}

export async function forgetWaiting(db: Db, keys: readonly string[]): Promise<void> {
  if (keys.length === 0) return;
  for (const empty of EMPTY) await db.rows(empty, [keys]);
}

/** Of which nothing waits. */
export async function forgetDevices(db: Db, keys: readonly string[]): Promise<void> {
  if (keys.length > 0) await db.rows(FORGET, [keys]);
}

/** Every live tank has a device, and no device more than one. */
const ALL = `${LIVE_TANKS.count} + (SELECT count(*) FROM device WHERE tank IS NULL)`; // device_free
const WAITING = "(SELECT count(*) FROM device WHERE waiting > 0)"; // device_waiting

/** $1 devices wanted, $2 skipped. */
const searchOf = (count: string, condition: string): Statement =>
  statement(`
    WITH RECURSIVE ${LIVE_TANKS.way}
    SELECT counted.total, entry.* FROM (SELECT ${count} AS total) AS counted LEFT JOIN (
      (SELECT id FROM device ${condition} ORDER BY id LIMIT $1 OFFSET $2) AS page
      CROSS JOIN LATERAL (SELECT ${DEVICE_COLUMNS} FROM device WHERE id = page.id OFFSET 0) AS entry
    ) ON true ORDER BY page.id`);

const EVERY = searchOf(ALL, "");
const WITH_WAITING = searchOf(WAITING, "WHERE waiting > 0"); // device_waiting
const WITHOUT_WAITING = searchOf(`${ALL} - ${WAITING}`, "WHERE waiting = 0");

export function deviceQuestions(db: Db) {
  return {
    async managedDevice(key: string): Promise<ManagedDevice | undefined> {
      return (await managedDevices(db, [key]))[0];
    },

    async newestWaiting(key: string): Promise<PendingReading | undefined> {
      return (await db.rows(NEWEST_WAITING, [key])).map(waitingOf)[0];
    },

    async deviceSearch({ waiting, page, size }: DeviceSearch): Promise<Page<ManagedDevice>> {
      const asked = waiting === undefined ? EVERY : waiting ? WITH_WAITING : WITHOUT_WAITING;
      return pageOf(await db.rows(asked, [size, (page - 1) * size]), managedDevice);
    },
  };
}
