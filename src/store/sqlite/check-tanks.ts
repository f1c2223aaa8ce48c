// The check of a tank: its fields, and head, blocks and milestones of its telemetry.

import type { DatabaseSync } from "node:sqlite";
import type { Finding } from "../../domain/store.ts";
import { faultInTank } from "../../domain/stored.ts";
import type { ObjectLook } from "../check.ts";
import { TANK_COLUMNS, tankOf } from "../columns.ts";
import { faultsInLevels } from "../series/check-levels.ts";
import { lookAtReadings, type ReadingsLook, type Stretch } from "../series/check-readings.ts";
import { findingsOf } from "../series/fault.ts";
import type { Head } from "../series/intake.ts";
import { EARLIEST } from "../series/levels.ts";
import { untangled } from "../series/untangle.ts";
import { cutHead } from "../series/weave.ts";
import { objectFaults } from "./check-customers.ts";
import { MilestoneKeeper } from "./milestone-keeper.ts";
import { everyGroup } from "./milestones.ts";
import { arrayRow, arrayStatement } from "./rows.ts";
import { READING_MILESTONES } from "./telemetry.ts";

/** By rowid, so that all can be gone through one by one. */
const NEXT = `SELECT pk, ${TANK_COLUMNS} FROM tank WHERE pk > ? ORDER BY pk LIMIT 1`;
const HEAD = "SELECT start, data, total FROM telemetry WHERE tank = ?";
/** By block_by_start. */
const BLOCKS = "SELECT start, data FROM block WHERE tank = ? ORDER BY start";

type TankLook = ObjectLook<number> & { readonly telemetry: ReadingsLook };

export function tankLooks(db: DatabaseSync) {
  const next = arrayStatement(db, NEXT);
  const headOf = arrayStatement(db, HEAD);
  const blocksOf = arrayStatement(db, BLOCKS);
  const groupsOf = everyGroup(db, READING_MILESTONES);

  function head(tank: number): Head | undefined {
    const row = arrayRow(headOf.get(tank)) as readonly [number, Uint8Array, number] | undefined;
    return row === undefined ? undefined : { start: row[0], data: row[1], total: row[2] };
  }

  function* blocks(tank: number): Generator<Stretch> {
    const rows = blocksOf.iterate(tank) as unknown as Iterable<readonly [number, Uint8Array]>;
    for (const [start, data] of rows) yield { start, data };
  }

  return {
    /** The first tank whose number is above `after`. */
    nextTank(after: number): TankLook | undefined {
      const row = arrayRow(next.get(after));
      if (row === undefined) return undefined;
      const [pk, ...columns] = row as readonly [number, ...typeof row];
      const tank = tankOf(columns);
      const telemetry = lookAtReadings(head(pk), blocks(pk));
      const levels = telemetry.gaps === undefined ? [] : faultsInLevels(groupsOf(pk), telemetry.gaps, [EARLIEST]);
      const faults = [...objectFaults(faultInTank(tank), columns), ...telemetry.faults, ...levels];
      return { key: pk, where: `tank ${tank.id}`, faults, readings: telemetry.total, telemetry };
    },

    /** The bytes of every stretch, oldest first. */
    *stretches(tank: number): Generator<Uint8Array> {
      for (const { data } of blocks(tank)) yield data;
      const last = head(tank);
      if (last !== undefined) yield last.data;
    },
  };
}

export function tankRepairs(db: DatabaseSync) {
  const { nextTank, stretches } = tankLooks(db);
  const keepTotal = db.prepare("UPDATE telemetry SET total = ? WHERE tank = ?");
  const dropBlocks = db.prepare("DELETE FROM block WHERE tank = ?");
  const openBlock = db.prepare("INSERT INTO block (tank, start, data) VALUES (?, ?, ?)");
  const putHead = db.prepare("INSERT OR REPLACE INTO telemetry (tank, total, start, data) VALUES (?, ?, ?, ?)");
  const keeper = new MilestoneKeeper(db, READING_MILESTONES);

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

  return {
    repairTank(pk: number): Finding[] {
      const before = nextTank(pk - 1);
      if (before === undefined || before.key !== pk) return [];
      if (before.faults.some(({ isDerived }) => isDerived)) mend(pk, before.telemetry);
      return findingsOf(before.where, before.faults, nextTank(pk - 1)?.faults);
    },
  };
}
