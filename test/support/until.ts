// Waits for a condition.

import { setTimeout as pause } from "node:timers/promises";

/** Resolves with the first value that is neither undefined nor false. The limit is for a machine that is busy with other work. */
export async function until<T>(
  what: string,
  look: () => T | undefined | false | Promise<T | undefined | false>,
  timeoutMs = 30_000,
): Promise<T> {
  const deadline = performance.now() + timeoutMs;
  for (;;) {
    const seen = await look();
    if (seen !== undefined && seen !== false) return seen;
    if (performance.now() > deadline) throw new Error(`waited ${timeoutMs} ms for: ${what}`);
    await pause(10);
  }
}
