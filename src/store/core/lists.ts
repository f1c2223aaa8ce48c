// Keeps the rank indexes of lists, in the transaction that changes their entries, after the entries are written.

import {
  type EntryChange,
  entryChanges,
  LIST_END,
  LIST_START,
  LISTS,
  type ListedChange,
  type ListKind,
  listName,
} from "../packed/lists.ts";
import { type Position, RankIndex, SEGMENT_MAX, SEGMENT_SIZE } from "../packed/rank-index.ts";
import { loadIndexes, saveIndexes } from "./rank-indexes.ts";
import type { ListSegment, StoreTransaction } from "./transaction.ts";

type ListChange = EntryChange & { readonly kind: ListKind; readonly list: string };
type GrownSegment = ListSegment & { readonly kind: ListKind; readonly list: string; readonly rank: number };

/** All lists of the table. */
export async function updateLists(
  tx: StoreTransaction,
  table: ListKind["table"],
  listed: readonly ListedChange[],
): Promise<void> {
  const kinds = Object.values(LISTS).filter((kind) => kind.table === table);
  const changes = kinds.flatMap((kind) =>
    entryChanges(kind, listed).map((entry) => ({ kind, list: listName(kind, entry.key), ...entry })),
  );
  if (changes.length === 0) return;
  const positions = changes.map(({ list, at }) => ({ index: list, at }));
  const indexes = await loadIndexes(tx, "lists", positions);
  const indexOf = (list: string): RankIndex => indexes.get(list) as RankIndex;
  const byList = Map.groupBy(changes, ({ list }) => list);
  const grown = Array.from(byList, ([list, own]) => applyChanges(indexOf(list), own)).flat();
  const byKind = Map.groupBy(grown, ({ kind }) => kind);
  const [, ...found] = await Promise.all([
    saveIndexes(tx, "lists", indexes),
    ...Array.from(byKind, ([kind, segments]) => tx.oversizedSegments(kind, segments)),
  ]);
  const oversized = found.flat();
  if (oversized.length === 0) return;
  for (const segment of oversized) await splitSegment(tx, indexOf(segment.list), segment);
  await saveIndexes(tx, "lists", indexes);
}

/** Changes of one list. Returns the segments that may be too long now. */
function applyChanges(index: RankIndex, changes: readonly ListChange[]): GrownSegment[] {
  for (const { at, delta } of changes) index.grow(at, delta);
  if (!index.isEmpty) index.removeEmpty(changes.filter(({ delta }) => delta < 0).map(({ at }) => at));
  const growth = changes.reduce((sum, { delta }) => sum + delta, 0);
  const segments = changes
    .filter(({ at, delta }) => delta > 0 && mayBeOversized(index, at, growth))
    .map(({ kind, list, key, at }): GrownSegment => {
      const found = index.isEmpty ? { at: LIST_START, end: LIST_END, rank: 0 } : index.segmentAt(at);
      return { kind, list, key, ...found, end: found.end ?? LIST_END };
    });
  return [...new Map(segments.map((segment) => [segment.at.join(" "), segment])).values()];
}

/** The index knows all segments but the last. A list without an index is short; it may have become long if it has grown. */
function mayBeOversized(index: RankIndex, at: Position, growth: number): boolean {
  return index.isEmpty ? growth > 0 : (index.countAt(at) ?? SEGMENT_MAX + 1) > SEGMENT_MAX;
}

async function splitSegment(tx: StoreTransaction, index: RankIndex, segment: GrownSegment): Promise<void> {
  if (index.isEmpty) return rebuildListIndex(tx, segment.kind, segment.key);
  const { starts } = await tx.segmentStarts(segment.kind, segment);
  for (const [i, start] of starts.slice(1).entries()) index.insert(start, segment.rank + (i + 1) * SEGMENT_SIZE);
}

/** A short list has no index. */
export async function rebuildListIndex(tx: StoreTransaction, kind: ListKind, key: string | null): Promise<void> {
  const list = listName(kind, key);
  const { starts, total } = await tx.segmentStarts(kind, { key, at: LIST_START, end: LIST_END });
  const segments = starts.map((start, i) => ({
    at: i === 0 ? LIST_START : start,
    count: Math.min(SEGMENT_SIZE, total - i * SEGMENT_SIZE),
  }));
  const groups = total > SEGMENT_MAX ? RankIndex.build(segments) : [];
  await tx.removeRankIndex("lists", list);
  await tx.putRankGroups(
    "lists",
    groups.map((group) => ({ index: list, group })),
  );
}
