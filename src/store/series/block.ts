// A block: a stretch of one tank's readings in one row, oldest first, packed. A reading takes 6 bytes where instants lie
// within 49 days of each other and fills have two decimals, 16 at most; every double comes back as it was.
//
//   byte 0       how it is packed
//   bytes 1–8    the first instant, as a double
//   then         each instant: milliseconds after the first (4 bytes), or a double
//   then         each fill: hundredths (2 bytes), or a double
//
// A head grows at its end, so that its readings lie one behind the other, from byte 1 on, each by itself:
//
//   6 bytes      the instant: milliseconds after 1970
//   then         the fill: hundredths (2 bytes), or a double
//
// All little-endian. No readings are no bytes.

import type { Reading } from "../../domain/reading.ts";

const PACKED = 1;
const WIDE_INSTANTS = 2;
const WIDE_FILLS = 4;
const ROWS = 8;
const HEADER = 9;
const FARTHEST = 2 ** 32 - 1;
/** What comes after an instant that a row holds. */
const PAST_ROWS = 2 ** 48;
const ROW_INSTANT = 6;

/** Readings in columns, by instant, oldest first. */
export type Columns = { readonly instants: Float64Array; readonly fills: Float64Array };

export class Block {
  readonly length: number;
  readonly #view: DataView;
  readonly #first: number;
  readonly #isRows: boolean;
  readonly #wideInstants: boolean;
  readonly #wideFills: boolean;
  /** Where the first fill lies, and how far the next is from it. */
  readonly #fillsAt: number;
  readonly #step: number;

  constructor(bytes: Uint8Array) {
    this.#view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
    const packing = bytes.byteLength === 0 ? PACKED : this.#view.getUint8(0);
    this.#isRows = (packing & ROWS) !== 0;
    this.#wideInstants = (packing & WIDE_INSTANTS) !== 0;
    this.#wideFills = (packing & WIDE_FILLS) !== 0;
    const fill = this.#wideFills ? 8 : 2;
    const instant = this.#isRows ? ROW_INSTANT : this.#wideInstants ? 8 : 4;
    const header = this.#isRows ? 1 : HEADER;
    this.length = bytes.byteLength === 0 ? 0 : (bytes.byteLength - header) / (instant + fill);
    const isKnown = (packing & ~(WIDE_INSTANTS | WIDE_FILLS | ROWS)) === PACKED && !(this.#isRows && this.#wideInstants);
    if (!isKnown || !Number.isInteger(this.length) || this.length < 0) throw new Error("a block of readings cannot be read");
    this.#first = this.length === 0 || this.#isRows ? 0 : this.#view.getFloat64(1, true);
    this.#fillsAt = this.#isRows ? header + instant : header + this.length * instant;
    this.#step = this.#isRows ? instant + fill : fill;
  }

  instant(i: number): number {
    if (this.#isRows) {
      const place = this.#fillsAt - ROW_INSTANT + i * this.#step;
      return this.#view.getUint32(place, true) + this.#view.getUint16(place + 4, true) * 2 ** 32;
    }
    return this.#wideInstants
      ? this.#view.getFloat64(HEADER + i * 8, true)
      : this.#first + this.#view.getUint32(HEADER + i * 4, true);
  }

  fill(i: number): number {
    const place = this.#fillsAt + i * this.#step;
    return this.#wideFills ? this.#view.getFloat64(place, true) : this.#view.getUint16(place, true) / 100;
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

export function columnsOf(block: Block): Columns {
  const [instants, fills] = [new Float64Array(block.length), new Float64Array(block.length)];
  for (let i = 0; i < block.length; i++) {
    instants[i] = block.instant(i);
    fills[i] = block.fill(i);
  }
  return { instants, fills };
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

/** The same, one reading behind the other, or undefined where an instant does not fit. */
export function packRows(columns: Columns, from = 0, to = columns.instants.length): Uint8Array | undefined {
  if (to === from) return new Uint8Array(0);
  const places = Uint32Array.from({ length: to - from }, (_, i) => from + i);
  const rows = rowsOf(columns, places);
  if (rows === undefined) return undefined;
  const bytes = new Uint8Array(rowsSize(rows, places.length));
  putRows(new DataView(bytes.buffer), 0, columns, places, rows);
  return bytes;
}

/** How readings lie one behind the other: with fills in hundredths, or as doubles. */
export type Rows = "narrow" | "wide";

/** How these readings, by instant, would lie; undefined where an instant does not fit. */
export function rowsOf({ instants, fills }: Columns, places: Uint32Array): Rows | undefined {
  const [first, last] = [instants[places[0] as number] as number, instants[places.at(-1) as number] as number];
  if (first < 0 || last >= PAST_ROWS) return undefined;
  for (let i = 0; i < places.length; i++) if (!isHundredths(fills[places[i] as number] as number)) return "wide";
  return "narrow";
}

const rowSize = (rows: Rows): number => ROW_INSTANT + (rows === "wide" ? 8 : 2);
export const rowsSize = (rows: Rows, count: number): number => 1 + count * rowSize(rows);

/** Writes them at a place. */
export function putRows(to: DataView, at: number, { instants, fills }: Columns, places: Uint32Array, rows: Rows): void {
  const isWide = rows === "wide";
  to.setUint8(at, PACKED | ROWS | (isWide ? WIDE_FILLS : 0));
  for (let i = 0, place = at + 1; i < places.length; i++, place += rowSize(rows)) {
    const instant = instants[places[i] as number] as number;
    const fill = fills[places[i] as number] as number;
    to.setUint32(place, instant % 2 ** 32, true);
    to.setUint16(place + 4, instant / 2 ** 32, true);
    if (isWide) to.setFloat64(place + ROW_INSTANT, fill, true);
    else to.setUint16(place + ROW_INSTANT, Math.round(fill * 100), true);
  }
}

/** Whether each of these lies behind the one before. */
export function isAscending(instants: Float64Array, places: Uint32Array): boolean {
  for (let i = 1; i < places.length; i++) {
    if ((instants[places[i - 1] as number] as number) >= (instants[places[i] as number] as number)) return false;
  }
  return true;
}

/**
 * The rows with readings behind their last, or undefined where these do not fit the way it is packed, or do not all lie behind
 * it, each after the one before. Most readings come in like this, and nothing of the head has to be unpacked for it.
 */
export function appended(data: Uint8Array, columns: Columns, places: Uint32Array): Uint8Array | undefined {
  const packing = data[0] ?? 0;
  const last = lastReading(data);
  if ((packing & ROWS) === 0 || last === undefined) return undefined;
  if ((columns.instants[places[0] as number] as number) <= last.created_at || !isAscending(columns.instants, places))
    return undefined;
  const rows = (packing & WIDE_FILLS) === 0 ? "narrow" : "wide";
  const fitting = rowsOf(columns, places);
  if (fitting === undefined || (fitting === "wide" && rows === "narrow")) return undefined;
  const bytes = new Uint8Array(data.length + places.length * rowSize(rows));
  // What says how they are packed falls on the last byte of what was there, which is put back with the rest of it.
  putRows(new DataView(bytes.buffer), data.length - 1, columns, places, rows);
  bytes.set(data);
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
