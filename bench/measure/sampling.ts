// Medians, ratios, latencies, and rounds in which contestants take turns.

import { log } from "../bench.ts";
import type { Connection } from "./connection.ts";

export function median(values: readonly number[]): number {
  return quantile(values, 0.5);
}

export function quantile(values: readonly number[], share: number): number {
  const sorted = values.toSorted((a, b) => a - b);
  const position = (sorted.length - 1) * share;
  const below = sorted[Math.floor(position)] ?? Number.NaN;
  const above = sorted[Math.ceil(position)] ?? Number.NaN;
  return below + (above - below) * (position - Math.floor(position));
}

type Ratio = { readonly value: number; readonly spread: readonly [number, number] };

/** Computed round by round, so that whatever slows the machine for a while affects both sides. */
export function ratioOf(over: readonly number[], under: readonly number[]): Ratio {
  const ratios = over.map((value, i) => value / (under[i] ?? Number.NaN));
  return { value: median(ratios), spread: [Math.min(...ratios), Math.max(...ratios)] };
}

const MIN_SAMPLES = 3;
/** Slow requests are sampled less often. */
const MAX_MS = 8000;

/** The median over the paths, requested in turn, one at a time. */
export async function latency(connection: Connection, paths: readonly string[], samples: number): Promise<number> {
  const times: number[] = [];
  const started = performance.now();
  while (times.length < samples) {
    if (times.length >= MIN_SAMPLES && performance.now() - started > MAX_MS) break;
    times.push(await connection.timeGet(paths[times.length % paths.length] ?? ""));
  }
  return median(times);
}

export const inMilliseconds = (milliseconds: number): string => `${milliseconds.toPrecision(3)} ms`;

/** Every contestant has one turn in each round; every other round is in reverse order. */
export async function alternate<Name extends string, T>(
  rounds: number,
  turns: Readonly<Record<Name, () => Promise<T>>>,
  describe: (result: T) => string,
): Promise<Record<Name, T[]>> {
  const names = Object.keys(turns) as Name[];
  const results = Object.fromEntries(names.map((name) => [name, []])) as unknown as Record<Name, T[]>;
  for (let round = 0; round < rounds; round++) {
    for (const name of round % 2 === 0 ? names : names.toReversed()) {
      const result = await turns[name]();
      results[name].push(result);
      log(`  round ${round + 1} of ${rounds}: ${name} ${describe(result)}`);
    }
  }
  return results;
}
