import assert from "node:assert/strict";
import test from "node:test";
import fc from "fast-check";
import { READING_OUTCOMES, type ReadingBatch } from "../../../src/domain/reading.ts";
import { Block, type Columns } from "../../../src/store/packed/block.ts";
import { mergeInto, positionsById, type StoredBlock, splitBlock, splitHead } from "../../../src/store/packed/merge.ts";
import { SEGMENT_MAX, SEGMENT_SIZE } from "../../../src/store/packed/rank-index.ts";
import { batchOf, blockOf, columnsOf, fill, type Pair, pairsOf, sortedPairs } from "./arbitraries.ts";

/** A batch may name a tank twice. */
const TANKS = ["one", "two", "three", "one"];
// Few instants and fills, so that readings meet again and again.
const instant = fc.integer({ min: -5, max: 30 });
const pair: fc.Arbitrary<Pair> = fc.tuple(instant, fc.oneof(fc.constantFrom(0, 50), fill));
type Sent = { readonly tank: number; readonly pair: Pair };
const readings: fc.Arbitrary<Sent[]> = fc.array(fc.record({ tank: fc.nat(TANKS.length - 1), pair }), {
  maxLength: 60,
  size: "max",
});
const known = fc.uniqueArray(pair, { selector: ([at]) => at, maxLength: 30 }).map((pairs) => pairs.toSorted(([a], [b]) => a - b));

/** The places of a tank, as a naive search finds them: by instant, then as they came. */
function positionsOf(sent: readonly Sent[], id: string): number[] {
  const own = sent.flatMap((one, place) => (TANKS[one.tank] === id ? [{ at: one.pair[0], place }] : []));
  return own.toSorted((a, b) => a.at - b.at || a.place - b.place).map(({ place }) => place);
}

const byTank = ({ tankIds, tank, createdAt }: ReadingBatch) => positionsById(tankIds, tank, createdAt);

test("positions are grouped by tank and sorted by instant, equal instants in order of arrival", () => {
  fc.assert(
    fc.property(readings, (sent) => {
      const found = byTank(batchOf(sent, TANKS));
      const expected = [...new Set(TANKS)].map((id) => [id, positionsOf(sent, id)] as const).filter(([, own]) => own.length > 0);
      assert.deepEqual(new Map([...found].map(([id, own]) => [id, [...own]])), new Map(expected));
    }),
  );
});

test("readings are merged in as if they had come one by one", () => {
  fc.assert(
    fc.property(known, readings, (before, sent) => {
      const batch = batchOf(sent, TANKS);
      const outcomes = new Uint8Array(sent.length).fill(255);
      for (const [id, own] of byTank(batch)) {
        const model = new Map(before);
        const places = [...own].toSorted((a, b) => a - b);
        const expected = places.map((place) => {
          const [at, fill] = (sent[place] as Sent).pair;
          const was = model.get(at);
          model.set(at, fill);
          return was === undefined ? "stored" : was === fill ? "duplicate" : "replaced";
        });
        const merged = mergeInto(blockOf(before), batch, own, outcomes);
        const found = places.map((place) => READING_OUTCOMES[outcomes[place] as number]);
        assert.deepEqual(found, expected, id);
        assert.equal(
          merged === undefined,
          expected.every((outcome) => outcome === "duplicate"),
        );
        assert.deepEqual(
          merged === undefined ? before : pairsIn(merged),
          [...model].toSorted(([a], [b]) => a - b),
        );
      }
    }),
  );
});

test("merging nothing leaves a block as it is", () => {
  assert.equal(mergeInto(blockOf([[1, 1]]), batchOf([], TANKS), new Uint32Array(0), new Uint8Array(0)), undefined);
});

const lengths = fc.oneof(fc.constantFrom(0, 1, 127, 128, 129, 160, 161, 255, 256, 257, 288, 289, 384, 385), fc.nat(3000));
const START = -10_000;
const long = (length: number): Pair[] => Array.from({ length }, (_, i) => [i * 7, (i % 101) / 2]);

test("a head is split into full blocks, oldest first, and keeps 33 to 160 readings", () => {
  fc.assert(
    fc.property(lengths, (length) => {
      const { blocks, head } = splitHead(columnsOf(long(length)), START);
      assert.ok(head.count <= 160, `${head.count} in the head`);
      if (length > 160) assert.ok(head.count > 32, `${head.count} in the head`);
      assert.ok(blocks.every(({ count }) => count === SEGMENT_SIZE));
      expectComplete([...blocks, head], length);
    }),
    { numRuns: 300 },
  );
});

test("a block of more than 256 is split into blocks of 128 to 255", () => {
  fc.assert(
    fc.property(lengths, (length) => {
      const blocks = splitBlock(columnsOf(long(length)), START);
      if (length <= SEGMENT_MAX) assert.equal(blocks.length, 1);
      else assert.ok(blocks.every(({ count }) => count >= SEGMENT_SIZE && count < 2 * SEGMENT_SIZE));
      expectComplete(blocks, length);
    }),
    { numRuns: 300 },
  );
});

test("splitting loses nothing", () => {
  fc.assert(
    fc.property(sortedPairs(700), (pairs) => {
      for (const blocks of [splitBlock(columnsOf(pairs), START), blocksOfHead(pairs)]) {
        assert.deepEqual(blocks.flatMap(readingsIn), pairs);
      }
    }),
    { numRuns: 30 },
  );
});

function blocksOfHead(pairs: Pair[]): StoredBlock[] {
  const { blocks, head } = splitHead(columnsOf(pairs), START);
  return [...blocks, head];
}

/** Nothing lost, in order, each block beginning at its first reading; the first where the whole began. */
function expectComplete(blocks: readonly StoredBlock[], length: number): void {
  assert.deepEqual(blocks.flatMap(readingsIn), long(length));
  blocks.forEach((block, i) => {
    const own = readingsIn(block);
    assert.equal(block.count, own.length);
    assert.equal(block.start, i === 0 ? START : own[0]?.[0]);
  });
}

const readingsIn = ({ data }: StoredBlock): Pair[] => pairsOf(new Block(data));

function pairsIn({ instants, fills }: Columns): Pair[] {
  return Array.from(instants, (at, i) => [at, fills[i] as number]);
}
