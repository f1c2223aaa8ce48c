// The check of a tank: its fields, head, blocks and milestones of its telemetry, its row in the fleet, and its device.

import type { Finding } from "../../domain/store.ts";
import { errorInTank, type Tank } from "../../domain/tank.ts";
import type { ObjectLook } from "../check.ts";
import { isDeleted, TANK_COLUMNS, tankOf } from "../columns.ts";
import { faultsInLevels, type StoredGroup } from "../series/check-levels.ts";
import { lookAtReadings, type ReadingsLook, type Stretch } from "../series/check-readings.ts";
import { type Fault, findingsOf, ruleFaults } from "../series/fault.ts";
import type { Head } from "../series/intake.ts";
import { EARLIEST } from "../series/levels.ts";
import { untangled } from "../series/untangle.ts";
import { cutHead } from "../series/weave.ts";
import { writeBlocks } from "./blocks.ts";
import { besideFaults, besideTanks, mendBeside } from "./check-fleet.ts";
import { type Db, type Row, statement, type Transaction } from "./connection.ts";
import { lockDevices } from "./devices.ts";
import { lockLists } from "./lists.ts";
import { MilestoneKeeper } from "./milestone-keeper.ts";
import { everyGroup, storedGroupOf } from "./milestones.ts";
import { READING_MILESTONES } from "./telemetry.ts";

/** What one snapshot takes on: so many tanks, and of them as many as have so many readings, but one at least. */
const TANKS_A_STEP = 500;
const READINGS_A_STEP = 1_000_000;

const LOOK = `SELECT head.start, head.data, head.total, head.older, ${TANK_COLUMNS}
  FROM tank LEFT JOIN telemetry AS head ON head.tank = tank.id`;
/** All by primary keys. No id is empty. */
const SOME = statement(`${LOOK} WHERE tank.id > $1 ORDER BY tank.id LIMIT ${TANKS_A_STEP}`);
const ONE = statement(`${LOOK} WHERE tank.id = $1`);
const BLOCKS = statement("SELECT tank, start, data FROM block WHERE tank = ANY ($1::text[]) ORDER BY tank, start");
const GROUPS = everyGroup(READING_MILESTONES);
const LOCK = statement("SELECT FROM telemetry WHERE tank = $1 FOR UPDATE");
const KEEP_TOTAL = statement("UPDATE telemetry SET total = $2, older = $3 WHERE tank = $1");
const DROP_BLOCKS = statement("DELETE FROM block WHERE tank = $1");
const PUT_HEAD = statement(`
  INSERT INTO telemetry (tank, total, older, start, data) VALUES ($1, $2, $3, $4, $5)
  ON CONFLICT (tank) DO UPDATE SET total = excluded.total, older = excluded.older, start = excluded.start, data = excluded.data`);

const keeper = new MilestoneKeeper(READING_MILESTONES);

type TankLook = ObjectLook<string> & {
  readonly telemetry: ReadingsLook;
  readonly stretches: readonly Uint8Array[];
  readonly tank: Tank;
  readonly isLive: boolean;
};
type HeadRow = readonly [start: number | null, data: Uint8Array, total: number, older: number, ...tank: unknown[]];

export async function someTanks(db: Db, after: string | undefined): Promise<ObjectLook<string>[]> {
  const rows = (await db.rows(SOME, [after ?? ""])) as readonly Row[];
  let readings = 0;
  const taken = rows.filter(([, , total], i) => {
    readings += Number(total ?? 0);
    return i === 0 || readings <= READINGS_A_STEP;
  });
  return (await looksOf(db, taken)).map(({ key, where, faults, readings }) => ({ key, where, faults, readings }));
}

async function looksOf(db: Db, rows: readonly Row[]): Promise<TankLook[]> {
  const ids = rows.map((row) => String(row[4]));
  const blocks = Map.groupBy((await db.rows(BLOCKS, [ids])) as unknown as [string, number, Uint8Array][], ([tank]) => tank);
  const groups = Map.groupBy(await db.rows(GROUPS, [ids]), ([tank]) => String(tank));
  const beside = await besideTanks(db, ids);
  return rows.map((row, i) => {
    const id = ids[i] ?? "";
    const own = (blocks.get(id) ?? []).map(([, start, data]): Stretch => ({ start, data }));
    return lookOf(
      row as HeadRow,
      own,
      (groups.get(id) ?? []).map((group) => storedGroupOf(READING_MILESTONES, group)),
      beside.get(id) ?? [],
    );
  });
}

function lookOf(row: HeadRow, blocks: readonly Stretch[], groups: readonly StoredGroup[], beside: Row): TankLook {
  const [start, data, total, older, ...columns] = row;
  const tank = tankOf(columns);
  const isLive = !isDeleted(columns);
  const head: Head | undefined = start === null ? undefined : { start, data, total };
  const telemetry = lookAtReadings(head, blocks);
  const faults = [...ruleFaults(errorInTank(tank)), ...telemetry.faults, ...olderFaults(head && older, telemetry)];
  if (telemetry.gaps !== undefined) faults.push(...faultsInLevels(groups, telemetry.gaps, [EARLIEST]));
  faults.push(...besideFaults(tank, isLive, head?.data, beside));
  const stretches = [...blocks, ...(head === undefined ? [] : [head])].map((stretch) => stretch.data);
  return { key: tank.id, where: `tank ${tank.id}`, faults, readings: telemetry.total, telemetry, stretches, tank, isLive };
}

/** How many readings lie in blocks. */
const inBlocks = ({ gaps }: ReadingsLook): number => (gaps ?? []).reduce((sum, { count }) => sum + count, 0);

function olderFaults(older: number | undefined, telemetry: ReadingsLook): Fault[] {
  const counted = inBlocks(telemetry);
  if (older === undefined || telemetry.gaps === undefined || older === counted) return [];
  return [{ isDerived: true, what: `there are ${counted} readings in blocks, the head says ${older}` }];
}

/**
 * Under the locks of those who change tanks, and that of the head, which every writer of readings takes first: what is read
 * after them is of now.
 */
export async function repairTank(db: Transaction, id: string): Promise<Finding[]> {
  await lockLists(db);
  await lockDevices(db);
  await db.rows(LOCK, [id]);
  const look = async () => (await looksOf(db, await db.rows(ONE, [id])))[0];
  const before = await look();
  if (before === undefined) return [];
  if (before.faults.some(({ isDerived }) => isDerived)) {
    await mend(db, id, before);
    await mendBeside(db, before.tank, before.isLive);
  }
  return findingsOf(before.where, before.faults, (await look())?.faults);
}

async function mend(db: Transaction, id: string, { telemetry, stretches }: TankLook): Promise<void> {
  if (telemetry.gaps === undefined) return;
  if (!telemetry.isTangled) {
    await db.rows(KEEP_TOTAL, [id, telemetry.total, inBlocks(telemetry)]);
    await keeper.rebuild(db, id, telemetry.gaps);
    return;
  }
  const readings = untangled(stretches);
  const { blocks, head } = cutHead(readings, EARLIEST);
  await db.rows(DROP_BLOCKS, [id]);
  await writeBlocks(
    db,
    blocks.map((block) => ({ tank: id, ...block })),
  );
  const total = readings.instants.length;
  await db.rows(PUT_HEAD, [id, total, total - head.count, head.start, head.data]);
  const gaps = blocks.map(({ start, count }) => ({ at: [start], count }));
  await keeper.rebuild(db, id, gaps);
}
