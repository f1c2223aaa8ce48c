// Waits for a condition instead of sleeping for a guess.

import { setTimeout as pause } from "node:timers/promises";

/** Resolves with the first value that is neither undefined nor false. */
export async function until<T>(
  what: string,
  look: () => T | undefined | false | Promise<T | undefined | false>,
  patienceMs = 5000,
): Promise<T> {
  const deadline = performance.now() + patienceMs;
  for (;;) {
    const seen = await look();
    if (seen !== undefined && seen !== false) return seen;
    if (performance.now() > deadline) throw new Error(`waited ${patienceMs} ms in vain: ${what}`);
    await pause(10);
  }
}
