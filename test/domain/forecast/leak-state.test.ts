import assert from "node:assert/strict";
import test from "node:test";
import { leakStateOf } from "../../../src/domain/forecast/leak-state.ts";

const LEAK = { since: 1, excess: 2, isSudden: false };
/** One letter a day: L with a leak, n normal. */
const statesOf = (days: string) => Array.from(days, (letter, day) => ({ day, leak: letter === "L" ? LEAK : undefined }));
const stateOf = (days: string, lastDay = days.length - 1) => leakStateOf(statesOf(days), lastDay);

test("a leak is over after three days of normal use", () => {
  assert.deepEqual(stateOf("nnL"), LEAK);
  assert.deepEqual(stateOf("nLn"), "ending");
  assert.deepEqual(stateOf("nLnn"), "ending");
  assert.deepEqual(stateOf("nLnnn"), "none");
  assert.deepEqual(stateOf("nLnnLnn"), "ending");
  assert.deepEqual(stateOf("nnnnn"), "none");
});

test("levels that were not judged for days say nothing", () => {
  assert.equal(stateOf(""), null);
  assert.deepEqual(stateOf("nnL", 5), LEAK);
  assert.equal(stateOf("nnL", 6), null);
});
