// Takes readings in: the write of the writing thread that keeps a tank's head, blocks and milestones.

import type { DatabaseSync } from "node:sqlite";
import type { ReadingBatch } from "../../domain/reading.ts";
import { takeIn } from "../series/intake.ts";
import { placesByTank, TANK_UNKNOWN } from "../series/weave.ts";
import { MilestoneKeeper } from "./milestone-keeper.ts";
import { arrayRow, arrayStatement } from "./rows.ts";
import { BLOCK, READING_MILESTONES } from "./telemetry.ts";

/** `follow` is told of every head that has changed; `rest` is called between two tanks. */
export function telemetryWrites(db: DatabaseSync, follow: (tankId: string, head: Uint8Array) => void, rest: () => void) {
  const headOf = arrayStatement(
    db,
    "SELECT t.pk, h.total, h.start, h.data FROM tank t JOIN telemetry h ON h.tank = t.pk WHERE t.id = ?",
  );
  const blockOf = arrayStatement(db, BLOCK);
  const writeHead = db.prepare("UPDATE telemetry SET total = ?, start = ?, data = ? WHERE tank = ?");
  const writeBlock = db.prepare("UPDATE block SET data = ? WHERE tank = ? AND start = ?");
  const openBlock = db.prepare("INSERT INTO block (tank, start, data) VALUES (?, ?, ?)");
  const keeper = new MilestoneKeeper(db, READING_MILESTONES);

  function take(tankId: string, batch: ReadingBatch, places: Uint32Array, outcomes: Uint8Array): void {
    const row = arrayRow(headOf.get(tankId)) as readonly [number, number, number, Uint8Array] | undefined;
    if (row === undefined) {
      for (const place of places) outcomes[place] = TANK_UNKNOWN;
      return;
    }
    const [tank, total, start, data] = row;
    const ways = keeper.ways(tank);
    const blockAt = (at: number): Uint8Array => arrayRow(blockOf.get(tank, at))?.[0] as Uint8Array;
    const taken = takeIn({ total, start, data }, ways, blockAt, batch, places, outcomes);
    if (taken === undefined) return;
    for (const piece of taken.written) writeBlock.run(piece.data, tank, piece.start);
    for (const piece of taken.opened) openBlock.run(tank, piece.start, piece.data);
    keeper.keep(tank, ways);
    writeHead.run(taken.head.total, taken.head.start, taken.head.data, tank);
    if (taken.head.data !== data) follow(tankId, taken.head.data);
  }

  return {
    /** Gives what became of each, by index into `READING_OUTCOMES`. */
    takeReadings(batch: ReadingBatch): Uint8Array {
      const outcomes = new Uint8Array(batch.tank.length);
      for (const [tankId, places] of placesByTank(batch)) {
        take(tankId, batch, places, outcomes);
        rest();
      }
      return outcomes;
    },
  };
}
