// Checks a rank index against the segments that it should have.

import { LIST_START } from "../packed/lists.ts";
import { comparePositions, GROUP_MAX, type Group, type Position, SEGMENT_MAX, type Segment } from "../packed/rank-index.ts";
import { type Inconsistency, repairable } from "./inconsistency.ts";

/** `key` is the position the group is stored under. A group that cannot be read has no nodes. */
export type StoredGroup = Group & { readonly key: Position };

/** `groups` by level and key; `segments` as they are, from the first. */
export function checkRankIndex(groups: readonly StoredGroup[], segments: readonly Segment[], start: Position): Inconsistency[] {
  const wrong = (level: number) => repairable(`level ${level} of its rank index is wrong`);
  const levels = Map.groupBy(groups, ({ level }) => level);
  let level = 0;
  // The groups of each level are the segments of the level above; the highest level is one group.
  for (let nodes = segments; nodes.length > 0; level++) {
    const above = segmentsAbove(levels.get(level) ?? [], nodes, start);
    if (above === undefined) return wrong(level);
    nodes = above.length === 1 ? [] : above;
  }
  const extra = levels.keys().find((other) => other < 0 || other >= level);
  return extra === undefined ? [] : wrong(extra);
}

/**
 * Undefined unless the groups have one node for each of `nodes`, in order and from the start, with its offset, and are stored
 * under their first nodes.
 */
function segmentsAbove(
  groups: readonly StoredGroup[],
  nodes: readonly Segment[],
  start: Position,
): readonly Segment[] | undefined {
  const above: Segment[] = [];
  let position = 0;
  let before: Position | undefined;
  for (const { key, at, offsets } of groups) {
    if (at.length > GROUP_MAX || !isSame(key, at[0])) return undefined;
    let count = 0;
    for (const [i, node] of at.entries()) {
      const expected = nodes[position++];
      const isInOrder = before === undefined ? isSame(node, start) : comparePositions(before, node) < 0;
      if (!isInOrder || !isSame(node, expected?.at) || offsets[i] !== count) return undefined;
      count += expected?.count ?? 0;
      before = node;
    }
    above.push({ at: key, count });
  }
  return position === nodes.length ? above : undefined;
}

/** `counts`: the entries of each segment of level 0; a single number for a list without an index. */
export function checkListIndex(groups: readonly StoredGroup[], counts: readonly number[]): Inconsistency[] {
  if (groups.length === 0) {
    const total = counts[0] ?? 0;
    return total <= SEGMENT_MAX ? [] : repairable(`its ${total} entries should have a rank index, they have none`);
  }
  const segments = indexedSegments(groups).map((at, i): Segment => ({ at, count: counts[i] ?? 0 }));
  const largest = counts.reduce((max, count) => Math.max(max, count), 0);
  const oversized =
    largest > SEGMENT_MAX ? repairable(`a segment should have at most ${SEGMENT_MAX} entries, one has ${largest}`) : [];
  return [...oversized, ...checkRankIndex(groups, segments, LIST_START)];
}

export function indexedSegments(groups: readonly StoredGroup[]): Position[] {
  return groups.filter(({ level }) => level === 0).flatMap(({ at }) => at);
}

function isSame(a: Position, b: Position | undefined): boolean {
  return b !== undefined && comparePositions(a, b) === 0;
}
