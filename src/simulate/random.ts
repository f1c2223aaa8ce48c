// Random numbers from a seed: the same seed gives the same sequence on every machine.

export type Seed = string | number;

export type Random = {
  /** Returns a number from 0 inclusive to 1 exclusive. */
  next(): number;
  between(low: number, high: number): number;
  /** An integer; both bounds are included. */
  whole(low: number, high: number): number;
  pick<T>(list: readonly T[]): T;
  chance(probability: number): boolean;
  normal(mean: number, deviation: number): number;
};

export function seeded(seed: Seed): Random {
  let state = hashOf(String(seed));

  // mulberry32
  const next = (): number => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 0x1_0000_0000;
  };

  const whole = (low: number, high: number): number => low + Math.floor(next() * (high - low + 1));

  return {
    next,
    between: (low, high) => low + next() * (high - low),
    whole,
    pick(list) {
      const picked = list[whole(0, list.length - 1)];
      if (picked === undefined) throw new Error("cannot pick from an empty list");
      return picked;
    },
    chance: (probability) => next() < probability,
    // The Box-Muller transform.
    normal: (mean, deviation) => mean + deviation * Math.sqrt(-2 * Math.log(1 - next())) * Math.cos(2 * Math.PI * next()),
  };
}

/** FNV-1a with murmur3's finalizer, so that seeds that differ in one letter do not start with similar numbers. */
function hashOf(text: string): number {
  let hash = 0x811c9dc5;
  for (let i = 0; i < text.length; i++) hash = Math.imul(hash ^ text.charCodeAt(i), 0x01000193);
  hash = Math.imul(hash ^ (hash >>> 16), 0x85ebca6b);
  hash = Math.imul(hash ^ (hash >>> 13), 0xc2b2ae35);
  return hash ^ (hash >>> 16);
}
