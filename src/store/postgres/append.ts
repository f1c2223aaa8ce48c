// The usual way of readings: behind all that their tanks have, into heads with room for them. The server does it by itself,
// in one statement; no head has to be read for it.

import type { ReadingBatch } from "../../domain/reading.ts";
import { isAscending, putRows, type Rows, rowsOf, rowsSize } from "../series/block.ts";
import { GAP } from "../series/levels.ts";
import { HEAD_MOST, NEW } from "../series/weave.ts";
import { bigints, doubles, madePieces, texts } from "./arrays.ts";
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
type Offer = { readonly tank: string; readonly own: Uint32Array; readonly rows: Rows };

/** Gives those of the places that could not be appended. */
export async function append(db: Transaction, batch: ReadingBatch, places: Places, outcomes: Uint8Array): Promise<Places> {
  const columns = { instants: batch.createdAt, fills: batch.fill };
  const offers: Offer[] = [];
  for (const [tank, own] of places) {
    const rows = own.length <= GAP && isAscending(columns.instants, own) ? rowsOf(columns, own) : undefined;
    if (rows !== undefined) offers.push({ tank, own, rows });
  }
  if (offers.length === 0) return places;
  // As whoever locks heads does.
  offers.sort((a, b) => (a.tank < b.tank ? -1 : 1));
  const at = (i: number, of: Float64Array): number[] => offers.map(({ own }) => of[own.at(i) as number] as number);
  const [[taken]] = (await db.rows(APPEND, [
    texts(offers.map(({ tank }) => tank)),
    bigints(offers.map(({ own }) => own.length)),
    bigints(at(0, columns.instants)),
    bigints(at(-1, columns.instants)),
    doubles(at(-1, columns.fills)),
    madePieces(
      offers,
      ({ own, rows }) => rowsSize(rows, own.length),
      (to, { own, rows }, place) => putRows(to, place, columns, own, rows),
    ),
  ])) as unknown as readonly [readonly [readonly number[]]];
  for (const place of taken) for (const own of (offers[place - 1] as Offer).own) outcomes[own] = NEW;
  if (taken.length === places.size) return new Map();
  const done = new Set(taken.map((place) => (offers[place - 1] as Offer).tank));
  return new Map(Array.from(places).filter(([tank]) => !done.has(tank)));
}
