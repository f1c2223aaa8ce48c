// Whether the milestones of a series are what `levels.ts` says of them. All of it can be made anew from the gaps.

import { shownInstant } from "../../domain/stored.ts";
import { type Fault, Faults } from "./fault.ts";
import { EARLIEST, type Gap, GROUP_MOST, type Node, TOP } from "./levels.ts";

/** An instant, and an id where entries may share one. */
type Place = readonly unknown[];
export type Milestone<P> = Node<P> & { readonly level: number };

/** `milestones` by level and position; `gaps` as the entries themselves make them, from the first. */
export function faultsInLevels<P extends Place>(
  milestones: readonly Milestone<P>[],
  gaps: readonly Gap<P>[],
  origin: P,
): Fault[] {
  const faults = new Faults();
  const add = (kind: string, what: () => string): void => faults.add(kind, true, what);
  const levels = Map.groupBy(milestones, ({ level }) => level);
  for (const level of levels.keys()) {
    if (level !== 0 && (level > TOP || !levels.has(level - 1)))
      add("stray", () => `there should be no milestones of level ${level}`);
  }
  let nodes = levels.get(0) ?? [];
  const odd = gaps.findIndex(({ at }, i) => !isSame(at, nodes[i]?.at));
  if (odd >= 0 || nodes.length !== gaps.length) {
    const where = odd >= 0 ? `, the first that is missing is at ${named(gaps[odd]?.at ?? origin)}` : "";
    add("gaps", () => `there should be ${gaps.length} milestones of level 0, there are ${nodes.length}${where}`);
  }
  if (nodes.length > 0 && !isSame(origin, nodes[0]?.at)) {
    add("origin", () => `the first milestone should be at ${named(origin)}, it is at ${named(nodes[0]?.at ?? origin)}`);
  }
  let ranks = ranksOf(gaps);
  for (let level = 0; nodes.length > 0 && !["stray", "gaps", "origin"].some((kind) => faults.has(kind)); level++) {
    const above = levels.get(level + 1) ?? [];
    if (above.length > 0 !== (nodes.length > GROUP_MOST && level < TOP)) {
      const should = above.length > 0 ? "none" : "some";
      add("level", () => `level ${level} has ${nodes.length} milestones, so there should be ${should} of level ${level + 1}`);
    }
    ranks = faultsInLevel(level, nodes, ranks, above, add);
    const opener = above[ranks.length];
    if (opener !== undefined) {
      add(
        "gaps",
        () => `the milestone of level ${level + 1} at ${named(opener.at)} should be one of level ${level} too, and is not`,
      );
    }
    if (above.length > 0 && !isSame(above[0]?.at, nodes[0]?.at)) {
      add("origin", () => `the first milestone of level ${level + 1} should be at ${named(origin)}, and is not`);
    }
    nodes = above;
  }
  return faults.list();
}

/** Gives the ranks of those that the level above has too, each the first of a group. */
function faultsInLevel<P extends Place>(
  level: number,
  nodes: readonly Node<P>[],
  ranks: readonly number[],
  above: readonly Node<P>[],
  add: (kind: string, what: () => string) => void,
): number[] {
  const openers: number[] = [];
  let began = 0;
  let size = 0;
  nodes.forEach(({ at, ahead }, i) => {
    const rank = ranks[i] as number;
    if (isSame(at, above[openers.length]?.at)) {
      openers.push(rank);
      began = rank;
      size = 0;
    }
    size++;
    if (size === GROUP_MOST + 1 && above.length > 0) {
      add("group", () => `a group of level ${level} has more than ${GROUP_MOST} milestones, from ${named(at)} on`);
    }
    if (ahead !== rank - began) {
      add("ahead", () => `the milestone of level ${level} at ${named(at)} should have ${rank - began} ahead, it says ${ahead}`);
    }
  });
  return openers;
}

/** How many entries lie before each gap. */
function ranksOf(gaps: readonly Gap<unknown>[]): number[] {
  let rank = 0;
  return gaps.map(({ count }) => {
    const before = rank;
    rank += count;
    return before;
  });
}

function isSame(a: Place | undefined, b: Place | undefined): boolean {
  return a !== undefined && b !== undefined && a.every((value, i) => value === b[i]);
}

function named([instant, id]: Place): string {
  if (instant === EARLIEST) return "the beginning";
  return `${shownInstant(Number(instant))}${id === undefined ? "" : ` ${id}`}`;
}
