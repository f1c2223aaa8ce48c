// Takes readings in, whatever they are: many tanks in one transaction. The heads are locked first, by id, and what is read after
// that is of now.

import type { ReadingBatch } from "../../domain/reading.ts";
import { lastReading } from "../series/block.ts";
import { cutLong, type Head, lateGaps, type Taken, takeIn, waysNeeded } from "../series/intake.ts";
import { LATEST } from "../series/levels.ts";
import { Ways } from "../series/ways.ts";
import { placesByTank, TANK_UNKNOWN } from "../series/weave.ts";
import { bigints, doubles, pieces, texts } from "./arrays.ts";
import { writeBlocks } from "./blocks.ts";
import { Beaten, isHeld, statement, type Transaction } from "./connection.ts";
import { coarse } from "./fleet.ts";
import { MilestoneKeeper } from "./milestone-keeper.ts";
import { lookedUp } from "./put.ts";
import { READING_MILESTONES } from "./telemetry.ts";

const HEADS = "SELECT tank, total, start, data FROM telemetry WHERE tank = ANY ($1::text[]) ORDER BY tank FOR UPDATE";
const LOCK_HEADS = statement(HEADS);
/** For whoever holds some already: to wait for others might be to wait for one who waits for these. */
const LOCK_MORE = statement(`${HEADS} NOWAIT`);

const BLOCKS = statement(`
  SELECT block.tank, block.start, block.data FROM unnest($1::text[], $2::bigint[]) AS asked (tank, start)
  CROSS JOIN LATERAL (SELECT * FROM block WHERE tank = asked.tank AND start = asked.start OFFSET 0) AS block`);

const WRITE_HEADS = statement(`
  UPDATE telemetry SET total = head.total, older = head.older, start = head.start, data = head.data, at = head.at,
    fill = head.fill, ${coarse({ at: "head.at", fill: "head.fill", threshold: "threshold" })}
  FROM unnest($1::text[], $2::bigint[], $3::bigint[], $4::bigint[], $5::bytea[], $6::bigint[], $7::double precision[])
    AS head (tank, total, older, start, data, at, fill)
  WHERE ${lookedUp("telemetry.tank", "head.tank")}`);

const keeper = new MilestoneKeeper(READING_MILESTONES);

/** The readings of one tank in a batch, and what is stored of it. */
type Arrival = { readonly tank: string; readonly head: Head; readonly places: Uint32Array; readonly ways: Ways };

/** `isHolding`: heads of other tanks are held already. */
export async function takeReadings(db: Transaction, batch: ReadingBatch, isHolding = false): Promise<Uint8Array> {
  const outcomes = new Uint8Array(batch.tank.length);
  if (outcomes.length === 0) return outcomes;
  const arrivals = await arrivalsOf(db, batch, outcomes, isHolding);
  const blocks = await lateBlocks(db, batch, arrivals);
  const taken = new Map<string, Taken>();
  for (const { tank, head, ways, places: own } of arrivals) {
    const blockAt = (start: number): Uint8Array => blocks.get(`${start} ${tank}`) as Uint8Array;
    const changes = takeIn(head, ways, blockAt, batch, own, outcomes);
    if (changes !== undefined) taken.set(tank, changes);
  }
  await write(db, taken, new Map(arrivals.map(({ tank, ways }) => [tank, ways])));
  return outcomes;
}

/** Heads that have grown too long, as far as they still are. */
export async function cutHeads(db: Transaction, tanks: readonly string[]): Promise<void> {
  const heads = await lockHeads(db, tanks);
  const ways = await keeper.ways(
    db,
    heads.map(([series]) => ({ series, at: [LATEST] })),
  );
  const taken = new Map<string, Taken>();
  for (const [tank, head] of heads) {
    const cut = cutLong(head, ways.get(tank) as Ways);
    if (cut !== undefined) taken.set(tank, cut);
  }
  await write(db, taken, ways);
}

/** One statement behind the other, without waiting for each. */
async function write(db: Transaction, taken: ReadonlyMap<string, Taken>, ways: ReadonlyMap<string, Ways>): Promise<void> {
  const blocks = Array.from(taken, ([tank, { written, opened }]) => [...written, ...opened].map((block) => ({ tank, ...block })));
  await Promise.all([writeHeads(db, taken), writeBlocks(db, blocks.flat()), keeper.keep(db, ways)]);
}

async function arrivalsOf(db: Transaction, batch: ReadingBatch, outcomes: Uint8Array, isHolding: boolean): Promise<Arrival[]> {
  const places = placesByTank(batch);
  const heads = new Map<string, Head>();
  for (const [tank, head] of await lockHeads(db, [...places.keys()], isHolding)) heads.set(tank, head);
  for (const [tank, own] of places) if (!heads.has(tank)) for (const place of own) outcomes[place] = TANK_UNKNOWN;
  const known = Array.from(heads, ([tank, head]) => ({ tank, head, places: places.get(tank) as Uint32Array }));
  const needed = known.flatMap(({ tank, head, places: own }) =>
    waysNeeded(head, batch, own).map((at) => ({ series: tank, at: [at] })),
  );
  const ways = await keeper.ways(db, needed);
  return known.map((arrival) => ({ ...arrival, ways: ways.get(arrival.tank) ?? Ways.none() }));
}

type LockedHead = readonly [tank: string, Head];

async function lockHeads(db: Transaction, tanks: readonly string[], isHolding = false): Promise<LockedHead[]> {
  const rows = (await db.rows(isHolding ? LOCK_MORE : LOCK_HEADS, [texts(tanks)]).catch((error: unknown) => {
    throw isHolding && isHeld(error) ? new Beaten("a head is held by another", { cause: error }) : error;
  })) as unknown as (readonly [string, number, number, Uint8Array])[];
  return rows.map(([tank, total, start, data]) => [tank, { total, start, data }]);
}

/** The blocks that the readings before each tank's head fall into. */
async function lateBlocks(db: Transaction, batch: ReadingBatch, arrivals: readonly Arrival[]): Promise<Map<string, Uint8Array>> {
  const tanks: string[] = [];
  const starts: number[] = [];
  for (const { tank, head, ways, places } of arrivals) {
    for (const { start } of lateGaps(head, ways, batch, places)) {
      tanks.push(tank);
      starts.push(start);
    }
  }
  if (tanks.length === 0) return new Map();
  const rows = (await db.rows(BLOCKS, [tanks, starts])) as unknown as (readonly [string, number, Uint8Array])[];
  return new Map(rows.map(([tank, start, data]) => [`${start} ${tank}`, data]));
}

async function writeHeads(db: Transaction, taken: ReadonlyMap<string, Taken>): Promise<void> {
  if (taken.size === 0) return;
  const heads = Array.from(taken.values(), ({ head }) => head);
  const latest = heads.map(({ data }) => lastReading(data));
  await db.rows(WRITE_HEADS, [
    texts([...taken.keys()]),
    bigints(heads.map(({ total }) => total)),
    bigints(heads.map(({ older }) => older)),
    bigints(heads.map(({ start }) => start)),
    pieces(heads.map(({ data }) => data)),
    bigints(latest.map((reading) => reading?.created_at as number)),
    doubles(latest.map((reading) => reading?.fill_percentage as number)),
  ]);
}
