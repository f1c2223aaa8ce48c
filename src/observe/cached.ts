// Caches an expensive read for 30 seconds.

import type { Clock, Instant } from "../domain/instant.ts";

const CACHED_MS = 30_000;

/** After an error, the next call reads again. */
export function cached<T>(clock: Clock, load: (now: Instant) => Promise<T>): () => Promise<T> {
  let last: { readonly value: Promise<T>; readonly since: Instant } | undefined;
  return async () => {
    const now = clock();
    // `now` is before `since` if the clock was set back.
    if (last === undefined || now >= last.since + CACHED_MS || now < last.since) last = { value: load(now), since: now };
    const { value } = last;
    try {
      return await value;
    } catch (error) {
      last = undefined;
      throw error;
    }
  };
}
