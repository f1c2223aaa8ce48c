// How readings are merged into a tank's telemetry. The newest readings are in the head, one row per tank, so that an append
// touches that row only; older ones are in blocks, each known by the instant it begins at. A head or block that grows too long
// is split. Nothing is loaded or stored here.

import { LATEST } from "../../domain/instant.ts";
import { OUTCOME, type ReadingBatch } from "../../domain/reading.ts";
import {
  type Block,
  blockColumns,
  type Columns,
  packBlock,
  packHead,
  type RowWidth,
  rowsSize,
  rowWidth,
  writeRows,
} from "./block.ts";
import { appendChecksum, type Head } from "./checksum.ts";
import { lastIndexWhere, type RankIndex, SEGMENT_MAX, SEGMENT_SIZE } from "./rank-index.ts";

/** What stays in a head after a split; more than a first page of the usual size. */
export const HEAD_MIN = 32;
/** A longer head is split. */
export const HEAD_MAX = HEAD_MIN + SEGMENT_SIZE;
/** Where heads are split in bulk, one may grow to this until then. */
export const HEAD_HARD_MAX = HEAD_MAX + 32;

/** A head to store. `inBlocks`: how many of all readings are in blocks. */
export type HeadUpdate = { readonly total: number; readonly inBlocks: number; readonly start: number; readonly data: Uint8Array };
/** A block to store. `start` is at its first reading, or before it. */
export type StoredBlock = { readonly start: number; readonly count: number; readonly data: Uint8Array };
export type TelemetryUpdate = { readonly head: HeadUpdate; readonly blocks: readonly StoredBlock[] };

/** Instants and fills, as columns of a batch. */
export type BatchColumns = Pick<ReadingBatch, "createdAt" | "fill">;

/**
 * The positions of a batch by id of their tank or device, sorted by instant; equal instants stay in the order of arrival. Entry
 * i of the batch belongs to `ids[indexes[i]]`.
 */
export function positionsById(ids: readonly string[], indexes: Uint32Array, createdAt: Float64Array): Map<string, Uint32Array> {
  // A batch may name an id twice.
  const slots = new Map<string, number>();
  for (const id of ids) if (!slots.has(id)) slots.set(id, slots.size);
  const slotOf = Uint32Array.from(ids, (id) => slots.get(id) as number);
  const slotAt = indexes.map((index) => slotOf[index] as number);
  const counts = new Uint32Array(slots.size);
  for (const slot of slotAt) counts[slot] = (counts[slot] as number) + 1;
  const positions = Array.from(counts, (count) => new Uint32Array(count));
  const filled = new Uint32Array(slots.size);
  slotAt.forEach((slot, position) => {
    const at = filled[slot] as number;
    (positions[slot] as Uint32Array)[at] = position;
    filled[slot] = at + 1;
  });
  const instant = (position: number): number => createdAt[position] as number;
  const byId = new Map<string, Uint32Array>();
  for (const [id, slot] of slots) {
    const own = positions[slot] as Uint32Array;
    const isSorted = own.every((position, i) => i === 0 || instant(own[i - 1] as number) <= instant(position));
    if (!isSorted) own.sort((a, b) => instant(a) - instant(b) || a - b);
    if (own.length > 0) byId.set(id, own);
  }
  return byId;
}

/** Readings of one tank or device that can be appended to a head if they are newer than all it has. */
export type Append = { readonly id: string; readonly positions: Uint32Array; readonly width: RowWidth };

export function appendsOf(batch: BatchColumns, byId: ReadonlyMap<string, Uint32Array>): Append[] {
  const columns = { instants: batch.createdAt, fills: batch.fill };
  const appends: Append[] = [];
  for (const [id, positions] of byId) {
    const isCandidate = positions.length <= SEGMENT_SIZE && isStrictlyAscending(batch.createdAt, positions);
    const width = isCandidate ? rowWidth(columns, positions) : undefined;
    if (width !== undefined) appends.push({ id, positions, width });
  }
  return appends;
}

