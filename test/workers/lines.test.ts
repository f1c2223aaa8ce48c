import assert from "node:assert/strict";
import { PassThrough } from "node:stream";
import { finished } from "node:stream/promises";
import test from "node:test";
import { passLines } from "../../src/workers/lines.ts";

async function passed(...chunks: readonly (string | Buffer)[]): Promise<string[]> {
  const stream = new PassThrough();
  const lines: string[] = [];
  passLines(stream, (text) => lines.push(text));
  for (const chunk of chunks) stream.write(chunk);
  stream.end();
  await finished(stream);
  return lines;
}

test("whole lines are passed on, however they arrive", async () => {
  assert.deepEqual(await passed("one\n", "two\nthree\n"), ["one\n", "two\nthree\n"]);
  assert.deepEqual(await passed("o", "n", "e\ntw", "o\n"), ["one\n", "two\n"]);
});

test("what is not ended at the end is", async () => {
  assert.deepEqual(await passed("one\ntw"), ["one\n", "tw\n"]);
});

test("a character that arrives in two parts stays one", async () => {
  const bytes = Buffer.from("Köln\n");
  assert.deepEqual(await passed(bytes.subarray(0, 2), bytes.subarray(2)), ["Köln\n"]);
});
