// Numbers in words.

import assert from "node:assert/strict";
import { test } from "node:test";
import { rangeOf } from "../../dashboard/src/format.ts";

test("a range is one number where both ends are, and has a word where it is open", () => {
  assert.equal(rangeOf({ p10: 8.6, p90: 17.2 }, "∞"), "9–17");
  assert.equal(rangeOf({ p10: 0.6, p90: 1.4 }, "many", " to "), "1");
  assert.equal(rangeOf({ p10: 30, p90: null }, "many", " to "), "30 to many");
  assert.equal(rangeOf({ p10: null, p90: 3 }, "∞"), "0–3");
});
