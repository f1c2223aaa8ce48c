// Checksums of heads and blocks. They are sums, so that an append adds that of its readings to a head without reading it; and
// they include the tank and the start, so that a row found in the place of another one is noticed, too. A single changed byte
// always changes the sum.

import { crc32 } from "node:zlib";
import { DamageError } from "../../domain/errors.ts";
import { displayInstant, EARLIEST } from "../../domain/instant.ts";
import { Block, rowSizeOf } from "./block.ts";

type PackedBlock = { readonly start: number; readonly data: Uint8Array };
type PackedHead = PackedBlock & { readonly total: number };
/** As stored. */
export type BlockRow = PackedBlock & { readonly checksum: number };
export type HeadRow = PackedHead & { readonly checksum: number };
/** The newest readings of a tank, and the number of all. */
export type Head = { readonly total: number; readonly start: number; readonly block: Block };

/** Of a new tank. */
export const EMPTY_HEAD: PackedHead = { total: 0, start: EARLIEST, data: new Uint8Array(0) };

export function headChecksum(tankId: string, { total, start, data }: PackedHead): number {
  const step = data.length === 0 ? undefined : rowSizeOf(data[0] as number);
  const isRows = step !== undefined && data.length % step === 1;
  const view = new DataView(data.buffer, data.byteOffset, data.byteLength);
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
  let sum = 0;
  for (let at = offset + 1; at < offset + size; at += step) {
    let hash = mix(mix(layout, view.getUint32(at, true)), view.getUint32(at + 4, true));
    if (step > 8) hash = mix(mix(hash, view.getUint32(at + 8, true)), view.getUint16(at + 12, true));
    sum += hash >>> 0;
  }
  return sum;
}

/** Another word always gives another hash, and so does another hash before it. */
function mix(hash: number, word: number): number {
  const product = Math.imul(hash ^ word, 0x85ebca6b);
  return product ^ (product >>> 15);
}

/** SQLite may return another type, or no row at all, from a damaged file. */
const isStored = ({ data }: BlockRow): boolean => data instanceof Uint8Array;
export const isIntactHead = (tankId: string, head: HeadRow): boolean =>
  isStored(head) && headChecksum(tankId, head) === head.checksum;
export const isIntactBlock = (tankId: string, block: BlockRow): boolean =>
  isStored(block) && blockChecksum(tankId, block) === block.checksum;

/** Stored readings are unpacked here only: they are what was written, or an error. */
export function openHead(tankId: string, head: HeadRow): Head {
  if (!isIntactHead(tankId, head)) throw new DamageError(`tank ${tankId}: ${displayHead(head.start)} is damaged`);
  return { total: head.total, start: head.start, block: new Block(head.data) };
}

export function openBlock(tankId: string, block: BlockRow): Block {
  if (!isIntactBlock(tankId, block)) throw new DamageError(`tank ${tankId}: ${displayBlock(block.start)} is damaged`);
  return new Block(block.data);
}

const displayStart = (start: number): string => (start === EARLIEST ? "the start" : displayInstant(start));
export const displayHead = (start: number): string => `the head from ${displayStart(start)}`;
export const displayBlock = (start: number): string => `the block from ${displayStart(start)}`;
