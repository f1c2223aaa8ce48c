// Readings that arrive are taken in two passes. In the first, what lies behind all that its tank has is appended, which is most
// of it, and nothing has to be read for it; the second takes the rest, whatever it is. Pure: the engines do both.

import { isPossibleId } from "../../domain/id.ts";
import { ask, type Inquiry } from "../../domain/inquiry.ts";
import { placeReadings } from "../../domain/placement.ts";
import type { IncomingBatch, IngestResult, ReadingBatch, ReadingSource } from "../../domain/reading.ts";
import { isAscending, putRows, type Rows, rowsOf, rowsSize } from "./block.ts";
import { GAP } from "./levels.ts";
import { HEAD_MOST, NEW, placesByTank } from "./weave.ts";

/** Of tanks alone, or of devices alone, that anybody may name, and that tell their fills: nothing more has to be known. */
export function plainKindOf({ sources, payloads }: IncomingBatch): ReadingSource["kind"] | undefined {
  const kind = sources[0]?.kind;
  const isPlain = payloads.size === 0 && sources.every((source) => source.kind === kind && source.customerId === null);
  return isPlain ? kind : undefined;
}

/** Readings of one tank or device, by their places in a batch, that may be appended; and how they would lie in a head. */
export type Offer = { readonly id: string; readonly own: Uint32Array; readonly rows: Rows };
export type Readings = Pick<ReadingBatch, "createdAt" | "fill">;

/** Of places by the id of a tank, or of a device. */
export function offersOf({ createdAt, fill }: Readings, places: ReadonlyMap<string, Uint32Array>): Offer[] {
  const offers: Offer[] = [];
  for (const [id, own] of places) {
    const isSimple = own.length <= GAP && isAscending(createdAt, own) && isPossibleId(id);
    const rows = isSimple ? rowsOf({ instants: createdAt, fills: fill }, own) : undefined;
    if (rows !== undefined) offers.push({ id, own, rows });
  }
  return offers;
}

/** Of a plain batch. */
export function plainOffersOf(batch: IncomingBatch): Offer[] {
  const { sources, source, createdAt } = batch;
  return offersOf(batch, placesByTank({ tankIds: sources.map(({ id }) => id), tank: source, createdAt }));
}

export const offerSize = ({ own, rows }: Offer): number => rowsSize(rows, own.length);

/** Writes the rows of an offer at a place. */
export function putOffer(to: DataView, at: number, { createdAt, fill }: Readings, { own, rows }: Offer): void {
  putRows(to, at, { instants: createdAt, fills: fill }, own, rows);
}

/** How many bytes a head has at most that the offer can join without being cut. */
export const roomFor = ({ own, rows }: Offer): number => rowsSize(rows, HEAD_MOST - own.length);

/** No outcome yet. */
const LEFT = 255;

/** What the first pass has taken of a batch, and the places of what it left. */
export type FirstPass = { readonly outcomes: Uint8Array; readonly left: Uint32Array };

export function firstPassOf(length: number, taken: Iterable<Uint32Array>): FirstPass {
  const outcomes = new Uint8Array(length).fill(LEFT);
  for (const own of taken) for (const place of own) outcomes[place] = NEW;
  return { outcomes, left: Uint32Array.from(outcomes.keys()).filter((place) => outcomes[place] === LEFT) };
}

/** What became of the batch; `others` is what became of those that were left. */
export function withOthers({ outcomes, left }: FirstPass, others: IngestResult): IngestResult {
  others.outcomes.forEach((outcome, i) => {
    outcomes[left[i] as number] = outcome;
  });
  return { outcomes, reasons: new Map(Array.from(others.reasons, ([i, reason]) => [left[i] as number, reason])) };
}

/**
 * Two devices may have measured in one tank, one after the other. Whether, of one instant, something was taken that came after
 * what was left: the last to arrive stays, and it would not if the second pass had the last word.
 */
export function* isTangled(batch: IncomingBatch, { outcomes, left }: FirstPass): Inquiry<boolean> {
  const { sources, source, createdAt } = batch;
  const instant = (place: number): number => createdAt[place] as number;
  const firstLeft = new Map<number, number>();
  for (const place of left.toReversed()) firstLeft.set(instant(place), place);
  const later = [...outcomes.keys()].filter(
    (place) => outcomes[place] !== LEFT && place > (firstLeft.get(instant(place)) ?? Number.POSITIVE_INFINITY),
  );
  if (later.length === 0) return false;
  const idAt = (place: number): string => (sources[source[place] as number] as ReadingSource).id;
  const devices = yield* ask("devices", later.map(idAt));
  const { readings, positions: places } = yield* placeReadings(partOf(batch, left));
  const firstOf = new Map<string, number>();
  places.forEach((place, i) => {
    const moment = `${readings.createdAt[i]} ${readings.tankIds[readings.tank[i] as number]}`;
    if (!firstOf.has(moment)) firstOf.set(moment, left[place] as number);
  });
  return later.some((place) => {
    const moment = `${instant(place)} ${devices.get(idAt(place))?.tank_id}`;
    return place > (firstOf.get(moment) ?? Number.POSITIVE_INFINITY);
  });
}

/** Those at these places alone. */
export function partOf(batch: IncomingBatch, places: Uint32Array): IncomingBatch {
  const { sources, source, createdAt, fill, payloads } = batch;
  if (places.length === source.length) return batch;
  const used = [...new Set(Array.from(places, (place) => source[place] as number))];
  const index = new Map(used.map((of, i) => [of, i]));
  return {
    sources: used.map((of) => sources[of] as ReadingSource),
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
