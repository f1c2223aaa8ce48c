// When messages are handed over: at once for a few senders, together in a crowd.

import assert from "node:assert/strict";
import test from "node:test";
import { Rhythm } from "../../../src/ingest/mqtt/rhythm.ts";

function after(messages: number, untold: number, rhythm = new Rhythm()): Rhythm {
  for (let i = 0; i < messages; i++) rhythm.arrived(untold);
  return rhythm;
}

test("a few senders who wait to be told never wait for others", () => {
  const rhythm = after(1000, 3);
  rhythm.begun(100);
  assert.equal(rhythm.restMs(1, 100), 0);
});

test("in a crowd, those that come within five milliseconds go together", () => {
  const rhythm = after(100, 4);
  assert.equal(rhythm.restMs(1, 100), 0, "nothing has gone yet");
  rhythm.begun(100);
  assert.equal(rhythm.restMs(1, 101), 4);
  assert.equal(rhythm.restMs(31, 104.5), 0.5);
  assert.equal(rhythm.restMs(1, 105), 0);
  assert.equal(rhythm.restMs(1, 200), 0);
});

test("enough to make it worth while wait for no others", () => {
  const rhythm = after(100, 1000);
  rhythm.begun(100);
  assert.equal(rhythm.restMs(32, 100), 0);
});

test("a crowd is noticed after a few messages, and so is its end", () => {
  const rhythm = after(5, 10);
  rhythm.begun(0);
  assert.equal(rhythm.restMs(1, 0), 0);
  after(10, 10, rhythm);
  assert.equal(rhythm.restMs(1, 0), 5);
  after(100, 1, rhythm);
  assert.equal(rhythm.restMs(1, 0), 0);
});
