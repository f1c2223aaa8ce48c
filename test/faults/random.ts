// Random numbers from a seed; test names print it, and TEST_FAULTS_SEED repeats it as far as timing allows.

import { hash } from "node:crypto";

export type Random = {
  /** From 0 up to, but never, 1. */
  readonly next: () => number;
  /** A whole number; both ends may come. */
  readonly whole: (low: number, high: number) => number;
  readonly pick: <T>(list: readonly [T, ...T[]]) => T;
  readonly of: (probability: number) => boolean;
};

export function seededRandom(seed: string): Random {
  let state = Number.parseInt(hash("sha256", seed, "hex").slice(0, 8), 16);
  const next = (): number => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 0x1_0000_0000;
  };
  return {
    next,
    whole: (low, high) => low + Math.floor(next() * (high - low + 1)),
    pick: (list) => list[Math.floor(next() * list.length)] ?? list[0],
    of: (probability) => next() < probability,
  };
}

export const SEED = process.env["TEST_FAULTS_SEED"] ?? String(Date.now() % 1_000_000);
