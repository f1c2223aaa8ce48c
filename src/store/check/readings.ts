// Checks a tank's head and blocks.

import { displayInstant, EARLIEST, isInstant } from "../../domain/instant.ts";
import { FILL } from "../../domain/reading.ts";
import { Block } from "../series/block.ts";
import { HEAD_HARD_MAX, HEAD_MIN, type Head } from "../series/merge.ts";
import { LATEST, SEGMENT_MAX, SEGMENT_SIZE, type Segment } from "../series/rank-index.ts";
import { Inconsistencies, type Inconsistency } from "./inconsistency.ts";

export type BlockRow = { readonly start: number; readonly data: Uint8Array };

export type CheckedReadings = {
  readonly found: readonly Inconsistency[];
  readonly total: number;
  /** Undefined if not all blocks can be read. */
  readonly segments: readonly Segment[] | undefined;
  /** Readings are in the wrong place: head and blocks must be rebuilt. */
  readonly isMisplaced: boolean;
};

/** `blocks` by their start. */
export function checkReadings(head: Head | undefined, blocks: readonly BlockRow[]): CheckedReadings {
  const found = new Inconsistencies();
  const segments: Segment[] = [];
  let isMisplaced = head === undefined;
  let isReadable = true;
  let newest = Number.NEGATIVE_INFINITY;
  let total = 0;

  function checkBlock({ start, data }: BlockRow, end: number, name: string, min: number, max: number): number {
    const block = readBlock(data);
    if (block === undefined) {
      isReadable = false;
      found.add("unreadable", false, () => `${name}, of ${data.length} bytes, cannot be read: restore a backup`);
      return 0;
    }
    const { length } = block;
    isMisplaced ||= length < min || length > max;
    for (let i = 0; i < length; i++) {
      const instant = block.instant(i);
      const fill = block.fill(i);
      isMisplaced ||= instant <= newest || instant < start || instant >= end;
      if (!(fill >= FILL.minimum && fill <= FILL.maximum)) found.add("fill", false, () => invalidFill(instant, fill));
      newest = instant;
    }
    total += length;
    return length;
  }

  blocks.forEach((block, i) => {
    const end = blocks[i + 1]?.start ?? head?.start ?? LATEST;
    const count = checkBlock(block, end, `the block from ${displayStart(block.start)}`, SEGMENT_SIZE, SEGMENT_MAX);
    segments.push({ at: [block.start], count });
  });
  const min = segments.length > 0 ? HEAD_MIN : 0;
  if (head !== undefined) checkBlock(head, LATEST, `the head from ${displayStart(head.start)}`, min, HEAD_HARD_MAX);
  isMisplaced ||= (blocks[0]?.start ?? head?.start) !== EARLIEST;
  if (isMisplaced && head !== undefined) {
    found.add("place", true, () => "its readings are not in the order, or not in the blocks, that they should be in");
  }
  if (head === undefined) {
    found.add("head", isReadable, () => `its head is missing; up to ${HEAD_HARD_MAX} of its newest readings may be lost`);
  } else if (isReadable && head.total !== total) {
    found.add("total", true, () => `it has ${total} readings, the total says ${head.total}`);
  }
  return { found: found.list(), total, segments: isReadable ? segments : undefined, isMisplaced };
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

function displayStart(instant: number): string {
  return instant === EARLIEST ? "the start" : instant === LATEST ? "the end" : displayInstant(instant);
}
