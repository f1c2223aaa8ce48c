// Takes readings in: many tanks in one transaction. The heads are locked first, by id, and what is read after that is of
// now; an append ends there, with one statement more that writes the heads.

import type { ReadingBatch } from "../../domain/reading.ts";
import { Block } from "../series/block.ts";
import { EARLIEST } from "../series/levels.ts";
import { cutBlock, cutHead, type Piece, placesBefore, placesByTank, TANK_UNKNOWN, weave } from "../series/weave.ts";
import { statement, type Transaction } from "./connection.ts";
import { copyIn } from "./copy.ts";
import { MilestoneKeeper } from "./milestone-keeper.ts";
import { aheadOf, floor, next } from "./milestones.ts";
import { READING_MILESTONES } from "./telemetry.ts";

const LOCK_HEADS = statement(
  "SELECT tank, total, older, start, data FROM telemetry WHERE tank = ANY ($1::text[]) ORDER BY tank FOR UPDATE",
);

/** The blocks that hold these instants: where each begins and ends, how many readings are ahead of it, and its own. */
const BLOCKS_AT = statement(`
  SELECT gap.tank, gap.start, follower.start, ${aheadOf(READING_MILESTONES, "gap.tank", ["gap.start"])}, block.data
  FROM (
    SELECT DISTINCT asked.tank, gap.start FROM unnest($1::text[], $2::bigint[]) AS asked (tank, at)
    CROSS JOIN LATERAL (${floor(READING_MILESTONES, "asked.tank", "0", ["asked.at"])}) AS gap
  ) AS gap
  LEFT JOIN LATERAL (${next(READING_MILESTONES, "gap.tank", "0", ["gap.start"])}) AS follower ON true
  CROSS JOIN LATERAL (SELECT data FROM block WHERE tank = gap.tank AND start = gap.start OFFSET 0) AS block
  ORDER BY gap.tank, gap.start`);

// An update of known rows is written as an insert: its way, by the primary key, leaves the planner no choice.
const WRITE_HEADS = statement(`
  INSERT INTO telemetry (tank, total, older, start, data)
  SELECT * FROM unnest($1::text[], $2::bigint[], $3::bigint[], $4::bigint[], $5::bytea[])
  ON CONFLICT (tank) DO UPDATE SET total = excluded.total, older = excluded.older, start = excluded.start, data = excluded.data`);

const WRITE_BLOCKS = statement(`
  INSERT INTO block (tank, start, data) SELECT * FROM unnest($1::text[], $2::bigint[], $3::bytea[])
  ON CONFLICT (tank, start) DO UPDATE SET data = excluded.data`);

const keeper = new MilestoneKeeper(READING_MILESTONES);

type Head = { tank: string; total: number; older: number; start: number; data: Uint8Array };
type StoredBlock = { readonly start: number; readonly end: number; readonly rank: number; readonly data: Uint8Array };

/** What a batch changes, gathered over its tanks and then written together. */
class Changes {
  readonly heads: Head[] = [];
  readonly blocks: { tank: string; piece: Piece }[] = [];
  readonly opened: { tank: string; piece: Piece; rank: number }[] = [];
  readonly grown: { series: string; at: readonly number[]; delta: number }[] = [];

  async write(db: Transaction): Promise<void> {
    const { heads, blocks, opened } = this;
    if (heads.length > 0) {
      const column = <K extends keyof Head>(name: K): Head[K][] => heads.map((head) => head[name]);
      await db.rows(WRITE_HEADS, [column("tank"), column("total"), column("older"), column("start"), column("data")]);
    }
    if (blocks.length > 0) {
      const pieces = blocks.map(({ piece }) => piece);
      await db.rows(WRITE_BLOCKS, [
        blocks.map(({ tank }) => tank),
        pieces.map(({ start }) => start),
        pieces.map(({ data }) => data),
      ]);
    }
    await keeper.shift(db, this.grown);
    if (opened.length === 0) return;
    await copyIn(
      db.client,
      "block (tank, start, data)",
      opened.map(({ tank, piece }) => [tank, piece.start, piece.data]),
    );
    const gaps = opened.map(({ tank, piece, rank }) => ({ series: tank, at: [piece.start], rank }));
    await keeper.insertGaps(db, gaps);
    await keeper.balance(db, gaps);
  }

