// What one run of the benchmark has at hand: how large it is, where it keeps things, and the words it says meanwhile.

import { mkdirSync } from "node:fs";
import { join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import type { Postgres } from "./contestants/postgres.ts";
import type { Scale } from "./scale.ts";

export const ROOT = fileURLToPath(new URL("..", import.meta.url));
/** Everything that is made on the way: peers, data, logs. Nothing in it is tracked. */
export const CACHE = resolve(process.env["BENCH_CACHE"] ?? join(ROOT, ".cache", "bench"));

export const ENGINES = ["sqlite", "postgres"] as const;
export type Engine = (typeof ENGINES)[number];
export const ENGINE_NAMES: Readonly<Record<Engine, string>> = { sqlite: "SQLite", postgres: "PostgreSQL" };

export type Bench = {
  readonly scale: Scale;
  readonly engines: readonly Engine[];
  /** The one PostgreSQL of the run, started when it is first asked for. */
  readonly postgres: () => Promise<Postgres>;
};

/** A folder in the cache. */
export function cacheFolder(...names: readonly string[]): string {
  const folder = join(CACHE, ...names);
  mkdirSync(folder, { recursive: true });
  return folder;
}

export function say(words: string): void {
  console.error(`${new Date().toISOString().slice(11, 19)}  ${words}`);
}
