import assert from "node:assert/strict";
import test from "node:test";
import fc from "fast-check";
import { Block, packBlock, packHead, readingsOf } from "../../../src/store/packed/block.ts";
import { blockOf, columnsOf, FIRST_INSTANT, instant, LAST_INSTANT, type Pair, pairsOf, sortedPairs } from "./arbitraries.ts";

/** `deepEqual` of node:assert/strict tells -0 from 0 and takes NaN as itself: bit for bit, as far as numbers go. */
test("unpacking returns the packed readings", () => {
  fc.assert(fc.property(sortedPairs(300), (pairs) => assert.deepEqual(pairsOf(blockOf(pairs)), pairs)));
});

test("a stretch of the columns is packed as if it stood alone", () => {
  fc.assert(
    fc.property(sortedPairs(60), fc.nat(60), fc.nat(60), (pairs, a, b) => {
      const [from, to] = [Math.min(a, b, pairs.length), Math.min(Math.max(a, b), pairs.length)];
      assert.deepEqual(packBlock(columnsOf(pairs), from, to), packBlock(columnsOf(pairs.slice(from, to))));
    }),
  );
});

test("a block can be read wherever its bytes lie in a larger buffer", () => {
  fc.assert(
    fc.property(sortedPairs(20), fc.nat(9), (pairs, offset) => {
      const bytes = packBlock(columnsOf(pairs));
      const larger = new Uint8Array(bytes.length + 20).fill(255);
      larger.set(bytes, offset);
      assert.deepEqual(pairsOf(new Block(larger.subarray(offset, offset + bytes.length))), pairs);
    }),
  );
});

test("readings of a block come newest first, as far as it has them", () => {
  fc.assert(
    fc.property(sortedPairs(40), fc.integer({ min: -5, max: 45 }), fc.integer({ min: -5, max: 45 }), (pairs, from, to) => {
      const expected = pairs
        .filter((_, i) => i >= from && i < to)
        .map(([at, fill]) => ({ created_at: at, fill_percentage: fill }));
      assert.deepEqual(readingsOf(blockOf(pairs), from, to), expected.toReversed());
    }),
  );
});

test("countBefore() counts what a naive count does, on, before and after every reading", () => {
  fc.assert(
    fc.property(sortedPairs(200), fc.array(instant), (pairs, others) => {
      const block = blockOf(pairs);
      for (const at of [...pairs.flatMap(([one]) => [one - 1, one, one + 1]), ...others]) {
        assert.equal(block.countBefore(at), pairs.filter(([one]) => one < at).length, `before ${at}`);
      }
    }),
  );
});

test("near instants take 4 bytes, far ones 8; hundredths 2, other fills 8", () => {
  const near = 2 ** 32 - 1;
  const sizes: [Pair[], number][] = [
    [[], 0],
    [[[LAST_INSTANT, 100]], 9 + 6],
    [
      [
        [0, 63.4],
        [near, 0],
      ],
      9 + 2 * 6,
    ],
    [
      [
        [0, 63.4],
        [near + 1, 0],
      ],
      9 + 2 * 10,
    ],
    [
      [
        [0, 63.4],
        [near, 1 / 3],
      ],
      9 + 2 * 12,
    ],
    [
      [
        [FIRST_INSTANT, 63.400000000000006],
        [LAST_INSTANT, 0],
      ],
      9 + 2 * 16,
    ],
  ];
  for (const [pairs, size] of sizes) {
    assert.equal(packBlock(columnsOf(pairs)).length, size, JSON.stringify(pairs));
    assert.deepEqual(pairsOf(blockOf(pairs)), pairs);
  }
});

test("a head is read as it was written; only one that begins before 1970 cannot grow at its end", () => {
  fc.assert(
    fc.property(sortedPairs(200), (pairs) => {
      const bytes = packHead(columnsOf(pairs));
      assert.deepEqual(pairsOf(new Block(bytes)), pairs);
      const isRowLayout = ((bytes[0] ?? 8) & 8) !== 0;
      assert.equal(isRowLayout, (pairs[0]?.[0] ?? 0) >= 0);
    }),
  );
});

test("no bytes are no readings", () => {
  const block = new Block(new Uint8Array(0));
  assert.deepEqual([block.length, block.countBefore(LAST_INSTANT)], [0, 0]);
});

test("truncated bytes and unknown packings are errors", () => {
  const cannot = { message: "a block of readings is damaged" };
  fc.assert(
    fc.property(sortedPairs(40), fc.nat(255), fc.integer({ min: 1, max: 5 }), (pairs, packing, lost) => {
      fc.pre(pairs.length > 0);
      const bytes = packBlock(columnsOf(pairs));
      assert.throws(() => new Block(bytes.subarray(0, bytes.length - lost)), cannot);
      const isKnown = [1, 3, 5, 7, 9, 13].includes(packing);
      if (isKnown) return;
      bytes[0] = packing;
      assert.throws(() => new Block(bytes), cannot);
    }),
  );
  fc.assert(
    fc.property(sortedPairs(40), fc.integer({ min: 1, max: 7 }), (pairs, lost) => {
      const bytes = packHead(columnsOf(pairs));
      fc.pre(bytes.length > 0 && lost % (bytes[0] === 9 ? 8 : 14) !== 0 && ((bytes[0] ?? 0) & 8) !== 0);
      assert.throws(() => new Block(bytes.subarray(0, bytes.length - lost)), cannot);
    }),
  );
  for (let length = 1; length < 9; length++) assert.throws(() => new Block(new Uint8Array(length).fill(1)), cannot);
});
