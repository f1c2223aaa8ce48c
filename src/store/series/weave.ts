// How readings are taken into a tank's telemetry. The newest lie in the head, one row a tank, so that an append touches
// that row alone; older ones lie in blocks, each known by the instant it begins at. A head or block that has grown too
// long is cut. Pure: the engines load and store.

import { READING_OUTCOMES, type ReadingBatch } from "../../domain/reading.ts";
import { type Block, type Columns, pack, packRows } from "./block.ts";
import { GAP, GAP_MOST } from "./levels.ts";

/** What stays in the head when it is cut: more than a first page of the usual size. */
export const HEAD_LEAST = 32;
export const HEAD_MOST = HEAD_LEAST + GAP;
/** Where several heads are cut at a time, one that waits for that grows on. */
export const HEAD_LONGEST = HEAD_MOST + 32;

export const NEW = READING_OUTCOMES.indexOf("new");
const CHANGED = READING_OUTCOMES.indexOf("changed");
const UNCHANGED = READING_OUTCOMES.indexOf("unchanged");
export const TANK_UNKNOWN = READING_OUTCOMES.indexOf("tank_unknown");

/** A stretch of readings that is stored as one. `start` is where it begins: at its first reading, or before it. */
export type Piece = { readonly start: number; readonly count: number; readonly data: Uint8Array };

/** The places of a batch by tank; within a tank by instant, and those of one instant in the order they arrived in. */
export function placesByTank({ tankIds, tank, createdAt }: Omit<ReadingBatch, "fill">): Map<string, Uint32Array> {
  // A batch may name a tank twice.
  const slots = new Map<string, number>();
  for (const id of tankIds) if (!slots.has(id)) slots.set(id, slots.size);
  const slotOf = Uint32Array.from(tankIds, (id) => slots.get(id) as number);
  const counts = new Uint32Array(slots.size);
  const slotAt = tank.map((index) => slotOf[index] as number);
  for (const slot of slotAt) counts[slot] = (counts[slot] as number) + 1;
  const places = Array.from(counts, (count) => new Uint32Array(count));
  const filled = new Uint32Array(slots.size);
  slotAt.forEach((slot, place) => {
    const at = filled[slot] as number;
    (places[slot] as Uint32Array)[at] = place;
    filled[slot] = at + 1;
  });
  const instant = (place: number): number => createdAt[place] as number;
  const byTank = new Map<string, Uint32Array>();
  for (const [id, slot] of slots) {
    const own = places[slot] as Uint32Array;
    const isOrdered = own.every((place, i) => i === 0 || instant(own[i - 1] as number) <= instant(place));
    if (!isOrdered) own.sort((a, b) => instant(a) - instant(b) || a - b);
    if (own.length > 0) byTank.set(id, own);
  }
  return byTank;
}

/** How many of the places are before the instant. */
export function placesBefore({ createdAt }: ReadingBatch, places: Uint32Array, instant: number): number {
  let low = 0;
  let high = places.length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if ((createdAt[places[middle] as number] as number) < instant) low = middle + 1;
    else high = middle;
  }
  return low;
}

/**
 * The block with the readings at `places` taken in, or undefined where they change nothing. What became of each is written
 * into `outcomes`.
 */
export function weave(block: Block, batch: ReadingBatch, places: Uint32Array, outcomes: Uint8Array): Columns | undefined {
  const instants = new Float64Array(block.length + places.length);
  const fills = new Float64Array(instants.length);
  let length = 0;
  let taken = 0;
  let isChanged = false;
  const push = (instant: number, fill: number): void => {
    instants[length] = instant;
    fills[length] = fill;
    length++;
  };
  for (const place of places) {
    const instant = batch.createdAt[place] as number;
    const fill = batch.fill[place] as number;
    while (taken < block.length && block.instant(taken) <= instant) push(block.instant(taken), block.fill(taken++));
    if (length === 0 || instants[length - 1] !== instant) {
      push(instant, fill);
      outcomes[place] = NEW;
    } else if (fills[length - 1] === fill) {
      outcomes[place] = UNCHANGED;
      continue;
    } else {
      fills[length - 1] = fill;
      outcomes[place] = CHANGED;
    }
    isChanged = true;
  }
  if (!isChanged) return undefined;
  while (taken < block.length) push(block.instant(taken), block.fill(taken++));
  return { instants: instants.subarray(0, length), fills: fills.subarray(0, length) };
}

/** The head, and the blocks that are cut from it, oldest first. */
export function cutHead(readings: Columns, start: number): { readonly blocks: Piece[]; readonly head: Piece } {
  const { length } = readings.instants;
  const cuts = Math.max(0, Math.ceil((length - HEAD_MOST) / GAP));
  const blocks = Array.from({ length: cuts }, (_, i) => piece(readings, i * GAP, (i + 1) * GAP, start));
  return { blocks, head: piece(readings, cuts * GAP, length, start, packHead) };
}

/** The block, and the further ones it has to be cut into. */
export function cutBlock(readings: Columns, start: number): [Piece, ...Piece[]] {
  const { length } = readings.instants;
  const pieces = length > GAP_MOST ? Math.floor(length / GAP) : 1;
  const bound = (i: number): number => (i === pieces ? length : i * GAP);
  const rest = Array.from({ length: pieces - 1 }, (_, i) => piece(readings, bound(i + 1), bound(i + 2), start));
  return [piece(readings, 0, bound(1), start), ...rest];
}

function piece(readings: Columns, from: number, to: number, start: number, packed = pack): Piece {
  const begins = from === 0 ? start : (readings.instants[from] as number);
  return { start: begins, count: to - from, data: packed(readings, from, to) };
}

/** So that it can grow; what lies before 1970 cannot be packed so. */
const packHead: typeof pack = (readings, from, to) => packRows(readings, from, to) ?? pack(readings, from, to);
