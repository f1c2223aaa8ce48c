// Work that many hands do, each piece when it is due, whether or not what was begun before is done.

import { setTimeout as pause } from "node:timers/promises";

/**
 * `dueAt` is when a piece may begin, in milliseconds after the start; pieces become due in their order. `work` is told since
 * when its piece has been waiting: for a hand to be free, not for a timer, which is late by nature.
 */
export async function paced<Hand>(
  hands: readonly Hand[],
  pieces: number,
  dueAt: (piece: number) => number,
  work: (hand: Hand, piece: number, since: number) => Promise<void>,
): Promise<void> {
  const started = performance.now();
  let next = 0;
  async function lend(hand: Hand): Promise<void> {
    for (let piece = next++; piece < pieces; piece = next++) {
      const due = started + dueAt(piece);
      const early = due - performance.now();
      if (early > 0) await pause(early);
      await work(hand, piece, early > 0 ? performance.now() : due);
    }
  }
  await Promise.all(hands.map(lend));
}

export const atOnce = (): number => 0;

/** So many a second, at even distances. */
export const evenly =
  (rate: number) =>
  (piece: number): number =>
    (piece * 1000) / rate;

/** So many a second, at distances of chance, as of many who know nothing of each other. */
export function scattered(rate: number, pieces: number, seed: number): (piece: number) => number {
  const dues = new Float64Array(pieces);
  let state = seed;
  let due = 0;
  for (let piece = 0; piece < pieces; piece++) {
    // A generator of Lehmer's.
    state = (state * 48_271) % 2_147_483_647;
    due -= (Math.log(state / 2_147_483_647) * 1000) / rate;
    dues[piece] = due;
  }
  return (piece) => dues[piece] ?? due;
}
