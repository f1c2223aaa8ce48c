// A block: consecutive readings of one tank, packed into one database row, oldest first. A reading takes 6 to 16 bytes;
// every double comes back exactly.
//
// Column layout, for blocks that are complete:
//   byte 0       layout flags
//   bytes 1–8    the first instant, as a double
//   then         each instant: milliseconds after the first (4 bytes), or a double
//   then         each fill: hundredths (2 bytes), or a double
//
// Row layout, for heads, which grow at their end. From byte 1, for each reading:
//   6 bytes      the instant: milliseconds after 1970
//   then         the fill: hundredths (2 bytes), or a double
//
// All little-endian. An empty block has no bytes.

import { DamageError } from "../../domain/errors.ts";
import type { Reading } from "../../domain/reading.ts";
import { lastIndexWhere } from "./rank-index.ts";

const PACKED = 1;
const WIDE_INSTANTS = 2;
const WIDE_FILLS = 4;
const ROW_LAYOUT = 8;
const COLUMN_HEADER = 9;
const MAX_INSTANT_DELTA = 2 ** 32 - 1;
/** Instants in the row layout are below this. */
const ROW_INSTANT_END = 2 ** 48;
const ROW_INSTANT_BYTES = 6;

/** Readings in columns, oldest first. */
export type Columns = { readonly instants: Float64Array; readonly fills: Float64Array };

export class Block {
  readonly bytes: Uint8Array;
  readonly length: number;
  readonly #view: DataView;
  readonly #first: number;
  readonly #isRows: boolean;
  readonly #wideInstants: boolean;
  readonly #wideFills: boolean;
  readonly #fillsAt: number;
  readonly #fillStep: number;

