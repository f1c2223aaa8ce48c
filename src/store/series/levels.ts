// Milestones. Beside an ordered series stands a sparse index of ranks, in levels: level 0 divides the series into gaps of
// about 128 entries, each level above divides the one below into groups of about 64 nodes. A node is a position: where its
// gap or group begins. It holds how many entries lie `ahead` of it since its own group began, so the rank of a gap is the
// sum of one number a level.
//
// A group is stored as one row, known by its level and its first node, which is also a node of the level above: a way down
// is one row a level, by key. An appended gap changes the last group alone, a late entry one group a level.
//
// The first node of a level begins before everything, so every position has a node. A level is made when the one below has
// grown past one group.

/** Before every instant that can be written. */
export const EARLIEST = Number.MIN_SAFE_INTEGER;
/** After every instant that can be written. */
export const LATEST = Number.MAX_SAFE_INTEGER;

/** Entries of a gap when it is cut, and when it is cut again. */
export const GAP = 128;
export const GAP_MOST = 256;
/** Nodes of a group when it is cut, and when it is cut again. */
export const GROUP = 64;
export const GROUP_MOST = 128;

/** Where an entry stands: an instant, and an id where entries may share one. */
export type Position = readonly (number | string)[];
export type Gap = { readonly at: Position; readonly count: number };

/** Where the first node of every level begins, and a place after the last, in positions of so many parts. */
export const originOf = (parts: number): Position => [EARLIEST, ""].slice(0, parts);
export const endOf = (parts: number): Position => [LATEST, ""].slice(0, parts);

/** Nodes side by side: where each begins, and how many entries of the group are ahead of it. */
export type Group = { readonly level: number; readonly at: Position[]; readonly ahead: number[] };

/** A way leads to a group that is not there: only damage can do that. */
export function missingGroup(level: number, at: Position): Error {
  const where = `level ${level}, at ${at.join(" ")}`;
  return new Error(`a group of milestones is missing (${where}): "tank-monitor check --repair" makes it anew`);
}

/** Text is compared as the databases do it, by the bytes of its UTF-8. */
export function comparePositions(a: Position, b: Position): number {
  for (let i = 0; i < a.length; i++) {
    const [one, other] = [a[i] as number | string, b[i] as number | string];
    if (one === other) continue;
    if (typeof one === "number") return one - Number(other);
    return Buffer.compare(Buffer.from(one), Buffer.from(String(other)));
  }
  return 0;
}

/** The last of `length` places, in ascending order, for which it holds; -1 where it holds for none. */
export function lastPlace(length: number, holds: (place: number) => boolean): number {
  let low = 0;
  let high = length;
  while (low < high) {
    const middle = (low + high) >>> 1;
    if (holds(middle)) low = middle + 1;
    else high = middle;
  }
  return low - 1;
}
