// Shared by all figures of a run: its scale, engines, cache folder and log.

import { mkdirSync } from "node:fs";
import { join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import type { Postgres } from "./contestants/postgres.ts";
import type { Scale } from "./scale.ts";

export const ROOT = fileURLToPath(new URL("..", import.meta.url));
/** Peers, data and logs. Not tracked. */
export const CACHE = resolve(process.env["BENCH_CACHE"] ?? join(ROOT, ".cache", "bench"));

export const ENGINES = ["sqlite", "postgres"] as const;
export type Engine = (typeof ENGINES)[number];
export const ENGINE_NAMES: Readonly<Record<Engine, string>> = { sqlite: "SQLite", postgres: "PostgreSQL" };

export type Bench = {
  readonly scale: Scale;
  readonly engines: readonly Engine[];
  /** The PostgreSQL of the run, started on first use. */
  readonly postgres: () => Promise<Postgres>;
};

/** A folder in the cache. */
export function cacheFolder(...names: readonly string[]): string {
  const folder = join(CACHE, ...names);
  mkdirSync(folder, { recursive: true });
  return folder;
}

export function log(message: string): void {
  console.error(`${new Date().toISOString().slice(11, 19)}  ${message}`);
}
