import assert from "node:assert/strict";
import { mock, test } from "node:test";
import { throttled } from "../../src/domain/throttled.ts";

const items = (count: number): number[] => Array.from({ length: count }, (_, i) => i);

test("a few items are handled at a time, in order, each once while it waits", () => {
  mock.timers.enable({ apis: ["setTimeout"] });
  try {
    const handled: number[] = [];
    const handle = throttled((item: number) => handled.push(item) > 0);
    for (const item of [...items(5), ...items(5)]) handle(item);
    mock.timers.tick(0);
    assert.deepEqual(handled, items(2));
    mock.timers.tick(10);
    assert.deepEqual(handled, items(4));
    mock.timers.tick(1000);
    assert.deepEqual(handled, items(5));
    handle(3);
    mock.timers.tick(0);
    assert.deepEqual(handled, [...items(5), 3]);
  } finally {
    mock.timers.reset();
  }
});

test("items with nothing to do hold nobody up", () => {
  mock.timers.enable({ apis: ["setTimeout"] });
  try {
    const handled: number[] = [];
    const handle = throttled((item: number) => {
      if (item < 1000) return false;
      handled.push(item);
      return true;
    });
    for (const item of items(1002)) handle(item);
    mock.timers.tick(0);
    assert.deepEqual(handled, [1000, 1001]);
  } finally {
    mock.timers.reset();
  }
});
