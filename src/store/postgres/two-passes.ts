// Readings that arrive are taken in two passes, both in one transaction: whole, or not at all. Where the first is likely to take
// them all, it is tried alone.

import type pg from "pg";
import { settleLater } from "../../domain/inquiry.ts";
import type { IncomingBatch, IngestResult, ReadingSource } from "../../domain/reading.ts";
import {
  firstPassOf,
  isTangled,
  type Offer,
  offersOf,
  partOf,
  plainKindOf,
  plainOffersOf,
  withOthers,
} from "../series/passes.ts";
import { NEW, placesByTank } from "../series/weave.ts";
import { answersOn } from "./answers.ts";
import { type Appended, append, type Wanted } from "./append.ts";
import { ingest, placeIncoming } from "./arrivals.ts";
import { atOnce, Beaten, type Db, isBeaten, isIncomplete, type Transaction } from "./connection.ts";
import { shareDevices } from "./devices.ts";

/** How many were left to the second pass is told, too. Tanks whose heads should be cut are put into `long`. */
export async function acceptInTwoPasses(
  db: Transaction,
  batch: IncomingBatch,
  long: Set<string>,
): Promise<IngestResult & { readonly left: number }> {
  const kind = plainKindOf(batch);
  const appending = kind === undefined ? appendPlaced(db, batch) : appendPlain(db, kind, batch, plainOffersOf(batch));
  const { taken, long: grown } = await appending;
  for (const tank of grown) long.add(tank);
  const first = firstPassOf(batch.source.length, taken);
  const { left, outcomes } = first;
  if (left.length === 0) return { outcomes, reasons: new Map(), left: 0 };
  // Done again, it is done by the way that takes any.
  if (kind === "device" && (await settleLater(isTangled(batch, first), answersOn(db))))
    throw new Beaten("the order matters here");
  const others = await ingest(db, partOf(batch, left), left.length < outcomes.length);
  return { ...withOthers(first, others), left: left.length };
}

/**
 * The first pass by itself, where it takes the whole batch: everything is sent at once, and the server, not waiting for us,
 * begins the next the sooner. Gives undefined, and has changed nothing, where something would be left.
 */
export async function acceptInOnePass(pool: pg.Pool, batch: IncomingBatch, long: Set<string>): Promise<IngestResult | undefined> {
  const kind = plainKindOf(batch);
  if (kind === undefined) return undefined;
  const offers = plainOffersOf(batch);
  const { length } = batch.source;
  if (offers.reduce((sum, { own }) => sum + own.length, 0) < length) return undefined;
  try {
    const { long: grown } = await atOnce(pool, (db) => appendPlain(db, kind, batch, offers, "all"));
    for (const tank of grown) long.add(tank);
    return { outcomes: new Uint8Array(length).fill(NEW), reasons: new Map() };
  } catch (error) {
    if (isIncomplete(error) || isBeaten(error)) return undefined;
    throw error;
  }
}

async function appendPlain(
  db: Db,
  kind: ReadingSource["kind"],
  batch: IncomingBatch,
  offers: readonly Offer[],
  wanted?: Wanted,
): Promise<Appended> {
  const shared = kind === "device" ? shareDevices(db) : undefined;
  return (await Promise.all([append(db, kind, batch, offers, wanted), shared]))[0];
}

async function appendPlaced(db: Db, batch: IncomingBatch): Promise<Appended> {
  const { readings, positions: places, superseded: overtaken } = await placeIncoming(db, batch);
  // Where a reading overtakes one that waits, that has to go, too.
  if (overtaken.length > 0) return { taken: [], long: [] };
  const { taken, long } = await append(db, "tank", readings, offersOf(readings, placesByTank(readings)));
  return { taken: taken.map((own) => own.map((one) => places[one] as number)), long };
}
