import assert from "node:assert/strict";
import test from "node:test";
import fc from "fast-check";
import { READING_OUTCOMES } from "../../../src/domain/reading.ts";
import { Block, type Columns } from "../../../src/store/series/block.ts";
import { GAP, GAP_MOST } from "../../../src/store/series/levels.ts";
import { cutBlock, cutHead, type Piece, placesBefore, placesByTank, weave } from "../../../src/store/series/weave.ts";
import { batchOf, blockOf, columnsOf, fill, type Pair, pairsOf, series } from "./arbitraries.ts";

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
function placesOf(sent: readonly Sent[], id: string): number[] {
  const own = sent.flatMap((one, place) => (TANKS[one.tank] === id ? [{ at: one.pair[0], place }] : []));
  return own.toSorted((a, b) => a.at - b.at || a.place - b.place).map(({ place }) => place);
}

test("places are parted by tank, ordered by instant, and those of one instant as they came", () => {
  fc.assert(
    fc.property(readings, (sent) => {
      const found = placesByTank(batchOf(sent, TANKS));
      const expected = [...new Set(TANKS)].map((id) => [id, placesOf(sent, id)] as const).filter(([, own]) => own.length > 0);
      assert.deepEqual(new Map([...found].map(([id, own]) => [id, [...own]])), new Map(expected));
    }),
  );
});

test("placesBefore counts what a naive count does", () => {
  fc.assert(
    fc.property(readings, fc.integer({ min: -7, max: 33 }), (sent, at) => {
      const batch = batchOf(sent, TANKS);
      for (const own of placesByTank(batch).values()) {
        const expected = [...own].filter((place) => (batch.createdAt[place] as number) < at).length;
        assert.equal(placesBefore(batch, own, at), expected);
      }
    }),
  );
});

test("readings are woven in as if they had come one by one", () => {
  fc.assert(
    fc.property(known, readings, (before, sent) => {
      const batch = batchOf(sent, TANKS);
      const outcomes = new Uint8Array(sent.length).fill(255);
      for (const [id, own] of placesByTank(batch)) {
        const model = new Map(before);
        const places = [...own].toSorted((a, b) => a - b);
        const words = places.map((place) => {
          const [at, fill] = (sent[place] as Sent).pair;
          const was = model.get(at);
          model.set(at, fill);
          return was === undefined ? "new" : was === fill ? "unchanged" : "changed";
        });
        const woven = weave(blockOf(before), batch, own, outcomes);
        const told = places.map((place) => READING_OUTCOMES[outcomes[place] as number]);
        assert.deepEqual(told, words, id);
        assert.equal(
          woven === undefined,
          words.every((word) => word === "unchanged"),
        );
        assert.deepEqual(
          woven === undefined ? before : pairsIn(woven),
          [...model].toSorted(([a], [b]) => a - b),
        );
      }
    }),
  );
});

test("a block takes in nothing without being touched", () => {
  assert.equal(weave(blockOf([[1, 1]]), batchOf([], TANKS), new Uint32Array(0), new Uint8Array(0)), undefined);
});

const lengths = fc.oneof(fc.constantFrom(0, 1, 127, 128, 129, 160, 161, 255, 256, 257, 288, 289, 384, 385), fc.nat(3000));
const START = -10_000;
const long = (length: number): Pair[] => Array.from({ length }, (_, i) => [i * 7, (i % 101) / 2]);

test("a head is cut into full blocks, oldest first, and keeps 33 to 160 readings", () => {
  fc.assert(
    fc.property(lengths, (length) => {
      const { blocks, head } = cutHead(columnsOf(long(length)), START);
      assert.ok(head.count <= 160, `${head.count} in the head`);
      if (length > 160) assert.ok(head.count > 32, `${head.count} in the head`);
      assert.ok(blocks.every(({ count }) => count === GAP));
      expectWhole([...blocks, head], length);
    }),
    { numRuns: 300 },
  );
});

test("a block is cut when it has grown past 256, into blocks of 128 to 255", () => {
  fc.assert(
    fc.property(lengths, (length) => {
      const pieces = cutBlock(columnsOf(long(length)), START);
      if (length <= GAP_MOST) assert.equal(pieces.length, 1);
      else assert.ok(pieces.every(({ count }) => count >= GAP && count < 2 * GAP));
      expectWhole(pieces, length);
    }),
    { numRuns: 300 },
  );
});

test("whatever is cut comes back as it was", () => {
  fc.assert(
    fc.property(series(700), (pairs) => {
      for (const pieces of [cutBlock(columnsOf(pairs), START), piecesOfHead(pairs)]) {
        assert.deepEqual(pieces.flatMap(readingsIn), pairs);
      }
    }),
    { numRuns: 30 },
  );
});

function piecesOfHead(pairs: Pair[]): Piece[] {
  const { blocks, head } = cutHead(columnsOf(pairs), START);
  return [...blocks, head];
}

/** Nothing lost, in order, each piece beginning at its first reading; the first where the whole began. */
function expectWhole(pieces: readonly Piece[], length: number): void {
  assert.deepEqual(pieces.flatMap(readingsIn), long(length));
  pieces.forEach((piece, i) => {
    const own = readingsIn(piece);
    assert.equal(piece.count, own.length);
    assert.equal(piece.start, i === 0 ? START : own[0]?.[0]);
  });
}

const readingsIn = ({ data }: Piece): Pair[] => pairsOf(new Block(data));

function pairsIn({ instants, fills }: Columns): Pair[] {
  return Array.from(instants, (at, i) => [at, fills[i] as number]);
}
