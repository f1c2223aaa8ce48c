// The usual way of readings: behind all that their tanks have, into heads with room for them. The server does it by itself,
// in one statement; no head has to be read for it.

import type { ReadingSource } from "../../domain/reading.ts";
import { type Offer, offerSize, putOffer, type Readings } from "../series/passes.ts";
import { HEAD_LONGEST, HEAD_MOST } from "../series/weave.ts";
import { bigints, doubles, madePieces, texts } from "./arrays.ts";
import { type Db, type Statement, statement } from "./connection.ts";
import { coarse } from "./fleet.ts";
import { lookedUp } from "./put.ts";

const MORE = `unnest($1::text[], $2::bigint[], $3::bigint[], $4::bigint[], $5::double precision[], $6::bytea[])
  WITH ORDINALITY AS more (id, count, first, last, fill, data, place)`;

/** The tank of each: what is named; or that which the device serves, and has served since then, if nothing waits of it. */
const TANKS: Readonly<Record<ReadingSource["kind"], string>> = {
  tank: `SELECT *, id AS tank FROM ${MORE}`,
  device: `SELECT more.*, own.tank FROM ${MORE} CROSS JOIN LATERAL (
    SELECT tank FROM device WHERE id = more.id AND since <= more.first AND waiting = 0 OFFSET 0
  ) AS own`,
};

/** Divides by zero where something is left. */
const WHOLE = "1 / (count(*) = cardinality($1))::integer";

/** By tank, as whoever locks heads does. A head is packed as what comes, which its first byte tells. */
const appending = (kind: ReadingSource["kind"], check: string): Statement =>
  statement(`
    WITH done AS (
      UPDATE telemetry SET total = total + more.count, data = telemetry.data || substring(more.data FROM 2), at = more.last,
        fill = more.fill, ${coarse({ at: "more.last", fill: "more.fill", threshold: "threshold" })}
      FROM (${TANKS[kind]} ORDER BY tank OFFSET 0) AS more
      WHERE ${lookedUp("telemetry.tank", "more.tank")} AND at < more.first AND total - older + more.count <= ${HEAD_LONGEST}
        AND substring(telemetry.data FOR 1) = substring(more.data FOR 1)
      RETURNING place, telemetry.tank, total - older AS length
    )
    SELECT coalesce(array_agg(place), '{}'), coalesce(array_agg(tank) FILTER (WHERE length > ${HEAD_MOST}), '{}'), ${check}
    FROM done`);

const appendings = (check: string): Readonly<Record<ReadingSource["kind"], Statement>> => ({
  tank: appending("tank", check),
  device: appending("device", check),
});
/** What can be appended; or all, failing where something cannot. */
const APPEND = { some: appendings("1"), all: appendings(WHOLE) };
export type Wanted = keyof typeof APPEND;

/** The places of what was taken; `long` are tanks whose heads should be cut. */
export type Appended = { readonly taken: readonly Uint32Array[]; readonly long: readonly string[] };

/** Those of devices under the shared lock. */
export async function append(
  db: Db,
  kind: ReadingSource["kind"],
  readings: Readings,
  offers: readonly Offer[],
  wanted: Wanted = "some",
): Promise<Appended> {
  if (offers.length === 0) return { taken: [], long: [] };
  const at = (i: number, of: Float64Array): number[] => offers.map(({ own }) => of[own.at(i) as number] as number);
  const [[taken, long]] = (await db.rows(APPEND[wanted][kind], [
    texts(offers.map(({ id }) => id)),
    bigints(offers.map(({ own }) => own.length)),
    bigints(at(0, readings.createdAt)),
    bigints(at(-1, readings.createdAt)),
    doubles(at(-1, readings.fill)),
    madePieces(offers, offerSize, (to, offer, place) => putOffer(to, place, readings, offer)),
  ])) as unknown as readonly [readonly [readonly number[], readonly string[]]];
  return { taken: taken.map((place) => (offers[place - 1] as Offer).own), long };
}
