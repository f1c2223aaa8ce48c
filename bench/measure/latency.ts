// How long one answer takes when nothing else is asked.

import type { Connection } from "./connection.ts";
import { median } from "./statistics.ts";

const FEWEST = 3;
/** Where one answer takes this long in all, fewer are enough. */
const PATIENCE_MS = 8000;

/** The median over the paths, asked one after the other, again and again. */
export async function latency(connection: Connection, paths: readonly string[], samples: number): Promise<number> {
  const times: number[] = [];
  const started = performance.now();
  while (times.length < samples) {
    if (times.length >= FEWEST && performance.now() - started > PATIENCE_MS) break;
    times.push(await connection.time(paths[times.length % paths.length] ?? ""));
  }
  return median(times);
}

export const inMilliseconds = (milliseconds: number): string => `${milliseconds.toPrecision(3)} ms`;
