// Splits a stream of bytes into lines, with bounded memory for files of any size and lines of any length.

import { isUtf8 } from "node:buffer";
import { NOT_UTF8 } from "./csv.ts";

export const MAX_LINE_BYTES = 1_048_576;

/** The text of an unreadable line has replacement characters, or is empty if the line is too long. */
export type Line = { readonly number: number; readonly text: string; readonly unreadable?: string };

const NEWLINE = 10;
const EMPTY: Buffer = Buffer.alloc(0);
const TOO_LONG = `the line is longer than ${MAX_LINE_BYTES} bytes`;

/** Groups of lines as they arrive, without line ends and without a byte order mark at the start. */
export async function* readLines(file: AsyncIterable<Buffer>): AsyncGenerator<Line[]> {
  let rest = EMPTY;
  let number = 0;
  let isSkipping = false;
  for await (const chunk of file) {
    let bytes = rest.length === 0 ? chunk : Buffer.concat([rest, chunk]);
    if (isSkipping) {
      const end = bytes.indexOf(NEWLINE);
      isSkipping = end === -1;
      bytes = isSkipping ? EMPTY : bytes.subarray(end + 1);
    }
    const last = bytes.lastIndexOf(NEWLINE);
    const lines = last === -1 ? [] : split(bytes.subarray(0, last)).map((line) => toLine(++number, line));
    rest = bytes.subarray(last + 1);
    if (rest.length > MAX_LINE_BYTES) {
      lines.push({ number: ++number, text: "", unreadable: TOO_LONG });
      rest = EMPTY;
      isSkipping = true;
    }
    if (lines.length > 0) yield lines;
  }
  if (rest.length > 0) yield [toLine(++number, decodedLine(rest))];
}

/** Decoding a whole block at once is several times faster than line by line. */
function split(block: Buffer): (string | NotUtf8)[] {
  if (isUtf8(block)) return block.toString("utf8").split("\n");
  const lines = block.toString("latin1").split("\n");
  return lines.map((line) => decodedLine(Buffer.from(line, "latin1")));
}

/** With replacement characters. */
type NotUtf8 = { readonly replaced: string };

function decodedLine(bytes: Buffer): string | NotUtf8 {
  const text = bytes.toString("utf8");
  return isUtf8(bytes) ? text : { replaced: text };
}

function toLine(number: number, line: string | NotUtf8): Line {
  if (typeof line !== "string") return { number, text: line.replaced.replace(/\r$/, ""), unreadable: `the line ${NOT_UTF8}` };
  // A UTF-16 unit is at most three bytes of UTF-8, so most lines need no counting.
  if (line.length * 3 > MAX_LINE_BYTES && Buffer.byteLength(line) > MAX_LINE_BYTES) {
    return { number, text: "", unreadable: TOO_LONG };
  }
  const text = line.endsWith("\r") ? line.slice(0, -1) : line;
  return { number, text: number === 1 && text.startsWith("\ufeff") ? text.slice(1) : text };
}
