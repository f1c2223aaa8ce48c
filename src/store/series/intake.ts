// How a tank takes readings in: those before its head block by block, the others into its head, and what that means to its
// milestones. Pure: the engines load what it needs and store what it gives.

import type { ReadingBatch } from "../../domain/reading.ts";
import { appended, Block, columnsOf } from "./block.ts";
import { LATEST } from "./levels.ts";
import type { Ways } from "./ways.ts";
import { cutBlock, cutHead, HEAD_MOST, NEW, type Piece, placesBefore, weave } from "./weave.ts";

/** What is stored of a tank's telemetry: the number of all its readings, and the newest of them. */
export type Head = { readonly total: number; readonly start: number; readonly data: Uint8Array };

/** What is to be stored. `older` is how many readings lie in blocks; the ways have changes of their own. */
export type Taken = {
  readonly head: Head & { readonly older: number };
  /** Blocks that were there, and new ones. */
  readonly written: readonly Piece[];
  readonly opened: readonly Piece[];
};

/** The instants to which the ways have to be known. `places` are those of the tank, by instant. */
export function waysNeeded(head: Head, batch: ReadingBatch, places: Uint32Array): number[] {
  const late = placesBefore(batch, places, head.start);
  const instants = Array.from(places.subarray(0, late), (place) => batch.createdAt[place] as number);
  // What is cut from the head follows the last gap.
  const mayBeCut = new Block(head.data).length + places.length - late > HEAD_MOST;
  return mayBeCut ? [...instants, LATEST] : instants;
}

type LateGap = { readonly start: number; readonly ahead: number; readonly places: Uint32Array };

/** The gaps that readings before the head fall into, oldest first, each with the places of these. */
export function* lateGaps(head: Head, ways: Ways, batch: ReadingBatch, places: Uint32Array): Generator<LateGap> {
  const late = placesBefore(batch, places, head.start);
  for (let done = 0; done < late; ) {
    const { at, end, ahead } = ways.gapAt([batch.createdAt[places[done] as number] as number]);
    const until = end === undefined ? late : placesBefore(batch, places, Number(end[0]));
    yield { start: Number(at[0]), ahead, places: places.subarray(done, until) };
    done = until;
  }
}

/** The usual case: all lie behind the head, and it has room for them. */
function takeBehind(head: Head, batch: ReadingBatch, places: Uint32Array, outcomes: Uint8Array): Taken | undefined {
  const length = new Block(head.data).length;
  if (length === 0 || length + places.length > HEAD_MOST) return undefined;
  const data = appended(head.data, { instants: batch.createdAt, fills: batch.fill }, places);
  if (data === undefined) return undefined;
  for (const place of places) outcomes[place] = NEW;
  const { total, start } = head;
  return { head: { total: total + places.length, older: total - length, start, data }, written: [], opened: [] };
}

/** What becomes of each reading is written into `outcomes`; gives nothing where nothing changes. */
export function takeIn(
  head: Head,
  ways: Ways,
  blockAt: (start: number) => Uint8Array,
  batch: ReadingBatch,
  places: Uint32Array,
  outcomes: Uint8Array,
): Taken | undefined {
  const simply = takeBehind(head, batch, places, outcomes);
  if (simply !== undefined) return simply;
  const written: Piece[] = [];
  const opened: Piece[] = [];
  let added = 0;
  let taken = 0;

  function open(pieces: readonly Piece[], rank: number): void {
    opened.push(...pieces);
    openOn(ways, pieces, rank);
  }

  for (const gap of lateGaps(head, ways, batch, places)) {
    taken += gap.places.length;
    const block = new Block(blockAt(gap.start));
    const woven = weave(block, batch, gap.places, outcomes);
    if (woven === undefined) continue;
    const [first, ...rest] = cutBlock(woven, gap.start);
    const delta = woven.instants.length - block.length;
    written.push(first);
    if (delta > 0) ways.grow([gap.start], delta);
    open(rest, gap.ahead + first.count);
    added += delta;
  }
  const block = new Block(head.data);
  const older = head.total - block.length + added;
  const woven = weave(block, batch, places.subarray(taken), outcomes);
  if (woven === undefined) {
    return written.length === 0 ? undefined : { head: { ...head, total: head.total + added, older }, written, opened };
  }
  const total = older + woven.instants.length;
  const { blocks, head: cut } = cutHead(woven, head.start);
  open(blocks, older);
  return { head: { total, older: total - cut.count, start: cut.start, data: cut.data }, written, opened };
}

function openOn(ways: Ways, pieces: readonly Piece[], rank: number): void {
  let reached = rank;
  for (const { start, count } of pieces) {
    ways.open([start], reached);
    reached += count;
  }
}

/** A head that has grown too long, cut; gives nothing where it has not. The way to the end has to be known. */
export function cutLong(head: Head, ways: Ways): Taken | undefined {
  const block = new Block(head.data);
  if (block.length <= HEAD_MOST) return undefined;
  const { blocks, head: cut } = cutHead(columnsOf(block), head.start);
  openOn(ways, blocks, head.total - block.length);
  return {
    head: { total: head.total, older: head.total - cut.count, start: cut.start, data: cut.data },
    written: [],
    opened: blocks,
  };
}
