// Readings that arrive are taken in two passes, both in one transaction: whole, or not at all.

import type { Acceptance, ArrivalBatch, Source } from "../../domain/reading.ts";
import { firstPassOf, offersOf, partOf, plainKindOf, plainOffersOf, withOthers } from "../series/passes.ts";
import { placesByTank } from "../series/weave.ts";
import { type Appended, append } from "./append.ts";
import { acceptReadings, placeReadings } from "./arrivals.ts";
import type { Db, Transaction } from "./connection.ts";
import { shareDevices } from "./devices.ts";

/** Tanks whose heads should be cut are put into `long`. */
export async function acceptInTwoPasses(db: Transaction, batch: ArrivalBatch, long: Set<string>): Promise<Acceptance> {
  const kind = plainKindOf(batch);
  const { taken, long: grown } = await (kind === undefined ? appendPlaced(db, batch) : appendPlain(db, kind, batch));
  for (const tank of grown) long.add(tank);
  const first = firstPassOf(batch.source.length, taken);
  const { left, outcomes } = first;
  if (left.length === 0) return { outcomes, reasons: new Map() };
  return withOthers(first, await acceptReadings(db, partOf(batch, left), left.length < outcomes.length));
}

async function appendPlain(db: Db, kind: Source["kind"], batch: ArrivalBatch): Promise<Appended> {
  const shared = kind === "device" ? shareDevices(db) : undefined;
  return (await Promise.all([append(db, kind, batch, plainOffersOf(batch)), shared]))[0];
}

async function appendPlaced(db: Db, batch: ArrivalBatch): Promise<Appended> {
  const { readings, places, overtaken } = await placeReadings(db, batch);
  // Where a reading overtakes one that waits, that has to go, too.
  if (overtaken.length > 0) return { taken: [], long: [] };
  const { taken, long } = await append(db, "tank", readings, offersOf(readings, placesByTank(readings)));
  return { taken: taken.map((own) => own.map((one) => places[one] as number)), long };
}
