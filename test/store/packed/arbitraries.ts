// Readings as they may come: any instant and any fill of the domain, near and far, with two decimals and with all of them.

import fc from "fast-check";
import { FILL, type ReadingBatch } from "../../../src/domain/reading.ts";
import { Block, type Columns, packBlock } from "../../../src/store/packed/block.ts";

export const FIRST_INSTANT = Date.parse("0000-01-01T00:00:00.000Z");
export const LAST_INSTANT = Date.parse("9999-12-31T23:59:59.999Z");

export type Pair = readonly [at: number, fill: number];

const anyInstant = fc.integer({ min: FIRST_INSTANT, max: LAST_INSTANT });
/** Within 49 days of each other, or anywhere. */
export const instant = fc.oneof(
  fc.constantFrom(FIRST_INSTANT, LAST_INSTANT, -1, 0, 2 ** 32 - 1, 2 ** 32),
  fc.integer({ min: 0, max: 2 ** 32 - 1 }),
  anyInstant,
);
/** No -0: the domain has none. */
const anyFill = fc.double({ min: FILL.minimum, max: FILL.maximum, noNaN: true }).map((fill) => fill + 0);
const hundredths = fc.integer({ min: 0, max: 10_000 }).map((count) => count / 100);
export const fill = fc.oneof(
  { weight: 3, arbitrary: hundredths },
  anyFill,
  fc.constantFrom(0.1 + 0.2, 5e-324, 99.99999999999999),
);

/** Each instant once, oldest first; of one span and one kind of fill, so that every way of packing comes up. */
export const sortedPairs = (maxLength: number): fc.Arbitrary<Pair[]> =>
  fc
    .tuple(
      fc.constantFrom(anyInstant, fc.integer({ min: 0, max: 2 ** 32 - 1 }), instant),
      fc.constantFrom(hundredths, anyFill, fill),
    )
    .chain(([at, filled]) => fc.uniqueArray(fc.tuple(at, filled), { selector: ([one]) => one, maxLength, size: "max" }))
    .map((pairs) => pairs.toSorted(([a], [b]) => a - b));

export const columnsOf = (pairs: readonly Pair[]): Columns => ({
  instants: Float64Array.from(pairs, ([at]) => at),
  fills: Float64Array.from(pairs, ([, one]) => one),
});

export const blockOf = (pairs: readonly Pair[]): Block => new Block(packBlock(columnsOf(pairs)));

export function pairsOf(block: Block): Pair[] {
  return Array.from({ length: block.length }, (_, i) => [block.instant(i), block.fill(i)]);
}

export function batchOf(readings: readonly { readonly tank: number; readonly pair: Pair }[], tankIds: string[]): ReadingBatch {
  return {
    tankIds,
    tank: Uint32Array.from(readings, ({ tank }) => tank),
    createdAt: Float64Array.from(readings, ({ pair }) => pair[0]),
    fill: Float64Array.from(readings, ({ pair }) => pair[1]),
  };
}