  /** `view` is of the bytes. */
  constructor(bytes: Uint8Array, view = viewOf(bytes)) {
    this.bytes = bytes;
    this.#view = view;
    const flags = bytes.byteLength === 0 ? PACKED : this.#view.getUint8(0);
    this.#isRows = (flags & ROW_LAYOUT) !== 0;
    this.#wideInstants = (flags & WIDE_INSTANTS) !== 0;
    this.#wideFills = (flags & WIDE_FILLS) !== 0;
    const fillBytes = this.#wideFills ? 8 : 2;
    const instantBytes = this.#isRows ? ROW_INSTANT_BYTES : this.#wideInstants ? 8 : 4;
    const header = this.#isRows ? 1 : COLUMN_HEADER;
    this.length = bytes.byteLength === 0 ? 0 : (bytes.byteLength - header) / (instantBytes + fillBytes);
    const isKnown = (flags & ~(WIDE_INSTANTS | WIDE_FILLS | ROW_LAYOUT)) === PACKED && !(this.#isRows && this.#wideInstants);
    if (!isKnown || !Number.isInteger(this.length) || this.length < 0) throw new DamageError("a block of readings is damaged");
    this.#first = this.length === 0 || this.#isRows ? 0 : this.#view.getFloat64(1, true);
    this.#fillsAt = this.#isRows ? header + instantBytes : header + this.length * instantBytes;
    this.#fillStep = this.#isRows ? instantBytes + fillBytes : fillBytes;
  }

  instant(i: number): number {
    if (this.#isRows) {
      const at = this.#fillsAt - ROW_INSTANT_BYTES + i * this.#fillStep;
      return this.#view.getUint32(at, true) + this.#view.getUint16(at + 4, true) * 2 ** 32;
    }
    return this.#wideInstants
      ? this.#view.getFloat64(COLUMN_HEADER + i * 8, true)
      : this.#first + this.#view.getUint32(COLUMN_HEADER + i * 4, true);
  }

  fill(i: number): number {
    const at = this.#fillsAt + i * this.#fillStep;
    return this.#wideFills ? this.#view.getFloat64(at, true) : this.#view.getUint16(at, true) / 100;
  }

  /** Copies readings `from` to `to` (exclusive) to the position `at` of the columns. */
  copyTo({ instants, fills }: Columns, at: number, from: number, to: number): void {
    if (this.#isRows || this.#wideInstants || this.#wideFills) {
      for (let i = from, position = at; i < to; i++, position++) {
        instants[position] = this.instant(i);
        fills[position] = this.fill(i);
      }
      return;
    }
    // The layout of nearly all blocks, without a decision per reading.
    const [view, first, fillsAt] = [this.#view, this.#first, this.#fillsAt];
    for (let i = from, position = at; i < to; i++, position++) {
      instants[position] = first + view.getUint32(COLUMN_HEADER + i * 4, true);
      fills[position] = view.getUint16(fillsAt + i * 2, true) / 100;
    }
  }

  /** How many readings are before the instant. */
  countBefore(instant: number): number {
    return lastIndexWhere(this.length, (i) => this.instant(i) < instant) + 1;
  }
}

export const viewOf = ({ buffer, byteOffset, byteLength }: Uint8Array): DataView => new DataView(buffer, byteOffset, byteLength);

/** Readings `from` to `to` (exclusive) of the block, clamped to it, newest first. */
export function readingsOf(block: Block, from = 0, to = block.length): Reading[] {
  const readings: Reading[] = [];
  for (let i = Math.min(to, block.length) - 1; i >= Math.max(0, from); i--) {
    readings.push({ created_at: block.instant(i), fill_percentage: block.fill(i) });
  }
  return readings;
}

/** The newest reading of a block; undefined if it is empty. */
export function lastReading(block: Block): Reading | undefined {
  return readingsOf(block, block.length - 1)[0];
}

export function blockColumns(block: Block): Columns {
  const columns = { instants: new Float64Array(block.length), fills: new Float64Array(block.length) };
  block.copyTo(columns, 0, 0, block.length);
  return columns;
}

/** Packs readings `from` to `to` (exclusive) in the column layout. */
export function packBlock({ instants, fills }: Columns, from = 0, to = instants.length): Uint8Array {
  const length = to - from;
  if (length === 0) return new Uint8Array(0);
  const first = instants[from] as number;
  const wideInstants = (instants[to - 1] as number) - first > MAX_INSTANT_DELTA;
  const wideFills = !fills.subarray(from, to).every(isHundredths);
  const fillsAt = COLUMN_HEADER + length * (wideInstants ? 8 : 4);
  const bytes = new Uint8Array(fillsAt + length * (wideFills ? 8 : 2));
  const view = new DataView(bytes.buffer);
  view.setUint8(0, PACKED | (wideInstants ? WIDE_INSTANTS : 0) | (wideFills ? WIDE_FILLS : 0));
  view.setFloat64(1, first, true);
  for (let i = 0; i < length; i++) {
    const instant = instants[from + i] as number;
    const fill = fills[from + i] as number;
    if (wideInstants) view.setFloat64(COLUMN_HEADER + i * 8, instant, true);
    else view.setUint32(COLUMN_HEADER + i * 4, instant - first, true);
    if (wideFills) view.setFloat64(fillsAt + i * 8, fill, true);
    else view.setUint16(fillsAt + i * 2, Math.round(fill * 100), true);
  }
  return bytes;
}

/** Packs in the row layout; in the column layout if an instant does not fit (before 1970). */
export function packHead(columns: Columns, from = 0, to = columns.instants.length): Uint8Array {
  if (to === from) return new Uint8Array(0);
  const positions = Uint32Array.from({ length: to - from }, (_, i) => from + i);
  const width = rowWidth(columns, positions);
  if (width === undefined) return packBlock(columns, from, to);
  const bytes = new Uint8Array(rowsSize(width, positions.length));
  writeRows(new DataView(bytes.buffer), 0, columns, positions, width);
  return bytes;
}

/** Fills as hundredths, or as doubles. */
export type RowWidth = "narrow" | "wide";

/** The width these readings need in the row layout; undefined if an instant does not fit. `positions` are by instant. */
export function rowWidth({ instants, fills }: Columns, positions: Uint32Array): RowWidth | undefined {
  const [first, last] = [instants[positions[0] as number] as number, instants[positions.at(-1) as number] as number];
  if (first < 0 || last >= ROW_INSTANT_END) return undefined;
  for (let i = 0; i < positions.length; i++) if (!isHundredths(fills[positions[i] as number] as number)) return "wide";
  return "narrow";
}

const rowSize = (width: RowWidth): number => ROW_INSTANT_BYTES + (width === "wide" ? 8 : 2);
export const rowsSize = (width: RowWidth, count: number): number => 1 + count * rowSize(width);

/** By the layout byte, which an empty head does not have; undefined for another layout. */
export function rowSizeOf(layout: number | undefined): number | undefined {
  if (layout === (PACKED | ROW_LAYOUT)) return rowSize("narrow");
  return layout === (PACKED | ROW_LAYOUT | WIDE_FILLS) ? rowSize("wide") : undefined;
}

/** Writes a head of these readings at an offset of `view`. */
export function writeRows(
  view: DataView,
  offset: number,
  { instants, fills }: Columns,
  positions: Uint32Array,
  width: RowWidth,
): void {
  const isWide = width === "wide";
  view.setUint8(offset, PACKED | ROW_LAYOUT | (isWide ? WIDE_FILLS : 0));
  for (let i = 0, at = offset + 1; i < positions.length; i++, at += rowSize(width)) {
    const instant = instants[positions[i] as number] as number;
    const fill = fills[positions[i] as number] as number;
    view.setUint32(at, instant % 2 ** 32, true);
    view.setUint16(at + 4, instant / 2 ** 32, true);
    if (isWide) view.setFloat64(at + ROW_INSTANT_BYTES, fill, true);
    else view.setUint16(at + ROW_INSTANT_BYTES, Math.round(fill * 100), true);
  }
}

/** Whether the double survives being stored as hundredths; -0 does not. */
function isHundredths(fill: number): boolean {
  return fill >= 0 && fill <= 655.35 && Object.is(Math.round(fill * 100) / 100 + 0, fill);
}
