// The usual way of readings: behind all that their tanks have, into heads with room for them. The server does it by itself,
// in one statement; no head has to be read for it.

import type { ReadingBatch } from "../../domain/reading.ts";
import { isAscending, packRows } from "../series/block.ts";
import { GAP } from "../series/levels.ts";
import { columnsAt, HEAD_MOST, NEW } from "../series/weave.ts";
import { bigints, doubles, pieces, texts } from "./arrays.ts";
import { statement, type Transaction } from "./connection.ts";
import { coarse } from "./fleet.ts";
import { lookedUp } from "./put.ts";

/** A head that is packed as what comes, but for the first byte, which says how. */
const APPEND = statement(`
  WITH done AS (
    UPDATE telemetry SET total = total + more.count, data = telemetry.data || substring(more.data FROM 2), at = more.last,
      fill = more.fill, ${coarse({ at: "more.last", fill: "more.fill", threshold: "threshold" })}
    FROM unnest($1::text[], $2::bigint[], $3::bigint[], $4::bigint[], $5::double precision[], $6::bytea[]) WITH ORDINALITY
      AS more (tank, count, first, last, fill, data, place)
    WHERE ${lookedUp("telemetry.tank", "more.tank")} AND at < more.first AND total - older + more.count <= ${HEAD_MOST}
      AND substring(telemetry.data FOR 1) = substring(more.data FOR 1)
    RETURNING place
  )
  SELECT coalesce(array_agg(place), '{}') FROM done`);

type Places = ReadonlyMap<string, Uint32Array>;

/** Gives those of the places that could not be appended. */
export async function append(db: Transaction, batch: ReadingBatch, places: Places, outcomes: Uint8Array): Promise<Places> {
  // By id, as whoever locks heads does.
  const tanks = [...places.keys()].sort();
  const offered: string[] = [];
  const [counts, firsts, lasts, fills]: [number[], number[], number[], number[]] = [[], [], [], []];
  const data: Uint8Array[] = [];
  for (const tank of tanks) {
    const own = places.get(tank) as Uint32Array;
    if (own.length > GAP) continue;
    const columns = columnsAt(batch, own);
    const rows = isAscending(columns.instants) ? packRows(columns) : undefined;
    if (rows === undefined) continue;
    offered.push(tank);
    counts.push(own.length);
    firsts.push(columns.instants[0] as number);
    lasts.push(columns.instants.at(-1) as number);
    fills.push(columns.fills.at(-1) as number);
    data.push(rows);
  }
  if (offered.length === 0) return places;
  const values = [texts(offered), bigints(counts), bigints(firsts), bigints(lasts), doubles(fills), pieces(data)];
  const [[taken]] = (await db.rows(APPEND, values)) as unknown as readonly [readonly [readonly number[]]];
  const left = new Map(places);
  for (const place of taken) {
    const tank = offered[place - 1] as string;
    for (const own of places.get(tank) as Uint32Array) outcomes[own] = NEW;
    left.delete(tank);
  }
  return left;
}
