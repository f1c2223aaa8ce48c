// The lines of a body that have something in them, one at a time: a body of nothing but line ends costs no more than any other.

const NEWLINE = 0x0a;

export type LineBytes = { readonly line: Buffer; readonly number: number };

export function* linesOf(bytes: Buffer): Generator<LineBytes> {
  let start = 0;
  let number = 1;
  for (let at = 0; at < bytes.length; at++) {
    const byte = bytes[at] as number;
    if (byte === NEWLINE) {
      start = at + 1;
      number++;
    }
    if (isBlank(byte)) continue;
    const end = bytes.indexOf(NEWLINE, at);
    at = (end === -1 ? bytes.length : end) - 1;
    yield { line: bytes.subarray(start, at + 1), number };
  }
}

/** What JSON lets stand between its values. */
const isBlank = (byte: number): boolean => byte === 0x20 || byte === NEWLINE || byte === 0x0d || byte === 0x09;
