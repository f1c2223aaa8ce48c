// Milestones. Beside an ordered series stands a sparse index of ranks, in levels: level 0 divides the series into gaps of
// about 128 entries, each level above divides the one below into groups of about 16 nodes. A node is a position: where its
// gap or group begins. It holds how many entries lie `ahead` of it since its own group began, so the rank of a gap is the
// sum of one number a level, an appended gap changes no other node, and a late entry changes a few of its siblings a level.
//
// The first node of a level begins before everything, so every position has a node. A level is made when the one below has
// grown past 32 nodes; the top level is not grouped any further.

/** Before every instant that can be written. */
export const EARLIEST = Number.MIN_SAFE_INTEGER;
/** After every instant that can be written. */
export const LATEST = Number.MAX_SAFE_INTEGER;

/** Entries of a gap when it is cut, and when it is cut again. */
export const GAP = 128;
export const GAP_MOST = 256;
/** Nodes of a group when it is cut, and when it is cut again. */
const GROUP = 16;
export const GROUP_MOST = 32;
/** 128 → 2 thousand → 33 thousand → 524 thousand → 8 million → 134 million. */
export const TOP = 5;

export type Gap<P> = { readonly at: P; readonly count: number };
export type Node<P> = { readonly at: P; readonly ahead: number };

/** Nodes of one group that has grown too large, as groups of 16 to 31. */
export function cutGroup<T>(nodes: readonly T[]): T[][] {
  const groups = Math.max(1, Math.floor(nodes.length / GROUP));
  return Array.from({ length: groups }, (_, i) => nodes.slice(i * GROUP, i === groups - 1 ? nodes.length : (i + 1) * GROUP));
}

/** All levels of a series, from its gaps. */
export function levelsOf<P>(gaps: readonly Gap<P>[]): Node<P>[][] {
  const levels: Node<P>[][] = [];
  for (let below = gaps; below.length > 0; ) {
    const isTop = below.length <= GROUP_MOST || levels.length === TOP;
    const groups = isTop ? [below] : cutGroup(below);
    const summed = groups.map((group) => {
      let ahead = 0;
      const nodes = group.map(({ at, count }) => {
        const node = { at, ahead };
        ahead += count;
        return node;
      });
      return { nodes, at: (group[0] as Gap<P>).at, count: ahead };
    });
    levels.push(summed.flatMap(({ nodes }) => nodes));
    below = isTop ? [] : summed;
  }
  return levels;
}
