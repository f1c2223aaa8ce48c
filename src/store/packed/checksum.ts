// Checksums of heads and blocks. They are sums, so that an append adds that of its readings to a head without reading it; and
// they include the tank and the start, so that a row found in the place of another one is noticed, too. A single changed byte
// always changes the sum.

import { crc32 } from "node:zlib";
import { DamageError } from "../../domain/errors.ts";
import { displayInstant, EARLIEST } from "../../domain/instant.ts";
import { Block, rowSizeOf, viewOf } from "./block.ts";

type PackedBlock = { readonly start: number; readonly data: Uint8Array };
type PackedHead = PackedBlock & { readonly total: number };
/** Blocks and heads as they are stored. */
export type BlockRow = PackedBlock & { readonly checksum: number };
export type HeadRow = PackedHead & { readonly checksum: number };
/** The newest readings of a tank, and the number of all. */
export type Head = { readonly total: number; readonly start: number; readonly block: Block };

/** The head of a new tank. */
export const EMPTY_HEAD: PackedHead = { total: 0, start: EARLIEST, data: new Uint8Array(0) };

export function headChecksum(tankId: string, { total, start, data }: PackedHead, view = viewOf(data)): number {
  const step = rowSizeOf(data[0]);
  const isRows = step !== undefined && data.length % step === 1;
  return placeChecksum(tankId, start) + total + (isRows ? rowsChecksum(view, 0, data.length) : crc32(data));
}

export function blockChecksum(tankId: string, { start, data }: PackedBlock): number {
  return placeChecksum(tankId, start) + crc32(data);
}

function placeChecksum(tankId: string, start: number): number {
  return crc32(tankId, start >>> 0) + Math.floor(start / 2 ** 32);
}

/** What appending these readings adds to the checksum of a head: they are packed at `offset`, after a layout byte. */
export function appendChecksum(view: DataView, offset: number, size: number, count: number): number {
  return rowsChecksum(view, offset, size) + count;
}

function rowsChecksum(view: DataView, offset: number, size: number): number {
  const layout = view.getUint8(offset);
  const step = rowSizeOf(layout) as number;
  const end = offset + size;
  let sum = 0;
  for (let at = offset + 1; at < end; at += step) {
    let hash = mix(layout, view.getUint32(at, true), view.getUint32(at + 4, true));
    if (step > 8) hash = mix(hash, view.getUint32(at + 8, true), view.getUint16(at + 12, true));
    sum += hash >>> 0;
  }
  return sum;
}

/** If one of the three is another number, the result is another one, too. */
function mix(hash: number, first: number, second: number): number {
  const mixed = Math.imul(hash ^ first, 0x85ebca6b) ^ second;
  return Math.imul(mixed ^ (mixed >>> 15), 0xc2b2ae35);
}

/** SQLite may return another type, or no row at all, from a damaged file. */
const isStored = ({ data }: BlockRow): boolean => data instanceof Uint8Array;
export const isIntactHead = (tankId: string, head: HeadRow): boolean =>
  isStored(head) && isIntact(tankId, head, viewOf(head.data));
export const isIntactBlock = (tankId: string, block: BlockRow): boolean =>
  isStored(block) && blockChecksum(tankId, block) === block.checksum;

/** The sum is the same in any order. The order is wrong if readings were appended while the stored time of the latest one was damaged. */
const isIntact = (tankId: string, head: HeadRow, view: DataView): boolean =>
  headChecksum(tankId, head, view) === head.checksum && isInOrder(view);

/** Of the row layout: others are never appended to. */
function isInOrder(view: DataView): boolean {
  const step = rowSizeOf(view.byteLength === 0 ? undefined : view.getUint8(0));
  if (step === undefined) return true;
  let [low, high] = [-1, 0];
  for (let at = 1; at < view.byteLength; at += step) {
    const [nextLow, nextHigh] = [view.getUint32(at, true), view.getUint16(at + 4, true)];
    if (nextHigh < high || (nextHigh === high && nextLow <= low)) return false;
    [low, high] = [nextLow, nextHigh];
  }
  return true;
}

/** Stored readings are unpacked here only: they are what was written, or an error. */
export function openHead(tankId: string, head: HeadRow): Head {
  const { total, start, data } = head;
  const view = isStored(head) ? viewOf(data) : undefined;
  if (view === undefined || !isIntact(tankId, head, view)) {
    throw new DamageError(`tank ${tankId}: ${displayHead(start)} is damaged`, { tankId });
  }
  return { total, start, block: new Block(data, view) };
}

export function openBlock(tankId: string, block: BlockRow): Block {
  if (!isIntactBlock(tankId, block)) throw new DamageError(`tank ${tankId}: ${displayBlock(block.start)} is damaged`);
  return new Block(block.data);
}

const displayStart = (start: number): string => (start === EARLIEST ? "the start" : displayInstant(start));
export const displayHead = (start: number): string => `the head from ${displayStart(start)}`;
export const displayBlock = (start: number): string => `the block from ${displayStart(start)}`;
