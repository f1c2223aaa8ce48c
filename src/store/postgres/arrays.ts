// Arrays as the server keeps them, which travel as they are. As texts, as the driver would send them, they would have to be
// written and read number by number.

/** What the server calls the types. */
const [BYTEA, BIGINT, TEXT, DOUBLE] = [17, 20, 25, 701] as const;
const HEADER = 20;
const HIGH = 2 ** 32;

/** An array of so many elements that take so many bytes, with `put` to write each: its length, and its bytes behind that. */
function arrayOf<T>(type: number, values: readonly T[], size: number, put: (bytes: Buffer, value: T, place: number) => number) {
  const bytes = Buffer.allocUnsafe(HEADER + values.length * 4 + size);
  bytes.writeInt32BE(1, 0); // dimensions
  bytes.writeInt32BE(0, 4); // no nulls
  bytes.writeInt32BE(type, 8);
  bytes.writeInt32BE(values.length, 12);
  bytes.writeInt32BE(1, 16); // counted from one
  let place = HEADER;
  for (const value of values) {
    const length = put(bytes, value, place + 4);
    bytes.writeInt32BE(length, place);
    place += 4 + length;
  }
  return bytes;
}

export function texts(values: readonly string[]): Uint8Array {
  const size = values.reduce((sum, value) => sum + Buffer.byteLength(value), 0);
  return arrayOf(TEXT, values, size, (bytes, value, place) => bytes.write(value, place));
}

export function bigints(values: readonly number[]): Uint8Array {
  return arrayOf(BIGINT, values, values.length * 8, (bytes, value, place) => {
    const high = Math.floor(value / HIGH);
    bytes.writeInt32BE(high, place);
    bytes.writeUInt32BE(value - high * HIGH, place + 4);
    return 8;
  });
}

export function doubles(values: readonly number[]): Uint8Array {
  return arrayOf(DOUBLE, values, values.length * 8, (bytes, value, place) => {
    bytes.writeDoubleBE(value, place);
    return 8;
  });
}

export function pieces(values: readonly Uint8Array[]): Uint8Array {
  const size = values.reduce((sum, { length }) => sum + length, 0);
  return arrayOf(BYTEA, values, size, (bytes, value, place) => {
    bytes.set(value, place);
    return value.length;
  });
}

/** Pieces that are made where they are to lie: `put` writes one, which has the size that `sizeOf` says. */
export function madePieces<T>(
  values: readonly T[],
  sizeOf: (value: T) => number,
  put: (to: DataView, value: T, place: number) => void,
): Uint8Array {
  const size = values.reduce((sum, value) => sum + sizeOf(value), 0);
  let view: DataView | undefined;
  return arrayOf(BYTEA, values, size, (bytes, value, place) => {
    view ??= new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
    put(view, value, place);
    return sizeOf(value);
  });
}
