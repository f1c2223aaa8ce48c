import assert from "node:assert/strict";
import { PassThrough } from "node:stream";
import { finished } from "node:stream/promises";
import test from "node:test";
import { forwardLines, RestartDelay } from "../../src/workers/supervisor.ts";

test("a worker is restarted at once, then after a delay that doubles up to ten seconds, until one has run for ten seconds", () => {
  const delay = new RestartDelay();
  assert.deepEqual(
    Array.from({ length: 10 }, () => delay.next(500)),
    [0, 250, 500, 1000, 2000, 4000, 8000, 10_000, 10_000, 10_000],
  );
  assert.deepEqual([delay.next(10_000), delay.next(500)], [0, 250]);
});

test("lines of a worker are forwarded whole, in whatever chunks they arrive", async () => {
  const umlaut = Buffer.from("Köln\n");
  for (const [chunks, expected] of [
    [
      ["one\n", "two\nthree\n"],
      ["one\n", "two\nthree\n"],
    ],
    [
      ["o", "n", "e\ntw", "o\n"],
      ["one\n", "two\n"],
    ],
    [["one\ntw"], ["one\n", "tw\n"]],
    [[umlaut.subarray(0, 2), umlaut.subarray(2)], ["Köln\n"]],
  ] as const) {
    const stream = new PassThrough();
    const lines: string[] = [];
    forwardLines(stream, (text) => lines.push(text));
    for (const chunk of chunks) stream.write(chunk);
    stream.end();
    await finished(stream);
    assert.deepEqual(lines, expected);
  }
});
