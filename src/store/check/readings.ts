// Checks a tank's head and blocks.

import { displayInstant, EARLIEST, isInstant, LATEST } from "../../domain/instant.ts";
import { FILL } from "../../domain/reading.ts";
import { Block } from "../packed/block.ts";
import { type BlockRow, displayBlock, displayHead, type HeadRow, isIntactBlock, isIntactHead } from "../packed/checksum.ts";
import { HEAD_HARD_MAX, HEAD_MIN } from "../packed/merge.ts";
import { SEGMENT_MAX, SEGMENT_SIZE, type Segment } from "../packed/rank-index.ts";
import { Inconsistencies, type Inconsistency } from "./inconsistency.ts";

export type CheckedReadings = {
  readonly found: readonly Inconsistency[];
  readonly total: number;
  /** Undefined if it is missing or damaged. */
  readonly head: Block | undefined;
  /** Undefined if something is damaged. */
  readonly segments: readonly Segment[] | undefined;
  /** Readings are in the wrong place: head and blocks must be rebuilt. */
  readonly isMisplaced: boolean;
};

/** `blocks` by their start. */
export function checkReadings(tankId: string, head: HeadRow | undefined, blocks: readonly BlockRow[]): CheckedReadings {
  const found = new Inconsistencies();
  const segments: Segment[] = [];
  let isMisplaced = head === undefined;
  let isIntact = true;
  let newest = Number.NEGATIVE_INFINITY;
  let total = 0;

  /** Bytes are intact if their checksum is right with the start or total that they should have: that can be rebuilt. */
  function unpack(row: BlockRow, name: string, isIntactAt: (start: number, block: Block) => boolean): Block | undefined {
    const block = readBlock(row.data);
    const first = block === undefined || block.length === 0 ? EARLIEST : block.instant(0);
    if (block !== undefined && [row.start, first, EARLIEST].some((start) => isIntactAt(start, block))) return block;
    isIntact = false;
    found.add("damaged", false, () => `${name}, of ${row.data.length} bytes, is damaged: restore a backup`);
    return undefined;
  }

  /** `isFirst`: nothing is before it. */
  function checkBlock(block: Block, start: number, end: number, isFirst: boolean, min: number, max: number): void {
    const { length } = block;
    isMisplaced ||= length < min || length > max || start !== (isFirst ? EARLIEST : block.instant(0));
    for (let i = 0; i < length; i++) {
      const instant = block.instant(i);
      const fill = block.fill(i);
      isMisplaced ||= instant <= newest || instant >= end;
      if (!(fill >= FILL.minimum && fill <= FILL.maximum)) found.add("fill", false, () => invalidFill(instant, fill));
      newest = instant;
    }
    total += length;
  }

  blocks.forEach((row, i) => {
    const block = unpack(row, displayBlock(row.start), (start) => isIntactBlock(tankId, { ...row, start }));
    if (block === undefined) return;
    checkBlock(block, row.start, blocks[i + 1]?.start ?? head?.start ?? LATEST, i === 0, SEGMENT_SIZE, SEGMENT_MAX);
    segments.push({ at: [row.start], count: block.length });
  });
  const block =
    head &&
    unpack(head, displayHead(head.start), (start, { length }) =>
      [head.total, total + length].some((count) => isIntactHead(tankId, { ...head, start, total: count })),
    );
  if (block !== undefined && head !== undefined) {
    const isFirst = blocks.length === 0;
    checkBlock(block, head.start, LATEST, isFirst, isFirst ? 0 : HEAD_MIN, HEAD_HARD_MAX);
  }
  if (isMisplaced && head !== undefined) {
    found.add("place", true, () => "its readings are not in the order, or not in the blocks, that they should be in");
  }
  if (head === undefined) {
    found.add("head", isIntact, () => `its head is missing; up to ${HEAD_HARD_MAX} of its newest readings may be lost`);
  } else if (isIntact && head.total !== total) {
    found.add("total", true, () => `it has ${total} readings, the total says ${head.total}`);
  }
  return { found: found.list(), total, head: block, segments: isIntact ? segments : undefined, isMisplaced };
}

function invalidFill(instant: number, fill: number): string {
  const range = `${FILL.minimum} to ${FILL.maximum}`;
  return `the fill at ${displayInstant(instant)} should be ${range}, it is ${fill}: send this reading again, or restore a backup`;
}

/** Undefined if the bytes are damaged, or hold something that is no instant. */
function readBlock(data: Uint8Array): Block | undefined {
  try {
    const block = new Block(data);
    for (let i = 0; i < block.length; i++) if (!isInstant(block.instant(i))) return undefined;
    return block;
  } catch {
    return undefined;
  }
}
