// The leak of a tank as it is stored with its forecast: what alerts open and close by.

import type { Leak, LeakAtLevel } from "./leak.ts";

/** `ending`: use is normal again, but not for long enough. Null: it cannot be judged. */
export type LeakState = Leak | "none" | "ending" | null;

/** A leak is over after this many days of normal use. Older states say nothing about the present. */
const NORMAL_DAYS = 3;

/** `lastDay`: of the newest level, which may have come too late after the others to be judged. */
export function leakStateOf(states: readonly LeakAtLevel[], lastDay: number): LeakState {
  const last = states.at(-1);
  if (last === undefined || lastDay - last.day > NORMAL_DAYS) return null;
  if (last.leak !== undefined) return last.leak;
  const lastLeak = states.findLast(({ leak }) => leak !== undefined);
  return lastLeak !== undefined && last.day - lastLeak.day < NORMAL_DAYS ? "ending" : "none";
}