function isStrictlyAscending(instants: Float64Array, positions: Uint32Array): boolean {
  for (let i = 1; i < positions.length; i++) {
    if ((instants[positions[i - 1] as number] as number) >= (instants[positions[i] as number] as number)) return false;
  }
  return true;
}

export const appendSize = ({ positions, width }: Append): number => rowsSize(width, positions.length);
/** The longest head, in bytes, that the append does not make too long. */
export const maxHeadSize = ({ positions, width }: Append): number => rowsSize(width, HEAD_MAX - positions.length);

/** Packs it at the offset; returns what it adds to the checksum of the head. */
export function writeAppend(view: DataView, offset: number, { createdAt, fill }: BatchColumns, append: Append): number {
  const { positions, width } = append;
  writeRows(view, offset, { instants: createdAt, fills: fill }, positions, width);
  return appendChecksum(view, offset, appendSize(append), positions.length);
}

/** The instants whose paths in the rank index a merge needs. */
export function instantsNeeded(head: Head, batch: ReadingBatch, positions: Uint32Array): number[] {
  const late = countBefore(batch, positions, head.start);
  const instants = Array.from(positions.subarray(0, late), (position) => batch.createdAt[position] as number);
  // A block split off the head becomes the last segment.
  const maySplit = head.block.length + positions.length - late > HEAD_MAX;
  return maySplit ? [...instants, LATEST] : instants;
}

/** How many of the positions are before the instant. */
function countBefore({ createdAt }: ReadingBatch, positions: Uint32Array, instant: number): number {
  return lastIndexWhere(positions.length, (i) => (createdAt[positions[i] as number] as number) < instant) + 1;
}

type LateReadings = { readonly start: number; readonly rank: number; readonly positions: Uint32Array };

/** Readings before the head, grouped by the block they belong to, oldest first. */
export function* lateReadings(
  head: Head,
  index: RankIndex,
  batch: ReadingBatch,
  positions: Uint32Array,
): Generator<LateReadings> {
  const late = countBefore(batch, positions, head.start);
  for (let done = 0; done < late; ) {
    const { at, end, rank } = index.segmentAt([batch.createdAt[positions[done] as number] as number]);
    const until = end === undefined ? late : countBefore(batch, positions, Number(end[0]));
    yield { start: Number(at[0]), rank, positions: positions.subarray(done, until) };
    done = until;
  }
}

/** Merges the readings of one tank; sets the outcome of each. Returns undefined if nothing changes. */
export function mergeReadings(
  head: Head,
  index: RankIndex,
  blockAt: (start: number) => Block,
  batch: ReadingBatch,
  positions: Uint32Array,
  outcomes: Uint8Array,
): TelemetryUpdate | undefined {
  const blocks: StoredBlock[] = [];
  let added = 0;
  let merged = 0;
  for (const late of lateReadings(head, index, batch, positions)) {
    merged += late.positions.length;
    const block = blockAt(late.start);
    const columns = mergeInto(block, batch, late.positions, outcomes);
    if (columns === undefined) continue;
    const parts = splitBlock(columns, late.start);
    const delta = columns.instants.length - block.length;
    if (delta > 0) index.grow([late.start], delta);
    insertSegments(index, parts.slice(1), late.rank + (parts[0]?.count ?? 0));
    blocks.push(...parts);
    added += delta;
  }
  const { block, start } = head;
  const inBlocks = head.total - block.length + added;
  const columns = mergeInto(block, batch, positions.subarray(merged), outcomes);
  if (columns === undefined) {
    const update = { total: head.total + added, inBlocks, start, data: block.bytes };
    return blocks.length === 0 ? undefined : { head: update, blocks };
  }
  const split = splitHead(columns, start);
  insertSegments(index, split.blocks, inBlocks);
  return { head: headUpdate(inBlocks + columns.instants.length, split.head), blocks: [...blocks, ...split.blocks] };
}

/** Splits a head that has grown too long; undefined if it has not. The index must have the path to its end. */
export function splitLongHead({ total, start, block }: Head, index: RankIndex): TelemetryUpdate | undefined {
  if (block.length <= HEAD_MAX) return undefined;
  const split = splitHead(blockColumns(block), start);
  insertSegments(index, split.blocks, total - block.length);
  return { head: headUpdate(total, split.head), blocks: split.blocks };
}

