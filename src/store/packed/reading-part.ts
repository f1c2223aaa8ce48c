// A part of a tank's readings, unpacked into columns: a range of any length is read part by part, so that neither the memory
// nor the time of one read depends on its length.

import type { InstantRange, ReadingColumns } from "../../domain/reading.ts";
import { type BlockRow, type HeadRow, openBlock, openHead } from "./checksum.ts";

/** Blocks in one part: up to 8,192 readings. */
export const PART_BLOCKS = 32;

/**
 * `blocks` are the first of the range, in order: one more than a part has, if there are that many. The first may begin before
 * the range.
 */
export function readingPart(
  tankId: string,
  head: HeadRow,
  blocks: readonly BlockRow[],
  { from, to }: InstantRange,
): ReadingColumns {
  const next = blocks[PART_BLOCKS]?.start;
  const opened = blocks.slice(0, PART_BLOCKS).map((block) => openBlock(tankId, block));
  if (next === undefined) opened.push(openHead(tankId, head).block);
  const slices = opened.map((block) => {
    const first = block.countBefore(from);
    return { block, first, end: Math.max(first, block.countBefore(to)) };
  });
  const length = slices.reduce((sum, { first, end }) => sum + end - first, 0);
  const columns = { instants: new Float64Array(length), fills: new Float64Array(length) };
  let at = 0;
  for (const { block, first, end } of slices) {
    block.copyTo(columns, at, first, end);
    at += end - first;
  }
  return { ...columns, next };
}
