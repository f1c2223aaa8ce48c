// Two passes over readings that arrive, in one transaction. In the first, what lies behind all that its tank has is appended, which
// is most of it; the second takes the rest, whatever it is.

import type { Acceptance, ArrivalBatch, Source } from "../../domain/reading.ts";
import { NEW, placesByTank } from "../series/weave.ts";
import { type Appended, append, offersOf } from "./append.ts";
import { acceptReadings, placeReadings } from "./arrivals.ts";
import type { Db, Transaction } from "./connection.ts";
import { shareDevices } from "./devices.ts";

/** Tanks whose heads should be cut are put into `long`. */
export async function acceptInTwoPasses(db: Transaction, batch: ArrivalBatch, long: Set<string>): Promise<Acceptance> {
  const pass = await firstPass(db, batch);
  for (const tank of pass.long) long.add(tank);
  const outcomes = new Uint8Array(batch.source.length).fill(LEFT);
  for (const { own } of pass.taken) for (const one of own) outcomes[pass.places?.[one] ?? one] = NEW;
  const left = Uint32Array.from(outcomes.keys()).filter((place) => outcomes[place] === LEFT);
  if (left.length === 0) return { outcomes, reasons: new Map() };
  const others = await acceptReadings(db, partOf(batch, left), left.length < outcomes.length);
  others.outcomes.forEach((outcome, i) => {
    outcomes[left[i] as number] = outcome;
  });
  return { outcomes, reasons: new Map(Array.from(others.reasons, ([i, reason]) => [left[i] as number, reason])) };
}

/** No outcome yet. */
const LEFT = 255;

/** `places`: where in the batch those stand that the offers speak of; without it, they speak of the batch. */
type FirstPass = Appended & { readonly places?: Uint32Array };

function firstPass(db: Db, batch: ArrivalBatch): Promise<FirstPass> {
  const kind = plainKindOf(batch);
  return kind === undefined ? appendPlaced(db, batch) : appendPlain(db, kind, batch);
}

async function appendPlain(db: Db, kind: Source["kind"], batch: ArrivalBatch): Promise<FirstPass> {
  const { sources, source, createdAt } = batch;
  const offers = offersOf(batch, placesByTank({ tankIds: sources.map(({ id }) => id), tank: source, createdAt }));
  const shared = kind === "device" ? shareDevices(db) : undefined;
  return (await Promise.all([append(db, kind, batch, offers), shared]))[0];
}

async function appendPlaced(db: Db, batch: ArrivalBatch): Promise<FirstPass> {
  const { readings, places, overtaken } = await placeReadings(db, batch);
  // Where a reading overtakes one that waits, that has to go, too.
  if (overtaken.length > 0) return { taken: [], long: [] };
  return { ...(await append(db, "tank", readings, offersOf(readings, placesByTank(readings)))), places };
}

/** Of tanks alone, or of devices alone, that anybody may name, and that tell their fills: nothing more has to be known. */
function plainKindOf({ sources, payloads }: ArrivalBatch): Source["kind"] | undefined {
  const kind = sources[0]?.kind;
  const isPlain = payloads.size === 0 && sources.every((source) => source.kind === kind && source.customerId === null);
  return isPlain ? kind : undefined;
}

/** Those at these places alone. */
function partOf(batch: ArrivalBatch, places: Uint32Array): ArrivalBatch {
  const { sources, source, createdAt, fill, payloads } = batch;
  if (places.length === source.length) return batch;
  const used = [...new Set(Array.from(places, (place) => source[place] as number))];
  const index = new Map(used.map((of, i) => [of, i]));
  return {
    sources: used.map((of) => sources[of] as Source),
    source: places.map((place) => index.get(source[place] as number) as number),
    createdAt: Float64Array.from(places, (place) => createdAt[place] as number),
    fill: Float64Array.from(places, (place) => fill[place] as number),
    payloads: new Map(
      Array.from(places, (place, i) => [i, payloads.get(place)] as const).filter(
        (one): one is readonly [number, string] => one[1] !== undefined,
      ),
    ),
  };
}
