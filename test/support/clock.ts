// A clock that a test moves.

import type { Clock, Instant } from "../../src/domain/instant.ts";

export type ManualClock = { readonly clock: Clock; readonly forward: (milliseconds: number) => Instant };

export function manualClock(start = Date.parse("2026-11-14T09:30:00.000Z")): ManualClock {
  let now = start;
  return {
    clock: () => now,
    forward(milliseconds) {
      now += milliseconds;
      return now;
    },
  };
}
