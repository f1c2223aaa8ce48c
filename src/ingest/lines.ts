// Bytes into lines, one at a time and bounded: a file of any size, and a line of any length, needs no more memory.

import { isUtf8 } from "node:buffer";

export const MAX_LINE_BYTES = 1_048_576;

export type Line = { readonly number: number; readonly text: string } | { readonly number: number; readonly unreadable: string };

const NEWLINE = 10;
const TOO_LONG = `the line is longer than ${MAX_LINE_BYTES} bytes`;
const NOT_UTF8 = "the line is not valid UTF-8";

/** Lines in groups, as they arrive. Without their line ends, and without a byte order mark at the start. */
export async function* readLines(source: AsyncIterable<Buffer>): AsyncGenerator<Line[]> {
  let rest: Buffer = Buffer.alloc(0);
  let number = 0;
  let skipping = false;
  for await (const chunk of source) {
    const group: Line[] = [];
    let bytes = rest.length === 0 ? chunk : Buffer.concat([rest, chunk]);
    if (skipping) {
      const end = bytes.indexOf(NEWLINE);
      bytes = end === -1 ? Buffer.alloc(0) : bytes.subarray(end + 1);
      skipping = end === -1;
    }
    const last = bytes.lastIndexOf(NEWLINE);
    for (const line of split(bytes.subarray(0, Math.max(0, last)), last !== -1)) group.push(readable(++number, line));
    rest = bytes.subarray(last + 1);
    if (rest.length > MAX_LINE_BYTES) {
      group.push({ number: ++number, unreadable: TOO_LONG });
      rest = Buffer.alloc(0);
      skipping = true;
    }
    if (group.length > 0) yield group;
  }
  if (rest.length > 0) yield [...split(rest, true)].map((line) => readable(++number, line));
}

/** Decoding a whole block at once is several times faster than line by line; only a broken block is cut up first. */
function* split(block: Buffer, isAny: boolean): Generator<string | Buffer> {
  if (!isAny) return;
  if (isUtf8(block)) {
    yield* block.toString("utf8").split("\n");
    return;
  }
  for (let start = 0; start <= block.length; ) {
    const end = block.indexOf(NEWLINE, start);
    const stop = end === -1 ? block.length : end;
    const line = block.subarray(start, stop);
    yield isUtf8(line) ? line.toString("utf8") : line;
    start = stop + 1;
  }
}

function readable(number: number, line: string | Buffer): Line {
  if (typeof line !== "string") return { number, unreadable: NOT_UTF8 };
  if (isLongerThan(line, MAX_LINE_BYTES)) return { number, unreadable: TOO_LONG };
  const text = line.endsWith("\r") ? line.slice(0, -1) : line;
  return { number, text: number === 1 && text.startsWith("\ufeff") ? text.slice(1) : text };
}

/** In bytes of UTF-8, of which a character has at most three a unit; so most lines need no counting. */
function isLongerThan(line: string, bytes: number): boolean {
  return line.length * 3 > bytes && Buffer.byteLength(line) > bytes;
}
