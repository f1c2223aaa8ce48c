// Takes readings in: the write of the writing thread that keeps a tank's head, blocks and milestones.

import type { DatabaseSync } from "node:sqlite";
import type { ReadingBatch } from "../../domain/reading.ts";
import { Block } from "../series/block.ts";
import { cutBlock, cutHead, type Piece, placesBefore, placesByTank, TANK_UNKNOWN, weave } from "../series/weave.ts";
import { MilestoneKeeper } from "./milestone-keeper.ts";
import { Milestones } from "./milestones.ts";
import { arrayRow, arrayStatement } from "./rows.ts";
import { BLOCK, READING_MILESTONES } from "./telemetry.ts";

export function telemetryWrites(db: DatabaseSync) {
  const headOf = arrayStatement(
    db,
    "SELECT t.pk, h.total, h.start, h.data FROM tank t JOIN telemetry h ON h.tank = t.pk WHERE t.id = ?",
  );
  const blockAt = arrayStatement(db, BLOCK);
  const writeHead = db.prepare("UPDATE telemetry SET total = ?, start = ?, data = ? WHERE tank = ?");
  const writeBlock = db.prepare("UPDATE block SET data = ? WHERE tank = ? AND start = ?");
  const openBlock = db.prepare("INSERT INTO block (tank, start, data) VALUES (?, ?, ?)");
  const milestones = new Milestones(db, READING_MILESTONES);
  const keeper = new MilestoneKeeper(db, milestones, READING_MILESTONES);

  /** Further blocks, of which the first has `ahead` readings ahead in its group. */
  function open(tank: number, pieces: readonly Piece[], ahead: number): void {
    let reached = ahead;
    for (const { start, count, data } of pieces) {
      openBlock.run(tank, start, data);
      keeper.insert(tank, 0, { at: [start], ahead: reached });
      reached += count;
    }
  }

  /** How many readings lie ahead of the group of blocks that the head follows. */
  function aheadOfLastGroup(tank: number, start: number): number {
    let ahead = 0;
    for (let level = milestones.top(tank) ?? 0; level > 0; level--) ahead += milestones.floor(tank, level, [start]).ahead;
    return ahead;
  }

  /** Readings before the head, block by block. Gives the number that are new. */
  function acceptLate(tank: number, headStart: number, batch: ReadingBatch, places: Uint32Array, outcomes: Uint8Array): number {
    let added = 0;
    for (let i = 0; i < places.length; ) {
      const { at, ahead } = milestones.floor(tank, 0, [batch.createdAt[places[i] as number] as number]);
      const end = milestones.next(tank, 0, at)?.[0] ?? headStart;
      const until = placesBefore(batch, places, end as number);
      const start = at[0] as number;
      const block = new Block(arrayRow(blockAt.get(tank, start))?.[0] as Uint8Array);
      const woven = weave(block, batch, places.subarray(i, until), outcomes);
      if (woven !== undefined) {
        const [first, ...rest] = cutBlock(woven, start);
        const delta = woven.instants.length - block.length;
        writeBlock.run(first.data, tank, start);
        if (delta > 0) keeper.shift(tank, milestones.top(tank) ?? 0, at, delta);
        if (rest.length > 0) {
          open(tank, rest, ahead + first.count);
          keeper.balance(tank, 0, at);
        }
        added += delta;
      }
      i = until;
    }
    return added;
  }

  function accept(tankId: string, batch: ReadingBatch, places: Uint32Array, outcomes: Uint8Array): void {
    const row = arrayRow(headOf.get(tankId)) as readonly [number, number, number, Uint8Array] | undefined;
    if (row === undefined) {
      for (const place of places) outcomes[place] = TANK_UNKNOWN;
      return;
    }
    const [tank, total, start, data] = row;
    const late = placesBefore(batch, places, start);
    const addedLate = acceptLate(tank, start, batch, places.subarray(0, late), outcomes);
    const block = new Block(data);
    const woven = weave(block, batch, places.subarray(late), outcomes);
    if (woven === undefined) {
      if (addedLate > 0) writeHead.run(total + addedLate, start, data, tank);
      return;
    }
    const { blocks, head } = cutHead(woven, start);
    if (blocks.length > 0) {
      const older = total + addedLate - block.length;
      open(tank, blocks, older - aheadOfLastGroup(tank, start));
      keeper.balance(tank, 0, [start]);
    }
    writeHead.run(total + addedLate + woven.instants.length - block.length, head.start, head.data, tank);
  }

  return {
    acceptReadings(batch: ReadingBatch): Uint8Array {
      const outcomes = new Uint8Array(batch.tank.length);
      for (const [tankId, places] of placesByTank(batch)) accept(tankId, batch, places, outcomes);
      return outcomes;
    },
  };
}
