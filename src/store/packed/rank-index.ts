// The rank index: finds the rank of a position in an order, and the position of a rank, in logarithmic time.
//
// Level 0 divides the entries into segments of about 128; each level above divides the one below into groups of about
// 64 nodes. A node is where its segment or group begins, with the number of entries between the start of its own group and it
// (its offset). The rank of a segment is the sum of one offset per level.
//
// A group is one database row, found by its level and its first node. Appending a segment changes the last group only, a late
// entry one group per level. The first node of a level is before every position. A level is added when the one below grows
// past one group. A segment that has become empty is removed, unless others depend on its node.

import { DamageError } from "../../domain/errors.ts";

/** Entries of a segment after a split, and the most it may have before the next one. */
export const SEGMENT_SIZE = 128;
export const SEGMENT_MAX = 256;
/** The same for the nodes of a group. */
export const GROUP_SIZE = 64;
export const GROUP_MAX = 128;

/** An instant, followed by an id where entries may share an instant. */
export type Position = readonly (number | string)[];
export type Segment = { readonly at: Position; readonly count: number };

/** A group of nodes: their positions, and their offsets. */
export type Group = { readonly level: number; readonly at: Position[]; readonly offsets: number[] };

/** Where the segment begins, where the next one begins, and how many entries are before it. */
type FoundSegment = { readonly at: Position; readonly end: Position | undefined; readonly rank: number };

/** Only damage to the database can cause this. */
export function missingGroup(level: number, at: Position): DamageError {
  const where = `level ${level}, at ${at.join(" ")}`;
  return new DamageError(`the rank index is damaged (${where}): "npx tank-monitor check --repair" rebuilds it`);
}

/** Strings are compared by their UTF-8 bytes, as the databases do. */
export function comparePositions(a: Position, b: Position): number {
  for (let i = 0; i < a.length; i++) {
    const [one, other] = [a[i] as number | string, b[i] as number | string];
    if (one === other) continue;
    if (typeof one === "number") return one - Number(other);
    return Buffer.compare(Buffer.from(one), Buffer.from(String(other)));
  }
  return 0;
}

/** The last of `length` ascending indexes for which the condition holds, or -1. */
export function lastIndexWhere(length: number, holds: (index: number) => boolean): number {
  let low = 0;
  let high = length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (holds(middle)) low = middle + 1;
    else high = middle;
  }
  return low - 1;
}

type PathStep = { readonly group: Group; readonly index: number };

/** The part of one rank index that a write needs: the groups on the paths to some positions. Collects what changes. */
export class RankIndex {
  /** Keyed by level and first position. */
  readonly #groups: Map<string, Group>[] = [];
  readonly #changed = new Set<Group>();
  readonly #removed = new Set<Group>();
  #root: Group | undefined;

  constructor(groups: readonly Group[] = []) {
    for (const group of groups) {
      const first = group.at[0];
      if (first === undefined) throw missingGroup(group.level, []);
      this.#level(group.level).set(keyOf(first), group);
      if (this.#root === undefined || group.level > this.#root.level) this.#root = group;
    }
  }

  /** All groups of an index over these segments. */
  static build(segments: readonly Segment[]): Group[] {
    const all: Group[] = [];
    for (let level = 0, nodes = segments; nodes.length > 0; level++) {
      const count = nodes.length > GROUP_MAX ? Math.floor(nodes.length / GROUP_SIZE) : 1;
      const built = Array.from({ length: count }, (_, i) =>
        buildGroup(level, nodes.slice(i * GROUP_SIZE, i === count - 1 ? nodes.length : (i + 1) * GROUP_SIZE)),
      );
      all.push(...built.map(({ group }) => group));
      nodes = count === 1 ? [] : built.map(({ segment }) => segment);
    }
    return all;
  }

  get isEmpty(): boolean {
    return this.#root === undefined;
  }

  segmentAt(position: Position): FoundSegment {
    let rank = 0;
    let end: Position | undefined;
    let at = position;
    for (const { group, index } of this.#pathTo(position)) {
      rank += group.offsets[index] as number;
      at = group.at[index] as Position;
      end = group.at[index + 1] ?? end;
    }
    return { at, end, rank };
  }

  /** How many entries the segment at the position has; undefined for the last segment. */
  countAt(position: Position): number | undefined {
    return entriesAt(this.#pathTo(position));
  }

  /** The segment at the position has `delta` more entries. */
  grow(position: Position, delta: number): void {
    for (const { group, index } of this.#pathTo(position)) {
      for (let i = index + 1; i < group.offsets.length; i++) group.offsets[i] = (group.offsets[i] as number) + delta;
      if (index + 1 < group.offsets.length) this.#changed.add(group);
    }
  }

  /**
   * Removes those of the segments at these positions that have no entries: their range goes to the segment before. The first
   * segment of a group stays for as long as the group has others, since the group is stored under its position.
   */
  removeEmpty(positions: readonly Position[]): void {
    const starts = new Map(positions.map((position) => this.segmentAt(position).at).map((at) => [keyOf(at), at]));
    for (const at of starts.values()) {
      const group = this.#removeIfEmpty(at);
      // Its first segment may have been kept for this one only.
      if (group?.at.length === 1) this.#removeIfEmpty(group.at[0] as Position);
    }
    while (this.#root !== undefined && this.#root.level > 0 && this.#root.at.length === 1) {
      const child = this.#child(this.#root.level - 1, this.#root.at[0] as Position);
      this.#drop(this.#root);
      this.#root = child;
    }
  }

  /** Returns the group of level 0 that the segment was removed from. */
  #removeIfEmpty(at: Position): Group | undefined {
    const path = this.#pathTo(at);
    if (entriesAt(path) !== 0) return undefined;
    const depth = path.findLastIndex(({ group }) => group.at.length > 1);
    const { group, index } = path[depth] ?? { index: 0 };
    if (group === undefined || index === 0) return undefined;
    group.at.splice(index, 1);
    group.offsets.splice(index, 1);
    this.#changed.add(group);
    for (const step of path.slice(depth + 1)) this.#drop(step.group);
    return group.level === 0 ? group : undefined;
  }

  #drop(group: Group): void {
    this.#level(group.level).delete(keyOf(group.at[0] as Position));
    this.#changed.delete(group);
    this.#removed.add(group);
  }

