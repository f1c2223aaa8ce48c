// The usual way of readings: behind all that their tanks have, into heads with room for them. Neither the head nor the device
// has to be read for it.

import type { DatabaseSync, SQLInputValue, StatementSync } from "node:sqlite";
import type { IncomingBatch, ReadingSource } from "../../domain/reading.ts";
import { heardAt, urgencyIn } from "../fleet-row.ts";
import { type Offer, offerSize, plainOffersOf, putOffer, roomFor } from "../series/passes.ts";

/** The tank of ?1: what is named; or that which the device serves, and has served since ?2, if nothing waits of it. */
const TANKS: Readonly<Record<ReadingSource["kind"], string>> = {
  tank: "?1",
  device: "(SELECT tank FROM device WHERE id = ?1 AND since <= ?2 AND waiting = 0)",
};

const URGENCY = urgencyIn("?4 - threshold");
/** Where the fleet's coarse columns stay, they are not set: SQLite would make the entries of their indexes anew. */
const stay = (kind: ReadingSource["kind"]): string => `
  UPDATE fleet SET at = ?3, fill = ?4 WHERE tank = ${TANKS[kind]} AND at < ?2 AND heard = ?5 AND urgency = ${URGENCY}`;
/** Not from where it was not known at all: an empty head cannot be joined. */
const move = (kind: ReadingSource["kind"]): string => `
  UPDATE fleet SET at = ?3, fill = ?4, heard = ?5, urgency = ${URGENCY}
  WHERE tank = ${TANKS[kind]} AND at < ?2 AND fill IS NOT NULL`;

/** What joins two blobs makes a text of them, of the same bytes. */
const grow = (kind: ReadingSource["kind"]): string => `
  UPDATE telemetry SET total = total + ?3, data = CAST(data || ?4 AS BLOB)
  WHERE tank = (SELECT pk FROM tank WHERE id = ${TANKS[kind]}) AND substr(data, 1, 1) = ?5 AND length(data) <= ?6`;

/** `rest` is called between two tanks. */
export function appendWrites(db: DatabaseSync, rest: () => void) {
  const prepare = (kind: ReadingSource["kind"]) => ({
    stay: db.prepare(stay(kind)),
    move: db.prepare(move(kind)),
    grow: db.prepare(grow(kind)),
  });
  const statements = { tank: prepare("tank"), device: prepare("device") };
  const isDone = (statement: StatementSync, ...values: SQLInputValue[]): boolean => statement.run(...values).changes === 1;

  function isAppended(kind: ReadingSource["kind"], batch: IncomingBatch, offer: Offer): boolean {
    const { id, own } = offer;
    const [first, last] = [batch.createdAt[own[0] as number] as number, batch.createdAt[own.at(-1) as number] as number];
    const fill = batch.fill[own.at(-1) as number] as number;
    const { stay, move, grow } = statements[kind];
    const followed = [id, first, last, fill, heardAt(last)];
    if (!isDone(stay, ...followed) && !isDone(move, ...followed)) return false;
    const bytes = new Uint8Array(offerSize(offer));
    putOffer(new DataView(bytes.buffer), 0, batch, offer);
    // Where the head has no room, the other way takes the reading in: it is the newest in any case.
    return isDone(grow, id, first, own.length, bytes.subarray(1), bytes.subarray(0, 1), roomFor(offer));
  }

  return {
    /** Of a plain batch; gives the places of those taken. */
    append(kind: ReadingSource["kind"], batch: IncomingBatch): Uint32Array[] {
      const taken: Uint32Array[] = [];
      for (const offer of plainOffersOf(batch)) {
        if (isAppended(kind, batch, offer)) taken.push(offer.own);
        rest();
      }
      return taken;
    },
  };
}
