import assert from "node:assert/strict";
import test from "node:test";
import { Pauses } from "../../src/workers/pauses.ts";

test("the first to die is replaced at once, the next ones after pauses that double, up to ten seconds", () => {
  const pauses = new Pauses();
  assert.deepEqual(
    Array.from({ length: 10 }, () => pauses.next(500)),
    [0, 250, 500, 1000, 2000, 4000, 8000, 10_000, 10_000, 10_000],
  );
});

test("after a long life all is forgiven", () => {
  const pauses = new Pauses();
  for (let i = 0; i < 5; i++) pauses.next(500);
  assert.equal(pauses.next(10_000), 0);
  assert.equal(pauses.next(500), 250);
});
