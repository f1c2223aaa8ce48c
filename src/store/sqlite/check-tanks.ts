// The check of a tank: its fields, and head, blocks and milestones of its telemetry.

import type { DatabaseSync } from "node:sqlite";
import { deviceKey } from "../../domain/device.ts";
import type { Reading } from "../../domain/reading.ts";
import type { Finding } from "../../domain/store.ts";
import { errorInTank, type Tank } from "../../domain/tank.ts";
import type { ObjectLook } from "../check.ts";
import { fleetFaults, servingFaults } from "../check-fleet.ts";
import { shapeFaults } from "../check-texts.ts";
import { DEVICE_COLUMNS, deviceOf, TANK_COLUMNS, tankOf } from "../columns.ts";
import { lastReading } from "../series/block.ts";
import { faultsInLevels } from "../series/check-levels.ts";
import { lookAtReadings, type ReadingsLook, type Stretch } from "../series/check-readings.ts";
import { type Fault, findingsOf } from "../series/fault.ts";
import type { Head } from "../series/intake.ts";
import { EARLIEST } from "../series/levels.ts";
import { untangled } from "../series/untangle.ts";
import { cutHead } from "../series/weave.ts";
import { objectFaults } from "./check-customers.ts";
import { fleetWrites } from "./fleet.ts";
import { MilestoneKeeper } from "./milestone-keeper.ts";
import { everyGroup } from "./milestones.ts";
import { arrayRow, arrayStatement } from "./rows.ts";
import { KEY_OF_DEVICE } from "./schema.ts";
import { READING_MILESTONES } from "./telemetry.ts";

/** By rowid, so that all can be gone through one by one. */
const NEXT = `SELECT pk, ${TANK_COLUMNS} FROM tank WHERE pk > ? ORDER BY pk LIMIT 1`;
const HEAD = "SELECT start, data, total FROM telemetry WHERE tank = ?";
/** By block_by_start. */
const BLOCKS = "SELECT start, data FROM block WHERE tank = ? ORDER BY start";

type TankLook = ObjectLook<number> & { readonly telemetry: ReadingsLook; readonly tank: Tank; readonly isLive: boolean };

export function tankLooks(db: DatabaseSync) {
  const next = arrayStatement(db, NEXT);
  const headOf = arrayStatement(db, HEAD);
  const blocksOf = arrayStatement(db, BLOCKS);
  const groupsOf = everyGroup(db, READING_MILESTONES);
  const deviceById = arrayStatement(db, `SELECT ${DEVICE_COLUMNS} FROM device WHERE id = ?`);
  const hasDevice = arrayStatement(db, `SELECT 1 FROM tank WHERE id = ? AND deleted = 0 AND ${KEY_OF_DEVICE} = ?`);
  const shapeOf = arrayStatement(db, "SELECT shape FROM tank WHERE id = ?");
  const fleetOf = arrayStatement(db, "SELECT threshold, at, fill, urgency, heard FROM fleet WHERE tank = ?");

  function head(tank: number): Head | undefined {
    const row = arrayRow(headOf.get(tank)) as readonly [number, Uint8Array, number] | undefined;
    return row === undefined ? undefined : { start: row[0], data: row[1], total: row[2] };
  }

  function* blocks(tank: number): Generator<Stretch> {
    const rows = blocksOf.iterate(tank) as unknown as Iterable<readonly [number, Uint8Array]>;
    for (const [start, data] of rows) yield { start, data };
  }

  /** Of a head that cannot be read nothing is known. */
  function beside(tank: Tank, isLive: boolean, last: Head | undefined): Fault[] {
    const device = arrayRow(deviceById.get(deviceKey(tank.assigned_device_id)));
    const served = device === undefined ? undefined : deviceOf(device);
    const isElsewhere = served !== undefined && hasDevice.get(served.tank_id, served.id) !== undefined;
    const row = arrayRow(fleetOf.get(tank.id)) as readonly [number, number, number | null, number, number] | undefined;
    const kept = row && { threshold: row[0], at: row[1], fill: row[2], urgency: row[3], heard: row[4] };
    const latest = readable(last);
    const ofFleet = latest === "unreadable" ? [] : fleetFaults(tank, isLive, latest, kept);
    const shape = arrayRow(shapeOf.get(tank.id))?.[0] as string | null;
    return [...shapeFaults(shape), ...ofFleet, ...servingFaults(tank, isLive, served, isElsewhere)];
  }

  return {
    /** The first tank whose number is above `after`. */
    nextTank(after: number): TankLook | undefined {
      const row = arrayRow(next.get(after));
      if (row === undefined) return undefined;
      const [pk, ...columns] = row as readonly [number, ...typeof row];
      const tank = tankOf(columns);
      const telemetry = lookAtReadings(head(pk), blocks(pk));
      const isLive = Number(columns.at(-1)) === 0;
      // Where that is not known, neither is what follows from it.
      const isMarked = [0, 1].includes(Number(columns.at(-1)));
      const levels = telemetry.gaps === undefined ? [] : faultsInLevels(groupsOf(pk), telemetry.gaps, [EARLIEST]);
      const faults = [
        ...objectFaults(errorInTank(tank), columns),
        ...telemetry.faults,
        ...levels,
        ...(isMarked ? beside(tank, isLive, head(pk)) : []),
      ];
      return { key: pk, where: `tank ${tank.id}`, faults, readings: telemetry.total, telemetry, tank, isLive };
    },

    /** The bytes of every stretch, oldest first. */
    *stretches(tank: number): Generator<Uint8Array> {
      for (const { data } of blocks(tank)) yield data;
      const last = head(tank);
      if (last !== undefined) yield last.data;
    },
  };
}

