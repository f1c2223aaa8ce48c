// A tank's readings, gathered from stretches that are out of order or in each other's place.

import { Block, type Columns } from "./block.ts";

/** Every reading of the stretches, by instant; of two of one instant the one that stood later. */
export function untangled(stretches: Iterable<Uint8Array>): Columns {
  const blocks = Array.from(stretches, (data) => new Block(data));
  const length = blocks.reduce((sum, block) => sum + block.length, 0);
  const instants = new Float64Array(length);
  const fills = new Float64Array(length);
  let place = 0;
  for (const block of blocks) {
    for (let i = 0; i < block.length; i++, place++) {
      instants[place] = block.instant(i);
      fills[place] = block.fill(i);
    }
  }
  if (isAscending(instants)) return { instants, fills };
  const instantOf = (at: number | undefined): number | undefined => instants[at as number];
  // A plain array's sort is quick where most is in order, and leaves equal ones as they stand.
  const order = Array.from({ length }, (_, i) => i).sort((a, b) => (instants[a] as number) - (instants[b] as number));
  const kept = order.filter((at, i) => instantOf(at) !== instantOf(order[i + 1]));
  return {
    instants: Float64Array.from(kept, (at) => instants[at] as number),
    fills: Float64Array.from(kept, (at) => fills[at] as number),
  };
}

/** Often only where a block begins or ends is wrong. */
function isAscending(instants: Float64Array): boolean {
  for (let i = 1; i < instants.length; i++) if ((instants[i - 1] as number) >= (instants[i] as number)) return false;
  return true;
}
