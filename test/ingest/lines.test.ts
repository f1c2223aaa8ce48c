import assert from "node:assert/strict";
import test from "node:test";
import fc from "fast-check";
import { type Line, MAX_LINE_BYTES, readLines } from "../../src/ingest/lines.ts";

async function* chunks(parts: readonly (Buffer | string)[]): AsyncGenerator<Buffer> {
  for (const part of parts) yield Buffer.from(part as string);
}

async function read(...parts: (Buffer | string)[]): Promise<Line[]> {
  const found: Line[] = [];
  for await (const group of readLines(chunks(parts))) found.push(...group);
  return found;
}

const texts = (lines: readonly Line[]) =>
  lines.map(({ text, unreadable }) => (unreadable === undefined ? text : `! ${unreadable}`));
const TOO_LONG = `! the line is longer than ${MAX_LINE_BYTES} bytes`;
const NOT_UTF8 = '! the line is not valid UTF-8: save the file as UTF-8 (in Excel: "CSV UTF-8")';

/** All bytes at once, cut at every newline; what follows the last one is a line if there is anything. */
function naiveLines(bytes: Buffer): string[] {
  const pieces = bytes
    .toString("latin1")
    .split("\n")
    .map((piece) => Buffer.from(piece, "latin1"));
  if (pieces.at(-1)?.length === 0) pieces.pop();
  return pieces.map((piece, i) => {
    if (piece.length > MAX_LINE_BYTES) return TOO_LONG;
    const text = piece.toString("utf8");
    if (!Buffer.from(text, "utf8").equals(piece)) return NOT_UTF8;
    const line = text.endsWith("\r") ? text.slice(0, -1) : text;
    return i === 0 && line.startsWith("\ufeff") ? line.slice(1) : line;
  });
}

function cut(bytes: Buffer, places: readonly number[]): Buffer[] {
  const sorted = places.map((place) => place % (bytes.length + 1)).toSorted((a, b) => a - b);
  return [...sorted, bytes.length].map((end, i) => bytes.subarray(sorted[i - 1] ?? 0, end));
}

test("lines are numbered from one, with any line ends, and with or without a last newline", async () => {
  const expected = ["a", "", "b c", "d"].map((text, i) => ({ number: i + 1, text }));
  assert.deepEqual(await read("a\n\nb c\nd"), expected);
  assert.deepEqual(await read("a\n\nb c\nd\n"), expected);
  assert.deepEqual(await read("a\r\n\r\nb c\r\nd\r\n"), expected);
  assert.deepEqual(await read("a\n", "\nb ", "", "c", "\n", "d"), expected);
  assert.deepEqual(await read(), []);
  assert.deepEqual(await read(""), []);
  assert.deepEqual(await read("\n"), [{ number: 1, text: "" }]);
});

test("a line that is not UTF-8 keeps its text, with replacement characters", async () => {
  const [first, second] = await read(Buffer.from("M\xfcnchen\r\nM", "latin1"), "ünchen");
  assert.deepEqual([first?.text, second], ["M\ufffdnchen", { number: 2, text: "München" }]);
});

test("any bytes, cut into any chunks, are the lines of a naive split", async () => {
  const byte = fc.oneof(
    { weight: 6, arbitrary: fc.constantFrom(0x61, 0x0a, 0x0d, 0xc3, 0xa9, 0xef, 0xbb, 0xbf) },
    { weight: 1, arbitrary: fc.nat({ max: 255 }) },
  );
  const bytes = fc.oneof(
    fc.array(byte, { maxLength: 60 }).map((list) => Buffer.from(list)),
    fc
      .array(fc.constantFrom("a", "é", "😀", "\n", "\r\n", "\ufeff", "\u2028", '{"x":1}'), { maxLength: 30 })
      .map((list) => Buffer.from(list.join(""))),
  );
  await fc.assert(
    fc.asyncProperty(bytes, fc.array(fc.nat(), { maxLength: 8 }), async (all, places) => {
      const lines = await read(...cut(all, places));
      assert.deepEqual(texts(lines), naiveLines(all));
      assert.deepEqual(
        lines.map(({ number }) => number),
        lines.map((_, i) => i + 1),
      );
    }),
    { numRuns: 2000 },
  );
});

test("lines around the maximum length, cut into any chunks, are the lines of a naive split", async () => {
  const fill = fc.constantFrom("x", "é", "\ud83d\ude00");
  const long = fc.tuple(fill, fc.integer({ min: -2, max: 2 })).map(([character, more]) => {
    const size = Buffer.byteLength(character);
    return character.repeat(Math.floor(MAX_LINE_BYTES / size) + more);
  });
  const line = fc.oneof(long, fc.constantFrom("a", "", "b\r"));
  await fc.assert(
    fc.asyncProperty(
      fc.array(line, { minLength: 1, maxLength: 3 }),
      fc.array(fc.nat(), { maxLength: 5 }),
      async (list, places) => {
        const all = Buffer.from(list.join("\n"));
        const [found, expected] = [texts(await read(...cut(all, places))), naiveLines(all)];
        assert.deepEqual(found.map(shortly), expected.map(shortly));
      },
    ),
    { numRuns: 60 },
  );
});

const shortly = (text: string) => (text.length > 100 ? `${text.length} of ${text.slice(0, 2)}` : text);