function readable(head: Head | undefined): Reading | undefined | "unreadable" {
  try {
    return head === undefined ? undefined : lastReading(head.data);
  } catch {
    return "unreadable";
  }
}

export function tankRepairs(db: DatabaseSync) {
  const { nextTank, stretches } = tankLooks(db);
  const keepTotal = db.prepare("UPDATE telemetry SET total = ? WHERE tank = ?");
  const dropBlocks = db.prepare("DELETE FROM block WHERE tank = ?");
  const openBlock = db.prepare("INSERT INTO block (tank, start, data) VALUES (?, ?, ?)");
  const putHead = db.prepare("INSERT OR REPLACE INTO telemetry (tank, total, start, data) VALUES (?, ?, ?, ?)");
  const keeper = new MilestoneKeeper(db, READING_MILESTONES);
  const { make } = fleetWrites(db);
  const leaveFleet = db.prepare("DELETE FROM fleet WHERE tank = ?");
  // A device that another live tank has is left to the operator.
  const serve = db.prepare(
    `INSERT INTO device (id, tank) VALUES (?1, ?2) ON CONFLICT (id) DO UPDATE SET tank = excluded.tank
     WHERE NOT EXISTS (SELECT 1 FROM tank t WHERE t.id = device.tank AND t.deleted = 0 AND ${KEY_OF_DEVICE} = ?1)`,
  );

  function mend(tank: number, { gaps, total, isTangled }: ReadingsLook): void {
    if (gaps === undefined) return;
    if (!isTangled) {
      keepTotal.run(total, tank);
      keeper.rebuild(tank, gaps);
      return;
    }
    const readings = untangled(stretches(tank));
    const { blocks, head } = cutHead(readings, EARLIEST);
    dropBlocks.run(tank);
    for (const { start, data } of blocks) openBlock.run(tank, start, data);
    putHead.run(tank, readings.instants.length, head.start, head.data);
    keeper.rebuild(
      tank,
      blocks.map(({ start, count }) => ({ at: [start], count })),
    );
  }

  function mendBeside(tank: Tank, isLive: boolean): void {
    if (isLive) make(tank.id, tank.min_fill_alert_percentage);
    else leaveFleet.run(tank.id);
    if (isLive) serve.run(deviceKey(tank.assigned_device_id), tank.id);
  }

  return {
    repairTank(pk: number): Finding[] {
      const before = nextTank(pk - 1);
      if (before === undefined || before.key !== pk) return [];
      if (before.faults.some(({ isDerived }) => isDerived)) {
        mend(pk, before.telemetry);
        mendBeside(before.tank, before.isLive);
      }
      return findingsOf(before.where, before.faults, nextTank(pk - 1)?.faults);
    },
  };
}
