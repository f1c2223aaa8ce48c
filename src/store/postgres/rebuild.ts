// Milestones made anew from what they count.

import { Block } from "../series/block.ts";
import { listOf } from "../series/lists.ts";
import { everySeries } from "./check-lists.ts";
import { type Db, statement } from "./connection.ts";
import { ListKeeper } from "./lists.ts";
import { MilestoneKeeper } from "./milestone-keeper.ts";
import { READING_MILESTONES } from "./telemetry.ts";

const TANKS = statement("SELECT tank FROM telemetry WHERE older > 0");
const BLOCKS = statement("SELECT start, data FROM block WHERE tank = $1 ORDER BY start");

/** All milestones of all series. */
export async function rebuildMilestones(db: Db): Promise<void> {
  const keeper = new MilestoneKeeper(READING_MILESTONES);
  for (const [tank] of await db.rows(TANKS)) {
    const blocks = (await db.rows(BLOCKS, [String(tank)])) as unknown as (readonly [number, Uint8Array])[];
    const gaps = blocks.map(([start, data]) => ({ at: [start], count: new Block(data).length }));
    await keeper.rebuild(db, String(tank), gaps);
  }
  for (const series of await everySeries(db)) {
    const list = listOf(series);
    if (list !== undefined) await new ListKeeper(list.kind).rebuild(db, list.key);
  }
}
