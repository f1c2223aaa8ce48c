import assert from "node:assert/strict";
import test from "node:test";
import { parseDuration } from "../../src/domain/instant.ts";

test("spans are written with one unit", () => {
  assert.equal(parseDuration("45s"), 45_000);
  assert.equal(parseDuration("30m"), 30 * 60_000);
  assert.equal(parseDuration("24h"), 86_400_000);
  assert.equal(parseDuration("90d"), 90 * 86_400_000);
  assert.equal(parseDuration("0s"), 0);
  assert.equal(parseDuration("999999d"), 999_999 * 86_400_000);
});

test("everything else is no span", () => {
  const others = ["", "d", "90", "90 d", "-1d", "1.5h", "1h30m", "90D", "1w", "1y", "1000000d", "٣d", "90d\n", "constructor"];
  for (const text of others) assert.equal(parseDuration(text), undefined, JSON.stringify(text));
});
