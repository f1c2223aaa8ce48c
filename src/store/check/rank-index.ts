// Checks a rank index against the segments that it should have.

import { displayInstant } from "../../domain/instant.ts";
import { LIST_START } from "../series/lists.ts";
import {
  comparePositions,
  EARLIEST,
  GROUP_MAX,
  type Group,
  type Position,
  SEGMENT_MAX,
  type Segment,
} from "../series/rank-index.ts";
import { Inconsistencies, type Inconsistency, repairable } from "./inconsistency.ts";

/** `key` is the position the group is stored under. A group that cannot be read has no nodes. */
export type StoredGroup = Group & { readonly key: Position };

type Report = (kind: string, message: () => string) => void;

/** `groups` by level and key; `segments` as they are, from the first. */
export function checkRankIndex(groups: readonly StoredGroup[], segments: readonly Segment[], start: Position): Inconsistency[] {
  const found = new Inconsistencies();
  const report: Report = (kind, message) => found.add(kind, true, message);
  const levels = Map.groupBy(groups, ({ level }) => level);
  const [first] = segments;
  if (first !== undefined && !isSame(first.at, start)) {
    report("start", () => `its rank index should begin at ${display(start)}, it begins at ${display(first.at)}`);
  }
  // The groups of each level are the segments of the level above; the highest level is one group.
  let nodes: readonly Segment[] = segments;
  let level = 0;
  for (let isHighest = nodes.length === 0; !isHighest; level++) {
    const own = levels.get(level) ?? [];
    if (!hasNodes(level, own, nodes, report)) return found.list();
    nodes = segmentsAbove(level, own, nodes, report);
    isHighest = own.length === 1;
  }
  for (const extra of levels.keys()) {
    if (extra < 0 || extra >= level) report("level", () => `its rank index should not have level ${extra}`);
  }
  return found.list();
}

/** Whether the groups have one node for each of `nodes`, in order, and are stored under their first node. */
function hasNodes(level: number, groups: readonly StoredGroup[], nodes: readonly Segment[], report: Report): boolean {
  const stored = groups.flatMap(({ at }) => at);
  const missing = nodes.findIndex(({ at }, i) => !isSame(at, stored[i]));
  if (missing >= 0 || stored.length !== nodes.length) {
    const where = missing >= 0 ? `, the first missing one at ${display(nodes[missing]?.at ?? [EARLIEST])}` : "";
    report("nodes", () => `level ${level} of its rank index should have ${nodes.length} nodes, it has ${stored.length}${where}`);
    return false;
  }
  const unsorted = nodes.findIndex(({ at }, i) => i > 0 && comparePositions(nodes[i - 1]?.at ?? at, at) >= 0);
  if (unsorted >= 0) {
    const at = display(nodes[unsorted]?.at ?? []);
    report("order", () => `level ${level} of its rank index should be in order, the node at ${at} is not`);
  }
  const misplaced = groups.find(({ key, at }) => !isSame(key, at[0]));
  if (misplaced !== undefined) {
    const [key, first] = [misplaced.key, misplaced.at[0] ?? []].map(display);
    report("group", () => `a group of level ${level} of its rank index is stored under ${key}, but begins at ${first}`);
  }
  return unsorted < 0 && misplaced === undefined;
}

function segmentsAbove(level: number, groups: readonly StoredGroup[], nodes: readonly Segment[], report: Report): Segment[] {
  let position = 0;
  return groups.map(({ key, at, offsets }) => {
    if (at.length > GROUP_MAX) {
      report("size", () => `the group of level ${level} at ${display(key)} has more than ${GROUP_MAX} nodes`);
    }
    let count = 0;
    at.forEach((node, i) => {
      const expected = count;
      if (offsets[i] !== expected) {
        report(
          "offset",
          () => `the node of level ${level} at ${display(node)} should have offset ${expected}, it has ${offsets[i]}`,
        );
      }
      count += nodes[position]?.count ?? 0;
      position++;
    });
    return { at: key, count };
  });
}

/** `counts`: the entries of each segment of level 0; a single number for a list without an index. */
export function checkListIndex(groups: readonly StoredGroup[], counts: readonly number[]): Inconsistency[] {
  if (groups.length === 0) {
    const total = counts[0] ?? 0;
    return total <= SEGMENT_MAX ? [] : repairable(`its ${total} entries should have a rank index, they have none`);
  }
  const segments = segmentStarts(groups).map((at, i): Segment => ({ at, count: counts[i] ?? 0 }));
  const largest = counts.reduce((max, count) => Math.max(max, count), 0);
  const oversized =
    largest > SEGMENT_MAX ? repairable(`a segment should have at most ${SEGMENT_MAX} entries, one has ${largest}`) : [];
  return [...oversized, ...checkRankIndex(groups, segments, LIST_START)];
}

export function segmentStarts(groups: readonly StoredGroup[]): Position[] {
  return groups.filter(({ level }) => level === 0).flatMap(({ at }) => at);
}

function isSame(a: Position, b: Position | undefined): boolean {
  return b !== undefined && comparePositions(a, b) === 0;
}

function display([instant, id]: Position): string {
  if (instant === EARLIEST) return "the start";
  return `${displayInstant(Number(instant))}${id === undefined ? "" : ` ${id}`}`;
}
