// A block: a stretch of one tank's readings in one row, oldest first, packed. A reading takes 6 bytes where instants lie
// within 49 days of each other and fills have two decimals, 16 at most; every double comes back as it was.
//
//   byte 0       how it is packed
//   bytes 1–8    the first instant, as a double
//   then         each instant: milliseconds after the first (4 bytes), or a double
//   then         each fill: hundredths (2 bytes), or a double
//
// All little-endian. No readings are no bytes.

import type { Reading } from "../../domain/reading.ts";

const PACKED = 1;
const WIDE_INSTANTS = 2;
const WIDE_FILLS = 4;
const HEADER = 9;
/** Of a reading with both packed. */
const NARROW = 6;
const FARTHEST = 2 ** 32 - 1;

/** Readings in columns, by instant, oldest first. */
export type Columns = { readonly instants: Float64Array; readonly fills: Float64Array };

export class Block {
  readonly length: number;
  readonly #view: DataView;
  readonly #first: number;
  readonly #wideInstants: boolean;
  readonly #wideFills: boolean;
  readonly #fillsAt: number;

  constructor(bytes: Uint8Array) {
    this.#view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
    const packing = bytes.byteLength === 0 ? PACKED : this.#view.getUint8(0);
    this.#wideInstants = (packing & WIDE_INSTANTS) !== 0;
    this.#wideFills = (packing & WIDE_FILLS) !== 0;
    const width = (this.#wideInstants ? 8 : 4) + (this.#wideFills ? 8 : 2);
    this.length = bytes.byteLength === 0 ? 0 : (bytes.byteLength - HEADER) / width;
    if ((packing & ~(WIDE_INSTANTS | WIDE_FILLS)) !== PACKED || !Number.isInteger(this.length) || this.length < 0) {
      throw new Error("a block of readings cannot be read");
    }
    this.#first = this.length === 0 ? 0 : this.#view.getFloat64(1, true);
    this.#fillsAt = HEADER + this.length * (this.#wideInstants ? 8 : 4);
  }

  instant(i: number): number {
    return this.#wideInstants
      ? this.#view.getFloat64(HEADER + i * 8, true)
      : this.#first + this.#view.getUint32(HEADER + i * 4, true);
  }

  fill(i: number): number {
    return this.#wideFills
      ? this.#view.getFloat64(this.#fillsAt + i * 8, true)
      : this.#view.getUint16(this.#fillsAt + i * 2, true) / 100;
  }

  /** How many lie before the instant. */
  before(instant: number): number {
    let low = 0;
    let high = this.length;
    while (low < high) {
      const middle = (low + high) >>> 1;
      if (this.instant(middle) < instant) low = middle + 1;
      else high = middle;
    }
    return low;
  }
}

/** Readings `from` to `to` (not included) of the block, as far as it has them, newest first. */
export function readingsOf(block: Block, from = 0, to = block.length): Reading[] {
  const readings: Reading[] = [];
  for (let i = Math.min(to, block.length) - 1; i >= Math.max(0, from); i--) {
    readings.push({ created_at: block.instant(i), fill_percentage: block.fill(i) });
  }
  return readings;
}

/** Readings `from` to `to` (not included) of the columns. */
export function pack({ instants, fills }: Columns, from = 0, to = instants.length): Uint8Array {
  const length = to - from;
  if (length === 0) return new Uint8Array(0);
  const first = instants[from] as number;
  const wideInstants = (instants[to - 1] as number) - first > FARTHEST;
  const wideFills = !fills.subarray(from, to).every(isHundredths);
  const fillsAt = HEADER + length * (wideInstants ? 8 : 4);
  const bytes = new Uint8Array(fillsAt + length * (wideFills ? 8 : 2));
  const view = new DataView(bytes.buffer);
  view.setUint8(0, PACKED | (wideInstants ? WIDE_INSTANTS : 0) | (wideFills ? WIDE_FILLS : 0));
  view.setFloat64(1, first, true);
  for (let i = 0; i < length; i++) {
    const instant = instants[from + i] as number;
    const fill = fills[from + i] as number;
    if (wideInstants) view.setFloat64(HEADER + i * 8, instant, true);
    else view.setUint32(HEADER + i * 4, instant - first, true);
    if (wideFills) view.setFloat64(fillsAt + i * 8, fill, true);
    else view.setUint16(fillsAt + i * 2, Math.round(fill * 100), true);
  }
  return bytes;
}

/**
 * The packed block with readings behind its last, or undefined where they do not fit the way it is packed, or do not all lie
 * behind it, each after the one before. Most readings come in like this, and nothing of the block has to be unpacked for it.
 */
export function appended(data: Uint8Array, { instants, fills }: Columns): Uint8Array | undefined {
  if (data[0] !== PACKED || !fills.every(isHundredths)) return undefined;
  const view = new DataView(data.buffer, data.byteOffset, data.byteLength);
  const [more, fillsAt] = [instants.length, HEADER + ((data.length - HEADER) / NARROW) * 4];
  const first = view.getFloat64(1, true);
  const bytes = new Uint8Array(data.length + more * NARROW);
  const written = new DataView(bytes.buffer);
  let last = view.getUint32(fillsAt - 4, true);
  for (let i = 0; i < more; i++) {
    const after = (instants[i] as number) - first;
    if (after <= last || after > FARTHEST) return undefined;
    written.setUint32(fillsAt + i * 4, after, true);
    written.setUint16(data.length + more * 4 + i * 2, Math.round((fills[i] as number) * 100), true);
    last = after;
  }
  bytes.set(data.subarray(0, fillsAt));
  bytes.set(data.subarray(fillsAt), fillsAt + more * 4);
  return bytes;
}

/** Comes back from hundredths as the very same double; -0 would not. */
function isHundredths(fill: number): boolean {
  return fill >= 0 && fill <= 655.35 && Object.is(Math.round(fill * 100) / 100 + 0, fill);
}

/** The newest reading of a packed block; undefined where there is none. */
export function lastReading(data: Uint8Array): Reading | undefined {
  const block = new Block(data);
  const last = block.length - 1;
  return last < 0 ? undefined : { created_at: block.instant(last), fill_percentage: block.fill(last) };
}
