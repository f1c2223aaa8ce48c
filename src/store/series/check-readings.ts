// Whether a tank's head and blocks are what `weave.ts` makes of its readings.

import { displayInstant, isInstant } from "../../domain/instant.ts";
import { FILL } from "../../domain/reading.ts";
import { Block } from "./block.ts";
import { type Fault, Faults } from "./fault.ts";
import type { Head } from "./intake.ts";
import { EARLIEST, GAP, GAP_MOST, type Gap, LATEST } from "./levels.ts";
import { HEAD_LEAST, HEAD_LONGEST } from "./weave.ts";

export type Stretch = { readonly start: number; readonly data: Uint8Array };

export type ReadingsLook = {
  readonly faults: readonly Fault[];
  readonly total: number;
  /** What the milestones must divide; undefined where not all blocks can be counted. */
  readonly gaps: readonly Gap[] | undefined;
  /** Where readings lie is wrong, not only what is counted: head and blocks have to be made anew. */
  readonly isTangled: boolean;
};

/** `blocks` by their start. */
export function lookAtReadings(head: Head | undefined, blocks: Iterable<Stretch>): ReadingsLook {
  const faults = new Faults();
  const gaps: Gap[] = [];
  let isTangled = head === undefined;
  let isReadable = true;
  let newest = Number.NEGATIVE_INFINITY;
  let total = 0;

  function tangled(kind: string, what: () => string): void {
    isTangled = true;
    faults.add(kind, true, what);
  }

  function look({ start, data }: Stretch, end: number, name: string, least: number, most: number): number {
    const block = readBlock(data);
    if (block === undefined) {
      isReadable = false;
      faults.add("unreadable", false, () => `${name} of ${data.length} bytes cannot be read: restore a backup`);
      return 0;
    }
    const { length } = block;
    if (length < least || length > most) {
      tangled("size", () => `${name} should hold ${least} to ${most} readings, it holds ${length}`);
    }
    for (let i = 0; i < length; i++) {
      const instant = block.instant(i);
      const fill = block.fill(i);
      if (instant <= newest) {
        const before = newest;
        tangled("order", () => `${name} should be in order, it has ${displayInstant(instant)} after ${displayInstant(before)}`);
      }
      if (instant < start || instant >= end) {
        tangled("place", () => `${name} should end before ${shownStart(end)}, it holds a reading of ${displayInstant(instant)}`);
      }
      if (!(fill >= FILL.minimum && fill <= FILL.maximum)) faults.add("fill", false, () => fillFault(instant, fill));
      newest = instant;
    }
    total += length;
    return length;
  }

  let first: number | undefined;
  for (const [block, end] of withNextStart(blocks, head?.start ?? LATEST)) {
    first ??= block.start;
    const count = look(block, end, `the block from ${shownStart(block.start)}`, GAP, GAP_MOST);
    gaps.push({ at: [block.start], count });
  }
  const least = gaps.length > 0 ? HEAD_LEAST : 0;
  if (head !== undefined) look(head, LATEST, `the head from ${shownStart(head.start)}`, least, HEAD_LONGEST);
  const begins = first ?? head?.start ?? EARLIEST;
  if (begins !== EARLIEST) {
    tangled("origin", () => `its telemetry should begin at ${shownStart(EARLIEST)}, it begins at ${shownStart(begins)}`);
  }
  if (head === undefined) {
    const lost = `up to ${HEAD_LONGEST} of its newest readings may be lost`;
    faults.add("head", isReadable, () => `there should be a head of its telemetry, there is none; ${lost}`);
  } else if (isReadable && head.total !== total) {
    faults.add("total", true, () => `there are ${total} readings, the total says ${head.total}`);
  }
  return { faults: faults.list(), total, gaps: isReadable ? gaps : undefined, isTangled };
}

function fillFault(instant: number, fill: number): string {
  const range = `${FILL.minimum} to ${FILL.maximum}`;
  return `the fill of ${displayInstant(instant)} should be ${range}, it is ${fill}: send this reading again, or restore a backup`;
}

/** Undefined where the bytes are none of ours, or hold what is no instant. */
function readBlock(data: Uint8Array): Block | undefined {
  try {
    const block = new Block(data);
    for (let i = 0; i < block.length; i++) if (!isInstant(block.instant(i))) return undefined;
    return block;
  } catch {
    return undefined;
  }
}

function* withNextStart(blocks: Iterable<Stretch>, last: number): Generator<[Stretch, number]> {
  let waiting: Stretch | undefined;
  for (const block of blocks) {
    if (waiting !== undefined) yield [waiting, block.start];
    waiting = block;
  }
  if (waiting !== undefined) yield [waiting, last];
}

function shownStart(instant: number): string {
  return instant === EARLIEST ? "the beginning" : instant === LATEST ? "the end" : displayInstant(instant);
}
