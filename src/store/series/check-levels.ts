// Whether the milestones of a series are what `levels.ts` says of them. All of it can be made anew from the gaps.

import { displayInstant } from "../../domain/instant.ts";
import { type Fault, Faults } from "./fault.ts";
import { comparePositions, EARLIEST, type Gap, GROUP_MOST, type Group, type Position } from "./levels.ts";

/** A group, and the position that it is stored under. One that cannot be read has no nodes. */
export type StoredGroup = Group & { readonly key: Position };

/** `groups` by level and key; `gaps` as the entries themselves make them, from the first. */
export function faultsInLevels(groups: readonly StoredGroup[], gaps: readonly Gap[], origin: Position): Fault[] {
  const faults = new Faults();
  const add = (kind: string, what: () => string): void => faults.add(kind, true, what);
  const levels = Map.groupBy(groups, ({ level }) => level);
  if (gaps[0] !== undefined && !isSame(gaps[0].at, origin)) {
    add("origin", () => `the first milestone should be at ${named(origin)}, it is at ${named(gaps[0]?.at ?? origin)}`);
  }
  // Each level divides what the groups of the one below make; the highest is one group.
  let nodes: readonly Gap[] = gaps;
  let level = 0;
  for (let isHighest = nodes.length === 0; !isHighest; level++) {
    const own = levels.get(level) ?? [];
    if (!isDivided(level, own, nodes, add)) return faults.list();
    nodes = groupsAsGaps(level, own, nodes, add);
    isHighest = own.length === 1;
  }
  for (const stray of levels.keys()) {
    if (stray < 0 || stray >= level) add("stray", () => `there should be no milestones of level ${stray}`);
  }
  return faults.list();
}

/** Whether the groups have a node for each of `nodes`, and are stored where their first node says. */
function isDivided(
  level: number,
  groups: readonly StoredGroup[],
  nodes: readonly Gap[],
  add: (kind: string, what: () => string) => void,
): boolean {
  const found = groups.flatMap(({ at }) => at);
  const odd = nodes.findIndex(({ at }, i) => !isSame(at, found[i]));
  if (odd >= 0 || found.length !== nodes.length) {
    const where = odd >= 0 ? `, the first that is missing is at ${named(nodes[odd]?.at ?? [EARLIEST])}` : "";
    add("gaps", () => `there should be ${nodes.length} milestones of level ${level}, there are ${found.length}${where}`);
    return false;
  }
  const disorder = nodes.findIndex(({ at }, i) => i > 0 && comparePositions(nodes[i - 1]?.at ?? at, at) >= 0);
  if (disorder >= 0) {
    add(
      "order",
      () => `the milestones of level ${level} should be in order, the one at ${named(nodes[disorder]?.at ?? [])} is not`,
    );
  }
  const misplaced = groups.find(({ key, at }) => !isSame(key, at[0]));
  if (misplaced !== undefined) {
    const [key, begins] = [misplaced.key, misplaced.at[0] ?? []].map(named);
    add("group", () => `the group of level ${level} that is stored under ${key} begins at ${begins}`);
  }
  return disorder < 0 && misplaced === undefined;
}

/** What the level above has to divide: each group, and the entries in it. */
function groupsAsGaps(
  level: number,
  groups: readonly StoredGroup[],
  nodes: readonly Gap[],
  add: (kind: string, what: () => string) => void,
): Gap[] {
  let place = 0;
  return groups.map(({ key, at, ahead }) => {
    if (at.length > GROUP_MOST) {
      add("size", () => `the group of level ${level} at ${named(key)} has more than ${GROUP_MOST} milestones`);
    }
    let count = 0;
    at.forEach((position, i) => {
      const counted = count;
      if (ahead[i] !== counted) {
        add(
          "ahead",
          () => `the milestone of level ${level} at ${named(position)} should have ${counted} ahead, it says ${ahead[i]}`,
        );
      }
      count += nodes[place]?.count ?? 0;
      place++;
    });
    return { at: key, count };
  });
}

function isSame(a: Position, b: Position | undefined): boolean {
  return b !== undefined && comparePositions(a, b) === 0;
}

function named([instant, id]: Position): string {
  if (instant === EARLIEST) return "the beginning";
  return `${displayInstant(Number(instant))}${id === undefined ? "" : ` ${id}`}`;
}
