// Takes readings in: many tanks in one transaction. The heads are locked first, by id, and what is read after that is of
// now; an append ends there, with one statement more that writes the heads, and with them the rows of the fleet.

import type { Reading, ReadingBatch } from "../../domain/reading.ts";
import { heardAt } from "../fleet-row.ts";
import { lastReading } from "../series/block.ts";
import { type Head, lateGaps, type Taken, takeIn, waysNeeded } from "../series/intake.ts";
import { Ways } from "../series/ways.ts";
import { placesByTank, TANK_UNKNOWN } from "../series/weave.ts";
import { statement, type Transaction } from "./connection.ts";
import { copyIn } from "./copy.ts";
import { joined, pieceOf } from "./joined.ts";
import { MilestoneKeeper } from "./milestone-keeper.ts";
import { READING_MILESTONES } from "./telemetry.ts";

const LOCK_HEADS = statement(
  "SELECT tank, total, start, data FROM telemetry WHERE tank = ANY ($1::text[]) ORDER BY tank FOR UPDATE",
);

const BLOCKS = statement(`
  SELECT block.tank, block.start, block.data FROM unnest($1::text[], $2::bigint[]) AS asked (tank, start)
  CROSS JOIN LATERAL (SELECT * FROM block WHERE tank = asked.tank AND start = asked.start OFFSET 0) AS block`);

// An update of known rows is written as an insert: its way, by the primary key, leaves the planner no choice. Of the fleet,
// where live tanks alone have a row, it is written by where the rows lie: they stay there, since whoever writes one holds the
// tank's head.
const WRITE_HEADS = statement(`
  WITH head AS (
    INSERT INTO telemetry (tank, total, older, start, data)
    SELECT tank, total, older, start, ${pieceOf("$5")}
    FROM unnest($1::text[], $2::bigint[], $3::bigint[], $4::bigint[], $6::int[], $7::int[])
      AS head (tank, total, older, start, place, length)
    ON CONFLICT (tank) DO UPDATE SET total = excluded.total, older = excluded.older, start = excluded.start, data = excluded.data
  )
  UPDATE fleet SET at = latest.at, fill = latest.fill, urgency = floor(latest.fill - latest.threshold), heard = latest.heard
  FROM (
    SELECT own.ctid AS place, own.threshold, given.at, given.fill, given.heard
    FROM unnest($8::text[], $9::bigint[], $10::double precision[], $11::bigint[]) AS given (tank, at, fill, heard)
    CROSS JOIN LATERAL (SELECT ctid, threshold FROM fleet WHERE tank = given.tank OFFSET 0) AS own OFFSET 0
  ) AS latest WHERE fleet.ctid = latest.place`);

const WRITE_BLOCKS = statement(`
  INSERT INTO block (tank, start, data)
  SELECT tank, start, ${pieceOf("$3")} FROM unnest($1::text[], $2::bigint[], $4::int[], $5::int[]) AS given (tank, start, place, length)
  ON CONFLICT (tank, start) DO UPDATE SET data = excluded.data`);

const keeper = new MilestoneKeeper(READING_MILESTONES);

/** The readings of one tank in a batch, and what is stored of it. */
type Arrival = { readonly tank: string; readonly head: Head; readonly places: Uint32Array; readonly ways: Ways };

export async function takeReadings(db: Transaction, batch: ReadingBatch): Promise<Uint8Array> {
  const outcomes = new Uint8Array(batch.tank.length);
  if (outcomes.length === 0) return outcomes;
  const arrivals = await arrivalsOf(db, batch, outcomes);
  const blocks = await lateBlocks(db, batch, arrivals);
  const taken = new Map<string, Taken>();
  const latest = new Map<string, Reading>();
  for (const { tank, head, ways, places } of arrivals) {
    const blockAt = (start: number): Uint8Array => blocks.get(`${start} ${tank}`) as Uint8Array;
    const changes = takeIn(head, ways, blockAt, batch, places, outcomes);
    if (changes === undefined) continue;
    taken.set(tank, changes);
    const newest = newLatest(head, changes);
    if (newest !== undefined) latest.set(tank, newest);
  }
  await write(db, taken, latest);
  await keeper.keep(db, new Map(arrivals.map(({ tank, ways }) => [tank, ways])));
  return outcomes;
}

async function arrivalsOf(db: Transaction, batch: ReadingBatch, outcomes: Uint8Array): Promise<Arrival[]> {
  const heads = new Map<string, Head>();
  const places = placesByTank(batch);
  for (const row of await db.rows(LOCK_HEADS, [[...places.keys()]])) {
    const [tank, total, start, data] = row as [string, number, number, Uint8Array];
    heads.set(tank, { total, start, data });
  }
  for (const [tank, own] of places) if (!heads.has(tank)) for (const place of own) outcomes[place] = TANK_UNKNOWN;
  const known = Array.from(heads, ([tank, head]) => ({ tank, head, places: places.get(tank) as Uint32Array }));
  const needed = known.flatMap(({ tank, head, places: own }) =>
    waysNeeded(head, batch, own).map((at) => ({ series: tank, at: [at] })),
  );
  const ways = await keeper.ways(db, needed);
  return known.map((arrival) => ({ ...arrival, ways: ways.get(arrival.tank) ?? Ways.none() }));
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

/** The latest reading, where it is another than before. */
function newLatest(before: Head, { head }: Taken): Reading | undefined {
  if (head.data === before.data) return undefined;
  const [was, is] = [lastReading(before.data), lastReading(head.data)];
  return was?.created_at === is?.created_at && was?.fill_percentage === is?.fill_percentage ? undefined : is;
}

async function write(db: Transaction, taken: ReadonlyMap<string, Taken>, latest: ReadonlyMap<string, Reading>): Promise<void> {
  if (taken.size === 0) return;
  const tanks = [...taken.keys()];
  const heads = Array.from(taken.values(), ({ head }) => head);
  await db.rows(WRITE_HEADS, [
    tanks,
    heads.map(({ total }) => total),
    heads.map(({ older }) => older),
    heads.map(({ start }) => start),
    ...joined(heads.map(({ data }) => data)),
    [...latest.keys()],
    Array.from(latest.values(), ({ created_at }) => created_at),
    Array.from(latest.values(), ({ fill_percentage }) => fill_percentage),
    Array.from(latest.values(), ({ created_at }) => heardAt(created_at)),
  ]);
  const pieces = (of: "written" | "opened") =>
    tanks.flatMap((tank) => (taken.get(tank)?.[of] ?? []).map(({ start, data }) => ({ tank, start, data })));
  const written = pieces("written");
  if (written.length > 0) {
    await db.rows(WRITE_BLOCKS, [
      written.map(({ tank }) => tank),
      written.map(({ start }) => start),
      ...joined(written.map(({ data }) => data)),
    ]);
  }
  const opened = pieces("opened");
  if (opened.length === 0) return;
  await copyIn(
    db.client,
    "block (tank, start, data)",
    opened.map(({ tank, start, data }) => [tank, start, data]),
  );
}
