// Arrays in the binary format of PostgreSQL: the driver would send them as text, which both sides would have to convert number
// by number.

/** Type oids. */
const [BYTEA, BIGINT, TEXT, DOUBLE] = [17, 20, 25, 701] as const;
const HEADER = 20;
const HIGH = 2 ** 32;

/** `size` is that of all elements; `put` writes one and returns its length. */
function encodedArray<T>(
  type: number,
  values: readonly T[],
  size: number,
  put: (bytes: Buffer, value: T, offset: number) => number,
) {
  const bytes = Buffer.allocUnsafe(HEADER + values.length * 4 + size);
  bytes.writeInt32BE(1, 0); // dimensions
  bytes.writeInt32BE(0, 4); // no nulls
  bytes.writeInt32BE(type, 8);
  bytes.writeInt32BE(values.length, 12);
  bytes.writeInt32BE(1, 16); // lower bound
  let offset = HEADER;
  for (const value of values) {
    const length = put(bytes, value, offset + 4);
    bytes.writeInt32BE(length, offset);
    offset += 4 + length;
  }
  return bytes;
}

export function texts(values: readonly string[]): Uint8Array {
  const size = values.reduce((sum, value) => sum + Buffer.byteLength(value), 0);
  return encodedArray(TEXT, values, size, (bytes, value, offset) => bytes.write(value, offset));
}

export function bigints(values: readonly number[]): Uint8Array {
  return encodedArray(BIGINT, values, values.length * 8, (bytes, value, offset) => {
    const high = Math.floor(value / HIGH);
    bytes.writeInt32BE(high, offset);
    bytes.writeUInt32BE(value - high * HIGH, offset + 4);
    return 8;
  });
}

export function doubles(values: readonly number[]): Uint8Array {
  return encodedArray(DOUBLE, values, values.length * 8, (bytes, value, offset) => {
    bytes.writeDoubleBE(value, offset);
    return 8;
  });
}

export function byteas(values: readonly Uint8Array[]): Uint8Array {
  const size = values.reduce((sum, { length }) => sum + length, 0);
  return encodedArray(BYTEA, values, size, (bytes, value, offset) => {
    bytes.set(value, offset);
    return value.length;
  });
}

/** Elements that are written in place: `put` writes one of the size that `sizeOf` returns. */
export function writtenByteas<T>(
  values: readonly T[],
  sizeOf: (value: T) => number,
  put: (to: DataView, value: T, offset: number) => void,
): Uint8Array {
  const size = values.reduce((sum, value) => sum + sizeOf(value), 0);
  let view: DataView | undefined;
  return encodedArray(BYTEA, values, size, (bytes, value, offset) => {
    view ??= new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
    put(view, value, offset);
    return sizeOf(value);
  });
}