  /** A new segment with `rank` entries before it. */
  insert(at: Position, rank: number): void {
    if (this.#root === undefined) {
      this.#root = this.#add({ level: 0, at: [at], offsets: [0] });
      return;
    }
    const path = this.#pathTo(at);
    const { group, index } = path.at(-1) as PathStep;
    const before = path.slice(0, -1).reduce((sum, step) => sum + (step.group.offsets[step.index] as number), 0);
    insertNode(group, index + 1, at, rank - before);
    this.#changed.add(group);
  }

  /** The groups to write. */
  changes(): Group[] {
    // Splitting a group makes the one above it grow.
    const oversized = (): Group[] => [...this.#changed].filter(({ at }) => at.length > GROUP_MAX);
    for (let large = oversized(); large.length > 0; large = oversized()) for (const group of large) this.#split(group);
    return [...this.#changed];
  }

  /** The groups to remove, before others are written. */
  removals(): Group[] {
    return [...this.#removed];
  }

  #pathTo(position: Position, lowestLevel = 0): PathStep[] {
    const path: PathStep[] = [];
    for (let group = this.#root; group !== undefined; ) {
      const { level, at } = group;
      const index = lastIndexWhere(at.length, (i) => comparePositions(at[i] as Position, position) <= 0);
      const step = { group, index: Math.max(0, index) };
      path.push(step);
      group = level === lowestLevel ? undefined : this.#child(level - 1, at[step.index] as Position);
    }
    return path;
  }

  #child(level: number, at: Position): Group {
    const child = this.#level(level).get(keyOf(at));
    if (child === undefined) throw missingGroup(level, at);
    return child;
  }

  #level(level: number): Map<string, Group> {
    this.#groups[level] ??= new Map();
    return this.#groups[level];
  }

  #add(group: Group): Group {
    this.#level(group.level).set(keyOf(group.at[0] as Position), group);
    this.#changed.add(group);
    return group;
  }

  #split(group: Group): void {
    const { level } = group;
    const first = group.at[0] as Position;
    if (this.#root === group) this.#root = this.#add({ level: level + 1, at: [first], offsets: [0] });
    const { group: parent, index } = this.#pathTo(first, level + 1).at(-1) as PathStep;
    const parentOffset = parent.offsets[index] as number;
    for (let part = Math.floor(group.at.length / GROUP_SIZE) - 1; part > 0; part--) {
      const at = group.at.splice(part * GROUP_SIZE);
      const offsets = group.offsets.splice(part * GROUP_SIZE);
      const start = offsets[0] as number;
      this.#add({ level, at, offsets: offsets.map((offset) => offset - start) });
      insertNode(parent, index + 1, at[0] as Position, parentOffset + start);
    }
    this.#changed.add(parent);
  }
}

/** How many entries the segment at the end of a path has; undefined for the last segment of all. */
function entriesAt(path: readonly PathStep[]): number | undefined {
  let offsetsBelow = 0;
  for (const { group, index } of path.toReversed()) {
    const next = group.offsets[index + 1];
    const offset = group.offsets[index] as number;
    if (next !== undefined) return next - offset - offsetsBelow;
    offsetsBelow += offset;
  }
  return undefined;
}

/** One group, and the segment it is to the level above. */
function buildGroup(level: number, nodes: readonly Segment[]): { readonly group: Group; readonly segment: Segment } {
  let count = 0;
  const group: Group = { level, at: [], offsets: [] };
  for (const node of nodes) {
    group.at.push(node.at);
    group.offsets.push(count);
    count += node.count;
  }
  return { group, segment: { at: group.at[0] as Position, count } };
}

function insertNode(group: Group, index: number, at: Position, offset: number): void {
  group.at.splice(index, 0, at);
  group.offsets.splice(index, 0, offset);
}

function keyOf(at: Position): string {
  return at.join(" ");
}
