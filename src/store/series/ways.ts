// The milestones of one series, as far as a write needs them: the groups on the ways to some positions. What changes is
// gathered, and written by the engine afterwards. Pure: the engine loads and stores.

import { comparePositions, type Gap, GROUP, GROUP_MOST, type Group, lastPlace, missingGroup, type Position } from "./levels.ts";

/** What is stored of a series. Each group is asked for once, when a way first comes to it. */
type StoredGroups = {
  /** The one group of the highest level; a series may have no milestones. */
  readonly root: () => Group | undefined;
  readonly group: (level: number, at: Position) => Group | undefined;
};
type Step = { readonly group: Group; readonly place: number };

export class Ways {
  readonly #stored: StoredGroups;
  /** By where they begin, a level each. */
  readonly #known: Map<string, Group>[] = [];
  readonly #changed = new Set<Group>();
  #highest: Group | undefined;
  #isHighestKnown = false;

  constructor(stored: StoredGroups) {
    this.#stored = stored;
  }

  /** Of a series without milestones. */
  static none(): Ways {
    return new Ways({ root: () => undefined, group: () => undefined });
  }

  /** All groups that these gaps make. */
  static groupsOf(gaps: readonly Gap[]): Group[] {
    const all: Group[] = [];
    for (let level = 0, nodes = gaps; nodes.length > 0; level++) {
      const groups = nodes.length > GROUP_MOST ? Math.floor(nodes.length / GROUP) : 1;
      const bounds = Array.from({ length: groups + 1 }, (_, i) => (i === groups ? nodes.length : i * GROUP));
      const made = bounds.slice(1).map((end, i) => grouped(level, nodes.slice(bounds[i], end)));
      for (const { group } of made) all.push(group);
      nodes = groups === 1 ? [] : made.map(({ gap }) => gap);
    }
    return all;
  }

  get isEmpty(): boolean {
    return this.#root === undefined;
  }

  /** The gap that holds the position: its rank is what is `ahead` of it, and the next one begins at its `end`. */
  gapAt(position: Position): { readonly at: Position; readonly end: Position | undefined; readonly ahead: number } {
    let ahead = 0;
    let end: Position | undefined;
    let at = position;
    for (const { group, place } of this.#wayTo(position)) {
      ahead += group.ahead[place] as number;
      at = group.at[place] as Position;
      end = group.at[place + 1] ?? end;
    }
    return { at, end, ahead };
  }

  /** Entries came or went in the gap that holds the position: what follows in each group has so many more ahead. */
  grow(position: Position, delta: number): void {
    for (const { group, place } of this.#wayTo(position)) {
      for (let i = place + 1; i < group.ahead.length; i++) group.ahead[i] = (group.ahead[i] as number) + delta;
      if (place + 1 < group.ahead.length) this.#changed.add(group);
    }
  }

  /** A gap more; `rank` entries lie before it. */
  open(at: Position, rank: number): void {
    if (this.#root === undefined) {
      this.#highest = this.#made({ level: 0, at: [at], ahead: [0] });
      return;
    }
    const way = this.#wayTo(at);
    const { group, place } = way.at(-1) as Step;
    const before = way.slice(0, -1).reduce((sum, step) => sum + (step.group.ahead[step.place] as number), 0);
    insert(group, place + 1, at, rank - before);
    this.#changed.add(group);
  }

  /** The groups to be written. */
  changes(): Group[] {
    // What is cut makes the group above it grow.
    for (let large = this.#large(); large.length > 0; large = this.#large()) for (const group of large) this.#cut(group);
    return [...this.#changed];
  }

  get #root(): Group | undefined {
    if (!this.#isHighestKnown) this.#highest = this.#stored.root();
    this.#isHighestKnown = true;
    return this.#highest;
  }

  #large(): Group[] {
    return [...this.#changed].filter(({ at }) => at.length > GROUP_MOST);
  }

  /** From the highest level down. */
  #wayTo(position: Position, lowest = 0): Step[] {
    const way: Step[] = [];
    for (let group = this.#root; group !== undefined; ) {
      const { level, at } = group;
      const place = Math.max(
        0,
        lastPlace(at.length, (i) => comparePositions(at[i] as Position, position) <= 0),
      );
      way.push({ group, place });
      group = level === lowest ? undefined : this.#child(level - 1, at[place] as Position);
    }
    return way;
  }

  #child(level: number, at: Position): Group {
    const known = this.#of(level).get(keyOf(at));
    if (known !== undefined) return known;
    const loaded = this.#stored.group(level, at);
    if (loaded === undefined) throw missingGroup(level, at);
    this.#of(level).set(keyOf(at), loaded);
    return loaded;
  }

  #of(level: number): Map<string, Group> {
    this.#known[level] ??= new Map();
    return this.#known[level];
  }

  #made(group: Group): Group {
    this.#of(group.level).set(keyOf(group.at[0] as Position), group);
    this.#changed.add(group);
    return group;
  }

  #cut(group: Group): void {
    const { level } = group;
    const first = group.at[0] as Position;
    if (this.#root === group) {
      // A group that was the highest was never another's child.
      this.#of(level).set(keyOf(first), group);
      this.#highest = this.#made({ level: level + 1, at: [first], ahead: [0] });
    }
    const { group: parent, place } = this.#wayTo(first, level + 1).at(-1) as Step;
    const parentAhead = parent.ahead[place] as number;
    const pieces = Math.floor(group.at.length / GROUP);
    for (let piece = pieces - 1; piece > 0; piece--) {
      const at = group.at.splice(piece * GROUP);
      const ahead = group.ahead.splice(piece * GROUP);
      const begins = ahead[0] as number;
      this.#made({ level, at, ahead: ahead.map((own) => own - begins) });
      insert(parent, place + 1, at[0] as Position, parentAhead + begins);
    }
    this.#changed.add(parent);
  }
}

/** One group, and what it is to the level above. */
function grouped(level: number, nodes: readonly Gap[]): { readonly group: Group; readonly gap: Gap } {
  let count = 0;
  const group: Group = { level, at: [], ahead: [] };
  for (const node of nodes) {
    group.at.push(node.at);
    group.ahead.push(count);
    count += node.count;
  }
  return { group, gap: { at: group.at[0] as Position, count } };
}

function insert(group: Group, place: number, at: Position, ahead: number): void {
  group.at.splice(place, 0, at);
  group.ahead.splice(place, 0, ahead);
}

function keyOf(at: Position): string {
  return at.join(" ");
}