function headUpdate(total: number, { start, count, data }: StoredBlock): HeadUpdate {
  return { total, inBlocks: total - count, start, data };
}

function insertSegments(index: RankIndex, blocks: readonly StoredBlock[], rank: number): void {
  let before = rank;
  for (const { start, count } of blocks) {
    index.insert([start], before);
    before += count;
  }
}

/** The block with the readings at `positions` merged in, or undefined if they change nothing. */
export function mergeInto(block: Block, batch: ReadingBatch, positions: Uint32Array, outcomes: Uint8Array): Columns | undefined {
  const instants = new Float64Array(block.length + positions.length);
  const fills = new Float64Array(instants.length);
  let length = 0;
  let read = 0;
  let isChanged = false;
  const push = (instant: number, fill: number): void => {
    instants[length] = instant;
    fills[length] = fill;
    length++;
  };
  for (const position of positions) {
    const instant = batch.createdAt[position] as number;
    const fill = batch.fill[position] as number;
    while (read < block.length && block.instant(read) <= instant) push(block.instant(read), block.fill(read++));
    if (length === 0 || instants[length - 1] !== instant) {
      push(instant, fill);
      outcomes[position] = OUTCOME.stored;
    } else if (fills[length - 1] === fill) {
      outcomes[position] = OUTCOME.duplicate;
      continue;
    } else {
      fills[length - 1] = fill;
      outcomes[position] = OUTCOME.replaced;
    }
    isChanged = true;
  }
  if (!isChanged) return undefined;
  while (read < block.length) push(block.instant(read), block.fill(read++));
  return { instants: instants.subarray(0, length), fills: fills.subarray(0, length) };
}

/** The head, and the blocks that are split off it, oldest first. */
export function splitHead(readings: Columns, start: number): { readonly blocks: StoredBlock[]; readonly head: StoredBlock } {
  const { length } = readings.instants;
  const count = Math.max(0, Math.ceil((length - HEAD_MAX) / SEGMENT_SIZE));
  const blocks = Array.from({ length: count }, (_, i) => part(readings, i * SEGMENT_SIZE, (i + 1) * SEGMENT_SIZE, start));
  return { blocks, head: part(readings, count * SEGMENT_SIZE, length, start, packHead) };
}

/** One block, or several if it is too long for one. */
export function splitBlock(readings: Columns, start: number): StoredBlock[] {
  const { length } = readings.instants;
  const count = length > SEGMENT_MAX ? Math.floor(length / SEGMENT_SIZE) : 1;
  return Array.from({ length: count }, (_, i) =>
    part(readings, i * SEGMENT_SIZE, i === count - 1 ? length : (i + 1) * SEGMENT_SIZE, start),
  );
}

function part(readings: Columns, from: number, to: number, start: number, pack = packBlock): StoredBlock {
  return { start: from === 0 ? start : (readings.instants[from] as number), count: to - from, data: pack(readings, from, to) };
}

/** All readings of blocks that are out of order or overlap, by instant; of two for one instant, the later one. */
export function reorderReadings(blocks: readonly Block[]): Columns {
  const parts = blocks.map(blockColumns);
  const length = parts.reduce((sum, { instants }) => sum + instants.length, 0);
  const [instants, fills] = [new Float64Array(length), new Float64Array(length)];
  let offset = 0;
  for (const part of parts) {
    instants.set(part.instants, offset);
    fills.set(part.fills, offset);
    offset += part.instants.length;
  }
  const instant = (position: number): number => instants[position] as number;
  const order = Uint32Array.from(instants.keys()).sort((a, b) => instant(a) - instant(b) || a - b);
  const kept = order.filter((position, i) => i === order.length - 1 || instant(position) !== instant(order[i + 1] as number));
  return { instants: Float64Array.from(kept, instant), fills: Float64Array.from(kept, (position) => fills[position] as number) };
}