  open(tank: string, pieces: readonly Piece[], rank: number): void {
    let reached = rank;
    for (const piece of pieces) {
      this.opened.push({ tank, piece, rank: reached });
      reached += piece.count;
    }
  }
}

export async function acceptReadings(db: Transaction, batch: ReadingBatch): Promise<Uint8Array> {
  const outcomes = new Uint8Array(batch.tank.length);
  const places = placesByTank(batch);
  const heads = new Map<string, Head>();
  for (const row of await db.rows(LOCK_HEADS, [[...places.keys()]])) {
    const [tank, total, older, start, data] = row as [string, number, number, number, Uint8Array];
    heads.set(tank, { tank, total, older, start, data });
  }
  const late = await lateBlocks(db, batch, places, heads);
  const changes = new Changes();
  for (const [tank, own] of places) {
    const head = heads.get(tank);
    if (head !== undefined) accept(head, late.get(tank) ?? [], batch, own, outcomes, changes);
    else for (const place of own) outcomes[place] = TANK_UNKNOWN;
  }
  await changes.write(db);
  return outcomes;
}

/** The blocks that the readings before each tank's head fall into, by tank, oldest first. */
async function lateBlocks(
  db: Transaction,
  batch: ReadingBatch,
  places: ReadonlyMap<string, Uint32Array>,
  heads: ReadonlyMap<string, Head>,
): Promise<Map<string, StoredBlock[]>> {
  const tanks: string[] = [];
  const instants: number[] = [];
  for (const [tank, own] of places) {
    const before = placesBefore(batch, own, heads.get(tank)?.start ?? EARLIEST);
    for (const place of own.subarray(0, before)) {
      tanks.push(tank);
      instants.push(batch.createdAt[place] as number);
    }
  }
  const blocks = new Map<string, StoredBlock[]>();
  if (tanks.length === 0) return blocks;
  for (const row of await db.rows(BLOCKS_AT, [tanks, instants])) {
    const [tank, start, end, rank, data] = row as [string, number, number | null, number, Uint8Array];
    const own = blocks.get(tank) ?? [];
    own.push({ start, end: end ?? heads.get(tank)?.start ?? EARLIEST, rank, data });
    blocks.set(tank, own);
  }
  return blocks;
}

/** Takes the readings of one tank into its blocks and its head. */
function accept(
  head: Head,
  late: readonly StoredBlock[],
  batch: ReadingBatch,
  places: Uint32Array,
  outcomes: Uint8Array,
  changes: Changes,
): void {
  const { tank } = head;
  let added = 0;
  let done = 0;
  for (const { start, end, rank, data } of late) {
    const until = placesBefore(batch, places, end);
    const block = new Block(data);
    const woven = weave(block, batch, places.subarray(done, until), outcomes);
    done = until;
    if (woven === undefined) continue;
    const [first, ...rest] = cutBlock(woven, start);
    const delta = woven.instants.length - block.length;
    changes.blocks.push({ tank, piece: first });
    if (delta > 0) changes.grown.push({ series: tank, at: [start], delta });
    changes.open(tank, rest, rank + added + first.count);
    added += delta;
  }
  const block = new Block(head.data);
  const woven = weave(block, batch, places.subarray(done), outcomes);
  const total = head.total + added + (woven === undefined ? 0 : woven.instants.length - block.length);
  if (woven === undefined && added === 0) return;
  const older = head.older + added;
  if (woven === undefined) {
    changes.heads.push({ ...head, total, older });
    return;
  }
  const cut = cutHead(woven, head.start);
  changes.open(tank, cut.blocks, older);
  changes.heads.push({ tank, total, older: total - cut.head.count, start: cut.head.start, data: cut.head.data });
}
