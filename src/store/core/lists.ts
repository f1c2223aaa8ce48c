// Keeps the rank indexes of lists, in the transaction that changes their entries, after the entries are written.

import { entryChanges, LIST_END, LIST_START, type ListedChange, type ListKind, seriesOf } from "../series/lists.ts";
import { type Position, RankIndex, SEGMENT_MAX, SEGMENT_SIZE } from "../series/rank-index.ts";
import { loadIndexes, saveIndexes } from "./rank-indexes.ts";
import type { ListSegment, StoreTransaction } from "./transaction.ts";

type FoundListSegment = ListSegment & { readonly kind: ListKind; readonly series: string; readonly rank: number };

/** All lists that these objects are in. */
export async function updateLists(
  tx: StoreTransaction,
  kinds: readonly ListKind[],
  listed: readonly ListedChange[],
): Promise<void> {
  const changes = kinds.flatMap((kind) =>
    entryChanges(kind, listed).map((entry) => ({ kind, series: seriesOf(kind, entry.key), ...entry })),
  );
  if (changes.length === 0) return;
  const indexes = await loadIndexes(tx, "lists", changes);
  for (const { series, at, delta } of changes) indexes.get(series)?.grow(at, delta);
  const growth = new Map<string, number>();
  for (const [series, seriesChanges] of Map.groupBy(changes, (change) => change.series)) {
    growth.set(
      series,
      seriesChanges.reduce((sum, { delta }) => sum + delta, 0),
    );
    const index = indexes.get(series);
    if (index !== undefined && !index.isEmpty)
      index.removeEmpty(seriesChanges.filter(({ delta }) => delta < 0).map(({ at }) => at));
  }
  const segments = new Map<string, FoundListSegment>();
  for (const { kind, series, key, at, delta } of changes) {
    const index = indexes.get(series);
    if (delta < 0 || index === undefined || !mayBeOversized(index, at, growth.get(series) ?? 0)) continue;
    const found = index.isEmpty ? { at: LIST_START, end: LIST_END, rank: 0 } : index.segmentAt(at);
    segments.set(`${found.at.join(" ")} ${series}`, { kind, series, key, ...found, end: found.end ?? LIST_END });
  }
  const grown = Map.groupBy(segments.values(), ({ kind }) => kind);
  const oversized = await Promise.all(Array.from(grown, ([kind, segmentsOfKind]) => tx.oversizedSegments(kind, segmentsOfKind)));
  for (const segment of oversized.flat()) {
    const { kind } = segment;
    const index = indexes.get(segment.series);
    if (index === undefined || index.isEmpty) {
      await rebuildListIndex(tx, kind, segment.key);
      continue;
    }
    const { starts } = await tx.segmentStarts(kind, segment);
    starts.slice(1).forEach((start, i) => {
      index.insert(start, segment.rank + (i + 1) * SEGMENT_SIZE);
    });
  }
  await saveIndexes(tx, "lists", indexes);
}

/** The index knows all segments but the last. A list without an index is short; it may have become long if it has grown. */
function mayBeOversized(index: RankIndex, at: Position, growth: number): boolean {
  return index.isEmpty ? growth > 0 : (index.countAt(at) ?? SEGMENT_MAX + 1) > SEGMENT_MAX;
}

/** A short list has no index. */
export async function rebuildListIndex(tx: StoreTransaction, kind: ListKind, key: string | null): Promise<void> {
  const series = seriesOf(kind, key);
  const { starts, total } = await tx.segmentStarts(kind, { key, at: LIST_START, end: LIST_END });
  const segments = starts.map((start, i) => ({
    at: i === 0 ? LIST_START : start,
    count: Math.min(SEGMENT_SIZE, total - i * SEGMENT_SIZE),
  }));
  const groups = total > SEGMENT_MAX ? RankIndex.build(segments) : [];
  await tx.removeRankIndex("lists", series);
  await tx.putRankGroups(
    "lists",
    groups.map((group) => ({ series, group })),
  );
}
