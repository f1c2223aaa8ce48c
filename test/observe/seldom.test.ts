// Lines that others can cause at will: the log tells of some, and counts the rest.

import assert from "node:assert/strict";
import test from "node:test";
import { Seldom } from "../../src/observe/seldom.ts";

test("ten lines of a kind pass in ten seconds; the next one tells how many did not", () => {
  const seldom = new Seldom();
  const passed = Array.from({ length: 1000 }, (_, i) => seldom.pass("refused", i));
  assert.deepEqual(passed.slice(0, 10), Array(10).fill(0));
  assert.ok(passed.slice(10).every((leftOut) => leftOut === undefined));
  assert.equal(seldom.pass("refused", 10_000), 990);
  assert.equal(seldom.pass("refused", 10_001), 0);
});

test("each kind has its own", () => {
  const seldom = new Seldom();
  for (let i = 0; i < 20; i++) seldom.pass("one", i);
  assert.equal(seldom.pass("other", 20), 0);
});
